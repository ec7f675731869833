// Same input, same report: results, counts and findings do not depend on the number of host threads
// or on the run, for clean kernels and for faulty ones.
#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;

// Runs the same launch in fresh devices with 1, 2, 3, 8 host threads and once more with 2; `launch`
// returns the report and appends its results.
template <typename Launch>
void same_for_any_threads(const std::string& name, Launch launch) {
  std::string first;
  for (const unsigned threads : {1u, 2u, 3u, 8u, 2u, 1u}) {
    LaunchOptions options;
    options.host_threads = threads;
    options.sample_accesses = true;
    std::vector<int> results;
    const LaunchReport report = launch(options, results);
    std::string text = to_text(report);
    for (const int v : results) text += " " + std::to_string(v);
    if (first.empty()) first = text;
    INFO(name << " with " << threads << " host threads");
    if (text == first) {
      SUCCEED();
      continue;
    }
    // Only the first difference: reports are long.
    std::size_t at = 0;
    while (at < text.size() && at < first.size() && text[at] == first[at]) ++at;
    const std::size_t from = at > 200 ? at - 200 : 0;
    FAIL_CHECK("expected ..." << first.substr(from, 400) << "\ngot ..." << text.substr(from, 400));
  }
}

std::vector<int> numbers(std::size_t n) {
  Random random(n);
  std::vector<int> values(n);
  for (int& v : values) v = static_cast<int>(random.below(1000));
  return values;
}

TEST_CASE("determinism: clean kernels", "[determinism]") {
  same_for_any_threads("naive", [](const LaunchOptions& options, std::vector<int>& results) {
    Gpu gpu(compile("counts.cu"));
    std::vector<float> a(67 * 45), b(45 * 71);
    Random random(4);
    for (float& v : a) v = static_cast<float>(random.below(100)) / 7;
    for (float& v : b) v = static_cast<float>(random.below(100)) / 9;
    const DevicePtr d_a = gpu.upload(a, "A"), d_b = gpu.upload(b, "B"),
                    d_c = gpu.device.alloc(67 * 71 * 4, "C");
    const LaunchReport report =
        gpu.run("naive", {3, 5, 1}, {32, 16, 1}, 0u, options, d_a, d_b, d_c, 67, 71, 45);
    CHECK(report.findings.empty());
    results = gpu.download<int>(d_c, 67 * 71);
    return report;
  });
  same_for_any_threads(
      "double_buffer", [](const LaunchOptions& options, std::vector<int>& results) {
        Gpu gpu(compile("clean.cu"));
        const DevicePtr in = gpu.upload(numbers(1280), "in"), out = gpu.device.alloc(512, "out");
        const LaunchReport report =
            gpu.run("double_buffer", {1, 1, 1}, {128, 1, 1}, 0u, options, in, out, 10);
        results = gpu.download<int>(out, 128);
        return report;
      });
}

/// Blocks of 64 threads: thread i adds what was in element (i + from) % n to its own element. The last
/// `late` blocks alone do so, the others only read theirs. `between` stands behind the loads.
void in_place(const std::string& name, const std::string& type, unsigned bytes, u32 from, u32 late,
              const std::string& between, std::size_t findings) {
  const std::string size = std::to_string(bytes), reg = bytes == 8 ? "%rd" : "%r";
  same_for_any_threads(name,
                       [&](const LaunchOptions& options, std::vector<int>& results) {
                         Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 data, .param .u32 from, .param .u32 first, .param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
  .loc 1 1 1
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [from]; ld.param.u32 %r2, [first];
  ld.param.u32 %r3, [n];
  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x;
  mad.lo.u32 %r5, %r4, %r5, %r6;
  add.u32 %r6, %r5, %r1; rem.u32 %r6, %r6, %r3;
  mul.wide.u32 %rd2, %r5, )" + size + R"(; add.s64 %rd2, %rd1, %rd2;
  mul.wide.u32 %rd3, %r6, )" + size + R"(; add.s64 %rd3, %rd1, %rd3;
  .loc 1 2 1
  ld.global)" + type + " " + reg +
                                            R"(8, [%rd2];
  .loc 1 3 1
  ld.global)" + type + " " + reg + "9, [%rd3];\n" +
                                            between + R"(
  setp.lt.u32 %p1, %r4, %r2;
  @%p1 ret;
  add.u)" + (bytes == 8 ? "64 " : "32 ") + reg +
                                            "8, " + reg + "8, " + reg + R"(9;
  .loc 1 4 1
  st.global)" + type + " [%rd2], " + reg + R"(8;
  ld.global)" + type + " " + reg +
                                            R"(9, [%rd2];
  st.global)" + type + " [%rd2], " + reg + R"(9;
  ret;
}
.file 1 "x.cu"
)"));
                         constexpr u32 n = 40 * 64;
                         std::vector<int> values = numbers(n * bytes / 4);
                         const DevicePtr data = gpu.upload(values, "data");
                         const LaunchReport report = gpu.run("k", {40, 1, 1}, {64, 1, 1}, 0u,
                                                             options, data, from, 40 - late, n);
                         CHECK(report.findings.size() == findings);
                         results = gpu.download<int>(data, values.size());
                         return report;
                       });
}

