// mma.sync and wmma.mma (PTX ISA 9.7.15.5 and 9.7.15.4): decoding and reports. The handlers are in
// kernels/mma.cpp, where elements lie is in fragments.hpp. wgmma (kernels/wgmma.cpp) adds in the same
// way.
//
// Arithmetic. The ISA leaves open in which order and how precisely a tensor core adds, and real
// ones differ: they align C and the products of a few k to the largest, and cut off low bits (Fasi,
// Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7,
// 2021). All of them cut off the FP32 sum instead of rounding it, so that a long chain of
// instructions drifts towards zero. Here:
//   f16, bf16, tf32   Products are exact. C and the k products are added in order of k in double,
//                     and brought to the type of D once: cut off for FP32, rounded to nearest even
//                     for FP16. The k of one instruction are added so: of wgmma 8 tf32, 16 f16 and
//                     bf16, 32 FP8. tf32 ignores the low 13 bits of its operands. Compare with hardware
//                     by tolerance, or with data whose sums are exact in FP32 (small integers): then
//                     every order gives the same bits.
//   f64               A chain of fused multiply-adds over k that begins with C: this is what
//                     hardware does, bit for bit.
//   s8, u8, s4, u4    Exact; the sum with C wraps around, or clamps with .satfinite.
//   b1                The bits that .and or .xor leaves, counted (.popc) and added to C, which wraps around.
// NaN results are the canonical 0x7fffffff (0x7fff), except in FP64.
#include "common/simgpu/exec/mma.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <iterator>
#include <span>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using PT = ptx::Type;
using Kind = ptx::Operand::Kind;

namespace {

/// Types of all four matrices; wmma.mma on f16 names those of D and C only.
struct MatrixTypes {
  PT d, a, b, c;
};
MatrixTypes types_of(const ptx::Instruction& ins) {
  const ptx::Modifiers& m = ins.mod;
  if (ins.op == Opcode::wgmma) return {m.type, m.type2, m.type3, m.type};
  if (m.type3 == PT::none) return {m.type, PT::f16, PT::f16, m.type2};
  return {m.type, m.type2, m.type3, m.type4};
}
/// A and B may be of two types: the first one of the two, which stands for both in kProducts.
PT kind_of(PT t) {
  return t == PT::u8 ? PT::s8 : t == PT::u4 ? PT::s4 : t == PT::e5m2 ? PT::e4m3 : t;
}

}  // namespace

std::string tensor_type(const ptx::Instruction& ins) {
  const MatrixTypes t = types_of(ins);
  switch (t.a) {
    case PT::f16:
      return t.d == PT::f16 && t.c == PT::f16 ? "f16.f16" : "f16";
    case PT::bf16:
      return "bf16";
    case PT::tf32:
      return "tf32";
    case PT::f64:
      return "f64";
    case PT::e4m3:
    case PT::e5m2:
      return "f8";
    case PT::b1:
      return "b1";
    case PT::s4:
    case PT::u4:
      return t.a == PT::u4 && t.b == PT::u4 ? "u4" : "s4";
    default:
      return t.a == PT::u8 && t.b == PT::u8 ? "u8" : "s8";
  }
}

std::uint64_t tensor_operations(const ptx::Instruction& ins) {
  return std::uint64_t{2} * ins.mod.m * ins.mod.n * ins.mod.k;
}

/// All 32 lanes must execute a .sync.aligned instruction together. The others' registers are read
/// as they are; only the lanes that are here get results.
void report_part_of_warp(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  if (!run.launch->options.checks.barrier) return;
  const std::string_view what = run.launch->program->instructions[op.pc].ptx->mod.text;
  const auto first = static_cast<unsigned>(std::countr_zero(w.mask));
  const Access at =
      describe(run, {op.pc, w.index, first, AccessType::load, MemorySpace::shared, 0, 0});
  const std::string name(what.substr(0, what.find(".aligned")));
  std::string text;
  if (w.mask == w.launched)
    text = name + " needs all 32 lanes of a warp, but warp " + std::to_string(w.index) +
           " has only " + std::to_string(std::popcount(w.mask)) +
           " threads: make the block's size a multiple of 32";
  else
    text = name + " needs all 32 lanes of warp " + std::to_string(w.index) + ", but lane " +
           std::to_string(std::countr_one(w.mask)) +
           " is not there: no branch may separate the lanes of a warp before it";
  add_finding(run, FindingKind::divergent_barrier, op.pc, UINT32_MAX, at, std::nullopt, text);
}

