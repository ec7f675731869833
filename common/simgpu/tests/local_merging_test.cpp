// What nvcc and ptxas make of accesses to local memory, rule by rule and against machine code.
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/count/load_merging.hpp"
#include "common/simgpu/count/local_vectors.hpp"
#include "common/simgpu/count/store_merging.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

/// The accesses that are left, by width: "2 LDL.128 1 STL.64".
std::string made_of(const ptx::Module& module, const ptx::Function& function) {
  const std::vector<count::Vector> vectors = count::find_local_vectors(module, function);
  const auto loads = count::merge_local_loads(module, function, vectors),
             stores = count::merge_local_stores(module, function, vectors);
  const auto text = [](const std::vector<count::MergedAccess>& accesses, const std::string& name) {
    const std::map<unsigned, std::string> widths{
        {16, ".128"}, {8, ".64"}, {4, ""}, {2, ".16"}, {1, ".8"}};
    std::map<unsigned, unsigned, std::greater<>> number;
    for (const count::MergedAccess& access : accesses)
      if (access.bytes != 0) ++number[access.bytes];
    std::string all;
    for (const auto& [bytes, count] : number)
      all += " " + std::to_string(count) + " " + name + widths.at(bytes);
    return all;
  };
  const std::string all = text(loads, "LDL") + text(stores, "STL");
  return all.empty() ? "" : all.substr(1);
}

/// %rd5: the array `a`. %rd6, %rd15: two places in it that are multiples of 16 bytes, %rd7: of 8, %rd8: of 4, %rd9: of 1.
/// %rd16: a generic address, perhaps in `a`; %r51: one in shared memory; %rd2: one in global memory.
std::string made(const std::string& body,
                 const std::string& arrays = ".local .align 16 .b8 a[1024];") {
  const ptx::Module m = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      ".reg .pred %p<4>; .reg .b16 %h<40>; .reg .b32 %r<60>; .reg .f32 %f<40>; .reg .f64 %d<10>; "
      ".reg .b64 %rd<60>; .shared .align 16 .b8 s[4096];\n" +
      arrays +
      "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, "
      "%rd2; ld.global.u32 %r2, [%rd2]; and.b32 %r3, %r2, 15; mov.u64 %rd5, a;\n"
      "mul.wide.u32 %rd10, %r3, 16; add.u64 %rd6, %rd5, %rd10;\n"
      "mul.wide.u32 %rd11, %r3, 8; add.u64 %rd7, %rd5, %rd11;\n"
      "mul.wide.u32 %rd12, %r3, 4; add.u64 %rd8, %rd5, %rd12;\n"
      "cvt.u64.u32 %rd13, %r3; add.u64 %rd9, %rd5, %rd13;\n"
      "mul.wide.u32 %rd14, %r1, 16; add.u64 %rd15, %rd5, %rd14; cvta.local.u64 %rd17, %rd15;\n"
      "selp.b64 %rd16, %rd17, %rd1, %p2; mov.u32 %r50, s; mad.lo.u32 %r51, %r1, 16, %r50;\n" +
      body + "\nret;\n}\n");
  return made_of(m, m.functions[0]);
}

std::string store(const std::vector<int>& words, const std::string& at = "%rd6") {
  std::string text;
  for (const int w : words)
    text += "st.local.u32 [" + at + "+" + std::to_string(4 * w) + "], %r2;\n";
  return text;
}
std::string load(const std::vector<int>& words, const std::string& at = "%rd6") {
  std::string text;
  for (const int w : words)
    text += "ld.local.u32 %r" + std::to_string(20 + w) + ", [" + at + "+" + std::to_string(4 * w) +
            "];\n";
  return text;
}
/// `lines` of `what`, in which # is the number of the line and @ its address, `step` bytes on.
std::string lines(int n, int step, const std::string& what) {
  std::string text;
  for (int i = 0; i < n; ++i)
    for (const char c : what)
      text += c == '#'   ? std::to_string(i)
              : c == '@' ? "[%rd6+" + std::to_string(i * step) + "]"
                         : std::string(1, c);
  return text;
}

