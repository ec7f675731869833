#include "common/simgpu/ptx/opcodes.hpp"

#include <array>
#include <cstdint>
#include <iterator>

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
constexpr TypeSet kBits32 = set_of(Type::b32), kBits3264 = set_of(Type::b32, Type::b64);
constexpr TypeSet kUnsigned = set_of(Type::u16, Type::u32, Type::u64);
constexpr TypeSet kSigned = set_of(Type::s16, Type::s32, Type::s64);
constexpr TypeSet kInt = kUnsigned | kSigned;
constexpr TypeSet kInt32 = set_of(Type::u32, Type::s32);
constexpr TypeSet kInt3264 = set_of(Type::u32, Type::s32, Type::u64, Type::s64);
constexpr TypeSet kF32 = set_of(Type::f32), kF3264 = set_of(Type::f32, Type::f64);
constexpr TypeSet kHalf = set_of(Type::f16, Type::f16x2, Type::bf16, Type::bf16x2);
constexpr TypeSet kFloat = kF3264 | kHalf;
constexpr TypeSet kNumber = kInt | kFloat;
constexpr TypeSet kByte = set_of(Type::b8, Type::u8, Type::s8);
constexpr TypeSet kMemory = kByte | kBits | kInt | kF3264 | set_of(Type::b128);
constexpr TypeSet kAny = ~TypeSet{0};
constexpr TypeSet kAddress = set_of(Type::u32, Type::u64);
constexpr TypeSet kNone = 0;

// ---- modifiers ----------------------------------------------------------------------------------

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
  kShiftAmount = 1ull << 36,  ///< bfind: the engine reads these two off Modifiers::text
  kPermute = 1ull << 37,      ///< prmt
};

struct ModifierName {
  std::string_view text;
  Family family;
  int value = 0;
};
template <typename E>
constexpr int v(E e) {
  return static_cast<int>(e);
}

