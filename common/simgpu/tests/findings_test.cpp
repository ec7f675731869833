// Every kind of finding from a minimal kernel: exact line, block, thread, address, object and other
// party.
#include <algorithm>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;

const std::string kFile = "findings.cu";

std::vector<Clang> oldest_and_newest() {
  if (clangs().size() <= 2) return clangs();
  return {clangs().front(), clangs().back()};
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<Finding> of_kind(const LaunchReport& report, FindingKind kind) {
  std::vector<Finding> some;
  for (const Finding& f : report.findings) {
    if (f.kind == kind) some.push_back(f);
  }
  return some;
}

// The only finding of the report; a default one (after a failed check) otherwise.
Finding only(const LaunchReport& report, FindingKind kind) {
  INFO(to_text(report.findings));
  CHECK(report.findings.size() == 1);
  if (report.findings.empty()) return {};
  const Finding& f = report.findings.front();
  CHECK(to_string(f.kind) == to_string(kind));
  CHECK_FALSE(f.detail.empty());
  CHECK(f.kernel.find(report.kernel) != std::string::npos);
  return f;
}

void at(const Access& access, const std::string& name, const std::string& file = kFile) {
  INFO(to_text(access));
  CHECK(access.where.line == marker(file, name));
  CHECK(ends_with(access.where.file, file));
}

/// What one block of `threads` threads of `kernel` does wrong: one thing, at the line that is
/// marked with the kernel's name.
template <typename... A>
Finding found(Gpu& gpu, FindingKind kind, const std::string& kernel, unsigned threads,
              const A&... args) {
  const Finding f = only(gpu.run(kernel, {1, 1, 1}, {threads, 1, 1}, args...), kind);
  at(f.at, kernel);
  return f;
}

#define FOR_EACH_CLANG(gpu)                      \
  for (const Clang& clang : oldest_and_newest()) \
    for (Gpu gpu(compile(kFile, clang)), *once = &gpu; once != nullptr; once = nullptr)

// -------------------------------------------------------------------------------------------
// bounds

TEST_CASE("global load past the end", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(std::vector<float>(96, 1.0f), "in"),
                    out = gpu.device.alloc(96 * 4, "out");
    const LaunchReport report = gpu.run("oob_load", {3, 1, 1}, {32, 1, 1}, in, out);
    const Finding f = only(report, FindingKind::out_of_bounds);
    at(f.at, "oob_load");
    CHECK(f.at.block == Dim3{2, 0, 0});
    CHECK(f.at.thread == Dim3{31, 0, 0});
    CHECK(f.at.type == AccessType::load);
    CHECK(f.at.space == MemorySpace::global);
    CHECK(f.at.bytes == 4);
    CHECK(f.at.address == in + 96 * 4);
    CHECK(f.at.object == "in");
    CHECK(f.at.offset == 96 * 4);
    CHECK(f.at.object_bytes == 96 * 4);
    CHECK(f.occurrences == 1);
    CHECK_FALSE(f.other);
    // Neighbours ran on with their values.
    const std::vector<float> got = gpu.download<float>(out, 95);
    CHECK(std::all_of(got.begin(), got.end(), [](float v) { return v == 1.0f; }));
  }
}

TEST_CASE("global load before the start belongs to the same array", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    gpu.device.alloc(400, "before");
    const DevicePtr in = gpu.upload(std::vector<float>(32, 1.0f), "in"),
                    out = gpu.device.alloc(128, "out");
    const Finding f = found(gpu, FindingKind::out_of_bounds, "oob_negative", 32, in, out);
    CHECK(f.at.thread == Dim3{0, 0, 0});
    CHECK(f.at.offset == -4);
    CHECK(f.at.object == "in");
    CHECK(f.at.address == in - 4);
  }
}

TEST_CASE("global store past the end does not happen", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(100 * 4, "out"), next = gpu.device.alloc(64, "next");
    gpu.device.fill(next, std::byte{7}, 64);
    const Finding f =
        only(gpu.run("oob_store", {4, 1, 1}, {32, 1, 1}, out, 100), FindingKind::out_of_bounds);
    at(f.at, "oob_store");
    CHECK(f.at.type == AccessType::store);
    CHECK(f.at.block == Dim3{3, 0, 0});
    CHECK(f.at.thread == Dim3{4, 0, 0});
    CHECK(f.at.offset == 400);
    CHECK(f.at.object_bytes == 400);
    for (const unsigned char v : gpu.download<unsigned char>(next, 64)) CHECK(v == 7);
  }
}

