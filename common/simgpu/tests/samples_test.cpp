// LaunchOptions::sample_accesses: the example of each memory instruction is its worst access, with
// the right lanes and costs, whatever path the access took.
#include <algorithm>

#include "common/catch2.hpp"
#include "common/simgpu/count/coalescing.hpp"
#include "common/simgpu/count/shared_banks.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;

// Thread t of block b touches word t * stride of a shared array and of `out`; the stride is 1 but
// in the blocks 2 and 5, where it is 8, and lanes from `lanes` on do not take part.
const char* const strided = R"(
.visible .entry strided(.param .u64 out, .param .u32 lanes)
{
  .shared .align 16 .b8 tile[1024];
  .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<8>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r9, [lanes];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 1;
  setp.eq.u32 %p1, %r2, 2; @%p1 mov.u32 %r3, 8;
  setp.eq.u32 %p1, %r2, 5; @%p1 mov.u32 %r3, 8;
  mul.lo.u32 %r4, %r1, %r3; shl.b32 %r5, %r4, 2;
  mov.u32 %r6, tile; add.u32 %r6, %r6, %r5;
  mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;
  setp.lt.u32 %p2, %r1, %r9;
  @%p2 st.shared.u32 [%r6], %r1;
  bar.sync 0;
  @%p2 ld.shared.u32 %r7, [%r6];
  @%p2 st.global.u32 [%rd3], %r7;
  ret;
})";

LaunchReport run_strided(u32 lanes, unsigned threads, bool checks, bool samples = true) {
  Gpu gpu(ptx_module(strided));
  const DevicePtr out = gpu.upload(std::vector<u32>(256, 0), "out");
  LaunchOptions options;
  options.host_threads = threads;
  options.sample_accesses = samples;
  options.checks = checks ? Checks{} : Checks::none();
  return gpu.run("strided", {8, 1, 1}, {32, 1, 1}, 0u, options, out, lanes);
}

TEST_CASE("samples: nothing unless asked for", "[samples]") {
  CHECK(run_strided(32, 1, true, false).samples.empty());
}

TEST_CASE("samples: the worst access, of the lowest block", "[samples]") {
  for (const bool checks : {true, false}) {
    for (const unsigned threads : {1u, 2u, 3u}) {
      const LaunchReport report = run_strided(30, threads, checks);
      REQUIRE(report.samples.size() == 3);
      CHECK(report.samples[0].type == AccessType::store);
      CHECK(report.samples[1].type == AccessType::load);
      for (const AccessSample& s : report.samples) {
        const bool shared = s.space == MemorySpace::shared;
        INFO("checks " << checks << ", " << threads << " threads, "
                       << (shared ? "shared" : "global"));
        CHECK(s.block == Dim3{2, 0, 0});
        CHECK(s.warp == 0);
        CHECK(s.mask == 0x3fffffffu);
        CHECK(s.bytes == 4);
        CHECK(s.object == (shared ? "tile" : "out"));
        CHECK(s.object_bytes == 1024);
        for (unsigned i = 0; i < 30; ++i) CHECK(s.address[i] == s.object_address + 32 * i);
        CHECK(s.address[30] == 0);
        // 30 words, every eighth: on four banks, each in a sector of its own.
        CHECK(s.cost == (shared ? 8 : 30));
        CHECK(s.ideal == (shared ? 1 : 4));
        CHECK(s.requests == 8);
        CHECK(s.total_cost == (shared ? 6 * 1 + 2 * 8 : 6 * 4 + 2 * 30));
        CHECK(s.total_ideal == (shared ? 8 : 32));
      }
    }
  }
}

