// What the dots of an opcode choose among: the parser finds it, the engine's tables are indexed by
// it.
#pragma once

#include <cstdint>

namespace simgpu::ptx {

enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi, approx, full };
enum class MulMode : std::uint8_t { none, lo, hi, wide };
enum class Compare : std::uint8_t {
  none,
#define COMPARISON(id, ...) id,
#include "common/simgpu/instructions.inc"
  count_,
};
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };
enum class AtomOp : std::uint8_t { none, add, inc, dec, min, max, and_, or_, xor_, exch, cas };
/// What a memory access orders (PTX ISA, memory consistency model): .acquire what follows it, .release
/// what came before it, .acq_rel and .sc both.
enum class Ordering : std::uint8_t { none, relaxed, acquire, release, both };
enum class ShflMode : std::uint8_t { none, up, down, bfly, idx };
enum class VoteMode : std::uint8_t { none, any, all, uni, ballot };

}  // namespace simgpu::ptx
