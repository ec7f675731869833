#include "common/simgpu/ptx/opcodes.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "common/simgpu/ptx/lexer.hpp"

namespace simgpu::ptx {
namespace {

// ---- sets of types

using TypeSet = std::uint32_t;
template <typename... T>
constexpr TypeSet set_of(T... types) {
  return ((TypeSet{1} << static_cast<unsigned>(types)) | ... | 0u);
}
constexpr TypeSet kPred = set_of(Type::pred);
constexpr TypeSet kBits = set_of(Type::b16, Type::b32, Type::b64);
constexpr TypeSet kBits32 = set_of(Type::b32), kBits64 = set_of(Type::b64);
constexpr TypeSet kBits3264 = set_of(Type::b32, Type::b64);
constexpr TypeSet kUnsigned = set_of(Type::u16, Type::u32, Type::u64);
constexpr TypeSet kSigned = set_of(Type::s16, Type::s32, Type::s64);
constexpr TypeSet kInt = kUnsigned | kSigned;
constexpr TypeSet kInt32 = set_of(Type::u32, Type::s32);
constexpr TypeSet kInt3264 = set_of(Type::u32, Type::s32, Type::u64, Type::s64);
constexpr TypeSet kF32 = set_of(Type::f32), kF3264 = set_of(Type::f32, Type::f64);
constexpr TypeSet kHalf = set_of(Type::f16, Type::f16x2, Type::bf16, Type::bf16x2);
constexpr TypeSet kFloat = kF3264 | kHalf;
constexpr TypeSet kNumber = kInt | kFloat;
constexpr TypeSet kEightBits = set_of(Type::e4m3x2, Type::e5m2x2);  // floats
constexpr TypeSet kByte = set_of(Type::b8, Type::u8, Type::s8);
constexpr TypeSet kMemory = kByte | kBits | kInt | kF3264 | set_of(Type::b128);
constexpr TypeSet kPacked = set_of(Type::u8, Type::s8, Type::u16, Type::s16);
constexpr TypeSet kAny = ~TypeSet{0};
constexpr TypeSet kAddress = set_of(Type::u32, Type::u64);
constexpr TypeSet kNone = 0;

// ---- modifiers

// One bit per family of modifiers. A row of the opcode table lists the families it accepts.
using Families = std::uint64_t;
enum Family : Families {
  kSpace = 1ull << 0,
  kRound = 1ull << 1,
  kMul = 1ull << 2,
  kCompare = 1ull << 3,
  kBool = 1ull << 4,
  kAtom = 1ull << 5,
  kShfl = 1ull << 6,
  kVote = 1ull << 7,
  kVec = 1ull << 8,
  kFtz = 1ull << 9,
  kSat = 1ull << 10,
  kNc = 1ull << 11,
  kVolatile = 1ull << 12,
  kUni = 1ull << 13,
  kSync = 1ull << 14,
  kAligned = 1ull << 15,
  kCarry = 1ull << 16,
  kTo = 1ull << 17,
  kWrap = 1ull << 18,
  kLeft = 1ull << 19,
  kNan = 1ull << 20,
  kRelu = 1ull << 21,
  kTrans = 1ull << 22,
  kSemantics = 1ull << 23,
  kScope = 1ull << 24,
  kCache = 1ull << 25,
  kShape = 1ull << 26,
  kNum = 1ull << 27,
  kLayout = 1ull << 28,
  kTest = 1ull << 29,
  kNoFtz = 1ull << 30,
  kLevel = 1ull << 31,
  kSatFinite = 1ull << 32,
  kVec8 = 1ull << 33,
  kMatchMode = 1ull << 34,
  kUnified = 1ull << 35,
  kShiftAmount = 1ull << 36,
  kPermute = 1ull << 37,
  kMbarrier = 1ull << 38,
  kBulkGroup = 1ull << 39,
  kCacheHint = 1ull << 40,
  kTile = 1ull << 41,
  kRead = 1ull << 42,
  kMulticast = 1ull << 43,
  kPopc = 1ull << 44,
  kAccumulate = 1ull << 45,
};

/// A modifier's name, and what it sets; nothing: the engine reads it off Modifiers::text, or need not
/// know.
struct ModifierName {
  std::string_view text;
  Family family;
  void (*set)(Modifiers&) = nullptr;
};
template <auto Modifiers::*field, auto value>
void put(Modifiers& m) {
  m.*field = value;
}

// Several rows may share a text (".lo" multiplies and compares): the opcode's families decide.
constexpr ModifierName kModifiers[] = {
    {"global", kSpace, put<&Modifiers::space, Space::global>},
    {"shared", kSpace, put<&Modifiers::space, Space::shared>},
    {"shared::cta", kSpace, put<&Modifiers::space, Space::shared>},
    {"shared::cluster", kSpace, put<&Modifiers::space, Space::cluster>},
    {"local", kSpace, put<&Modifiers::space, Space::local>},
    {"const", kSpace, put<&Modifiers::space, Space::constant>},
    {"param", kSpace, put<&Modifiers::space, Space::param>},
    {"param::entry", kSpace, put<&Modifiers::space, Space::param>},
    {"param::func", kSpace, put<&Modifiers::space, Space::param>},
    {"rn", kRound, put<&Modifiers::rounding, Rounding::rn>},
    {"rz", kRound, put<&Modifiers::rounding, Rounding::rz>},
    {"rm", kRound, put<&Modifiers::rounding, Rounding::rm>},
    {"rp", kRound, put<&Modifiers::rounding, Rounding::rp>},
    {"rna", kRound, put<&Modifiers::rounding, Rounding::rna>},
    {"rni", kRound, put<&Modifiers::rounding, Rounding::rni>},
    {"rzi", kRound, put<&Modifiers::rounding, Rounding::rzi>},
    {"rmi", kRound, put<&Modifiers::rounding, Rounding::rmi>},
    {"rpi", kRound, put<&Modifiers::rounding, Rounding::rpi>},
    {"approx", kRound, put<&Modifiers::rounding, Rounding::approx>},
    {"full", kRound, put<&Modifiers::rounding, Rounding::full>},
    {"lo", kMul, put<&Modifiers::mul, MulMode::lo>},
    {"hi", kMul, put<&Modifiers::mul, MulMode::hi>},
    {"wide", kMul, put<&Modifiers::mul, MulMode::wide>},
#define COMPARISON(id, ...) {#id, kCompare, put<&Modifiers::compare, Compare::id>},
#include "common/simgpu/instructions.inc"
    {"and", kBool, put<&Modifiers::combine, BoolOp::and_>},
    {"or", kBool, put<&Modifiers::combine, BoolOp::or_>},
    {"xor", kBool, put<&Modifiers::combine, BoolOp::xor_>},
    {"add", kAtom, put<&Modifiers::atom, AtomOp::add>},
    {"popc", kAtom, put<&Modifiers::atom, AtomOp::add>},
    {"inc", kAtom, put<&Modifiers::atom, AtomOp::inc>},
    {"dec", kAtom, put<&Modifiers::atom, AtomOp::dec>},
    {"min", kAtom, put<&Modifiers::atom, AtomOp::min>},
    {"max", kAtom, put<&Modifiers::atom, AtomOp::max>},
    {"and", kAtom, put<&Modifiers::atom, AtomOp::and_>},
    {"or", kAtom, put<&Modifiers::atom, AtomOp::or_>},
    {"xor", kAtom, put<&Modifiers::atom, AtomOp::xor_>},
    {"exch", kAtom, put<&Modifiers::atom, AtomOp::exch>},
    {"cas", kAtom, put<&Modifiers::atom, AtomOp::cas>},
    {"up", kShfl, put<&Modifiers::shfl, ShflMode::up>},
    {"down", kShfl, put<&Modifiers::shfl, ShflMode::down>},
    {"bfly", kShfl, put<&Modifiers::shfl, ShflMode::bfly>},
    {"idx", kShfl, put<&Modifiers::shfl, ShflMode::idx>},
    {"any", kVote, put<&Modifiers::vote, VoteMode::any>},
    {"all", kVote, put<&Modifiers::vote, VoteMode::all>},
    {"uni", kVote, put<&Modifiers::vote, VoteMode::uni>},
    {"ballot", kVote, put<&Modifiers::vote, VoteMode::ballot>},
    {"any", kMatchMode, put<&Modifiers::vote, VoteMode::any>},
    {"all", kMatchMode, put<&Modifiers::vote, VoteMode::all>},
    {"v2", kVec, put<&Modifiers::vec, 2>},
    {"v4", kVec, put<&Modifiers::vec, 4>},
    {"v8", kVec8, put<&Modifiers::vec, 8>},
    {"ftz", kFtz, put<&Modifiers::ftz, true>},
    {"sat", kSat, put<&Modifiers::sat, true>},
    {"satfinite", kSatFinite, put<&Modifiers::sat, true>},
    {"nc", kNc, put<&Modifiers::non_coherent, true>},
    {"volatile", kVolatile, put<&Modifiers::is_volatile, true>},
    {"uni", kUni, put<&Modifiers::uni, true>},
    {"sync", kSync, put<&Modifiers::sync, true>},
    {"aligned", kAligned, put<&Modifiers::aligned, true>},
    {"cc", kCarry, put<&Modifiers::carry_out, true>},
    {"to", kTo, put<&Modifiers::to, true>},
    {"wrap", kWrap},
    {"clamp", kWrap},
    {"l", kLeft},
    {"r", kLeft},
    {"NaN", kNan},
    {"relu", kRelu, put<&Modifiers::relu, true>},
    {"trans", kTrans, put<&Modifiers::trans, true>},
    {"noftz", kNoFtz},
    {"unified", kUnified},
    {"weak", kSemantics},
    {"relaxed", kSemantics, put<&Modifiers::ordering, Ordering::relaxed>},
    {"acquire", kSemantics, put<&Modifiers::ordering, Ordering::acquire>},
    {"release", kSemantics, put<&Modifiers::ordering, Ordering::release>},
    {"acq_rel", kSemantics, put<&Modifiers::ordering, Ordering::both>},
    {"sc", kSemantics, put<&Modifiers::ordering, Ordering::both>},
    {"cta", kScope},
    {"cluster", kScope},
    {"gpu", kScope},
    {"sys", kScope},
    {"gl", kScope},
    {"ca", kCache},
    {"cg", kCache},
    {"cs", kCache},
    {"cv", kCache},
    {"lu", kCache},
    {"wb", kCache},
    {"wt", kCache},
    {"L1::evict_normal", kCache},
    {"L1::evict_unchanged", kCache},
    {"L1::evict_first", kCache},
    {"L1::evict_last", kCache},
    {"L1::no_allocate", kCache},
    {"L2::evict_normal", kCache},
    {"L2::evict_first", kCache},
    {"L2::evict_last", kCache},
    {"L2::evict_unchanged", kCache},
    {"L2::64B", kCache},
    {"L2::128B", kCache},
    {"L2::256B", kCache},
    {"L1", kLevel},
    {"L2", kLevel},
    {"x1", kNum, put<&Modifiers::num, 1>},
    {"x2", kNum, put<&Modifiers::num, 2>},
    {"x4", kNum, put<&Modifiers::num, 4>},
    {"row", kLayout},
    {"col", kLayout},
    {"finite", kTest},
    {"infinite", kTest},
    {"number", kTest},
    {"notanumber", kTest},
    {"normal", kTest},
    {"subnormal", kTest},
    {"shiftamt", kShiftAmount},
    {"f4e", kPermute},
    {"b4e", kPermute},
    {"rc8", kPermute},
    {"ecl", kPermute},
    {"ecr", kPermute},
    {"rc16", kPermute},
    {"mbarrier::complete_tx::bytes", kMbarrier},
    {"bulk_group", kBulkGroup},
    {"L2::cache_hint", kCacheHint},
    {"tile", kTile},
    {"read", kRead},
    {"multicast::cluster", kMulticast},
    {"popc", kPopc, put<&Modifiers::popc, true>},
    {"add", kAccumulate},
};

// ---- opcodes

/// A row of instructions.inc.
struct Row {
  std::string_view text;
  Opcode op;
  Families allowed;
  Families required;
  unsigned least, most;   ///< types
  TypeSet types, types2;  ///< what the first and every further type may be
  std::string_view operands;
};

constexpr Families kFloatMods = kRound | kFtz | kSat;
constexpr Families kMemMods = kSemantics | kScope | kCache | kVolatile;
constexpr Families kMma = kSync | kAligned | kShape | kLayout | kSatFinite;

constexpr Row kOpcodes[] = {
#define INSTRUCTION(id, text, allowed, required, least, most, types, types2, operands) \
  {text, Opcode::id, allowed, required, least, most, types, types2, operands},
#define ALIAS(id, text, allowed, required, least, most, types, types2, operands) \
  {text, Opcode::id, allowed, required, least, most, types, types2, operands},
#include "common/simgpu/instructions.inc"
};

/// Beginnings of instructions that only newer hardware has; simgpu leaves them out on purpose.
constexpr std::string_view kHardwareOnly[] = {
    "wgmma.",
    "tcgen05.",
    "mbarrier.",
    "cp.async.bulk",
    "cp.async.mbarrier",
    "cp.reduce.async",
    "fence.proxy",
    "fence.mbarrier",
    "st.bulk",
    "red.async",
    "multimem.",
    "clusterlaunchcontrol.",
    "tensormap.",
    "tex.",
    "tld4.",
    "txq.",
    "suld.",
    "sust.",
    "sured.",
    "suq.",
    "mma.sp",
};

const Row* find_row(std::string_view text, std::size_t* length) {
  const Row* best = nullptr;
  for (const Row& row : kOpcodes) {
    if (text.substr(0, row.text.size()) != row.text) continue;
    if (text.size() > row.text.size() && text[row.text.size()] != '.') continue;
    if (best == nullptr || row.text.size() > best->text.size()) best = &row;
  }
  if (best != nullptr) *length = best->text.size();
  return best;
}

/// "m16n8k16" or "m8n8" (without the dot).
bool parse_shape(std::string_view text, Modifiers* mod) {
  std::uint16_t* const fields[] = {&mod->m, &mod->n, &mod->k};
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    if (at == text.size()) return i == 2;
    if (text[at] != "mnk"[i]) return false;
    unsigned value = 0;
    std::size_t digits = 0;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9' && digits < 4; ++at, ++digits)
      value = value * 10 + static_cast<unsigned>(text[at] - '0');
    if (digits == 0 || digits == 4) return false;
    *fields[i] = static_cast<std::uint16_t>(value);
  }
  return at == text.size();
}

/// Combinations the table cannot express.
struct Rule {
  Opcode op;
  bool (*broken)(const Modifiers& m);
  std::string_view why;
};
bool is_integer(const Modifiers& m) {
  return (set_of(m.type) & kInt) != 0;
}
constexpr auto kLacksHalf = [](const Modifiers& m) {
  return is_integer(m) && m.mul == MulMode::none;
};
constexpr auto kNamesHalf = [](const Modifiers& m) {
  return !is_integer(m) && m.mul != MulMode::none;
};
constexpr auto kIsWide = [](const Modifiers& m) { return m.mul == MulMode::wide; };
constexpr auto kIsWide64 = [](const Modifiers& m) { return kIsWide(m) && size_of(m.type) == 8; };
constexpr auto kIsLong = [](const Modifiers& m) { return size_of(m.type) * m.vec > 32; };
constexpr auto kIs128 = [](const Modifiers& m) { return size_of(m.type) > 8; };
constexpr Rule kRules[] = {
    {Opcode::mul, kLacksHalf, "needs .lo, .hi or .wide"},
    {Opcode::mul, kNamesHalf, "takes no .lo, .hi or .wide"},
    {Opcode::mul, kIsWide64, "has no 64-bit .wide form"},
    {Opcode::mad, kLacksHalf, "needs .lo, .hi or .wide"},
    {Opcode::mad, kNamesHalf, "takes no .lo, .hi or .wide"},
    {Opcode::mad, kIsWide64, "has no 64-bit .wide form"},
    {Opcode::mul24, kIsWide, "has no .wide form"},
    {Opcode::mad24, kIsWide, "has no .wide form"},
    {Opcode::madc, kIsWide, "has no .wide form"},
    {Opcode::dp2a, kIsWide, "has no .wide form"},
    {Opcode::div, [](const Modifiers& m) { return !is_integer(m) && m.rounding == Rounding::none; },
     "needs a rounding mode"},
    {Opcode::vote,
     [](const Modifiers& m) { return (m.vote == VoteMode::ballot) != (m.type == Type::b32); },
     "mixes mode and type"},
    {Opcode::bar_red,
     [](const Modifiers& m) {
       return m.atom != AtomOp::add && m.atom != AtomOp::and_ && m.atom != AtomOp::or_;
     },
     "takes .popc, .and or .or"},
    {Opcode::bar_red,
     [](const Modifiers& m) { return (m.atom == AtomOp::add) != (m.type == Type::u32); },
     "mixes operation and type"},
    {Opcode::ld, kIsLong, "moves more than 32 bytes"},
    {Opcode::ldu, kIsLong, "moves more than 32 bytes"},
    {Opcode::st, kIsLong, "moves more than 32 bytes"},
    {Opcode::ld, kIs128, "has no 128-bit registers here"},
    {Opcode::ldu, kIs128, "has no 128-bit registers here"},
    {Opcode::st, kIs128, "has no 128-bit registers here"},
    {Opcode::atom, kIs128, "has no 128-bit registers here"},
    {Opcode::cvta, [](const Modifiers& m) { return m.space == Space::param; },
     "of .param needs a GPU"},
};

/// Takes the suffixes of an opcode one by one.
class Suffixes {
 public:
  Suffixes(const Row& row, Modifiers& mod) : row_(row), mod_(mod) {}