TEST_CASE("samples: costs are those of the addresses they show", "[samples]") {
  for (const char* name : {"naive", "tile16", "tile32"}) {
    Gpu gpu(compile("counts.cu"));
    const DevicePtr a = gpu.upload(std::vector<float>(128 * 128, 2.0f), "A"),
                    b = gpu.upload(std::vector<float>(128 * 128, 0.5f), "B"),
                    c = gpu.upload(std::vector<float>(128 * 128, 0.0f), "C");
    LaunchOptions options;
    options.sample_accesses = true;
    const bool naive = std::string(name) == "naive", wide = std::string(name) == "tile32";
    const LaunchReport report =
        wide    ? gpu.run(name, {4, 4, 1}, {1024, 1, 1}, 0u, options, a, b, c, 128, 128, 128, 1.0f,
                          0.0f)
        : naive ? gpu.run(name, {4, 8, 1}, {32, 16, 1}, 0u, options, a, b, c, 128, 128, 127)
                : gpu.run(name, {8, 8, 1}, {16, 16, 1}, 0u, options, a, b, c, 128, 128, 128);
    Counts sum;
    bool merged = false;
    for (const AccessSample& s : report.samples) {
      std::uint64_t address[32];
      std::copy(s.address.begin(), s.address.end(), address);
      INFO(name << " line " << s.where.line << " bytes " << s.bytes);
      CHECK(s.cost >= s.ideal);
      CHECK(s.total_cost <= s.requests * s.cost);
      if (s.space == MemorySpace::shared) {
        const auto w =
            count::shared_wavefronts(address, s.mask, s.bytes, s.type == AccessType::load);
        CHECK(w.actual == s.cost);
        CHECK(w.ideal == s.ideal);
        merged |= s.bytes == 16;
        (s.type == AccessType::load ? sum.shared_load : sum.shared_store).wavefronts +=
            s.total_cost;
      } else {
        CHECK(count::sectors(address, s.mask, s.bytes) == s.cost);
        CHECK(s.object == (s.type == AccessType::store ? "C" : s.object));
        (s.type == AccessType::load ? sum.global_load : sum.global_store).sectors += s.total_cost;
      }
    }
    CHECK(merged == !naive);  // as[y][i] over four i is one load of 16 bytes for ptxas
    CHECK(sum.shared_load.wavefronts == report.total.shared_load.wavefronts);
    CHECK(sum.shared_store.wavefronts == report.total.shared_store.wavefronts);
    CHECK(sum.global_load.sectors == report.total.global_load.sectors);
    CHECK(sum.global_store.sectors == report.total.global_store.sectors);
  }
}

TEST_CASE("samples: a misaligned row is worse than an aligned one of the same pattern",
          "[samples]") {
  // 127 floats a row: where a row of A begins modulo 32 bytes changes, the pattern of lanes does
  // not.
  Gpu gpu(compile("counts.cu"));
  const DevicePtr a = gpu.upload(std::vector<float>(64 * 64, 2.0f), "A"),
                  b = gpu.upload(std::vector<float>(64 * 67, 0.5f), "B"),
                  c = gpu.upload(std::vector<float>(64 * 67, 0.0f), "C");
  LaunchOptions options;
  options.sample_accesses = true;
  const LaunchReport report =
      gpu.run("naive", {3, 4, 1}, {32, 16, 1}, 0u, options, a, b, c, 64, 67, 64);
  const auto worst = std::find_if(
      report.samples.begin(), report.samples.end(),
      [](const AccessSample& s) { return s.object == "B" && s.type == AccessType::load; });
  REQUIRE(worst != report.samples.end());
  CHECK(worst->cost == 5);
  CHECK(worst->ideal == 4);
}

