#include "common/simgpu/exec/unset.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "common/simgpu/exec/carried.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/exec/shuffle.hpp"
#include "common/simgpu/memory/address.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;
using Form = UnsetForm::Kind;

// -------------------------------------------------------------------------------------------------
// decoding

namespace {

bool brings(const ptx::Instruction& ins, ptx::Special special) {
  return ins.op == Opcode::mov && ins.operands.size() == 2 &&
         ins.operands[1].kind == Kind::special &&
         ins.operands[1].index == static_cast<std::uint32_t>(special);
}
bool is_origin(const ptx::Instruction& ins) {
  return ins.op == Opcode::shfl || brings(ins, ptx::Special::unset) ||
         brings(ins, ptx::Special::unset_part);
}

/// Whether what is written depends on nothing but what is read, and so that a mark says something: of some
/// bits of a value nothing is known.
bool passes_on(const ptx::Instruction& ins) {
  switch (ins.op) {
    case Opcode::and_:
    case Opcode::or_:
      return ins.mod.type == ptx::Type::pred || ins.op == Opcode::or_;
    case Opcode::lop3:
    case Opcode::prmt:
    case Opcode::bfi:
    case Opcode::shf:
      return false;
    case Opcode::mov:
    case Opcode::cvt:
    case Opcode::cvta:
    case Opcode::set:
    case Opcode::setp:
    case Opcode::shfl:
    case Opcode::mma:
    case Opcode::wmma_mma:
      return true;
    default:
      return is_lanewise(ins.op);
  }
}

bool is_integer(ptx::Type type) {
  return type == ptx::Type::u16 || type == ptx::Type::s16 || type == ptx::Type::u32 ||
         type == ptx::Type::s32 || type == ptx::Type::u64 || type == ptx::Type::s64;
}

bool only_moves(const ptx::Instruction& ins) {
  return ins.op == Opcode::mov ||
         (ins.op == Opcode::cvt && ptx::size_of(ins.mod.type) == ptx::size_of(ins.mod.type2) &&
          ins.mod.rounding == ptx::Rounding::none);
}

bool is_load(const ptx::Instruction& ins) {
  return ins.op == Opcode::ld || ins.op == Opcode::ldu;
}
bool may_reach(const ptx::Instruction& ins, ptx::Space space) {
  return ins.mod.space == space || ins.mod.space == ptx::Space::generic ||
         ins.mod.space == ptx::Space::none ||
         (space == ptx::Space::shared && ins.mod.space == ptx::Space::cluster);
}
/// Whether it reads or writes memory that has marks of its own.
bool in_marked_memory(const ptx::Instruction& ins) {
  return may_reach(ins, ptx::Space::shared) || may_reach(ins, ptx::Space::local);
}

/// The memory in which there may be marks.
struct MarkedSpaces {
  bool shared = false, local = false;

  bool reached_by(const ptx::Instruction& ins) const {
    return (shared && may_reach(ins, ptx::Space::shared)) ||
           (local && may_reach(ins, ptx::Space::local));
  }
  /// Where `ins` stores a mark. False: it was known before.
  bool add(const ptx::Instruction& ins) {
    const MarkedSpaces before = *this;
    shared |= may_reach(ins, ptx::Space::shared);
    local |= may_reach(ins, ptx::Space::local);
    return shared != before.shared || local != before.local;
  }
};

}  // namespace

