// cp.async: values, what happens before the wait, zero-fill, counts, hostile forms.
#include <algorithm>
#include <numeric>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
const std::string kFile = "async.cu";

std::vector<Clang> oldest_and_newest() {
  if (clangs().size() <= 2) return clangs();
  return {clangs().front(), clangs().back()};
}

// The body runs with `gpu` loaded with async.cu from the oldest and the newest compiler.
#define FOR_EACH_CLANG(gpu)                      \
  for (const Clang& clang : oldest_and_newest()) \
    for (Gpu gpu(compile(kFile, clang)), *once = &gpu; once != nullptr; once = nullptr)

std::vector<int> counting(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 1);
  return v;
}

/// The first finding of that kind; a default one (after a failed check) if there is none.
Finding first(const LaunchReport& report, FindingKind kind) {
  INFO(to_text(report.findings));
  for (const Finding& f : report.findings)
    if (f.kind == kind) return f;
  CHECK("there is such a finding" == std::string(to_string(kind)));
  return {};
}
bool has(const LaunchReport& report, FindingKind kind) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Finding& f) { return f.kind == kind; });
}
unsigned line(std::string_view name) {
  return marker(kFile, name);
}
bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a copy that was waited for arrives", "[async]") {
  FOR_EACH_CLANG(gpu) {
    const auto values = counting(512);
    const DevicePtr in = gpu.upload(values, "in"), out = gpu.device.alloc(2048, "out");
    LaunchReport r = gpu.run("own_word", {4, 1, 1}, {128, 1, 1}, in, out);
    INFO(to_text(r.findings));
    CHECK(r.findings.empty());
    CHECK(gpu.download<int>(out, 512) == values);
    r = gpu.run("neighbour", {1, 1, 1}, {256, 1, 1}, in, out, 1);
    CHECK(r.findings.empty());
    CHECK(gpu.download<int>(out, 2) == std::vector<int>{256, 1});
    r = gpu.run("ring_right", {1, 1, 1}, {64, 1, 1}, in, out, 7);
    INFO(to_text(r.findings));
    CHECK(r.findings.empty());
    int want = 0;
    for (int k = 0; k < 7; ++k) want += values[static_cast<std::size_t>(k * 64 + 63)] * (k + 1);
    CHECK(gpu.download<int>(out, 1)[0] == want);
  }
}

TEST_CASE("a read before the wait is a finding and gives poison", "[async]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(counting(512), "in"), out = gpu.device.alloc(2048, "out");
    LaunchReport r = gpu.run("own_word_early", {4, 1, 1}, {128, 1, 1}, in, out);
    CHECK(r.findings.size() == 1);
    Finding f = first(r, FindingKind::async_not_waited);
    CHECK(f.at.where.line == line("early_read"));
    REQUIRE(f.other);
    CHECK(f.other->where.line == line("early_copy"));
    CHECK(f.at.object == "tile");
    CHECK(f.at.thread == Dim3{0, 0, 0});
    CHECK(f.occurrences == 512);
    CHECK(contains(f.detail, "bytes of a cp.async that this thread issued on async.cu:" +
                                 std::to_string(line("early_copy")) + ", before wait_group"));
    CHECK(gpu.download<int>(out, 512) == std::vector<int>(512, -1));

    r = gpu.run("never_committed", {1, 1, 1}, {64, 1, 1}, in, out);
    f = first(r, FindingKind::async_not_waited);
    CHECK(f.at.where.line == line("uncommitted_read"));
    CHECK(contains(f.detail, "before commit_group and wait_group"));
    CHECK(gpu.download<int>(out, 64) == std::vector<int>(64, -1));

    // Without the checks the value is still not there.
    LaunchOptions fast;
    fast.checks = Checks::none();
    r = gpu.run("own_word_early", {4, 1, 1}, {128, 1, 1}, 0u, fast, in, out);
    CHECK(r.findings.empty());
    CHECK(gpu.download<int>(out, 512) == std::vector<int>(512, -1));
  }
}

