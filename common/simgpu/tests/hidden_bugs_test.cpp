// What hardware hides: values that nothing has set, lanes that take no part in a shuffle, indices that lead from one
// shared array into the next, flags without a fence. Each is a finding where it matters, and none where it does not.
#include <cstdint>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

std::string kernel(const std::string& body) {
  return ".visible .entry k(.param .u64 a, .param .u64 flag)\n{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 "
         "%r<20>; .reg .b64 %rd<9>;\n.shared .align 4 .b8 s[64]; .shared .align 4 .b8 t[64];\n"
         "mov.u32 %r1, %tid.x; shl.b32 %r3, %r1, 2; mov.u32 %r4, s; mov.u32 %r5, t;\n"
         "ld.param.u64 %rd1, [a]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.param.u64 "
         "%rd4, [flag];\n" +
         body + "\nret;\n}\n";
}

std::vector<Finding> findings(const std::string& text, unsigned threads, unsigned blocks = 1,
                              const std::string& marked = "") {
  Gpu gpu(text, {}, marked);
  const DevicePtr a = gpu.upload(std::vector<std::uint32_t>(1024, 1), "a"),
                  flag = gpu.upload(std::vector<std::uint32_t>(4, 0), "flag");
  return gpu.run("k", {blocks, 1, 1}, {threads, 1, 1}, 0u, LaunchOptions{}, a, flag).findings;
}
/// How often something was used that nothing has set; -1 if there is another finding.
int uses(const std::vector<Finding>& all) {
  int n = 0;
  for (const Finding& f : all) {
    INFO(f.detail);
    if (f.cause != FindingCause::unset_value) return -1;
    n += static_cast<int>(f.occurrences);
  }
  return n;
}

/// The code as it is compiled, and once more with marks.
int uses_of_marked(const std::string& plain, const std::string& marked, unsigned threads = 32) {
  return uses(findings(ptx_module(kernel(plain)), threads, 1, ptx_module(kernel(marked))));
}

TEST_CASE("an element of a product is marked by its row, its column and its sum",
          "[finding][init]") {
  const auto n = [](const std::string& unset, const std::string& result) {
    const auto body = [&](const std::string& value) {
      std::string text =
          "mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0; mov.u32 %r14, 0;\n"
          "mov.u32 %r15, 0; mov.u32 %r16, 0; mov.u32 %r17, 0; mov.u32 %r18, 0; mov.u32 %r19, 0;\n";
      for (std::size_t at = 0; at < unset.size(); at += 4)
        text += "mov.u32 " + unset.substr(at, 4) + ", " + value + ";\n";
      return text +
             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r16, %r17, %r18, %r19}, {%r10, %r11, "
             "%r12, %r13}, {%r14, %r15}, {%r16, %r17, %r18, %r19};\nst.global.u32 [%rd3], " +
             result + ";";
    };
    return uses_of_marked(body("0"), body("%simgpu_unset"));
  };
  CHECK(n("%r16", "%r16") == 32);
  CHECK(n("%r16", "%r17") == 0);
  CHECK(n("%r11%r13", "%r16") == 0);  // of rows 8 to 15
  CHECK(n("%r10%r11%r12%r13", "%r16") == 32);
  CHECK(n("%r14%r15", "%r19") == 32);
}

TEST_CASE("a mark says nothing of what is set all the same", "[finding][init]") {
  const std::string nothing = "mov.u32 %r6, 0;\n", begin = "mov.u32 %r6, %simgpu_unset;\n";
  const auto n = [&](const std::string& body) {
    return uses_of_marked(nothing + body, begin + body);
  };
  const std::string store = "st.global.u32 [%rd3], %r7;";
  // One half of a register, packed and taken out again.
  const std::string pack = "mov.b64 %rd5, {%r1, %r6}; cvt.u32.u64 %r8, %rd5;\n";
  CHECK(n(pack + "add.u32 %r7, %r8, 1;\n" + store) == 0);
  CHECK(n("mov.b64 %rd5, {%r6, %r6}; cvt.u32.u64 %r8, %rd5;\nadd.u32 %r7, %r8, 1;\n" + store) ==
        32);
  CHECK(
      n("shl.b32 %r8, %r6, 16; or.b32 %r8, %r8, %r1; cvt.u16.u32 %h1, %r8; cvt.u32.u16 %r8, %h1;\n"
        "add.u32 %r7, %r8, 1;\n" +
        store) == 0);
  CHECK(n("mov.u32 %r8, 0; mul.lo.u32 %r7, %r6, %r8;\n" + store) == 0);
  CHECK(n("mad.lo.u32 %r7, %r6, %r1, 5;\n" + store) == 31);  // lane 0 multiplies by 0
  // Either arm brings the same.
  CHECK(n("setp.gt.u32 %p1, %r6, 4; mov.u32 %r8, %r1; selp.u32 %r7, %r8, %r1, %p1;\n" + store) ==
        0);
  CHECK(n("setp.gt.u32 %p1, %r6, 4; selp.u32 %r7, 9, %r1, %p1;\n" + store) == 31);
  const std::string half = ", %simgpu_unset; cvt.u32.u16 %r8, %h1; add.u32 %r7, %r8, 1;\n";
  CHECK(uses_of_marked("mov.u32 %r7, 0;\n" + store, "mov.u16 %h1" + half + store) == 32);
}