/// The registers of a fragment, checked: exactly `count` of `bytes` each.
std::vector<Ref> FunctionDecoder::fragment(const Operand& o, unsigned count, unsigned bytes,
                                           bool is_destination) {
  const unsigned have = o.kind == Kind::vector ? o.count : 1;
  const std::string text(current_->mod.text);
  if (have != count)
    fail(text + " needs a fragment of " + std::to_string(count) + " registers where " +
         std::to_string(have) + " stand");
  std::vector<Ref> refs;
  for (unsigned k = 0; k < count; ++k) {
    const Operand& e = o.kind == Kind::vector ? f_.vector_operands[o.index + k] : o;
    if (e.kind == Kind::reg && register_bytes(e.index) != bytes)
      fail(text + " needs fragments of " + std::to_string(8 * bytes) + "-bit registers");
    refs.push_back(is_destination ? destination(e, bytes == 8 ? PT::u64 : PT::u32)
                                  : source(e, bytes));
  }
  return refs;
}

namespace {

struct Extents {
  unsigned m, n, k;
  friend bool operator==(const Extents&, const Extents&) = default;
};
constexpr Extents kWide[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
constexpr Extents kWmmaTf32[] = {{16, 16, 8}}, kWmmaF64[] = {{8, 8, 4}};
constexpr Extents k16[] = {{16, 8, 8}, {16, 8, 16}}, kTf32[] = {{16, 8, 4}, {16, 8, 8}};
constexpr Extents kF64[] = {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}};
constexpr Extents kFloat8[] = {{16, 8, 16}, {16, 8, 32}};
constexpr Extents kByte[] = {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}};
constexpr Extents kFour[] = {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}, kWmmaFour[] = {{8, 8, 32}};
constexpr Extents kBit[] = {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}}, kWmmaBit[] = {{8, 8, 128}};

/// A format of A and B, the shapes that mma and wmma.mma have for it, the type of C and D.
struct Product {
  PT type;
  MmaFormat format;
  unsigned bits;
  std::span<const Extents> mma, wmma;
  PT sum;
};
constexpr Product kProducts[] = {
    {PT::f16, MmaFormat::f16, 16, k16, kWide, PT::f32},  // or f16
    {PT::bf16, MmaFormat::bf16, 16, k16, kWide, PT::f32},
    {PT::tf32, MmaFormat::tf32, 32, kTf32, kWmmaTf32, PT::f32},
    {PT::f64, MmaFormat::f64, 64, kF64, kWmmaF64, PT::f64},
    {PT::s8, MmaFormat::s8, 8, kByte, kWide, PT::s32},      // and u8
    {PT::e4m3, MmaFormat::f8, 8, kFloat8, {}, PT::f32},     // and e5m2, f16
    {PT::s4, MmaFormat::s4, 4, kFour, kWmmaFour, PT::s32},  // and u4
    {PT::b1, MmaFormat::b1, 1, kBit, kWmmaBit, PT::s32},
};

/// nullptr: there is no such shape or combination of types.
const Product* product_of(const ptx::Instruction& ins, const MatrixTypes& t) {
  const bool wmma = ins.op == Opcode::wmma_mma;
  const PT of = kind_of(t.a);
  if (wmma ? t.a != t.b : of != kind_of(t.b)) return nullptr;
  const auto row = std::find_if(std::begin(kProducts), std::end(kProducts),
                                [&](const Product& p) { return p.type == of; });
  if (row == std::end(kProducts)) return nullptr;
  const auto sums = [&](PT type) {
    const bool halves = row->format == MmaFormat::f16 || row->format == MmaFormat::f8;
    return type == row->sum || (halves && type == PT::f16);
  };
  // mma adds f16 to f16 and f32 to f32 only.
  if (!sums(t.d) || !sums(t.c) || (!wmma && t.d != t.c)) return nullptr;
  const auto shapes = wmma ? row->wmma : row->mma;
  const Extents extents{ins.mod.m, ins.mod.n, ins.mod.k};
  return std::find(shapes.begin(), shapes.end(), extents) == shapes.end() ? nullptr : row;
}

