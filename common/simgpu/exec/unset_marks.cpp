// Values that nothing has set: what becomes of their marks while a kernel runs.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/simgpu/exec/carried.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/exec/shuffle.hpp"
#include "common/simgpu/exec/unset_marks.hpp"
#include "common/simgpu/memory/address.hpp"

namespace simgpu::exec {

using Form = UnsetForm::Kind;

namespace {

void report_unset(const Warp& w, const Op& op, unsigned lane, Mark mark) {
  BlockRun& run = *w.run;
  const Program& p = *run.launch->program;
  const unsigned number = mark.origin & kMostOrigins;
  const std::uint32_t origin = p.unset_origins[number - 1];
  if (p.tracks_unwritten) {
    run.worker->used_unwritten[number] = true;
    return;
  }
  const Access at =
      describe(run, {op.pc, w.index, lane, AccessType::load, MemorySpace::local, 0, 0});
  std::string text = "uses ";
  const bool whole = brings(*p.instructions[origin].ptx, ptx::Special::unset_whole);
  text += (mark.origin & kComputed) != 0 && !whole ? "what was computed from " : "";
  if (p.instructions[origin].ptx->op == ptx::Opcode::shfl)
    text += "what the shuffle on " + line_text(p, origin) + " brought from lane " +
            std::to_string(run.worker->absent_lanes[number]) +
            " of the warp, which did not take part in it: on a GPU that can be anything. Read only "
            "from lanes that execute the shuffle and that its mask names";
  else if (whole)
    text += "the variable declared on " + line_text(p, origin) +
            " that nothing has set on this path: on a GPU it can be anything. Give it its "
            "first value where it is declared";
  else if (brings(*p.instructions[origin].ptx, ptx::Special::unset_part))
    text +=
        "a part of the variable declared on " + line_text(p, origin) +
        " that nothing has set: on a GPU it can be anything. Give all of it its first values, as by = "
        "{}; a fragment, by fill_fragment()";
  else
    text +=
        "an element of the array declared on " + line_text(p, origin) +
        " that nothing has set: on a GPU it can be anything. Give the array its first values, as "
        "by = {}";
  // What is wrong with one array, or one shuffle, is said once, where it matters first.
  add_finding(run, FindingKind::uninitialised_read, origin, UINT32_MAX, at, std::nullopt,
              std::move(text), FindingCause::unset_value);
}

/// Whether all that there is of a word is a byte or two, extended.
bool is_extended(std::uint64_t unset, std::uint64_t value, unsigned bytes) {
  for (unsigned narrow = 1; narrow < bytes && narrow <= 2; ++narrow)
    if (unset == low_bits(narrow) && (value & low_bits(bytes) & ~unset) == 0) return true;
  return false;
}

/// Whether it matters that `m`, in a value of `bytes`, gets to memory without marks. What was only passed on does not,
/// unless it comes from a load that brought it (Tracking::unwritten): then padding, and unused bits of a word, may.
bool matters_in_memory(const Program& p, Mark m, unsigned bytes, const std::byte* now) {
  m = within(m, bytes);
  if (m.bits == 0 || is_computed(m)) return m.bits != 0;
  if (!p.tracks_unwritten) return false;
  std::uint64_t value = 0;
  std::memcpy(&value, now, std::min(bytes, 8u));
  if (is_extended(m.bits, value, bytes)) return true;
  if (p.unset_strays[m.origin - 1u]) return false;
  const unsigned word = std::min(bytes, 4u);
  for (unsigned k = 0; k < bytes; k += word)
    if ((m.bits >> (8 * k) & low_bits(word)) == low_bits(word)) return true;
  return false;
}

Mark first_mark(const Warp& w, const UnsetForm& f, unsigned lane) {
  Mark mark;
  for (const Ref r : f.from) mark = together(mark, mark_at(w, r, lane));
  return mark;
}

void shuffle_marks(Warp& w, const Op& op, const UnsetForm& f) {
  const bool strict = w.run->launch->program->tracks_unwritten;
  const std::uint32_t *b = lanes_of<std::uint32_t>(w, op.b), *c = lanes_of<std::uint32_t>(w, op.c),
                      *named = lanes_of<std::uint32_t>(w, op.d);
  Mark out[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((w.mask >> i) & 1u) == 0) continue;
    const ShuffleSource s = shuffle_source(static_cast<ptx::ShflMode>(op.x), i, b[i], c[i]);
    out[i] = mark_at(w, f.from[0], s.lane);
    if (((w.mask & named[i]) >> s.lane & 1u) != 0 || !s.in_range) continue;
    if (!strict) out[i] = {f.origin, kAllBits};
    w.run->worker->absent_lanes[f.origin] = static_cast<std::uint8_t>(s.lane);
  }
  set_marks(w, f.to[0], out);
}

/// Whether a selp brings the same whatever its predicate is: compilers write `a && b` in this way, too.
bool same_values(const Warp& w, const UnsetForm& f, unsigned lane) {
  const auto* x = lanes_of<std::byte>(w, f.values[0]);
  const auto* y = lanes_of<std::byte>(w, f.values[1]);
  return std::memcmp(x + lane * f.value_bytes, y + lane * f.value_bytes, f.value_bytes) == 0;
}

std::uint64_t value_at(const Warp& w, Ref ref, unsigned bytes, unsigned lane) {
  std::uint64_t value = 0;
  std::memcpy(&value, lanes_of<std::byte>(w, ref) + lane * bytes, bytes);
  return value;
}

std::uint64_t address_at(const Warp& w, const UnsetForm& f, unsigned lane) {
  const std::uint64_t base = f.address == kNoRef    ? 0
                             : f.address_bytes == 8 ? lanes_of<std::uint64_t>(w, f.address)[lane]
                                                    : lanes_of<std::uint32_t>(w, f.address)[lane];
  return base + static_cast<std::uint64_t>(f.offset);
}
}  // namespace