/// Which registers may hold a value that nothing has set, and a place for their marks.
void FunctionDecoder::find_unset() {
  if (!b_.tracks_unset) return;
  std::vector<bool> may(f_.registers.size(), false);
  bool any = false;
  constexpr int kMostRounds = 50;  // of what is left then nothing is said
  const bool strict = p_.tracks_unwritten;
  MarkedSpaces marked{strict, strict};
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (const Ins& ins : f_.body) {
      bool from = (is_origin(ins) && !strict) || (is_load(ins) && marked.reached_by(ins));
      const bool stores = ins.op == Opcode::st;
      if (!from && !stores && !passes_on(ins)) continue;
      ptx::for_each_register(f_, ins,
                             [&](std::uint32_t r, bool write) { from |= !write && may[r]; });
      if (!from) continue;
      if (stores) {
        changed |= marked.add(ins);
        continue;
      }
      ptx::for_each_register(f_, ins, [&](std::uint32_t r, bool write) {
        if (write && !may[r]) may[r] = any = changed = true;
      });
    }
  }
  if (changed && strict) fail("marks cannot be followed");
  if (!any) return;
  unset_.assign(may.size(), kNoRef);
  UnsetForm at_first;
  for (std::size_t r = 0; r < may.size(); ++r) {
    if (!may[r]) continue;
    unset_[r] = frame_ref(allocate(kLanes, 1));
    at_first.to.push_back(unset_[r]);
  }
  first_unset_ = std::move(at_first);
}

std::uint8_t FunctionDecoder::new_origin() {
  if (p_.tracks_unwritten) {  // one for all loads of a line, as findings are
    const SourceLine here = p_.line_of(code_.first_pc + current_index_);
    const auto same = std::find_if(p_.unset_origins.begin(), p_.unset_origins.end(),
                                   [&](std::uint32_t pc) { return p_.line_of(pc) == here; });
    if (same != p_.unset_origins.end())
      return static_cast<std::uint8_t>(same - p_.unset_origins.begin() + 1);
    if (p_.unset_origins.size() == kMostOrigins) fail("too many places to follow");
  }
  if (p_.unset_origins.size() < kMostOrigins)
    p_.unset_origins.push_back(code_.first_pc + current_index_);
  return static_cast<std::uint8_t>(p_.unset_origins.size());
}

/// `guarded`: only for the lanes for which the instruction is.
Op& FunctionDecoder::emit_unset(UnsetForm form, bool guarded) {
  p_.unset_forms.push_back(std::move(form));
  if (guarded) {
    Op& op = emit(op_unset);
    op.imm = static_cast<std::int64_t>(p_.unset_forms.size() - 1);
    return op;
  }
  Op& op = ops_.emplace_back();
  op.fn = op_unset;
  op.pc = code_.first_pc + current_index_;
  op.imm = static_cast<std::int64_t>(p_.unset_forms.size() - 1);
  return op;
}

Ref FunctionDecoder::mark_of(const Operand& o) const {
  return o.kind == Kind::reg || o.kind == Kind::address ? unset_[o.index] : kNoRef;
}
void FunctionDecoder::add_marks(std::vector<Ref>& to, const Operand& o) const {
  if (o.kind == Kind::vector) {
    for (std::uint32_t k = 0; k < o.count; ++k)
      if (const Ref m = mark_of(f_.vector_operands[o.index + k]); m != kNoRef) to.push_back(m);
  } else if (const Ref m = mark_of(o); m != kNoRef) {
    to.push_back(m);
  }
}

/// What a load, a store or an atomic uses: its address, and what it stores.
void FunctionDecoder::track_unset_access(const Ins& ins) {
  const bool atomic = ins.op == Opcode::atom || ins.op == Opcode::red;
  const bool load = is_load(ins);
  const bool fragment = ins.op == Opcode::wmma_store;  // no part of it is only passed on
  if (!load && !atomic && !fragment && ins.op != Opcode::st) return;
  UnsetForm address{Form::use, 0, {}, {}}, value{Form::store, 0, {}, {}};
  if (atomic || fragment) value.kind = Form::use;
  const std::size_t place = load || ins.op == Opcode::atom ? 1 : 0;
  for (std::size_t k = place; k < ins.operands.size(); ++k)
    add_marks(k == place ? address.from : value.from, ins.operands[k]);
  if (ins.op == Opcode::st &&
      (in_marked_memory(ins) || (ins.mod.space == ptx::Space::param && !p_.tracks_unwritten)))
    value.from = {};  // see save_marks()
  if (!address.from.empty()) emit_unset(std::move(address), true);
  if (!value.from.empty()) emit_unset(std::move(value), true);
}