// Every expectation in the next cases was read off ptxas 13.0, for sm_80 and sm_90, which do the same.

TEST_CASE("neighbouring stores to local memory become one", "[count][local_merging]") {
  CHECK(made(store({0, 1})) == "1 STL.64");
  CHECK(made(store({1, 0})) == "1 STL.64");
  CHECK(made(store({1, 2})) == "2 STL");
  CHECK(made(store({0, 1, 2, 3})) == "1 STL.128");
  CHECK(made(store({2, 0, 3, 1})) == "1 STL.128");
  CHECK(made(store({0, 1, 2})) == "1 STL.64 1 STL");
  CHECK(made(store({0, 2, 3})) == "1 STL.64 1 STL");
  CHECK(made(store({1, 2, 3})) == "1 STL.64 1 STL");
  CHECK(made(store({0, 1, 2, 3, 4, 5, 6, 7})) == "2 STL.128");
  CHECK(made(store({0, 1, 2, 3}, "%rd5")) == "1 STL.128");
  CHECK(made(store({0, 1, 2, 3}, "a")) == "1 STL.128");
  CHECK(made(store({0, 1, 0})) == "1 STL.64 1 STL");
  CHECK(made(store({0, 0, 1})) == "1 STL.64 1 STL");
  CHECK(made(store({0, 1, 2, 0, 3})) == "1 STL.64 3 STL");
  CHECK(made(store({0, 128, 1, 129})) == "4 STL");
  CHECK(made(store({0}) + store({0}, "%rd15") + store({1}) + store({1}, "%rd15")) == "4 STL");
  CHECK(made(store({0, 1}) + store({0, 1}, "%rd15")) == "2 STL.64");
  CHECK(made("@%p1 " + store({0}) + "@%p1 " + store({1})) == "2 STL");
  CHECK(made(store({0}) + "@%p1 " + store({1})) == "2 STL");
}

TEST_CASE("neighbouring loads from local memory become one", "[count][local_merging]") {
  CHECK(made(load({0, 1})) == "1 LDL.64");
  CHECK(made(load({2, 3})) == "1 LDL.64");
  CHECK(made(load({1, 2})) == "2 LDL");
  CHECK(made(load({0, 2})) == "2 LDL");
  CHECK(made(load({0, 3})) == "2 LDL");
  CHECK(made(load({0, 0})) == "1 LDL");
  CHECK(made(load({0, 1, 2, 3})) == "1 LDL.128");
  CHECK(made(load({2, 0, 3, 1})) == "1 LDL.128");
  // Of shared memory, three of four are loaded as four.
  CHECK(made(load({0, 1, 2})) == "1 LDL.64 1 LDL");
  CHECK(made(load({0, 1, 3})) == "1 LDL.64 1 LDL");
  CHECK(made(load({1, 2, 3})) == "1 LDL.64 1 LDL");
  CHECK(made(load({1, 2, 3, 4, 5, 6, 7, 8})) == "1 LDL.128 1 LDL.64 2 LDL");
  CHECK(made(load({0, 3, 4, 7})) == "4 LDL");
  CHECK(made(load({0, 1, 2, 3}, "%rd5")) == "1 LDL.128");
}

TEST_CASE("a frame in local memory begins at a multiple of 8", "[count][local_merging]") {
  const auto aligned = [](const std::string& bytes, const std::string& body) {
    return made(body, ".local .align " + bytes + " .b8 a[1020];");
  };
  for (const std::string at : {"%rd6", "%rd5"}) {
    CHECK(aligned("4", store({0, 1, 2, 3}, at)) == "2 STL.64");
    CHECK(aligned("8", store({0, 1, 2, 3}, at)) == "2 STL.64");
    CHECK(aligned("16", store({0, 1, 2, 3}, at)) == "1 STL.128");
    CHECK(aligned("4", load({0, 1, 2, 3}, at)) == "2 LDL.64");
    CHECK(aligned("8", load({0, 1, 2, 3}, at)) == "2 LDL.64");
    CHECK(aligned("16", load({0, 1, 2, 3}, at)) == "1 LDL.128");
  }
  CHECK(aligned("2", store({0, 1, 2, 3})) == "2 STL.64");
  CHECK(made(store({0, 1, 2, 3}, "%rd7")) == "2 STL.64");
  CHECK(made(store({0, 1, 2, 3}, "%rd8")) == "4 STL");
  CHECK(made(load({0, 1, 2, 3}, "%rd7")) == "2 LDL.64");
  CHECK(made(load({0, 1, 2, 3}, "%rd8")) == "4 LDL");
  CHECK(made(store({0, 1, 2, 3}, "%rd9")) == "4 STL");
}