TEST_CASE("a vector load that is only partly inside", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(std::vector<float>(31 * 4 + 3, 1.0f), "in"),
                    out = gpu.device.alloc(512, "out");
    const LaunchReport report = gpu.run("oob_vector", {1, 1, 1}, {32, 1, 1}, in, out);
    const std::vector<Finding> oob = of_kind(report, FindingKind::out_of_bounds);
    INFO(to_text(report.findings));
    REQUIRE(oob.size() == 1);
    at(oob[0].at, "oob_vector");
    CHECK(oob[0].at.thread == Dim3{31, 0, 0});
    CHECK(oob[0].at.bytes == 16);
    CHECK(oob[0].at.offset == 31 * 16);
    CHECK(oob[0].at.object_bytes == 31 * 16 + 12);
  }
}

TEST_CASE("many lanes out of bounds are one finding with a count", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(40 * 4, "out");
    const Finding f =
        only(gpu.run("oob_store", {4, 1, 1}, {32, 1, 1}, out, 1000), FindingKind::out_of_bounds);
    CHECK(f.occurrences == 128 - 40);
    CHECK(f.at.block == Dim3{1, 0, 0});  // the first in order
    CHECK(f.at.thread == Dim3{8, 0, 0});
  }
}

TEST_CASE("atomics are bounds-checked", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.upload(std::vector<int>(31, 0), "out");
    const Finding f = found(gpu, FindingKind::out_of_bounds, "oob_atomic", 32, out);
    CHECK(f.at.type == AccessType::atomic);
    CHECK(f.at.thread == Dim3{31, 0, 0});
    CHECK(gpu.download<int>(out, 31) == std::vector<int>(31, 1));
  }
}

TEST_CASE("far overruns stay with their array", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    gpu.device.alloc(64, "before");
    const DevicePtr out = gpu.device.alloc(64, "out");
    gpu.device.alloc(64, "after");
    for (const long long offset : {16ll, 1000000ll, -1ll, -1000000ll, 500000000ll}) {
      const Finding f =
          only(gpu.run("oob_far", {1, 1, 1}, {1, 1, 1}, out, offset), FindingKind::out_of_bounds);
      CHECK(f.at.object == "out");
      CHECK(f.at.offset == offset * 4);
    }
  }
}

TEST_CASE("out of bounds in static shared memory", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("oob_shared", {1, 1, 1}, {64, 1, 1}, out, 1);
    const Finding f = only(report, FindingKind::out_of_bounds);
    at(f.at, "oob_shared");
    CHECK(f.at.space == MemorySpace::shared);
    CHECK(f.at.thread == Dim3{63, 0, 0});
    CHECK(f.at.object == "tile");
    CHECK(f.at.offset == 256);
    CHECK(f.at.object_bytes == 256);
    CHECK(report.static_shared_bytes == 256);
  }
}

TEST_CASE("out of bounds in dynamic shared memory", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const Finding f =
        found(gpu, FindingKind::out_of_bounds, "oob_dynamic", 64, 256u, LaunchOptions{}, out, 1);
    CHECK(f.at.thread == Dim3{63, 0, 0});
    CHECK(f.at.offset == 256);
    CHECK(f.at.object_bytes == 256);
    // None asked for at launch: every access is out of bounds.
    const Finding none =
        only(gpu.run("oob_dynamic", {1, 1, 1}, {64, 1, 1}, 0u, LaunchOptions{}, out, 0),
             FindingKind::out_of_bounds);
    CHECK(none.occurrences == 64);
    CHECK(none.at.object_bytes == 0);
  }
}

TEST_CASE("out of bounds in local memory", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(64, "out");
    const LaunchReport report = gpu.run("oob_local", {1, 1, 1}, {9, 1, 1}, out, 0);
    const Finding f = only(report, FindingKind::out_of_bounds);
    at(f.at, "oob_local");
    CHECK(f.at.space == MemorySpace::local);
    CHECK(f.at.thread == Dim3{8, 0, 0});
    CHECK(report.local_bytes_per_thread == 32);
  }
}

TEST_CASE("a finding inside a function names its line", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(std::vector<float>(101, 0), "in"),
                    out = gpu.device.alloc(128, "out");
    const Finding f = found(gpu, FindingKind::out_of_bounds, "oob_in_function", 32, in, out);
    CHECK(f.occurrences == 31);
  }
}