TEST_CASE("what was computed from a value that nothing has set is not to be used",
          "[finding][init]") {
  const std::string nothing = "mov.u32 %r6, 0;\n", begin = "mov.u32 %r6, %simgpu_unset;\n";
  const auto n = [&](const std::string& body) {
    return uses_of_marked(nothing + body, begin + body);
  };
  const std::string store = "st.global.u32 [%rd3], %r7;";
  CHECK(n("add.u32 %r7, %r6, 1;\n" + store) == 32);
  CHECK(n("mov.u32 %r7, %r6;\n" + store) == 0);  // passed on
  CHECK(n("add.u32 %r7, %r6, 1; mov.u32 %r7, 2;\n" + store) == 0);
  CHECK(n("add.u32 %r8, %r6, 1; mov.u32 %r7, 2;\n" + store) == 0);  // nobody uses it
  // Lanes that set it have a value.
  CHECK(n("setp.lt.u32 %p1, %r1, 20; @%p1 mov.u32 %r6, 5; add.u32 %r7, %r6, 1;\n" + store) == 12);
  CHECK(n("setp.lt.u32 %p1, %r1, 20; @%p1 mov.u32 %r6, 5; add.u32 %r7, %r6, 1; @%p1 " + store) ==
        0);
  CHECK(
      n("setp.lt.u32 %p1, %r1, 20; mov.u32 %r9, 5; selp.b32 %r7, %r9, %r6, %p1; add.u32 %r7, %r7, 1;\n" +
        store) == 12);
  // Branches and addresses.
  CHECK(n("setp.eq.u32 %p1, %r6, 3; @%p1 bra NEXT; mov.u32 %r7, 1;\nNEXT:") == 32);
  CHECK(n("setp.eq.u32 %p1, %r6, 3; @%p1 mov.u32 %r7, 1;") == 32);
  CHECK(n("mul.wide.u32 %rd5, %r6, 4; add.u64 %rd5, %rd1, %rd5; ld.global.u32 %r7, [%rd5];") == 32);
  // The other condition decides.
  const std::string both = "setp.eq.u32 %p1, %r6, 3; setp.lt.u32 %p2, %r1, 20; ";
  CHECK(n(both + "and.pred %p3, %p2, %p1; @%p3 bra NEXT;\nNEXT:") == 20);
  CHECK(n(both + "or.pred %p3, %p1, %p2; @%p3 bra NEXT;\nNEXT:") == 12);
  CHECK(n("and.b32 %r8, %r6, 255; add.u32 %r7, %r8, 1;\n" + store) == 32);
  CHECK(n("and.b32 %r8, %r6, 7; mul.wide.u32 %rd5, %r8, 4; add.u64 %rd5, %rd1, %rd5;\n"
          "ld.global.u32 %r7, [%rd5];") == 32);
}

