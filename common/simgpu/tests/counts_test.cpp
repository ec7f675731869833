// Counters of whole kernels against hardware: ncu on an H200, a published report of an RTX A6000,
// closed forms. Single accesses are in counts_access_test.cpp.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

LaunchOptions counts_only(unsigned threads = 0) {
  LaunchOptions options;
  options.checks = Checks::none();
  options.host_threads = threads;
  return options;
}

// ------------------------------------------------------------------------------------------ naive
// SGEMM

struct NaiveTraffic {
  u64 requests = 0, a_sectors = 0, b_sectors = 0, c_sectors = 0, fmas = 0;
};

// Sectors that n adjacent floats touch from element o on.
u64 span(u64 o, u64 n) {
  return (o + n - 1) / 8 - o / 8 + 1;
}

NaiveTraffic closed_form(u64 m, u64 n, u64 k) {
  NaiveTraffic t;
  const u64 strips = (n + 31) / 32, warps = m * strips;
  t.requests = 2 * k * warps;
  t.a_sectors = k * warps;
  for (u64 s = 0; s < strips; ++s) {
    const u64 width = std::min<u64>(32, n - 32 * s);
    for (u64 i = 0; i < k; ++i) t.b_sectors += m * span(i * n + 32 * s, width);
    for (u64 r = 0; r < m; ++r) t.c_sectors += span(r * n + 32 * s, width);
  }
  t.fmas = m * n * k;
  return t;
}

LaunchReport run_naive(Gpu& gpu, int m, int n, int k, const LaunchOptions& options) {
  const auto size = [](int r, int c) {
    return static_cast<std::size_t>(r) * static_cast<std::size_t>(c);
  };
  const DevicePtr a = gpu.upload(std::vector<float>(size(m, k), 2.0f), "A"),
                  b = gpu.upload(std::vector<float>(size(k, n), 0.5f), "B"),
                  c = gpu.device.alloc(size(m, n) * 4, "C");
  const LaunchReport report =
      gpu.run("naive", {static_cast<u32>((n + 31) / 32), static_cast<u32>((m + 15) / 16), 1},
              {32, 16, 1}, 0u, options, a, b, c, m, n, k);
  const std::vector<float> got = gpu.download<float>(c, size(m, n));
  CHECK(got == std::vector<float>(got.size(), static_cast<float>(k)));
  gpu.device.free(a);
  gpu.device.free(b);
  gpu.device.free(c);
  return report;
}

void expect(const LaunchReport& report, const NaiveTraffic& t) {
  CHECK(report.total.global_load.requests == t.requests);
  CHECK(report.total.global_load.sectors == t.a_sectors + t.b_sectors);
  CHECK(report.total.global_store.sectors == t.c_sectors);
  CHECK(report.total.fma_f32 == t.fmas);
  REQUIRE(of_buffer(report, "A") != nullptr);
  CHECK(of_buffer(report, "A")->load.sectors == t.a_sectors);
  CHECK(of_buffer(report, "A")->load.requests == t.requests / 2);
  CHECK(of_buffer(report, "B")->load.sectors == t.b_sectors);
  CHECK(of_buffer(report, "C")->store.sectors == t.c_sectors);
  CHECK(of_buffer(report, "C")->load.requests == 0);
  CHECK(of_buffer(report, "A")->store.requests == 0);
}

TEST_CASE("naive SGEMM: the H200's counters, from every compiler's PTX", "[count]") {
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    Gpu gpu(compile("counts.cu", clang));
    {
      const LaunchReport report = run_naive(gpu, 256, 256, 256, counts_only());
      CHECK(report.total.global_load.requests == 1048576);
      CHECK(report.total.global_load.sectors == 2621440);
      CHECK(report.total.global_store.sectors == 8192);
      CHECK(report.total.fma_f32 == 16777216);
      expect(report, closed_form(256, 256, 256));
    }
    {
      const LaunchReport report = run_naive(gpu, 131, 129, 127, counts_only());
      CHECK(report.total.global_load.requests == 166370);
      CHECK(report.total.global_load.sectors == 424178);
      CHECK(report.total.global_store.sectors == 2683);
      CHECK(report.total.fma_f32 == 2146173);
      CHECK(of_buffer(report, "A")->load.sectors == 83185);
      CHECK(of_buffer(report, "B")->load.sectors == 340993);
      // The two loads and the product stand on one line, the store on another: nothing elsewhere.
      const LineCounts* product = at_line(report, marker("counts.cu", "naive_product"));
      REQUIRE(product != nullptr);
      CHECK(product->counts.global_load.sectors == 424178);
      CHECK(product->counts.fma_f32 == 2146173);
      const LineCounts* store = at_line(report, marker("counts.cu", "naive_store"));
      REQUIRE(store != nullptr);
      CHECK(store->counts.global_store.sectors == 2683);
      CHECK(store->counts.global_load.requests == 0);
    }
  }
}