TEST_CASE("samples: of one warp they are its first accesses, not the worst", "[samples]") {
  Gpu gpu(compile("counts.cu"));
  const DevicePtr a = gpu.upload(std::vector<float>(64 * 64, 2.0f), "A"),
                  b = gpu.upload(std::vector<float>(64 * 67, 0.5f), "B"),
                  c = gpu.upload(std::vector<float>(64 * 67, 0.0f), "C");
  LaunchOptions options;
  options.sample_accesses = true;
  options.sampled_warp = WarpOf{{1, 2, 0}, 5};
  const LaunchReport report =
      gpu.run("naive", {3, 4, 1}, {32, 16, 1}, 0u, options, a, b, c, 64, 67, 64);
  REQUIRE_FALSE(report.samples.empty());
  std::uint64_t first_a = UINT64_MAX, first_b = UINT64_MAX;
  for (const AccessSample& s : report.samples) {
    CHECK(s.block == Dim3{1, 2, 0});
    CHECK(s.warp == 5);
    if (s.object == "A") first_a = std::min(first_a, s.address[0]);
    if (s.object == "B") first_b = std::min(first_b, s.address[1]);
  }
  // The loop is unrolled: k is 0 in one of the instructions. Row 2 * 16 + 5 of A, column 33 of B.
  CHECK(first_a == a + (37 * 64) * 4);
  CHECK(first_b == b + 33 * 4);
  options.sampled_warp = WarpOf{{3, 0, 0}, 0};  // the grid has no such block
  CHECK(gpu.run("naive", {3, 4, 1}, {32, 16, 1}, 0u, options, a, b, c, 64, 67, 64).samples.empty());
}

TEST_CASE("samples: every warp that stores has its own, even if all store in one pattern",
          "[samples]") {
  Gpu gpu(ptx_module(R"(
.visible .entry fills(.param .u64 out)
{
  .shared .align 4 .b8 tile[512];
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 2;
  add.s32 %r4, %r2, %r3;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  ld.shared.u32 %r5, [%r4];
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
  ret;
}
)"));
  const DevicePtr out = gpu.upload(std::vector<u32>(128, 0), "out");
  for (const unsigned warp : {0u, 1u, 3u}) {
    LaunchOptions options;
    options.sample_accesses = true;
    options.sampled_warp = WarpOf{{0, 0, 0}, warp};
    const LaunchReport report = gpu.run("fills", {1, 1, 1}, {128, 1, 1}, 0u, options, out);
    CHECK(report.samples.size() == 3);
    for (const AccessSample& s : report.samples) {
      CHECK(s.warp == warp);
      if (s.space == MemorySpace::shared) CHECK(s.address[0] - s.object_address == warp * 32 * 4);
    }
  }
}

TEST_CASE("samples: an asynchronous copy has one for each side, ldmatrix one of its rows",
          "[samples]") {
  Gpu gpu(ptx_module(R"(
.visible .entry moves(.param .u64 in)
{
  .shared .align 128 .b8 tile[4096];
  .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 64; add.s64 %rd1, %rd1, %rd2;
  shl.b32 %r2, %r1, 7; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;
  cp.async.ca.shared.global [%r3], [%rd1], 16;
  cp.async.wait_all;
  bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];
  ret;
})"));
  const DevicePtr in = gpu.upload(std::vector<u32>(512, 1), "in");
  LaunchOptions options;
  options.sample_accesses = true;
  for (const bool checks : {true, false}) {
    options.checks = checks ? Checks{} : Checks::none();
    const LaunchReport report = gpu.run("moves", {2, 1, 1}, {32, 1, 1}, 0u, options, in);
    CHECK(report.findings.empty());
    REQUIRE(report.samples.size() == 3);
    const AccessSample &from = report.samples[0], &to = report.samples[1],
                       &rows = report.samples[2];
    CHECK(from.space == MemorySpace::global);
    CHECK(from.object == "in");
    CHECK(from.bytes == 16);
    CHECK(from.cost == 32);  // a lane every 64 bytes
    CHECK(from.ideal == 16);
    CHECK(to.space == MemorySpace::shared);
    CHECK(to.type == AccessType::store);
    CHECK(to.object == "tile");
    CHECK(to.cost == 32);  // a pitch of 128 bytes: every lane of a phase on the same banks
    CHECK(to.ideal == 4);
    CHECK(to.address[5] - to.address[0] == 640);
    CHECK(rows.matrix);
    CHECK(rows.bytes == 16);
    CHECK(rows.mask == 0xffffffffu);
    CHECK(rows.cost == 32);
    CHECK(rows.ideal == 4);
    CHECK(rows.object == "tile");
    CHECK(rows.requests == 2);
    for (unsigned i = 0; i < 32; ++i) CHECK(rows.address[i] == rows.object_address + 128 * i);
  }
}

}  // namespace
}  // namespace simgpu::test
