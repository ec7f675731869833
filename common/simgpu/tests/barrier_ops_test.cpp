// Barriers as instructions: reductions over the block, named barriers, bar.arrive.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST_CASE("bar.red over the block", "[opcode][barrier]") {
  const std::string ptx = ptx_module(R"(
.visible .entry k(.param .u64 out, .param .u32 limit)
{
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r4, [limit];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 12; add.s64 %rd1, %rd1, %rd2;
  setp.lt.u32 %p1, %r1, %r4;
  bar.red.popc.u32 %r2, 0, %p1;
  st.global.u32 [%rd1], %r2;
  bar.red.and.pred %p2, 0, %p1;
  selp.u32 %r2, 1, 0, %p2;
  st.global.u32 [%rd1+4], %r2;
  barrier.red.or.pred %p2, 0, !%p1;
  selp.u32 %r2, 1, 0, %p2;
  st.global.u32 [%rd1+8], %r2;
  ret;
})");
  Gpu gpu(ptx);
  for (const u32 limit : {0u, 1u, 37u, 99u, 100u}) {
    const DevicePtr out = gpu.device.alloc(1200, "out");
    const LaunchReport report = gpu.run("k", {1, 1, 1}, {100, 1, 1}, out, limit);
    CHECK(to_text(report.findings).empty());
    const std::vector<u32> got = gpu.download<u32>(out, 300);
    for (u32 t = 0; t < 100; ++t) {
      CHECK(got[3 * t] == limit);
      CHECK(got[3 * t + 1] == u32{limit == 100});
      CHECK(got[3 * t + 2] == u32{limit != 100});
    }
    CHECK(report.total.barriers == 12);  // 4 warps, 3 barriers
    CHECK(report.total.block_barriers == 3);
  }
}

TEST_CASE("named barriers between parts of a block", "[opcode][barrier]") {
  // Warp 0 fills, warps 1 and 2 wait: bar.arrive and bar.sync with a thread count.
  const std::string ptx = ptx_module(R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 box[128];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  mul.wide.u32 %rd2, %r2, 4;
  mov.u64 %rd3, box;
  add.s64 %rd3, %rd3, %rd2;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra CONSUMER;
  add.s32 %r3, %r1, 50;
  st.shared.u32 [%rd3], %r3;
  bar.arrive 3, 96;
  ret;
CONSUMER:
  bar.sync 3, 96;
  ld.shared.u32 %r3, [%rd3];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1+-128], %r3;
  ret;
})");
  Gpu gpu(ptx);
  const DevicePtr out = gpu.device.alloc(256, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {96, 1, 1}, out);
  CHECK(to_text(report.findings).empty());
  CHECK(report.completed);
  const std::vector<u32> got = gpu.download<u32>(out, 64);
  for (u32 t = 0; t < 64; ++t) CHECK(got[t] == t % 32 + 50);
}

namespace {

/// `body` with %r1 = the thread, %r2 = its lane, %r3 = its warp, %rd1 = out, %rd3 = its own word of
/// box.
LaunchReport run_named(const std::string& body, u32 threads, std::vector<u32>* out = nullptr) {
  Gpu gpu(
      ptx_module(".visible .entry k(.param .u64 out)\n{\n"
                 ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"
                 ".shared .align 4 .b8 box[4096];\n"
                 "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31;\n"
                 "shr.u32 %r3, %r1, 5; mul.wide.u32 %rd2, %r1, 4; mov.u64 %rd3, box;\n"
                 "add.s64 %rd3, %rd3, %rd2; add.s64 %rd1, %rd1, %rd2;\n" +
                 body + "\nret;\n}"));
  const DevicePtr to = gpu.device.alloc(threads * 4, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {threads, 1, 1}, to);
  if (out != nullptr) *out = gpu.download<u32>(to, threads);
  return report;
}

bool has_kind(const LaunchReport& report, FindingKind kind) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [kind](const Finding& f) { return f.kind == kind; });
}

}  // namespace

