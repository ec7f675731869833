// Values that nothing has set: of variables that were read before they were written, and what a shuffle brings from a
// lane that does not take part. A program may have such a value and pass it on; it is wrong to use one: to branch
// by it, to access memory at it, to store in global memory what was computed from it. In shared and local memory it may
// lie, with its mark, until somebody uses it.
//
// Each register that may hold one has a second one beside it, with a mark for each lane: 0, or where the value
// comes from (Program::unset_origins, counted from 1). An operation of its own, before each instruction that reads
// or writes such registers, moves the marks as the instruction will move values. That costs time, so code is decoded
// in this way only where something is suspected (loaded.cpp).
//
// The same marks tell whether it matters that a load brought bytes of shared or local memory that nobody has written: of
// an array whose elements are copied or computed with before an `if` throws some of them away, it does not. A launch that
// has such a load runs once more with marks that begin there, and its finding stays if one of them is used, or gets where
// it cannot be followed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/simgpu/exec/op.hpp"
#include "common/simgpu/ptx/modifiers.hpp"
#include "common/simgpu/ptx/module.hpp"
#include "common/simgpu/report.hpp"

namespace simgpu::exec {

/// Beside the number of the origin: computed from such a value.
inline constexpr std::uint8_t kComputed = 0x80, kMostOrigins = 0x7f;

struct UnsetForm {
  enum class Kind : std::uint8_t {
    clear,    ///< what is written is set
    begin,    ///< of a variable: `origin`
    move,     ///< the first mark of `from`
    compute,  ///< the same, and computed
    pack,  ///< several values in the bits of one: a mark only if all have one, for who takes one out again
    multiply,  ///< integers, from[0] and from[1], and adds from[2]: 0 times anything is 0
    choose,  ///< selp: of the lanes for which `a` holds from[0], of the others from[1]; from[2] is that of `a`, which
             ///< says nothing where `values` are equal
    both,    ///< and.pred: true only if both are; from[0], from[1] belong to `a`, `b`
    either,  ///< or.pred
    shuffle,  ///< as op_shfl with the operands a, b, c, d of the Op; from[0], and `origin` of absent lanes
    product,  ///< D = A B + C of a warp, from[..inputs[0]) of A, then inputs[1] of B, then C's: see product_marks()
    use,      ///< a finding, if there is a mark in `from`
    lose,   ///< the same, and what is written is set: nothing is known of how it follows from that
    store,  ///< a finding, if there is a mark of something computed
    save,  ///< after a store: its bytes have the marks `from`, by element. In global memory, as `store`
    fetch,  ///< before a load: `to`, by element, gets the marks of its bytes
  } kind = Kind::clear;
  std::uint8_t origin = 0;     ///< fetch: of bytes that nobody has written, 0 = they are left alone
  std::vector<Ref> from, to;   ///< marks, one byte per lane; kNoRef = never any
  Ref a = kNoRef, b = kNoRef;  ///< predicates
  std::array<Ref, 2> values{kNoRef, kNoRef};
  std::uint8_t value_bytes = 0;
  std::array<std::uint8_t, 2> inputs{};
  /// save, fetch: where; elements have `value_bytes`.
  Ref address = kNoRef;
  std::uint8_t address_bytes = 8;
  ptx::Space space = ptx::Space::generic;
  std::int64_t offset = 0;
};

/// Of a block's shared memory or of its threads' local memory, by byte. A mark holds as long as the byte has the value
/// with which it came.
struct MarkedBytes {
  std::vector<std::uint8_t> marks;  ///< empty: there are none
  std::vector<std::byte> values;
};

struct BlockRun;
struct Warp;
void op_unset(Warp& w, const Op& op);  ///< Op::imm: index into Program::unset_forms
/// An instruction other than ld and st reads or writes shared memory, in which there are marks: reading what was computed
/// from something unset is a use, and what is written is set.
void touch_marks(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                 std::uint64_t offset, unsigned bytes);

}  // namespace simgpu::exec