// --------------------------------------------------------------------------------- alignment,
// pointers

TEST_CASE("misaligned vector load in global memory", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(std::vector<float>(200, 1), "in"),
                    out = gpu.device.alloc(128, "out");
    const Finding f = found(gpu, FindingKind::misaligned, "misaligned_load", 32, in, out);
    CHECK(f.at.thread == Dim3{0, 0, 0});
    CHECK(f.at.address == in + 4);
    CHECK(f.at.bytes == 16);
    CHECK(f.occurrences == 32);
  }
}

TEST_CASE("misaligned vector load in shared memory", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(128, "out");
    const Finding f =
        found(gpu, FindingKind::misaligned, "misaligned_shared", 32, 256u, LaunchOptions{}, out, 5);
    CHECK(f.at.space == MemorySpace::shared);
    CHECK(f.at.thread == Dim3{1, 0, 0});
    CHECK(f.at.offset == 20);
    CHECK(f.occurrences == 3);
    CHECK(gpu.run("misaligned_shared", {1, 1, 1}, {32, 1, 1}, 256u, LaunchOptions{}, out, 4)
              .findings.empty());
  }
}

TEST_CASE("use after free, null, host and wild pointers", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(128, "out");
    const DevicePtr gone = gpu.upload(std::vector<int>(32, 1), "gone");
    gpu.device.free(gone);
    const DevicePtr later = gpu.upload(std::vector<int>(32, 1), "later");
    CHECK(later != gone);  // addresses are never used again
    const Finding freed = found(gpu, FindingKind::use_after_free, "reads", 32, gone, out);
    CHECK(freed.at.object == "gone");
    CHECK(freed.at.address == gone);
    CHECK(freed.at.type == AccessType::load);
    CHECK(freed.occurrences == 32);

    const Finding null = found(gpu, FindingKind::null_pointer, "reads", 32, DevicePtr{0}, out);
    CHECK(null.at.address == 0);

    int on_host[32] = {};
    const auto host = reinterpret_cast<DevicePtr>(&on_host[0]);
    const Finding confused = found(gpu, FindingKind::host_pointer, "reads", 32, host, out);
    CHECK(confused.at.address == host);

    const Finding stored = found(gpu, FindingKind::null_pointer, "writes", 32, DevicePtr{256});
    for (const DevicePtr wild : {DevicePtr{0xFFFFFFFFFFFFFFFCull}, DevicePtr{0x7000000000000000ull},
                                 DevicePtr{1ull << 47}}) {
      const LaunchReport report = gpu.run("writes", {1, 1, 1}, {32, 1, 1}, wild);
      INFO(to_text(report.findings));
      CHECK_FALSE(report.findings.empty());
    }
  }
}

TEST_CASE("stores to read-only and constant memory", "[finding][memory]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.upload(std::vector<int>(32, 5), "input A");
    gpu.device.set_read_only(out, true);
    const Finding f = found(gpu, FindingKind::write_to_constant, "writes", 32, out);
    CHECK(f.at.object == "input A");
    CHECK(f.at.type == AccessType::store);
    CHECK(gpu.download<int>(out, 32) == std::vector<int>(32, 5));
    gpu.device.set_read_only(out, false);
    CHECK(gpu.run("writes", {1, 1, 1}, {32, 1, 1}, out).findings.empty());
    // The host may still write to read-only memory.
    gpu.device.set_read_only(out, true);
    gpu.device.fill(out, std::byte{0}, 128);
  }
}

// -------------------------------------------------------------------------------------
// uninitialised

TEST_CASE("uninitialised global reads, to the byte", "[finding][init]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.device.alloc(128, "in"), out = gpu.device.alloc(128, "out");
    const Finding all = found(gpu, FindingKind::uninitialised_read, "reads", 32, in, out);
    CHECK(all.at.object == "in");
    CHECK(all.at.thread == Dim3{0, 0, 0});
    CHECK(all.occurrences == 32);
    gpu.device.fill(in, std::byte{1}, 40);
    gpu.device.fill(in + 41, std::byte{1}, 87);
    const Finding one =
        only(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, in, out), FindingKind::uninitialised_read);
    CHECK(one.at.thread == Dim3{10, 0, 0});
    CHECK(one.at.offset == 40);
    CHECK(one.occurrences == 1);
    gpu.device.fill(in + 40, std::byte{1}, 1);
    CHECK(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, in, out).findings.empty());
    gpu.device.mark_uninitialised(in + 64, 4);
    CHECK_FALSE(gpu.device.is_initialised(in, 128));
    CHECK(gpu.device.is_initialised(in, 64));
    CHECK(only(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, in, out), FindingKind::uninitialised_read)
              .at.thread == Dim3{16, 0, 0});
  }
}

