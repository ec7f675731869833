// Which products ptxas takes into sums, as seen in its machine code (count/fused_sums.hpp).
#include "common/simgpu/count/fused_sums.hpp"

#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using count::Fusion;

// %f1 and %f2 are loaded, %f3 is the kernel's parameter, %f9 differs from round to round.
const char* const kPrologue =
    "ld.param.u64 %rd1, [p]; ld.param.f32 %f3, [c]; ld.param.f64 %d3, [d]; ld.global.f32 %f1, [%rd1]; "
    "ld.global.f32 %f2, [%rd1+4]; ld.global.f64 %d1, [%rd1]; setp.eq.f32 %p1, %f1, %f2;\n";

/// What becomes of the sums and products of floats behind the prologue: "*" a product, "+" a sum, "fma"; "-" nothing.
std::string fused(const std::string& body) {
  const ptx::Module m = ptx::parse(
      ".version 7.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 p, .param .f32 c, .param .f64 d)\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .f32 %f<40>; .reg .b64 %rd<4>; .reg .f64 %d<10>;\n" +
      (kPrologue + body) + "\nret;\n}\n");
  const ptx::Function& function = m.functions[0];
  const std::vector<Fusion> found = count::find_fusions(function);
  std::string text;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const ptx::Opcode op = function.body[i].op;
    if (op != ptx::Opcode::add && op != ptx::Opcode::sub && op != ptx::Opcode::mul &&
        op != ptx::Opcode::fma)
      continue;
    const bool is_fused =
        found[i] == Fusion::joined || (op == ptx::Opcode::fma && found[i] == Fusion::as_written);
    text += found[i] == Fusion::taken_in ? "-"
            : is_fused                   ? "fma"
            : op == ptx::Opcode::mul     ? "*"
                                         : "+";
    text += ' ';
  }
  return text;
}

}  // namespace

TEST_CASE("products go into the sums of other blocks", "[count]") {
  const std::string loop = "L: ld.global.f32 %f9, [%rd1+8];\n", back = "@%p1 bra L;";
  // Into a loop only if one factor takes no register.
  CHECK(fused("mul.f32 %f4, %f1, %f3;\n" + loop + "add.f32 %f5, %f9, %f4;" + back) == "- fma ");
  CHECK(fused("mul.f32 %f4, %f1, 0f40400000;\n" + loop + "sub.f32 %f5, %f4, %f9;" + back) ==
        "- fma ");
  CHECK(fused("mul.f32 %f4, %f1, %f2;\n" + loop + "add.f32 %f5, %f9, %f4;" + back) == "* + ");
  CHECK(fused("mul.f64 %d4, %d3, %d1;\nL: add.f64 %d5, %d1, %d4;" + back) == "- fma ");
  // All in one other block, or in two.
  CHECK(
      fused(
          "mul.f32 %f4, %f1, %f2;\n@%p1 bra E;\nadd.f32 %f5, %f4, %f3; sub.f32 %f6, %f4, %f1;\nE:") ==
      "- fma fma ");
  CHECK(
      fused(
          "mul.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f3;\n@%p1 bra E;\nsub.f32 %f6, %f4, %f1;\nE:") ==
      "* + + ");
  CHECK(
      fused(
          "mul.f32 %f4, %f3, %f2;\nadd.f32 %f5, %f4, %f3;\n@%p1 bra E;\nsub.f32 %f6, %f4, %f1;\nE:") ==
      "- fma fma ");
}

TEST_CASE("products that are needed besides stay", "[count]") {
  CHECK(
      fused(
          "mul.f32 %f4, %f1, %f3; st.global.f32 [%rd1], %f4;\nL: add.f32 %f5, %f4, %f2;\n@%p1 bra L;") ==
      "* + ");
  CHECK(fused("mul.f32 %f4, %f1, %f3;\nL: add.f32 %f5, %f4, %f4;\n@%p1 bra L;") == "* + ");
  // __fmul_rn and __fadd_rn ask for a rounding each.
  CHECK(fused("mul.rn.f32 %f4, %f1, %f3;\nL: add.f32 %f5, %f4, %f2;\n@%p1 bra L;") == "* + ");
  CHECK(fused("mul.f32 %f4, %f1, %f3;\nL: add.rn.f32 %f5, %f4, %f2;\n@%p1 bra L;") == "* + ");
  // clang has joined one sum, and computes the product for the other: ptxas joins none, or both.
  CHECK(
      fused("fma.rn.f32 %f5, %f2, %f1, %f3; mul.f32 %f4, %f1, %f2;\n@%p1 bra E;\nsub.f32 %f6, %f4, "
            "%f1;\nE:") == "+ * + ");
  CHECK(
      fused("fma.rn.f32 %f5, %f1, %f3, %f2; mul.f32 %f4, %f1, %f3;\n@%p1 bra E;\nsub.f32 %f6, %f4, "
            "%f1;\nE:") == "fma - fma ");
  // a b + b a is both in nvcc, too.
  CHECK(fused("mul.f32 %f4, %f1, %f2; fma.rn.f32 %f5, %f1, %f2, %f4;") == "* fma ");
  // A register that has changed in between holds another factor.
  CHECK(
      fused(
          "mov.f32 %f9, %f1;\nfma.rn.f32 %f5, %f9, %f2, %f3;\nmov.f32 %f9, %f2;\nmul.f32 %f4, %f9, "
          "%f2; st.global.f32 [%rd1], %f4;") == "fma * ");
  // One sum takes one product.
  CHECK(
      fused(
          "mul.f32 %f4, %f1, %f3; mul.f32 %f5, %f2, %f3;\nL: add.f32 %f6, %f4, %f5;\n@%p1 bra L;") ==
      "- * fma ");
}

TEST_CASE("joined products and sums are counted as ptxas has them", "[count]") {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out, .param .f32 c)
{
  .reg .f32 %f<8>; .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  ld.param.f32 %f1, [c];
  ld.global.f32 %f2, [%rd1];
  mul.f32 %f3, %f1, %f2;
  mov.u32 %r1, 0;
L:
  ld.global.f32 %f4, [%rd1+4];
  add.f32 %f5, %f4, %f3;
  st.global.f32 [%rd1+4], %f5;
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, 5;
  @%p1 bra L;
  ret;
})"));
  const DevicePtr out = gpu.upload(std::vector<float>{3.0f, 1.0f}, "out");
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {1, 1, 1}, out, 2.0f);
  CHECK(r.total.fma_f32 == 5);
  CHECK(r.total.mul_f32 == 0);
  CHECK(gpu.download<float>(out, 2)[1] == 31.0f);
}

}  // namespace simgpu::test