/// An access to memory that may have marks, without those of its registers.
UnsetForm FunctionDecoder::in_memory(UnsetForm::Kind kind, const Ins& ins, const Operand& address) {
  UnsetForm form;
  form.kind = kind;
  form.space = ins.mod.space == ptx::Space::none ? ptx::Space::generic : ins.mod.space;
  form.value_bytes = static_cast<std::uint8_t>(ptx::size_of(ins.mod.type));
  if (address.kind == Kind::address) {
    form.address = reg(address.index);
    form.address_bytes = static_cast<std::uint8_t>(register_bytes(address.index));
    form.offset = address.bits;
  } else {
    form.address = memory_base(address, form.offset);
  }
  return form;
}

/// After the instruction. All stores of the program do it: what one writes is set, too.
void FunctionDecoder::save_marks(const Ins& ins) {
  if (!b_.tracks_unset || ins.op != Opcode::st || !in_marked_memory(ins)) return;
  UnsetForm form = in_memory(Form::save, ins, at(ins, 0));
  const Operand& value = at(ins, 1);
  for (std::uint32_t k = 0; k < (value.kind == Kind::vector ? value.count : 1); ++k) {
    const Operand& o = value.kind == Kind::vector ? f_.vector_operands[value.index + k] : value;
    form.from.push_back(unset_.empty() ? kNoRef : mark_of(o));
  }
  emit_unset(std::move(form), true);
}

/// Whether marks cannot be followed through the instruction, and so count as used by it (Tracking::unwritten).
bool FunctionDecoder::lose_marks(const Ins& ins) {
  if (!p_.tracks_unwritten || passes_on(ins) || is_load(ins) || ins.op == Opcode::st) return false;
  UnsetForm lost{Form::lose, 0, {}, {}};
  ptx::for_each_register(f_, ins, [&](std::uint32_t r, bool write) {
    if (unset_[r] != kNoRef) (write ? lost.to : lost.from).push_back(unset_[r]);
  });
  if (!lost.from.empty() || !lost.to.empty()) emit_unset(std::move(lost), true);
  return true;
}

/// Before the instruction: what becomes of the marks.
void FunctionDecoder::track_unset(const Ins& ins) {
  if (unset_.empty()) return;
  if (ins.guard != UINT32_MAX && unset_[ins.guard] != kNoRef)
    emit_unset({Form::use, 0, {unset_[ins.guard]}, {}}, false);
  track_unset_access(ins);
  if (ins.operands.empty()) return;
  UnsetForm form;
  if (lose_marks(ins)) return;
  ptx::for_each_register(f_, ins, [&](std::uint32_t r, bool write) {
    if (write && unset_[r] != kNoRef) form.to.push_back(unset_[r]);
  });
  if (form.to.empty()) return;
  if (is_load(ins) && in_marked_memory(ins)) {
    UnsetForm fetch = in_memory(Form::fetch, ins, at(ins, 1));
    if (p_.tracks_unwritten) fetch.origin = new_origin();
    const Operand& to = at(ins, 0);
    for (std::uint32_t k = 0; k < (to.kind == Kind::vector ? to.count : 1); ++k)
      fetch.to.push_back(mark_of(to.kind == Kind::vector ? f_.vector_operands[to.index + k] : to));
    emit_unset(std::move(fetch), true);
    return;
  }
  if (!passes_on(ins) && (!is_origin(ins) || p_.tracks_unwritten)) {
    emit_unset(std::move(form), true);
    return;
  }
  if (ins.op == Opcode::shfl) return track_shuffle(ins, std::move(form));
  if (is_origin(ins) && !p_.tracks_unwritten) {
    form.kind = Form::begin;
    form.origin = new_origin();
    emit_unset(std::move(form), true);
    return;
  }
  carry_marks(ins, std::move(form));
}