TEST_CASE("device copies carry the initialised bits along", "[finding][init]") {
  Gpu gpu(compile(kFile));
  const DevicePtr a = gpu.device.alloc(128, "a"), b = gpu.device.alloc(128, "b"),
                  out = gpu.device.alloc(128, "out");
  gpu.device.fill(a, std::byte{3}, 64);
  gpu.device.copy(b, a, 128);
  CHECK(gpu.device.is_initialised(b, 64));
  CHECK_FALSE(gpu.device.is_initialised(b + 64, 1));
  const Finding f =
      only(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, b, out), FindingKind::uninitialised_read);
  CHECK(f.at.object == "b");
  CHECK(f.at.thread == Dim3{16, 0, 0});
  // What a kernel stores is initialised for the next one.
  gpu.run("writes", {1, 1, 1}, {32, 1, 1}, a);
  CHECK(gpu.device.is_initialised(a, 128));
}

TEST_CASE("accumulating into an output nobody zeroed", "[finding][init]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr c = gpu.device.alloc(128, "C");
    const Finding f = found(gpu, FindingKind::uninitialised_read, "uninit_output", 32, c);
    CHECK(f.at.object == "C");
    CHECK(f.at.type == AccessType::load);
  }
}

TEST_CASE("uninitialised shared and local reads", "[finding][init]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const Finding shared = found(gpu, FindingKind::uninitialised_read, "uninit_shared", 64, out);
    CHECK(shared.at.space == MemorySpace::shared);
    CHECK(shared.at.thread == Dim3{23, 0, 0});
    CHECK(shared.at.object == "tile");
    CHECK(shared.at.offset == 160);
    CHECK(shared.occurrences == 1);
    const Finding local = found(gpu, FindingKind::uninitialised_read, "uninit_local", 4, out, 3);
    CHECK(local.at.space == MemorySpace::local);
    CHECK(local.at.thread == Dim3{1, 0, 0});
    CHECK(local.occurrences == 3);
  }
}

TEST_CASE("shared memory is fresh in every block", "[finding][init]") {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 box[4];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  setp.eq.s32 %p, %r1, 0;
  @%p st.shared.u32 [box], %r1;
  ld.shared.u32 %r2, [box];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r2;
  ret;
})"));
  const DevicePtr out = gpu.device.alloc(16, "out");
  const Finding f = only(gpu.run("k", {4, 1, 1}, {1, 1, 1}, out), FindingKind::uninitialised_read);
  CHECK(f.at.block == Dim3{1, 0, 0});
  CHECK(f.occurrences == 3);
}

// ------------------------------------------------------------------------------------------- races

TEST_CASE("shared race: read after write", "[finding][race]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("race_raw", {1, 1, 1}, {64, 1, 1}, out);
    INFO(to_text(report.findings));
    const std::vector<Finding> races = of_kind(report, FindingKind::shared_race);
    REQUIRE_FALSE(races.empty());
    for (const Finding& f : races) {
      REQUIRE(f.other);
      // One party wrote on one line, the other read on the other, the same bytes, two threads.
      const Access& w = f.at.type == AccessType::store ? f.at : *f.other;
      const Access& r = f.at.type == AccessType::store ? *f.other : f.at;
      CHECK(w.type == AccessType::store);
      CHECK(r.type == AccessType::load);
      at(w, "race_raw_write");
      at(r, "race_raw_read");
      CHECK(w.object == "tile");
      CHECK(w.offset == r.offset);
      CHECK(w.thread.x * 4 == static_cast<u32>(w.offset));
      CHECK(r.thread.x == 63 - w.thread.x);
      CHECK(w.space == MemorySpace::shared);
    }
    for (const Finding& f : report.findings) {
      // Warps that have not run yet have not written: an uninitialised read may be reported beside
      // the race.
      CHECK((f.kind == FindingKind::shared_race || f.kind == FindingKind::uninitialised_read));
    }
  }
}

