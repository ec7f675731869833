// Clusters in PTX: their barrier, addresses in other blocks, and the mistakes and hostile operands
// that end in findings.
// PTX ISA 9.7.13.4, 9.7.9.22, 5.1.5. tests/programs/cluster.cu and cluster_gemm.cu have the rest.
#include <string>

#include "common/catch2.hpp"
#include "common/simgpu/tests/findings.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using findings::of_kind;
using u32 = std::uint32_t;

const std::string kArrive = "barrier.cluster.arrive.release.aligned;\n",
                  kWait = "barrier.cluster.wait.acquire.aligned;\n", kMeet = kArrive + kWait;

/// One block of 32 threads by rank; %r1 the rank, %r2 the thread, %r3 the address of its word in the
/// other block, %r4 that of its own.
LaunchReport run(const std::string& body, Dim3 cluster = {2, 1, 1},
                 const std::string& directives = "", Dim3 grid = {2, 1, 1},
                 std::vector<u32>* got = nullptr) {
  Gpu gpu(ptx_module(".shared .align 16 .b8 box[256];\n.visible .entry k(.param .u64 out)" +
                     directives +
                     R"(
{
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .b16 %h<4>;
  .loc 1 1 1
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %tid.x; mov.u32 %r4, box;
  shl.b32 %r5, %r2, 2; add.u32 %r4, %r4, %r5; xor.b32 %r6, %r1, 1;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;
  setp.eq.u32 %p1, %r1, 0;
)" + body + "ret;\n}\n.file 1 \"cluster.cu\"\n"));
  const DevicePtr out = gpu.upload(std::vector<u32>(64, 77), "out");
  LaunchOptions options;
  options.cluster = cluster;
  options.instruction_budget = 1 << 22;
  LaunchReport report = gpu.run("k", grid, {32, 1, 1}, 0u, options, out);
  if (got != nullptr) *got = gpu.download<u32>(out, 64);
  return report;
}
const std::string kMap = "mapa.shared::cluster.u32 %r3, %r4, %r6;\n";

TEST_CASE("clusters: blocks reach each other", "[cluster]") {
  std::vector<u32> got;
  const LaunchReport r =
      run("add.u32 %r7, %r2, 500;\nst.shared.u32 [%r4], %r7;\n" + kMeet + kMap +
              "ld.shared::cluster.u32 %r8, [%r3];\n@%p1 st.global.u32 [%rd1], %r8;\n" + kMeet,
          {2, 1, 1}, "", {2, 1, 1}, &got);
  CHECK(to_text(r.findings) == "");
  CHECK(got[0] == 500);
  CHECK(got[31] == 531);
  CHECK(r.total.cluster_load_requests == 2);
  CHECK(r.total.shared_load.requests == 0);
  // A cluster of one is a cluster; its own shared memory by another name.
  CHECK(
      to_text(run("st.shared.u32 [%r4], 5;\nbar.warp.sync 0xffffffff;\n" + kMeet +
                      "mapa.shared::cluster.u32 %r3, %r4, 0;\nld.shared::cluster.u32 %r8, [%r3];\n",
                  {0, 0, 0}, "", {1, 1, 1})
                  .findings) == "");
  // Released by a flag instead of the barrier.
  CHECK(
      to_text(
          run("setp.eq.u32 %p3, %r2, 0;\n@%p3 st.shared.u32 [box+128], 0;\n" + kMeet + kMap +
              "@%p1 bra FIRST;\nW: ld.acquire.cluster.shared::cta.u32 %r8, [box+128];\n"
              "setp.eq.u32 %p2, %r8, 0;\n@%p2 bra W;\nfence.acq_rel.cluster;\n"
              "ld.shared.u32 %r9, [%r4];\nbra END;\n"
              "FIRST: st.shared::cluster.u32 [%r3], 9;\nfence.acq_rel.cluster;\n"
              "mapa.shared::cluster.u32 %r10, box, 1;\n"
              "bar.warp.sync 0xffffffff;\n@%p3 st.release.cluster.shared::cluster.u32 [%r10+128], 1;\nEND:\n" +
              kMeet)
              .findings) == "");
}