/// The marks of all four matrices of D = A B + C.
void FunctionDecoder::of_product(const Ins& ins, UnsetForm& form) {
  form.kind = Form::product;
  const auto add_all = [&](std::vector<Ref>& to, const Operand& o) {
    const std::size_t before = to.size();
    if (o.kind != Kind::vector) to.push_back(mark_of(o));
    for (std::uint32_t k = 0; o.kind == Kind::vector && k < o.count; ++k)
      to.push_back(mark_of(f_.vector_operands[o.index + k]));
    return static_cast<std::uint8_t>(to.size() - before);
  };
  form.to.clear();
  add_all(form.to, at(ins, 0));
  for (std::size_t k = 0; k < 2; ++k) form.inputs[k] = add_all(form.from, at(ins, k + 1));
  add_all(form.from, at(ins, 3));
}

/// The marks of what an instruction computes come from those of its operands.
void FunctionDecoder::carry_marks(const Ins& ins, UnsetForm form) {
  const bool of_predicates = ins.mod.type == ptx::Type::pred;
  if (of_predicates && (ins.op == Opcode::and_ || ins.op == Opcode::or_)) {
    form.kind = ins.op == Opcode::and_ ? Form::both : Form::either;
    form.from = {mark_of(at(ins, 1)), mark_of(at(ins, 2))};
    form.a = predicate(at(ins, 1));
    form.b = predicate(at(ins, 2));
  } else if (ins.op == Opcode::selp && !of_predicates) {
    form.kind = Form::choose;
    form.from = {mark_of(at(ins, 1)), mark_of(at(ins, 2)), mark_of(at(ins, 3))};
    form.a = predicate(at(ins, 3));
    form.value_bytes = static_cast<std::uint8_t>(ptx::size_of(ins.mod.type));
    form.values = {source(at(ins, 1), form.value_bytes), source(at(ins, 2), form.value_bytes)};
  } else if (ins.op == Opcode::mma || ins.op == Opcode::wmma_mma) {
    of_product(ins, form);
  } else if (ins.op == Opcode::mov && at(ins, 1).kind == Kind::vector) {
    form.kind = Form::pack;
    for (std::uint32_t k = 0; k < at(ins, 1).count; ++k)
      form.from.push_back(mark_of(f_.vector_operands[at(ins, 1).index + k]));
  } else if (ins.op == Opcode::or_ && at(ins, 1).kind == Kind::reg &&
             at(ins, 2).kind == Kind::reg) {
    form.kind = Form::pack;
    form.from = {mark_of(at(ins, 1)), mark_of(at(ins, 2))};
  } else if ((ins.op == Opcode::mul || ins.op == Opcode::mad) && is_integer(ins.mod.type)) {
    form.kind = Form::multiply;
    form.value_bytes = static_cast<std::uint8_t>(ptx::size_of(ins.mod.type));
    form.values = {source(at(ins, 1), form.value_bytes), source(at(ins, 2), form.value_bytes)};
    for (std::size_t k = 1; k < ins.operands.size(); ++k) form.from.push_back(mark_of(at(ins, k)));
  } else {
    form.kind = only_moves(ins) ? Form::move : Form::compute;
    for (std::size_t k = 1; k < ins.operands.size(); ++k) add_marks(form.from, ins.operands[k]);
    if (form.from.empty()) form.kind = Form::clear;
  }
  emit_unset(std::move(form), true);
}

void FunctionDecoder::track_shuffle(const Ins& ins, UnsetForm form) {
  form.kind = Form::shuffle;
  if (!p_.tracks_unwritten) form.origin = new_origin();
  const Operand& value = at(ins, 1);
  form.from = {value.kind == Kind::reg ? unset_[value.index] : kNoRef};
  // The second result says only whether the lane was in range.
  form.to = {unset_[at(ins, 0).index]};
  const Ref b = source(at(ins, 2), 4), c = source(at(ins, 3), 4), members = source(at(ins, 4), 4);
  Op& op = emit_unset(std::move(form), true);
  op.b = b, op.c = c, op.d = members;
  op.x = static_cast<std::uint8_t>(ins.mod.shfl);
  if (at(ins, 0).index2 == UINT32_MAX || unset_[at(ins, 0).index2] == kNoRef) return;
  emit_unset({Form::clear, 0, {}, {unset_[at(ins, 0).index2]}}, true);
}

