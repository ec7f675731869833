// Arrays that ptxas keeps in registers although their indices are not known. Each case was compiled by nvcc 13.0 for sm_80:
// `float a[n]` is filled from memory, and then read, or written, at indices that come from memory.

#include <algorithm>
#include <string>

#include "common/catch2.hpp"
#include "common/simgpu/count/kept_arrays.hpp"
#include "common/simgpu/count/local_vectors.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

/// `accesses` with the index in %rd3 behind n stores of `type`, an element of `bytes` each.
bool keeps(int n, int loads, int stores, const std::string& type = "f32", int bytes = 4,
           const std::string& more = "", const std::string& loop = "") {
  std::string text = R"(
.visible .entry k(.param .u64 index)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>; .reg .f64 %d<3>; .reg .b16 %h<3>; .reg .pred %p<3>;
  .reg .b64 %SP; .reg .b64 %SPL;
  .local .align 8 .b8 __local_depot0[)" +
                     std::to_string(n * bytes) + R"(];
  mov.u64 %SPL, __local_depot0; cvta.local.u64 %SP, %SPL; add.u64 %rd1, %SPL, 0;
  ld.param.u64 %rd2, [index]; add.s64 %rd3, %rd1, %rd2;
)";
  const std::string value = type == "f32" ? "%f1" : type == "f64" ? "%d1" : "%h1";
  for (int i = 0; i < n; ++i)
    text += "  st.local." + type + " [%rd1+" + std::to_string(i * bytes) + "], " + value + ";\n";
  text += loop;
  // Each at an index of its own.
  for (int i = 0; i < loads + stores; ++i) {
    text += "  add.s64 %rd3, %rd1, %rd2; add.s64 %rd2, %rd2, 4;\n";
    text += i < loads ? "  ld.local." + type + " " + value + ", [%rd3];\n"
                      : "  st.local." + type + " [%rd3], " + value + ";\n";
  }
  if (!loop.empty()) text += "  setp.ne.u64 %p1, %rd2, 0; @%p1 bra again;\n";
  const ptx::Module m = ptx::parse(ptx_module(text + more + "  ret;\n}"));
  const ptx::Function& f = m.functions[0];
  const std::vector<bool> kept = count::find_kept_accesses(m, f, count::find_local_vectors(m, f));
  return std::find(kept.begin(), kept.end(), true) != kept.end();
}

TEST_CASE("small arrays with unknown indices are kept in registers", "[count][kept_arrays]") {
  struct Case {
    int n, loads, stores;
    bool kept;
  };
  for (const auto& [n, loads, stores, kept] :
       {Case{4, 24, 0, true}, {6, 16, 0, true},  {7, 24, 0, true},  {8, 10, 0, true},
        {8, 12, 0, false},    {8, 4, 6, true},   {8, 4, 8, false},  {12, 5, 0, true},
        {12, 6, 0, false},    {12, 1, 4, true},  {12, 2, 4, false}, {16, 4, 0, true},
        {16, 5, 0, false},    {20, 4, 0, false}, {32, 2, 0, true},  {32, 3, 0, false},
        {32, 1, 1, true},     {64, 2, 0, true},  {80, 2, 0, true},  {96, 1, 0, false}}) {
    INFO(n << " elements, " << loads << " loads, " << stores << " stores");
    CHECK(keeps(n, loads, stores) == kept);
  }
}

TEST_CASE("what ptxas does not keep", "[count][kept_arrays]") {
  CHECK(keeps(8, 1, 0));
  CHECK_FALSE(keeps(8, 1, 0, "f64", 8));
  CHECK_FALSE(keeps(8, 1, 0, "u16", 2));
  // Nobody knows who reads it, once its address is stored or becomes a generic one.
  CHECK_FALSE(keeps(8, 1, 0, "f32", 4, "  st.global.u64 [%rd2], %rd3;\n"));
  CHECK_FALSE(keeps(8, 1, 0, "f32", 4, "  add.u64 %rd5, %SP, 0; ld.f32 %f2, [%rd5];\n"));
  // No index: compilers keep those in registers themselves, and what is left is as it says.
  CHECK_FALSE(keeps(8, 0, 0));
}

TEST_CASE("a loop that is not unrolled", "[count][kept_arrays]") {
  CHECK(keeps(12, 1, 0, "f32", 4, "", "again:\n"));
  CHECK_FALSE(keeps(16, 1, 0, "f32", 4, "", "again:\n"));
  CHECK_FALSE(keeps(8, 1, 1, "f32", 4, "", "again:\n"));
  CHECK(keeps(6, 1, 1, "f32", 4, "", "again:\n"));
}

TEST_CASE("addresses that no compiler writes", "[count][kept_arrays]") {
  CHECK_FALSE(keeps(8, 1, 0, "f32", 4, "  st.local.u32 [16], 5;\n"));
  const ptx::Module m = ptx::parse(ptx_module(
      ".visible .entry k()\n{\n  .local .align 8 .b8 a[32];\n  st.local.u32 [16], 5;\n  ret;\n}"));
  const ptx::Function& f = m.functions[0];
  CHECK(count::find_kept_accesses(m, f, count::find_local_vectors(m, f)) ==
        std::vector<bool>(f.body.size(), false));
}

}  // namespace
}  // namespace simgpu::test