TEST_CASE("sizes of elements in local memory", "[count][local_merging]") {
  CHECK(made(lines(2, 2, "st.local.u16 @, %h#;\n")) == "1 STL");
  CHECK(made(lines(4, 2, "st.local.u16 @, %h#;\n")) == "1 STL.64");
  CHECK(made(lines(8, 2, "st.local.u16 @, %h#;\n")) == "2 STL.64");
  CHECK(made(lines(4, 1, "st.local.u8 @, %r1;\n")) == "4 STL.8");
  CHECK(made(lines(2, 8, "st.local.f64 @, %d#;\n")) == "1 STL.128");
  CHECK(made(store({0}) + "st.local.f32 [%rd6+4], %f1;") == "1 STL.64");
  CHECK(made("st.local.f64 [%rd6], %d1;" + store({2, 3})) == "2 STL.64");
  CHECK(made(lines(2, 8, "st.local.v2.u32 @, {%r1, %r2};\n")) == "1 STL.128");
  CHECK(made("st.local.v2.u32 [%rd6], {%r1, %r2};" + store({2})) == "1 STL.64 1 STL");
  CHECK(made(lines(4, 2, "st.local.v2.u8 @, {%h1, %h2};\n")) == "1 STL.64");
  CHECK(made(lines(2, 4, "st.local.v4.u8 @, {%h1, %h2, %h3, %h4};\n")) == "1 STL.64");
  CHECK(made(lines(4, 4, "st.local.v4.u8 @, {%h1, %h2, %h3, %h4};\n")) == "1 STL.128");
  CHECK(made(lines(2, 4, "st.local.v2.u16 @, {%h1, %h2};\n")) == "1 STL.64");
  CHECK(made(lines(4, 4, "st.local.v2.u16 @, {%h1, %h2};\n")) == "1 STL.128");
  CHECK(made(lines(2, 8, "st.local.v4.u16 @, {%h1, %h2, %h3, %h4};\n")) == "1 STL.128");
  CHECK(made("st.local.v2.u16 [%rd6], {%h1, %h2};" + store({1})) == "1 STL.64");
  const std::string halves = lines(4, 2, "ld.local.u16 %h#, @;\n");
  CHECK(made(halves) == "1 LDL.64");
  CHECK(made(halves + "add.u16 %h0, %h0, %h1;") == "1 LDL 2 LDL.16");
  CHECK(made(halves + lines(4, 0, "cvt.rn.f32.s16 %f#, %h#;\n")) == "1 LDL.64");
  CHECK(made(halves + lines(4, 0, "cvt.f32.f16 %f#, %h#;\n")) == "1 LDL.64");
  CHECK(made(halves + lines(4, 0, "cvt.u32.u16 %r#, %h#; add.u32 %r#, %r#, %r2;\n")) == "4 LDL.16");
  CHECK(made(lines(4, 1, "ld.local.u8 %r#, @;\n")) == "4 LDL.8");
  CHECK(made(lines(2, 8, "ld.local.f64 %d#, @;\n")) == "1 LDL.128");
  CHECK(made(load({0}) + "ld.local.f32 %f1, [%rd6+4];") == "1 LDL.64");
  CHECK(made("ld.local.v2.u32 {%r20, %r21}, [%rd6]; ld.local.v2.u32 {%r22, %r23}, [%rd6+8];") ==
        "1 LDL.128");
  CHECK(made("ld.local.v2.u16 {%h1, %h2}, [%rd6]; ld.local.v2.u16 {%h3, %h4}, [%rd6+4];") ==
        "1 LDL.64");
}

