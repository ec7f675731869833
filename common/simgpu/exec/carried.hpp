// Bytes that nothing has written, and that a program copies nevertheless: padding between a struct's
// members. Where only moves reach them (ptx/used_bytes.hpp), a load may bring them; they stay unwritten
// in memory wherever they are stored, so that whoever uses them later is found.
//
// Once a block has loaded such bytes, all its loads and stores take the complete path: the quick one
// knows nothing of this.
#pragma once

#include "common/simgpu/exec/memory_ops.hpp"

namespace simgpu::exec {

/// Bit k: byte k of [t, t + bytes) has not been written. Of at most 32 bytes.
std::uint32_t unwritten_bytes(const BlockRun& run, const Target& t, unsigned bytes);

/// Whether the load `op` may bring `missing` of its `bytes` bytes from `t`, which nobody has written. All of
/// them it may not, for no struct is padding and nothing else, unless it is one step of a struct's copy, or what
/// it brings stays in local memory: arrays are copied before all of their elements are set.
bool may_bring(BlockRun& run, const Op& op, const Target& t, unsigned bytes, std::uint32_t missing);

/// Writes down that bytes are written now, by elements of `element` bytes, but for `kept` of them, which
/// stay as they are.
void mark_written(const Target& t, unsigned bytes, unsigned element, std::uint32_t kept);
/// The same of shared memory, whose shadow knows of the store already. `before`: unwritten_bytes() then.
void keep_unwritten(BlockRun& run, const Target& t, unsigned bytes, std::uint32_t kept,
                    std::uint32_t before);

/// What the registers of a store carry, and of a load what they carry from now on.
void carried_by(const Warp& w, const Op& op, UnwrittenBytes& unwritten);
void carry(Warp& w, const Op& op, const UnwrittenBytes& unwritten);

}  // namespace simgpu::exec
