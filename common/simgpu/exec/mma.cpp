// mma.sync and wmma.mma (PTX ISA 9.7.15.5 and 9.7.15.4): decoding and reports. The handlers are in
// kernels/mma.cpp, where elements lie is in fragments.hpp.
//
// Arithmetic. The ISA leaves open in which order and how precisely a tensor core adds, and real
// ones differ: they align the products of a few k to the largest and cut off low bits. Here:
//   f16, bf16, tf32   Products are exact. C and the k products are added in order of k in double
//                     and rounded once, to nearest even, to the type of D. tf32 ignores the low 13
//                     bits of its operands. Compare with hardware by tolerance, or with data whose
//                     sums are exact in FP32 (small integers): then every order gives the same bits.
//   f64               A chain of fused multiply-adds over k that begins with C: this is what
//                     hardware does, bit for bit.
//   s8, u8            Exact; the sum with C wraps around, or clamps with .satfinite.
// NaN results are the canonical 0x7fffffff (0x7fff), except in FP64.
#include "common/simgpu/exec/mma.hpp"

#include <bit>
#include <cstdio>

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
  if (m.type3 == PT::none) return {m.type, PT::f16, PT::f16, m.type2};
  return {m.type, m.type2, m.type3, m.type4};
}
bool is_byte(PT t) {
  return t == PT::s8 || t == PT::u8;
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

/// mma and wmma.mma.
void FunctionDecoder::multiply_matrices(const Ins& ins) {
  const ptx::Modifiers& mod = ins.mod;
  const std::string text(mod.text);
  const bool wmma = ins.op == Opcode::wmma_mma;
  const MatrixTypes t = types_of(ins);
  const unsigned m = mod.m, n = mod.n, k = mod.k;
  auto is = [&](unsigned wm, unsigned wn, unsigned wk) { return m == wm && n == wn && k == wk; };
  const bool wide = is(16, 16, 16) || is(32, 8, 16) || is(8, 32, 16);  // wmma's
  bool ok = false;
  MmaFormat format = MmaFormat::count_;
  unsigned bits = 0;
  if (t.a == PT::f16 && t.b == PT::f16) {
    format = MmaFormat::f16;
    bits = 16;
    const bool sums = (t.d == PT::f16 || t.d == PT::f32) && (t.c == PT::f16 || t.c == PT::f32);
    ok = sums && (wmma ? wide : t.d == t.c && (is(16, 8, 8) || is(16, 8, 16)));
  } else if (t.a == PT::bf16 && t.b == PT::bf16) {
    format = MmaFormat::bf16;
    bits = 16;
    ok = t.d == PT::f32 && t.c == PT::f32 && (wmma ? wide : is(16, 8, 8) || is(16, 8, 16));
  } else if (t.a == PT::tf32 && t.b == PT::tf32) {
    format = MmaFormat::tf32;
    bits = 32;
    ok = t.d == PT::f32 && t.c == PT::f32 && (wmma ? is(16, 16, 8) : is(16, 8, 4) || is(16, 8, 8));
  } else if (t.a == PT::f64 && t.b == PT::f64) {
    format = MmaFormat::f64;
    bits = 64;
    ok = t.d == PT::f64 && t.c == PT::f64 &&
         (is(8, 8, 4) || (!wmma && (is(16, 8, 4) || is(16, 8, 8) || is(16, 8, 16))));
  } else if (is_byte(t.a) && is_byte(t.b)) {
    format = MmaFormat::s8;
    bits = 8;
    ok = t.d == PT::s32 && t.c == PT::s32 &&
         (wmma ? wide && t.a == t.b : is(8, 8, 16) || is(16, 8, 16) || is(16, 8, 32));
  }
  if (!ok)
    fail("'" + text +
         "' is a shape or a combination of types that the simulated GPU does not have");
  if (!wmma && (!mod.row_a || mod.row_b)) fail(text + " must be .row.col");
  if (mod.rounding != ptx::Rounding::none && mod.rounding != ptx::Rounding::rn)
    fail(text + " with another rounding than .rn is not supported by the simulated GPU");
  if (mod.sat && format != MmaFormat::s8 && !(wmma && t.d == PT::f16))
    fail(text + " has no .satfinite form on the simulated GPU");

  const Tiling tiles = tiling(m, n);
  const unsigned rows = tiles.rows, count = tiles.down * tiles.across;
  const Handler handler =
      handlers().mma[static_cast<std::size_t>(format)][rows == 16][k == 4    ? 0
                                                                   : k == 8  ? 1
                                                                   : k == 16 ? 2
                                                                             : 3];
  const unsigned bytes = format == MmaFormat::f64 ? 8 : 4;
  const unsigned d_count = count * registers_of_c(rows, t.d == PT::f16 ? 16 : 32);
  const unsigned c_count = count * registers_of_c(rows, t.c == PT::f16 ? 16 : 32);
  const unsigned a_used = tiles.down * registers_of_a(rows, k, bits);
  const unsigned b_used = tiles.across * registers_of_b(k, bits);
  const bool whole = wmma && format == MmaFormat::f16;
  std::vector<Ref> a = fragment(at(ins, 1), whole ? 8 : a_used, bytes, false);
  std::vector<Ref> b = fragment(at(ins, 2), whole ? 8 : b_used, bytes, false);
  const std::vector<Ref> c = fragment(at(ins, 3), c_count, bytes, false);
  a.resize(a_used);
  b.resize(b_used);
  std::vector<Ref>& list = p_.lists.emplace_back(fragment(at(ins, 0), d_count, bytes, true));
  for (const std::vector<Ref>* part :
       {&c, static_cast<const std::vector<Ref>*>(&a), static_cast<const std::vector<Ref>*>(&b)})
    list.insert(list.end(), part->begin(), part->end());
  Op& o = emit(handler);
  o.list = list.data();
  o.x = static_cast<std::uint8_t>(tiles.down);
  o.y = static_cast<std::uint8_t>(tiles.across);
  o.z = static_cast<std::uint8_t>((t.c == PT::f16 ? kMmaHalfC : 0) |
                                  (t.d == PT::f16 ? kMmaHalfD : 0) | (mod.sat ? kMmaSatFinite : 0) |
                                  (t.a == PT::u8 ? kMmaUnsignedA : 0) |
                                  (t.b == PT::u8 ? kMmaUnsignedB : 0));
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::tensor;
}

}  // namespace simgpu::exec