TEST_CASE("named barriers of several groups at once", "[opcode][barrier]") {
  // Warps 0 and 1 meet at barrier 15, warps 2 to 4 at barrier 1, at a different pace: warp w reads
  // what its group's other warps wrote one round before. The last warp has four lanes, which count
  // as 32.
  const std::string body = R"(
  setp.lt.u32 %p1, %r3, 2;
  selp.u32 %r4, 15, 1, %p1;
  selp.u32 %r5, 64, 96, %p1;
  selp.u32 %r6, 3, 5, %p1;
  mov.u32 %r7, 0; mov.u32 %r8, 0;
LOOP:
  add.u32 %r9, %r7, %r3;
  st.shared.u32 [%rd3], %r9;
  bar.sync %r4, %r5;
  selp.u32 %r10, 0, 64, %p1;
  mul.wide.u32 %rd4, %r10, 4; mov.u64 %rd5, box; add.s64 %rd5, %rd5, %rd4;
  ld.shared.u32 %r11, [%rd5+128];
  add.u32 %r8, %r8, %r11;
  bar.sync %r4, %r5;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, %r6;
  @%p2 bra LOOP;
  st.global.u32 [%rd1], %r8;)";
  std::vector<u32> got;
  const LaunchReport report = run_named(body, 132, &got);
  CHECK(to_text(report.findings).empty());
  CHECK(report.completed);
  // Warp 1 wrote round + 1 in three rounds, warp 3 round + 3 in five.
  for (u32 t = 0; t < 132; ++t) CHECK(got[t] == (t < 64 ? 0 + 1 + 2 + 3 : 10 + 15));
}

TEST_CASE("a ring of full and empty barriers", "[opcode][barrier]") {
  // Warp 0 hands seven values to warp 1 through one word per lane: `full` is 14, `empty` is 2.
  const std::string ring = R"(
  mul.wide.u32 %rd4, %r2, 4; mov.u64 %rd5, box; add.s64 %rd5, %rd5, %rd4;
  mov.u32 %r7, 0; mov.u32 %r8, 0;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra CONSUMER;
PRODUCER:
  bar.sync 2, 64;
  add.u32 %r9, %r7, %r2; st.shared.u32 [%rd5], %r9;
  bar.arrive 14, 64;
  add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 7;
  @%p2 bra PRODUCER;
  bra DONE;
CONSUMER:
  bar.arrive 2, 64;
NEXT:
  bar.sync 14, 64;
  ld.shared.u32 %r9, [%rd5]; add.u32 %r8, %r8, %r9;
  add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 7;
  @%p2 bra AGAIN;
  bra DONE;
AGAIN:
  bar.arrive 2, 64;
  bra NEXT;
DONE:
  st.global.u32 [%rd1], %r8;)";
  std::vector<u32> got;
  const LaunchReport report = run_named(ring, 64, &got);
  CHECK(to_text(report.findings).empty());
  for (u32 t = 0; t < 32; ++t) CHECK(got[32 + t] == 7 * t + 21);
  // `empty` is said before the value has been read: the next one may overwrite it.
  std::string racy = ring;
  const auto replace = [&racy](const std::string& from, const std::string& to) {
    REQUIRE(racy.find(from) != std::string::npos);
    racy.replace(racy.find(from), from.size(), to);
  };
  replace("bar.sync 14, 64;\n", "bar.sync 14, 64;\n  bar.arrive 2, 64;\n");
  replace("AGAIN:\n  bar.arrive 2, 64;\n", "AGAIN:\n");
  CHECK(has_kind(run_named(racy, 64), FindingKind::shared_race));
  // Nobody says `empty`: the consumer waits for values that came before it looked.
  std::string lost = ring;
  lost.replace(lost.find("bar.sync 2, 64;"), 15, "");
  for (std::size_t at; (at = lost.find("bar.arrive 2, 64;")) != std::string::npos;)
    lost.replace(at, 17, "");
  CHECK(has_kind(run_named(lost, 64), FindingKind::deadlock));
}