MarkedPlace marked_place(const Warp& w, const UnsetForm& f, unsigned lane, std::size_t elements,
                         bool write) {
  BlockRun& run = *w.run;
  MarkedPlace p;
  p.target = resolve(run, w, lane, f.space, address_at(w, f, lane),
                     static_cast<unsigned>(elements * f.value_bytes), write);
  const Target& t = p.target;
  if (t.fault != Target::Fault::none || t.peer != nullptr) return p;
  const auto lies_in = [&](MarkedBytes& bytes, const auto& memory) {
    p.bytes = &bytes;
    p.at = static_cast<std::size_t>(t.data - memory.data());
    p.size = memory.size();
  };
  if (t.space == MemorySpace::shared) lies_in(run.marked_shared, run.shared);
  if (t.space == MemorySpace::local) lies_in(run.marked_local, run.local);
  return p;
}

namespace {

void save_to_memory(const Warp& w, const Op& op, const UnsetForm& f) {
  const unsigned size = f.value_bytes;
  const Program& program = *w.run->launch->program;
  if (w.run->marked_shared.marks.empty() && w.run->marked_local.marks.empty() &&
      !any_marks(w, f.from))
    return;
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    Mark all;
    for (const Ref r : f.from) all = together(all, within(mark_at(w, r, lane), size));
    if (!all && w.run->marked_shared.marks.empty() && w.run->marked_local.marks.empty()) continue;
    const MarkedPlace p = marked_place(w, f, lane, f.from.size(), true);
    if (p.bytes == nullptr) {
      const bool found = p.target.fault == Target::Fault::none && p.target.data != nullptr &&
                         (program.tracks_unwritten || p.target.space == MemorySpace::global);
      for (std::size_t k = 0; found && k < f.from.size(); ++k) {
        const Mark mark = mark_at(w, f.from[k], lane);
        if (!matters_in_memory(program, mark, size, p.target.data + k * size)) continue;
        report_unset(w, op, lane, mark);
        break;
      }
      continue;
    }
    if (p.bytes->marks.size() != p.size && !all) continue;
    p.bytes->make(p.size);
    for (std::size_t k = 0; k < f.from.size(); ++k)
      p.bytes->put(p.at + k * size, mark_at(w, f.from[k], lane), size, p.target.data + k * size);
  }
}