TEST_CASE("in shared and local memory a value that nothing has set keeps its mark",
          "[finding][init]") {
  const std::string nothing = ".local .align 8 .b8 own[16]; mov.u64 %rd8, own; mov.u32 %r6, 0;\n",
                    begin =
                        ".local .align 8 .b8 own[16]; mov.u64 %rd8, own; mov.u32 %r6, "
                        "%simgpu_unset;\n";
  const auto n = [&](const std::string& body, unsigned threads = 16) {
    return uses_of_marked(nothing + body, begin + body, threads);
  };
  const std::string place = "add.u32 %r9, %r4, %r3; add.u32 %r10, %r5, %r3;\n",
                    keep = place + "add.u32 %r8, %r6, 1; st.shared.u32 [%r9], %r8; bar.sync 0;\n",
                    store = "st.global.u32 [%rd3], %r7;\n";
  CHECK(n(keep) == 0);  // nobody asks for it
  CHECK(n(keep + "ld.shared.u32 %r7, [%r9];\n") == 0);
  CHECK(n(keep + "ld.shared.u32 %r7, [%r9];\n" + store) == 16);
  CHECK(n(keep + "cvt.u64.u32 %rd5, %r9; cvta.shared.u64 %rd6, %rd5; ld.u32 %r7, [%rd6];\n" +
          store) == 16);
  CHECK(n(keep + "ld.shared.u32 %r7, [%r9]; setp.eq.u32 %p1, %r7, 3; @%p1 bra NEXT;\nNEXT:") == 16);
  CHECK(n(keep + "ld.shared.v2.u32 {%r7, %r11}, [s];\n" + store) == 16);
  // What was only passed on may be used behind it, too.
  CHECK(n(place + "st.shared.u32 [%r9], %r6; ld.shared.u32 %r7, [%r9];\n" + store) == 0);
  CHECK(n(place + "st.shared.u32 [%r9], %r6; ld.shared.u32 %r7, [%r9]; add.u32 %r7, %r7, 1;\n" +
          store) == 16);
  // Something else was written since: by a store, an atomic, a copy; or it is another place.
  CHECK(n(keep + "st.shared.u32 [%r9], %r1; ld.shared.u32 %r7, [%r9];\n" + store) == 0);
  CHECK(n(keep + "st.shared.u8 [%r9], %r1; ld.shared.u8 %r7, [%r9];\n" + store) == 0);
  CHECK(n(keep + "st.shared.u8 [%r9], %r1; ld.shared.u8 %r7, [%r9+1];\n" + store) == 16);
  CHECK(n(keep + "atom.shared.exch.b32 %r11, [%r9], 1; ld.shared.u32 %r7, [%r9];\n" + store) == 0);
  CHECK(n(keep +
          "cp.async.ca.shared.global [%r9], [%rd3], 4; cp.async.wait_all; ld.shared.u32 %r7, "
          "[%r9];\n" +
          store) == 0);
  CHECK(n(keep + "st.shared.u32 [%r10], %r1; ld.shared.u32 %r7, [%r10];\n" + store) == 0);
  // Products take fragments from there.
  CHECK(n(keep +
              "st.shared.u32 [%r10], 1; mov.u32 %r12, s; ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
              "{%r7}, [%r12];\n",
          32) == -1);
  const std::string local = "add.u32 %r8, %r6, 1; st.local.u32 [%rd8+4], %r8;\n";
  CHECK(n(local) == 0);
  CHECK(n(local + "ld.local.u32 %r7, [%rd8+4];\n" + store) == 16);
  CHECK(n(local + "st.local.u32 [%rd8+4], 2; ld.local.u32 %r7, [%rd8+4];\n" + store) == 0);
}

TEST_CASE("a fragment that nothing has filled is not to be stored", "[finding][init]") {
  const auto n = [](const std::string& value, const std::string& product) {
    std::string text, list, d;
    for (int k = 10; k < 18; ++k) {
      text += "mov.u32 %r" + std::to_string(k) + ", " + value + ";\n";
      list += (k == 10 ? "%r" : ", %r") + std::to_string(k);
    }
    if (!product.empty())
      text += "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {" + list +
              "}, {%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}, {%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}, {" + list +
              "};\n";
    return text + "mov.u32 %r9, 16; wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {" +
           list + "}, %r9;";
  };
  for (const std::string unset : {"%simgpu_unset", "%simgpu_unset_part"})
    for (const std::string product : {"", "product"})
      CHECK(uses_of_marked(n("0", product), n(unset, product)) == 32);
  const auto found = findings(ptx_module(kernel(n("0", ""))), 32, 1,
                              ptx_module(kernel(n("%simgpu_unset_part", ""))));
  CHECK(found.at(0).detail.find("a part of the variable declared on") != std::string::npos);
}

TEST_CASE("a single variable that nothing has set may be handed on, but not stored for all to see",
          "[finding][init]") {
  const auto uses = [](const std::string& then) {
    return uses_of_marked("mov.u32 %r6, 0;\n" + then, "mov.u32 %r6, %simgpu_unset_whole;\n" + then);
  };
  CHECK(uses("") == 0);
  CHECK(uses("mov.u32 %r7, %r6;") == 0);
  CHECK(uses("st.global.u32 [%rd3], %r6;") == 32);
  CHECK(uses("and.b32 %r7, %r6, 1; st.global.u32 [%rd3], %r7;") == 32);
  CHECK(uses("and.b32 %r7, %r6, 0; st.global.u32 [%rd3], %r7;") == 0);
  const auto found =
      findings(ptx_module(kernel("mov.u32 %r6, 0; st.global.u32 [%rd3], %r6;")), 32, 1,
               ptx_module(kernel("mov.u32 %r6, %simgpu_unset_whole; st.global.u32 [%rd3], %r6;")));
  CHECK(found.at(0).detail.find("uses the variable declared on") != std::string::npos);
}

TEST_CASE("counts are those of the code without marks", "[finding][init]") {
  Gpu gpu(ptx_module(kernel("mov.u32 %r6, 0; st.global.u32 [%rd3], %r6;")), {},
          ptx_module(kernel("mov.u32 %r6, %simgpu_unset; st.global.u32 [%rd3], %r6; st.global.u32 "
                            "[%rd3], %r6;")));
  const DevicePtr a = gpu.upload(std::vector<std::uint32_t>(32, 1), "a");
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, a, a);
  CHECK(r.total.global_store.requests == 1);
  CHECK(gpu.download<std::uint32_t>(a, 32) == std::vector<std::uint32_t>(32, 0));
}