  /// Empty, or what is wrong with `part`, which stands behind a dot.
  std::string take(std::string_view part) {
    if (const auto type = type_from_name(part)) return take_type(part, *type);
    if ((row_.allowed & kShape) != 0 && (seen_ & kShape) == 0 && parse_shape(part, &mod_)) {
      seen_ |= kShape;
      return {};
    }
    const ModifierName* found = nullptr;
    for (const ModifierName& name : kModifiers)
      if (name.text == part && (row_.allowed & name.family) != 0) found = &name;
    if (found == nullptr)
      return "has the modifier ." + printable(part) + ", which simgpu does not know";
    const bool repeatable = (found->family & (kLayout | kCache)) != 0;
    if ((seen_ & found->family) != 0 && !repeatable)
      return "has the modifier ." + std::string(part) + " beside another of its kind";
    seen_ |= found->family;
    if (found->set != nullptr) found->set(mod_);
    return found->family == kLayout ? take_layout(part == "row") : "";
  }

  std::string_view lacks() const {
    if (types_ < row_.least) return "lacks a type";
    if ((seen_ & row_.required) != row_.required) return "lacks a modifier";
    for (const Rule& rule : kRules)
      if (rule.op == row_.op && rule.broken(mod_)) return rule.why;
    return {};
  }

