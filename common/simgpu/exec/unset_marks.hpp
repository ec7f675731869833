// What the files that move marks of unset values share (unset.hpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/exec/unset.hpp"

namespace simgpu::exec {

inline Mark mark_at(const Warp& w, Ref ref, unsigned lane) {
  return ref == kNoRef ? Mark{} : lanes_of<LaneMarks>(w, ref)->of(lane);
}
inline bool is_computed(Mark m) {
  return m.bits != 0 && (m.origin & kComputed) != 0;
}
inline Mark computed(Mark m, std::uint64_t bits = kAllBits) {
  if (m.bits == 0) return m;
  return {static_cast<std::uint8_t>(m.origin | kComputed), bits};
}
/// Both at once: of two origins the one from which something was computed.
inline Mark together(Mark a, Mark b) {
  if (a.bits == 0 || b.bits == 0) return a.bits == 0 ? b : a;
  return {is_computed(b) && !is_computed(a) ? b.origin : a.origin, a.bits | b.bits};
}
inline Mark within(Mark m, unsigned bytes) {
  m.bits &= low_bits(bytes);
  return m;
}
inline Mark extended(Mark m, unsigned bytes, bool is_signed) {
  m = within(m, bytes);
  if (is_signed && bytes < 8 && (m.bits >> (8 * bytes - 1) & 1u) != 0) m.bits |= ~low_bits(bytes);
  return m;
}

inline void set_marks(const Warp& w, Ref to, const Mark (&marks)[kLanes]) {
  if (to == kNoRef) return;
  LaneMarks& all = *lanes_of<LaneMarks>(w, to);
  for (unsigned i = 0; i < kLanes; ++i)
    if (((w.mask >> i) & 1u) != 0) all.set(i, marks[i]);
}

/// Whether any lane of them has a mark: mostly none has.
inline bool any_marks(const Warp& w, const std::vector<Ref>& refs) {
  for (const Ref r : refs) {
    if (r == kNoRef) continue;
    std::uint64_t lanes[kLanes / 8];
    std::memcpy(lanes, lanes_of<LaneMarks>(w, r)->origin, kLanes);
    if ((lanes[0] | lanes[1] | lanes[2] | lanes[3]) != 0) return true;
  }
  return false;
}
inline void clear_marks(const Warp& w, const std::vector<Ref>& refs) {
  if (!any_marks(w, refs)) return;
  for (const Ref r : refs)
    for (unsigned i = 0; r != kNoRef && i < kLanes; ++i)
      if (((w.mask >> i) & 1u) != 0) lanes_of<LaneMarks>(w, r)->set(i, {});
}

/// What of a half is not set makes the whole half so.
inline std::uint64_t whole_halves(std::uint64_t bits) {
  std::uint64_t out = 0;
  for (unsigned at = 0; at < 64; at += 16)
    if ((bits >> at & 0xffff) != 0) out |= std::uint64_t{0xffff} << at;
  return out;
}

/// What save and fetch access: by lane, where, and the marks beside it.
struct MarkedPlace {
  Target target;
  MarkedBytes* bytes = nullptr;  ///< null: memory without marks
  std::size_t at = 0, size = 0;  ///< of them
};
/// `elements` of UnsetForm::value_bytes each.
MarkedPlace marked_place(const Warp& w, const UnsetForm& f, unsigned lane, std::size_t elements,
                         bool write);

// unset_products.cpp
void product_marks(const Warp& w, const UnsetForm& f);
void fetch_matrices(const Warp& w, const UnsetForm& f);
void save_matrices(const Warp& w, const UnsetForm& f);
void transpose_marks(const Warp& w, const UnsetForm& f);

}  // namespace simgpu::exec