TEST_CASE("a second text that does not belong to the first one is left", "[finding][init]") {
  const std::string plain = ptx_module(kernel("mov.u32 %r6, 0; st.global.u32 [%rd3], %r6;"));
  CHECK(findings(plain, 32, 1, "rubbish").empty());
  CHECK(findings(plain, 32, 1, ptx_module(".visible .entry other()\n{\nret;\n}\n")).empty());
}

TEST_CASE("a value from a lane that takes no part in a shuffle is not to be used",
          "[finding][init]") {
  // `mask` names the lanes; those up to `lanes` execute it.
  const auto n = [](const std::string& shuffle, const std::string& mask, const std::string& lanes,
                    const std::string& then, unsigned threads = 32) {
    return uses(findings(ptx_module(kernel("setp.ge.u32 %p1, %r1, " + lanes +
                                           "; @%p1 bra END;\nmov.u32 %r6, 7; shfl.sync." + shuffle +
                                           ", " + mask + ";\n" + then + "\nEND:")),
                         threads));
  };
  const std::string store = "add.u32 %r8, %r7, 1; st.global.u32 [%rd3], %r8;";
  CHECK(n("down.b32 %r7|%p2, %r6, 8, 31", "-1", "32", store) == 0);
  // The upper half of a half warp reads from lanes that are not there, and only lane 0 goes on.
  CHECK(n("down.b32 %r7|%p2, %r6, 8, 31", "0xffff", "16", store) == 8);
  CHECK(n("down.b32 %r7|%p2, %r6, 8, 31", "0xffff", "16",
          "setp.eq.u32 %p3, %r1, 0; add.u32 %r8, %r7, 1; @%p3 st.global.u32 [%rd3], %r8;") == 0);
  CHECK(n("up.b32 %r7|%p2, %r6, 1, 0", "0xffff", "16", store) == 0);
  CHECK(n("idx.b32 %r7, %r6, 20, 31", "0xffff", "16", store) == 16);
  CHECK(n("bfly.b32 %r7, %r6, 4, 31", "0xfffff", "20", store, 20) ==
        4);  // 16 to 19 read from 20 to 23
}

TEST_CASE("an index that leads into the neighbouring shared array", "[finding][memory]") {
  const auto kinds = [](const std::string& body, unsigned threads) {
    std::vector<std::string> all;
    for (const Finding& f : findings(ptx_module(kernel(body)), threads))
      all.push_back(std::string(to_string(f.kind)) + " " + f.at.object);
    return all;
  };
  using Kinds = std::vector<std::string>;
  const std::string fill =
      "add.u32 %r6, %r4, %r3; add.u32 %r7, %r5, %r3; st.shared.u32 [%r6], 1; "
      "st.shared.u32 [%r7], 1; bar.sync 0;\n";
  CHECK(kinds(fill + "ld.shared.u32 %r8, [%r6];", 16) == Kinds{});
  CHECK(kinds(fill + "ld.shared.u32 %r8, [%r6+4];", 16) == Kinds{"out-of-bounds s"});
  CHECK(kinds(fill + "ld.shared.u32 %r8, [%r7+-4];", 16) == Kinds{"out-of-bounds t"});
  CHECK(kinds(fill + "add.u32 %r6, %r6, 4; ld.shared.u32 %r8, [%r6];", 16) ==
        Kinds{"out-of-bounds s"});
  CHECK(kinds(fill + "mad.lo.u32 %r9, %r1, 4, %r4; ld.shared.u32 %r8, [%r9+4];", 16) ==
        Kinds{"out-of-bounds s"});
  CHECK(kinds(fill + "st.shared.u32 [%r6+4], 1;", 16) == Kinds{"out-of-bounds s"});
  CHECK(kinds(fill + "atom.shared.add.u32 %r8, [%r6+4], 1;", 16) == Kinds{"out-of-bounds s"});
  CHECK(kinds(fill + "cvt.u64.u32 %rd5, %r6; cvta.shared.u64 %rd6, %rd5; ld.u32 %r8, [%rd6+4];",
              16) == Kinds{"out-of-bounds s"});
  // One of two arrays, the distance of two, or a pointer that was stored: of these nothing is known.
  CHECK(kinds(fill + "setp.eq.u32 %p1, %r1, 99; @%p1 mov.u32 %r6, %r7; ld.shared.u32 %r8, [%r6+4];",
              16) == Kinds{});
  CHECK(kinds(fill + "sub.u32 %r9, %r5, %r4; add.u32 %r9, %r9, %r6; ld.shared.u32 %r8, [%r9];",
              16) == Kinds{});
  // Many loads that run as one.
  CHECK(
      kinds(
          fill +
              "ld.shared.f32 %r8, [%r5]; ld.shared.f32 %r9, [%r5+4]; ld.shared.f32 %r10, [%r5+8]; "
              "ld.shared.f32 %r11, [%r5+64];",
          16) == Kinds{"out-of-bounds t"});
  const auto found = findings(ptx_module(kernel(fill + "ld.shared.u32 %r8, [%r6+4];")), 16);
  CHECK(found.at(0).detail ==
        "reads 4 bytes directly past the end of s (64 bytes), in t, which lies beside it");
}