 private:
  std::string take_type(std::string_view part, Type type) {
    if (types_ >= row_.most) return "has a type too many";
    if (((types_ == 0 ? row_.types : row_.types2) & set_of(type)) == 0)
      return "has no form for ." + std::string(part);
    Type* const fields[] = {&mod_.type, &mod_.type2, &mod_.type3, &mod_.type4};
    *fields[types_++] = type;
    return {};
  }
  std::string take_layout(bool is_row) {
    if (layouts_ == 2) return "has a layout too many";
    (layouts_++ == 0 ? mod_.row_a : mod_.row_b) = is_row;
    return {};
  }

  const Row& row_;
  Modifiers& mod_;
  Families seen_ = 0;
  unsigned types_ = 0, layouts_ = 0;
};

}  // namespace

bool has_destination(Opcode op) {
  static const std::vector<bool> table = [] {
    std::vector<bool> writes;
    for (const Row& row : kOpcodes) {
      const auto number = static_cast<std::size_t>(row.op);
      if (number >= writes.size()) writes.resize(number + 1);
      // All forms of an instruction begin alike.
      writes[number] = !row.operands.empty() &&
                       std::string_view("dDP").find(row.operands.front()) != std::string_view::npos;
    }
    return writes;
  }();
  return table.at(static_cast<std::size_t>(op));
}