// Several rows may share a text (".lo" multiplies and compares): the opcode's families decide.
constexpr ModifierName kModifiers[] = {
    {"global", kSpace, v(Space::global)},
    {"shared", kSpace, v(Space::shared)},
    {"shared::cta", kSpace, v(Space::shared)},
    {"local", kSpace, v(Space::local)},
    {"const", kSpace, v(Space::constant)},
    {"param", kSpace, v(Space::param)},
    {"param::entry", kSpace, v(Space::param)},
    {"param::func", kSpace, v(Space::param)},
    {"rn", kRound, v(Rounding::rn)},
    {"rz", kRound, v(Rounding::rz)},
    {"rm", kRound, v(Rounding::rm)},
    {"rp", kRound, v(Rounding::rp)},
    {"rna", kRound, v(Rounding::rna)},
    {"rni", kRound, v(Rounding::rni)},
    {"rzi", kRound, v(Rounding::rzi)},
    {"rmi", kRound, v(Rounding::rmi)},
    {"rpi", kRound, v(Rounding::rpi)},
    {"approx", kRound, v(Rounding::approx)},
    {"full", kRound, v(Rounding::full)},
    {"lo", kMul, v(MulMode::lo)},
    {"hi", kMul, v(MulMode::hi)},
    {"wide", kMul, v(MulMode::wide)},
    {"eq", kCompare, v(Compare::eq)},
    {"ne", kCompare, v(Compare::ne)},
    {"lt", kCompare, v(Compare::lt)},
    {"le", kCompare, v(Compare::le)},
    {"gt", kCompare, v(Compare::gt)},
    {"ge", kCompare, v(Compare::ge)},
    {"lo", kCompare, v(Compare::lo)},
    {"ls", kCompare, v(Compare::ls)},
    {"hi", kCompare, v(Compare::hi)},
    {"hs", kCompare, v(Compare::hs)},
    {"equ", kCompare, v(Compare::equ)},
    {"neu", kCompare, v(Compare::neu)},
    {"ltu", kCompare, v(Compare::ltu)},
    {"leu", kCompare, v(Compare::leu)},
    {"gtu", kCompare, v(Compare::gtu)},
    {"geu", kCompare, v(Compare::geu)},
    {"num", kCompare, v(Compare::num)},
    {"nan", kCompare, v(Compare::nan)},
    {"and", kBool, v(BoolOp::and_)},
    {"or", kBool, v(BoolOp::or_)},
    {"xor", kBool, v(BoolOp::xor_)},
    {"add", kAtom, v(AtomOp::add)},
    {"popc", kAtom, v(AtomOp::add)},
    {"inc", kAtom, v(AtomOp::inc)},
    {"dec", kAtom, v(AtomOp::dec)},
    {"min", kAtom, v(AtomOp::min)},
    {"max", kAtom, v(AtomOp::max)},
    {"and", kAtom, v(AtomOp::and_)},
    {"or", kAtom, v(AtomOp::or_)},
    {"xor", kAtom, v(AtomOp::xor_)},
    {"exch", kAtom, v(AtomOp::exch)},
    {"cas", kAtom, v(AtomOp::cas)},
    {"up", kShfl, v(ShflMode::up)},
    {"down", kShfl, v(ShflMode::down)},
    {"bfly", kShfl, v(ShflMode::bfly)},
    {"idx", kShfl, v(ShflMode::idx)},
    {"any", kVote, v(VoteMode::any)},
    {"all", kVote, v(VoteMode::all)},
    {"uni", kVote, v(VoteMode::uni)},
    {"ballot", kVote, v(VoteMode::ballot)},
    {"any", kMatchMode, v(VoteMode::any)},
    {"all", kMatchMode, v(VoteMode::all)},
    {"v2", kVec, 2},
    {"v4", kVec, 4},
    {"v8", kVec8, 8},
    {"ftz", kFtz},
    {"sat", kSat},
    {"satfinite", kSatFinite},
    {"nc", kNc},
    {"volatile", kVolatile},
    {"uni", kUni},
    {"sync", kSync},
    {"aligned", kAligned},
    {"cc", kCarry},
    {"to", kTo},
    {"wrap", kWrap, 1},
    {"clamp", kWrap, 0},
    {"l", kLeft, 1},
    {"r", kLeft, 0},
    {"NaN", kNan},
    {"relu", kRelu},
    {"trans", kTrans},
    {"noftz", kNoFtz},
    {"unified", kUnified},
    {"weak", kSemantics, 0},
    {"relaxed", kSemantics, 1},
    {"acquire", kSemantics, 1},
    {"release", kSemantics, 1},
    {"acq_rel", kSemantics, 1},
    {"sc", kSemantics, 1},
    {"cta", kScope},
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
    {"L2::64B", kCache},
    {"L2::128B", kCache},
    {"L2::256B", kCache},
    {"L1", kLevel},
    {"L2", kLevel},
    {"x1", kNum, 1},
    {"x2", kNum, 2},
    {"x4", kNum, 4},
    {"row", kLayout, 1},
    {"col", kLayout, 0},
    {"finite", kTest, v(TestClass::finite)},
    {"infinite", kTest, v(TestClass::infinite)},
    {"number", kTest, v(TestClass::number)},
    {"notanumber", kTest, v(TestClass::notanumber)},
    {"normal", kTest, v(TestClass::normal)},
    {"subnormal", kTest, v(TestClass::subnormal)},
    {"shiftamt", kShiftAmount},
    {"f4e", kPermute},
    {"b4e", kPermute},
    {"rc8", kPermute},
    {"ecl", kPermute},
    {"ecr", kPermute},
    {"rc16", kPermute},
};

// ---- opcodes ------------------------------------------------------------------------------------