TEST_CASE("threads that follow parents in a volatile tree need no fence", "[finding][race]") {
  // Block 0 writes both words by one store, block 1 waits for the second and reads the first; or by two stores.
  for (const bool one_store : {true, false}) {
    const std::string second = "st.volatile.global.u32 [%rd6], 7;\n";
    const auto found = findings(
        ptx_module(kernel("mov.u32 %r6, %ctaid.x; setp.ne.u32 %p1, %r6, 0; mov.u64 %rd6, %rd3;\n"
                          "@%p1 bra AGAIN;\nNEXT: " +
                          second +
                          "setp.eq.u64 %p2, %rd6, %rd4;\n@%p2 bra END;\nmov.u64 %rd6, %rd4;\n" +
                          (one_store ? "bra NEXT;\n" : second + "bra END;\n") +
                          "AGAIN: ld.volatile.global.u32 %r7, [%rd4]; setp.eq.u32 %p4, %r7, 0;\n"
                          "@%p4 bra AGAIN;\nld.volatile.global.u32 %r8, [%rd3];\n"
                          "st.global.u32 [%rd3+256], %r8;\nEND:")),
        1, 2);
    CHECK(found.size() == (one_store ? 0 : 1));
  }
}

TEST_CASE("a volatile flag needs a fence before it is raised", "[finding][race]") {
  // Block 0 writes and raises a flag, block 1 waits for it and reads.
  const auto hand_over = [](const std::string& fence, const std::string& wait,
                            const std::string& read) {
    std::vector<std::string> kinds;
    for (const Finding& f : findings(
             ptx_module(kernel("mov.u32 %r6, %ctaid.x; setp.ne.u32 %p1, %r6, 0;\n@%p1 bra READER;\n"
                               "st.volatile.global.u32 [%rd3], 7;\n" +
                               fence + "st.volatile.global.u32 [%rd4], 1; bra END;\nREADER:\n" +
                               wait + read + "st.global.u32 [%rd3+256], %r8;\nEND:")),
             1, 2)) {
      CHECK(f.cause == FindingCause::missing_fence);
      kinds.emplace_back(to_string(f.kind));
    }
    return kinds.size();
  };
  const std::string wait =
                        "AGAIN: ld.volatile.global.u32 %r7, [%rd4]; setp.eq.u32 %p4, %r7, 0; "
                        "@%p4 bra AGAIN;\n",
                    atomic =
                        "AGAIN: atom.global.add.u32 %r7, [%rd4], 0; setp.eq.u32 %p4, %r7, 0; "
                        "@%p4 bra AGAIN;\n",
                    read = "ld.volatile.global.u32 %r8, [%rd3];\n";
  CHECK(hand_over("membar.gl;\n", wait, read) == 0);
  CHECK(hand_over("", wait, read) == 1);
  CHECK(hand_over("", atomic, read) == 1);
  // It waits for the value itself, or does not mind how old it is.
  CHECK(hand_over("", wait,
                  "LATER: ld.volatile.global.u32 %r8, [%rd3]; setp.ne.u32 %p4, %r8, 7; @%p4 bra "
                  "LATER;\n") == 0);
  CHECK(hand_over("", "", read) == 0);
}

TEST_CASE("what a flag announces is not to be stored again behind it", "[finding][race]") {
  // Block 0 stores and raises a flag, `again` what it does then; block 1 waits for the flag and reads.
  const auto races = [](const std::string& again) {
    const std::vector<Finding> found = findings(
        ptx_module(kernel("mov.u32 %r6, %ctaid.x; setp.ne.u32 %p1, %r6, 0;\n@%p1 bra READER;\n"
                          "st.global.u32 [%rd3], 7; st.release.gpu.global.u32 [%rd4], 1;\n" +
                          again +
                          "bra END;\nREADER:\nAGAIN: ld.acquire.gpu.global.u32 %r7, [%rd4]; "
                          "setp.eq.u32 %p4, %r7, 0; @%p4 bra AGAIN;\nld.global.u32 %r8, [%rd3]; "
                          "st.global.u32 [%rd3+256], %r8;\nEND:")),
        1, 2);
    for (const Finding& f : found) CHECK(f.kind == FindingKind::global_race);
    return found.size();
  };
  CHECK(races("") == 0);
  CHECK(races("st.release.gpu.global.u32 [%rd4], 1;\n") == 0);
  // Who sees a 1 may have it from the first store of it.
  CHECK(races("st.global.u32 [%rd3], 7; st.release.gpu.global.u32 [%rd4], 1;\n") == 1);
}

