// Values that nothing has set: of variables that were read before they were written, and what a shuffle brings from a
// lane that does not take part. A program may have such a value and pass it on; it is wrong to use one: to branch
// by it, to access memory at it, to store in global memory what was computed from it. In shared and local memory it may
// lie, with its mark, until somebody uses it.
//
// Each register that may hold one has marks beside it, for each lane: which of its bits nothing has set, and where they
// come from (Program::unset_origins, counted from 1). An operation of its own, before each instruction that reads
// or writes such registers, moves the marks as the instruction will move values; so do the parameters of functions. That
// costs time, so code is decoded in this way only where something is suspected (loaded.cpp).
//
// The same marks tell whether it matters that a load brought bytes of shared or local memory that nobody has written: of
// an array whose elements are copied or computed with before an `if` throws some of them away, it does not. A launch that
// has such a load runs once more with marks that begin there, and its finding stays if one of them is used, or gets where
// it cannot be followed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/op.hpp"
#include "common/simgpu/exec/unset_bits.hpp"
#include "common/simgpu/ptx/modifiers.hpp"
#include "common/simgpu/ptx/module.hpp"
#include "common/simgpu/report.hpp"

namespace simgpu::exec {

/// Beside the number of the origin: computed from such a value.
inline constexpr std::uint8_t kComputed = 0x80, kMostOrigins = 0x7f;

/// Of one lane of a register, or of a value in memory. No bits: no origin.
struct Mark {
  std::uint8_t origin = 0;
  std::uint64_t bits = 0;

  explicit operator bool() const { return bits != 0; }
};

/// The marks of a register, in a frame.
struct LaneMarks {
  std::uint64_t bits[kLanes];
  std::uint8_t origin[kLanes];

  Mark of(unsigned lane) const { return {origin[lane], bits[lane]}; }
  void set(unsigned lane, Mark m) {
    bits[lane] = m.bits;
    origin[lane] = m.bits == 0 ? std::uint8_t{0} : m.origin;
  }
};

struct UnsetForm {
  enum class Kind : std::uint8_t {
    clear,     ///< what is written is set
    begin,     ///< of a variable: `origin`
    move,      ///< the first mark of `from`
    compute,   ///< the same, of all bits, and computed; of a half, of all of that half
    bitwise,   ///< see unset_bits(), with the operands `values`
    pack,      ///< several values, of `value_bytes`, in the bits of one
    unpack,    ///< the other way round
    multiply,  ///< integers, from[0] and from[1], and adds from[2]: 0 times anything is 0
    choose,  ///< selp: of the lanes for which `a` holds from[0], of the others from[1]; from[2] is that of `a`, which
             ///< says nothing where `values` are equal
    both,    ///< and.pred: true only if both are; from[0], from[1] belong to `a`, `b`
    either,  ///< or.pred
    shuffle,  ///< as op_shfl with the operands a, b, c, d of the Op; from[0], and `origin` of absent lanes
    product,  ///< D = A B + C of a warp, from[..inputs[0]) of A, then inputs[1] of B, then C's: row by row
    use,   ///< a finding, if there is a mark in `from`
    lose,  ///< the same, and what is written is set: nothing is known of how it follows from that
    save,  ///< after a store: its bytes have the marks `from`, by element. In global memory a finding, if it matters
    fetch,           ///< before a load: `to`, by element, gets the marks of its bytes
    fetch_matrices,  ///< ldmatrix: of its registers
    save_matrices,   ///< stmatrix
    transpose,       ///< movmatrix
    save_parameter,  ///< the same of parameters: `area`, `stride`
    fetch_parameter,
    clear_parameters,  ///< of the running function: of its calls, and its results
  } kind = Kind::clear;
  std::uint8_t origin = 0;     ///< fetch: of bytes that nobody has written, 0 = they are left alone
  std::vector<Ref> from, to;   ///< LaneMarks; kNoRef = never any
  Ref a = kNoRef, b = kNoRef;  ///< predicates
  std::uint8_t stray = 0;      ///< fetch: as `origin`, of bytes that may be padding
  std::array<Ref, 4> values{kNoRef, kNoRef, kNoRef, kNoRef};
  std::array<std::uint8_t, 4> widths{};  ///< bitwise: bytes of `values`
  BitwiseForm bitwise{};
  bool halves = false;     ///< compute: two in a register. product: so are its sums
  bool is_signed = false;  ///< fetch: the load extends the sign
  std::uint8_t value_bytes = 0;
  bool transposed = false;  ///< fetch_matrices, save_matrices
  std::array<std::uint8_t, 2> inputs{};
  Tiling tiles{};                          ///< product
  std::array<std::uint8_t, 2> per_tile{};  ///< product: registers of A, of B that a tile needs
  /// save, fetch: where; elements have `value_bytes`.
  Ref address = kNoRef;
  std::uint8_t address_bytes = 8;
  ptx::Space space = ptx::Space::generic;
  std::int64_t offset = 0;
  std::uint32_t area = 0, stride = 0;
};

/// Of a block's shared memory or of its threads' local memory, by byte. A mark holds as long as the byte has the value
/// with which it came.
struct MarkedBytes {
  std::vector<std::uint8_t> marks;  ///< origins; empty: there are none
  std::vector<std::uint8_t> bits;   ///< that are not set
  std::vector<std::byte> values;

  /// If they are of memory of another size, there are none yet.
  void make(std::size_t size);
  void put(std::size_t at, Mark mark, unsigned bytes, const std::byte* now);
  /// Of `bytes` bytes as far as they have the value with which a mark came.
  Mark get(std::size_t at, unsigned bytes, const std::byte* now) const;
  /// Threads get `to` bytes each instead of `from`.
  void grow(std::size_t threads, std::size_t from, std::size_t to);
};

/// Behind an area of parameters, [lane][bytes], lie the origins of its bytes, and behind these their bits: where those of
/// a lane are.
inline std::uint8_t* origins_of(std::byte* area, std::uint32_t bytes, unsigned lane) {
  return reinterpret_cast<std::uint8_t*>(area) + std::size_t{kLanes + lane} * bytes;
}
inline std::uint8_t* bits_of(std::byte* area, std::uint32_t bytes, unsigned lane) {
  return origins_of(area, bytes, lane) + std::size_t{kLanes} * bytes;
}
inline constexpr std::uint32_t kAreasWithMarks = 3;

/// Whether it is one of simcc's marks, of that kind.
inline bool brings(const ptx::Instruction& ins, ptx::Special special) {
  return ins.op == ptx::Opcode::mov && ins.operands.size() == 2 &&
         ins.operands[1].kind == ptx::Operand::Kind::special &&
         ins.operands[1].index == static_cast<std::uint32_t>(special);
}

struct BlockRun;
struct Call;
struct Warp;
void op_unset(Warp& w, const Op& op);  ///< Op::imm: index into Program::unset_forms
/// Of a call: the marks of what lanes `mask` give the function, to the frame that they have entered, and of what they get
/// back from it. What a mathematical function makes of a value is computed from it.
void pass_marks(Warp& w, const Call& call, std::uint32_t mask);
void return_marks(Warp& w, const Call& call, std::uint32_t mask);
void compute_marks(Warp& w, const Call& call, std::uint32_t mask);
/// Of its parameters, which have moved to local memory.
void marks_to_local(BlockRun& run, const Warp& w, std::uint32_t mask);
/// An instruction other than ld, st and ldmatrix reads or writes shared memory, in which there are marks: reading what was computed
/// from something unset is a use, and what is written is set.
void touch_marks(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                 std::uint64_t offset, unsigned bytes);

}  // namespace simgpu::exec