TEST_CASE("shared race: write after read", "[finding][race]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("race_war", {1, 1, 1}, {64, 1, 1}, out);
    INFO(to_text(report.findings));
    // The two lines, seen from one side or from both.
    REQUIRE_FALSE(report.findings.empty());
    CHECK(report.findings.size() <= 2);
    for (const Finding& f : report.findings) {
      CHECK(f.kind == FindingKind::shared_race);
      REQUIRE(f.other);
      const Access& w = f.at.type == AccessType::store ? f.at : *f.other;
      const Access& r = f.at.type == AccessType::store ? *f.other : f.at;
      at(w, "race_war_write");
      at(r, "race_war_read");
      CHECK(w.offset == r.offset);
      CHECK(w.thread != r.thread);
    }
  }
}

TEST_CASE("shared race: write after write", "[finding][race]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(512, "out");
    const Finding f =
        only(gpu.run("race_waw", {1, 1, 1}, {128, 1, 1}, out), FindingKind::shared_race);
    REQUIRE(f.other);
    at(f.at, "race_waw");
    at(*f.other, "race_waw");
    CHECK(f.at.type == AccessType::store);
    CHECK(f.other->type == AccessType::store);
    CHECK(f.at.thread != f.other->thread);
    CHECK(f.at.thread.x % 32 == 5);
    CHECK(f.other->thread.x % 32 == 5);
    CHECK(f.at.object == "flag");
  }
}

TEST_CASE("the missing second barrier of a tile loop", "[finding][race]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr in = gpu.upload(std::vector<int>(128 * 4, 1), "in"),
                    out = gpu.device.alloc(512, "out");
    const LaunchReport report = gpu.run("race_tile_loop", {1, 1, 1}, {128, 1, 1}, in, out, 4);
    INFO(to_text(report.findings));
    REQUIRE_FALSE(report.findings.empty());
    for (const Finding& f : report.findings) {
      CHECK(f.kind == FindingKind::shared_race);
      REQUIRE(f.other);
      const Access& w = f.at.type == AccessType::store ? f.at : *f.other;
      const Access& r = f.at.type == AccessType::store ? *f.other : f.at;
      at(w, "race_loop_write");
      at(r, "race_loop_read");
    }
    // One tile: no second pass, no race.
    CHECK(gpu.run("race_tile_loop", {1, 1, 1}, {128, 1, 1}, in, out, 1).findings.empty());
  }
}

TEST_CASE("global races between blocks", "[finding][race]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.upload(std::vector<int>(16, 0), "C"),
                    data = gpu.upload(std::vector<int>(16, 0), "data");
    {
      const Finding f =
          only(gpu.run("race_blocks_write", {4, 1, 1}, {32, 1, 1}, out), FindingKind::global_race);
      at(f.at, "race_blocks_write");
      REQUIRE(f.other);
      at(*f.other, "race_blocks_write");
      CHECK(f.at.block != f.other->block);
      CHECK(f.at.thread == Dim3{7, 0, 0});
      CHECK(f.other->thread == Dim3{7, 0, 0});
      CHECK(f.at.object == "C");
      CHECK(f.at.offset == 12);
      CHECK(f.at.space == MemorySpace::global);
    }
    {
      const Finding f = only(gpu.run("race_blocks_read", {4, 1, 1}, {64, 1, 1}, data, out),
                             FindingKind::global_race);
      REQUIRE(f.other);
      const Access& w = f.at.type == AccessType::store ? f.at : *f.other;
      const Access& r = f.at.type == AccessType::store ? *f.other : f.at;
      at(w, "race_blocks_w");
      at(r, "race_blocks_r");
      CHECK(w.type == AccessType::store);
      CHECK(r.type == AccessType::load);
      CHECK(w.block != r.block);
      CHECK(w.offset == r.offset);
      CHECK(static_cast<u32>(w.offset) == w.block.x * 4);
    }
    CHECK(gpu.run("race_blocks_write", {1, 1, 1}, {32, 1, 1}, out).findings.empty());
  }
}

TEST_CASE("global race inside a block", "[finding][race]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr data = gpu.upload(std::vector<int>(64, 0), "data"),
                    out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("race_block_global", {1, 1, 1}, {64, 1, 1}, data, out);
    INFO(to_text(report.findings));
    REQUIRE_FALSE(report.findings.empty());
    for (const Finding& f : report.findings) {
      CHECK(f.kind == FindingKind::global_race);
      REQUIRE(f.other);
      const Access& w = f.at.type == AccessType::store ? f.at : *f.other;
      const Access& r = f.at.type == AccessType::store ? *f.other : f.at;
      at(w, "race_global_write");
      at(r, "race_global_read");
    }
  }
}