TEST_CASE("naive SGEMM: the closed form at many shapes", "[count]") {
  Gpu gpu(compile("counts.cu"));
  Random random(42);
  struct Shape {
    int m, n, k;
  };
  for (const auto& [m, n, k] : {Shape{1, 1, 1}, Shape{1, 33, 2}, Shape{17, 31, 5}, Shape{16, 32, 1},
                                Shape{5, 100, 9}, Shape{64, 7, 13}}) {
    INFO(m << " x " << n << " x " << k);
    expect(run_naive(gpu, m, n, k, {}),
           closed_form(static_cast<u64>(m), static_cast<u64>(n), static_cast<u64>(k)));
  }
  for (int i = 0; i < 12; ++i) {
    const int m = 1 + static_cast<int>(random.below(50)),
              n = 1 + static_cast<int>(random.below(90)),
              k = 1 + static_cast<int>(random.below(40));
    INFO(m << " x " << n << " x " << k);
    expect(run_naive(gpu, m, n, k, {}),
           closed_form(static_cast<u64>(m), static_cast<u64>(n), static_cast<u64>(k)));
  }
}

TEST_CASE("naive DGEMM counts 8-byte elements", "[count]") {
  Gpu gpu(compile("counts.cu"));
  const std::size_t n = 64;
  const DevicePtr a = gpu.upload(std::vector<double>(n * n, 1), "A"),
                  b = gpu.upload(std::vector<double>(n * n, 1), "B"),
                  c = gpu.device.alloc(n * n * 8, "C");
  const LaunchReport report = gpu.run("naive_double", {2, 4, 1}, {32, 16, 1}, a, b, c, 64, 64, 64);
  CHECK(report.total.fma_f64 == 64 * 64 * 64);
  CHECK(report.total.fma_f32 == 0);
  CHECK(of_buffer(report, "A")->load.sectors == 128 * 64);
  CHECK(of_buffer(report, "B")->load.sectors == 128 * 64 * 8);
  CHECK(of_buffer(report, "C")->store.sectors == 128 * 8);
  CHECK(of_buffer(report, "B")->load.ideal_sectors == 128 * 64 * 8);
  CHECK(to_text(report.findings).empty());
}

// ------------------------------------------------------------------------- the published A6000
// report

LaunchReport run_tile32(Gpu& gpu, int n, const LaunchOptions& options) {
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const DevicePtr a = gpu.upload(std::vector<float>(elements, 1), "A"),
                  b = gpu.upload(std::vector<float>(elements, 1), "B"),
                  c = gpu.upload(std::vector<float>(elements, 1), "C");
  const auto tiles = static_cast<u32>(n / 32);
  const LaunchReport report =
      gpu.run("tile32", {tiles, tiles, 1}, {1024, 1, 1}, 0u, options, a, b, c, n, n, n, 1.0f, 1.0f);
  CHECK(gpu.download<float>(c, elements) ==
        std::vector<float>(elements, static_cast<float>(n + 1)));
  return report;
}

