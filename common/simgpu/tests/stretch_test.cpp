// Stretches (exec/stretch.hpp): loads and multiply-adds that run as one count, compute and find what
// they do one by one.
#include <cstdint>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

/// Word w of the tile holds w % 64 + 1. Each trip adds the products of five loads: the addresses of
/// two move by one word a lane in even trips and by two in odd ones. `fault` 1: the second
/// warp overwrites what the first has read; 2: a part of it is never written.
const char* const kKernel = R"(
.visible .entry k(.param .u64 out, .param .u32 trips, .param .u32 fault, .param .f32 first)
{
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .f32 %f<12>; .reg .b64 %rd<10>;
  .shared .align 16 .b8 tile[2048];
  ld.param.u64 %rd6, [out];
  ld.param.u32 %r2, [trips];
  ld.param.u32 %r3, [fault];
  ld.param.f32 %f2, [first];
  mov.u32 %r1, %tid.x;
  mov.u64 %rd1, tile;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  add.u32 %r8, %r1, 1;
  cvt.rn.f32.u32 %f1, %r8;
  st.shared.f32 [%rd3], %f1;
  st.shared.f32 [%rd3+256], %f1;
  st.shared.f32 [%rd3+512], %f1;
  st.shared.f32 [%rd3+768], %f1;
  setp.eq.u32 %p1, %r3, 2;
  @!%p1 st.shared.f32 [%rd3+1024], %f1;
  st.shared.f32 [%rd3+1280], %f1;
  st.shared.f32 [%rd3+1536], %f1;
  bar.sync 0;
  mov.u32 %r4, 0;
L:
  and.b32 %r5, %r4, 1;
  add.u32 %r6, %r5, 1;
  mul.lo.u32 %r7, %r6, %r1;
  mul.wide.u32 %rd4, %r7, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.shared.f32 %f3, [%rd1];
  ld.shared.f32 %f4, [%rd5+512];
  fma.rn.f32 %f2, %f3, %f4, %f2;
  ld.shared.f32 %f5, [%rd1+128];
  ld.shared.f32 %f6, [%rd5+1024];
  fma.rn.f32 %f2, %f6, %f5, %f2;
  ld.shared.v4.f32 {%f7, %f8, %f9, %f10}, [%rd1+1536];
  fma.rn.f32 %f2, %f9, %f10, %f2;
  fma.rn.f32 %f2, %f7, %f8, %f2;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, %r2;
  @%p2 bra L;
  setp.lt.u32 %p1, %r1, 32;
  setp.ne.or.u32 %p3, %r3, 1, %p1;
  @%p3 bra E;
  st.shared.f32 [%rd3+512], %f2;
E:
  add.s64 %rd7, %rd6, %rd2;
  st.global.f32 [%rd7], %f2;
  ret;
}
)";

constexpr unsigned kThreads = 64, kTrips = 9;

struct Run {
  LaunchReport report;
  std::vector<std::uint32_t> bits;  ///< of the sums
};
Run run(std::uint32_t fault, float first, const LaunchOptions& options) {
  Gpu gpu(ptx_module(kKernel));
  const DevicePtr out = gpu.upload(std::vector<std::uint32_t>(kThreads, 0), "out");
  Run r{gpu.run("k", {1, 1, 1}, {kThreads, 1, 1}, 0u, options, out, kTrips, fault, first), {}};
  r.bits = gpu.download<std::uint32_t>(out, kThreads);
  return r;
}
float sum_of(unsigned thread) {
  float sum = 0;
  for (unsigned trip = 0; trip < kTrips; ++trip)
    sum += 34 * static_cast<float>(thread * (1 + trip % 2) % 64 + 1) + 14;
  return sum;
}

TEST_CASE("a stretch computes and counts what its operations do one by one", "[stretch]") {
  for (const bool checked : {false, true}) {
    INFO("checks: " << checked);
    LaunchOptions options;
    if (!checked) options.checks = Checks::none();
    const Run r = run(0, 0.0f, options);
    CHECK(to_text(r.report.findings) == "");
    for (unsigned t = 0; t < kThreads; ++t) CHECK(from_slot<float>(r.bits[t]) == sum_of(t));
    constexpr unsigned kWarps = 2, kOdd = kTrips / 2;
    CHECK(r.report.total.shared_load.requests == kWarps * kTrips * 5);
    // 16 bytes a lane take two wavefronts even where all lanes read the same, and so do words that
    // lie two apart.
    CHECK(r.report.total.shared_load.wavefronts == kWarps * (kTrips * 6 + kOdd * 2));
    CHECK(r.report.total.fma_f32 == kThreads * kTrips * 4);
  }
}

TEST_CASE("a NaN that a stretch adds to becomes the canonical one", "[stretch]") {
  const Run r = run(0, from_slot<float>(0x7fc12345u), {});
  for (const std::uint32_t bits : r.bits) CHECK(bits == 0x7fffffffu);
}

TEST_CASE("who reads in a stretch is found in a race", "[stretch]") {
  const Run r = run(1, 0.0f, {});
  REQUIRE(r.report.findings.size() == 1);
  CHECK(r.report.findings[0].kind == FindingKind::shared_race);
}

TEST_CASE("a stretch that reads what nobody has written is found", "[stretch]") {
  const Run r = run(2, 0.0f, {});
  REQUIRE(!r.report.findings.empty());
  CHECK(r.report.findings[0].kind == FindingKind::uninitialised_read);
}

}  // namespace
}  // namespace simgpu::test
