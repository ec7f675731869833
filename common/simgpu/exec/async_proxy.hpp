// mbarriers, bulk copies and wgmma, as the interpreter and the checks of memory need them. See
// check/async_proxy.hpp for what is remembered.
#pragma once

#include <cstring>

#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

// ---- mbarrier.cpp
/// Lanes of `mask` have come to the wait that ends `block`.
void wait_at_mbarrier(BlockRun& run, Warp& w, const BasicBlock& block, std::uint32_t mask);
/// Lets lanes go on whose phase has ended, and those that only test. False: nobody did.
bool wake_at_mbarriers(BlockRun& run, Warp& w);
/// Nothing else can run: who waits with a time limit goes on without the phase having ended. False:
/// nobody waits so, or it was done often enough. `others_look`: at memory that does not change, which
/// makes each time expensive.
bool time_out_at_mbarriers(BlockRun& run, bool others_look);
/// The block waits for ever, and some wait here. False: they do not.
bool report_mbarrier_deadlock(BlockRun& run);
/// What its warps have asked for by setmaxnreg, at the end of a block.
void check_registers(BlockRun& run);
/// `bytes` of a copy have come.
void complete_transaction(BlockRun& run, check::MBarrier& b, std::uint32_t bytes);
/// A barrier, and where it lies.
struct BarrierPlace {
  check::MBarrier* barrier = nullptr;
  BlockRun* block = nullptr;
  std::uint32_t offset = 0;
};
/// The barrier that an instruction names, with every check; without one after a finding.
BarrierPlace find_mbarrier(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc,
                           ptx::Space space, std::uint64_t address);
std::string mbarrier_text(const BlockRun& run, std::uint32_t offset);  ///< "the mbarrier full+8"

// ---- bulk_copy.cpp
/// Copies that report to the barrier at `offset` arrive until its phase ends.
void land_copies(BlockRun& run, std::uint32_t offset, check::MBarrier& b);
/// A thread reads or writes bytes that a bulk copy has written or will write, without having waited:
/// reported.
void report_bulk_conflict(BlockRun& run, const Warp& w, unsigned lane, const Op& op,
                          AccessType type, std::uint64_t offset, unsigned bytes, std::uint32_t g);
/// A write by `w` to bytes of `run` that wgmma or a bulk store may still be reading: reported. False:
/// there is none. `run` may be another block of w's cluster.
bool overwrites_async_read(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc,
                           std::uint32_t first, std::uint32_t bytes);
/// What is under way when the block has ended.
void check_end_of_block(BlockRun& run);

/// Times that one or several warps have in common: what they may read asynchronously.
struct ReaderTimes {
  check::WarpTimes seen{};
  check::ProxyTimes proxied{};
};
ReaderTimes reader_times(const BlockRun& run, unsigned first_warp, unsigned warps);
/// An asynchronous read of [first, first + bytes) of shared memory, in the arrays: is everything
/// there, and known to the proxy? Reported otherwise (once for a call). Whole chunks of 16 bytes.
class AsyncReadCheck {
 public:
  AsyncReadCheck(BlockRun& run, unsigned first_warp, unsigned warps, std::uint32_t pc,
                 const char* what);
  /// What follows belongs to this operand, whose descriptor begins there.
  void operand(char name, std::uint64_t start) { operand_ = name, start_ = start; }
  void chunk(std::uint32_t first) {
    const check::Tag* t = written_ + (first >> shift_);
    if (shift_ == 2 && are_alike(t) && is_fine(t[0])) return;
    for (unsigned k = 0; k < 16u >> shift_; ++k)
      if (!is_fine(t[k])) look(first, t[k]);
  }

 private:
  static constexpr check::Tag kLaneOfTag = 63;
  /// The common case: written by threads whom the readers and the proxy come after.
  bool is_thread_before(check::Tag t) const {
    return t != 0 && (t & 63u) <= check::kAtomicLane &&
           check::time_of(t) < before_[(t & check::kWhoMask) >> 6];
  }
  bool is_fine(check::Tag t) const { return (t == last_ && t != 0) || is_thread_before(t); }
  /// Whether one wrote these four words, or lanes of one warp at the same time. Two tags at once.
  static bool are_alike(const check::Tag* t) {
    constexpr std::uint64_t kBoth = 0x1'0000'0001, kLanesOfTags = kLaneOfTag * kBoth;
    std::uint64_t low, high;
    std::memcpy(&low, t, sizeof low);
    std::memcpy(&high, t + 2, sizeof high);
    const std::uint64_t differs = (low ^ t[0] * kBoth) | (high ^ t[0] * kBoth);
    if (differs == 0) return true;
    // Added to the field of a lane, it carries out of it where the field names none.
    constexpr std::uint64_t kCarry = (kLaneOfTag - check::kAtomicLane) * kBoth;
    const std::uint64_t no_lane =
        ((low & kLanesOfTags) + kCarry) | ((high & kLanesOfTags) + kCarry);
    return ((differs | no_lane) & ~kLanesOfTags) == 0;
  }
  void look(std::uint32_t first, check::Tag t);
  void find_fault(std::uint32_t first, check::Tag t);
  BlockRun& run_;
  const unsigned warp_, shift_;
  const std::uint32_t pc_;
  const char* const what_;
  char operand_ = 0;  ///< 0: none
  std::uint64_t start_ = 0;
  const check::Tag* const written_;
  const ReaderTimes times_;
  check::ProxyTimes before_;  ///< what threads wrote before that time is in order, by their warp
  check::Tag last_ = 0;       ///< the last one that was fine
  bool reported_ = false, checked_;
};

// ---- wgmma.cpp
void come_to_product(BlockRun& run, Warp& w, const BasicBlock& block, std::uint32_t mask);
bool report_product_deadlock(BlockRun& run);

// ---- product_registers.cpp
/// The registers of a product that `w` starts: are they written behind a fence? `number` stands for
/// it in AsyncReads.
void note_product(Warp& w, const Wgmma& form, std::uint32_t pc, std::uint32_t number);

/// D = A * B + D of a warpgroup, from the bytes of both operands.
struct WgmmaTask {
  const Wgmma* form = nullptr;
  Warp* warps = nullptr;  ///< four
  bool keeps_sums = true;
  /// 64 rows of A, 32 bytes each, and the columns of B: rows along k. Of an operand with rows along
  /// m or n: 16 (or fewer) rows of k, as long as they are.
  const std::byte *a = nullptr, *b = nullptr;
  std::int32_t gain = 1;  ///< LaunchOptions::tensor_gain
};
void multiply_warpgroup(const WgmmaTask& task);  ///< kernels/wgmma.cpp

}  // namespace simgpu::exec
