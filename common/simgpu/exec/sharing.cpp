#include "common/simgpu/exec/sharing.hpp"

#include <algorithm>
#include <bit>

namespace simgpu::exec {

bool blocks_may_race(const std::vector<std::unique_ptr<Worker>>& workers,
                     const memory::GlobalMemory& memory) {
  for (const memory::Allocation* a : memory.live()) {
    if (a->launch.atomics && (a->launch.read || a->launch.stored)) return true;
    for (std::size_t j = 1; j < workers.size(); ++j)
      for (std::size_t i = 0; i < j; ++i) {
        const check::GlobalShadow *one = workers[i]->global_shadows[a->live_index].get(),
                                  *other = workers[j]->global_shadows[a->live_index].get();
        if (one != nullptr && other != nullptr && check::GlobalShadow::conflict(*one, *other))
          return true;
      }
  }
  return false;
}

namespace {

/// Appends what is marked in one allocation; false if that is in too many pieces.
bool add_touched(const std::vector<const check::GlobalShadow*>& shadows,
                 const memory::Allocation& a, unsigned granule, bool written,
                 std::vector<TouchedBytes>& out) {
  constexpr std::size_t kMost = 1u << 16, kChunk = check::GlobalShadow::kChunk;
  for (std::size_t c = 0; c * kChunk * granule < a.size; ++c) {
    std::vector<const check::GlobalShadow::Marks*> marks;
    for (const check::GlobalShadow* s : shadows)
      if (const auto* m = written ? s->written(c) : s->read(c)) marks.push_back(m);
    if (marks.empty()) continue;
    for (std::size_t k = 0; k < kChunk; ++k) {
      if (std::none_of(marks.begin(), marks.end(), [k](const auto* m) { return m->block[k] != 0; }))
        continue;
      const DevicePtr at = a.base + (c * kChunk + k) * granule;
      const DevicePtr end = std::min(at + granule, a.base + a.size);
      if (!out.empty() && out.back().end == at && out.back().written == written)
        out.back().end = end;
      else if (out.size() < kMost)
        out.push_back({at, end, written});
      else
        return false;
    }
  }
  return true;
}

}  // namespace

std::vector<TouchedBytes> touched_bytes(const std::vector<std::unique_ptr<Worker>>& workers,
                                        const memory::GlobalMemory& memory, unsigned granule) {
  std::vector<TouchedBytes> out;
  for (const bool written : {false, true})
    for (const memory::Allocation* a : memory.live()) {
      std::vector<const check::GlobalShadow*> shadows;
      for (const auto& w : workers)
        if (const auto* s = w->global_shadows[a->live_index].get()) shadows.push_back(s);
      if (!add_touched(shadows, *a, granule, written, out)) return {};
    }
  return out;
}

bool missed_readers(memory::GlobalMemory& memory, bool all) {
  bool missed = false;
  for (const memory::Allocation* a : memory.live())
    missed |= a->launch.read && a->launch.stored && !a->launch.keeps_readers;
  for (memory::Allocation* a : memory.live())
    if (missed && (all || (a->launch.read && a->launch.stored))) a->launch.keeps_readers = true;
  return missed;
}

ExactShadows exact_shadows(const Program& program, const memory::GlobalMemory& memory) {
  ExactShadows shadows(memory.live().size());
  const auto shift = static_cast<unsigned>(std::countr_zero(program.global_granule));
  for (const memory::Allocation* a : memory.live())
    if (a->launch.stored || a->launch.atomics)
      shadows[a->live_index] = std::make_unique<check::ExactShadow>(a->size, shift);
  return shadows;
}

}  // namespace simgpu::exec