// The first 8 of 16 threads write their word of `s`; then all read theirs.
TEST_CASE("what nobody has written may be read, if it is thrown away", "[finding][init]") {
  const auto n = [](const std::string& use) {
    const auto all = findings(
        ptx_module(kernel("add.u32 %r4, %r4, %r3; add.u32 %r5, %r5, %r3; setp.lt.u32 %p1, %r1, 8;\n"
                          "@%p1 st.shared.u32 [%r4], %r1;\nld.shared.u32 %r6, [%r4];\n" +
                          use)),
        16);
    for (const Finding& f : all) {
      CHECK(f.kind == FindingKind::uninitialised_read);
      CHECK(f.at.object == "s");
      CHECK(f.at.thread.x == 8);
    }
    return all.size();
  };
  const std::string store = "st.global.u32 [%rd3], %r7;",
                    select = "selp.b32 %r7, %r7, 0, %p1;\n" + store;
  CHECK(n("") == 0);
  CHECK(n("@%p1 st.global.u32 [%rd3], %r6;") == 0);
  CHECK(n("add.u32 %r7, %r6, 1;\n" + select) == 0);
  CHECK(n("add.u32 %r7, %r6, 1;\n" + store) == 1);
  CHECK(n("st.global.u32 [%rd3], %r6;") == 1);
  // through memory
  const std::string by_t = "st.shared.u32 [%r5], %r6;\nld.shared.u32 %r7, [%r5];\n",
                    by_byte = "st.shared.u32 [%r5], %r6;\nld.shared.u8 %r7, [%r5+1];\n";
  CHECK(n(by_t + select) == 0);
  CHECK(n(by_t + store) == 1);
  CHECK(n(by_byte + store) == 1);
  // by another lane
  CHECK(n("shfl.sync.bfly.b32 %r7, %r6, 8, 31, 0xffff;\n@!%p1 " + store) == 0);
  CHECK(n("shfl.sync.bfly.b32 %r7, %r6, 8, 31, 0xffff;\n@%p1 " + store) == 1);
  // It decides, or is an address.
  CHECK(n("setp.eq.u32 %p2, %r6, 1;\n@%p2 st.global.u32 [%rd3], %r1;") == 1);
  CHECK(n("setp.eq.u32 %p2, %r6, 1; and.pred %p2, %p2, %p1;\n@%p2 st.global.u32 [%rd3], %r1;") ==
        0);
  const std::string far =
      "cvt.u64.u32 %rd5, %r7; add.u64 %rd5, %rd5, %rd3;\nst.global.u32 [%rd5], %r1;";
  CHECK(n("and.b32 %r7, %r6, 4;\n" + far) == 1);
  CHECK(n("and.b32 %r7, %r6, 0;\n" + far) == 0);
  // Some of its bits.
  CHECK(n("and.b32 %r7, %r6, 1;\n" + select) == 0);
  CHECK(n("and.b32 %r7, %r6, 1;\n" + store) == 0);  // only passed on: a bit field beside others
  CHECK(n("and.b32 %r7, %r6, 1; add.u32 %r7, %r7, 1;\n" + store) == 1);
  // Where nobody knows what becomes of it.
  CHECK(n("redux.sync.add.u32 %r7, %r6, 0xffff;\n" + select) == 1);
}