// ncu on an RTX A6000 at 1024^3. Every figure is a multiple of the warps times tiles (or of the
// warps), so smaller sizes scale exactly.
TEST_CASE("tile 32 x 32 x 32: the published RTX A6000 counters", "[count]") {
  for (const Clang& clang : clangs()) {
    for (const int n : {256, 1024}) {
      if (n == 1024 && clang.major != clangs().front().major)
        continue;  // seconds each; one compiler suffices
      INFO(clang.command << " n = " << n);
      Gpu gpu(compile("counts.cu", clang));
      const LaunchReport report = run_tile32(gpu, n, counts_only());
      const u64 tiles = static_cast<u64>(n) / 32, warps = tiles * tiles * 32;
      const Counts& t = report.total;
      CHECK(t.global_load.requests == warps * (2 * tiles + 1));
      CHECK(t.global_load.sectors == 4 * warps * (2 * tiles + 1));
      CHECK(t.global_store.requests == warps);
      CHECK(t.global_store.sectors == 4 * warps);
      CHECK(t.shared_load.raw_requests == warps * tiles * 64);
      CHECK(t.shared_load.raw_wavefronts == warps * tiles * 64);
      CHECK(t.shared_load.requests == warps * tiles * 40);
      CHECK(t.shared_load.wavefronts == warps * tiles * 48);
      CHECK(t.shared_store.requests == warps * tiles * 2);
      CHECK(t.shared_store.wavefronts == warps * tiles * 2);
      CHECK(t.fma_f32 >= static_cast<u64>(n) * static_cast<u64>(n) * static_cast<u64>(n));
      CHECK(t.block_barriers == tiles * tiles * tiles * 2);
      CHECK(t.barriers == warps * tiles * 2);
      if (n == 1024) {
        CHECK(t.global_load.requests == 2129920);
        CHECK(t.global_load.sectors == 8519680);
        CHECK(t.global_store.requests == 32768);
        CHECK(t.global_store.sectors == 131072);
        CHECK(t.shared_load.raw_requests == 67108864);
        CHECK(t.shared_load.requests == 41943040);
        CHECK(t.shared_load.wavefronts == 50331648);
        CHECK(t.shared_store.requests == 2097152);
        CHECK(t.shared_store.wavefronts == 2097152);
      }
      const LineCounts* product = at_line(report, marker("counts.cu", "tile_product"));
      REQUIRE(product != nullptr);
      CHECK(product->counts.shared_load.requests == t.shared_load.requests);
      const LineCounts* line_a = at_line(report, marker("counts.cu", "tile_a"));
      REQUIRE(line_a != nullptr);
      CHECK(line_a->counts.global_load.requests == warps * tiles);
      CHECK(line_a->counts.shared_store.requests == warps * tiles);
    }
  }
}

TEST_CASE("tile 16: the counts of the prototype, from nvcc's PTX and clang's alike", "[count]") {
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    Gpu gpu(compile("counts.cu", clang));
    const std::vector<float> ones(256 * 256, 1);
    const DevicePtr a = gpu.upload(ones, "A"), b = gpu.upload(ones, "B"),
                    c = gpu.device.alloc(ones.size() * 4, "C");
    const LaunchReport report =
        gpu.run("tile16", {16, 16, 1}, {16, 16, 1}, 0u, counts_only(), a, b, c, 256, 256, 256);
    CHECK(report.total.global_load.sectors == 262144);
    CHECK(report.total.global_load.requests == 2 * 8 * 16 * 256);
    CHECK(report.total.fma_f32 == 16777216);
    // 16 + 4 requests a tile: rows of A as four 16-byte loads (two rows a warp), columns of B one
    // by one.
    CHECK(report.total.shared_load.raw_requests == 8 * 16 * 256 * 32);
    CHECK(report.total.shared_load.requests == 8 * 16 * 256 * 20);
    CHECK(report.total.shared_store.wavefronts == 65536);
  }
}

// --------------------------------------------------------------------------------- merging of
// loads

LaunchReport run_shared_body(const std::string& body) {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %rd<8>;
  .shared .align 16 .b8 box[1024];
  ld.param.u64 %rd5, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p, %r1, 99;
  mov.u64 %rd1, box;
)" + body + "  ret;\n}\n"));
  const DevicePtr out = gpu.device.alloc(256, "out");
  return gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, counts_only(), out);
}

TEST_CASE("modelled merging of adjacent scalar shared loads", "[count]") {
  const auto loads = [](std::vector<int> offsets, const std::string& prefix = "",
                        const std::string& op = "ld.shared.f32") {
    std::string body;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      body += "  " + prefix + op + " %f" + std::to_string(i) + ", [%rd1+" +
              std::to_string(offsets[i]) + "];\n";
    }
    return body;
  };
  struct Case {
    std::string name, body;
    u64 raw, merged, wavefronts;
  };
  const std::vector<Case> cases = {
      {"four from 0", loads({0, 4, 8, 12}), 4, 1, 2},
      {"four from 16", loads({16, 20, 24, 28}), 4, 1, 2},
      {"eight", loads({0, 4, 8, 12, 16, 20, 24, 28}), 8, 2, 4},
      {"two from 8", loads({8, 12}), 2, 1, 1},
      {"two from 4 stay", loads({4, 8}), 2, 2, 2},
      {"4 8 12 16: the window of the first three, and one", loads({4, 8, 12, 16}), 4, 2, 3},
      {"three of a window", loads({0, 4, 8}), 3, 1, 2},
      {"any order", loads({12, 0, 8, 4}), 4, 1, 2},
      {"not adjacent", loads({0, 8, 16, 24}), 4, 4, 4},
      {"predicated", loads({0, 4, 8, 12}, "@%p "), 4, 4, 4},
      {"volatile", loads({0, 4, 8, 12}, "", "ld.volatile.shared.f32"), 4, 4, 4},
      {"a store in between", loads({0, 4}) + "  st.shared.f32 [%rd1+512], %f0;\n" + loads({8, 12}),
       4, 2, 2},
      {"a barrier in between", loads({0, 4}) + "  bar.sync 0;\n" + loads({8, 12}), 4, 2, 2},
      {"a global store in between",
       loads({0, 4}) + "  st.global.f32 [%rd5], %f0;\n" + loads({8, 12}), 4, 1, 2},
      {"the base changes", loads({0, 4}) + "  add.s64 %rd1, %rd1, 16;\n" + loads({8, 12}), 4, 2, 2},
      {"across a basic block", loads({0, 4}) + "  @!%p bra L;\nL:\n" + loads({8, 12}), 4, 2, 2},
      {"arithmetic in between", loads({0, 4}) + "  add.f32 %f9, %f0, %f1;\n" + loads({8, 12}), 4, 1,
       2},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const LaunchReport report = run_shared_body(c.body);
    CHECK(report.total.shared_load.raw_requests == c.raw);
    CHECK(report.total.shared_load.raw_wavefronts == c.raw);
    CHECK(report.total.shared_load.requests == c.merged);
    CHECK(report.total.shared_load.wavefronts == c.wavefronts);
    CHECK(report.total.shared_load.bytes == c.raw * 32 * 4);
  }
}