// -------------------------------------------------------------------------------------------------
// running

namespace {

const std::uint8_t* marks(const Warp& w, Ref ref) {
  static constexpr std::uint8_t kNone[kLanes] = {};
  return ref == kNoRef ? kNone : lanes_of<std::uint8_t>(w, ref);
}

void report_unset(const Warp& w, const Op& op, unsigned lane, std::uint8_t mark) {
  BlockRun& run = *w.run;
  const Program& p = *run.launch->program;
  const unsigned number = mark & kMostOrigins;
  const std::uint32_t origin = p.unset_origins[number - 1];
  if (p.tracks_unwritten) {
    run.worker->used_unwritten[number] = true;
    return;
  }
  const Access at =
      describe(run, {op.pc, w.index, lane, AccessType::load, MemorySpace::local, 0, 0});
  std::string text = "uses ";
  text += (mark & kComputed) != 0 ? "what was computed from " : "";
  if (p.instructions[origin].ptx->op == Opcode::shfl)
    text += "what the shuffle on " + line_text(p, origin) + " brought from lane " +
            std::to_string(run.worker->absent_lanes[number]) +
            " of the warp, which did not take part in it: on a GPU that can be anything. Read only "
            "from lanes that execute the shuffle and that its mask names";
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

std::uint8_t first_mark(const Warp& w, const UnsetForm& f, unsigned lane) {
  for (const Ref r : f.from)
    if (const std::uint8_t m = marks(w, r)[lane]; m != 0) return m;
  return 0;
}

void shuffle_marks(Warp& w, const Op& op, const UnsetForm& f) {
  const bool strict = w.run->launch->program->tracks_unwritten;
  const std::uint32_t *b = lanes_of<std::uint32_t>(w, op.b), *c = lanes_of<std::uint32_t>(w, op.c),
                      *named = lanes_of<std::uint32_t>(w, op.d);
  const std::uint8_t* from = marks(w, f.from[0]);
  std::uint8_t out[kLanes] = {};
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((w.mask >> i) & 1u) == 0) continue;
    const ShuffleSource s = shuffle_source(static_cast<ptx::ShflMode>(op.x), i, b[i], c[i]);
    out[i] = from[s.lane];
    if (((w.mask & named[i]) >> s.lane & 1u) != 0 || !s.in_range) continue;
    out[i] = strict ? out[i] : f.origin;
    w.run->worker->absent_lanes[f.origin] = static_cast<std::uint8_t>(s.lane);
  }
  std::uint8_t* to = lanes_of<std::uint8_t>(w, f.to[0]);
  for (unsigned i = 0; i < kLanes; ++i)
    if (((w.mask >> i) & 1u) != 0) to[i] = out[i];
}

/// Whether a selp brings the same whatever its predicate is: compilers write `a && b` in this way, too.
bool same_values(const Warp& w, const UnsetForm& f, unsigned lane) {
  const auto* x = lanes_of<std::byte>(w, f.values[0]);
  const auto* y = lanes_of<std::byte>(w, f.values[1]);
  return std::memcmp(x + lane * f.value_bytes, y + lane * f.value_bytes, f.value_bytes) == 0;
}

bool is_zero(const Warp& w, const UnsetForm& f, std::size_t which, unsigned lane) {
  const auto* value = lanes_of<std::byte>(w, f.values[which]) + lane * f.value_bytes;
  return std::all_of(value, value + f.value_bytes, [](std::byte b) { return b == std::byte{0}; });
}