TEST_CASE("a plain store races with an atomic of another block", "[finding][race]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr data = gpu.upload(std::vector<int>(1, 0), "data");
    const Finding f = only(gpu.run("race_plain_and_atomic", {2, 1, 1}, {32, 1, 1}, data),
                           FindingKind::global_race);
    REQUIRE(f.other);
    CHECK(std::min(f.at.where.line, f.other->where.line) == marker(kFile, "race_plain"));
    CHECK(std::max(f.at.where.line, f.other->where.line) == marker(kFile, "race_atomic"));
  }
}

TEST_CASE("launches do not race with each other", "[finding][race]") {
  Gpu gpu(compile(kFile));
  const DevicePtr out = gpu.upload(std::vector<int>(32, 0), "out");
  for (int i = 0; i < 3; ++i) CHECK(gpu.run("writes", {1, 1, 1}, {32, 1, 1}, out).findings.empty());
}

// -------------------------------------------------------------------------------------------
// barriers

TEST_CASE("a barrier reached by half a warp", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("divergent_barrier", {1, 1, 1}, {64, 1, 1}, out);
    INFO(to_text(report.findings));
    const std::vector<Finding> divergent = of_kind(report, FindingKind::divergent_barrier);
    REQUIRE_FALSE(divergent.empty());
    const unsigned line = divergent[0].at.where.line;
    CHECK((line == marker(kFile, "divergent_barrier") ||
           line == marker(kFile, "divergent_barrier_else")));
    CHECK(divergent[0].at.block == Dim3{0, 0, 0});
  }
}

TEST_CASE("threads that returned before a barrier", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    for (const int n : {40, 32, 2}) {  // part of a warp, a whole warp
      const LaunchReport report = gpu.run("exited_before_barrier", {1, 1, 1}, {64, 1, 1}, out, n);
      INFO(n << " threads stay\n" << to_text(report.findings));
      const std::vector<Finding> exited = of_kind(report, FindingKind::exited_before_barrier);
      REQUIRE(exited.size() == 1);
      CHECK(exited[0].at.where.line == marker(kFile, "exited_before_barrier"));
    }
    CHECK(gpu.run("exited_before_barrier", {1, 1, 1}, {64, 1, 1}, out, 64).findings.empty());
  }
}

TEST_CASE("warps that go past a barrier are not told as an early return", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("barrier_in_branch", {1, 1, 1}, {64, 1, 1}, out, 32);
    INFO(to_text(report.findings));
    CHECK(of_kind(report, FindingKind::exited_before_barrier).empty());
    const std::vector<Finding> divergent = of_kind(report, FindingKind::divergent_barrier);
    REQUIRE(divergent.size() == 1);
    CHECK(divergent[0].at.where.line == marker(kFile, "barrier_in_branch"));
    CHECK(divergent[0].detail.find("32 of 64 threads went past the barrier") == 0);
    CHECK(of_kind(gpu.run("barrier_in_branch", {1, 1, 1}, {64, 1, 1}, out, 64),
                  FindingKind::divergent_barrier)
              .empty());
  }
}

TEST_CASE("warps at different barriers", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const Finding f = only(gpu.run("mismatched_barrier", {1, 1, 1}, {64, 1, 1}, out),
                           FindingKind::mismatched_barrier);
    REQUIRE(f.other);
    CHECK(std::min(f.at.where.line, f.other->where.line) == marker(kFile, "mismatch_a"));
    CHECK(std::max(f.at.where.line, f.other->where.line) == marker(kFile, "mismatch_b"));
  }
}

TEST_CASE("barriers that wait for each other forever", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("deadlock", {1, 1, 1}, {64, 1, 1}, out);
    INFO(to_text(report.findings));
    CHECK_FALSE(report.completed);
    const std::vector<Finding> stuck = of_kind(report, FindingKind::deadlock);
    REQUIRE(stuck.size() == 1);
    const unsigned line = stuck[0].at.where.line;
    CHECK((line == marker(kFile, "deadlock_a") || line == marker(kFile, "deadlock_b")));
  }
}

// -------------------------------------------------------------------------------------- traps and
// ends