TEST_CASE("clusters: directives and launches", "[cluster]") {
  const std::string body = kMeet;
  CHECK(to_text(run(body, {0, 0, 0}, ".explicitcluster .reqnctapercluster 2, 1, 1").findings) ==
        "");
  CHECK(to_text(run(body, {2, 1, 1}, ".reqnctapercluster 2").findings) == "");
  CHECK(to_text(run(body, {2, 1, 1}, ".maxclusterrank 8").findings) == "");
  CHECK_THROWS_AS(run(body, {4, 1, 1}, ".reqnctapercluster 2", {4, 1, 1}), DeviceError);
  CHECK_THROWS_AS(run(body, {2, 1, 1}, "", {3, 1, 1}), DeviceError);
  CHECK_THROWS_AS(run(body, {17, 1, 1}, "", {17, 1, 1}), DeviceError);
  CHECK_THROWS_AS(run(body, {65536, 65536, 1}, "", {2, 1, 1}), DeviceError);
}

TEST_CASE("clusters: mistakes end in one finding each", "[cluster][finding]") {
  const auto one = [](const std::string& body, FindingKind kind, const std::string& text) {
    INFO(body);
    const LaunchReport r = run(".loc 1 5 1\n" + body);
    INFO(to_text(r.findings));
    REQUIRE(of_kind(r, kind).size() >= 1);
    CHECK(of_kind(r, kind)[0].detail.find(text) != std::string::npos);
  };
  one(kArrive + kArrive, FindingKind::trap, "twice");
  one(kWait, FindingKind::trap, "have not arrived");
  one("mapa.shared::cluster.u32 %r3, %r4, 2;\n", FindingKind::trap, "block 2 of a cluster of 2");
  one("mapa.u64 %rd3, %rd1, 1;\n", FindingKind::trap, "not of shared memory");
  one("@%p1 bra E;\nbar.sync 0, 64;\nE:\n" + kMeet, FindingKind::deadlock,
      "waiting at the barrier of its cluster (cluster.cu:5)");
  one(kMeet + kMap + "ld.shared::cluster.u32 %r8, [%r3+65536];\n" + kMeet,
      FindingKind::out_of_bounds, "");
  one(kMeet + "mov.u32 %r3, 0x7f000400;\nst.shared::cluster.u32 [%r3], %r8;\n" + kMeet,
      FindingKind::out_of_bounds, "");
  one(kMap + "st.shared::cluster.u32 [%r3], 1;\n" + kMeet, FindingKind::shared_race,
      "may not have begun");
  one("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n st.shared.u32 [%r4], 1;\n" + kMeet +
          kMap + "st.shared.u32 [%r4], 2;\nld.shared::cluster.u32 %r8, [%r3];\n" + kMeet,
      FindingKind::shared_race, "a barrier of the cluster is missing");
  one(kMeet + kMap + "st.shared::cluster.u32 [%r3], 1;\n", FindingKind::shared_race, "ended");
  // A relaxed arrival orders nothing but what fence.mbarrier_init has told.
  one("st.shared.u32 [%r4], 1;\nbarrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n" + kMap +
          "ld.shared::cluster.u32 %r8, [%r3];\n" + kMeet,
      FindingKind::shared_race, "a barrier of the cluster is missing");
}