/// A row of D comes from a row of A, and a column from one of B: with rows that nothing has set, and whose results are
/// thrown away, a product is right. So A or B counts only if nothing of it is set; an element of C counts for its D.
void product_marks(Warp& w, const Op& op, const UnsetForm& f) {
  const std::size_t a = f.inputs[0], b = f.inputs[1], c = f.from.size() - a - b;
  const auto of_all = [&](std::size_t first, std::size_t count) {
    std::uint8_t mark = 0;
    for (std::size_t k = first; k < first + count; ++k)
      for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
        mark = marks(w, f.from[k])[static_cast<unsigned>(std::countr_zero(left))];
        if (mark == 0) return mark;
      }
    return mark;
  };
  const std::uint8_t of_a = of_all(0, a), inputs = of_a != 0 ? of_a : of_all(a, b);
  for (unsigned i = 0; inputs == 0 && w.run->launch->program->tracks_unwritten && i < kLanes; ++i)
    for (std::size_t k = 0; k < a + b; ++k)
      if (const std::uint8_t m = marks(w, f.from[k])[i]; m != 0) report_unset(w, op, i, m);
  std::vector<std::array<std::uint8_t, kLanes>> out(f.to.size());
  for (std::size_t k = 0; k < f.to.size(); ++k)
    for (unsigned i = 0; i < kLanes; ++i) {
      const std::uint8_t sum = c == 0 ? 0 : marks(w, f.from[a + b + k * c / f.to.size()])[i];
      const std::uint8_t m = inputs != 0 ? inputs : sum;
      out[k][i] = static_cast<std::uint8_t>(m == 0 ? 0 : m | kComputed);
    }
  for (std::size_t k = 0; k < f.to.size(); ++k)
    for (unsigned i = 0; f.to[k] != kNoRef && i < kLanes; ++i)
      if (((w.mask >> i) & 1u) != 0) lanes_of<std::uint8_t>(w, f.to[k])[i] = out[k][i];
}

/// What save and fetch access: by lane, where, and the marks beside it.
struct MarkedPlace {
  Target target;
  MarkedBytes* bytes = nullptr;  ///< null: memory without marks
  std::size_t at = 0, size = 0;  ///< of them
};
MarkedPlace marked_place(const Warp& w, const UnsetForm& f, unsigned lane, std::size_t elements,
                         bool write) {
  BlockRun& run = *w.run;
  const std::uint64_t base = f.address_bytes == 8 ? lanes_of<std::uint64_t>(w, f.address)[lane]
                                                  : lanes_of<std::uint32_t>(w, f.address)[lane];
  MarkedPlace p;
  p.target = resolve(run, w, lane, f.space, base + static_cast<std::uint64_t>(f.offset),
                     static_cast<unsigned>(elements * f.value_bytes), write);
  const Target& t = p.target;
  if (t.fault != Target::Fault::none || t.peer != nullptr) return p;
  const auto within = [&](MarkedBytes& bytes, const auto& memory) {
    p.bytes = &bytes;
    p.at = static_cast<std::size_t>(t.data - memory.data());
    p.size = memory.size();
  };
  if (t.space == MemorySpace::shared) within(run.marked_shared, run.shared);
  if (t.space == MemorySpace::local) within(run.marked_local, run.local);
  return p;
}

