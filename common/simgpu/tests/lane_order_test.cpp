// Some lanes of a warp are not the warp: who meets, arrives or waits by himself orders only what he did and
// what he knows. Each kernel is right with the barrier that the test puts in, and a race without it.
#include <cstdint>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/check/clocks.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

std::string kernel(const std::string& body) {
  return ".visible .entry k(.param .u64 a, .param .u64 flag)\n{\n.reg .pred %p<9>; .reg .b32 %r<12>; .reg .b64 "
         "%rd<9>;\n.shared .align 8 .b8 bar[8]; .shared .align 4 .b8 s[1024];\n"
         "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shl.b32 %r3, %r1, 2; mov.u32 %r4, s; add.u32 %r5, "
         "%r4, %r3;\n"
         "ld.param.u64 %rd1, [a]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.param.u64 "
         "%rd4, [flag];\n" +
         body + "\nret;\n}\n";
}

std::vector<std::string> findings(const std::string& body, unsigned threads, unsigned blocks = 1) {
  Gpu gpu(ptx_module(kernel(body)));
  const DevicePtr a = gpu.upload(std::vector<std::uint32_t>(1024, 1), "a"),
                  flag = gpu.upload(std::vector<std::uint32_t>(4, 0), "flag");
  std::vector<std::string> kinds;
  for (const Finding& f :
       gpu.run("k", {blocks, 1, 1}, {threads, 1, 1}, 0u, LaunchOptions{}, a, flag).findings)
    kinds.emplace_back(to_string(f.kind));
  return kinds;
}
const std::vector<std::string> kNone = {}, kSharedRace = {"shared-memory race"},
                               kGlobalRace = {"global-memory race"};

TEST_CASE("a warp barrier of some lanes orders these lanes", "[finding][race]") {
  // Each lane writes its word and reads that of lane ^ `distance`.
  const auto exchange = [](const std::string& mask, unsigned distance) {
    return findings(
        "st.shared.u32 [%r5], %r1; setp.lt.u32 %p1, %r1, 16;\n" + mask +
            "\nbar.warp.sync %r6; xor.b32 %r7, %r3, " + std::to_string(4 * distance) +
            "; add.u32 %r7, %r4, %r7; ld.shared.u32 %r8, [%r7]; st.global.u32 [%rd3], %r8;",
        32);
  };
  const std::string all = "mov.u32 %r6, 0xffffffff;",
                    halves = "selp.u32 %r6, 0xffff, 0xffff0000, %p1;";
  CHECK(exchange(all, 31) == kNone);
  CHECK(exchange(halves, 15) == kNone);
  CHECK(exchange(halves, 16) == kSharedRace);
}

TEST_CASE("lanes that meet one after the other pass on what they know", "[engine][race]") {
  check::BlockClocks clocks;
  clocks.reset(1);
  const std::uint32_t before = clocks.now();
  clocks.sync_lanes(0, 0x3);  // lanes 0 and 1
  const std::uint32_t between = clocks.now();
  clocks.sync_lanes(0, 0x6);  // lanes 1 and 2
  const check::WarpClock& c = clocks.of(0);
  CHECK_FALSE(c.unordered(1, 0, before));
  CHECK_FALSE(c.unordered(2, 0, before));  // through lane 1
  CHECK(c.unordered(2, 0, between));
  CHECK_FALSE(c.unordered(2, 1, between));
  CHECK(c.unordered(0, 2, before));
  CHECK(c.unordered(3, 0, before));
  clocks.sync_lanes(0);
  CHECK_FALSE(c.unordered(3, 0, between));
  // Of many meetings the oldest count as of all lanes: nothing false is said of them.
  const std::uint32_t old = clocks.now();
  for (unsigned k = 0; k < 100; ++k) clocks.sync_lanes(0, 0x3);
  CHECK_FALSE(c.unordered(3, 0, old));
  CHECK(c.unordered(3, 0, clocks.now() - 1));
}

