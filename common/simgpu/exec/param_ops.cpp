// Parameters: of the kernel (the same for all lanes), of functions and of calls (per lane, in the
// frame).
#include <cstring>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

namespace {

/// All active lanes get `value`.
void fill_lanes(Warp& w, const Op& op, std::uint64_t value) {
  Op fill = op;
  fill.imm = static_cast<std::int64_t>(value);
  handlers().broadcast[op.width == 1 ? 0 : op.width == 2 ? 1 : op.width == 4 ? 2 : 3](w, fill);
}

/// Whether all 32 lanes have the same address.
bool uniform(const std::uint64_t* address) {
  std::uint64_t different = 0;
  for (unsigned i = 1; i < kLanes; ++i) different |= address[i] ^ address[0];
  return different == 0;
}

}  // namespace

void op_kernel_param(Warp& w, const Op& op) {
  std::uint64_t v = 0;
  const auto args = w.run->launch->args;
  if (static_cast<std::size_t>(op.imm) + op.width <= args.size())
    std::memcpy(&v, args.data() + op.imm, op.width);
  fill_lanes(w, op, v);
}

/// An address computed from the parameters' own: bounds are checked lane by lane, or once where all
/// read the same.
void op_kernel_param_indexed(Warp& w, const Op& op) {
  const std::uint64_t* address = lanes_of<std::uint64_t>(w, op.a);
  std::byte* dst = address_of(w, op.dst);
  if (w.mask == kFullMask && uniform(address)) {
    const std::uint64_t at = address[0] + static_cast<std::uint64_t>(op.imm);
    const Target t = resolve(*w.run, w, 0, ptx::Space::param, at, op.width, false);
    if (t.fault == Target::Fault::none) {
      std::uint64_t value = 0;
      std::memcpy(&value, t.data, op.width);
      fill_lanes(w, op, value);
      return;
    }
  }
  // Mostly all lanes read the same: what one found, the next need not look for.
  std::uint64_t found_at = 0;
  const std::byte* found = nullptr;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((w.mask >> i) & 1u) == 0) continue;
    const std::uint64_t at = address[i] + static_cast<std::uint64_t>(op.imm);
    if (found != nullptr && at == found_at) {
      std::memcpy(dst + i * op.width, found, op.width);
      continue;
    }
    const Target t = resolve(*w.run, w, i, ptx::Space::param, at, op.width, false);
    found = t.fault == Target::Fault::none ? t.data : nullptr;
    found_at = at;
    if (t.fault == Target::Fault::none) {
      std::memcpy(dst + i * op.width, t.data, op.width);
    } else {
      report_fault(*w.run, w, i, op, AccessType::load, op.width, at, t);
      std::memset(dst + i * op.width, 0xff, op.width);
    }
  }
}

namespace {
/// Offset of lane i's access in its area, or beyond the end if an indexed one leaves it.
std::uint64_t area_offset(const Warp& w, const Op& op, unsigned i) {
  std::uint64_t at = static_cast<std::uint64_t>(op.imm);
  if (op.a != kNoRef) at += lanes_of<std::uint64_t>(w, op.a)[i];
  return at;
}
}  // namespace

void op_area_load(Warp& w, const Op& op) {
  const std::byte* area = w.frames[w.depth].memory + op.slot;
  std::byte* dst = address_of(w, op.dst);
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((w.mask >> i) & 1u) == 0) continue;
    const std::uint64_t at = area_offset(w, op, i);
    if (at > op.site || op.width > op.site - at)
      std::memset(dst + i * op.width, 0xff, op.width);
    else
      std::memcpy(dst + i * op.width, area + std::size_t{i} * op.site + at, op.width);
  }
}

void op_area_store(Warp& w, const Op& op) {
  std::byte* area = w.frames[w.depth].memory + op.slot;
  const std::byte* src = address_of(w, op.b);
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((w.mask >> i) & 1u) == 0) continue;
    const std::uint64_t at = area_offset(w, op, i);
    if (at > op.site || op.width > op.site - at) continue;
    std::memcpy(area + std::size_t{i} * op.site + at, src + i * op.width, op.width);
  }
}

/// The parameters of the function that `w` has entered, for its lanes in `mask`: see FunctionCode::local_params.
void params_to_local(BlockRun& run, const Warp& w, std::uint32_t mask) {
  const Frame& frame = w.frames[w.depth];
  const FunctionCode& code = *frame.code;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((mask >> i) & 1u) == 0) continue;
    const std::size_t at = (std::size_t{w.index} * kLanes + i) * run.local_capacity +
                           frame.local_base + code.local_params;
    std::memcpy(run.local.data() + at,
                frame.memory + code.param_area + std::size_t{i} * code.param_bytes,
                code.param_bytes);
    std::memset(run.local_initialised.data() + at, 1, code.param_bytes);
  }
  if (run.launch->program->tracks_unset) marks_to_local(run, w, mask);
}

}  // namespace simgpu::exec
