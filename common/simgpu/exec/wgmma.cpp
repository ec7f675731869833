// wgmma (PTX ISA 9.7.15): a warpgroup meets, its operands are read out of shared memory through
// their descriptors, and kernels/wgmma.cpp multiplies.
//
// The four warps of a warpgroup start one product together. Here each of them waits until all have
// come; the product is then made at once, as if all registers and tiles were read at that moment.
// What may go wrong because hardware takes longer is checked instead: the tiles count as being read
// until wait_group (check/async_proxy.hpp).
//
// Descriptors: 9.7.15.5.1.2.2, with the layouts of 9.7.15.5.1.2.1. Sums: 9.7.15.5.1.1.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/mma.hpp"
#include "common/simgpu/tensor_map.hpp"

namespace simgpu::exec {
namespace {

constexpr unsigned kChunk = 16, kRowsOfA = 64, kWarps = 4;
constexpr unsigned kMostChunks = 32;  // of 256 columns, 8 each

struct Descriptor {
  std::uint32_t start, leading, stride;  ///< bytes
  Swizzle swizzle;
  unsigned base_offset;
};
Descriptor read_descriptor(std::uint64_t bits) {
  constexpr Swizzle kModes[] = {Swizzle::none, Swizzle::b128, Swizzle::b64, Swizzle::b32};
  const auto field = [&](unsigned at) {
    return static_cast<std::uint32_t>(bits >> at & 0x3fffu) << 4;
  };
  return {field(0), field(16), field(32), kModes[bits >> 62],
          static_cast<unsigned>(bits >> 49 & 7u)};
}

/// Where the chunks of 16 bytes of an operand lie: chunk `along` of a row of k (rows along k), or of row `k`
/// of an operand whose rows are along m or n.
class Chunks {
 public:
  Chunks(const Descriptor& d, bool mn_major) : start_(d.start), swizzle_(d.swizzle) {
    const auto log2_across = static_cast<unsigned>(d.swizzle);
    row_ = kChunk << log2_across;
    eight_rows_ = d.stride;
    if (d.swizzle == Swizzle::none) {
      eight_rows_ = mn_major ? d.leading : d.stride;
      tile_ = mn_major ? d.stride : d.leading;
    } else if (mn_major) {
      in_tile_ = (1u << log2_across) - 1;
      shift_ = log2_across;
      tile_ = d.leading;
    } else {
      in_tile_ = UINT32_MAX;  // leading offset not looked at
    }
  }
  /// A chunk's address is that of the sum of its row's part and of its part along the row.
  std::uint64_t of_row(unsigned row) const {
    return start_ + std::uint64_t{row % 8} * row_ + std::uint64_t{row / 8} * eight_rows_;
  }
  std::uint64_t of_along(unsigned along) const {
    return std::uint64_t{along & in_tile_} * kChunk + std::uint64_t{along >> shift_} * tile_;
  }
  std::uint64_t address(std::uint64_t sum) const { return swizzled(sum, swizzle_); }