TEST_CASE("wait_group off by one: only the newest group is missing", "[async]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(counting(512), "in"), out = gpu.device.alloc(2048, "out");
    const LaunchReport r = gpu.run("ring_off_by_one", {1, 1, 1}, {64, 1, 1}, in, out, 7);
    const Finding f = first(r, FindingKind::async_not_waited);
    CHECK(f.at.where.line == line("ring_read"));
    CHECK(contains(f.detail,
                   "that thread must wait for the group, and a __syncthreads() must follow"));
    CHECK(f.cause == FindingCause::unwaited_copy);
  }
}

TEST_CASE("other threads see a copy after a barrier that follows the wait", "[async]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(counting(512), "in"), out = gpu.device.alloc(2048, "out");
    for (const unsigned threads : {32u, 128u}) {
      LaunchReport r = gpu.run("neighbour", {1, 1, 1}, {threads, 1, 1}, in, out, 0);
      Finding f = first(r, FindingKind::async_not_waited);
      CHECK(f.at.where.line == line("neighbour_read"));
      REQUIRE(f.other);
      CHECK(f.other->where.line == line("neighbour_copy"));
      CHECK(contains(f.detail, "only after a barrier that follows the wait for it"));
      CHECK(f.cause == FindingCause::unpublished_copy);
      CHECK(gpu.download<int>(out, 2)[1] == -1);
      r = gpu.run("barrier_before_wait", {1, 1, 1}, {threads, 1, 1}, in, out);
      f = first(r, FindingKind::async_not_waited);
      CHECK(f.at.where.line == line("wrong_order_read"));
      CHECK(gpu.download<int>(out, 2)[1] == -1);
    }
  }
}

TEST_CASE("a copy is a write from issue to wait", "[async]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(counting(512), "in"), out = gpu.device.alloc(2048, "out");
    Finding f =
        first(gpu.run("overwrites", {1, 1, 1}, {64, 1, 1}, in, out, 3), FindingKind::shared_race);
    CHECK(f.at.where.line == line("war_copy"));
    REQUIRE(f.other);
    CHECK(f.other->where.line == line("war_read"));
    f = first(gpu.run("store_on_pending", {1, 1, 1}, {64, 1, 1}, in, out),
              FindingKind::shared_race);
    CHECK(f.at.where.line == line("pending_store"));
    REQUIRE(f.other);
    CHECK(f.other->where.line == line("pending_copy"));
    CHECK(contains(f.detail, "may still be writing"));
    f = first(gpu.run("copy_on_pending", {1, 1, 1}, {64, 1, 1}, in, out), FindingKind::shared_race);
    CHECK(f.at.where.line == line("second_copy"));
    REQUIRE(f.other);
    CHECK(f.other->where.line == line("first_copy"));
    f = first(gpu.run("two_lanes_one_place", {1, 1, 1}, {64, 1, 1}, in, out),
              FindingKind::shared_race);
    CHECK(f.at.where.line == line("two_lanes"));
    CHECK(f.at.thread == Dim3{1, 0, 0});
  }
}

TEST_CASE("zero-fill: what is not read need not exist", "[async]") {
  FOR_EACH_CLANG(gpu) {
    std::vector<float> values(125);
    std::iota(values.begin(), values.end(), 1.0f);
    const DevicePtr in = gpu.upload(values, "in"), out = gpu.device.alloc(512, "out");
    LaunchReport r = gpu.run("zero_fill", {1, 1, 1}, {32, 1, 1}, in, out, 12);
    INFO(to_text(r.findings));
    CHECK(r.findings.empty());
    auto got = gpu.download<float>(out, 128);
    CHECK(std::vector<float>(got.begin() + 120, got.begin() + 128) ==
          std::vector<float>{121, 0, 0, 0, 125, 0, 0, 0});
    CHECK(r.total.async_copy.bytes == 128);
    CHECK(r.total.async_store.bytes == 512);
    r = gpu.run("zero_fill", {1, 1, 1}, {32, 1, 1}, in, out, 8);
    Finding f = first(r, FindingKind::out_of_bounds);
    CHECK(f.at.where.line == line("zero_fill"));
    CHECK(f.at.thread == Dim3{31, 0, 0});
    CHECK(f.at.bytes == 8);
    CHECK(f.at.object == "in");
    CHECK(f.occurrences == 1);
    r = gpu.run("zero_fill", {1, 1, 1}, {32, 1, 1}, in, out, 16);
    CHECK(r.findings.empty());
    CHECK(gpu.download<float>(out, 128) == std::vector<float>(128, 0));
    CHECK(r.total.async_copy.requests == 0);
    CHECK(r.total.async_store.requests == 1);
    // Alignment of the source: that of the whole copy.
    f = first(gpu.run("zero_fill", {1, 1, 1}, {31, 1, 1}, in + 4, out, 12),
              FindingKind::misaligned);
    CHECK(f.at.where.line == line("zero_fill"));
    CHECK(f.at.bytes == 16);
    // Uninitialised source bytes: only those read count.
    gpu.device.mark_uninitialised(in + 12, 4);
    CHECK(gpu.run("zero_fill", {1, 1, 1}, {31, 1, 1}, in, out, 4).findings.empty());
    f = first(gpu.run("zero_fill", {1, 1, 1}, {31, 1, 1}, in, out, 0),
              FindingKind::uninitialised_read);
    CHECK(f.at.where.line == line("zero_fill"));
    CHECK(f.occurrences == 1);
  }
}

