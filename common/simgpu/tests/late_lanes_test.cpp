// Lanes that wait for something keep the others of their warp waiting at the next shuffle, warp barrier or
// instruction .sync.aligned, as on a GPU; and what waits at mbarriers and asks for registers is looked at.
#include <cstdint>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/findings.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using findings::of_kind;
using u32 = std::uint32_t;

std::string kernel(const std::string& body) {
  return ".visible .entry k(.param .u64 out, .param .u64 flag)\n{\n.reg .pred %p<9>; .reg .b32 %r<20>; .reg "
         ".b64 %rd<9>;\n.shared .align 8 .b8 bar[16]; .shared .align 16 .b8 s[8192];\n"
         "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shl.b32 %r3, %r1, 2; mov.u32 %r4, s; add.u32 %r5, %r4, "
         "%r3; mov.u32 %r6, bar; mov.u32 %r7, %ctaid.x;\n"
         "ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.param.u64 %rd4, "
         "[flag]; mov.u32 %r10, 0;\n" +
         body + "\nret;\n}\n";
}

struct Result {
  LaunchReport report;
  std::vector<u32> out;
};
Result run(const std::string& body, unsigned blocks, unsigned threads) {
  Gpu gpu(ptx_module(kernel(body)));
  const DevicePtr out = gpu.upload(std::vector<u32>(1024, 1), "out"),
                  flag = gpu.upload(std::vector<u32>(32768, 0), "flag");
  LaunchReport report =
      gpu.run("k", {blocks, 1, 1}, {threads, 1, 1}, 0u, LaunchOptions{}, out, flag);
  return {std::move(report), gpu.download<u32>(out, 1024)};
}

// In block 0, lane 0 looks at a flag that block 1 raises.
const std::string kSpin =
    "setp.ne.u32 %p1, %r7, 0; @%p1 bra RAISE;\n"
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra MEET;\n"
    "LOOK: atom.global.add.u32 %r10, [%rd4], 0; setp.eq.u32 %p3, %r10, 0; @%p3 bra LOOK;\n"
    "MEET:\n";
const std::string kRaise =
    "bra DONE;\n"
    "RAISE: setp.ne.u32 %p4, %r1, 0; @%p4 bra DONE; membar.gl; atom.global.exch.b32 %r11, [%rd4], 7;\n"
    "DONE:\n";

TEST_CASE("a lane that looks at a flag is waited for", "[engine][waiting]") {
  // Lane 0 hands the flag's value to all.
  const Result shuffled =
      run(kSpin + "shfl.sync.idx.b32 %r12, %r10, 0, 31, 0xffffffff; st.global.u32 [%rd3], %r12;\n" +
              kRaise,
          2, 32);
  CHECK(to_text(shuffled.report.findings) == "");
  for (unsigned i = 0; i < 32; ++i) CHECK(shuffled.out[i] == 7);
  // The same through memory and a barrier of the warp.
  const Result met = run(
      kSpin +
          "@!%p2 st.shared.u32 [%r5], %r10; bar.warp.sync 0xffffffff; ld.shared.u32 %r12, [%r4]; "
          "st.global.u32 [%rd3], %r12;\n" +
          kRaise,
      2, 32);
  CHECK(to_text(met.report.findings) == "");
  for (unsigned i = 0; i < 32; ++i) CHECK(met.out[i] == 7);
}