TEST_CASE("clusters: mbarriers and copies of other blocks", "[cluster][proxy]") {
  const std::string init =
      "setp.eq.u32 %p3, %r2, 0;\n@%p3 mbarrier.init.shared.b64 [box+128], 1;\n";
  const std::string fence = "@%p3 fence.mbarrier_init.release.cluster;\n";
  const std::string relaxed = "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n";
  const std::string map = "mapa.shared::cluster.u32 %r3, box, %r6;\n";
  const std::string arrive =
      "@%p3 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3+128];\n";
  const std::string wait =
      "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [box+128], 0;\n@!%p2 bra W;\n";
  CHECK(to_text(run(init + fence + relaxed + map + arrive + wait + kMeet).findings) == "");
  const auto kinds = [&](const std::string& body, FindingKind kind) {
    INFO(body);
    const LaunchReport r = run(body);
    INFO(to_text(r.findings));
    CHECK(of_kind(r, kind).size() >= 1);
  };
  kinds(init + relaxed + map + arrive + wait + kMeet, FindingKind::shared_race);  // no fence
  kinds(init + fence + relaxed + wait + kMeet, FindingKind::deadlock);            // nobody arrives
  kinds(init + fence + relaxed + map + arrive, FindingKind::shared_race);         // ends too early
  kinds(init + fence + relaxed + "mapa.u64 %rd4, %rd3, 1;\n", FindingKind::trap);
  // What a block has read, another may overwrite once it was told so.
  const std::string store =
      "@%p3 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r3], %r2, [%r3+128];\n";
  const std::string expect = "@%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [box+128], 4;\n";
  CHECK(to_text(run(init + fence + kMeet + map + expect + store + wait +
                    "ld.shared.u32 %r8, [box];\n" + kMeet)
                    .findings) == "");
  kinds(init + fence + kMeet + map + expect + store + "ld.shared.u32 %r8, [box];\n" + wait + kMeet,
        FindingKind::async_not_waited);
  kinds(
      init + fence + kMeet + "@!%p3 bra E;\n" + map +
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r3], {%r2, %r2, %r2, %r2}, [box+128];\nE:\n" +
          kMeet,
      FindingKind::trap);
}

/// What thread 0 needs before it reduces: a barrier at box+128 that waits for `bytes`, and who waits.
const std::string kLeader =
    "setp.eq.u32 %p3, %r2, 0;\n@%p3 mbarrier.init.shared.b64 [box+128], 1;\n"
    "@%p3 fence.mbarrier_init.release.cluster;\n";
std::string expect(unsigned bytes) {
  return "mapa.shared::cluster.u32 %r3, box, %r6;\n"
         "@%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [box+128], " +
         std::to_string(bytes) + ";\n";
}
const std::string kWaitForTx =
    "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [box+128], 0;\n@!%p2 bra W;\n";
const std::string kStoreWord = "@%p1 st.global.u32 [%rd1], %r8;\n";

TEST_CASE("red.async: every operation, by all threads at once", "[cluster][proxy]") {
  const auto red = [](const std::string& op, const std::string& at = "[%r3]") {
    return "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." + op + " " +
           at + ", %r2, [%r3+128];\n";
  };
  const std::string start =
      kLeader + "@%p3 st.shared.u32 [box], 37;\n@%p3 st.shared.u32 [box+4], 0;\n";
  struct Case {
    const char* op;
    u32 want;
    unsigned bytes = 4;
  };
  // Each thread gives its number, 0 to 31, to a place that holds 37.
  for (const Case c : {Case{"add.u32", 37 + 496},
                       {"add.s32", 37 + 496},
                       {"min.s32", 0},
                       {"min.u32", 0},
                       {"max.u32", 37},
                       {"and.b32", 0},
                       {"or.b32", 63},
                       {"xor.b32", 37},
                       {"inc.u32", 0},
                       {"dec.u32", 31}}) {
    INFO(c.op);
    std::vector<u32> got;
    const LaunchReport r = run(start + kMeet + expect(128) + red(c.op) + kWaitForTx +
                                   "ld.shared.u32 %r8, [box];\n" + kStoreWord + kMeet,
                               {2, 1, 1}, "", {2, 1, 1}, &got);
    CHECK(to_text(r.findings) == "");
    CHECK(r.total.cluster_atomic_requests == 2);
    if (std::string(c.op).find("nc") == std::string::npos && std::string(c.op).find("dec") != 0)
      CHECK(got[0] == c.want);
    else
      CHECK(got[0] <= 37);  // depends on the order
  }
  std::vector<u32> got;
  CHECK(
      to_text(
          run(start + kMeet + expect(256) + "cvt.u64.u32 %rd3, %r2;\n" +
                  "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 "
                  "[%r3], %rd3, [%r3+128];\n" +
                  kWaitForTx + "ld.shared.u32 %r8, [box];\n" + kStoreWord + kMeet,
              {2, 1, 1}, "", {2, 1, 1}, &got)
              .findings) == "");
  CHECK(got[0] == 37 + 496);
  const auto kinds = [&](const std::string& body, FindingKind kind) {
    INFO(body);
    const LaunchReport r = run(body);
    INFO(to_text(r.findings));
    CHECK(of_kind(r, kind).size() >= 1);
  };
  const std::string add = red("add.u32"), read = "ld.shared.u32 %r8, [box];\n";
  kinds(start + kMeet + expect(128) + add + read + kWaitForTx + kMeet,
        FindingKind::async_not_waited);
  kinds(start + kMeet + expect(128) + add + "@%p3 st.shared.u32 [box], 1;\n" + kWaitForTx + kMeet,
        FindingKind::shared_race);
  kinds(start + "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n" + expect(128) + add +
            kWaitForTx + kMeet,
        FindingKind::shared_race);  // the other block may not have written 37 yet
  kinds(start + kMeet + expect(132) + add + kWaitForTx + kMeet, FindingKind::deadlock);
  kinds(start + kMeet + expect(64) + add + kWaitForTx + read + kMeet,
        FindingKind::async_not_waited);
  kinds(start + kMeet + expect(128) + red("add.u32", "[%r3+2]") + kMeet, FindingKind::misaligned);
  kinds(start + kMeet + expect(128) + red("add.u32", "[%r3+4096]") + kMeet,
        FindingKind::out_of_bounds);
  kinds(start + kMeet + expect(128) + red("add.u32", "[%r3+64]") + kWaitForTx + kMeet,
        FindingKind::uninitialised_read);
  for (const char* op : {"exch.b32", "inc.s32", "and.u32", "min.b32", "add.b32", "popc.u32"})
    kinds(red(op), FindingKind::unsupported);
}