TEST_CASE("counts of cp.async, as measured on an H200", "[async][count]") {
  struct Case {
    std::string kernel;
    int from, to, bytes;
    std::uint64_t requests, sectors, wavefronts;
  };
  const std::vector<Case> cases = {
      {"strided_4", 4, 4, 4, 1, 4, 1},           {"strided_4", 4, 4, 0, 0, 0, 1},
      {"strided_8", 8, 8, 8, 1, 8, 2},           {"strided_16", 16, 16, 16, 1, 16, 4},
      {"strided_16_cg", 16, 16, 16, 1, 16, 4},   {"strided_16_cg", 16, 16, 4, 1, 16, 4},
      {"strided_16_cg", 16, 16, 0, 0, 0, 4},     {"strided_16_cg", 16, 32, 16, 1, 32, 8},
      {"strided_16_cg", 16, 128, 16, 1, 32, 32}, {"strided_16", 16, 128, 16, 1, 16, 32},
      {"strided_4", 4, 128, 4, 1, 4, 32},        {"strided_4", 1024, 4, 4, 1, 32, 1},
      {"strided_16_cg", 1024, 16, 16, 1, 32, 4}, {"strided_4", 0, 4, 4, 1, 1, 1},
  };
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(std::vector<char>(32 * 1024, 1), "in"),
                    out = gpu.device.alloc(128, "out");
    for (const Case& c : cases)
      for (const bool checks : {true, false}) {
        LaunchOptions o;
        if (!checks) o.checks = Checks::none();
        const LaunchReport r =
            gpu.run(c.kernel, {1, 1, 1}, {32, 1, 1}, 4096u, o, in, out, c.from, c.to, c.bytes);
        INFO(c.kernel << " " << c.from << " " << c.to << " " << c.bytes);
        INFO(to_text(r.findings));
        CHECK(r.findings.empty());
        CHECK(r.total.async_copy.requests == c.requests);
        CHECK(r.total.async_copy.sectors == c.sectors);
        CHECK(r.total.global_load.sectors == c.sectors);
        CHECK(r.total.async_store.wavefronts == c.wavefronts);
        CHECK(r.total.shared_store.requests == 0);
        const BufferCounts* b = of_buffer(r, "in");
        CHECK((b != nullptr ? b->load.sectors : 0) == c.sectors);
      }
  }
}

TEST_CASE("copies not hidden behind arithmetic", "[async][count]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(std::vector<float>(128, 1), "in"),
                    out = gpu.device.alloc(128, "out");
    LaunchReport r = gpu.run("hidden", {1, 1, 1}, {32, 1, 1}, in, out, 1.0f, 0);
    CHECK(r.findings.empty());
    CHECK(r.total.async_bytes_idle == 512);
    REQUIRE(at_line(r, line("hidden_copy")) != nullptr);
    CHECK(at_line(r, line("hidden_copy"))->counts.async_bytes_idle == 512);
    r = gpu.run("hidden", {1, 1, 1}, {32, 1, 1}, in, out, 1.0f, 1);
    CHECK(r.total.async_bytes_idle == 0);
    CHECK(r.total.fma_f32 == 64);
  }
}