TEST_CASE("what stands between stores to local memory", "[count][local_merging]") {
  const auto between = [](const std::string& text) {
    return made(store({0}) + text + "\n" + store({1}));
  };
  for (const char* text :
       {"ld.global.u32 %r11, [%rd2];", "st.global.u32 [%rd2], %r2;", "st.shared.u32 [%r51], %r2;",
        "ld.shared.u32 %r11, [%r51];", "red.global.add.u32 [%rd2], %r2;",
        "red.shared.add.u32 [%r51], %r2;", "shfl.sync.bfly.b32 %r11, %r2, 1, 31, -1;",
        "vote.sync.ballot.b32 %r11, %p1, -1;", "ld.acquire.gpu.global.u32 %r11, [%rd2];",
        "ld.volatile.global.u32 %r11, [%rd2];", "ld.volatile.shared.u32 %r11, [%r51];",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r11}, [%r51];"}) {
    INFO(text);
    CHECK(between(text) == "1 STL.64");
  }
  for (const char* text :
       {"bar.warp.sync -1;", "bar.sync 0;", "membar.cta;", "membar.gl;", "st.u32 [%rd16], %r2;",
        "red.add.u32 [%rd16], %r2;", "ld.u32 %r11, [%rd2];",
        "st.release.gpu.global.u32 [%rd2], %r2;", "cp.async.commit_group;",
        "cp.async.ca.shared.global [%r51], [%rd2], 4;", "add.u64 %rd6, %rd6, 16;",
        "@%p1 bra L; add.u32 %r2, %r2, 1; L:", "@%p1 bra L; st.global.u32 [%rd2], %r2; L:"}) {
    INFO(text);
    CHECK(between(text) == "2 STL");
  }
  CHECK(between("ld.local.u32 %r11, [%rd6+64];") == "1 LDL 2 STL");
  CHECK(between("ld.local.u32 %r11, [%rd15+64];") == "1 LDL 2 STL");
  CHECK(between("st.local.u32 [%rd15], %r2;") == "3 STL");
  CHECK(made(store({0, 1}) + load({16, 17}) + store({2, 3})) == "1 LDL.64 2 STL.64");
  CHECK(made(load({0}) + store({0}) + load({1}) + store({1}) + load({2}) + store({2})) ==
        "3 LDL 3 STL");
}

TEST_CASE("what stands between loads from local memory", "[count][local_merging]") {
  const auto between = [](const std::string& text) {
    return made(load({0, 1}) + text + "\n" + load({2, 3}));
  };
  for (const char* text :
       {"st.global.u32 [%rd2], %r2;", "ld.global.u32 %r11, [%rd2];", "st.shared.u32 [%r51], %r2;",
        "atom.global.add.u32 %r11, [%rd2], %r2;", "shfl.sync.bfly.b32 %r11, %r2, 1, 31, -1;",
        "ld.acquire.gpu.global.u32 %r11, [%rd2];", "st.release.gpu.global.u32 [%rd2], %r2;",
        "ld.volatile.shared.u32 %r11, [%r51];", "cp.async.commit_group;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r11}, [%r51];",
        "@%p1 bra L; add.u32 %r2, %r2, 1; L:", "@%p1 bra L; st.global.u32 [%rd2], %r2; L:"}) {
    INFO(text);
    CHECK(between(text) == "1 LDL.128");
  }
  for (const char* text :
       {"bar.warp.sync -1;", "bar.sync 0;", "membar.cta;", "membar.gl;", "st.u32 [%rd16], %r2;",
        "st.u32 [%rd2], %r2;", "red.add.u32 [%rd16], %r2;", "cp.async.wait_group 0;",
        "cp.async.ca.shared.global [%r51], [%rd2], 4;"}) {
    INFO(text);
    CHECK(between(text) == "2 LDL.64");
  }
  CHECK(between("st.local.u32 [%rd6+64], %r2;") == "2 LDL.64 1 STL");
  CHECK(between("st.local.u32 [%rd15], %r2;") == "2 LDL.64 1 STL");
  CHECK(between("@%p1 bra L; st.local.u32 [%rd15], %r2; L:") == "2 LDL.64 1 STL");
}