/// Words 0 to 15 of the box are the thread's number, words 16 to 31 are 1000.
const std::string kSixteen =
    "setp.lt.u32 %p2, %r2, 16;\nselp.b32 %r7, %r2, 1000, %p2;\nst.shared.u32 [%r4], %r7;\n";

TEST_CASE("cp.reduce.async.bulk to another block", "[cluster][proxy]") {
  const auto copy = [](const std::string& op, const std::string& to = "%r3+64", int bytes = 64) {
    return "@%p3 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." +
           op + " [" + to + "], [box], " + std::to_string(bytes) + ", [%r3+128];\n";
  };
  const std::string fence = "fence.proxy.async;\n",
                    read = "ld.shared.u32 %r8, [%r4];\n" + kStoreWord;
  std::vector<u32> got;
  const LaunchReport r = run(kLeader + kSixteen + fence + kMeet + expect(128) + copy("add.u32") +
                                 copy("max.u32") + kWaitForTx + read + kMeet,
                             {2, 1, 1}, "", {2, 1, 1}, &got);
  CHECK(to_text(r.findings) == "");
  for (u32 i = 0; i < 16; ++i) CHECK(got[16 + i] == 1000 + i);
  const auto kinds = [&](const std::string& body, FindingKind kind) {
    INFO(body);
    const LaunchReport report = run(body);
    INFO(to_text(report.findings));
    CHECK(of_kind(report, kind).size() >= 1);
  };
  const std::string start = kLeader + kSixteen + fence + kMeet + expect(64);
  kinds(kLeader + kSixteen + kMeet + expect(64) + copy("add.u32") + kWaitForTx + kMeet,
        FindingKind::proxy_fence_missing);
  kinds(start + copy("add.u32") + read + kWaitForTx + kMeet, FindingKind::async_not_waited);
  kinds(start + copy("add.u32", "%r3+68") + kMeet, FindingKind::misaligned);
  kinds(start + copy("add.u32", "%r3+64", 20) + kMeet, FindingKind::misaligned);
  kinds(start + copy("add.u32", "%r3+224") + kMeet, FindingKind::out_of_bounds);
  kinds(start + copy("add.u32", "%r3+64", 48) + kWaitForTx + kMeet, FindingKind::deadlock);
  // A copy that overwrites does race with a reduction.
  kinds(start + copy("add.u32") +
            "@%p3 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3+64], "
            "[box], 64, [%r3+128];\n" +
            kWaitForTx + kMeet,
        FindingKind::shared_race);
  for (const char* op : {"add.f32", "add.s64", "or.b64", "cas.b32"})
    kinds(copy(op), FindingKind::unsupported);
}