TEST_CASE("copies that are waited for before their turn", "[async][count]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(std::vector<float>(128, 1), "in"),
                    out = gpu.device.alloc(128, "out");
    struct Case {
      int places, left, split;
      std::uint64_t halves, under_way, stages;  ///< of places, too early; of each, in steps
    };
    constexpr int steps = 8;
    constexpr std::uint64_t half = 512;  // bytes
    const Case cases[] = {
        {2, 0, 0, 0, 0, 0},   // nothing else is possible with two places
        {3, 1, 0, 0, 0, 0},   // all but the tile at hand stay under way
        {4, 2, 0, 0, 0, 0},   //
        {3, 2, 1, 0, 0, 0},   // the same, in two groups per step
        {3, 0, 0, 12, 1, 3},  // everything is waited for at once
        {4, 0, 0, 12, 1, 4},  //
        {4, 1, 0, 12, 2, 4},  // one step is left, two could be
        {3, 1, 1, 6, 1, 3},   // of two groups per step the first half comes too early
    };
    for (const Case& c : cases) {
      const LaunchReport r =
          gpu.run("ring", {1, 1, 1}, {32, 1, 1}, in, out, c.places, c.left, c.split, steps);
      INFO(c.places << " places, " << c.left << " left, split " << c.split << "\n"
                    << to_text(r.findings));
      CHECK(r.findings.empty());
      const EarlyWait& early = r.total.async_early;
      CHECK(early.bytes == c.halves * half);
      if (c.halves == 0) continue;
      // Those before the loop have not been a whole round in their places.
      CHECK((early.under_way + early.bytes / 2) / early.bytes == c.under_way);
      CHECK((early.stages + early.bytes / 2) / early.bytes == c.stages);
      if (c.left != 0) continue;
      REQUIRE(at_line(r, line("ring_wait")) != nullptr);
      CHECK(at_line(r, line("ring_wait"))->counts.async_early.bytes == early.bytes);
    }
  }
}

TEST_CASE("a pipelined GEMM is clean, right and the same for any number of host threads",
          "[async]") {
  FOR_EACH_CLANG(gpu) {
    const int n = 64, k = 80;
    std::vector<float> a(64 * 80), b(80 * 64);
    Random random(5);
    for (float& x : a) x = static_cast<float>(static_cast<int>(random.below(9)) - 4);
    for (float& x : b) x = static_cast<float>(static_cast<int>(random.below(9)) - 4);
    const DevicePtr da = gpu.upload(a, "A"), db = gpu.upload(b, "B"),
                    dc = gpu.device.alloc(64 * 64 * 4, "C");
    std::string text;
    for (const unsigned threads : {1u, 2u}) {
      LaunchOptions o;
      o.host_threads = threads;
      const LaunchReport r = gpu.run("gemm_ring", {2, 2, 1}, {64, 1, 1}, 0u, o, da, db, dc, n, k);
      INFO(to_text(r.findings));
      CHECK(r.findings.empty());
      const auto c = gpu.download<float>(dc, 64 * 64);
      bool right = true;
      for (std::size_t i = 0; i < 64; ++i)
        for (std::size_t j = 0; j < 64; ++j) {
          float want = 0;
          for (std::size_t d = 0; d < 80; ++d) want += a[i * 80 + d] * b[d * 64 + j];
          right &= c[i * 64 + j] == want;
        }
      CHECK(right);
      // Every tile of A and B once per block: 4 blocks of 5 steps of (32 * 16 + 16 * 32) floats.
      CHECK(r.total.async_copy.bytes == 4u * 5 * 1024 * 4);
      REQUIRE(of_buffer(r, "B") != nullptr);
      CHECK(of_buffer(r, "B")->load.sectors == 4u * 5 * 512 * 4 / 32);
      if (threads == 1)
        text = to_text(r);
      else
        CHECK(to_text(r) == text);
    }
    for (const char* wrong : {"ring_off_by_one", "overwrites"}) {
      text.clear();
      for (const unsigned threads : {1u, 2u}) {
        LaunchOptions o;
        o.host_threads = threads;
        const LaunchReport r = gpu.run(wrong, {4, 1, 1}, {64, 1, 1}, 0u, o, da, dc, 7);
        if (threads == 1)
          text = to_text(r);
        else
          CHECK(to_text(r) == text);
      }
    }
  }
}

