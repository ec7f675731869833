// The model of ptxas's merging of shared loads, rule by rule and against machine code.
#include "common/simgpu/count/load_merging.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/tests/math_call.hpp"

namespace {

using namespace simgpu;
using count::MergedAccess;

/// Loads left of each width (bytes), ptxas's LDS.
using Widths = std::map<unsigned, unsigned>;

ptx::Module parse_body(const std::string& body,
                       const std::string& arrays = ".shared .align 4 .b8 s[16384];") {
  return ptx::parse(
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      ".reg .pred %p<4>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .f32 %f<40>; .reg .b64 %rd<20>; "
      ".reg .f64 %d<10>;\n" +
      arrays + "\nmov.u32 %r1, %tid.x; mov.u64 %rd2, s;\n" + body + "\nret;\n}\n");
}

Widths widths(const ptx::Module& module, const ptx::Function& function) {
  Widths result;
  for (const MergedAccess& load :
       count::merge_shared_loads(module, function, count::find_narrowed_loads(function)))
    if (load.bytes != 0) ++result[load.bytes];
  return result;
}
Widths widths(const std::string& body,
              const std::string& arrays = ".shared .align 4 .b8 s[16384];") {
  const ptx::Module m = parse_body(body, arrays);
  return widths(m, m.functions[0]);
}

/// %rd3 = s + tid * scale
std::string base(int scale) {
  return "mul.wide.u32 %rd4, %r1, " + std::to_string(scale) + "; add.s64 %rd3, %rd2, %rd4;\n";
}
std::string load(const std::vector<int>& words, const std::string& type = "f32",
                 const std::string& reg = "%f", int bytes = 4) {
  std::string text;
  for (const int w : words)
    text += "ld.shared." + type + " " + reg + std::to_string(w) + ", [%rd3+" +
            std::to_string(w * bytes) + "];\n";
  return text;
}

// Every expectation in the next cases was read off ptxas 13.0, sm_80.

TEST_CASE("alignment decides", "[count][load_merging]") {
  CHECK(widths(base(16) + load({0, 1, 2, 3})) == Widths{{16, 1}});
  CHECK(widths(base(8) + load({0, 1, 2, 3})) == Widths{{8, 2}});
  CHECK(widths(base(4) + load({0, 1, 2, 3})) == Widths{{4, 4}});
  CHECK(widths(base(132) + load({0, 1, 2, 3})) == Widths{{4, 4}});
  CHECK(widths("shl.b32 %r2, %r1, 5; or.b32 %r2, %r2, 16; cvt.u64.u32 %rd4, %r2; add.s64 %rd3, "
               "%rd2, %rd4;\n" +
               load({0, 1, 2, 3})) == Widths{{16, 1}});
  CHECK(widths("mad.wide.s32 %rd3, %r1, 16, %rd2;\n" + load({0, 1, 2, 3})) == Widths{{16, 1}});
  CHECK(widths("and.b32 %r2, %r1, 0xfffffff0; cvt.u64.u32 %rd4, %r2; add.s64 %rd3, %rd2, %rd4;\n" +
               load({0, 1, 2, 3})) == Widths{{16, 1}});
  CHECK(widths("cvt.u64.u32 %rd4, %r1; add.s64 %rd3, %rd2, %rd4;\n" + load({0, 1, 2, 3})) ==
        Widths{{4, 4}});
  CHECK(widths(base(16) + "L: " + load({0, 1, 2, 3}) + "add.s64 %rd3, %rd3, 8; @%p1 bra L;") ==
        Widths{{8, 2}});
  CHECK(widths(base(16) + "L: " + load({0, 1, 2, 3}) + "add.s64 %rd3, %rd3, 16; @%p1 bra L;") ==
        Widths{{16, 1}});
}

TEST_CASE("an index that clang 22 writes with |", "[count][load_merging]") {
  // as[t / 16 * 16 + 12 ... 15] as nvcc's front end leaves it is at one register plus constants; clang makes
  // t | 15 of the last one's index, for which ptxas alone would not merge it.
  const auto four = [](const std::string& mask, const std::string& last) {
    return widths(
        "and.b32 %r2, %r1, " + mask + "; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd3, %rd2, %rd4;\n" +
        load({4, 5, 6}) + last +
        "mul.wide.u32 %rd6, %r3, 4; add.s64 %rd7, %rd2, %rd6; ld.shared.f32 %f7, [%rd7];\n");
  };
  CHECK(four("1016", "or.b32 %r3, %r1, 7;") == Widths{{16, 1}});  // a thread's number is below 1024
  CHECK(four("-8", "or.b32 %r3, %r1, 7;") == Widths{{16, 1}});
  CHECK(four("1016", "or.b32 %r3, %r2, 7;") == Widths{{16, 1}});
  CHECK(four("1008", "or.b32 %r3, %r1, 7;") == Widths{{16, 1}, {4, 1}});  // another bit is kept
  CHECK(four("1016", "or.b32 %r3, %r1, 3;") == Widths{{16, 1}, {4, 1}});  // another place
}

TEST_CASE("a loop's counter keeps its low bits", "[count][load_merging]") {
  // What clang makes of an unrolled k loop: a base behind the first pair, and a counter.
  const auto loop = [](const std::string& start, const std::string& step) {
    return widths("add.s64 %rd5, %rd2, 68; mov.u64 %rd6, " + start +
                  ";\nL: add.s64 %rd3, %rd5, %rd6;\n" +
                  "ld.shared.f32 %f1, [%rd3+-4]; ld.shared.f32 %f2, [%rd3]; add.s64 %rd6, %rd6, " +
                  step + ";\n@%p1 bra L;");
  };
  CHECK(loop("0", "8") == Widths{{8, 1}});
  CHECK(loop("8", "16") == Widths{{8, 1}});
  CHECK(loop("0", "4") == Widths{{4, 2}});  // every other time it would not be aligned
  CHECK(loop("4", "8") == Widths{{4, 2}});  // never aligned
}

TEST_CASE("a counter that begins with what another has", "[count][load_merging]") {
  // A ring's stage and its offset both begin at 0 and step by 1 and by 4096.
  const auto ring = [](const std::string& between) {
    return widths("mov.u64 %rd5, 0; " + between +
                  "mov.u64 %rd6, %rd5; L: add.s64 %rd3, %rd2, %rd6;\n" + load({0, 1, 2, 3}) +
                  "add.s64 %rd5, %rd5, 1; add.s64 %rd6, %rd6, 4096; @%p1 bra L;");
  };
  CHECK(ring("") == Widths{{16, 1}});
  CHECK(ring("cvt.u64.u32 %rd5, %r1; ") == Widths{{4, 4}});
  CHECK(ring("@%p2 cvt.u64.u32 %rd5, %r1; ") == Widths{{4, 4}});
}

TEST_CASE("multiples of one register are added up", "[count][load_merging]") {
  // clang 14 writes s + 4 t + 28 t for an index 8 t, whose lowest bits each term by itself does not tell.
  const auto sum = [](const std::string& first, const std::string& second) {
    return widths("cvt.s64.s32 %rd5, %r1; " + first + " add.s64 %rd7, %rd2, %rd6; " + second +
                  " add.s64 %rd3, %rd7, %rd8;\n" + load({0, 1, 2, 3}));
  };
  const std::string four = "mul.wide.s32 %rd6, %r1, 4;";
  CHECK(sum(four, "mul.lo.s64 %rd8, %rd5, 28;") == Widths{{16, 1}});
  CHECK(sum("shl.b64 %rd6, %rd5, 2;", "mad.lo.s64 %rd8, %rd5, 28, 32;") == Widths{{16, 1}});
  CHECK(sum(four, "mul.lo.s64 %rd8, %rd5, 20;") == Widths{{8, 2}});
  CHECK(sum(four, "mul.lo.s64 %rd8, %rd5, 32;") == Widths{{4, 4}});
  CHECK(sum(four, "mov.u32 %r2, %ctaid.x; mul.wide.s32 %rd8, %r2, 28;") == Widths{{4, 4}});
  // A register with two definitions may have changed between.
  CHECK(sum(four, "@%p1 mov.u32 %r1, 5; mul.wide.s32 %rd8, %r1, 28;") == Widths{{4, 4}});
}

TEST_CASE("members of a struct that clang passes in 64 bits", "[count][load_merging]") {
  const auto pair = [](const std::string& use) {
    return widths(base(16) +
                  "ld.shared.u32 %rd5, [%rd3]; ld.shared.u32 %rd6, [%rd3+4]; ld.shared.u32 %rd7, "
                  "[%rd3+8]; ld.shared.u32 %rd8, [%rd3+12]; shl.b64 %rd9, %rd6, 32; or.b64 %rd9, "
                  "%rd9, %rd5; shl.b64 %rd10, %rd8, 32; or.b64 %rd10, %rd10, %rd7;\n" +
                  use);
  };
  CHECK(pair("") == Widths{{16, 1}});
  CHECK(pair("add.s64 %rd11, %rd6, %rd8;") == Widths{{4, 4}});
}

TEST_CASE("structs of 64 bits of which the members are used", "[count][load_merging]") {
  const auto members = [](int n) {
    const std::string rd = "%rd" + std::to_string(10 + n), low = "%r" + std::to_string(4 + 2 * n),
                      high = "%r" + std::to_string(5 + 2 * n);
    return "ld.shared.b64 " + rd + ", [s+" + std::to_string(8 * n) + "]; cvt.u32.u64 " + low +
           ", " + rd + "; { .reg .b32 tmp; mov.b64 {tmp, " + high + "}, " + rd + "; }\n";
  };
  const std::string array = ".shared .align 8 .b8 s[64];",
                    pair = "ld.shared.v2.b32 {%r2, %r3}, [s];\n";
  CHECK(widths(pair + members(1), array) == Widths{{16, 1}});
  CHECK(widths(pair + members(1) + members(2) + members(3), array) == Widths{{16, 2}});
  CHECK(widths("ld.shared.b32 %r2, [s+4];\n" + members(1), array) == Widths{{16, 1}});
  // One number of 64 bits is another element.
  CHECK(widths(pair + members(1) + "add.s64 %rd1, %rd11, 1;", array) == Widths{{8, 2}});
  CHECK(widths(pair + "ld.shared.f64 %d1, [s+8];", array) == Widths{{8, 2}});
}

TEST_CASE("arrays lie in the order of their declaration", "[count][load_merging]") {
  const std::string four = base(16) + load({0, 1, 2, 3}) + "ld.shared.f32 %f30, [o];\n";
  CHECK(widths(four, ".shared .align 4 .b8 o[20]; .shared .align 4 .b8 s[4096];") ==
        Widths{{4, 5}});
  CHECK(widths(four, ".shared .align 4 .b8 o[24]; .shared .align 4 .b8 s[4096];") ==
        Widths{{4, 1}, {8, 2}});
  CHECK(widths(four, ".shared .align 4 .b8 o[32]; .shared .align 4 .b8 s[4096];") ==
        Widths{{4, 1}, {16, 1}});
  CHECK(widths(four, ".shared .align 4 .b8 s[4096]; .shared .align 4 .b8 o[20];") ==
        Widths{{4, 1}, {16, 1}});
  CHECK(widths(base(16) + load({0, 1, 2, 3}),
               ".shared .align 4 .b8 o[20]; .shared .align 4 .b8 s[4096];") == Widths{{16, 1}});
  CHECK(widths(four, ".shared .align 4 .b8 o[20]; .shared .align 8 .b8 s[4096];") ==
        Widths{{4, 1}, {8, 2}});
  CHECK(widths(four, ".shared .align 16 .b8 s[4096]; .shared .align 4 .b8 o[20];") ==
        Widths{{4, 1}, {16, 1}});
}

TEST_CASE("sums of the same registers and a constant", "[count][load_merging]") {
  // As clang 22 writes s + counter - offset + 4 * word, the counter and the offset multiples of 16.
  const std::string prepared = base(16) + "shl.b64 %rd5, %rd4, 1; mov.u64 %rd6, 0;\n";
  const auto word = [](int w, const std::string& order) {
    const std::string n = std::to_string(w), rd = "%rd" + std::to_string(10 + 2 * w),
                      next = "%rd" + std::to_string(11 + 2 * w);
    return "sub.s64 " + rd + ", " + std::to_string(4 * w) + ", %rd5; add.s64 " + next + ", " +
           (order == "counter first" ? "%rd6, " + rd : rd + ", %rd6") +
           "; mov.b64 %rd7, %rd3; add.s64 " + next + "x, %rd3, " + next + "; ld.shared.f32 %f" + n +
           ", [" + next + "x];\n";
  };
  const std::string more = ".reg .b64 %rd11x, %rd13x, %rd15x, %rd17x; ";
  const std::string turn = "add.s64 %rd6, %rd6, 64;\n";
  const std::string four =
      word(0, "counter first") + word(1, "") + word(2, "counter first") + word(3, "");
  CHECK(widths(more + prepared + "L: " + four + turn + "@%p1 bra L;") == Widths{{16, 1}});
  // The counter goes on between them.
  CHECK(widths(more + prepared + "L: " + word(0, "") + word(1, "") + turn + word(2, "") +
               word(3, "") + "@%p1 bra L;") == Widths{{8, 2}});
  // Sums of other registers.
  CHECK(widths(more + prepared + "L: " + word(0, "") +
               "add.s64 %rd15, %rd6, %rd5; add.s64 %rd15x, "
               "%rd15, %rd3; ld.shared.f32 %f1, [%rd15x+4];\n" +
               turn + "@%p1 bra L;") == Widths{{4, 2}});
  // What is taken off and added again is not there.
  CHECK(widths(more + prepared +
               "sub.s64 %rd11, %rd3, %rd5; add.s64 %rd13, %rd11, %rd5; "
               "ld.shared.f32 %f1, [%rd13]; ld.shared.f32 %f2, [%rd3+4];\n") == Widths{{8, 1}});
}

TEST_CASE("loads of several variables become one", "[count][load_merging]") {
  const std::string scalars =
      ".shared .align 4 .f32 x; .shared .align 4 .f32 y; .shared .align 4 .u32 z; "
      ".shared .align 4 .b8 s[20];";
  CHECK(widths("ld.shared.f32 %f1, [x]; ld.shared.f32 %f2, [y];", scalars) == Widths{{8, 1}});
  // What no instruction names has no place.
  CHECK(widths("ld.shared.f32 %f2, [y]; ld.shared.u32 %r2, [z];", scalars) == Widths{{8, 1}});
  CHECK(widths("ld.shared.f32 %f2, [y]; ld.shared.u32 %r2, [z]; st.shared.f32 [x], %f2;",
               scalars) == Widths{{4, 2}});
  CHECK(widths("ld.shared.u32 %r2, [z]; ld.shared.f32 %f2, [s]; ld.shared.f32 %f3, [x]; "
               "ld.shared.f32 %f4, [y];",
               scalars) == Widths{{16, 1}});
  const std::string array =
      ".shared .align 4 .b8 s[20]; .shared .align 4 .f32 x; .shared .align 4 .f32 y; "
      ".shared .align 4 .f32 z;";
  CHECK(widths("ld.shared.f32 %f1, [s]; ld.shared.f32 %f2, [s+4]; ld.shared.f32 %f3, [s+16]; "
               "ld.shared.f32 %f4, [x]; ld.shared.f32 %f5, [y]; ld.shared.f32 %f6, [z];",
               array) == Widths{{8, 1}, {16, 1}});
}

TEST_CASE("three of four elements make one load, two only a half", "[count][load_merging]") {
  CHECK(widths(base(16) + load({0, 1})) == Widths{{8, 1}});
  CHECK(widths(base(16) + load({2, 3})) == Widths{{8, 1}});
  CHECK(widths(base(16) + load({1, 2})) == Widths{{4, 2}});
  CHECK(widths(base(16) + load({0, 2})) == Widths{{4, 2}});
  CHECK(widths(base(16) + load({0, 3})) == Widths{{4, 2}});
  CHECK(widths(base(16) + load({0, 1, 3})) == Widths{{16, 1}});
  CHECK(widths(base(16) + load({1, 2, 3})) == Widths{{16, 1}});
  CHECK(widths(base(8) + load({0, 1, 3})) == Widths{{8, 1}, {4, 1}});
  CHECK(widths(base(64) + load({1, 2, 3, 4, 5, 6, 7, 8})) == Widths{{16, 2}, {4, 1}});
  CHECK(widths(base(64) + load({2, 3, 4, 5, 6, 7})) == Widths{{16, 1}, {8, 1}});
  CHECK(widths(base(32) + load({0, 3, 4, 7})) == Widths{{4, 4}});
  CHECK(widths(base(16) + load({3, 1, 0, 2})) == Widths{{16, 1}});
}

TEST_CASE("element sizes", "[count][load_merging]") {
  CHECK(widths(base(16) + load({0, 1}, "f64", "%d", 8)) == Widths{{16, 1}});
  CHECK(widths(base(8) + load({0, 1}, "f64", "%d", 8)) == Widths{{8, 2}});
  CHECK(widths(base(32) + load({1, 2}, "f64", "%d", 8)) == Widths{{8, 2}});
  CHECK(widths(base(16) + load({0, 1, 2, 3, 4, 5, 6, 7}, "b16", "%h", 2)) == Widths{{8, 2}});
  CHECK(widths(base(16) + load({0, 1, 2, 3, 4, 5}, "b16", "%h", 2)) == Widths{{8, 1}, {4, 1}});
  CHECK(widths(base(16) + load({0, 1}, "b16", "%h", 2) + "add.s16 %h9, %h0, %h1;") ==
        Widths{{2, 2}});
  CHECK(widths(base(16) + load({0, 1}, "b16", "%h", 2) + "add.f16 %h9, %h0, %h1;") ==
        Widths{{4, 1}});
  CHECK(widths(base(16) + load({0, 1}, "b16", "%h", 2) +
               "cvt.rn.f32.s16 %f8, %h0; cvt.rn.f32.s16 %f9, %h1;") == Widths{{4, 1}});
  CHECK(widths(base(16) + load({0, 1, 2, 3}, "u8", "%h", 1)) == Widths{{1, 4}});
  CHECK(widths(base(16) + load({4, 5}, "u16", "%r", 2)) == Widths{{2, 2}});
  CHECK(widths(base(16) + "ld.shared.u32 %r4, [%rd3]; ld.shared.f32 %f1, [%rd3+4];") ==
        Widths{{8, 1}});
  CHECK(widths(base(16) + "ld.shared.f64 %d1, [%rd3]; ld.shared.f32 %f1, [%rd3+8]; ld.shared.f32 "
                          "%f2, [%rd3+12];") == Widths{{8, 2}});
  CHECK(widths(base(16) +
               "ld.shared.v2.f32 {%f0, %f1}, [%rd3]; ld.shared.v2.f32 {%f2, %f3}, [%rd3+8];") ==
        Widths{{16, 1}});
  CHECK(widths(base(16) + load({0, 1}) + "ld.shared.v2.f32 {%f2, %f3}, [%rd3+8];") ==
        Widths{{16, 1}});
  CHECK(widths(base(16) + "ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%rd3];" +
               "ld.shared.f32 %f4, [%rd3+16];") == Widths{{16, 1}, {4, 1}});
}

TEST_CASE("what stands between the loads", "[count][load_merging]") {
  const auto between = [](const std::string& text) {
    return widths(base(16) + load({0, 1}) + text + "\n" + load({2, 3}),
                  ".local .align 4 .b8 loc[16]; .shared .align 4 .b8 s[4096];");
  };
  for (const char* text : {"st.shared.f32 [%rd3+1000], %f0;", "st.f32 [%rd9], %f0;", "bar.sync 0;",
                           "bar.warp.sync -1;", "membar.cta;", "cp.async.wait_group 0;",
                           "atom.shared.add.u32 %r9, [%rd3+2000], %r8;"}) {
    INFO(text);
    CHECK(between(text) == Widths{{8, 2}});
  }
  for (const char* text :
       {"st.global.f32 [%rd9], %f0;", "st.volatile.global.f32 [%rd9], %f0;", "ld.f32 %f20, [%rd9];",
        "ld.global.f32 %f20, [%rd9];", "st.local.f32 [loc], %f0;",
        "shfl.sync.bfly.b32 %f20, %f0, 1, 31, -1;", "vote.sync.ballot.b32 %r9, %p1, -1;",
        "cp.async.commit_group;", "atom.global.add.f32 %f20, [%rd9], %f0;",
        "fma.rn.f32 %f20, %f0, %f1, %f20;"}) {
    INFO(text);
    CHECK(between(text) == Widths{{16, 1}});
  }
  CHECK(between("bra L; L:") == Widths{{8, 2}});  // another block
}

// That they become one was read off machine code for sm_90: ptxas 13.0's, and where the address is
// computed, nvcc's. Where two stay, the model is careful.
TEST_CASE("loads before and behind an if become one", "[count][load_merging]") {
  const auto around = [](const std::string& arms) {
    return widths("setp.eq.u32 %p1, %r1, 3; ld.shared.f32 %f1, [s];\n" + arms +
                  "\nJOIN: ld.shared.f32 %f2, [s+4];");
  };
  const Widths one{{8, 1}}, two{{4, 2}};
  CHECK(around("@%p1 bra JOIN; add.f32 %f3, %f4, %f5;") == one);
  CHECK(
      around("@%p1 bra ELSE; add.f32 %f3, %f4, %f5; bra.uni JOIN; ELSE: mul.f32 %f3, %f4, %f5;") ==
      one);
  CHECK(around("@%p1 bra THEN; bra.uni JOIN; THEN: add.f32 %f3, %f4, %f5;") == one);
  CHECK(around("@%p1 bra JOIN; @%p2 bra JOIN; add.f32 %f3, %f4, %f5;") == one);
  CHECK(around("@%p1 bra JOIN; st.global.f32 [%rd8], %f5;") == one);
  CHECK(around("@%p1 bra JOIN; st.shared.f32 [%rd3], %f5;") == two);
  CHECK(around("@%p1 bra JOIN; bar.sync 0;") == two);
  CHECK(around("@%p1 bra OUT; add.f32 %f3, %f4, %f5; bra.uni JOIN; OUT: ret;") == two);
  CHECK(around("LOOP: add.f32 %f3, %f4, %f5; setp.gt.f32 %p1, %f3, %f5; @%p1 bra LOOP;") == two);
  CHECK(around("@%p2 bra JOIN; LOOP: add.f32 %f3, %f4, %f5; @%p1 bra LOOP;") == two);
  // A way in from elsewhere: not whoever comes by the second load came by the first.
  CHECK(widths("@%p2 bra IN; ld.shared.f32 %f1, [s]; @%p1 bra JOIN; IN: add.f32 %f3, %f4, %f5;\n"
               "JOIN: ld.shared.f32 %f2, [s+4];") == two);
  // An arm has pieces of its own, and those of two ifs are not one.
  CHECK(around("@%p1 bra JOIN; ld.shared.f32 %f3, [s+16]; ld.shared.f32 %f4, [s+20];") ==
        Widths{{8, 2}});
  CHECK(around("@%p1 bra NEXT; ld.shared.f32 %f3, [s+16]; st.global.f32 [%rd8], %f3;\n"
               "NEXT: @%p2 bra JOIN; ld.shared.f32 %f4, [s+20]; st.global.f32 [%rd8+4], %f4;") ==
        Widths{{8, 1}, {4, 2}});
  // They are, if nvcc makes no ifs of them (early_reads.hpp).
  CHECK(around("@%p1 bra NEXT; ld.shared.f32 %f3, [s+16];\n"
               "NEXT: @%p2 bra JOIN; ld.shared.f32 %f4, [s+20];") == Widths{{8, 2}});
  // The root of the address moves in an arm.
  CHECK(widths(base(16) + load({0}) +
               "@%p1 bra JOIN; add.s64 %rd3, %rd3, 64;\nJOIN: " + load({1})) == two);
  CHECK(widths(base(16) + load({0}) +
               "@%p1 bra JOIN; add.f32 %f3, %f4, %f5;\nJOIN: " + load({1})) == one);
}

// The engine's mathematical functions are code without barriers for nvcc. Read off nvcc 13.0 for sm_90, with four loads in a
// loop that is unrolled, and the same calls.
TEST_CASE("loads before and behind a mathematical function become one", "[count][load_merging]") {
  const auto around = [](const std::string& function) {
    const ptx::Module m = test::around_call("ld.shared.f32 %f1, [s]; cvt.f64.f32 %d1, %f1;",
                                            function, "ld.shared.f32 %f2, [s+4];");
    return widths(m, m.functions.back());
  };
  const Widths one{{8, 1}}, two{{4, 2}};
  CHECK(around("__simgpu_math_expf") == one);
  CHECK(around("__simgpu_math_logf") == one);
  CHECK(around("__simgpu_math_tanhf") == one);
  // A table in local memory for large arguments, and what is a call for nvcc as well.
  CHECK(around("__simgpu_math_sinf") == two);
  CHECK(around("__simgpu_math_tgammaf") == two);
  CHECK(around("expf") == two);
}

// What lets lanes end the kernel is a predicated EXIT in ptxas's machine code, behind which a piece goes on.
TEST_CASE("loads before and behind a way out become one", "[count][load_merging]") {
  const auto around = [](const std::string& out, const std::string& end = "OUT:") {
    return widths("setp.eq.u32 %p1, %r1, 3; ld.shared.f32 %f1, [s];\n" + out +
                  "\nld.shared.f32 %f2, [s+4]; st.global.f32 [%rd8], %f2;\n" + end);
  };
  const Widths one{{8, 1}}, two{{4, 2}};
  CHECK(around("@%p1 bra OUT;") == one);
  CHECK(around("@%p1 bra OUT; setp.eq.u32 %p2, %r1, 4; @%p2 bra OUT;") == one);
  CHECK(around("@!%p1 bra ON; ret; ON:", "") == one);
  CHECK(around("@%p1 bra OUT;", "ret; OUT: st.global.f32 [%rd8+400], %f1;") == one);
  CHECK(around("@%p1 bra OUT;", "LOOP: st.global.f32 [%rd8+4], %f2; @%p2 bra LOOP; OUT:") == one);
  // What ends a piece does so here as well, in the way out as on the way on.
  CHECK(around("@%p1 bra OUT; membar.cta;") == two);
  CHECK(around("@%p1 bra OUT; st.shared.f32 [%rd3], %f1;") == two);
  CHECK(around("@%p1 bra OUT;", "ret; OUT: st.shared.f32 [%rd3], %f1;") == two);
  // Where all lanes come together again nobody has left.
  CHECK(around("@%p1 bra OUT; LOOP: add.f32 %f3, %f4, %f5; @%p2 bra LOOP;") == two);
  // A way in from elsewhere.
  CHECK(widths("@%p2 bra IN; ld.shared.f32 %f1, [s]; @%p1 bra OUT; IN: ld.shared.f32 %f2, [s+4];\n"
               "st.global.f32 [%rd8], %f2; OUT:") == two);
}

TEST_CASE("addresses, duplicates, volatile and predicated loads", "[count][load_merging]") {
  CHECK(widths(base(16) + load({0, 1}) +
               "add.s64 %rd5, %rd3, 8; ld.shared.f32 %f2, [%rd5]; ld.shared.f32 %f3, [%rd5+4];") ==
        Widths{{16, 1}});
  CHECK(
      widths(
          base(16) + load({0, 1}) +
          "add.s64 %rd5, %rd3, -8; ld.shared.f32 %f2, [%rd5+16]; ld.shared.f32 %f3, [%rd5+20];") ==
      Widths{{16, 1}});
  CHECK(widths("shl.b32 %r2, %r1, 2; mul.wide.s32 %rd4, %r2, 4; add.s64 %rd3, %rd2, %rd4; add.s32 "
               "%r3, %r2, 2; mul.wide.s32 %rd6, %r3, 4;\n"
               "add.s64 %rd7, %rd2, %rd6;" +
               load({0, 1}) + "ld.shared.f32 %f2, [%rd7]; ld.shared.f32 %f3, [%rd7+4];") ==
        Widths{{8, 2}});
  CHECK(widths("ld.shared.f32 %f0, [s]; ld.shared.f32 %f1, [s+4]; ld.shared.f32 %f2, [s+8];") ==
        Widths{{16, 1}});
  CHECK(widths("mov.u32 %r4, s; mad.lo.s32 %r5, %r1, 16, %r4; ld.shared.f32 %f0, [%r5]; "
               "ld.shared.f32 %f1, [%r5+4];") == Widths{{8, 1}});
  CHECK(widths(base(16) + "ld.shared.f32 %f0, [%rd3+-8]; ld.shared.f32 %f1, [%rd3+-4];" +
               load({2})) == Widths{{8, 1}, {4, 1}});
  CHECK(widths(base(16) + "ld.shared.f32 %f0, [%rd3]; ld.shared.f32 %f1, [%rd3];") ==
        Widths{{4, 1}});
  CHECK(widths(base(16) + load({0, 1, 2, 3}) + load({0, 1, 2, 3})) == Widths{{16, 1}});
  CHECK(widths(base(16) +
               "ld.volatile.shared.f32 %f0, [%rd3]; ld.volatile.shared.f32 %f1, [%rd3+4];") ==
        Widths{{4, 2}});
  CHECK(widths(base(16) + load({0, 1}) + "ld.volatile.shared.f32 %f9, [%rd3+1024];" +
               load({2, 3})) == Widths{{16, 1}, {4, 1}});
  CHECK(widths(base(16) + "@%p1 ld.shared.f32 %f0, [%rd3]; @%p1 ld.shared.f32 %f1, [%rd3+4];") ==
        Widths{{4, 2}});
}

TEST_CASE("the leader is the first load, and knows where the merged one starts",
          "[count][load_merging]") {
  const ptx::Module m = parse_body(base(16) + load({3, 1, 2}));
  const std::vector<MergedAccess> merged =
      count::merge_shared_loads(m, m.functions[0], count::find_narrowed_loads(m.functions[0]));
  REQUIRE(merged.size() == 8);
  CHECK(merged[4].leader == 4);
  CHECK(merged[4].bytes == 16);
  CHECK(merged[4].shift == -12);
  CHECK(merged[5].leader == 4);
  CHECK(merged[5].bytes == 0);
  CHECK(merged[6].leader == 4);
  CHECK(merged[0].leader == 0);
  CHECK(merged[0].bytes == 0);
}

TEST_CASE("whole kernels agree with their machine code", "[count][load_merging]") {
  // LDS.U16, LDS, LDS.64 and LDS.128 in the SASS that ptxas 13.0 makes of the fixtures for sm_80.
  // (tiled: one turn of the loop, of which ptxas makes seven.)
  struct Row {
    const char* kernel;
    unsigned clang14[4], clang22[4];
  };
  const Row rows[] = {
      {"_Z12second_arrayILi8EEvPKfPf", {0, 1, 0, 2}, {0, 9, 0, 0}},
      {"_Z12second_arrayILi6EEvPKfPf", {0, 1, 4, 0}, {0, 9, 0, 0}},
      {"_Z12second_arrayILi5EEvPKfPf", {0, 9, 0, 0}, {0, 9, 0, 0}},
      {"_Z7row_sumIaLi8ELi8EEvPKT_PS0_", {0, 0, 0, 0}, {0, 0, 0, 0}},
      {"_Z7row_sumIxLi4ELi4EEvPKT_PS0_", {0, 0, 0, 2}, {0, 0, 4, 0}},
      {"_Z7row_sumIsLi8ELi8EEvPKT_PS0_", {8, 0, 0, 0}, {8, 0, 0, 0}},
      {"_Z7row_sumIdLi5ELi10EEvPKT_PS0_", {0, 0, 1, 2}, {0, 0, 1, 2}},
      {"_Z7row_sumIdLi7ELi9EEvPKT_PS0_", {0, 0, 7, 0}, {0, 0, 7, 0}},
      {"_Z7row_sumIdLi8ELi8EEvPKT_PS0_", {0, 0, 0, 4}, {0, 0, 8, 0}},
      {"_Z7row_sumIiLi6ELi8EEvPKT_PS0_", {0, 0, 1, 1}, {0, 6, 0, 0}},
      {"_Z7row_sumIfLi5ELi8EEvPKT_PS0_", {0, 1, 0, 1}, {0, 5, 0, 0}},
      {"_Z7row_sumIfLi7ELi8EEvPKT_PS0_", {0, 0, 0, 2}, {0, 7, 0, 0}},
      {"_Z7row_sumIfLi8ELi12EEvPKT_PS0_", {0, 0, 0, 2}, {0, 0, 0, 2}},
      {"_Z7row_sumIfLi8ELi10EEvPKT_PS0_", {0, 0, 4, 0}, {0, 0, 4, 0}},
      {"_Z7row_sumIfLi8ELi9EEvPKT_PS0_", {0, 8, 0, 0}, {0, 8, 0, 0}},
      {"_Z7row_sumIfLi8ELi8EEvPKT_PS0_", {0, 0, 0, 2}, {0, 8, 0, 0}},
      {"_Z9volatilesPKfPf", {0, 4, 0, 0}, {0, 4, 0, 0}},
      {"_Z7vectorsPK6float4Pf", {0, 0, 0, 3}, {0, 0, 0, 3}},
      // What nvcc 13.0 makes of it. ptxas makes 64 LDS of clang's 4 t + 140 t.
      {"_Z7columnsPKfPf", {0, 32, 0, 8}, {0, 32, 0, 8}},
      {"_Z7stridedPKfPf", {0, 8, 0, 0}, {0, 8, 0, 0}},
      {"_Z13store_betweenPKfPfS1_", {0, 0, 0, 2}, {0, 0, 0, 2}},
      {"_Z4miscPfiP6float4", {0, 2, 0, 0}, {0, 2, 0, 0}},
      {"_Z5tiledIiLi8EEv4ViewIKT_ES3_S0_IS1_E", {0, 8, 0, 2}, {0, 8, 0, 2}},
      {"_Z5tiledIdLi8EEv4ViewIKT_ES3_S0_IS1_E", {0, 0, 8, 4}, {0, 0, 8, 4}},
      {"_Z5tiledIfLi16EEv4ViewIKT_ES3_S0_IS1_E", {0, 16, 0, 4}, {0, 16, 0, 4}},
  };
  unsigned checked = 0;
  for (const std::string clang : {"14", "22"}) {
    for (const std::string name : {"forms", "merging_kernels"}) {
      std::ifstream file("common/simgpu/tests/ptx/" + name + ".clang++-" + clang + ".ptx",
                         std::ios::binary);
      REQUIRE(file);
      std::stringstream text;
      text << file.rdbuf();
      const ptx::Module m = ptx::parse(text.str());
      for (const Row& row : rows) {
        const auto it = m.function_index.find(row.kernel);
        if (it == m.function_index.end()) continue;
        const Widths found = widths(m, m.functions[it->second]);
        const auto& expected = clang == "14" ? row.clang14 : row.clang22;
        for (unsigned i = 0; i < 4; ++i) {
          const auto at = found.find(2u << i);
          INFO(clang << ' ' << row.kernel << " loads of " << (16u << i) << " bits");
          CHECK((at == found.end() ? 0 : at->second) == expected[i]);
        }
        ++checked;
      }
    }
  }
  CHECK(checked == 50);
}

}  // namespace