TEST_CASE("vector loads merge as scalar ones do, and stores", "[count]") {
  // Two 64-bit loads side by side are one LDS.128 in ptxas's code: load_merging.hpp.
  const LaunchReport loads = run_shared_body(
      "  ld.shared.v2.f32 {%f0, %f1}, [%rd1];\n  ld.shared.v2.f32 {%f2, %f3}, [%rd1+8];\n");
  CHECK(loads.total.shared_load.requests == 1);
  CHECK(loads.total.shared_load.raw_requests == 2);
  const LaunchReport stores = run_shared_body(
      "  mov.f32 %f0, 0f00000000;\n  st.shared.f32 [%rd1], %f0;\n  st.shared.f32 [%rd1+4], %f0;\n");
  CHECK(stores.total.shared_store.requests == 1);
  CHECK(stores.total.shared_store.raw_requests == 2);
}

// ----------------------------------------------------------------------------------------- the
// rest

TEST_CASE("arithmetic counters", "[count]") {
  Gpu gpu(ptx_module(R"(
.visible .entry k()
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .f64 %d<4>;
  mov.u32 %r1, %tid.x;
  mov.f32 %f1, 0f3F800000; mov.f64 %d1, 0d3FF0000000000000;
  fma.rn.f32 %f2, %f1, %f1, %f1;
  fma.rn.f64 %d2, %d1, %d1, %d1;
  mul.f32 %f2, %f1, %f1;
  mul.f64 %d2, %d1, %d1;
  mad.lo.s32 %r2, %r1, %r1, %r1;
  setp.lt.u32 %p, %r1, 5;
  @%p fma.rn.f32 %f2, %f2, %f1, %f1;
  @!%p mad.lo.s32 %r2, %r1, %r1, %r1;
  ret;
})"));
  const LaunchReport report = gpu.run("k", {2, 1, 1}, {40, 1, 1});
  CHECK(report.total.fma_f32 == 2 * (40 + 5));
  CHECK(report.total.fma_f64 == 80);
  CHECK(report.total.mul_f32 == 80);
  CHECK(report.total.mul_f64 == 80);
  CHECK(report.total.mad_int == 2 * (40 + 35));
  CHECK(report.total.products_int == report.total.mad_int);
  u64 sum = 0;
  for (const u64 n : report.total.thread_instructions_by_class) sum += n;
  CHECK(sum == report.total.thread_instructions);
  CHECK(report.total.thread_instructions == 2 * (40 * 10 + 5 + 35));
}

TEST_CASE("products of integers are counted, whichever instruction makes them") {
  Gpu gpu(ptx_module(R"(
.visible .entry k()
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  mov.u32 %r1, 3;
  mov.u64 %rd1, 3;
  mul.lo.s32 %r2, %r1, %r1;
  mul.wide.u32 %rd2, %r1, %r1;
  mul.hi.s64 %rd2, %rd1, %rd1;
  mul24.lo.u32 %r2, %r1, %r1;
  mad24.lo.u32 %r2, %r1, %r1, %r1;
  dp2a.lo.u32.u32 %r2, %r1, %r1, %r1;
  dp4a.u32.u32 %r2, %r1, %r1, %r1;
  add.u32 %r2, %r1, %r1;
  shl.b32 %r2, %r1, 3;
  ret;
}
)"));
  const LaunchReport report = gpu.run("k", {2, 1, 1}, {40, 1, 1});
  CHECK(report.total.products_int == u64{2 * 40} * (5 + 2 + 4));
}