/// Whether any of the 16 bytes around element k is written, as beside padding.
bool beside_written(const BlockRun& run, const MarkedPlace& p, std::size_t k, unsigned size) {
  constexpr std::size_t kAround = 16;
  const std::uint64_t at = p.target.offset + k * size;
  const std::size_t before = at % kAround, place = p.at + k * size;
  if (place < before || place - before + kAround > p.size) return false;
  Target t = p.target;
  t.offset = at - before;
  if (t.initialised != nullptr)
    t.initialised += static_cast<std::ptrdiff_t>(k * size) - static_cast<std::ptrdiff_t>(before);
  return unwritten_bytes(run, t, kAround) != 0xffffu;
}

/// Of what a load brings: the bytes that nobody has written, and whether they may be padding all the same.
struct UnwrittenLoad {
  std::uint32_t bytes = 0;
  bool carried = false;

  Mark of(const BlockRun& run, const UnsetForm& f, const MarkedPlace& p, std::size_t k) const {
    const unsigned size = f.value_bytes;
    std::uint64_t bits = 0;
    for (unsigned b = 0; b < size && b < 8; ++b)
      if ((bytes >> (k * size + b) & 1u) != 0) bits |= std::uint64_t{0xff} << (8 * b);
    if (bits == 0) return {};
    return {carried || (size < 4 && beside_written(run, p, k, size)) ? f.stray : f.origin, bits};
  }
};
UnwrittenLoad unwritten_load(const Warp& w, const Op& op, const UnsetForm& f,
                             const MarkedPlace& p) {
  UnwrittenLoad load;
  BlockRun& run = *w.run;
  if (p.bytes == nullptr || !run.launch->program->tracks_unwritten) return load;
  const auto bytes = static_cast<unsigned>(f.to.size() * f.value_bytes);
  load.bytes = unwritten_bytes(run, p.target, bytes);
  if (load.bytes == 0) return load;
  Op access = op;
  access.site = run.launch->program->instructions[op.pc].site;
  load.carried = may_bring(run, access, p.target, bytes, load.bytes);
  return load;
}

void fetch_from_memory(const Warp& w, const Op& op, const UnsetForm& f) {
  const unsigned size = f.value_bytes;
  const BlockRun& run = *w.run;
  const bool none = !run.launch->program->tracks_unwritten && run.marked_shared.marks.empty() &&
                    run.marked_local.marks.empty();
  if (none) return clear_marks(w, f.to);
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const MarkedPlace p = marked_place(w, f, lane, f.to.size(), false);
    const UnwrittenLoad load = unwritten_load(w, op, f, p);
    for (std::size_t k = 0; k < f.to.size(); ++k) {
      if (f.to[k] == kNoRef) continue;
      Mark mark;
      if (p.bytes != nullptr)
        mark = together(load.of(run, f, p, k),
                        p.bytes->get(p.at + k * size, size, p.target.data + k * size));
      lanes_of<LaneMarks>(w, f.to[k])->set(lane, extended(mark, size, f.is_signed));
    }
  }
}

/// Where a lane's parameter has its marks; null: beyond the end.
struct MarkedParameter {
  std::uint8_t *origins = nullptr, *bits = nullptr;
};
MarkedParameter marked_parameter(const Warp& w, const UnsetForm& f, unsigned lane,
                                 std::uint64_t at) {
  if (at > f.stride || f.value_bytes > f.stride - at) return {};
  std::byte* area = w.frames[w.depth].memory + f.area;
  return {origins_of(area, f.stride, lane) + at, exec::bits_of(area, f.stride, lane) + at};
}
void move_parameters(const Warp& w, const UnsetForm& f) {
  const bool saves = f.kind == Form::save_parameter;
  const std::vector<Ref>& list = saves ? f.from : f.to;
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    for (std::size_t k = 0; k < list.size(); ++k) {
      const MarkedParameter p =
          marked_parameter(w, f, lane, address_at(w, f, lane) + k * f.value_bytes);
      if (p.origins == nullptr) continue;
      Mark mark = saves ? mark_at(w, list[k], lane) : Mark{};
      for (unsigned b = 0; b < f.value_bytes && b < 8; ++b) {
        if (saves) {
          p.bits[b] = static_cast<std::uint8_t>(mark.bits >> (8 * b));
          p.origins[b] = p.bits[b] == 0 ? std::uint8_t{0} : mark.origin;
        } else {
          mark = together(mark, {p.origins[b], std::uint64_t{p.bits[b]} << (8 * b)});
        }
      }
      if (!saves && list[k] != kNoRef)
        lanes_of<LaneMarks>(w, list[k])->set(lane, extended(mark, f.value_bytes, f.is_signed));
    }
  }
}

