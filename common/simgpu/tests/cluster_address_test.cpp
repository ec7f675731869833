// Shared addresses in clusters: each carries the rank of the block that it names from bit 24 on, as
// measured on an H200, a block's own ones, too. Whoever takes them for offsets is found out.
#include <algorithm>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/findings.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using findings::of_kind;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kStart = 0x400, kRank = 1u << 24;
const std::string kMeet = "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n";

struct Run {
  LaunchReport report;
  std::vector<u32> out;  ///< by thread of the grid
};

/// Blocks in clusters of `cluster`. %r1 is the rank, %r2 the thread, %p1 whether it is the first of its
/// block; what %r8 holds in the end goes to the thread's place in `out`. box lies at the start of
/// shared memory, dynamic shared memory behind it.
Run run(const std::string& body, unsigned cluster, unsigned threads = 32,
        const std::string& functions = "") {
  Gpu gpu(ptx_module(".shared .align 128 .b8 box[1024];\n.extern .shared .align 16 .b8 more[];\n" +
                     functions +
                     R"(.visible .entry k(.param .u64 out, .param .u64 in)
{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<12>; .reg .b16 %h<4>; .reg .f32 %f<16>;
  .loc 1 1 1
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0;
  mov.u32 %r8, 0; ld.param.u64 %rd2, [in];
)" + body + R"(
  ld.param.u64 %rd1, [out]; mov.u32 %r14, %ctaid.x; mov.u32 %r15, %ntid.x;
  mad.lo.u32 %r14, %r14, %r15, %r2; mul.wide.u32 %rd11, %r14, 4; add.u64 %rd1, %rd1, %rd11;
  st.global.u32 [%rd1], %r8;
  ret;
}
.file 1 "cluster.cu"
)"));
  const std::size_t count = std::size_t{std::max(cluster, 1u)} * threads;
  const DevicePtr out = gpu.upload(std::vector<u32>(count, 0), "out");
  std::vector<u32> values(256);
  for (u32 i = 0; i < values.size(); ++i) values[i] = 5000 + i;
  const DevicePtr in = gpu.upload(values, "in");
  LaunchOptions options;
  options.cluster = {cluster, cluster == 0 ? 0u : 1u, cluster == 0 ? 0u : 1u};
  options.instruction_budget = 1 << 22;
  Run r;
  r.report = gpu.run("k", {std::max(cluster, 1u), 1, 1}, {threads, 1, 1}, 256u, options, out, in);
  r.out = gpu.download<u32>(out, count);
  return r;
}

/// The first thread's value in each block of a cluster of four; nothing else may be found.
std::vector<u32> of_four(const std::string& body, const std::string& functions = "") {
  INFO(body);
  const Run r = run(body, 4, 32, functions);
  CHECK(to_text(r.report.findings) == "");
  return {r.out[0], r.out[32], r.out[64], r.out[96]};
}

TEST_CASE("shared addresses in clusters carry the rank of their block", "[cluster]") {
  const std::vector<u32> own{kStart, kStart + kRank, kStart + 2 * kRank, kStart + 3 * kRank};
  const auto moved = [&](u32 by) {
    std::vector<u32> v = own;
    for (u32& a : v) a += by;
    return v;
  };
  CHECK(of_four("mov.u32 %r8, box;\n") == own);
  CHECK(of_four("mov.u32 %r8, box+12;\n") == moved(12));
  CHECK(of_four("mov.u32 %r3, box;\nmov.u32 %r8, more;\n") == moved(1024));
  CHECK(of_four("mov.u32 %r8, more;\n") == own);  // box takes no room then
  CHECK(of_four("add.u32 %r8, box, 8;\n") == moved(8));
  CHECK(of_four("mov.u64 %rd3, more;\ncvt.u32.u64 %r8, %rd3;\n") == own);
  CHECK(of_four("cvta.shared.u64 %rd3, box;\ncvta.to.shared.u64 %rd4, %rd3;\n"
                "cvt.u32.u64 %r8, %rd4;\n") == own);
  CHECK(of_four("mapa.shared::cluster.u32 %r8, box, %r1;\n") == own);
  CHECK(of_four("cvta.shared.u64 %rd3, more;\nmapa.u64 %rd4, %rd3, %r1;\n"
                "cvta.to.shared.u64 %rd5, %rd4;\ncvt.u32.u64 %r8, %rd5;\n") == own);
  CHECK(of_four("mapa.shared::cluster.u32 %r8, box, 2;\n") ==
        std::vector<u32>(4, kStart + 2 * kRank));
  CHECK(of_four("mapa.shared::cluster.u32 %r8, box, 0;\n") == std::vector<u32>(4, kStart));
  CHECK(of_four("mov.u32 %r3, box;\ngetctarank.shared::cluster.u32 %r8, %r3;\n") ==
        std::vector<u32>{0, 1, 2, 3});
  CHECK(of_four("cvta.shared.u64 %rd3, box;\ngetctarank.u64 %r8, %rd3;\n") ==
        std::vector<u32>{0, 1, 2, 3});
  // A function has a frame of its own.
  CHECK(of_four("{ .param .b32 got;\ncall.uni (got), where;\nld.param.b32 %r8, [got]; }\n",
                ".func (.param .b32 a) where()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, box+4;\n"
                "st.param.b32 [a], %r1;\nret;\n}\n") == moved(4));
  // A cluster of one block, and no cluster.
  for (const unsigned cluster : {1u, 0u})
    CHECK(run("mov.u32 %r8, more;\n", cluster).out[0] == kStart);
}

TEST_CASE("shared addresses in clusters: comparison, arithmetic and windows", "[cluster]") {
  // Whose address is whose: the same variable has another address in each block.
  CHECK(of_four("mapa.shared::cluster.u32 %r3, box, 1;\nmov.u32 %r4, box;\n"
                "setp.eq.u32 %p2, %r3, %r4;\nselp.u32 %r8, 1, 0, %p2;\n") ==
        std::vector<u32>{0, 1, 0, 0});
  CHECK(of_four("mapa.shared::cluster.u32 %r3, box+8, 3;\nmov.u32 %r4, box;\n"
                "sub.u32 %r8, %r3, %r4;\n") ==
        std::vector<u32>{3 * kRank + 8, 2 * kRank + 8, kRank + 8, 8});
  // Its own window of shared memory, and that of the cluster.
  const std::string windows =
      "isspacep.shared %p2, %rd4;\nisspacep.shared::cluster %p3, %rd4;\n"
      "selp.u32 %r3, 1, 0, %p2;\nselp.u32 %r4, 2, 0, %p3;\nadd.u32 %r8, %r3, %r4;\n";
  CHECK(of_four("cvta.shared.u64 %rd4, box;\n" + windows) == std::vector<u32>{3, 3, 3, 3});
  CHECK(of_four("cvta.shared.u64 %rd3, box;\nmapa.u64 %rd4, %rd3, 1;\n" + windows) ==
        std::vector<u32>{2, 3, 2, 2});
}

TEST_CASE("shared addresses in clusters name the block whose rank they carry", "[cluster]") {
  // Word 0 of each block's box is 70 and its rank.
  const std::string fill = "add.u32 %r3, %r1, 70;\n@%p1 st.shared.u32 [box], %r3;\n" + kMeet;
  const auto read = [&](const std::string& how) { return of_four(fill + how + kMeet); };
  const std::vector<u32> own{70, 71, 72, 73}, next{71, 70, 73, 72}, of_first(4, 70);
  const std::string load = "ld.shared::cluster.u32 %r8, [%r4];\n";
  CHECK(read("mov.u32 %r4, box;\n" + load) == own);
  CHECK(read("mov.u32 %r4, box;\nld.shared::cta.u32 %r8, [%r4];\n") == own);
  CHECK(read("ld.shared::cluster.u32 %r8, [box];\n") == own);
  CHECK(read("ld.shared.u32 %r8, [box];\n") == own);
  CHECK(read("cvta.shared.u64 %rd3, box;\nld.u32 %r8, [%rd3];\n") == own);
  CHECK(read("mov.u32 %r4, box;\nxor.b32 %r4, %r4, 0x1000000;\n" + load) == next);
  CHECK(read("cvta.shared.u64 %rd3, box;\nxor.b64 %rd3, %rd3, 0x1000000;\nld.u32 %r8, [%rd3];\n") ==
        next);
  // What is left of an address without its rank is one of block 0.
  CHECK(read("mov.u32 %r4, box;\nand.b32 %r4, %r4, 0xffffff;\n" + load) == of_first);
  // Blocks tell each other where they keep something.
  CHECK(read("mov.u32 %r5, box;\nxor.b32 %r6, %r1, 2;\nmapa.shared::cluster.u32 %r7, box, %r6;\n"
             "@%p1 st.shared::cluster.u32 [%r7+16], %r5;\n" +
             kMeet + "ld.shared.u32 %r4, [box+16];\n" + load) == std::vector<u32>{72, 73, 70, 71});
  CHECK(of_four(fill +
                "mov.u32 %r4, box;\nxor.b32 %r4, %r4, 0x1000000;\n"
                "@%p1 atom.shared::cluster.add.u32 %r5, [%r4], 100;\n" +
                kMeet + "ld.shared.u32 %r8, [box];\n" + kMeet) ==
        std::vector<u32>{170, 171, 172, 173});
}

TEST_CASE("shared addresses in clusters: the own block's instructions reach only its own memory",
          "[cluster][finding]") {
  const std::string start = "@%p1 mbarrier.init.shared.b64 [box+128], 1;\n" + kMeet +
                            "mov.u32 %r4, box;\nand.b32 %r4, %r4, 0xffffff;\nmov.u32 %r5, %r4;\n"
                            "mov.u64 %rd3, %rd2;\n";  // right in block 0, which needs no rank
  const auto told = [&](const std::string& body) {
    INFO(body);
    const LaunchReport r = run(start + ".loc 1 9 1\n" + body + kMeet, 2).report;
    INFO(to_text(r.findings));
    const std::vector<Finding> found = of_kind(r, FindingKind::out_of_bounds);
    REQUIRE(found.size() == 1);
    CHECK(found[0].at.block == Dim3{1, 0, 0});
    CHECK(found[0].detail.find("address of block 0 of the cluster") != std::string::npos);
    CHECK(found[0].detail.find("its own block, 1") != std::string::npos);
    CHECK(found[0].detail.find("from bit 24 on") != std::string::npos);
  };
  told("st.shared.u32 [%r4], 1;\n");
  told("@%p1 st.shared.v4.u32 [%r4+16], {%r1, %r1, %r1, %r1};\n");
  told("st.shared.u32 [box], 1;\nbar.warp.sync 0xffffffff;\nld.shared::cta.u32 %r8, [%r4];\n");
  told("atom.shared.exch.b32 %r8, [%r4], 1;\n");
  told("cp.async.ca.shared.global [%r4], [%rd3], 4;\ncp.async.wait_all;\n");
  told("mbarrier.inval.shared.b64 [%r4+128];\n");
  told(
      "shl.b32 %r6, %r2, 2;\nadd.u32 %r6, %r6, box;\nst.shared.u32 [%r6], %r2;\n"
      "bar.warp.sync 0xffffffff;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r4];\n");
  told(
      "@%p1 st.shared.v4.u32 [box], {%r1, %r1, %r1, %r1};\nfence.proxy.async;\n"
      "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r4], 16;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n");
}

TEST_CASE("shared addresses in clusters: checks and counts know them as places of the block",
          "[cluster][counts]") {
  const std::string body =
      "shl.b32 %r3, %r2, 2;\nmov.u32 %r4, box;\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%r4], %r2;\n"
      "bar.sync 0;\nxor.b32 %r5, %r4, 124;\nld.shared.u32 %r8, [%r5];\n"
      "and.b32 %r6, %r2, 7;\nshl.b32 %r6, %r6, 4;\nadd.u32 %r6, %r6, box;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r6];\n"
      "bar.sync 0;\ncp.async.ca.shared.global [%r4+256], [%rd2], 4;\ncp.async.wait_all;\n";
  const Run alone = run(body, 0), four = run(body, 4);
  CHECK(to_text(four.report.findings) == "");
  for (unsigned t = 0; t < 128; ++t) CHECK(four.out[t] == 31 - t % 32);
  CHECK(four.report.total.shared_store.wavefronts ==
        4 * alone.report.total.shared_store.wavefronts);
  CHECK(four.report.total.shared_load.wavefronts == 4 * alone.report.total.shared_load.wavefronts);
  CHECK(four.report.total.matrix_load.wavefronts == 4 * alone.report.total.matrix_load.wavefronts);
  CHECK(four.report.total.async_store.wavefronts == 4 * alone.report.total.async_store.wavefronts);
  CHECK(four.report.total.thread_instructions == 4 * alone.report.total.thread_instructions);
  CHECK(four.report.total.cluster_load_requests == 0);
  // Findings tell where in the block's memory.
  const auto same = [](const std::string& text, FindingKind kind) {
    const std::vector<Finding>
        one = of_kind(run(text, 0).report, kind),
        more =
            of_kind(run("setp.ne.u32 %p2, %r1, 3;\n@%p2 bra E;\n" + text + "E:\n", 4).report, kind);
    INFO(text);
    REQUIRE(one.size() == 1);
    REQUIRE(more.size() == 1);
    CHECK(more[0].at.block == Dim3{3, 0, 0});
    CHECK(more[0].detail == one[0].detail);
    CHECK(more[0].at.object == one[0].at.object);
    CHECK(more[0].at.offset == one[0].at.offset);
  };
  same("mov.u32 %r4, box;\nld.shared.u32 %r8, [%r4+40];\n", FindingKind::uninitialised_read);
  same("mov.u32 %r4, more;\nst.shared.u32 [%r4+256], %r2;\n", FindingKind::out_of_bounds);
  same("mov.u32 %r4, box;\n@%p1 st.shared.u32 [%r4+2], %r2;\n", FindingKind::misaligned);
  same("mov.u32 %r4, box;\nst.shared.u32 [%r4+8], %r2;\n", FindingKind::shared_race);
}

TEST_CASE("shared addresses in clusters: copies, multicast and mbarriers", "[cluster][proxy]") {
  const std::string init =
      "@%p1 mbarrier.init.shared.b64 [box+512], 1;\n@%p1 fence.mbarrier_init.release.cluster;\n" +
      kMeet;
  const std::string wait =
      "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r5], 0;\n@!%p2 bra W;\n";
  const std::string places = "mov.u32 %r4, box;\nadd.u32 %r5, %r4, 512;\n",
                    expect = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 64;\n",
                    read = "ld.shared.u32 %r8, [%r4+4];\n";
  const std::vector<u32> all(4, 5001);
  const std::string copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
  CHECK(of_four(init + places + expect + "@%p1 " + copy + " [%r4], [%rd2], 64, [%r5];\n" + wait +
                read + kMeet) == all);
  // Block 2 fetches for all of them, by its own addresses.
  CHECK(of_four(init + places + expect + kMeet +
                "setp.ne.u32 %p3, %r1, 2;\n@%p3 bra R;\nmov.u16 %h1, 15;\n@%p1 " + copy +
                ".multicast::cluster [%r4], [%rd2], 64, [%r5], %h1;\nR:\n" + wait + read + kMeet) ==
        all);
  // To the next block, by arithmetic: destination and barrier must name the same one.
  const std::string next = "xor.b32 %r6, %r4, 0x1000000;\nxor.b32 %r7, %r5, 0x1000000;\n";
  CHECK(of_four(init + places + expect + kMeet + next + "@%p1 " + copy +
                " [%r6], [%rd2], 64, [%r7];\n" + wait + read + kMeet) == all);
  for (const char* mixed : {" [%r6], [%rd2], 64, [%r5];\n", " [%r4], [%rd2], 64, [%r7];\n"}) {
    INFO(mixed);
    const LaunchReport r =
        run(init + places + expect + kMeet + next + "@%p1 " + copy + mixed + kMeet, 2).report;
    REQUIRE(!of_kind(r, FindingKind::trap).empty());
    CHECK(of_kind(r, FindingKind::trap)[0].detail.find("same block") != std::string::npos);
  }
  // Between blocks, from words that each block filled with its rank.
  CHECK(of_four(init + places + expect +
                "add.u32 %r9, %r1, 70;\nshl.b32 %r10, %r2, 2;\nadd.u32 %r10, %r10, %r4;\n"
                "st.shared.u32 [%r10+128], %r9;\nfence.proxy.async;\nbar.sync 0;\n" +
                kMeet + next +
                "add.u32 %r11, %r4, 128;\n"
                "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                "[%r6], [%r11], 64, [%r7];\n" +
                wait + read + kMeet) == std::vector<u32>{71, 70, 73, 72});
  // Remote arrivals: at block 0 by what is left without a rank, at the next one by its rank.
  CHECK(of_four(init + places +
                "and.b32 %r6, %r5, 0xffffff;\nsetp.eq.u32 %p3, %r1, 3;\n"
                "and.pred %p3, %p3, %p1;\n"
                "@%p3 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n"
                "setp.ne.u32 %p3, %r1, 0;\n@%p3 bra E;\n" +
                wait + "mov.u32 %r8, 1;\nE:\n" + kMeet) == std::vector<u32>{1, 0, 0, 0});
  CHECK(of_four(init + places + next +
                "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];\n" + wait +
                "mov.u32 %r8, 1;\n" + kMeet) == std::vector<u32>(4, 1));
}

// ---- wgmma: an address goes into a descriptor by 18 bits

/// One product m64n8k16 of a tile with itself: chunks of 8 rows by 16 bytes, `leading` bytes apart
/// along k, and all rows are these eight. The first 256 bytes of shared memory are ones, what follows
/// zeros. `mask`: what the tile's address is masked with.
Run product(u32 mask, u32 leading, const std::string& only = "", u64 layout = 0) {
  return run(
      "shl.b32 %r5, %r2, 4;\nadd.u32 %r5, %r5, box;\nsetp.lt.u32 %p2, %r2, 16;\n"
      "selp.u32 %r6, 0x3c003c00, 0, %p2;\nsetp.lt.u32 %p3, %r2, 64;\n"
      "@%p3 st.shared.v4.u32 [%r5], {%r6, %r6, %r6, %r6};\nfence.proxy.async;\nbar.sync 0;\n" +
          only + "mov.u32 %r7, box;\nand.b32 %r7, %r7, " + std::to_string(mask) +
          ";\nshr.u32 %r7, %r7, 4;\ncvt.u64.u32 %rd3, %r7;\n"
          "or.b64 %rd3, %rd3, " +
          std::to_string(u64{leading / 16} << 16) +
          ";\n"
          "or.b64 %rd3, %rd3, " +
          std::to_string(layout) +
          ";\n"
          "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"
          "wgmma.fence.sync.aligned;\n.loc 1 7 1\n"
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd3, "
          "%rd3, 1, 1, 1, 0, 0;\n"
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
          "cvt.rni.u32.f32 %r8, %f0;\nE:\n",
      4, 128);
}

TEST_CASE("wgmma in clusters: a rank in a descriptor is told", "[cluster][proxy][wgmma]") {
  const auto says_why = [](const Finding& f) {
    INFO(f.detail);
    CHECK(f.at.where.line == 7);
    CHECK(f.detail.find("carries the block's rank from bit 24 on") != std::string::npos);
    CHECK(f.detail.find("takes 18 bits of it (address & 0x3ffff)") != std::string::npos);
  };
  // Masked: right in every block.
  const Run right = product(0x3ffff, 128);
  CHECK(to_text(right.report.findings) == "");
  CHECK(std::all_of(right.out.begin(), right.out.end(), [](u32 v) { return v == 16; }));
  // Within shared memory, but another tile than in block 0: half of it zeros.
  const Run inside = product(0xffffffff, 128);
  for (u32 t = 0; t < 512; ++t) CHECK(inside.out[t] == (t < 128 ? 16 : 8));
  std::vector<Finding> told = of_kind(inside.report, FindingKind::trap);
  REQUIRE(told.size() >= 1);
  says_why(told[0]);
  CHECK(told[0].at.block == Dim3{1, 0, 0});
  CHECK(told[0].detail.find("384 bytes in block 1") != std::string::npos);
  CHECK(told[0].detail.find("128 in block 0") != std::string::npos);
  // The same if block 0 does not multiply.
  told = of_kind(product(0xffffffff, 128, "setp.eq.u32 %p3, %r1, 0;\n@%p3 bra E;\n").report,
                 FindingKind::trap);
  REQUIRE(told.size() >= 1);
  says_why(told[0]);
  // Outside of shared memory: one block is enough to tell.
  told = of_kind(product(0xffffffff, 1024, "setp.ne.u32 %p3, %r1, 3;\n@%p3 bra E;\n").report,
                 FindingKind::out_of_bounds);
  REQUIRE(told.size() >= 1);
  says_why(told[0]);
  CHECK(told[0].at.block == Dim3{3, 0, 0});
}

TEST_CASE("wgmma in clusters: other descriptors are not blamed on ranks",
          "[cluster][proxy][wgmma]") {
  // Rows of 32 bytes along k, swizzled: wgmma takes no leading offset.
  const Run rows = product(0xffffffff, 16, "", u64{3} << 62);
  CHECK(to_text(rows.report.findings) == "");
  CHECK(std::all_of(rows.out.begin(), rows.out.end(), [](u32 v) { return v == 16; }));
  // A tile that would reach outside in block 0, too.
  const LaunchReport outside =
      product(0x3ffff, 8192, "setp.ne.u32 %p3, %r1, 1;\n@%p3 bra E;\n").report;
  REQUIRE(outside.findings.size() == 1);
  CHECK(outside.findings[0].kind == FindingKind::out_of_bounds);
  CHECK(outside.findings[0].detail.find("bit 24") == std::string::npos);
}

}  // namespace
}  // namespace simgpu::test