DecodedOpcode decode_opcode(std::string_view text) {
  DecodedOpcode d;
  const auto fail = [&](std::string_view why) {
    d.problem = "'" + printable(text) + "' " + std::string(why);
    return d;
  };
  std::size_t at = 0;
  const Row* row = find_row(text, &at);
  for (const std::string_view prefix : kHardwareOnly) {
    if (!text.starts_with(prefix) || (row != nullptr && row->text.size() >= prefix.size() - 1))
      continue;
    d.needs_gpu = true;
    return fail("needs a GPU: simgpu does not run it");
  }
  if (row == nullptr) return fail("is not an instruction simgpu knows");
  d.op = row->op;
  d.operands = row->operands;
  d.mod.aligned = !row->text.starts_with("barrier.");
  if (row->op == Opcode::wmma_load || row->op == Opcode::wmma_store)
    d.mod.fragment = row->text.back();

  Suffixes suffixes(*row, d.mod);
  while (at < text.size()) {
    ++at;  // the dot
    const std::size_t end = std::min(text.find('.', at), text.size());
    if (const auto why = suffixes.take(text.substr(at, end - at)); !why.empty()) return fail(why);
    at = end;
  }
  if (const auto why = suffixes.lacks(); !why.empty()) return fail(why);
  // Without a space suffix a memory instruction is generic.
  if ((row->allowed & kSpace) != 0 && d.mod.space == Space::none) d.mod.space = Space::generic;
  if (row->op == Opcode::cp_async) d.mod.space = Space::shared;
  return d;
}

}  // namespace simgpu::ptx