TEST_CASE("cp.reduce.async.bulk to global memory: every operation", "[cluster][proxy]") {
  const std::string all = kSixteen + "fence.proxy.async;\nbar.sync 0;\n" +
                          "setp.eq.u32 %p3, %r2, 0;\nld.param.u64 %rd5, [out];\n";
  const auto copy = [](const std::string& op, const std::string& to = "%rd5", int bytes = 64) {
    return "@%p3 cp.reduce.async.bulk.global.shared::cta.bulk_group." + op + " [" + to +
           "], [box], " + std::to_string(bytes) + ";\n";
  };
  const std::string wait = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n";
  struct Case {
    const char* op;
    u32 (*once)(u32 old, u32 i);
  };
  const auto sum = [](u32 old, u32 i) { return old + i; };
  const auto most = [](u32 old, u32 i) { return std::max(old, i); };
  // Two blocks reduce 0 to 15 into words that hold 77, which as floats of 16 bits are exact, too.
  for (const Case c :
       {Case{"add.u32", sum},
        {"add.s32", sum},
        {"add.u64", sum},
        {"add.noftz.f16", sum},
        {"add.noftz.bf16", sum},
        {"add.f32", sum},
        {"max.u32", most},
        {"max.s64", most},
        {"max.f16", most},
        {"min.s32", [](u32 old, u32 i) { return std::min(old, i); }},
        {"inc.u32", [](u32 old, u32 i) { return old >= i ? 0 : old + 1; }},
        {"dec.u32", [](u32 old, u32 i) { return old == 0 || old > i ? i : old - 1; }},
        {"and.b32", [](u32 old, u32 i) { return old & i; }},
        {"or.b64", [](u32 old, u32 i) { return old | i; }},
        {"xor.b64", [](u32 old, u32 i) { return old ^ i; }}}) {
    INFO(c.op);
    std::vector<u32> got;
    const LaunchReport r = run(all + copy(c.op) + wait, {1, 1, 1}, "", {2, 1, 1}, &got);
    CHECK(to_text(r.findings) == "");
    CHECK(r.total.bulk_store.bytes == 128);
    for (u32 i = 0; i < 16; ++i) CHECK(got[i] == c.once(c.once(77, i), i));
    CHECK(got[16] == 77);
  }
  const auto kinds = [&](const std::string& body, FindingKind kind) {
    INFO(body);
    const LaunchReport report = run(body, {1, 1, 1});
    INFO(to_text(report.findings));
    CHECK(of_kind(report, kind).size() >= 1);
  };
  kinds(all + copy("add.u32"), FindingKind::async_not_waited);
  kinds(all + copy("add.u32") + wait + "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\n" +
            "@%p1 st.global.u32 [%rd1], 5;\n",
        FindingKind::global_race);
  kinds(all + copy("add.u32", "%rd5+8") + wait, FindingKind::misaligned);
  kinds(all + copy("add.u32", "%rd5", 24) + wait, FindingKind::misaligned);
  kinds(all + copy("add.u32", "%rd5+224") + wait, FindingKind::out_of_bounds);
  kinds(all + copy("add.u32", "%rd5", 512) + wait, FindingKind::out_of_bounds);
  for (const char* op : {"add.f16", "add.noftz.f32", "min.f32", "add.s64", "exch.b32", "inc.u64"})
    kinds(all + copy(op), FindingKind::unsupported);
}

