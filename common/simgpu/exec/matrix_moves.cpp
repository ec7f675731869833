// ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements between the rows of shared memory
// (16 bytes each) and fragments: lane l holds elements (l / 4, 2 * (l % 4)) and the one to the
// right of it, in the low and high half of a register. With .trans, of the transposed matrix.
#include <bit>
#include <cstdio>
#include <cstring>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/sampling.hpp"

namespace simgpu::exec {
namespace {

struct Matrix8x8 {
  std::uint16_t at[8][8];
};

/// The lanes that give a row.
std::uint32_t rows_mask(const Op& op) {
  return op.vec == 4 ? kFullMask : (1u << (8 * op.vec)) - 1;
}

std::uint32_t fragment(const Matrix8x8& m, unsigned lane, bool transposed) {
  const unsigned r = lane / 4, c = 2 * (lane % 4);
  const std::uint32_t low = transposed ? m.at[c][r] : m.at[r][c],
                      high = transposed ? m.at[c + 1][r] : m.at[r][c + 1];
  return low | (high << 16);
}
void set_fragment(Matrix8x8& m, unsigned lane, bool transposed, std::uint32_t value) {
  const unsigned r = lane / 4, c = 2 * (lane % 4);
  (transposed ? m.at[c][r] : m.at[r][c]) = static_cast<std::uint16_t>(value);
  (transposed ? m.at[c + 1][r] : m.at[r][c + 1]) = static_cast<std::uint16_t>(value >> 16);
}

/// Rows that all lie in shared memory, were written before the last barrier, and are there for
/// everybody: reads them and marks them as read. False: look closer, nothing has been changed.
bool read_plain_rows(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes], unsigned rows,
                     Matrix8x8* to) {
  BlockRun& run = *w.run;
  const LaunchRun& l = *run.launch;
  const Checks& checks = l.options.checks;
  const bool checked = checks.race || checks.init;
  if (l.exact || static_cast<ptx::Space>(op.x) != ptx::Space::shared || w.mask != kFullMask ||
      (checked && run.shadow.shift != 2) || l.shared_bytes < 16)
    return false;
  std::uint64_t bits = 0, greatest = 0;
  for (unsigned i = 0; i < rows; ++i) {
    const std::uint64_t in = address[i] - run.shared_start;
    bits |= in;
    greatest = in > greatest ? in : greatest;
  }
  if ((bits & 15) != 0 || greatest > l.shared_bytes - 16) return false;
  const std::uint32_t floor = run.clocks.floor() << check::kWhoBits;
  if (checked) {
    const check::Tag* written = run.shadow.written.data();
    std::uint32_t odd = 0;
    for (unsigned i = 0; i < rows; ++i) {
      const check::Tag* t = written + (address[i] - run.shared_start) / 4;
      for (unsigned k = 0; k < 4; ++k)
        odd |= static_cast<std::uint32_t>(t[k] >= floor) | static_cast<std::uint32_t>(t[k] == 0);
    }
    if (odd != 0) return false;
  }
  if (!run.reads.empty()) settle_reads(run);
  const std::uint32_t now = run.clocks.now() << check::kWhoBits, warp = w.index << 6;
  for (unsigned i = 0; i < rows; ++i) {
    const std::uint64_t in = address[i] - run.shared_start;
    std::memcpy(to[i / 8].at[i % 8], run.shared.data() + in, 16);
    if (!checks.race) continue;
    check::Tag* t = run.shadow.read.data() + in / 4;
    for (unsigned k = 0; k < 4; ++k) t[k] = check::after_read(t[k], now, warp, i, floor);
  }
  return true;
}

void count_rows(Warp& w, const Op& op, AccessType type, const std::uint64_t (&row)[kLanes]) {
  BlockRun& run = *w.run;
  if (!run.launch->options.count) return;
  std::vector<MoveTally>& tallies = run.worker->moves;
  if (tallies.size() <= op.slot) tallies.resize(run.launch->program->moves);
  MoveTally& tally = tallies[op.slot];
  std::uint32_t differs = tally.mask ^ kFullMask;
  for (unsigned i = 0; i < kLanes; ++i)
    differs |=
        static_cast<std::uint32_t>(row[i] - row[0]) ^ static_cast<std::uint32_t>(tally.to[i]);
  if (differs != 0) {
    tally.mask = kFullMask;
    for (unsigned i = 0; i < kLanes; ++i) tally.to[i] = static_cast<std::int32_t>(row[i] - row[0]);
    tally.shared = matrix_cost(row, op.vec);
    sample_access(run, op, type, MemorySpace::shared, row, rows_mask(op), 16,
                  static_cast<unsigned>(tally.shared.wavefronts),
                  static_cast<unsigned>(tally.shared.ideal_wavefronts), true);
  }
  run.worker->counters.sites[op.site].shared += tally.shared;
}

/// Row addresses as offsets in shared memory, for counting. Lanes that give no row repeat the
/// first.
void row_offsets(const Op& op, const std::uint64_t (&address)[kLanes],
                 std::uint64_t (&row)[kLanes]) {
  for (unsigned i = 0; i < kLanes; ++i)
    row[i] = i < 8u * op.vec ? memory::in_block(memory::offset_of(address[i])) : row[0];
}

}  // namespace