// A word of shared memory is set bit by bit, as a struct's bit fields are: its first three bits and then ten more.
TEST_CASE("bits that nothing has set are told from those beside them", "[finding][init]") {
  const auto n = [](const std::string& use, const std::string& select = "") {
    return findings(ptx_module(kernel(
                        "add.u32 %r4, %r4, %r3; ld.shared.u32 %r6, [%r4]; and.b32 %r6, %r6, -8;\n"
                        "and.b32 %r7, %r1, 7; or.b32 %r6, %r6, %r7; st.shared.u32 [%r4], %r6;\n"
                        "ld.shared.u32 %r6, [%r4]; and.b32 %r6, %r6, -8185; shl.b32 %r7, %r1, 3;\n"
                        "or.b32 %r6, %r6, %r7; st.shared.u32 [%r4], %r6; bar.sync 0;\n"
                        "ld.shared.u32 %r6, [%r4];\n" +
                        select + use)),
                    16)
        .size();
  };
  const std::string store = "st.global.u32 [%rd3], %r7;", add = "add.u32 %r7, %r7, 1;\n" + store;
  CHECK(n("and.b32 %r7, %r6, 7;\n" + add) == 0);
  CHECK(n("bfe.u32 %r7, %r6, 3, 10;\n" + add) == 0);
  CHECK(n("bfe.u32 %r7, %r6, 3, 11;\n" + add) == 1);
  CHECK(n("shr.u32 %r7, %r6, 3; and.b32 %r7, %r7, 1023;\n" + add) == 0);
  CHECK(n("shr.u32 %r7, %r6, 13;\n" + add) == 1);
  CHECK(n("shl.b32 %r7, %r6, 19;\n" + add) == 0);
  CHECK(n("shl.b32 %r7, %r6, 18;\n" + add) == 1);
  CHECK(n("prmt.b32 %r7, %r6, 0, 0x4440;\n" + add) == 0);
  CHECK(n("prmt.b32 %r7, %r6, 0, 0x4441;\n" + add) == 1);
  CHECK(n("mov.b32 {%h1, %h2}, %r6; cvt.u32.u16 %r7, %h1; bfi.b32 %r7, 0, %r7, 13, 19;\n" + add) ==
        0);
  CHECK(n("mov.b32 {%h1, %h2}, %r6; cvt.u32.u16 %r7, %h1;\n" + add) == 1);
  CHECK(n("lop3.b32 %r7, %r6, 8191, 0, 0xc0;\n" + add) == 0);
  CHECK(n("lop3.b32 %r7, %r6, 8191, 0, 0xfc;\n" + add) == 1);
  CHECK(n("not.b32 %r7, %r6; and.b32 %r7, %r7, 8191;\n" + add) == 0);
  CHECK(n("xor.b32 %r7, %r6, %r1; shf.l.wrap.b32 %r7, 0, %r7, 19;\n" + add) == 0);
  CHECK(n("shf.l.wrap.b32 %r7, 0, %r6, 18;\n" + add) == 1);
  CHECK(n("cvt.u32.u8 %r7, %r6;\n" + add) == 0);
  CHECK(n("cvt.s32.s16 %r7, %r6;\n" + add) == 1);
  // Sums and products carry upwards.
  CHECK(n("add.u32 %r7, %r6, 5; and.b32 %r7, %r7, 8191;\n" + store) == 0);
  CHECK(n("sub.u32 %r7, %r6, %r1; and.b32 %r7, %r7, 8191;\n" + store) == 0);
  CHECK(n("mul.lo.u32 %r7, %r6, 3; and.b32 %r7, %r7, 8191;\n" + store) == 0);
  CHECK(n("mul.hi.u32 %r7, %r6, 3;\n" + store) == 1);
  // A comparison that comes out the same, whatever the other bits are.
  const auto compared = [&](const std::string& with) {
    return n("setp." + with + "; @%p1 st.global.u32 [%rd3], %r1;");
  };
  CHECK(compared("eq.u32 %p1, %r6, 8192") == 1);
  CHECK(compared("eq.u32 %p1, %r1, %r6") == 1);
  CHECK(n("or.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 2; @%p1 st.global.u32 [%rd3], %r1;") == 0);
  CHECK(
      n("and.b32 %r7, %r6, 16383; setp.lt.u32 %p1, %r7, 16384; @%p1 st.global.u32 [%rd3], %r1;") ==
      0);
  CHECK(n("and.b32 %r7, %r6, 16383; setp.gt.s32 %p1, %r7, -1; @%p1 st.global.u32 [%rd3], %r1;") ==
        0);
  CHECK(compared("lt.u32 %p1, %r6, 8192") == 1);
  // A word of which some bits are set may be stored; of one that is read as a byte nothing is.
  CHECK(n("mov.u32 %r7, %r6;\n" + store) == 0);
  CHECK(n("ld.shared.u8 %r7, [%r4+2];\n" + store) == 1);
}

// Halves of a register, one of which is set.
TEST_CASE("one half of a pair may be unset", "[finding][init]") {
  const std::string begin =
      "cvt.u16.u32 %h1, %r1; mov.b32 %r6, {%h1, %h2}; add.f16x2 %r7, %r6, %r6;\n"
      "mov.b32 {%h3, %h4}, %r7;\n";
  const auto n = [&](const std::string& half) {
    const std::string use = begin + "add.f16 " + half + ", " + half + ", " + half +
                            ";\nst.global.u16 [%rd3], " + half + ";";
    return uses_of_marked("mov.u16 %h2, 0;\n" + use, "mov.u16 %h2, %simgpu_unset;\n" + use);
  };
  CHECK(n("%h3") == 0);
  CHECK(n("%h4") == 32);
}