// ---- hostile PTX

std::string kernel(const std::string& body) {
  return ptx_module(
      ".visible .entry k(.param .u64 p, .param .u64 q) {\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>; .shared .align 16 .b8 s[1024];\n"
      "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r1, %tid.x;\n"
      "mul.wide.u32 %rd3, %r1, 16; add.s64 %rd1, %rd1, %rd3; mov.u32 %r2, s;\n"
      "mad.lo.s32 %r3, %r1, 16, %r2;\n" +
      body + "\nret;\n}\n");
}

TEST_CASE("hostile cp.async", "[async]") {
  const auto run = [](const std::string& body, bool race = true) {
    Gpu gpu(kernel(body));
    const DevicePtr in = gpu.upload(std::vector<char>(512, 1), "in");
    LaunchOptions o;
    o.checks.race = race;
    o.instruction_budget = 1u << 24;
    return gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, o, in, in);
  };
  CHECK(run("cp.async.wait_group 2147483647; cp.async.wait_group 4294967295; cp.async.wait_all;"
            "cp.async.commit_group; cp.async.wait_group 0;")
            .findings.empty());
  CHECK(
      run("cp.async.ca.shared.global [%r3], [%rd1], 16; cp.async.wait_group 0;").findings.empty());
  // A global address as destination, a shared one as source.
  CHECK(has(run("cp.async.ca.shared.global [%rd1], [%rd1], 4;"), FindingKind::out_of_bounds));
  CHECK(has(run("cvt.u64.u32 %rd4, %r3; cp.async.ca.shared.global [%r3], [%rd4], 4;"),
            FindingKind::null_pointer));
  CHECK(has(run("cp.async.ca.shared.global [%r3+1024], [%rd1], 16;"), FindingKind::out_of_bounds));
  CHECK(has(run("cp.async.ca.shared.global [%r3-16], [%rd1], 16;"), FindingKind::out_of_bounds));
  CHECK(has(run("cp.async.cg.shared.global [%r3+4], [%rd1], 16;"), FindingKind::misaligned));
  CHECK(has(run("cp.async.ca.shared.global [%r3], [%rd1+4], 8;"), FindingKind::misaligned));
  CHECK(has(run("cp.async.cg.shared.global [%r3], [%rd1+16], 16;"), FindingKind::out_of_bounds));
  CHECK(has(run("cp.async.cg.shared.global [%r3], [%rd1], 16, 17;"), FindingKind::out_of_bounds));
  CHECK(has(run("cp.async.cg.shared.global [%r3], [%rd1], 16, -1;"), FindingKind::out_of_bounds));
  CHECK(run("setp.eq.u32 %p1, 0, 0; cp.async.cg.shared.global [%r3], [%rd1+65536], 16, %p1;")
            .findings.empty());
  CHECK(has(run("setp.eq.u32 %p1, 0, 0; cp.async.cg.shared.global [%r3], [%rd1+65536], 16, !%p1;"),
            FindingKind::out_of_bounds));
  for (const char* bad : {"cp.async.cg.shared.global [%r3], [%rd1], 8;",
                          "cp.async.ca.shared.global [%r3], [%rd1], 12;",
                          "cp.async.ca.shared.global [%r3], [%rd1], 0;"})
    CHECK(has(run(bad), FindingKind::unsupported));
  // Copies without end onto one place: a race, and no end of memory for the host.
  const LaunchReport endless =
      run("mov.u32 %r4, 0; L: cp.async.ca.shared.global [%r3], [%rd1], 16; add.u32 %r4, %r4, 1;"
          "setp.lt.u32 %p1, %r4, 20000; @%p1 bra L;");
  CHECK(has(endless, FindingKind::shared_race));
  // Lanes that commit apart from each other.
  CHECK(run("setp.lt.u32 %p1, %r1, 7; cp.async.ca.shared.global [%r3], [%rd1], 16;"
            "@%p1 cp.async.commit_group; cp.async.ca.shared.global [%r3+512], [%rd1], 16;"
            "cp.async.commit_group; @%p1 cp.async.wait_group 1; @!%p1 cp.async.wait_group 0;"
            "ld.shared.u32 %r5, [%r3];")
            .findings.empty());
}

}  // namespace
}  // namespace simgpu::test