void save_to_memory(const Warp& w, const Op& op, const UnsetForm& f) {
  const std::size_t size = f.value_bytes;
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const auto any = [&](std::uint8_t bits) {
      const auto hit = std::find_if(f.from.begin(), f.from.end(),
                                    [&](Ref r) { return (marks(w, r)[lane] & bits) != 0; });
      return hit == f.from.end() ? std::uint8_t{0} : marks(w, *hit)[lane];
    };
    const std::uint8_t mark = any(0xff);
    if (mark == 0 && w.run->marked_shared.marks.empty() && w.run->marked_local.marks.empty())
      continue;
    const MarkedPlace p = marked_place(w, f, lane, f.from.size(), true);
    const bool strict = w.run->launch->program->tracks_unwritten;
    const std::uint8_t computed = strict ? mark : any(kComputed);
    if (strict && p.bytes == nullptr && mark != 0) report_unset(w, op, lane, mark);
    if (p.target.fault == Target::Fault::none && p.target.space == MemorySpace::global &&
        computed != 0)
      report_unset(w, op, lane, computed);
    if (p.bytes == nullptr) continue;
    MarkedBytes& to = *p.bytes;
    if (to.marks.size() != p.size) {
      if (mark == 0) continue;
      to.marks.assign(p.size, 0);
      to.values.resize(p.size);
    }
    for (std::size_t k = 0; k < f.from.size(); ++k)
      std::memset(to.marks.data() + p.at + k * size, marks(w, f.from[k])[lane], size);
    std::memcpy(to.values.data() + p.at, p.target.data, f.from.size() * size);
  }
}

/// The mark of `size` bytes, if each has one that still holds; `any`: if one of them has.
std::uint8_t mark_of_bytes(const MarkedBytes& bytes, std::size_t at, const std::byte* now,
                           std::size_t size, bool any = false) {
  for (std::size_t k = 0; any && k < size && at + k < bytes.marks.size(); ++k)
    if (bytes.marks[at + k] != 0 && bytes.values[at + k] == now[k]) return bytes.marks[at + k];
  if (at + size > bytes.marks.size() || std::memcmp(bytes.values.data() + at, now, size) != 0)
    return 0;
  const auto first = bytes.marks.begin() + static_cast<std::ptrdiff_t>(at);
  const bool all = std::find(first, first + static_cast<std::ptrdiff_t>(size), 0) ==
                   first + static_cast<std::ptrdiff_t>(size);
  return all ? *first : std::uint8_t{0};
}

/// Whether a byte of element k is one that nobody has written.
bool brings_unwritten(const BlockRun& run, const MarkedPlace& p, std::size_t k, std::size_t size) {
  Target t = p.target;
  t.offset += k * size;
  t.data += k * size;
  if (t.initialised != nullptr) t.initialised += k * size;
  return unwritten_bytes(run, t, static_cast<unsigned>(size)) != 0;
}

void fetch_from_memory(const Warp& w, const UnsetForm& f) {
  const std::size_t size = f.value_bytes;
  const bool strict = w.run->launch->program->tracks_unwritten;
  const bool none =
      !strict && w.run->marked_shared.marks.empty() && w.run->marked_local.marks.empty();
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const MarkedPlace p = none ? MarkedPlace{} : marked_place(w, f, lane, f.to.size(), false);
    for (std::size_t k = 0; k < f.to.size(); ++k)
      if (f.to[k] != kNoRef)
        lanes_of<std::uint8_t>(w, f.to[k])[lane] =
            p.bytes == nullptr ? std::uint8_t{0}
            : strict && brings_unwritten(*w.run, p, k, size)
                ? f.origin
                : mark_of_bytes(*p.bytes, p.at + k * size, p.target.data + k * size, size, strict);
  }
}

bool holds(const Warp& w, Ref predicate, unsigned i) {
  return (*lanes_of<std::uint32_t>(w, predicate) >> i & 1u) != 0;
}
std::uint8_t computed(std::uint8_t mark) {
  return static_cast<std::uint8_t>(mark == 0 ? 0 : mark | kComputed);
}

std::uint8_t mark_of_product(const Warp& w, const UnsetForm& f, unsigned i) {
  const std::uint8_t x = marks(w, f.from[0])[i], y = marks(w, f.from[1])[i];
  if (x != 0 && (y != 0 || !is_zero(w, f, 1, i))) return computed(x);
  if (y != 0 && (x != 0 || !is_zero(w, f, 0, i))) return computed(y);
  return f.from.size() > 2 ? computed(marks(w, f.from[2])[i]) : std::uint8_t{0};
}

