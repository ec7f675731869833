// Findings at memory from minimal kernels: exact line, block, thread, address, object and other
// party. Those at barriers and at the end of a kernel are in findings_control_test.cpp.
#include <algorithm>

#include "common/simgpu/tests/findings.hpp"

namespace simgpu::test {
namespace {

using namespace findings;

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
    const DevicePtr in = gpu.device.alloc(128, "in"), out = gpu.device.alloc(128, "out"),
                    copy = gpu.device.alloc(128, "copy");
    const Finding all = found(gpu, FindingKind::uninitialised_read, "reads", 32, in, out);
    CHECK(all.at.object == "in");
    CHECK(all.at.thread == Dim3{0, 0, 0});
    CHECK(all.occurrences == 32);
    CHECK(all.written_bytes == 0);
    CHECK(all.written.empty());
    gpu.device.fill(in, std::byte{1}, 40);
    gpu.device.fill(in + 44, std::byte{1}, 84);
    const Finding one =
        only(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, in, out), FindingKind::uninitialised_read);
    CHECK(one.at.thread == Dim3{10, 0, 0});
    CHECK(one.at.offset == 40);
    CHECK(one.occurrences == 1);
    CHECK(one.written_bytes == 124);
    CHECK(one.written == std::vector<ByteRange>{{0, 40}, {44, 128}});
    // A part of an element may be padding, as long as it is only copied.
    gpu.device.fill(in + 40, std::byte{1}, 3);
    CHECK(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, in, copy).findings.empty());
    CHECK(gpu.device.is_initialised(copy, 43));
    CHECK_FALSE(gpu.device.is_initialised(copy + 43, 1));
    gpu.device.fill(in + 43, std::byte{1}, 1);
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
    CHECK(shared.written_bytes == 252);
    CHECK(shared.written == std::vector<ByteRange>{{0, 160}, {164, 256}});
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

TEST_CASE("a flag that releases nothing orders nothing", "[finding][race]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr data = gpu.device.alloc(512, "data"), out = gpu.device.alloc(512, "out"),
                    flags = gpu.upload(std::vector<unsigned>(4, 0), "flags");
    const Finding f = only(gpu.run("nothing_released", {4, 1, 1}, {32, 1, 1}, data, flags, out),
                           FindingKind::global_race);
    CHECK(f.at.object == "data");
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

}  // namespace
}  // namespace simgpu::test