TEST_CASE("a kernel that does not end is stopped by the budget", "[finding][end]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr flag = gpu.upload(std::vector<int>{0}, "flag");
    for (const char* kernel : {"endless", "endless_one_lane"}) {
      LaunchOptions options;
      options.instruction_budget = 1u << 22;
      const LaunchReport report = gpu.run(kernel, {2, 1, 1}, {64, 1, 1}, 0u, options, flag);
      INFO(to_text(report.findings));
      CHECK_FALSE(report.completed);
      const std::vector<Finding> stopped = of_kind(report, FindingKind::budget_exceeded);
      REQUIRE(stopped.size() == 1);
      CHECK(ends_with(stopped[0].at.where.file, kFile));
      CHECK(stopped[0].at.where.line >= marker(kFile, "endless"));
      CHECK(report.findings.size() == 1);
    }
  }
}

TEST_CASE("traps stop the kernel", "[finding][end]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(128, "out");
    const LaunchReport report = gpu.run("traps", {1, 1, 1}, {32, 1, 1}, out);
    CHECK_FALSE(report.completed);
    const Finding f = only(report, FindingKind::trap);
    CHECK(f.at.thread == Dim3{9, 0, 0});
  }
}

TEST_CASE("endless recursion overflows the stack, not the host's", "[finding][end]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(128, "out");
    const LaunchReport report = gpu.run("stack_overflow", {1, 1, 1}, {32, 1, 1}, out);
    CHECK_FALSE(report.completed);
    const Finding f = only(report, FindingKind::stack_overflow);
    CHECK(ends_with(f.at.where.file, kFile));
  }
}

TEST_CASE("division by zero names the line and the lanes", "[finding][end]") {
  FOR_EACH_CLANG(gpu) {
    std::vector<int> by(32, 3);
    by[4] = by[20] = 0;
    const DevicePtr in = gpu.upload(by, "by"), out = gpu.device.alloc(128, "out");
    const LaunchReport report = gpu.run("divides", {1, 1, 1}, {32, 1, 1}, in, out);
    CHECK(report.completed);
    const Finding f = only(report, FindingKind::division_by_zero);
    at(f.at, "divides");
    CHECK(f.at.thread == Dim3{4, 0, 0});
    CHECK(f.occurrences == 2);
    CHECK(gpu.download<int>(out, 4) == std::vector<int>(4, 33));
  }
}

TEST_CASE("assertions give file, line, function and message", "[finding][end]") {
  Gpu gpu(ptx_module(R"(
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[8] = {105, 32, 60, 32, 110, 0};
.global .align 1 .b8 file[8] = {103, 46, 99, 117, 0};
.global .align 1 .b8 function[8] = {102, 40, 41, 0};
.visible .entry k()
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p, %r1, 6;
  @%p ret;
  mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1;
  mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
  mov.u64 %rd3, function; cvta.global.u64 %rd3, %rd3;
  { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], 42; st.param.b64 [p3], %rd3; st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4); }
  ret;
})"));
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1});
  CHECK_FALSE(report.completed);
  const std::vector<Finding> failed = of_kind(report, FindingKind::assertion);
  INFO(to_text(report.findings));
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].at.thread == Dim3{6, 0, 0});
  CHECK(failed[0].detail.find("i < n") != std::string::npos);
  CHECK((failed[0].detail.find("g.cu") != std::string::npos || failed[0].at.where.file == "g.cu"));
}

TEST_CASE("an accumulator tile that cannot fit will spill", "[finding][registers]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr a = gpu.upload(std::vector<float>(64 * 24, 1), "a"),
                    b = gpu.upload(std::vector<float>(64 * 16, 1), "b"),
                    c = gpu.device.alloc(24 * 16 * 4, "c");
    const LaunchReport report = gpu.run("spills", {1, 1, 1}, {1, 1, 1}, a, b, c);
    INFO(to_text(report.findings));
    CHECK(of_kind(report, FindingKind::will_spill).size() == 1);
    CHECK(report.registers.live_registers > 255);
    CHECK(report.registers.allocated == 255);
    CHECK(report.registers.live_registers < 24 * 16 + 200);
    CHECK(gpu.download<float>(c, 384) == std::vector<float>(384, 64.0f));
  }
}