const std::string kInit =
    "setp.ne.u32 %p1, %r1, 0; mov.u32 %r6, bar;\n"
    "st.shared.u32 [%r5], %r1;\n@%p1 bra READY; mbarrier.init.shared.b64 [%r6], COUNT;\n"
    "READY: bar.sync 0; setp.ge.u32 %p2, %r1, 32; setp.eq.u32 %p3, %r2, 0;\n";
const std::string kWait =
    "AGAIN: mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0; @!%p4 bra AGAIN;\n";
const std::string kArrive = "mbarrier.arrive.shared.b64 %rd5, [%r6];\n";

std::string with_count(std::string body, const std::string& count) {
  body.replace(body.find("COUNT"), 5, count);
  return body;
}

TEST_CASE("lane 0 arrives for its warp once the others have come", "[finding][race][proxy]") {
  // Warp 1 reads what warp 0 writes when lane 0 of warp 1 has arrived.
  const auto overwrite = [](const std::string& meet) {
    return findings(with_count(kInit, "1") + "@%p2 bra READER;\n" + kWait +
                        "st.shared.u32 [%r5], 7; bra END;\n"
                        "READER: ld.shared.u32 %r7, [%r5+-128]; st.global.u32 [%rd3], %r7;\n" +
                        meet + "@!%p3 bra END;\n" + kArrive + "END:",
                    64);
  };
  CHECK(overwrite("bar.warp.sync -1;\n") == kNone);
  CHECK(overwrite("shfl.sync.idx.b32 %r8, %r7, 0, 31, -1;\n") == kNone);
  CHECK(overwrite("") == kSharedRace);
}

TEST_CASE("all lanes that arrive by themselves arrive as a warp", "[finding][race][proxy]") {
  CHECK(findings(with_count(kInit, "32") + "@%p2 bra READER;\n" + kWait +
                     "st.shared.u32 [%r5], 7; bra END;\n"
                     "READER: ld.shared.u32 %r7, [%r5+-128]; st.global.u32 [%rd3], %r7;\n" +
                     kArrive + "END:",
                 64) == kNone);
}

TEST_CASE("what lane 0 has waited for the others know once they meet", "[finding][race][proxy]") {
  const auto read = [](const std::string& meet) {
    return findings(with_count(kInit, "32") + "@%p2 bra WRITER;\n@!%p3 bra READ;\n" + kWait +
                        "READ:\n" + meet +
                        "ld.shared.u32 %r7, [%r5+128]; st.global.u32 [%rd3], %r7; bra END;\n"
                        "WRITER: st.shared.u32 [%r5], 7;\n" +
                        kArrive + "END:",
                    64);
  };
  CHECK(read("bar.warp.sync -1;\n") == kNone);
  CHECK(read("bar.sync 1, 32;\n") == kNone);
  CHECK(read("") == kSharedRace);
}

/// Block 0 writes, its thread `writer` raises a flag; thread 0 of block 1 sees it, and all read.
std::vector<std::string> hand_over(unsigned writer, const std::string& before,
                                   const std::string& after) {
  return findings(
      "mov.u32 %r6, %ctaid.x; setp.ne.u32 %p1, %r6, 0; setp.ne.u32 %p2, %r1, " +
          std::to_string(writer) +
          "; setp.ne.u32 %p3, %r1, 0;\n@%p1 bra READER;\nst.global.u32 [%rd3], %r1;\n" + before +
          "@%p2 bra END; membar.gl; atom.global.exch.b32 %r7, [%rd4], 1; bra END;\n"
          "READER: @%p3 bra READ;\nAGAIN: atom.global.add.u32 %r7, [%rd4], 0; setp.eq.u32 %p4, "
          "%r7, 0; @%p4 bra AGAIN; membar.gl;\nREAD:\n" +
          after + "ld.global.u32 %r8, [%rd3]; st.shared.u32 [%r5], %r8;\nEND:",
      128, 2);
}