TEST_CASE("determinism: kernels that read what they write", "[determinism]") {
  in_place("own element", ".u32", 4, 0, 40, "", 0);
  in_place("own pair", ".u64", 8, 0, 40, "", 0);
  in_place("own byte", ".u8", 1, 0, 40, "", 0);
  in_place("late", ".u32", 4, 0, 3, "", 0);
  in_place("neighbour's", ".u32", 4, 1, 40, "", 1);
  in_place("other block's", ".u32", 4, 64, 40, "", 1);
  in_place("other block's pair", ".u64", 8, 1920, 40, "", 1);
  in_place("other block's byte", ".u8", 1, 640, 40, "", 1);
  in_place("other block's, late", ".u32", 4, 64 * 39, 3, "bar.sync 0;", 1);
}

/// Each block turns its elements round, all of them read before the first is written.
TEST_CASE("determinism: a barrier between reading and writing in place", "[determinism]") {
  for (const bool barrier : {true, false})
    same_for_any_threads("turn", [&](const LaunchOptions& options, std::vector<int>& results) {
      Gpu gpu(ptx_module(std::string(R"(
.visible .entry k(.param .u64 data)
{
  .reg .b32 %r<12>; .reg .b64 %rd<12>;
  .loc 1 1 1
  ld.param.u64 %rd1, [data];
  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x;
  mad.lo.u32 %r4, %r4, %r5, 0; add.u32 %r7, %r4, %r6;
  mul.wide.u32 %rd2, %r7, 4; add.s64 %rd2, %rd1, %rd2;
  add.u32 %r7, %r4, %r5; sub.u32 %r7, %r7, %r6; sub.u32 %r7, %r7, 1;
  mul.wide.u32 %rd3, %r7, 4; add.s64 %rd3, %rd1, %rd3;
  .loc 1 2 1
  ld.global.u32 %r8, [%rd3];
)") + (barrier ? "bar.sync 0;" : "") +
                         R"(
  .loc 1 4 1
  st.global.u32 [%rd2], %r8;
  ret;
}
.file 1 "x.cu"
)"));
      const std::vector<int> values = numbers(30 * 96);
      const DevicePtr data = gpu.upload(values, "data");
      const LaunchReport report = gpu.run("k", {30, 1, 1}, {96, 1, 1}, 0u, options, data);
      CHECK(report.findings.size() == (barrier ? 0 : 1));
      results = gpu.download<int>(data, values.size());
      if (barrier) CHECK(results[96] == values[191]);
      return report;
    });
}

TEST_CASE("determinism: float atomics of many blocks", "[determinism]") {
  same_for_any_threads("float atomics", [](const LaunchOptions& options,
                                           std::vector<int>& results) {
    Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 in, .param .u64 sum)
{
  .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [sum];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3;
  ld.global.f32 %f1, [%rd1];
  atom.global.add.f32 %f2, [%rd2], %f1;
  st.global.f32 [%rd1], %f2;
  ret;
})"));
    std::vector<float> values(100 * 48);
    Random random(8);
    for (float& v : values) v = static_cast<float>(random.next() % 100000) * 1e-3f - 30.0f;
    const DevicePtr in = gpu.upload(values, "in"), sum = gpu.upload(std::vector<float>{0}, "sum");
    const LaunchReport report = gpu.run("k", {100, 1, 1}, {48, 1, 1}, 0u, options, in, sum);
    CHECK(report.findings.empty());
    results = gpu.download<int>(in, values.size());
    results.push_back(gpu.download<int>(sum, 1)[0]);
    return report;
  });
}

TEST_CASE("determinism: bounds, initialisation and division in many blocks", "[determinism]") {
  same_for_any_threads("oob_load", [](const LaunchOptions& options, std::vector<int>& results) {
    Gpu gpu(compile("findings.cu"));
    const DevicePtr in = gpu.device.alloc(900 * 4, "in"), out = gpu.device.alloc(1024 * 4, "out");
    gpu.device.fill(in, std::byte{0}, 450 * 4);
    const LaunchReport report = gpu.run("oob_load", {16, 1, 1}, {64, 1, 1}, 0u, options, in, out);
    CHECK(report.findings.size() == 2);  // uninitialised from 450 on, out of bounds from 900 on
    results = gpu.download<int>(out, 449);
    return report;
  });
  same_for_any_threads("divides", [](const LaunchOptions& options, std::vector<int>& results) {
    Gpu gpu(compile("findings.cu"));
    const DevicePtr by = gpu.upload(std::vector<int>(32, 0), "by"),
                    out = gpu.device.alloc(128, "out");
    LaunchOptions no_race = options;
    no_race.checks.race = false;
    const LaunchReport report = gpu.run("divides", {40, 1, 1}, {32, 1, 1}, 0u, no_race, by, out);
    CHECK(report.findings.size() == 1);
    results = gpu.download<int>(out, 32);
    return report;
  });
}

