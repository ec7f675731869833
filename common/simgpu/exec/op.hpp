// The decoded form of a kernel: what the interpreter's inner loop reads.
//
// A PTX instruction becomes one or a few Ops. An Op is a function pointer and operand references;
// the function works on all 32 lanes of a warp at once. Nothing is looked up by name while a kernel
// runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simgpu/ptx/modifiers.hpp"

namespace simgpu::exec {

struct Warp;
struct Op;
using Handler = void (*)(Warp&, const Op&);

inline constexpr unsigned kLanes = 32;
inline constexpr std::uint32_t kFullMask = 0xffffffffu;

/// Where an operand's 32 lanes (or its predicate mask) lie. A negative value is an offset into the
/// current frame's registers minus kFrameBias; a positive one is the host address of a constant
/// that all warps share. One shift, one AND and one ADD resolve both without a branch.
using Ref = std::int64_t;
inline constexpr Ref kNoRef = 0;
inline constexpr std::int64_t kFrameBias = std::int64_t{1} << 40;

constexpr Ref frame_ref(std::size_t offset) {
  return static_cast<std::int64_t>(offset) - kFrameBias;
}

struct Op {
  Handler fn = nullptr;       ///< called by the loop
  Handler guarded = nullptr;  ///< behind the guard wrapper
  Handler rounded = nullptr;  ///< behind the rounding-mode wrapper
  Ref dst = kNoRef, dst2 = kNoRef, a = kNoRef, b = kNoRef, c = kNoRef, d = kNoRef;
  Ref guard = kNoRef;  ///< predicate mask
  std::int64_t imm = 0;
  const Ref* list = nullptr;  ///< elements of a vector operand
  std::uint32_t pc = 0;       ///< index of the PTX instruction in its function
  std::uint32_t slot = 0;     ///< memory: which address pattern
  std::uint32_t site = 0;     ///< memory: which counter, unique in the program
  std::uint8_t guard_negated = 0;
  std::uint8_t vec = 1;              ///< memory: elements per lane
  std::uint8_t width = 0;            ///< memory: bytes per element
  std::uint8_t x = 0, y = 0, z = 0;  ///< small parameters of one kind of op
};

/// The operations of the arithmetic table: the rows of instructions.inc. Each exists for some lane
/// types.
enum class Alu : std::uint8_t {
  add_carry,  ///< add.cc, addc and their kin (kernels/integer.cpp)
#define OPERATION(id, ...) id,
#define HELPER(id, ...) id,
#include "common/simgpu/instructions.inc"
  count_,
};

/// Lane types. Registers are stored as arrays of 32 lanes of these sizes; predicates as one mask.
enum class Ty : std::uint8_t {
  pred,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  e4m3x2,
  e5m2x2,
  tf32,
  f32,
  f64,
  count_,
};

constexpr bool is_floating(Ty t) {
  return t >= Ty::f16 && t < Ty::count_;
}

/// What the elements of A and B are in a matrix multiply-add of a warp (see fragments.hpp).
/// f8: e4m3 or e5m2.
enum class MmaFormat : std::uint8_t { f16, bf16, tf32, f64, s8, f8, s4, b1, count_ };

struct HandlerTable {
  Handler alu[static_cast<std::size_t>(Alu::count_)][static_cast<std::size_t>(Ty::count_)];
  Handler compare[static_cast<std::size_t>(ptx::Compare::count_)]
                 [static_cast<std::size_t>(Ty::count_)];
  Handler cvt[static_cast<std::size_t>(Ty::count_)][static_cast<std::size_t>(Ty::count_)];
  /// [source][log2 of the register's bytes]
  Handler widen[static_cast<std::size_t>(Ty::count_)][4];
  Handler narrow[4][4];  ///< [log2 register bytes][log2 bytes wanted]: the low part
  Handler pack[4][4];    ///< [log2 element bytes][log2 whole]: mov.b32 d, {lo, hi}
  Handler unpack[4][4];  ///< mov.b32 {lo, hi}, a
  Handler broadcast[4];  ///< fill a register from `imm`
  /// The quick paths: [load, store][element of 4, 8 bytes][log2 of the vector]. Null: no quick
  /// path.
  Handler shared[2][2][3];
  Handler global[2][2][3];
  Handler stretch;  ///< Op::imm: the address of its Stretch
  /// mma and wmma.mma: [format][rows of a tile: 8, 16][log2 of k, less 2]. Null: no such tile.
  Handler mma[static_cast<std::size_t>(MmaFormat::count_)][2][7];
};

/// Compiled for the vectors of the machine that builds (Makefile).
const HandlerTable& handlers();

}  // namespace simgpu::exec