TEST_CASE("lanes that have returned may be named", "[engine][waiting]") {
  // "if (i >= n) return;", then everything that takes a mask, with all lanes in it.
  const std::string guard = "setp.gt.u32 %p1, %r1, 51; @%p1 bra DONE; setp.eq.u32 %p2, %r1, %r1;\n",
                    then = "bar.warp.sync 0xffffffff; st.global.u32 [%rd3], %r12;\nDONE:\n";
  const auto first_lane = [](const Result& r) { return r.out[32]; };
  const Result voted = run(guard + "vote.sync.ballot.b32 %r12, %p2, 0xffffffff;" + then, 1, 64);
  CHECK(to_text(voted.report.findings) == "");
  CHECK(first_lane(voted) == 0xfffff);
  const Result all = run(
      guard + "vote.sync.all.pred %p3, %p2, 0xffffffff; selp.u32 %r12, 5, 6, %p3;" + then, 1, 64);
  CHECK(to_text(all.report.findings) == "");
  CHECK(first_lane(all) == 5);
  const Result shuffled =
      run(guard + "shfl.sync.idx.b32 %r12, %r1, 3, 31, 0xffffffff;" + then, 1, 64);
  CHECK(to_text(shuffled.report.findings) == "");
  CHECK(first_lane(shuffled) == 35);
  const Result matched = run(guard + "match.any.sync.b32 %r12, %r7, 0xffffffff;" + then, 1, 64);
  CHECK(to_text(matched.report.findings) == "");
  CHECK(first_lane(matched) == 0xfffff);
  // Lanes that are elsewhere and do not return at once are missed as before.
  const Result missed =
      run("setp.gt.u32 %p1, %r1, 51; @%p1 bra ELSE; bar.warp.sync 0xffffffff; bra DONE;\n"
          "ELSE: bar.warp.sync 0xffffffff;\nDONE:\n",
          1, 64);
  CHECK(of_kind(missed.report, FindingKind::divergent_barrier).size() == 1);
}

TEST_CASE("lanes that nobody can wait for go on without the others, and that is told",
          "[engine][waiting]") {
  // Lane 0 waits for a flag that the other lanes raise behind the shuffle: a deadlock on a GPU.
  const Result r =
      run("setp.ne.u32 %p2, %r2, 0; @%p2 bra MEET;\n"
          "LOOK: atom.global.add.u32 %r10, [%rd4], 0; setp.eq.u32 %p3, %r10, 0; @%p3 bra LOOK;\n"
          "MEET: shfl.sync.idx.b32 %r12, %r2, 5, 31, 0xffffffff;\n"
          "@%p2 atom.global.exch.b32 %r11, [%rd4], 7;\n",
          1, 32);
  CHECK(of_kind(r.report, FindingKind::divergent_barrier).size() == 1);
}

// Thread 0 waits at the mbarrier, which threads of warp 1 arrive at.
const std::string kWait =
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra INITED; mbarrier.init.shared.b64 [%r6], 32;\nINITED: bar.sync 0;\n"
    "setp.lt.u32 %p2, %r1, 32; @%p2 bra FIRST; mbarrier.arrive.shared.b64 _, [%r6]; bra MEET;\n"
    "FIRST: setp.ne.u32 %p3, %r1, 0; @%p3 bra MEET;\n"
    "TRY: mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0; @!%p4 bra TRY; mov.u32 %r10, 9;\n"
    "MEET:\n";

TEST_CASE("a lane that waits at an mbarrier is waited for", "[engine][waiting][proxy]") {
  const Result shuffled =
      run(kWait + "shfl.sync.idx.b32 %r12, %r10, 0, 31, 0xffffffff; st.global.u32 [%rd3], %r12;\n",
          1, 64);
  CHECK(to_text(shuffled.report.findings) == "");
  for (unsigned i = 0; i < 32; ++i) CHECK(shuffled.out[i] == 9);
  const Result block = run(kWait + "bar.sync 0; st.global.u32 [%rd3], %r10;\n", 1, 64);
  CHECK(to_text(block.report.findings) == "");
  const Result cluster =
      run(kWait + "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n", 1, 64);
  CHECK(to_text(cluster.report.findings) == "");
  // A barrier that one lane never comes to is still found.
  const Result half =
      run(kWait + "setp.eq.u32 %p5, %r1, 0; @%p5 bra END; bar.sync 0;\nEND:\n", 1, 64);
  CHECK_FALSE(half.report.findings.empty());
}