// Operand notation: alternatives separated by '|', operands by blanks, an operand is one kind and
// one width letter, '?' behind the last ones marks them optional.
//   kinds  d destination register   D destination register, vector or _   P d, perhaps "p|q" or _
//          s register, immediate, special register or address of a symbol
//          S s or vector            n source predicate, may be negated   m memory operand [...]
//          i immediate              l label                              t branch table
//   widths T the first type   U the second   W twice the first if .wide, else the first
//          G at least the first (ld, st, cvt may use wider registers)   H at least the second
//          1 predicate   3 32 bits   6 64 bits   a 32 or 64 bits   x anything but a predicate
struct Row {
  std::string_view text;
  Opcode op;
  Families allowed;
  Families required;
  unsigned min_types, max_types;
  TypeSet types, types2;  ///< what the first and every further type may be
  std::string_view operands;
};

constexpr Families kFloatMods = kRound | kFtz | kSat;
constexpr Families kMemMods = kSemantics | kScope | kCache | kVolatile;
constexpr Families kMma = kSync | kAligned | kShape | kLayout | kSatFinite;

constexpr Row kOpcodes[] = {
    {"add", Opcode::add, kFloatMods | kCarry, 0, 1, 1, kNumber, kNone, "dT sT sT"},
    {"sub", Opcode::sub, kFloatMods | kCarry, 0, 1, 1, kNumber, kNone, "dT sT sT"},
    {"addc", Opcode::addc, kCarry, 0, 1, 1, kInt3264, kNone, "dT sT sT"},
    {"subc", Opcode::subc, kCarry, 0, 1, 1, kInt3264, kNone, "dT sT sT"},
    {"mul", Opcode::mul, kFloatMods | kMul, 0, 1, 1, kNumber, kNone, "dW sT sT"},
    {"mad", Opcode::mad, kFloatMods | kMul | kCarry, 0, 1, 1, kInt | kF3264, kNone, "dW sT sT sW"},
    {"madc", Opcode::madc, kMul | kCarry, kMul, 1, 1, kInt3264, kNone, "dT sT sT sT"},
    {"mul24", Opcode::mul24, kMul, kMul, 1, 1, kInt32, kNone, "dT sT sT"},
    {"mad24", Opcode::mad24, kMul | kSat, kMul, 1, 1, kInt32, kNone, "dT sT sT sT"},
    {"fma", Opcode::fma, kFloatMods | kRelu, 0, 1, 1, kFloat, kNone, "dT sT sT sT"},
    {"div", Opcode::div, kRound | kFtz, 0, 1, 1, kInt | kF3264, kNone, "dT sT sT"},
    {"rem", Opcode::rem, 0, 0, 1, 1, kInt, kNone, "dT sT sT"},
    {"abs", Opcode::abs, kFtz, 0, 1, 1, kSigned | kFloat, kNone, "dT sT"},
    {"neg", Opcode::neg, kFtz, 0, 1, 1, kSigned | kFloat, kNone, "dT sT"},
    {"min", Opcode::min, kFtz | kNan | kRelu, 0, 1, 1, kNumber, kNone, "dT sT sT"},
    {"max", Opcode::max, kFtz | kNan | kRelu, 0, 1, 1, kNumber, kNone, "dT sT sT"},
    {"dp4a", Opcode::dp4a, 0, 0, 2, 2, kInt32, kInt32, "d3 s3 s3 s3"},
    {"dp2a", Opcode::dp2a, kMul, kMul, 2, 2, kInt32, kInt32, "d3 s3 s3 s3"},
    {"sqrt", Opcode::sqrt, kRound | kFtz, kRound, 1, 1, kF3264, kNone, "dT sT"},
    {"rsqrt", Opcode::rsqrt, kRound | kFtz, kRound, 1, 1, kF3264, kNone, "dT sT"},
    {"rcp", Opcode::rcp, kRound | kFtz, kRound, 1, 1, kF3264, kNone, "dT sT"},
    {"sin", Opcode::sin, kRound | kFtz, kRound, 1, 1, kF32, kNone, "dT sT"},
    {"cos", Opcode::cos, kRound | kFtz, kRound, 1, 1, kF32, kNone, "dT sT"},
    {"lg2", Opcode::lg2, kRound | kFtz, kRound, 1, 1, kF32, kNone, "dT sT"},
    {"ex2", Opcode::ex2, kRound | kFtz, kRound, 1, 1, kF32 | kHalf, kNone, "dT sT"},
    {"tanh", Opcode::tanh, kRound, kRound, 1, 1, kF32 | kHalf, kNone, "dT sT"},
    {"copysign", Opcode::copysign, 0, 0, 1, 1, kF3264, kNone, "dT sT sT"},
    {"testp", Opcode::testp, kTest, kTest, 1, 1, kF3264, kNone, "d1 sT"},

    {"and", Opcode::and_, 0, 0, 1, 1, kPred | kBits, kNone, "dT sT sT"},
    {"or", Opcode::or_, 0, 0, 1, 1, kPred | kBits, kNone, "dT sT sT"},
    {"xor", Opcode::xor_, 0, 0, 1, 1, kPred | kBits, kNone, "dT sT sT"},
    {"not", Opcode::not_, 0, 0, 1, 1, kPred | kBits, kNone, "dT sT"},
    {"lop3", Opcode::lop3, 0, 0, 1, 1, kBits32, kNone, "d3 s3 s3 s3 i3"},
    {"shf", Opcode::shf, kLeft | kWrap, kLeft | kWrap, 1, 1, kBits32, kNone, "d3 s3 s3 s3"},
    {"bfind", Opcode::bfind, kShiftAmount, 0, 1, 1, kInt3264, kNone, "d3 sT"},
    {"prmt", Opcode::prmt, kPermute, 0, 1, 1, kBits32, kNone, "d3 s3 s3 s3"},
    {"fns", Opcode::fns, 0, 0, 1, 1, kBits32, kNone, "d3 s3 s3 s3"},
#define LANEWISE(id, text, types, operands, ...) \
  {text, Opcode::id, 0, 0, 1, 1, types, kNone, operands},
#include "common/simgpu/instructions.inc"
#undef LANEWISE

    {"set", Opcode::set, kCompare | kBool | kFtz, kCompare, 2, 2,
     kInt32 | kF32 | kHalf | set_of(Type::u16, Type::s16), kBits | kNumber, "dT sU sU n1?"},
    {"setp", Opcode::setp, kCompare | kBool | kFtz, kCompare, 1, 1, kBits | kNumber, kNone,
     "P1 sT sT n1?"},
    {"selp", Opcode::selp, 0, 0, 1, 1, kBits | kInt | kF3264, kNone, "dT sT sT n1"},
    {"slct", Opcode::slct, kFtz, 0, 2, 2, kBits | kInt | kF3264, set_of(Type::s32, Type::f32),
     "dT sT sT sU"},
    {"mov", Opcode::mov, 0, 0, 1, 1, kPred | kBits | kInt | kFloat, kNone, "DT ST"},
    {"cvt", Opcode::cvt, kRound | kFtz | kSat | kRelu, 0, 2, 2,
     kByte | kNumber | set_of(Type::tf32), kByte | kNumber, "dG sH|dG sH sH"},
    {"cvta", Opcode::cvta, kTo | kSpace, kSpace, 1, 1, kAddress, kNone, "dT sT"},
    {"isspacep", Opcode::isspacep, kSpace, kSpace, 0, 0, kNone, kNone, "d1 sa"},

    {"ld", Opcode::ld, kSpace | kMemMods | kNc | kVec | kVec8, 0, 1, 1, kMemory, kNone, "DG ma"},
    {"ldu", Opcode::ldu, kSpace | kVec, 0, 1, 1, kMemory, kNone, "DG ma"},
    {"st", Opcode::st, kSpace | kMemMods | kVec | kVec8, 0, 1, 1, kMemory, kNone, "ma SG"},
    {"prefetch", Opcode::prefetch, kSpace | kLevel | kCache, 0, 0, 0, kNone, kNone, "ma"},
    {"prefetchu", Opcode::prefetch, kLevel, kLevel, 0, 0, kNone, kNone, "ma"},
    {"atom", Opcode::atom, kSpace | kSemantics | kScope | kAtom | kNoFtz, kAtom, 1, 1,
     kBits3264 | kInt3264 | kFloat | set_of(Type::b16, Type::b128), kNone, "DT ma sT|DT ma sT sT"},
    {"red", Opcode::red, kSpace | kSemantics | kScope | kAtom | kNoFtz, kAtom, 1, 1,
     kBits3264 | kInt3264 | kFloat, kNone, "ma sT"},

    {"bra", Opcode::bra, kUni, 0, 0, 0, kNone, kNone, "l0"},
    {"brx.idx", Opcode::brx_idx, kUni, 0, 0, 0, kNone, kNone, "s3 t0"},
    {"call", Opcode::call, kUni, 0, 0, 0, kNone, kNone, ""},
    {"ret", Opcode::ret, kUni, 0, 0, 0, kNone, kNone, ""},
    {"exit", Opcode::exit, 0, 0, 0, 0, kNone, kNone, ""},
    {"trap", Opcode::trap, 0, 0, 0, 0, kNone, kNone, ""},
    {"brkpt", Opcode::brkpt, 0, 0, 0, 0, kNone, kNone, ""},
    {"nanosleep", Opcode::nanosleep, 0, 0, 1, 1, set_of(Type::u32), kNone, "sT"},

    {"bar.sync", Opcode::bar_sync, 0, 0, 0, 0, kNone, kNone, "s3 s3?"},
    {"bar.cta.sync", Opcode::bar_sync, 0, 0, 0, 0, kNone, kNone, "s3 s3?"},
    {"barrier.sync", Opcode::bar_sync, kAligned, 0, 0, 0, kNone, kNone, "s3 s3?"},
    {"barrier.cta.sync", Opcode::bar_sync, kAligned, 0, 0, 0, kNone, kNone, "s3 s3?"},
    {"bar.arrive", Opcode::bar_arrive, 0, 0, 0, 0, kNone, kNone, "s3 s3"},
    {"bar.cta.arrive", Opcode::bar_arrive, 0, 0, 0, 0, kNone, kNone, "s3 s3"},
    {"barrier.arrive", Opcode::bar_arrive, kAligned, 0, 0, 0, kNone, kNone, "s3 s3"},
    {"barrier.cta.arrive", Opcode::bar_arrive, kAligned, 0, 0, 0, kNone, kNone, "s3 s3"},
    {"bar.red", Opcode::bar_red, kAtom, kAtom, 1, 1, kPred | set_of(Type::u32), kNone,
     "dT s3 n1|dT s3 s3 n1"},
    {"bar.cta.red", Opcode::bar_red, kAtom, kAtom, 1, 1, kPred | set_of(Type::u32), kNone,
     "dT s3 n1|dT s3 s3 n1"},
    {"barrier.red", Opcode::bar_red, kAtom | kAligned, kAtom, 1, 1, kPred | set_of(Type::u32),
     kNone, "dT s3 n1|dT s3 s3 n1"},
    {"barrier.cta.red", Opcode::bar_red, kAtom | kAligned, kAtom, 1, 1, kPred | set_of(Type::u32),
     kNone, "dT s3 n1|dT s3 s3 n1"},
    {"bar.warp.sync", Opcode::bar_warp_sync, 0, 0, 0, 0, kNone, kNone, "s3"},
    {"membar", Opcode::membar, kScope, kScope, 0, 0, kNone, kNone, ""},
    {"fence", Opcode::fence, kSemantics | kScope, kScope, 0, 0, kNone, kNone, ""},
    {"shfl", Opcode::shfl, kSync | kShfl, kSync | kShfl, 1, 1, kBits32, kNone, "P3 s3 s3 s3 s3"},
    {"vote", Opcode::vote, kSync | kVote, kSync | kVote, 1, 1, kPred | kBits32, kNone, "dT n1 s3"},
    {"match", Opcode::match, kSync | kMatchMode, kSync | kMatchMode, 1, 1, kBits3264, kNone,
     "P3 sT s3"},
    {"activemask", Opcode::activemask, 0, 0, 1, 1, kBits32, kNone, "d3"},
    {"redux", Opcode::redux, kSync | kAtom, kSync | kAtom, 1, 1, kBits32 | kInt32, kNone,
     "d3 s3 s3"},
    {"elect", Opcode::elect, kSync, kSync, 0, 0, kNone, kNone, "P3 s3"},

    {"cp.async.commit_group", Opcode::cp_async_commit_group, 0, 0, 0, 0, kNone, kNone, ""},
    {"cp.async.wait_group", Opcode::cp_async_wait_group, 0, 0, 0, 0, kNone, kNone, "i3"},
    {"cp.async.wait_all", Opcode::cp_async_wait_all, 0, 0, 0, 0, kNone, kNone, ""},
    // destination and source space both end up in one field: the order is fixed by the ISA
    {"cp.async.ca.shared.global", Opcode::cp_async, kCache, 0, 0, 0, kNone, kNone,
     "ma ma i3|ma ma i3 s3|ma ma i3 n1"},
    {"cp.async.cg.shared.global", Opcode::cp_async, kCache, 0, 0, 0, kNone, kNone,
     "ma ma i3|ma ma i3 s3|ma ma i3 n1"},
    {"cp.async.ca.shared::cta.global", Opcode::cp_async, kCache, 0, 0, 0, kNone, kNone,
     "ma ma i3|ma ma i3 s3|ma ma i3 n1"},
    {"cp.async.cg.shared::cta.global", Opcode::cp_async, kCache, 0, 0, 0, kNone, kNone,
     "ma ma i3|ma ma i3 s3|ma ma i3 n1"},
    {"ldmatrix", Opcode::ldmatrix, kSync | kAligned | kShape | kNum | kTrans | kSpace,
     kSync | kShape | kNum, 1, 1, set_of(Type::b16), kNone, "D3 ma"},
    {"stmatrix", Opcode::stmatrix, kSync | kAligned | kShape | kNum | kTrans | kSpace,
     kSync | kShape | kNum, 1, 1, set_of(Type::b16), kNone, "ma S3"},
    {"movmatrix", Opcode::movmatrix, kSync | kAligned | kShape | kTrans, kSync | kShape | kTrans, 1,
     1, set_of(Type::b16), kNone, "d3 s3"},
    {"mma", Opcode::mma, kMma, kSync | kShape | kLayout, 4, 4, kAny, kAny, "Dx Sx Sx Sx"},
    {"wmma.load.a", Opcode::wmma_load, kMma | kSpace, kSync | kShape | kLayout, 1, 1, kAny, kNone,
     "Dx ma s3?"},
    {"wmma.load.b", Opcode::wmma_load, kMma | kSpace, kSync | kShape | kLayout, 1, 1, kAny, kNone,
     "Dx ma s3?"},
    {"wmma.load.c", Opcode::wmma_load, kMma | kSpace, kSync | kShape | kLayout, 1, 1, kAny, kNone,
     "Dx ma s3?"},
    {"wmma.store.d", Opcode::wmma_store, kMma | kSpace, kSync | kShape | kLayout, 1, 1, kAny, kNone,
     "ma Sx s3?"},
    {"wmma.mma", Opcode::wmma_mma, kMma | kRound, kSync | kShape | kLayout, 1, 4, kAny, kAny,
     "Dx Sx Sx Sx"},
};