TEST_CASE("multiply-adds that nvcc makes of what is no fma in PTX", "[count]") {
  const auto per_thread = [](const std::string& instructions) {
    Gpu gpu(ptx_module(R"(
.extern .func (.param .b64 r) __simgpu_math_expf(.param .b64 x);
.extern .func (.param .b64 r) __simgpu_math_cbrt(.param .b64 x);
.extern .func (.param .b64 r) __simgpu_math_sinf(.param .b64 x);
.extern .func (.param .b64 r) __simgpu_math_sincos_cosf(.param .b64 x);
.visible .entry k()
{
  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .f64 %fd<4>; .reg .b32 %r<3>;
  mov.f32 %f1, 0f3FC00000; mov.f32 %f2, 0f40000000; mov.f64 %fd1, 0d3FF8000000000000;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 8;
)" + instructions + "\n ret; }"));
    const LaunchReport report = gpu.run("k", {2, 1, 1}, {32, 1, 1}, 0u, counts_only());
    CHECK(to_text(report.findings).empty());
    return report.total.fma_f32 / 64.0;
  };
  CHECK(per_thread("div.rn.f32 %f3, %f1, %f2;") == 5);
  CHECK(per_thread("@%p1 div.rn.f32 %f3, %f1, %f2;") == 5 / 4.0);
  CHECK(per_thread("rcp.rn.f32 %f3, %f1; sqrt.rn.f32 %f3, %f3;") == 4);
  CHECK(per_thread("div.approx.f32 %f3, %f1, %f2; div.full.f32 %f3, %f1, %f2;") == 0);
  CHECK(per_thread("sqrt.approx.f32 %f3, %f1; div.rn.f64 %fd2, %fd1, %fd1;") == 0);
  const auto call = [](const std::string& name) {
    return "{ .param .b64 p; .param .b64 q; st.param.f64 [p], %fd1; call.uni (q), __simgpu_math_" +
           name + ", (p); ld.param.f64 %fd2, [q]; } fma.rn.f32 %f3, %f1, %f1, %f2;";
  };
  CHECK(per_thread(call("expf")) == 5);
  CHECK(per_thread(call("cbrt")) == 1);  // of doubles
  // sincosf makes both of one reduced argument: 11, not twice 8.
  CHECK(per_thread(call("sinf") + call("sincos_cosf")) == 11 + 2);
}

TEST_CASE("lines sum up to the total, buffers to the global traffic", "[count]") {
  Gpu gpu(compile("counts.cu"));
  const LaunchReport report = run_tile32(gpu, 64, {});
  CHECK(to_text(report.findings).empty());
  Counts lines;
  for (const LineCounts& line : report.lines) lines += line.counts;
  LaunchReport sum = report;
  sum.total = lines;
  CHECK(to_text(sum) == to_text(report));
  GlobalCounts load, store;
  for (const BufferCounts& b : report.buffers) {
    load += b.load;
    store += b.store;
  }
  CHECK(load.sectors == report.total.global_load.sectors);
  CHECK(load.bytes == report.total.global_load.bytes);
  CHECK(store.sectors == report.total.global_store.sectors);
  CHECK(std::is_sorted(report.lines.begin(), report.lines.end(),
                       [](const LineCounts& a, const LineCounts& b) { return a.where < b.where; }));
}

TEST_CASE("counting off leaves totals out or right, never wrong", "[count]") {
  Gpu gpu(compile("counts.cu"));
  LaunchOptions off = counts_only();
  off.count = false;
  const LaunchReport report = run_naive(gpu, 33, 33, 5, off);
  CHECK((report.total.fma_f32 == 0 || report.total.fma_f32 == 33 * 33 * 5));
  CHECK(report.lines.empty());
}

TEST_CASE("checks do not change counts", "[count]") {
  Gpu gpu(compile("counts.cu"));
  LaunchReport checked = run_naive(gpu, 45, 37, 19, {}),
               plain = run_naive(gpu, 45, 37, 19, counts_only());
  CHECK(to_text(checked.findings).empty());
  for (BufferCounts& b : checked.buffers) b.base = 0;  // every launch got new buffers
  for (BufferCounts& b : plain.buffers) b.base = 0;
  CHECK(to_text(checked) == to_text(plain));
}

}  // namespace
}  // namespace simgpu::test