TEST_CASE("who uses an mbarrier must know that it is initialised", "[proxy][race]") {
  // Thread 0 initialises it and arrives; warp 1 waits.
  const auto found = [](const std::string& between) {
    return of_kind(
               run("setp.ne.u32 %p1, %r1, 0; @%p1 bra INITED; mbarrier.init.shared.b64 [%r6], 1;\nINITED: " +
                       between +
                       "\n@!%p1 mbarrier.arrive.shared.b64 _, [%r6];\n"
                       "TRY: mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0; @!%p4 bra TRY;\n",
                   1, 64)
                   .report,
               FindingKind::shared_race)
        .size();
  };
  CHECK(found("bar.sync 0;") == 0);
  CHECK(found("bar.warp.sync 0xffffffff;") == 1);
}

TEST_CASE("somebody must look at what a wait returns", "[proxy][finding]") {
  const std::string init =
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra INITED; mbarrier.init.shared.b64 [%r6], 32;\nINITED: bar.sync 0;\n"
      "mbarrier.arrive.shared.b64 _, [%r6];\n";
  const auto found = [&](const std::string& wait) {
    return of_kind(run(init + wait, 1, 32).report, FindingKind::async_not_waited).size();
  };
  const std::string once = "mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0;\n";
  CHECK(found(once) == 1);
  CHECK(found(once + "selp.u32 %r10, 1, 0, %p4;") == 1);
  CHECK(found(once + "selp.u32 %r10, 1, 0, %p4; st.global.u32 [%rd3], %r10;") == 0);
  CHECK(found(once + "selp.u32 %r10, 1, 0, %p4; and.b32 %r10, %r10, %r10;") == 1);
  CHECK(found("TRY: " + once + "@!%p4 bra TRY;") == 0);
  // As many as a program can hold take no longer than their number.
  std::string many;
  for (int i = 0; i < 20000; ++i) many += once;
  CHECK(found(many) == 1);
}

// Every thread copies its word; %p4: the phase of its copies has ended.
std::string copied(const std::string& arrive, const std::string& wait) {
  return "setp.ne.u32 %p1, %r1, 0; @%p1 bra INITED; mbarrier.init.shared.b64 [%r6], 64;\nINITED: bar.sync 0;\n"
         "add.u64 %rd5, %rd4, %rd2; cp.async.ca.shared.global [%r5], [%rd5], 4;\n" +
         arrive + "\n" + wait +
         "xor.b32 %r8, %r3, 128; add.u32 %r8, %r8, %r4; ld.shared.u32 %r12, [%r8]; st.global.u32 [%rd3], %r12;\n";
}

TEST_CASE("cp.async.mbarrier.arrive tells an mbarrier of copies", "[engine][async][proxy]") {
  const std::string
      noinc = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r6];",
      both = "cp.async.mbarrier.arrive.shared.b64 [%r6]; mbarrier.arrive.shared.b64 _, [%r6];",
      wait = "TRY: mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0; @!%p4 bra TRY;\n";
  for (const std::string& arrive : {noinc, both}) {
    const Result r = run(copied(arrive, wait), 1, 64);
    CHECK(to_text(r.report.findings) == "");
    for (unsigned i = 0; i < 64; ++i) CHECK(r.out[i] == 0);
  }
  // Without the wait, another warp's word is read too early.
  CHECK_FALSE(run(copied(noinc, ""), 1, 64).report.findings.empty());
  // Without .noinc, the arrival is one more than init has counted: nobody ends the phase.
  CHECK(of_kind(run(copied("cp.async.mbarrier.arrive.shared.b64 [%r6];", wait), 1, 64).report,
                FindingKind::deadlock)
            .size() == 1);
}

TEST_CASE("setmaxnreg: whole warpgroups, and no more registers than there are",
          "[proxy][finding]") {
  const auto found = [](const std::string& body, FindingKind kind) {
    return of_kind(run("setp.lt.u32 %p1, %r1, 128; @%p1 bra PRODUCER;\n"
                       "setmaxnreg.inc.sync.aligned.u32 240; bra END;\nPRODUCER:\n" +
                           body + "\nEND:\n",
                       1, 384)
                       .report,
                   kind)
        .size();
  };
  const std::string gives = "setmaxnreg.dec.sync.aligned.u32 24;";
  for (const FindingKind kind : {FindingKind::deadlock, FindingKind::divergent_barrier})
    CHECK(found(gives, kind) == 0);
  // 256 threads of 240 registers and 128 of 168 are more than 65536.
  CHECK(found("", FindingKind::deadlock) == 1);
  CHECK(found("setp.ne.u32 %p2, %r1, 0; @%p2 bra END; " + gives, FindingKind::divergent_barrier) >=
        1);
  // One warp of the four.
  CHECK(found("setp.gt.u32 %p2, %r1, 31; @%p2 bra END; " + gives, FindingKind::divergent_barrier) ==
        1);
}