TEST_CASE("kernels with arrays in local memory agree with nvcc", "[count][local_merging]") {
  // LDL and STL in what nvcc 13.0 makes of ptx/local_arrays.cu, for sm_80 and sm_90; those with indices that are no
  // constants are among them: one STL for each array that is filled, one LDL where it is used.
  const std::map<std::string, std::string> made_by_nvcc{
      {"load_0_2", "1 LDL.64 1 LDL 1 STL"},
      {"load_1_2", "2 LDL 1 STL"},
      {"load_1_8", "1 LDL.128 1 LDL.64 2 LDL 1 STL"},
      {"load_0_6", "1 LDL.128 1 LDL.64 1 LDL 1 STL"},
      {"load_of_34", "4 LDL.64 1 STL"},
      {"load_of_33", "3 LDL.64 2 LDL 1 STL"},
      {"load_doubles", "1 LDL.128 1 LDL.64 1 STL.64"},
      {"load_shorts_8", "1 LDL.128 1 STL.16"},
      {"load_shorts_3", "1 LDL.64 1 STL.16"},
      {"load_shorts_6", "1 LDL.64 1 LDL 1 STL.16"},
      {"load_shorts_of_66", "2 LDL.64 1 STL.16"},
      {"load_shorts_of_65", "2 LDL.64 1 STL.16"},
      {"load_bytes_16", "1 LDL.128 1 STL.8"},
      {"load_bytes_7", "1 LDL.64 1 STL.8"},
      {"load_bytes_6", "1 LDL 1 LDL.16 1 STL.8"},
      {"load_bytes_of_132", "1 LDL.64 1 STL.8"},
      {"load_bytes_of_130", "4 LDL.16 1 STL.8"},
      {"load_bytes_of_131", "8 LDL.8 1 STL.8"},
      {"load_shorts_0_3", "1 LDL.64 1 STL.16"},
      {"store_1_3", "1 LDL 1 STL.64 2 STL"},
      {"store_1_8", "1 LDL 1 STL.128 1 STL.64 3 STL"},
      {"store_of_33", "1 LDL 3 STL.64 3 STL"},
      {"store_shorts_6", "1 LDL.16 1 STL.64 1 STL 1 STL.16"},
      {"store_shorts_of_65", "1 LDL.16 2 STL.64 1 STL.16"},
      {"store_bytes_12", "1 LDL.8 1 STL.64 1 STL 1 STL.8"},
      {"two_windows", "1 LDL 2 STL.128 1 STL"},
      {"two_arrays", "2 LDL 2 STL.128 2 STL"},
      {"two_arrays_of_33", "2 LDL 10 STL"},
      {"store_load_store", "2 LDL 2 STL.64 1 STL"},
      {"store_other_store", "2 LDL 1 STL.128 2 STL"},
      {"store_barrier_store", "1 LDL 2 STL.64 1 STL"},
      {"store_shuffle_store", "1 LDL 1 STL.128 1 STL"},
      {"store_atomic_store", "1 LDL 1 STL.128 1 STL"},
      {"store_if_store", "1 LDL 2 STL.64 1 STL"},
      {"store_at_28", "1 LDL 1 STL.128 1 STL"},
      {"store_at_30", "1 LDL 2 STL.64 1 STL"},
      {"load_barrier_load", "1 LDL.128 1 STL"},
      {"load_fence_load", "1 LDL.128 1 STL"},
      {"load_store_load", "2 LDL.64 2 STL"},
      {"load_other_load", "1 LDL.128 1 LDL 3 STL"},
      {"row_of_4", "1 LDL.128 1 STL"},
      {"row_of_3", "3 LDL 1 STL"},
      {"row_of_2", "1 LDL.64 1 STL"},
      {"scale", "2 LDL.128 1 LDL 2 STL.128 1 STL"},
      {"scale_of_33", "4 LDL.64 1 LDL 4 STL.64 1 STL"},
      {"shift_down", "1 LDL.128 1 LDL.64 3 LDL 2 STL.128 1 STL"},
      {"shift_up", "2 LDL.128 1 LDL 1 STL.128 1 STL.64 3 STL"},
      {"reverse", "2 LDL.128 1 LDL 2 STL.128 1 STL"},
      {"copy", "2 LDL.128 2 LDL 2 STL.128 2 STL"},
      {"three_sizes", "3 LDL.128 3 STL"},
      {"structs", "1 LDL.128 1 STL"},
  };
  for (const std::string clang : {"14", "22"}) {
    std::ifstream file("common/simgpu/tests/ptx/local_arrays.clang++-" + clang + ".ptx",
                       std::ios::binary);
    REQUIRE(file);
    std::stringstream text;
    text << file.rdbuf();
    const ptx::Module m = ptx::parse(text.str());
    CHECK(m.functions.size() == made_by_nvcc.size());
    for (const ptx::Function& function : m.functions) {
      INFO(clang << ' ' << function.name);
      CHECK(made_of(m, function) == made_by_nvcc.at(function.name));
    }
  }
}