/// Beginnings of instructions that only newer hardware has; simgpu leaves them out on purpose.
constexpr std::string_view kHardwareOnly[] = {
    "wgmma.",
    "tcgen05.",
    "mbarrier.",
    "cp.async.bulk",
    "cp.async.mbarrier",
    "cp.reduce.async",
    "barrier.cluster",
    "mapa",
    "getctarank",
    "setmaxnreg",
    "fence.proxy",
    "fence.mbarrier",
    "st.async",
    "st.bulk",
    "red.async",
    "multimem.",
    "griddepcontrol",
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

void apply(const ModifierName& name, unsigned layouts, Modifiers* mod) {
  switch (name.family) {
    case kSpace:
      mod->space = static_cast<Space>(name.value);
      break;
    case kRound:
      mod->rounding = static_cast<Rounding>(name.value);
      break;
    case kMul:
      mod->mul = static_cast<MulMode>(name.value);
      break;
    case kCompare:
      mod->compare = static_cast<Compare>(name.value);
      break;
    case kBool:
      mod->combine = static_cast<BoolOp>(name.value);
      break;
    case kAtom:
      mod->atom = static_cast<AtomOp>(name.value);
      break;
    case kShfl:
      mod->shfl = static_cast<ShflMode>(name.value);
      break;
    case kVote:
    case kMatchMode:
      mod->vote = static_cast<VoteMode>(name.value);
      break;
    case kVec:
    case kVec8:
      mod->vec = static_cast<std::uint8_t>(name.value);
      break;
    case kFtz:
      mod->ftz = true;
      break;
    case kSat:
    case kSatFinite:
      mod->sat = true;
      break;
    case kNc:
      mod->non_coherent = true;
      break;
    case kVolatile:
      mod->is_volatile = true;
      break;
    case kUni:
      mod->uni = true;
      break;
    case kSync:
      mod->sync = true;
      break;
    case kAligned:
      mod->aligned = true;
      break;
    case kCarry:
      mod->carry_out = true;
      break;
    case kTo:
      mod->to = true;
      break;
    case kWrap:
      mod->wrap = name.value != 0;
      break;
    case kLeft:
      mod->left = name.value != 0;
      break;
    case kNan:
      mod->nan = true;
      break;
    case kRelu:
      mod->relu = true;
      break;
    case kTrans:
      mod->trans = true;
      break;
    case kSemantics:
      mod->release_acquire |= name.value != 0;
      break;
    case kNum:
      mod->num = static_cast<std::uint8_t>(name.value);
      break;
    case kLayout:
      (layouts == 0 ? mod->row_a : mod->row_b) = name.value != 0;
      break;
    case kTest:
      mod->testp = static_cast<TestClass>(name.value);
      break;
    case kScope:
    case kCache:
    case kLevel:
    case kNoFtz:
    case kShape:
    case kUnified:
    case kShiftAmount:
    case kPermute:
      break;
  }
}

/// Combinations the table cannot express.
std::string_view check(const DecodedOpcode& d, Families seen) {
  const Modifiers& m = d.mod;
  const TypeSet type = set_of(m.type);
  switch (d.op) {
    case Opcode::mul:
    case Opcode::mad:
      if ((type & kInt) != 0 && m.mul == MulMode::none) return "needs .lo, .hi or .wide";
      if ((type & kInt) == 0 && m.mul != MulMode::none) return "takes no .lo, .hi or .wide";
      if (m.mul == MulMode::wide && size_of(m.type) == 8) return "has no 64-bit .wide form";
      break;
    case Opcode::mul24:
    case Opcode::mad24:
    case Opcode::madc:
    case Opcode::dp2a:
      if (m.mul == MulMode::wide) return "has no .wide form";
      break;
    case Opcode::div:
      if ((type & kF3264) != 0 && (seen & kRound) == 0) return "needs a rounding mode";
      break;
    case Opcode::vote:
      if ((m.vote == VoteMode::ballot) != (m.type == Type::b32)) return "mixes mode and type";
      break;
    case Opcode::bar_red:
      if (m.atom != AtomOp::add && m.atom != AtomOp::and_ && m.atom != AtomOp::or_)
        return "takes .popc, .and or .or";
      if ((m.atom == AtomOp::add) != (m.type == Type::u32)) return "mixes operation and type";
      break;
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::st:
      if (size_of(m.type) * m.vec > 32) return "moves more than 32 bytes";
      if (m.type == Type::b128) return "has no 128-bit registers here";
      break;
    case Opcode::atom:
      if (size_of(m.type) > 8) return "has no 128-bit registers here";
      break;
    case Opcode::cvta:
      if (m.space == Space::param) return "of .param needs a GPU";
      break;
    default:
      break;
  }
  return {};
}

}  // namespace