TEST_CASE("clusters: a grid in clusters, and griddepcontrol", "[cluster]") {
  std::vector<u32> got;
  const LaunchReport r =
      run("mov.u32 %r8, %nctaid.x;\n" + kStoreWord + kMeet, {0, 0, 0},
          ".reqntid 32 .reqnctapercluster 2 .blocksareclusters", {1, 1, 1}, &got);
  CHECK(to_text(r.findings) == "");
  CHECK(got[0] == 2);
  CHECK(r.grid == Dim3{2, 1, 1});
  const std::string wide = ".reqntid 32 .reqnctapercluster 4 .blocksareclusters";
  CHECK_THROWS_AS(run(kMeet, {0, 0, 0}, wide, {0x7fffffff, 1, 1}), DeviceError);
  CHECK_THROWS_AS(run(kMeet, {2, 1, 1}, wide, {1, 1, 1}), DeviceError);
  CHECK_THROWS(run(kMeet, {2, 1, 1}, ".reqnctapercluster 2 .blocksareclusters"));
  CHECK_THROWS(run(kMeet, {2, 1, 1}, ".reqntid 32 .blocksareclusters"));
  // Whether there are clusters at all, or each block is alone.
  const std::string ask =
      "mov.pred %p2, %is_explicit_cluster;\nselp.u32 %r8, 5, 6, %p2;\n" + kStoreWord;
  const auto answer = [&](Dim3 cluster, const std::string& directive, Dim3 grid) {
    CHECK(to_text(run(ask, cluster, directive, grid, &got).findings) == "");
    return got[0];
  };
  CHECK(answer({0, 0, 0}, "", {1, 1, 1}) == 6);
  CHECK(answer({1, 1, 1}, "", {1, 1, 1}) == 5);
  CHECK(answer({2, 1, 1}, "", {2, 1, 1}) == 5);
  CHECK(answer({0, 0, 0}, ".reqnctapercluster 2", {2, 1, 1}) == 5);
  CHECK_THROWS(run("mov.u32 %r8, %is_explicit_cluster;\n", {1, 1, 1}));
  // Launches follow each other, so that there is nothing to wait for.
  CHECK(to_text(
            run("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n", {1, 1, 1}).findings) ==
        "");
  CHECK(of_kind(run("griddepcontrol.begin;\n", {1, 1, 1}), FindingKind::unsupported).size() == 1);
}

TEST_CASE("clusters: hostile operands never reach memory of the host", "[cluster][fuzz]") {
  Random random(11);
  const char* const bodies[] = {
      "mapa.shared::cluster.u32 %r3, %r9, %r10;\nld.shared::cluster.u32 %r8, [%r3];\n",
      "st.shared::cluster.v4.u32 [%r9], {%r10, %r10, %r10, %r10};\n",
      "atom.shared::cluster.add.u32 %r8, [%r9], %r10;\n",
      "mbarrier.arrive.shared::cluster.b64 _, [%r9], %r10;\n",
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r9], %r10, [%r10];\n",
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r9], [%r10], %r10, "
      "[%r9];\n",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r9], "
      "[%rd1], %r10, [%r9], %h1;\n",
      "getctarank.shared::cluster.u32 %r8, %r9;\n",
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r9], %r10, "
      "[%r10];\n",
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r9], "
      "[%r10], %r10, [%r9];\n",
      "cvt.u64.u32 %rd5, %r9;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%rd5], "
      "[%r10], %r10;\n",
  };
  const std::vector<u32> untouched(64, 77);
  std::vector<u32> out;
  int clean = 0, caught = 0;
  for (int i = 0; i < 160; ++i) {
    const auto value = [&] {
      u32 v = static_cast<u32>(random.next());
      if (i % 2 == 0) v = (v & 0x030005ffu) & ~15u;
      return std::to_string(v);
    };
    const std::string body = bodies[random.below(std::size(bodies))];
    const LaunchReport report =
        run("mov.u32 %r9, " + value() + ";\nmov.u32 %r10, " + value() + ";\nmov.u16 %h1, " +
                std::to_string(random.below(65536)) +
                ";\nsetp.ne.u32 %p2, %r2, 0;\n@!%p2 mbarrier.init.shared.b64 [box], 1;\n" + kMeet +
                "@%p2 bra $others;\n" + body + "$others:\n" + kMeet,
            {2, 1, 1}, "", {2, 1, 1}, &out);
    INFO(i << ": " << body);
    CHECK((report.completed || !report.findings.empty()));
    CHECK(out == untouched);  // none of the bodies stores there
    (report.findings.empty() ? clean : caught) += 1;
  }
  CHECK(caught > 80);  // most operands are hostile
  CHECK(clean > 0);
}

}  // namespace
}  // namespace simgpu::test
