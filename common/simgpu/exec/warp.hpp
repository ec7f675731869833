// A warp while it runs: its lanes, its call frames and the groups of lanes that are apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simgpu/exec/op.hpp"

namespace simgpu::memory {
struct Allocation;
}

namespace simgpu::exec {

struct BlockRun;
struct FunctionCode;
struct Pattern;

/// Lanes that are at the same block and will run together.
struct Group {
  std::uint32_t block = 0;
  std::uint32_t mask = 0;
  std::uint32_t came_from = 0;  ///< pc of the branch that brought them here
  /// Its turn when it last gave way because it only looked at memory that did not change; 0 = never.
  /// As long as nobody else gets on either (Worker::progress is `seen`), others go first.
  std::uint64_t waited = 0, seen = 0;
};

/// What parked lanes wait for.
enum class WaitsFor : std::uint8_t { barrier, mbarrier, warpgroup, cluster };

/// Lanes that wait.
struct Parked {
  std::uint32_t resume = 0;  ///< block
  std::uint32_t mask = 0;
  std::uint32_t pc = 0;       ///< of the barrier instruction
  std::uint32_t barrier = 0;  ///< 0..15; an mbarrier: its offset in shared memory
  std::uint32_t detail = 0;   ///< index into Program::barriers, waits or products
  std::uint32_t pred = 0;     ///< bar.red: the lanes' values; an mbarrier: the phase waited for
  WaitsFor what = WaitsFor::barrier;
};

struct Frame {
  const FunctionCode* code = nullptr;
  std::byte* memory = nullptr;
  std::uint32_t call = UINT32_MAX;  ///< index into Program::calls of the call that made it
  std::uint32_t entered = 0;        ///< lanes that called
  std::uint32_t returned = 0;       ///< lanes that came back
  std::uint32_t local_base = 0;  ///< byte offset of its .local variables in a thread's local memory
  std::vector<Group> ready;      ///< groups that are not the running one
};

/// A register that wgmma adds to, or takes A from.
struct ProductRegister {
  std::uint32_t sum_of = 0, input_of = 0;  ///< the last products that did so (AsyncReads), 0 = none
  std::uint32_t position = 0;              ///< in the list of that product
  std::uint32_t shape = 0;                 ///< of the product that adds to it
  std::uint32_t fences = 0;                ///< Warp::product_fences at that product
  std::uint32_t writer = UINT32_MAX;       ///< pc of who has written it since
  std::uint32_t fences_at_write = 0;
};

/// A register whose last load brought bytes that nothing has written and that the program only moves
/// (ptx/used_bytes.hpp): in memory they stay so wherever they go.
struct CarriedBytes {
  const std::byte* reg = nullptr;                ///< host address of its lanes
  std::array<std::uint8_t, kLanes> unwritten{};  ///< by lane; bit k = byte k
};

/// A look at global memory, by a load that others may store to.
struct Look {
  std::uint32_t pc = UINT32_MAX;  ///< UINT32_MAX: there was none
  unsigned lane = 0, bytes = 0;
  std::uint64_t address = 0;
};

struct Warp {
  std::uintptr_t frame = 0;  ///< address of the frame's memory + kFrameBias
  std::uint32_t mask = 0;    ///< lanes the current op works on
  std::uint32_t index = 0;   ///< within the block
  BlockRun* run = nullptr;

  std::uint32_t launched = 0;  ///< lanes that exist (the last warp may be partial)
  std::uint32_t exited = 0;
  std::uint32_t depth = 0;  ///< index of the current frame
  std::vector<Frame> frames;
  std::vector<std::vector<std::byte>> frame_memory;  ///< of called functions, by depth
  std::vector<std::uint32_t> resume_after_call;      ///< by depth: block to go on with
  std::vector<Parked> parked;
  Group running;            ///< the group that runs when the warp is resumed; mask 0 = pick one
  std::uint32_t polls = 0;  ///< looks in a row that saw nothing new
  std::uint32_t patience = 0;
  std::array<std::uint64_t, 32> sights{};  ///< what it saw lately
  std::uint32_t next_sight = 0;
  Look look;                                       ///< the last one
  std::uint64_t work = 0;                          ///< multiply-adds of the blocks entered so far
  std::vector<ProductRegister> product_registers;  ///< by number, see product_registers.cpp
  /// barrier.cluster: lanes that have arrived, and that may pass their next wait.
  std::uint32_t cluster_arrived = 0, cluster_passed = 0;
  std::uint32_t product_fences = 0;  ///< wgmma.fence executed
  /// setmaxnreg: the last count, 0 = none was executed, and where.
  std::uint32_t registers = 0, registers_pc = UINT32_MAX;
  /// Lanes of it have waited for others before a shuffle or the like; they do so no more.
  bool holds = false, hurries = false;
  std::uint64_t clock = 0;  ///< warp instructions executed, what %clock shows

  /// Address bases of the current basic block, by pattern slot: filled by the first access through
  /// a register, used by those that follow it (see kernels/memory.cpp).
  struct Base {
    std::uint64_t address = 0;
    Pattern* pattern = nullptr;
    memory::Allocation* allocation = nullptr;  ///< global accesses: of the last one
  };
  std::vector<Base> bases;
  std::vector<CarriedBytes> carried;

  std::uint32_t live() const { return launched & ~exited; }
};

/// Host address of an operand's lanes.
inline std::byte* address_of(const Warp& w, Ref ref) {
  const auto base = w.frame & static_cast<std::uintptr_t>(ref >> 63);
  return reinterpret_cast<std::byte*>(base + static_cast<std::uintptr_t>(ref));
}
template <class T>
T* lanes_of(const Warp& w, Ref ref) {
  return reinterpret_cast<T*>(address_of(w, ref));
}

}  // namespace simgpu::exec