/// Of "and" and "or": the other operand decides alone if it is false, of "and", or true, of "or".
std::uint8_t mark_of_condition(const Warp& w, const UnsetForm& f, unsigned i) {
  const bool decides = f.kind == Form::either;
  const std::uint8_t a = marks(w, f.from[0])[i], b = marks(w, f.from[1])[i];
  if (a != 0 && (b != 0 || holds(w, f.b, i) != decides)) return computed(a);
  return b != 0 && (a != 0 || holds(w, f.a, i) != decides) ? computed(b) : std::uint8_t{0};
}

std::uint8_t mark_of_lane(const Warp& w, const UnsetForm& f, unsigned i) {
  switch (f.kind) {
    case Form::begin:
      return f.origin;
    case Form::move:
      return first_mark(w, f, i);
    case Form::compute:
      return computed(first_mark(w, f, i));
    case Form::pack: {
      if (w.run->launch->program->tracks_unwritten) return computed(first_mark(w, f, i));
      const bool all =
          std::all_of(f.from.begin(), f.from.end(), [&](Ref r) { return marks(w, r)[i] != 0; });
      return all ? first_mark(w, f, i) : std::uint8_t{0};
    }
    case Form::multiply:
      return mark_of_product(w, f, i);
    case Form::choose: {
      const std::uint8_t by = marks(w, f.from[2])[i];
      const std::uint8_t chosen = marks(w, f.from[holds(w, f.a, i) ? 0 : 1])[i];
      return by == 0 || (chosen == 0 && same_values(w, f, i)) ? chosen : computed(by);
    }
    case Form::both:
    case Form::either:
      return mark_of_condition(w, f, i);
    default:
      return 0;
  }
}

}  // namespace

void touch_marks(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                 std::uint64_t offset, unsigned bytes) {
  const Opcode by = run.launch->program->instructions[op.pc].ptx->op;
  if (by == Opcode::ld || by == Opcode::ldu) return;  // fetch
  MarkedBytes& marked = run.marked_shared;
  const std::size_t first = offset - memory::kSharedBase;
  for (std::size_t k = first; k < first + bytes && k < marked.marks.size(); ++k) {
    const std::uint8_t mark = mark_of_bytes(marked, k, run.shared.data() + k, 1);
    const bool counts = (mark & kComputed) != 0 || run.launch->program->tracks_unwritten;
    if (type == AccessType::load && mark != 0 && counts) return report_unset(w, op, lane, mark);
    if (type != AccessType::load) marked.marks[k] = 0;
  }
}

void op_unset(Warp& w, const Op& op) {
  const UnsetForm& f = w.run->launch->program->unset_forms[static_cast<std::size_t>(op.imm)];
  if (f.kind == Form::shuffle) return shuffle_marks(w, op, f);
  if (f.kind == Form::product) return product_marks(w, op, f);
  if (f.kind == Form::save) return save_to_memory(w, op, f);
  if (f.kind == Form::fetch) return fetch_from_memory(w, f);
  if (f.kind == Form::use || f.kind == Form::store || f.kind == Form::lose) {
    for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      for (const Ref r : f.from) {
        const std::uint8_t m = marks(w, r)[i];
        if (m == 0 || (f.kind == Form::store && (m & kComputed) == 0 &&
                       !w.run->launch->program->tracks_unwritten))
          continue;
        report_unset(w, op, i, m);
        break;
      }
    }
    if (f.to.empty()) return;
  }
  std::uint8_t out[kLanes];
  for (unsigned i = 0; i < kLanes; ++i)
    out[i] = ((w.mask >> i) & 1u) != 0 ? mark_of_lane(w, f, i) : std::uint8_t{0};
  for (const Ref r : f.to) {
    std::uint8_t* to = lanes_of<std::uint8_t>(w, r);
    for (unsigned i = 0; i < kLanes; ++i)
      if (((w.mask >> i) & 1u) != 0) to[i] = out[i];
  }
}

}  // namespace simgpu::exec