TEST_CASE("a deadlock tells of bytes that do not add up before it tells who waits for that",
          "[proxy][finding]") {
  // Warp 0 waits until its place is free, which warp 1 gives free when the bytes are there: 16 of 32.
  const Result r = run(
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra INITED; mbarrier.init.shared.b64 [%r6], 1; mbarrier.init.shared.b64 "
      "[%r6+8], 1; fence.mbarrier_init.release.cluster;\n"
      "INITED: bar.sync 0; and.b32 %r8, %r1, 31; setp.ne.u32 %p2, %r8, 0; @%p2 bra END;\n"
      "setp.eq.u32 %p3, %r1, 32; add.u32 %r9, %r6, 8; selp.u32 %r9, %r6, %r9, %p3; @%p3 bra WAIT;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 32;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd4], 16, [%r6];\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [%r9], 0; @!%p4 bra WAIT;\n"
      "mbarrier.arrive.shared.b64 _, [%r6+8];\nEND:\n",
      1, 64);
  const std::vector<Finding> all = of_kind(r.report, FindingKind::deadlock);
  REQUIRE(all.size() == 1);
  CHECK(all[0].detail.find("warp 1 waits") < all[0].detail.find("announced 32 bytes"));
  CHECK(all[0].detail.find("brought 16") < all[0].detail.find("warp 0 waits"));
  CHECK(all[0].detail.find("warp 0 waits") != std::string::npos);
}

TEST_CASE("arrivals that are too many: why", "[proxy][finding]") {
  const Result r = run(
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra INITED; mbarrier.init.shared.b64 [%r6], 1;\nINITED: bar.sync 0;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 32;\n",
      1, 32);
  const std::vector<Finding> all = of_kind(r.report, FindingKind::trap);
  REQUIRE(all.size() == 1);
  CHECK(all[0].detail.find("let one thread do it") != std::string::npos);
}

TEST_CASE("many sums between blocks leave room for their flags", "[engine][race]") {
  // Block 0 adds to 20480 places behind a fence, then raises a flag for what it has written; block 1 reads that.
  const Result r = run(
      "setp.ne.u32 %p1, %r7, 0; @%p1 bra READER; membar.gl;\n"
      "mov.u32 %r8, 0;\n"
      "SUM: mad.lo.u32 %r9, %r8, 512, %r1; add.u32 %r9, %r9, 64; mul.wide.u32 %rd5, %r9, 4; add.u64 %rd5, %rd5, %rd4;\n"
      "red.global.add.f32 [%rd5], 0f3F800000; add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 40; @%p2 bra SUM;\n"
      "st.global.u32 [%rd3], 5; membar.gl; bar.sync 0; setp.ne.u32 %p3, %r1, 0; @%p3 bra END;\n"
      "atom.global.exch.b32 %r11, [%rd4], 1; bra END;\n"
      "READER: setp.ne.u32 %p3, %r1, 0; @%p3 bra GO;\n"
      "LOOK: atom.global.add.u32 %r10, [%rd4], 0; setp.eq.u32 %p4, %r10, 0; @%p4 bra LOOK;\n"
      "GO: bar.sync 0; membar.gl; ld.global.u32 %r12, [%rd3]; add.u32 %r12, %r12, 1; st.global.u32 [%rd3+2048], %r12;\nEND:\n",
      2, 512);
  CHECK(to_text(r.report.findings) == "");
  CHECK(r.out[512] == 6);
}

}  // namespace
}  // namespace simgpu::test