// f(use, value) stores value + 1 if `use` is not 0, and returns it plus 1; at_address has its parameters in local memory.
TEST_CASE("marks go through functions that are not inlined", "[finding][init]") {
  const std::string functions =
      ".visible .func (.param .b32 result) f(.param .b32 use, .param .b32 value, .param .b64 to)\n{\n"
      ".reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<2>;\n"
      "ld.param.u32 %r1, [use]; ld.param.u32 %r2, [value]; ld.param.u64 %rd1, [to];\n"
      "add.u32 %r3, %r2, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra END;\nst.u32 [%rd1], %r3;\nEND:\n"
      "st.param.b32 [result], %r3; ret;\n}\n"
      ".visible .func (.param .b32 result) at_address(.param .b32 use, .param .b32 value, .param .b64 "
      "to)\n{\n.reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<5>;\n"
      "ld.param.u32 %r1, [use]; setp.eq.u32 %p1, %r1, 0; mov.u64 %rd1, use; mov.u64 %rd2, value;\n"
      "selp.b64 %rd3, %rd1, %rd2, %p1; ld.local.u32 %r3, [%rd3]; st.param.b32 [result], %r3; "
      "ret;\n}\n";
  const auto call = [](const std::string& function, const std::string& use) {
    return "{\n.param .b32 p0; .param .b32 p1; .param .b64 p2; .param .b32 back;\nst.param.b32 [p0], " +
           use + "; st.param.b32 [p1], %r6; st.param.b64 [p2], %rd3;\ncall.uni (back), " +
           function + ", (p0, p1, p2);\nld.param.b32 %r7, [back];\n}\n";
  };
  const std::string store = "st.global.u32 [%rd3+256], %r7;",
                    compute = "add.u32 %r7, %r7, 1;\n" + store;
  // From a variable, and from shared memory that nobody has written.
  const auto n = [&](const std::string& body) {
    const auto text = [&](const std::string& first) {
      return ptx_module(functions + kernel(first + body));
    };
    const int of_variable =
        uses(findings(text("mov.u32 %r6, 0;\n"), 16, 1, text("mov.u32 %r6, %simgpu_unset;\n")));
    const auto of_load = findings(text("ld.shared.u32 %r6, [s];\n"), 16);
    CHECK((of_variable != 0) == !of_load.empty());
    return of_variable;
  };
  CHECK(n(call("f", "0")) == 0);
  CHECK(n(call("f", "1")) == 16);
  CHECK(n(call("f", "0") + store) == 16);
  CHECK(n(call("f", "0") + "mov.u32 %r7, 1;\n" + store) == 0);
  CHECK(n(call("at_address", "0") + compute) == 0);
  CHECK(n(call("at_address", "1")) == 0);
  CHECK(n(call("at_address", "1") + compute) == 16);
  // The next call has other arguments.
  CHECK(n(call("f", "0") + "mov.u32 %r6, 3;\n" + call("f", "1") + store) == 0);
}

// A struct of a byte, three of padding and a word is copied byte by byte to another.
TEST_CASE("padding may be copied by bytes", "[finding][init]") {
  const auto n = [](const std::string& written, const std::string& to, const std::string& then) {
    return findings(
               ptx_module(kernel(
                   "shl.b32 %r3, %r1, 3; add.u32 %r4, %r4, %r3; add.u32 %r5, %r5, %r3;\n"
                   "mul.wide.u32 %rd2, %r1, 8; add.u64 %rd3, %rd1, %rd2;\n" +
                   written +
                   "mov.u32 %r10, 0; mov.u64 %rd6, %rd3;\nAGAIN: add.u32 %r11, %r4, %r10; "
                   "add.u32 %r12, %r5, %r10; ld.shared.b8 %h1, [%r11]; " +
                   to +
                   "add.u32 %r10, %r10, 1; add.u64 %rd6, %rd6, 1; setp.lt.u32 %p1, %r10, 8; @%p1 "
                   "bra AGAIN;\n" +
                   then)),
               8)
        .size();
  };
  const std::string some = "st.shared.u8 [%r4], 1; st.shared.u32 [%r4+4], 2;\n",
                    shared = "st.shared.b8 [%r12], %h1; ", global = "st.global.b8 [%rd6], %h1; ";
  CHECK(n(some, global, "") == 0);
  CHECK(n("", global, "") == 1);
  CHECK(n(some, shared, "ld.shared.b64 %rd5, [%r5]; st.global.b64 [%rd3], %rd5;") == 0);
  CHECK(n(some, shared,
          "ld.shared.u32 %r7, [%r5+4]; add.u32 %r7, %r7, 1; st.global.u32 [%rd3], %r7;") == 0);
  CHECK(n(some, shared,
          "ld.shared.u8 %r7, [%r5+1]; add.u32 %r7, %r7, 1; st.global.u32 [%rd3], %r7;") == 1);
}

}  // namespace
}  // namespace simgpu::test