TEST_CASE("an unsupported instruction names itself and its line, when the kernel is launched",
          "[finding][unsupported]") {
  Gpu gpu(ptx_module(R"(
.visible .entry bad()
{
  .reg .b32 %r<4>; .reg .f32 %f<4>;
  .loc 1 17 3
  wgmma.fence.sync.aligned;
  ret;
}
.visible .entry good(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 5;
  st.global.u32 [%rd1], %r1;
  ret;
}
.file 1 "student.cu"
)"));
  const std::optional<KernelInfo> info = gpu.device.kernel(gpu.module, "bad");
  REQUIRE(info);
  CHECK(info->unsupported.find("wgmma") != std::string::npos);
  std::string said;
  try {
    const LaunchReport report = gpu.run("bad", {1, 1, 1}, {32, 1, 1});
    said = to_text(report.findings);
    CHECK(of_kind(report, FindingKind::unsupported).size() == 1);
  } catch (const DeviceError& error) {
    CHECK(error.status == Status::unsupported);
    said = error.what();
  }
  CHECK(said.find("wgmma") != std::string::npos);
  CHECK(said.find("17") != std::string::npos);
  const DevicePtr out = gpu.device.alloc(4, "out");
  CHECK(gpu.run("good", {1, 1, 1}, {1, 1, 1}, out).findings.empty());
}

// ------------------------------------------------------------------------------- reports as a
// whole

TEST_CASE("checks can be switched off one by one, accesses stay safe", "[finding]") {
  Gpu gpu(compile(kFile));
  const DevicePtr out = gpu.device.alloc(256, "out"), in = gpu.device.alloc(128, "in");
  LaunchOptions options;
  options.checks = Checks::none();
  CHECK(gpu.run("race_raw", {1, 1, 1}, {64, 1, 1}, 0u, options, out).findings.empty());
  CHECK(gpu.run("uninit_shared", {1, 1, 1}, {64, 1, 1}, 0u, options, out).findings.empty());
  CHECK(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, 0u, options, in, out).findings.empty());
  gpu.run("reads", {1, 1, 1}, {32, 1, 1}, 0u, options, DevicePtr{0}, out);
  gpu.run("oob_far", {1, 1, 1}, {1, 1, 1}, 0u, options, out, -1000000ll);
  gpu.run("oob_shared", {1, 1, 1}, {64, 1, 1}, 0u, options, out, 1000000);
  gpu.run("oob_local", {1, 1, 1}, {9, 1, 1}, 0u, options, out, 1 << 20);
  options.checks.race = true;
  CHECK_FALSE(of_kind(gpu.run("race_raw", {1, 1, 1}, {64, 1, 1}, 0u, options, out),
                      FindingKind::shared_race)
                  .empty());
  options.checks = Checks::none();
  options.checks.init = true;
  CHECK(of_kind(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, 0u, options, in, out),
                FindingKind::uninitialised_read)
            .size() == 1);
}

TEST_CASE("no more findings of a kind than asked for", "[finding]") {
  std::string body =
      ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<3>; .reg .b64 %rd<3>;\n ld.param.u64 "
      "%rd1, [p];\n mov.u32 %r1, 1;\n";
  for (unsigned i = 0; i < 20; ++i) {
    body += " .loc 1 " + std::to_string(100 + i) + " 1\n st.global.u32 [%rd1+" +
            std::to_string(4 * i + 4) + "], %r1;\n";
  }
  Gpu gpu(ptx_module(body + " ret;\n}\n.file 1 \"x.cu\"\n"));
  const DevicePtr p = gpu.device.alloc(4, "p");
  LaunchOptions options;
  options.checks.race = false;
  options.max_findings_per_kind = 8;
  const LaunchReport eight = gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, options, p);
  CHECK(eight.findings.size() == 8);
  for (std::size_t i = 0; i < eight.findings.size(); ++i) {
    CHECK(eight.findings[i].at.where.line == 100 + i);
    CHECK(eight.findings[i].occurrences == 32);
    CHECK(eight.findings[i].at.where.file == "x.cu");
  }
  options.max_findings_per_kind = 3;
  CHECK(gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, options, p).findings.size() == 3);
}

TEST_CASE("every kind has a name", "[finding]") {
  std::vector<std::string_view> names;
  for (unsigned k = 0; k <= static_cast<unsigned>(FindingKind::will_spill); ++k) {
    names.push_back(to_string(static_cast<FindingKind>(k)));
    CHECK_FALSE(names.back().empty());
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

}  // namespace
}  // namespace simgpu::test