 private:
  std::uint64_t start_;
  Swizzle swizzle_;
  std::uint32_t row_, eight_rows_, tile_ = 0;  ///< bytes from one to the next
  unsigned in_tile_ = 0, shift_ = 0;  ///< which of `along` is within a tile, and what follows
};

struct Product {
  BlockRun& run;
  unsigned first_warp;
  std::uint32_t pc;
  const Wgmma& form;
};

void tell(const Product& p, FindingKind kind, std::uint32_t other, std::uint64_t address,
          std::string text, FindingCause cause = FindingCause::unspecified) {
  add_finding(p.run, kind, p.pc, other,
              describe(p.run, {p.pc, p.first_warp, 0, AccessType::load, MemorySpace::shared,
                               address != 0 ? kChunk : 0, address}),
              std::nullopt, std::move(text), cause);
}

/// The low bit of a rank that was left in an address, in the leading offset's bytes.
constexpr unsigned kRankInLeading = memory::kRankBit - 16;

constexpr const char* kHowToDescribe =
    ": the shared address of a block in a cluster carries the block's rank from bit 24 on, and a "
    "descriptor takes 18 bits of it (address & 0x3ffff)";

/// Whether the rank of the block may have come into the leading offset with the address.
bool may_hold_rank(std::uint32_t leading, std::uint32_t rank) {
  return rank != 0 && (leading >> kRankInLeading & rank) == rank;
}

/// The blocks of a cluster describe their tiles in one way. Leading offsets of an instruction that
/// differ by just the ranks of their blocks come from addresses whose rank was not masked.
void compare_leading(const Product& p, char operand, const Descriptor& d) {
  BlockRun& run = p.run;
  if (run.cluster == nullptr || !run.launch->options.checks.memory) return;
  const auto [known, is_first] =
      run.cluster->leading.try_emplace({p.pc, operand}, ClusterRun::Leading{run.rank, d.leading});
  const ClusterRun::Leading first = known->second;
  const std::uint32_t ranks = (run.rank | first.rank) << kRankInLeading;
  const auto holds = [](std::uint32_t leading, std::uint32_t rank) {
    return rank == 0 || may_hold_rank(leading, rank);
  };
  if (is_first || first.rank == run.rank || first.bytes == d.leading ||
      ((first.bytes ^ d.leading) & ~ranks) != 0 || !holds(first.bytes, first.rank) ||
      !holds(d.leading, run.rank))
    return;
  tell(p, FindingKind::trap, UINT32_MAX, 0,
       std::string("the descriptor of wgmma's operand ") + operand + " has a leading offset of " +
           std::to_string(d.leading) + " bytes in block " + std::to_string(run.rank) +
           " of the cluster and of " + std::to_string(first.bytes) + " in block " +
           std::to_string(first.rank) + kHowToDescribe);
}

/// Whether an operand of so many chunks of 16 bytes along its rows reaches beyond its first tile by the
/// leading offset: other descriptors need not say any.
bool uses_leading(const Descriptor& d, bool mn_major, unsigned chunks) {
  return d.swizzle == Swizzle::none ||
         (mn_major && chunks > 1u << static_cast<unsigned>(d.swizzle));
}

/// Copies an operand's `rows` rows of `chunks` chunks; what cannot be read is poison.
void gather(const Product& p, char name, std::uint64_t bits, bool mn_major, unsigned rows,
            unsigned chunks, std::uint32_t number, std::byte* to) {
  BlockRun& run = p.run;
  const Descriptor d = read_descriptor(bits);
  const std::string what = std::string("wgmma's operand ") + name;
  const bool by_leading = uses_leading(d, mn_major, chunks);
  if (by_leading) compare_leading(p, name, d);
  if (d.base_offset != 0)
    tell(p, FindingKind::unsupported, UINT32_MAX, d.start,
         what +
             " has a base offset in its descriptor, which the simulated GPU does not have: let "
             "the tile begin at a multiple of its swizzle's pattern");
  AsyncReadCheck check(run, p.first_warp, kWarps, p.pc, "wgmma");
  check.operand(name, d.start);
  std::uint32_t* const touched = run.proxy.warpgroups[p.first_warp / kWarps].chunks();
  const Chunks places(d, mn_major);
  std::array<std::uint64_t, kMostChunks> along{};
  for (unsigned c = 0; c < chunks; ++c) along[c] = places.of_along(c);
  bool outside = false, mismatch = false;
  const bool marks = !run.async.landed.empty();
  const std::uint64_t shared_bytes = run.launch->shared_bytes;
  const std::byte* const shared = run.shared.data();
  for (unsigned r = 0; r < rows; ++r) {
    const std::uint64_t row = places.of_row(r);
    for (unsigned c = 0; c < chunks; ++c, to += kChunk) {
      const std::uint64_t at = places.address(row + along[c]), in = at - memory::kSharedBase;
      if (at < memory::kSharedBase || in + kChunk > shared_bytes) {
        std::memset(to, static_cast<int>(memory::kPoison), kChunk);
        if (!outside && run.launch->options.checks.memory)
          tell(p, FindingKind::out_of_bounds, UINT32_MAX, at,
               what + " reaches byte " + std::to_string(in) + " of shared memory, which has " +
                   std::to_string(run.launch->shared_bytes) + ": its descriptor begins at byte " +
                   std::to_string(d.start - memory::kSharedBase) + ", with a leading offset of " +
                   std::to_string(d.leading) + " and a stride of " + std::to_string(d.stride) +
                   " bytes" +
                   (by_leading && may_hold_rank(d.leading, run.rank) ? kHowToDescribe : ""));
        outside = true;
        continue;
      }
      const auto first = static_cast<std::uint32_t>(in);
      check.chunk(first);
      if (marks && !mismatch) {
        const check::Landed& landed = run.async.landed[first >> run.shadow.shift];
        if (landed.swizzle != check::Landed::kNoSwizzle &&
            landed.swizzle != static_cast<std::uint8_t>(d.swizzle) &&
            landed.tag == run.shadow.written[first >> run.shadow.shift]) {
          mismatch = true;
          constexpr const char* kNames[] = {"no swizzle", "32 bytes", "64 bytes", "128 bytes"};
          tell(p, FindingKind::swizzle_mismatch, landed.pc, at,
               what + " is read with a swizzle of " + kNames[static_cast<unsigned>(d.swizzle)] +
                   " (bits 62 and 63 of its descriptor), but the copy of " +
                   line_text(*run.launch->program, landed.pc) + " wrote it with " +
                   kNames[landed.swizzle] +
                   " (cuTensorMapEncodeTiled): the products are of other elements");
        }
      }
      touched[first / kChunk] = number;
      std::memcpy(to, shared + first, kChunk);
    }
  }
}

/// The value of a descriptor that all threads of the warpgroup must agree upon.
std::uint64_t agreed(const Product& p, Ref ref, char name) {
  const std::uint64_t first = lanes_of<std::uint64_t>(p.run.warps[p.first_warp], ref)[0];
  for (unsigned q = 0; q < kWarps; ++q) {
    const auto* v = lanes_of<std::uint64_t>(p.run.warps[p.first_warp + q], ref);
    for (unsigned i = 0; i < kLanes; ++i)
      if (v[i] != first) {
        std::string text = "the descriptor of wgmma's operand ";
        text += name;
        text += " differs among the threads of a warpgroup: warp " + std::to_string(q) +
                " of it, lane " + std::to_string(i) + ", has another one than the first thread";
        tell(p, FindingKind::trap, UINT32_MAX, 0, std::move(text), FindingCause::unlike_operands);
        return first;
      }
  }
  return first;
}

void multiply(BlockRun& run, unsigned first_warp, const BasicBlock& block) {
  const Wgmma& form = run.launch->program->products[block.detail];
  const Product p{run, first_warp, block.pc, form};
  Warp* warps = run.warps.data() + first_warp;
  for (unsigned q = 0; q < kWarps; ++q)
    if (warps[q].product_fences == 0) {
      warps[q].product_fences = 1;
      if (run.launch->options.checks.race)
        tell(p, FindingKind::proxy_fence_missing, UINT32_MAX, 0,
             "wgmma.fence must come before the first wgmma: it orders what threads have written "
             "into the registers of its sums");
    }
  alignas(64) static thread_local std::byte a[kRowsOfA * 32], b[256 * 32];
  check::AsyncReads& reads = run.proxy.warpgroups[first_warp / kWarps];
  const std::uint32_t number = reads.begin(block.pc);
  run.proxy.names_readers = true;
  const unsigned n = 8u * form.n;
  const auto read = [&](char name, Ref ref, bool mn_major, unsigned extent, std::byte* to) {
    gather(p, name, agreed(p, ref, name), mn_major, mn_major ? kChunk : extent,
           mn_major ? extent / 8 : 2, number, to);
  };
  if (form.a != kNoRef) read('A', form.a, form.mn_major_a, kRowsOfA, a);
  read('B', form.b, form.mn_major_b, n, b);
  const std::uint32_t keeps = *lanes_of<std::uint32_t>(warps[0], form.scale_d);
  WgmmaTask task;
  task.form = &form;
  task.warps = warps;
  task.keeps_sums = (keeps & 1u) != 0;
  task.a = a;
  task.b = b;
  task.gain = static_cast<std::int32_t>(run.launch->options.tensor_gain);
  multiply_warpgroup(task);
  WgmmaCount& count = run.worker->counters.wgmma[block.pc];
  if (number == 1) ++count.groups;
  if (run.proxy.groups[first_warp].open.empty()) ++count.alone;
  for (unsigned q = 0; q < kWarps; ++q) {
    check::ReadGroups& g = run.proxy.groups[first_warp + q];
    g.add(number);
    note_product(warps[q], form, block.pc, number);
  }
  ++run.proxy.events;
}

}  // namespace

/// wgmma needs whole warps, and four of them: the launch cannot go on otherwise.
void come_to_product(BlockRun& run, Warp& w, const BasicBlock& block, std::uint32_t mask) {
  const unsigned first = w.index / kWarps * kWarps;
  const Product p{run, first, block.pc, run.launch->program->products[block.detail]};
  if (mask != kFullMask || first + kWarps > run.warps.size()) {
    tell(p, FindingKind::divergent_barrier, UINT32_MAX, 0,
         mask != kFullMask ? "wgmma needs all 32 lanes of warp " + std::to_string(w.index) +
                                 ": no branch may separate the lanes of a warp before it"
                           : "wgmma needs the four warps of a warpgroup, and warp " +
                                 std::to_string(w.index) + " belongs to none: the block has " +
                                 std::to_string(run.warps.size()) + " warps");
    abort_launch(run);
    return;
  }
  w.parked.push_back({block.next, mask, block.pc, 0, block.detail, 0, WaitsFor::warpgroup});
  for (unsigned q = 0; q < kWarps; ++q) {
    const Warp& other = run.warps[first + q];
    const auto here = std::find_if(other.parked.begin(), other.parked.end(),
                                   [](const Parked& k) { return k.what == WaitsFor::warpgroup; });
    if (here == other.parked.end()) return;
    if (here->pc == block.pc) continue;
    const Program& program = *run.launch->program;
    tell(p, FindingKind::mismatched_barrier, here->pc, 0,
         "warp " + std::to_string(w.index) + " starts the wgmma of " +
             line_text(program, block.pc) + " and warp " + std::to_string(first + q) + " that of " +
             line_text(program, here->pc) +
             ": the four warps of a warpgroup start the same products");
    abort_launch(run);
    return;
  }
  multiply(run, first, block);
  for (unsigned q = 0; q < kWarps; ++q) {
    Warp& other = run.warps[first + q];
    const auto here = std::find_if(other.parked.begin(), other.parked.end(),
                                   [](const Parked& k) { return k.what == WaitsFor::warpgroup; });
    other.frames[other.depth].ready.push_back({here->resume, here->mask, here->pc});
    other.parked.erase(here);
  }
}

bool report_product_deadlock(BlockRun& run) {
  for (const Warp& w : run.warps)
    for (const Parked& k : w.parked) {
      if (k.what != WaitsFor::warpgroup) continue;
      const unsigned first = w.index / kWarps * kWarps;
      unsigned missing = first;
      while (missing < first + kWarps &&
             std::any_of(run.warps[missing].parked.begin(), run.warps[missing].parked.end(),
                         [](const Parked& o) { return o.what == WaitsFor::warpgroup; }))
        ++missing;
      const Product p{run, w.index, k.pc, run.launch->program->products[k.detail]};
      tell(p, FindingKind::deadlock, UINT32_MAX, 0,
           "the block waits forever: the wgmma of " + line_text(*run.launch->program, k.pc) +
               " needs all four warps of its warpgroup, and warp " + std::to_string(missing) +
               " does not come");
      return true;
    }
  return false;
}

void op_wgmma_fence(Warp& w, const Op& op) {
  meet_aligned(w);
  if (w.mask != kFullMask) report_part_of_warp(w, op);
  ++w.product_fences;
}
void op_wgmma_commit(Warp& w, const Op& op) {
  meet_aligned(w);
  if (w.mask != kFullMask) report_part_of_warp(w, op);
  w.run->proxy.groups[w.index].commit();
}
void op_wgmma_wait(Warp& w, const Op& op) {
  meet_aligned(w);
  if (w.mask != kFullMask) report_part_of_warp(w, op);
  BlockRun& run = *w.run;
  const std::uint32_t now = run.clocks.tick();
  check::AsyncReads& reads = run.proxy.warpgroups[w.index / kWarps];
  run.proxy.groups[w.index].wait(op.slot, [&](std::uint32_t number) {
    if (check::AsyncRead* r = reads.find(number)) r->ended[w.index % kWarps] = now;
  });
  bound_times(run);
}

}  // namespace simgpu::exec