/// 24 blocks of 64 threads in clusters of `cluster`: each block leaves its threads' numbers where the
/// next one of its cluster finds them. `between` comes after that; %r7 is the block's number.
void clusters_of(const std::string& name, Dim3 grid, Dim3 cluster, const std::string& between,
                 std::size_t findings, std::uint64_t budget = 1ull << 32) {
  same_for_any_threads(name, [&](const LaunchOptions& options, std::vector<int>& results) {
    Gpu gpu(ptx_module(R"(
.shared .align 16 .b8 box[256];
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  .loc 1 1 1
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %tid.x; mov.u32 %r3, %cluster_nctarank;
  mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %nctaid.x;
  mad.lo.u32 %r7, %r8, %r9, %r7;
  mov.u32 %r4, box; shl.b32 %r5, %r2, 2; add.u32 %r4, %r4, %r5;
  mad.lo.u32 %r6, %r7, 64, %r2; st.shared.u32 [%r4], %r6;
  barrier.cluster.arrive; barrier.cluster.wait;
  add.u32 %r8, %r1, 1; rem.u32 %r8, %r8, %r3;
  mapa.shared::cluster.u32 %r9, %r4, %r8; ld.shared::cluster.u32 %r10, [%r9];
  mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd1, %rd2;
  .loc 1 2 1
)" + between + R"(
  st.global.u32 [%rd2], %r10;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
}
.file 1 "many.cu"
)"));
    const DevicePtr out = gpu.upload(std::vector<int>(24 * 64, -1), "out");
    LaunchOptions own = options;
    own.cluster = cluster;
    own.instruction_budget = budget;
    const LaunchReport report = gpu.run("k", grid, {64, 1, 1}, 0u, own, out);
    INFO(to_text(report.findings));
    CHECK(report.findings.size() == findings);
    if (findings == 0) results = gpu.download<int>(out, 24 * 64);
    return report;
  });
}

TEST_CASE("determinism: clusters on several host threads", "[determinism][cluster]") {
  for (const Dim3 cluster : {Dim3{1, 1, 1}, {2, 1, 1}, {8, 1, 1}})
    clusters_of("a row", {24, 1, 1}, cluster, "", 0);
  clusters_of("a plane", {6, 4, 1}, {2, 2, 1}, "", 0);
  clusters_of("a plane of rows", {6, 4, 1}, {6, 2, 1}, "", 0);
  // Findings of every cluster, of some, and those that end the launch.
  clusters_of("races", {24, 1, 1}, {2, 1, 1}, "st.shared.u32 [%r4], 5;\n", 1);
  clusters_of("out of bounds", {6, 4, 1}, {2, 2, 1},
              "setp.gt.u32 %p1, %r7, 9;\n@%p1 ld.shared.u32 %r10, [%r4+400];\n", 1);
  clusters_of("trap", {24, 1, 1}, {4, 1, 1}, "setp.gt.u32 %p1, %r7, 9;\n@%p1 trap;\n", 1);
  clusters_of("no end", {24, 1, 1}, {4, 1, 1}, "setp.gt.u32 %p1, %r7, 9;\nL: @%p1 bra L;\n", 1,
              1 << 18);
  clusters_of("no end, blocks alone", {24, 1, 1}, {1, 1, 1},
              "setp.gt.u32 %p1, %r7, 9;\nL: @%p1 bra L;\n", 1, 1 << 18);
  clusters_of("deadlock", {24, 1, 1}, {4, 1, 1},
              "setp.eq.u32 %p1, %r7, 9;\n@%p1 bar.sync 1, 128;\n", 1);
}

TEST_CASE("determinism: shared races", "[determinism]") {
  for (const char* kernel : {"race_raw", "race_war", "race_waw"}) {
    same_for_any_threads(kernel, [kernel](const LaunchOptions& options, std::vector<int>&) {
      Gpu gpu(compile("findings.cu"));
      const DevicePtr out = gpu.upload(std::vector<int>(64, 0), "out");
      LaunchOptions shared_only = options;
      const LaunchReport report = gpu.run(kernel, {1, 1, 1}, {64, 1, 1}, 0u, shared_only, out);
      CHECK_FALSE(report.findings.empty());
      return report;
    });
  }
  same_for_any_threads("race_tile_loop", [](const LaunchOptions& options, std::vector<int>&) {
    Gpu gpu(compile("findings.cu"));
    const DevicePtr in = gpu.upload(numbers(128 * 8), "in"), out = gpu.device.alloc(512, "out");
    return gpu.run("race_tile_loop", {1, 1, 1}, {128, 1, 1}, 0u, options, in, out, 8);
  });
}