TEST_CASE("what comes after bar.arrive is not handed over", "[opcode][barrier]") {
  // The producer's warp is the first to run or the last; `late` is what it does after its arrival.
  const auto run = [](bool producer_first, const std::string& late, const std::string& consumer) {
    return run_named(std::string("setp.") + (producer_first ? "ne" : "eq") + R"(.u32 %p1, %r3, 0;
      mul.wide.u32 %rd4, %r2, 4; mov.u64 %rd5, box; add.s64 %rd5, %rd5, %rd4;
      @%p1 bra CONSUMER;
      st.shared.u32 [%rd5], %r1;
      bar.arrive 1, 64;
      )" + late + R"(
      bra DONE;
    CONSUMER:
      bar.sync 1, 64;
      )" + consumer + "\nDONE:",
                     64);
  };
  const std::string again = "st.shared.u32 [%rd5+128], %r1;";
  for (const bool first : {true, false}) {
    INFO((first ? "producer" : "consumer") << " first");
    CHECK(to_text(run(first, "", "ld.shared.u32 %r4, [%rd5];").findings).empty());
    CHECK(to_text(run(first, again, "ld.shared.u32 %r4, [%rd5];").findings).empty());
    // Written, or read, too late: the consumer may already be there.
    for (const auto& [late, consumer] :
         {std::pair{again, "ld.shared.u32 %r4, [%rd5+128];"},
          std::pair{again, "st.shared.u32 [%rd5+128], %r2;"},
          std::pair{std::string("ld.shared.u32 %r4, [%rd5];"), "st.shared.u32 [%rd5], %r2;"}}) {
      INFO(late << "  " << consumer);
      const LaunchReport report = run(first, late, consumer);
      REQUIRE(report.findings.size() == 1);
      CHECK(report.findings[0].kind == FindingKind::shared_race);
      CHECK(report.findings[0].detail.find("bar.arrive orders only what its warp did before it") !=
            std::string::npos);
    }
    // Unless it waits for the consumer in between.
    CHECK(to_text(
              run(first, "bar.sync 2, 64;" + again, "ld.shared.u32 %r4, [%rd5]; bar.arrive 2, 64;")
                  .findings)
              .empty());
    CHECK(to_text(run(first, "bar.sync 2, 64;" + again,
                      "ld.shared.u32 %r4, [%rd5]; bar.sync 2, 64; ld.shared.u32 %r4, [%rd5];")
                      .findings)
              .empty());
  }
}

TEST_CASE("more synchronisations than a tag of the shadow can count", "[opcode][barrier]") {
  // One warp synchronises two million times on its own while the other waits. What each reads of
  // the other was written before they met; only what one writes into its own word after that is a
  // race.
  std::string body = R"(
    st.shared.u32 [%rd3], %r1;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra MEET;
    mov.u32 %r4, 0;
  LOOP:
    SYNCS
    st.shared.u32 [%rd3], %r4;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, TIMES;
    @%p2 bra LOOP;
  MEET:
    bar.sync 0;
    xor.b32 %r5, %r1, 32;
    mul.wide.u32 %rd4, %r5, 4; mov.u64 %rd5, box; add.s64 %rd5, %rd5, %rd4;
    ld.shared.u32 %r6, [%rd5];
    st.global.u32 [%rd1], %r6;
    bar.sync 0;
    @%p1 st.shared.u32 [%rd3], %r6;
    ld.shared.u32 %r6, [%rd5];)";
  for (const auto& [sync, times] :
       {std::pair{"bar.warp.sync -1;", 33000u}, std::pair{"bar.arrive 7, 32;", 17000u}}) {
    INFO(sync);
    std::string syncs;
    for (unsigned k = 0; k < 64; ++k) syncs += sync;
    std::string text = body;
    text.replace(text.find("SYNCS"), 5, syncs);
    text.replace(text.find("TIMES"), 5, std::to_string(times));
    std::vector<u32> got;
    const LaunchReport report = run_named(text, 64, &got);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].kind == FindingKind::shared_race);
    CHECK(report.findings[0].occurrences == 32);
    for (u32 t = 0; t < 64; ++t) CHECK(got[t] == (t < 32 ? t + 32 : times - 1));
  }
}

TEST_CASE("named barriers that cannot be passed", "[opcode][barrier]") {
  // Two of four warps come to a barrier for three; and for two, but under another number.
  LaunchReport report =
      run_named("setp.gt.u32 %p1, %r3, 1;\n@%p1 bra END;\nbar.sync 5, 96;\nEND:", 128);
  REQUIRE(has_kind(report, FindingKind::deadlock));
  CHECK_FALSE(report.completed);
  for (const Finding& f : report.findings)
    if (f.kind == FindingKind::deadlock) {
      INFO(f.detail);
      CHECK(f.detail.find("barrier 5") != std::string::npos);
      CHECK(f.detail.find("expects 96 threads and only 64 can come") != std::string::npos);
    }
  report = run_named("add.u32 %r4, %r3, 7;\nbar.sync %r4, 64;", 64);
  CHECK(has_kind(report, FindingKind::deadlock));
  // Other numbers than 0 to 15, counts that are no whole warps: either refused or reported.
  const auto refused = [](const std::string& body) {
    try {
      const LaunchReport r = run_named(body, 64);
      return !r.completed || !r.findings.empty();
    } catch (const std::exception&) {
      return true;
    }
  };
  CHECK(refused("bar.sync 16, 64;"));
  CHECK(refused("bar.sync 1, 48;"));
  CHECK_FALSE(refused("bar.sync 15, 64;"));
}

}  // namespace
}  // namespace simgpu::test