TEST_CASE("a flag of one thread releases what it knows of its block", "[finding][race]") {
  const std::string meet = "bar.sync 0;\n";
  for (const unsigned writer : {0u, 127u}) {
    CHECK(hand_over(writer, meet, meet) == kNone);
    CHECK(hand_over(writer, "membar.gl; bar.sync 0;\n", meet) == kNone);
    CHECK(hand_over(writer, "", meet) == kGlobalRace);
    CHECK(hand_over(writer, meet, "") == kGlobalRace);
  }
}

TEST_CASE("who meets at a barrier names the same number of threads", "[finding][barrier]") {
  const auto meet = [](const std::string& arriving, const std::string& waiting) {
    return findings("setp.ge.u32 %p1, %r1, 32; @%p1 bra WAITS; bar.arrive 1, " + arriving +
                        "; bra END;\nWAITS: bar.sync 1, " + waiting + ";\nEND:",
                    64);
  };
  CHECK(meet("64", "64") == kNone);
  CHECK(meet("96", "64") == std::vector<std::string>{"mismatched barriers"});
}

TEST_CASE("volatile keeps the lanes of a warp in no order", "[finding][race]") {
  // A sum over the warp, as written before Volta: lane t adds what lane t + 16 has left.
  const auto sum = [](const std::string& between) {
    return findings("st.volatile.shared.u32 [%r5], %r1;\n" + between +
                        "setp.ge.u32 %p1, %r1, 16; @%p1 bra END; ld.volatile.shared.u32 %r8, "
                        "[%r5+64]; st.global.u32 [%rd3], %r8;\nEND:",
                    32);
  };
  CHECK(sum("") == kSharedRace);
  CHECK(sum("bar.warp.sync -1;\n") == kNone);
  CHECK(sum("bar.sync 0;\n") == kNone);
  // The other way round: read, then written by its owner.
  CHECK(findings("st.volatile.shared.u32 [%r5], %r1; bar.sync 0; xor.b32 %r7, %r3, 4; add.u32 "
                 "%r7, %r4, %r7; ld.volatile.shared.u32 %r8, [%r7]; st.volatile.shared.u32 [%r5], "
                 "%r8;",
                 32) == kSharedRace);
  // One place for all is a flag, and who looks again and again waits.
  CHECK(findings("st.volatile.shared.u32 [%r4], %r1; ld.volatile.shared.u32 %r8, [%r4]; "
                 "st.global.u32 [%rd3], %r8;",
                 32) == kNone);
  CHECK(findings("mov.u32 %r9, 0; st.shared.u32 [%r5], %r9; bar.sync 0; st.volatile.shared.u32 "
                 "[%r5], 7; xor.b32 %r7, %r3, 4; add.u32 %r7, %r4, %r7;\nAGAIN: "
                 "ld.volatile.shared.u32 %r8, [%r7]; setp.eq.u32 %p1, %r8, 0; @%p1 bra AGAIN;",
                 32) == kNone);
}

TEST_CASE("a grid of which each block waits for the last one looks little", "[engine]") {
  constexpr unsigned kBlocks = 1000;
  Gpu gpu(ptx_module(kernel(
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; atom.global.add.u32 %r7, [%rd4], 1;\nAGAIN: "
      "ld.volatile.global.u32 %r8, [%rd4]; setp.lt.u32 %p2, %r8, 1000; @%p2 bra AGAIN;\nEND:")));
  const DevicePtr a = gpu.upload(std::vector<std::uint32_t>(4, 1), "a"),
                  flag = gpu.upload(std::vector<std::uint32_t>(4, 0), "flag");
  const auto report = gpu.run("k", {kBlocks, 1, 1}, {1, 1, 1}, 0u, LaunchOptions{}, a, flag);
  CHECK(report.findings.empty());
  // One after the other would be some 500 looks of each block, of three instructions or more.
  CHECK(report.total.thread_instructions < kBlocks * 700);
}

}  // namespace
}  // namespace simgpu::test