DecodedOpcode decode_opcode(std::string_view text) {
  DecodedOpcode d;
  const auto fail = [&](std::string_view why) {
    d.problem = "'" + printable(text) + "' " + std::string(why);
    return d;
  };
  for (const std::string_view prefix : kHardwareOnly) {
    if (text.substr(0, prefix.size()) == prefix) {
      d.needs_gpu = true;
      return fail("needs a GPU: simgpu does not run it");
    }
  }
  std::size_t at = 0;
  const Row* row = find_row(text, &at);
  if (row == nullptr) return fail("is not an instruction simgpu knows");
  d.op = row->op;
  d.operands = row->operands;
  d.mod.aligned = row->text.substr(0, 8) != "barrier.";
  if (row->op == Opcode::wmma_load || row->op == Opcode::wmma_store)
    d.mod.fragment = row->text.back();

  Families seen = 0;
  unsigned types = 0, layouts = 0;
  while (at < text.size()) {
    ++at;  // the dot
    std::size_t end = text.find('.', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view part = text.substr(at, end - at);
    at = end;
    if (const auto type = type_from_name(part)) {
      if (types >= row->max_types) return fail("has a type too many");
      if (((types == 0 ? row->types : row->types2) & set_of(*type)) == 0)
        return fail("has no form for ." + std::string(part));
      Type* const fields[] = {&d.mod.type, &d.mod.type2, &d.mod.type3, &d.mod.type4};
      *fields[types++] = *type;
      continue;
    }
    if ((row->allowed & kShape) != 0 && (seen & kShape) == 0 && parse_shape(part, &d.mod)) {
      seen |= kShape;
      continue;
    }
    const ModifierName* found = nullptr;
    for (const ModifierName& name : kModifiers)
      if (name.text == part && (row->allowed & name.family) != 0) found = &name;
    if (found == nullptr)
      return fail("has the modifier ." + printable(part) + ", which simgpu does not know");
    const bool repeatable = (found->family & (kLayout | kCache)) != 0;
    if ((seen & found->family) != 0 && !repeatable)
      return fail("has the modifier ." + std::string(part) + " beside another of its kind");
    if (found->family == kLayout && layouts == 2) return fail("has a layout too many");
    apply(*found, layouts, &d.mod);
    if (found->family == kLayout) ++layouts;
    seen |= found->family;
  }
  if (types < row->min_types) return fail("lacks a type");
  if ((seen & row->required) != row->required) return fail("lacks a modifier");
  if (const std::string_view why = check(d, seen); !why.empty()) return fail(why);
  // Without a space suffix a memory instruction is generic.
  const bool has_space = (row->allowed & kSpace) != 0;
  if (has_space && d.mod.space == Space::none) d.mod.space = Space::generic;
  if (row->op == Opcode::cp_async) d.mod.space = Space::shared;
  return d;
}

}  // namespace simgpu::ptx