void clear_area(std::byte* area, std::uint32_t bytes, std::uint32_t mask) {
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    std::memset(origins_of(area, bytes, lane), 0, bytes);
    std::memset(bits_of(area, bytes, lane), 0, bytes);
  }
}
void clear_parameters(const Warp& w) {
  const Frame& frame = w.frames[w.depth];
  clear_area(frame.memory + frame.code->call_area, frame.code->call_bytes, w.mask);
  clear_area(frame.memory + frame.code->result_area, frame.code->result_bytes, w.mask);
}

bool holds(const Warp& w, Ref predicate, unsigned i) {
  return (*lanes_of<std::uint32_t>(w, predicate) >> i & 1u) != 0;
}

Mark mark_of_product(const Warp& w, const UnsetForm& f, unsigned i) {
  const Mark x = mark_at(w, f.from[0], i), y = mark_at(w, f.from[1], i),
             sum = f.from.size() > 2 ? mark_at(w, f.from[2], i) : Mark{};
  const auto is_zero = [&](std::size_t which) {
    return value_at(w, f.values[which], f.value_bytes, i) == 0;
  };
  Mark mark = sum;
  if (x && (y || !is_zero(1))) mark = together(mark, x);
  if (y && (x || !is_zero(0))) mark = together(mark, y);
  return computed(mark, f.halves ? kAllBits : from_lowest(mark.bits));
}

/// Of "and" and "or": the other operand decides alone if it is false, of "and", or true, of "or".
Mark mark_of_condition(const Warp& w, const UnsetForm& f, unsigned i) {
  const bool decides = f.kind == Form::either;
  const Mark a = mark_at(w, f.from[0], i), b = mark_at(w, f.from[1], i);
  if (a && (b || holds(w, f.b, i) != decides)) return computed(a);
  return b && (a || holds(w, f.a, i) != decides) ? computed(b) : Mark{};
}

Mark mark_of_bits(const Warp& w, const UnsetForm& f, unsigned i) {
  BitwiseOperands operands;
  Mark mark;
  for (std::size_t k = 0; k < f.from.size(); ++k) {
    const Mark m = within(mark_at(w, f.from[k], i), f.widths[k]);
    mark = together(mark, m);
    operands.unset[k] = m.bits;
    operands.value[k] = value_at(w, f.values[k], f.widths[k], i);
  }
  if (!mark) return mark;
  const std::uint64_t bits = unset_bits(f.bitwise, operands);
  return computes(f.bitwise.op) ? (bits == 0 ? Mark{} : computed(mark, bits))
                                : Mark{mark.origin, bits};
}

Mark mark_of_lane(const Warp& w, const UnsetForm& f, unsigned i) {
  switch (f.kind) {
    case Form::begin:
      return {f.origin, kAllBits};
    case Form::move:
      return first_mark(w, f, i);
    case Form::compute: {
      const Mark m = first_mark(w, f, i);
      return computed(m, f.halves ? whole_halves(m.bits) : kAllBits);
    }
    case Form::bitwise:
      return mark_of_bits(w, f, i);
    case Form::pack: {
      Mark mark;
      for (std::size_t k = 0; k < f.from.size(); ++k) {
        Mark m = within(mark_at(w, f.from[k], i), f.value_bytes);
        m.bits = 8 * k * f.value_bytes < 64 ? m.bits << (8 * k * f.value_bytes) : m.bits;
        mark = together(mark, m);
      }
      return mark;
    }
    case Form::multiply:
      return mark_of_product(w, f, i);
    case Form::choose: {
      const Mark by = mark_at(w, f.from[2], i),
                 chosen = mark_at(w, f.from[holds(w, f.a, i) ? 0 : 1], i);
      return !by || (!chosen && same_values(w, f, i)) ? chosen : computed(by);
    }
    case Form::both:
    case Form::either:
      return mark_of_condition(w, f, i);
    default:
      return {};
  }
}

