#include "common/simgpu/exec/carried.hpp"

#include <algorithm>
#include <cstring>

namespace simgpu::exec {
namespace {

constexpr std::uint32_t lowest(unsigned bytes) {
  return bytes >= 32 ? UINT32_MAX : (1u << bytes) - 1;
}

/// Whether byte `at` of shared memory, counted from its first array, is written.
bool is_written(const BlockRun& run, std::uint64_t at) {
  const std::uint64_t granule = at >> run.shadow.shift;
  return granule < run.shadow.written.size() && run.shadow.written[granule] != 0;
}

/// Whether any byte of the struct is written of which `t` is `place` bytes from the beginning.
bool is_part_written(const BlockRun& run, const Target& t, const ptx::MovedBytes& step) {
  if (step.whole == 0 || t.offset < step.place) return false;
  if (t.space == MemorySpace::shared) {
    const std::uint64_t start = t.offset - memory::kSharedBase - step.place;
    for (unsigned k = 0; k < step.whole; ++k)
      if (is_written(run, start + k)) return true;
    return false;
  }
  const std::uint64_t start = t.offset - step.place,
                      size = t.allocation != nullptr ? t.allocation->size : run.local_capacity;
  if (start + step.whole > size) return false;
  const std::uint8_t* marks = t.initialised - step.place;
  return std::any_of(marks, marks + step.whole, [](std::uint8_t m) { return m != 0; });
}

}  // namespace

std::uint32_t unwritten_bytes(const BlockRun& run, const Target& t, unsigned bytes) {
  std::uint32_t missing = 0;
  if (t.space == MemorySpace::shared) {
    const std::uint64_t at = t.offset - memory::kSharedBase;
    for (unsigned k = 0; k < bytes;) {  // by granule
      const auto end = static_cast<unsigned>(std::min<std::uint64_t>(
          bytes, ((((at + k) >> run.shadow.shift) + 1) << run.shadow.shift) - at));
      if (!is_written(run, at + k)) missing |= lowest(end) & ~lowest(k);
      k = end;
    }
  } else if (t.initialised != nullptr && std::memchr(t.initialised, 0, bytes) != nullptr) {
    for (unsigned k = 0; k < bytes; ++k)
      missing |= static_cast<std::uint32_t>(t.initialised[k] == 0) << k;
  }
  return missing;
}

bool may_bring(BlockRun& run, const Op& op, const Target& t, unsigned bytes,
               std::uint32_t missing) {
  const ptx::MovedBytes& moved = run.launch->program->moved[op.site];
  if ((missing & ~moved.bytes) != 0) return false;
  if (missing == lowest(bytes) && !moved.stays_local && !is_part_written(run, t, moved))
    return false;
  run.mode.quick = run.mode.tallied = false;
  return true;
}

void mark_written(const Target& t, unsigned bytes, unsigned element, std::uint32_t kept) {
  const auto mark = static_cast<std::uint8_t>(element);
  if (kept == 0) {
    std::memset(t.initialised, mark, bytes);
    return;
  }
  for (unsigned k = 0; k < bytes; ++k)
    if (((kept >> k) & 1u) == 0) t.initialised[k] = mark;
}

void keep_unwritten(BlockRun& run, const Target& t, unsigned bytes, std::uint32_t kept,
                    std::uint32_t before) {
  const std::uint64_t at = t.offset - memory::kSharedBase;
  const unsigned granule = 1u << run.shadow.shift;
  for (unsigned k = 0; k + granule <= bytes; k += granule)
    if ((~(kept & before) & (lowest(granule) << k)) == 0)
      run.shadow.written[(at + k) >> run.shadow.shift] = 0;
}

void carried_by(const Warp& w, const Op& op, UnwrittenBytes& unwritten) {
  const std::uint32_t straight = w.run->launch->program->moved[op.site].bytes;
  for (unsigned k = 0; k < op.vec && straight != 0; ++k)
    for (const CarriedBytes& c : w.carried)
      if (c.reg == address_of(w, op.list[k]))
        for (unsigned i = 0; i < kLanes; ++i)
          unwritten[i] |= std::uint32_t{c.unwritten[i]} << (k * op.width) & straight;
}

void carry(Warp& w, const Op& op, const UnwrittenBytes& unwritten) {
  for (unsigned k = 0; k < op.vec; ++k) {
    const std::byte* reg = address_of(w, op.list[k]);
    auto known = std::find_if(w.carried.begin(), w.carried.end(),
                              [=](const CarriedBytes& c) { return c.reg == reg; });
    const auto bytes_of = [&](unsigned lane) {
      return static_cast<std::uint8_t>(unwritten[lane] >> (k * op.width) & lowest(op.width));
    };
    if (known == w.carried.end()) {
      unsigned any = 0;
      for (unsigned i = 0; i < kLanes; ++i) any |= bytes_of(i);
      if (any == 0) continue;
      known = w.carried.insert(known, CarriedBytes{reg, {}});
    }
    for (unsigned i = 0; i < kLanes; ++i)
      if ((w.mask >> i) & 1u) known->unwritten[i] = bytes_of(i);
  }
}

}  // namespace simgpu::exec