void check_whole_warp(Warp& w, const Op& op, const char* what) {
  BlockRun& run = *w.run;
  meet_aligned(w);
  if (w.mask == kFullMask || !run.launch->options.checks.barrier) return;
  const auto first = static_cast<unsigned>(std::countr_zero(w.mask));
  char text[200];
  std::snprintf(text, sizeof text,
                "%s is executed by %d of the 32 lanes of warp %u: all lanes of a warp must execute "
                "it together",
                what, std::popcount(w.mask), w.index);
  add_finding(run, FindingKind::divergent_barrier, op.pc, UINT32_MAX,
              describe(run, {op.pc, w.index, first, AccessType::load, MemorySpace::shared, 0, 0}),
              std::nullopt, text);
}

void op_ldmatrix(Warp& w, const Op& op) {
  check_whole_warp(w, op, "ldmatrix.sync.aligned");
  const unsigned rows = 8u * op.vec;
  std::uint64_t address[kLanes], row[kLanes];
  const std::uint64_t* base = lanes_of<std::uint64_t>(w, op.a);
  for (unsigned i = 0; i < kLanes; ++i) address[i] = base[i] + static_cast<std::uint64_t>(op.imm);
  Matrix8x8 m[4];
  if (read_plain_rows(w, op, address, rows, m)) {
    row_offsets(op, address, row);
    count_rows(w, op, AccessType::load, row);
  } else {
    std::memset(m, static_cast<int>(memory::kPoison), sizeof m);
    const std::uint32_t giving = w.mask & rows_mask(op);
    const Reached reached = access_lanes(w, op, AccessType::load, static_cast<ptx::Space>(op.x),
                                         address, giving, 16, reinterpret_cast<std::byte*>(m), 16);
    if (w.run->launch->options.count && reached.shared == giving && giving != 0) {
      row_offsets(op, address, row);
      count_rows(w, op, AccessType::load, row);
    }
  }
  for (unsigned k = 0; k < op.vec; ++k) {
    std::uint32_t* d = lanes_of<std::uint32_t>(w, op.list[k]);
    for (unsigned i = 0; i < kLanes; ++i)
      if ((w.mask >> i) & 1u) d[i] = fragment(m[k], i, op.z != 0);
  }
}

void op_stmatrix(Warp& w, const Op& op) {
  check_whole_warp(w, op, "stmatrix.sync.aligned");
  std::uint64_t address[kLanes];
  const std::uint64_t* base = lanes_of<std::uint64_t>(w, op.a);
  for (unsigned i = 0; i < kLanes; ++i) address[i] = base[i] + static_cast<std::uint64_t>(op.imm);
  Matrix8x8 m[4];
  std::memset(m, static_cast<int>(memory::kPoison), sizeof m);
  for (unsigned k = 0; k < op.vec; ++k) {
    const std::uint32_t* s = lanes_of<std::uint32_t>(w, op.list[k]);
    for (unsigned i = 0; i < kLanes; ++i)
      if ((w.mask >> i) & 1u) set_fragment(m[k], i, op.z != 0, s[i]);
  }
  const std::uint32_t giving = w.mask & rows_mask(op);
  const Reached reached = access_lanes(w, op, AccessType::store, static_cast<ptx::Space>(op.x),
                                       address, giving, 16, reinterpret_cast<std::byte*>(m), 16);
  if (reached.shared != giving || giving == 0) return;
  std::uint64_t row[kLanes];
  row_offsets(op, address, row);
  count_rows(w, op, AccessType::store, row);
}

void op_movmatrix(Warp& w, const Op& op) {
  check_whole_warp(w, op, "movmatrix.sync.aligned");
  const std::uint32_t* a = lanes_of<std::uint32_t>(w, op.a);
  Matrix8x8 m;
  for (unsigned i = 0; i < kLanes; ++i)
    set_fragment(m, i, false, ((w.mask >> i) & 1u) != 0 ? a[i] : ~0u);
  std::uint32_t* d = lanes_of<std::uint32_t>(w, op.dst);
  for (unsigned i = 0; i < kLanes; ++i)
    if ((w.mask >> i) & 1u) d[i] = fragment(m, i, true);
}

}  // namespace simgpu::exec