/// What the product has no form for, behind the instruction's text; "" = all is well.
std::string_view wrong_modifiers(const ptx::Instruction& ins, const Product& product, PT d) {
  const ptx::Modifiers& mod = ins.mod;
  const bool wmma = ins.op == Opcode::wmma_mma, bits = product.format == MmaFormat::b1;
  if (!(wmma && product.bits >= 8) && (!mod.row_a || mod.row_b)) return " must be .row.col";
  if (mod.popc != bits || (mod.combine == ptx::BoolOp::none) == bits ||
      mod.combine == ptx::BoolOp::or_)
    return bits ? " needs .and.popc or .xor.popc" : ": .popc is for single bits";
  if (mod.rounding != ptx::Rounding::none && mod.rounding != ptx::Rounding::rn)
    return " with another rounding than .rn is not supported by the simulated GPU";
  const bool clamps = product.format == MmaFormat::s8 || product.format == MmaFormat::s4;
  if (mod.sat && !clamps && !(wmma && d == PT::f16))
    return " has no .satfinite form on the simulated GPU";
  return {};
}

}  // namespace

/// mma and wmma.mma.
void FunctionDecoder::multiply_matrices(const Ins& ins) {
  const ptx::Modifiers& mod = ins.mod;
  const std::string text(mod.text);
  const bool wmma = ins.op == Opcode::wmma_mma;
  const MatrixTypes t = types_of(ins);
  const Product* product = product_of(ins, t);
  if (product == nullptr)
    fail("'" + text +
         "' is a shape or a combination of types that the simulated GPU does not have");
  if (const std::string_view wrong = wrong_modifiers(ins, *product, t.d); !wrong.empty())
    fail(text + std::string(wrong));

  const Tiling tiles = tiling(mod.m, mod.n);
  const unsigned rows = tiles.rows, count = tiles.down * tiles.across;
  // k is a power of two, 4 to 256.
  const Handler handler = handlers().mma[static_cast<std::size_t>(product->format)][rows == 16]
                                        [static_cast<unsigned>(std::countr_zero(mod.k)) - 2];
  const unsigned bytes = product->format == MmaFormat::f64 ? 8 : 4;
  const auto c_registers = [&](PT type) {
    return count * registers_of_c(rows, type == PT::f16 ? 16 : 32);
  };
  const unsigned a_used = tiles.down * registers_of_a(rows, mod.k, product->bits);
  const unsigned b_used = tiles.across * registers_of_b(mod.k, product->bits);
  const bool whole = wmma && product->format == MmaFormat::f16;
  std::vector<Ref> a = fragment(at(ins, 1), whole ? 8 : a_used, bytes, false);
  std::vector<Ref> b = fragment(at(ins, 2), whole ? 8 : b_used, bytes, false);
  const std::vector<Ref> c = fragment(at(ins, 3), c_registers(t.c), bytes, false);
  a.resize(a_used);
  b.resize(b_used);
  std::vector<Ref>& list =
      p_.lists.emplace_back(fragment(at(ins, 0), c_registers(t.d), bytes, true));
  for (const auto& part : {c, a, b}) list.insert(list.end(), part.begin(), part.end());
  const bool second_a = t.a != kind_of(t.a) || mod.combine == ptx::BoolOp::xor_;
  const bool second_b = t.b != kind_of(t.b);
  Op& o = emit(handler);
  o.list = list.data();
  o.x = static_cast<std::uint8_t>(tiles.down);
  o.y = static_cast<std::uint8_t>(tiles.across);
  o.z = static_cast<std::uint8_t>((t.c == PT::f16 ? kMmaHalfC : 0) |
                                  (t.d == PT::f16 ? kMmaHalfD : 0) | (mod.sat ? kMmaSatFinite : 0) |
                                  (second_a ? kMmaSecondA : 0) | (second_b ? kMmaSecondB : 0));
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::tensor;
}

}  // namespace simgpu::exec