void unpack_marks(const Warp& w, const UnsetForm& f) {
  for (std::size_t k = 0; k < f.to.size(); ++k) {
    Mark out[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) {
      out[i] = mark_at(w, f.from[0], i);
      if (8 * k * f.value_bytes < 64) out[i].bits >>= 8 * k * f.value_bytes;
      out[i] = within(out[i], f.value_bytes);
    }
    set_marks(w, f.to[k], out);
  }
}

void use_marks(Warp& w, const Op& op, const UnsetForm& f) {
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    for (const Ref r : f.from) {
      const Mark m = mark_at(w, r, i);
      if (!m) continue;
      report_unset(w, op, i, m);
      break;
    }
  }
}

}  // namespace

void MarkedBytes::make(std::size_t size) {
  if (marks.size() == size) return;
  marks.assign(size, 0);
  bits.assign(size, 0);
  values.assign(size, std::byte{0});
}
void MarkedBytes::put(std::size_t at, Mark mark, unsigned bytes, const std::byte* now) {
  for (unsigned b = 0; b < bytes && at + b < marks.size(); ++b) {
    bits[at + b] = static_cast<std::uint8_t>(b < 8 ? mark.bits >> (8 * b) : mark.bits);
    marks[at + b] = bits[at + b] == 0 ? std::uint8_t{0} : mark.origin;
    values[at + b] = now[b];
  }
}
Mark MarkedBytes::get(std::size_t at, unsigned bytes, const std::byte* now) const {
  Mark mark;
  for (unsigned b = 0; b < bytes && at + b < marks.size(); ++b)
    if (marks[at + b] != 0 && values[at + b] == now[b])
      mark = together(mark, {marks[at + b], std::uint64_t{bits[at + b]} << (8 * (b & 7u))});
  return mark;
}
void MarkedBytes::grow(std::size_t threads, std::size_t from, std::size_t to) {
  if (marks.empty()) return;
  MarkedBytes other;
  other.make(threads * to);
  for (std::size_t t = 0; t < threads && from != 0; ++t) {
    std::copy_n(marks.begin() + static_cast<std::ptrdiff_t>(t * from), from,
                other.marks.begin() + static_cast<std::ptrdiff_t>(t * to));
    std::copy_n(bits.begin() + static_cast<std::ptrdiff_t>(t * from), from,
                other.bits.begin() + static_cast<std::ptrdiff_t>(t * to));
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(t * from), from,
                other.values.begin() + static_cast<std::ptrdiff_t>(t * to));
  }
  *this = std::move(other);
}

void touch_marks(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                 std::uint64_t offset, unsigned bytes) {
  const ptx::Opcode by = run.launch->program->instructions[op.pc].ptx->op;
  if (by == ptx::Opcode::ld || by == ptx::Opcode::ldu || by == ptx::Opcode::ldmatrix)
    return;  // fetch
  MarkedBytes& marked = run.marked_shared;
  const std::size_t first = offset - memory::kSharedBase;
  for (std::size_t k = first; k < first + bytes && k < marked.marks.size(); ++k) {
    const Mark mark = marked.get(k, 1, run.shared.data() + k);
    const bool counts = is_computed(mark) || run.launch->program->tracks_unwritten;
    if (type == AccessType::load && mark && counts) return report_unset(w, op, lane, mark);
    if (type != AccessType::load) marked.marks[k] = 0;
  }
}

void pass_marks(Warp& w, const Call& call, std::uint32_t mask) {
  const Frame &to = w.frames[w.depth], &from = w.frames[w.depth - 1];
  std::byte *target = to.memory + to.code->param_area, *source = from.memory + from.code->call_area;
  const std::uint32_t size = to.code->param_bytes, given = from.code->call_bytes;
  clear_area(target, size, mask);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    for (const Call::Copy& c : call.arguments) {
      if (c.immediate != kNoRef) continue;
      std::memcpy(origins_of(target, size, i) + c.to, origins_of(source, given, i) + c.from,
                  c.bytes);
      std::memcpy(bits_of(target, size, i) + c.to, bits_of(source, given, i) + c.from, c.bytes);
    }
  }
  clear_area(source, given, mask);
}