TEST_CASE("determinism: global races between blocks", "[determinism]") {
  same_for_any_threads("race_blocks_write", [](const LaunchOptions& options, std::vector<int>&) {
    Gpu gpu(compile("findings.cu"));
    const DevicePtr out = gpu.upload(std::vector<int>(16, 0), "out");
    const LaunchReport report =
        gpu.run("race_blocks_write", {64, 1, 1}, {32, 1, 1}, 0u, options, out);
    CHECK(report.findings.size() == 1);
    return report;
  });
  same_for_any_threads("race_blocks_read", [](const LaunchOptions& options, std::vector<int>&) {
    Gpu gpu(compile("findings.cu"));
    const DevicePtr data = gpu.upload(std::vector<int>(64, 0), "data"),
                    out = gpu.device.alloc(512, "out");
    const LaunchReport report =
        gpu.run("race_blocks_read", {64, 1, 1}, {64, 1, 1}, 0u, options, data, out);
    CHECK(report.findings.size() == 1);
    return report;
  });
  // All threads of all blocks write all over one buffer, and read it back: many parties for each
  // word.
  same_for_any_threads("everybody everywhere", [](const LaunchOptions& options, std::vector<int>&) {
    Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 37, %r2;
  and.b32 %r3, %r3, 255;
  mul.wide.u32 %rd2, %r3, 4; add.s64 %rd2, %rd1, %rd2;
  .loc 1 5 1
  st.global.u32 [%rd2], %r1;
  mad.lo.s32 %r3, %r1, 11, %r2;
  and.b32 %r3, %r3, 255;
  mul.wide.u32 %rd2, %r3, 4; add.s64 %rd2, %rd1, %rd2;
  .loc 1 6 1
  ld.global.u32 %r4, [%rd2];
  .loc 1 7 1
  st.global.u8 [%rd2+1], %r4;
  ret;
}
.file 1 "x.cu"
)"));
    const DevicePtr p = gpu.upload(std::vector<u32>(256, 0), "p");
    return gpu.run("k", {50, 1, 1}, {96, 1, 1}, 0u, options, p);
  });
}

TEST_CASE("determinism: barriers, deadlocks, traps and budgets", "[determinism]") {
  for (const char* kernel :
       {"divergent_barrier", "mismatched_barrier", "deadlock", "traps", "stack_overflow"}) {
    same_for_any_threads(kernel, [kernel](const LaunchOptions& options, std::vector<int>&) {
      Gpu gpu(compile("findings.cu"));
      const DevicePtr out = gpu.upload(std::vector<int>(64, 0), "out");
      LaunchOptions no_race = options;
      no_race.checks.race = false;
      return gpu.run(kernel, {6, 1, 1}, {64, 1, 1}, 0u, no_race, out);
    });
  }
  same_for_any_threads(
      "exited_before_barrier", [](const LaunchOptions& options, std::vector<int>&) {
        Gpu gpu(compile("findings.cu"));
        const DevicePtr out = gpu.upload(std::vector<int>(64, 0), "out");
        return gpu.run("exited_before_barrier", {1, 1, 1}, {64, 1, 1}, 0u, options, out, 41);
      });
  // What a stopped kernel had done by then depends on the schedule; that it was stopped, and where,
  // must not.
  std::string first;
  for (const unsigned threads : {1u, 2u, 3u}) {
    Gpu gpu(compile("findings.cu"));
    const DevicePtr flag = gpu.upload(std::vector<int>{0}, "flag");
    LaunchOptions options;
    options.host_threads = threads;
    options.instruction_budget = 1u << 20;
    const LaunchReport report = gpu.run("endless", {8, 1, 1}, {64, 1, 1}, 0u, options, flag);
    CHECK_FALSE(report.completed);
    const std::string text = to_text(report.findings);
    if (first.empty()) first = text;
    CHECK(text == first);
  }
}

TEST_CASE("determinism: printf output in block order", "[determinism]") {
  same_for_any_threads("printf", [](const LaunchOptions& options, std::vector<int>&) {
    Gpu gpu(compile("output.cu"));
    const LaunchReport report = gpu.run("hello", {12, 1, 1}, {40, 1, 1}, 0u, options);
    CHECK(report.printf_output.find("block 0 thread 0\n") == 0);
    return report;
  });
}

}  // namespace
}  // namespace simgpu::test
