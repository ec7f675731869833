#include "common/simgpu/exec/unset.hpp"

#include <algorithm>
#include <utility>

#include "common/simgpu/exec/decoder.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;
using Form = UnsetForm::Kind;

namespace {

bool is_origin(const ptx::Instruction& ins) {
  return ins.op == Opcode::shfl || brings(ins, ptx::Special::unset) ||
         brings(ins, ptx::Special::unset_part) || brings(ins, ptx::Special::unset_whole);
}

/// Whether what is written depends on nothing but what is read.
bool passes_on(const ptx::Instruction& ins) {
  switch (ins.op) {
    case Opcode::mov:
    case Opcode::cvt:
    case Opcode::cvta:
    case Opcode::set:
    case Opcode::setp:
    case Opcode::shfl:
    case Opcode::mma:
    case Opcode::wmma_mma:
    case Opcode::movmatrix:
      return true;
    default:
      return is_lanewise(ins.op);
  }
}

bool is_integer(ptx::Type type) {
  return type == ptx::Type::u16 || type == ptx::Type::s16 || type == ptx::Type::u32 ||
         type == ptx::Type::s32 || type == ptx::Type::u64 || type == ptx::Type::s64;
}

bool is_signed(ptx::Type type) {
  return type >= ptx::Type::s8 && type <= ptx::Type::s64;
}
bool of_halves(ptx::Type type) {
  return type == ptx::Type::f16x2 || type == ptx::Type::bf16x2;
}

bool only_moves(const ptx::Instruction& ins) {
  return ins.op == Opcode::mov ||
         (ins.op == Opcode::cvt && ptx::size_of(ins.mod.type) == ptx::size_of(ins.mod.type2) &&
          ins.mod.rounding == ptx::Rounding::none);
}

bool is_load(const ptx::Instruction& ins) {
  return ins.op == Opcode::ld || ins.op == Opcode::ldu;
}
/// Loads whose marks come from memory.
bool fetches(const ptx::Instruction& ins) {
  return is_load(ins) || ins.op == Opcode::ldmatrix;
}
bool saves(const ptx::Instruction& ins) {
  return ins.op == Opcode::st || ins.op == Opcode::stmatrix;
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

/// Whether other functions may leave marks in the memory that this one reads.
bool FunctionDecoder::shares_memory() const {
  return !f_.is_entry || std::any_of(f_.body.begin(), f_.body.end(), [&](const Ins& ins) {
    return ins.op == Opcode::call && !ins.operands.empty() &&
           ins.operands[0].kind == Kind::function &&
           !b_.module.functions[ins.operands[0].index].is_declaration;
  });
}

/// What a function was given, or what one that was called gave back.
bool FunctionDecoder::loads_from_call(const Ins& ins) const {
  return is_load(ins) && ins.mod.space == ptx::Space::param &&
         (!f_.is_entry || !f_.call_params.empty());
}

/// Which registers may hold a value that nothing has set, and a place for their marks.
void FunctionDecoder::find_unset() {
  if (!b_.tracks_unset) return;
  std::vector<bool> may(f_.registers.size(), false);
  bool any = false;
  constexpr int kMostRounds = 50;  // of what is left then nothing is said
  const bool strict = p_.tracks_unwritten;
  const bool anywhere = strict || shares_memory();
  MarkedSpaces marked{anywhere, anywhere};
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (const Ins& ins : f_.body) {
      bool from = (is_origin(ins) && !strict) || (fetches(ins) && marked.reached_by(ins)) ||
                  loads_from_call(ins);
      const bool stores = saves(ins);
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
  at_first.kind = Form::clear_parameters;
  for (std::size_t r = 0; r < may.size(); ++r) {
    if (!may[r]) continue;
    unset_[r] = frame_ref(allocate(sizeof(LaneMarks), alignof(LaneMarks)));
    at_first.to.push_back(unset_[r]);
  }
  first_unset_ = std::move(at_first);
}

/// At the beginning of the function.
void FunctionDecoder::begin_marks() {
  if (!unset_.empty()) {
    emit_unset(first_unset_, false);
    return;
  }
  if (!b_.tracks_unset || (code_.call_bytes == 0 && code_.result_bytes == 0)) return;
  emit_unset({Form::clear_parameters, 0, {}, {}}, false);
}

/// `stray`: of bytes that may be padding.
std::uint8_t FunctionDecoder::new_origin(bool stray) {
  if (p_.tracks_unwritten) {  // one for all loads of a line, as findings are
    const SourceLine here = p_.line_of(code_.first_pc + current_index_);
    for (std::size_t k = 0; k < p_.unset_origins.size(); ++k)
      if (p_.unset_strays[k] == stray && p_.line_of(p_.unset_origins[k]) == here)
        return static_cast<std::uint8_t>(k + 1);
    if (p_.unset_origins.size() == kMostOrigins) fail("too many places to follow");
  }
  if (p_.unset_origins.size() < kMostOrigins) {
    p_.unset_origins.push_back(code_.first_pc + current_index_);
    p_.unset_strays.push_back(stray);
  }
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

/// What a load, a store or an atomic uses: its address, and what an atomic or a fragment stores. Of other stores see
/// save_marks() and parameter_marks().
void FunctionDecoder::track_unset_access(const Ins& ins) {
  const bool atomic = ins.op == Opcode::atom || ins.op == Opcode::red;
  const bool load = fetches(ins);
  const bool fragment = ins.op == Opcode::wmma_store;  // no part of it is only passed on
  if (!load && !atomic && !fragment && !saves(ins)) return;
  UnsetForm address{Form::use, 0, {}, {}}, value{Form::use, 0, {}, {}};
  const std::size_t place = load || ins.op == Opcode::atom ? 1 : 0;
  for (std::size_t k = place; k < ins.operands.size(); ++k)
    add_marks(k == place ? address.from : value.from, ins.operands[k]);
  if (!address.from.empty()) emit_unset(std::move(address), true);
  if ((atomic || fragment) && !value.from.empty()) emit_unset(std::move(value), true);
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

/// After the instruction. All stores where marks may lie do it: what one writes is set, too.
void FunctionDecoder::save_marks(const Ins& ins) {
  if (!b_.tracks_unset || !saves(ins) || ins.mod.space == ptx::Space::param) return;
  std::vector<Ref> any;
  if (!unset_.empty()) add_marks(any, at(ins, 1));
  if (any.empty() && !in_marked_memory(ins)) return;
  const bool matrices = ins.op == Opcode::stmatrix;
  UnsetForm form = in_memory(matrices ? Form::save_matrices : Form::save, ins, at(ins, 0));
  form.transposed = matrices && ins.mod.trans;
  const Operand& value = at(ins, 1);
  for (std::uint32_t k = 0; k < (value.kind == Kind::vector ? value.count : 1); ++k) {
    const Operand& o = value.kind == Kind::vector ? f_.vector_operands[value.index + k] : value;
    form.from.push_back(unset_.empty() ? kNoRef : mark_of(o));
  }
  emit_unset(std::move(form), true);
}

/// The same of parameters, before the access.
void FunctionDecoder::parameter_marks(const Ins& ins, bool is_load, UnsetForm form) {
  if (!b_.tracks_unset) return;
  form.kind = is_load ? Form::fetch_parameter : Form::save_parameter;
  form.value_bytes = static_cast<std::uint8_t>(ptx::size_of(ins.mod.type));
  form.is_signed = is_signed(ins.mod.type);
  const Operand& data = at(ins, is_load ? 0 : 1);
  bool any = !is_load;
  for (std::uint32_t k = 0; k < (data.kind == Kind::vector ? data.count : 1); ++k) {
    const Operand& o = data.kind == Kind::vector ? f_.vector_operands[data.index + k] : data;
    const Ref mark = unset_.empty() ? kNoRef : mark_of(o);
    (is_load ? form.to : form.from).push_back(mark);
    any |= mark != kNoRef;
  }
  if (any) emit_unset(std::move(form), true);
}

/// Whether marks cannot be followed through the instruction, and so count as used by it (Tracking::unwritten).
bool FunctionDecoder::lose_marks(const Ins& ins) {
  if (!p_.tracks_unwritten || passes_on(ins) || fetches(ins) || saves(ins)) return false;
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
  if (fetches(ins) && in_marked_memory(ins)) {
    const bool matrices = ins.op == Opcode::ldmatrix;
    UnsetForm fetch = in_memory(matrices ? Form::fetch_matrices : Form::fetch, ins, at(ins, 1));
    if (p_.tracks_unwritten) {
      fetch.origin = new_origin();
      if (!matrices) fetch.stray = new_origin(true);
    }
    fetch.transposed = matrices && ins.mod.trans;
    fetch.is_signed = is_signed(ins.mod.type);
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
    // A single variable is not one of many that are only passed on together.
    if (brings(ins, ptx::Special::unset_whole)) form.origin |= kComputed;
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
  form.halves = of_halves(ins.mod.type);
  form.tiles = tiling(ins.mod.m, ins.mod.n);
  if (form.tiles.down == 0 || form.tiles.across == 0) fail("marks cannot be followed");
  // Fragments of wmma in f16 have 8 registers in every shape: of these the first count.
  const bool whole = ins.op == Opcode::wmma_mma &&
                     (ins.mod.type3 == ptx::Type::none || ins.mod.type2 == ptx::Type::f16);
  const unsigned a =
      whole ? registers_of_a(form.tiles.rows, ins.mod.k, 16) : form.inputs[0] / form.tiles.down;
  const unsigned b = whole ? registers_of_b(ins.mod.k, 16) : form.inputs[1] / form.tiles.across;
  form.per_tile = {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)};
}

/// Of operands whose bits the result's depend on, each by itself.
void FunctionDecoder::of_bits(const Ins& ins, UnsetForm& form) {
  form.kind = Form::bitwise;
  form.bitwise = bitwise_form(ins);
  const std::size_t count = std::min<std::size_t>(ins.operands.size() - 1, form.values.size());
  for (std::size_t k = 0; k < count; ++k) {
    const Operand& o = at(ins, k + 1);
    const bool whole = ins.op == Opcode::lop3 || ins.op == Opcode::prmt || ins.op == Opcode::shf;
    const bool place =
        !whole && (((ins.op == Opcode::shl || ins.op == Opcode::shr) && k == 1) ||
                   (ins.op == Opcode::bfe && k >= 1) || (ins.op == Opcode::bfi && k >= 2));
    form.widths[k] = place                          ? std::uint8_t{4}
                     : form.bitwise.from_bytes != 0 ? form.bitwise.from_bytes
                                                    : form.bitwise.bytes;
    form.values[k] = source(o, form.widths[k]);
    form.from.push_back(mark_of(o));
  }
}

/// What mov packs into one register, or unpacks.
void FunctionDecoder::of_parts(const Ins& ins, UnsetForm& form) {
  const bool packs = at(ins, 1).kind == Kind::vector;
  const Operand &parts = at(ins, packs ? 1 : 0), &whole = at(ins, packs ? 0 : 1);
  form.kind = packs ? Form::pack : Form::unpack;
  form.from.clear();
  form.to.clear();
  for (std::uint32_t k = 0; k < parts.count; ++k)
    (packs ? form.from : form.to).push_back(mark_of(f_.vector_operands[parts.index + k]));
  (packs ? form.to : form.from).push_back(mark_of(whole));
  form.value_bytes = static_cast<std::uint8_t>(ptx::size_of(ins.mod.type) / parts.count);
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
    form.values[0] = source(at(ins, 1), form.value_bytes);
    form.values[1] = source(at(ins, 2), form.value_bytes);
  } else if (ins.op == Opcode::mma || ins.op == Opcode::wmma_mma) {
    of_product(ins, form);
  } else if (ins.op == Opcode::movmatrix) {
    form.kind = Form::transpose;
    form.from = {mark_of(at(ins, 1))};
    form.to = {mark_of(at(ins, 0))};
  } else if (ins.op == Opcode::mov &&
             (at(ins, 0).kind == Kind::vector) != (at(ins, 1).kind == Kind::vector)) {
    of_parts(ins, form);
  } else if (follows_bits(ins)) {
    of_bits(ins, form);
  } else if ((ins.op == Opcode::mul || ins.op == Opcode::mad) && is_integer(ins.mod.type)) {
    form.kind = Form::multiply;
    form.value_bytes = static_cast<std::uint8_t>(ptx::size_of(ins.mod.type));
    form.values[0] = source(at(ins, 1), form.value_bytes);
    form.values[1] = source(at(ins, 2), form.value_bytes);
    form.halves = ins.mod.mul == ptx::MulMode::hi;
    for (std::size_t k = 1; k < ins.operands.size(); ++k) form.from.push_back(mark_of(at(ins, k)));
  } else {
    form.kind = only_moves(ins) ? Form::move : Form::compute;
    form.halves = of_halves(ins.mod.type);
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

}  // namespace simgpu::exec