TEST_CASE("merged accesses to local memory are counted once", "[count][local_merging]") {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<4>;
  .local .align 4 .b8 __local_depot0[32];
  .reg .b64 %SPL;
  mov.u64 %SPL, __local_depot0; add.u64 %rd1, %SPL, 0;
  st.local.u32 [%rd1], 7; st.local.u32 [%rd1+4], 7; st.local.u32 [%rd1+8], 7;
  st.local.u32 [%rd1+12], 7; st.local.u32 [%rd1+16], 7;
  ld.local.u32 %r1, [%rd1+8]; ld.local.u32 %r2, [%rd1+12]; ld.local.u32 %r3, [%rd1+16];
  ret;
})"));
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {32, 1, 1}, std::uint64_t{0});
  CHECK(to_text(r.findings) == "");
  CHECK(r.total.local_store_requests == 2);  // 16 bytes and 4
  CHECK(r.total.local_load_requests == 2);   // 8 and 4
}

TEST_CASE("arguments of printf are told apart from other stores to local memory",
          "[count][printed]") {
  // An array of two elements, and behind it printf's arguments. The second call has none.
  Gpu gpu(ptx_module(R"(
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 1 .b8 text[4] = {37, 100, 32, 0};
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  .local .align 8 .b8 __local_depot0[24];
  .reg .b64 %SP, %SPL;
  mov.u64 %SPL, __local_depot0; cvta.local.u64 %SP, %SPL;
  add.u64 %rd1, %SPL, 0; add.u64 %rd2, %SP, 8; add.u64 %rd3, %SPL, 8;
  st.local.u32 [%rd1], 7; st.local.u32 [%rd1+4], 7;
  st.local.u32 [%rd3], 5; st.local.u64 [%rd3+8], 6;
  mov.u64 %rd4, text; cvta.global.u64 %rd5, %rd4;
  { .param .b64 param0; st.param.b64 [param0+0], %rd5;
    .param .b64 param1; st.param.b64 [param1+0], %rd2;
    .param .b32 retval0; call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %r1, [retval0+0]; }
  { .param .b64 param0; st.param.b64 [param0+0], %rd5;
    .param .b64 param1; st.param.b64 [param1+0], 0;
    .param .b32 retval0; call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %r2, [retval0+0]; }
  ld.local.u32 %r3, [%rd1+4];
  ret;
})"));
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {1, 1, 1}, std::uint64_t{0});
  CHECK(r.total.printed_store_requests == 2);
  CHECK(r.total.local_store_requests == 3);  // 8 bytes of the array beside
  CHECK(r.total.local_load_requests == 1);
}

}  // namespace
}  // namespace simgpu::test