void return_marks(Warp& w, const Call& call, std::uint32_t mask) {
  const Frame &from = w.frames[w.depth], &to = w.frames[w.depth - 1];
  std::byte *target = to.memory + to.code->call_area,
            *source = from.memory + from.code->result_area;
  const std::uint32_t size = to.code->call_bytes, given = from.code->result_bytes;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    for (const Call::Copy& c : call.results) {
      std::memcpy(origins_of(target, size, i) + c.to, origins_of(source, given, i) + c.from,
                  c.bytes);
      std::memcpy(bits_of(target, size, i) + c.to, bits_of(source, given, i) + c.from, c.bytes);
    }
  }
}

void compute_marks(Warp& w, const Call& call, std::uint32_t mask) {
  const Frame& frame = w.frames[w.depth];
  std::byte* area = frame.memory + frame.code->call_area;
  const std::uint32_t size = frame.code->call_bytes;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    std::uint8_t origin = 0;
    for (const Call::Copy& c : call.arguments)
      for (std::uint32_t k = 0; c.immediate == kNoRef && k < c.bytes && origin == 0; ++k)
        origin = origins_of(area, size, i)[c.from + k];
    clear_area(area, size, 1u << i);
    for (const Call::Copy& c : call.results) {
      if (origin == 0) continue;
      std::memset(origins_of(area, size, i) + c.to, origin | kComputed, c.bytes);
      std::memset(bits_of(area, size, i) + c.to, 0xff, c.bytes);
    }
  }
}

void marks_to_local(BlockRun& run, const Warp& w, std::uint32_t mask) {
  const Frame& frame = w.frames[w.depth];
  const FunctionCode& code = *frame.code;
  std::byte* area = frame.memory + code.param_area;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const std::uint8_t *origins = origins_of(area, code.param_bytes, i),
                       *bits = bits_of(area, code.param_bytes, i);
    const bool any = std::any_of(origins, origins + code.param_bytes,
                                 [](std::uint8_t origin) { return origin != 0; });
    if (!any && run.marked_local.marks.empty()) continue;
    run.marked_local.make(run.local.size());
    const std::size_t at = (std::size_t{w.index} * kLanes + i) * run.local_capacity +
                           frame.local_base + code.local_params;
    for (std::uint32_t k = 0; k < code.param_bytes; ++k)
      run.marked_local.put(at + k, {origins[k], bits[k]}, 1, run.local.data() + at + k);
  }
}

void op_unset(Warp& w, const Op& op) {
  const UnsetForm& f = w.run->launch->program->unset_forms[static_cast<std::size_t>(op.imm)];
  switch (f.kind) {
    case Form::shuffle:
      return shuffle_marks(w, op, f);
    case Form::product:
      return product_marks(w, f);
    case Form::save:
      return save_to_memory(w, op, f);
    case Form::fetch:
      return fetch_from_memory(w, op, f);
    case Form::fetch_matrices:
      return fetch_matrices(w, f);
    case Form::save_matrices:
      return save_matrices(w, f);
    case Form::transpose:
      return transpose_marks(w, f);
    case Form::unpack:
      return unpack_marks(w, f);
    case Form::save_parameter:
    case Form::fetch_parameter:
      return move_parameters(w, f);
    case Form::clear_parameters:  // and registers, of all lanes
      for (const Ref r : f.to) std::memset(address_of(w, r), 0, sizeof(LaneMarks));
      return clear_parameters(w);
    case Form::use:
    case Form::lose:
      use_marks(w, op, f);
      if (f.to.empty()) return;
      break;
    default:
      break;
  }
  if (f.kind != Form::begin && !any_marks(w, f.from)) return clear_marks(w, f.to);
  Mark out[kLanes];
  for (unsigned i = 0; i < kLanes; ++i)
    if (((w.mask >> i) & 1u) != 0) out[i] = mark_of_lane(w, f, i);
  for (const Ref r : f.to) set_marks(w, r, out);
}

}  // namespace simgpu::exec
