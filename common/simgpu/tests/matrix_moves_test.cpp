// ldmatrix, stmatrix, movmatrix: which element goes where (PTX ISA, figures of the 8x8 fragments),
// and their findings.
#include <algorithm>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using u16 = std::uint16_t;

/// `body` runs with: %r1 = lane, %r2 = address of 32 rows of 16 bytes, filled from `in` (and free
/// to overwrite); %m0-%m3 = four words of `regs` per lane, stored to `out` behind it; then the rows
/// are copied to `rows`.
std::string kernel(const std::string& body, const std::string& fill = "") {
  return ptx_module(R"(
.visible .entry k(.param .u64 in, .param .u64 regs, .param .u64 out, .param .u64 rows)
{
  .reg .b32 %r<16>, %m<4>, %v<4>; .reg .b64 %rd<16>; .reg .pred %p<4>;
  .shared .align 128 .b8 box[512];
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [regs]; ld.param.u64 %rd3, [out];
  ld.param.u64 %rd4, [rows];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd5, %r1, 16;
  add.s64 %rd1, %rd1, %rd5; add.s64 %rd2, %rd2, %rd5; add.s64 %rd3, %rd3, %rd5;
  add.s64 %rd4, %rd4, %rd5;
  mov.u32 %r2, box; mad.lo.s32 %r3, %r1, 16, %r2;
)" +
                    (fill.empty() ? R"(  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%rd1];
  st.shared.v4.b32 [%r3], {%v0, %v1, %v2, %v3};
)"
                                  : fill) +
                    R"(  ld.global.v4.b32 {%m0, %m1, %m2, %m3}, [%rd2];
  bar.sync 0;
)" + body + R"(
  st.global.v4.b32 [%rd3], {%m0, %m1, %m2, %m3};
  bar.sync 0;
  ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%r3];
  st.global.v4.b32 [%rd4], {%v0, %v1, %v2, %v3};
  ret;
}
)");
}

struct Outcome {
  LaunchReport report;
  std::vector<u16> registers;  ///< [lane][register][half]
  std::vector<u16> rows;       ///< [row][column]
};

/// Row r, column c holds 100 r + c; register j of lane l holds 8 l + 2 j and 8 l + 2 j + 1.
Outcome run(const std::string& ptx, u32 threads = 32) {
  Gpu gpu(ptx);
  std::vector<u16> in(256), regs(256);
  for (u32 r = 0; r < 32; ++r)
    for (u32 c = 0; c < 8; ++c) in[r * 8 + c] = static_cast<u16>(100 * r + c);
  for (u32 k = 0; k < 256; ++k) regs[k] = static_cast<u16>(k);
  const DevicePtr d_in = gpu.upload(in, "in"), d_regs = gpu.upload(regs, "regs"),
                  out = gpu.device.alloc(512, "out"), rows = gpu.device.alloc(512, "rows");
  Outcome o;
  o.report = gpu.run("k", {1, 1, 1}, {threads, 1, 1}, d_in, d_regs, out, rows);
  o.registers = gpu.download<u16>(out, 256);
  o.rows = gpu.download<u16>(rows, 256);
  return o;
}

const char* const kVectors[] = {"", "{%m0}", "{%m0, %m1}", "", "{%m0, %m1, %m2, %m3}"};

TEST_CASE("ldmatrix: every element of every lane", "[matrix]") {
  for (const u32 count : {1u, 2u, 4u})
    for (const bool trans : {false, true})
      for (const bool reversed : {false, true}) {  // lane i gives row i, or row 31 - i
        const std::string instruction = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                                        (trans ? ".trans" : "") + ".shared.b16 " + kVectors[count] +
                                        ", [%r4];";
        INFO(instruction << (reversed ? " reversed" : ""));
        const Outcome o =
            run(kernel((reversed ? "sub.u32 %r5, 31, %r1; mad.lo.s32 %r4, %r5, 16, %r2;\n"
                                 : "mov.u32 %r4, %r3;\n") +
                       instruction));
        INFO(to_text(o.report.findings));
        CHECK(o.report.findings.empty());
        for (u32 lane = 0; lane < 32; ++lane)
          for (u32 j = 0; j < 4; ++j)
            for (u32 half = 0; half < 2; ++half) {
              const u32 along = 2 * (lane % 4) + half, across = lane / 4;
              const u32 row = trans ? along : across, column = trans ? across : along;
              const u32 given = 8 * j + row, place = reversed ? 31 - given : given;
              const u32 want = j < count ? 100 * place + column : 8 * lane + 2 * j + half;
              CHECK(o.registers[lane * 8 + j * 2 + half] == want);
            }
        CHECK(o.report.total.matrix_load.requests == 1);
        CHECK(o.report.total.matrix_load.wavefronts == count);
      }
}

TEST_CASE("stmatrix: every element of every lane", "[matrix]") {
  for (const u32 count : {1u, 2u, 4u})
    for (const bool trans : {false, true}) {
      const std::string instruction = "stmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                                      (trans ? ".trans" : "") + ".shared.b16 [%r3], " +
                                      kVectors[count] + ";";
      INFO(instruction);
      const Outcome o = run(kernel(instruction));
      CHECK(o.report.findings.empty());
      for (u32 row = 0; row < 32; ++row)
        for (u32 column = 0; column < 8; ++column) {
          const u32 j = row / 8, r = row % 8;
          const u32 across = trans ? column : r, along = trans ? r : column;
          const u32 lane = 4 * across + along / 2;
          const u32 want = j < count ? 8 * lane + 2 * j + along % 2 : 100 * row + column;
          CHECK(o.rows[row * 8 + column] == want);
        }
      CHECK(o.report.total.matrix_store.wavefronts == count);
    }
}

TEST_CASE("movmatrix transposes a fragment", "[matrix]") {
  const Outcome o = run(kernel("movmatrix.sync.aligned.m8n8.trans.b16 %m1, %m0;"));
  CHECK(o.report.findings.empty());
  for (u32 lane = 0; lane < 32; ++lane)
    for (u32 half = 0; half < 2; ++half) {
      // Element (row, column) of the result is (column, row) of the source.
      const u32 row = 2 * (lane % 4) + half, column = lane / 4;
      CHECK(o.registers[lane * 8 + 2 + half] == 8 * (4 * row + column / 2) + column % 2);
    }
}

const Finding* find(const LaunchReport& report, FindingKind kind) {
  for (const Finding& f : report.findings)
    if (f.kind == kind) return &f;
  return nullptr;
}

TEST_CASE("findings of matrix moves name the lane that gave the row", "[matrix]") {
  const auto one = [](const std::string& body, FindingKind kind, u32 lane,
                      const std::string& fill = "", u32 threads = 32) {
    const Outcome o = run(kernel(body, fill), threads);
    INFO(body << "\n" << to_text(o.report.findings));
    const Finding* f = find(o.report, kind);
    REQUIRE(f != nullptr);
    CHECK(f->at.thread == Dim3{lane, 0, 0});
    return o;
  };
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%m0, %m1, %m2, %m3}, [%r4];";
  const std::string move_17 = "mov.u32 %r4, %r3; setp.eq.u32 %p1, %r1, 17;\n";
  one(move_17 + "@%p1 add.u32 %r4, %r4, 8;\n" + load, FindingKind::misaligned, 17);
  const Outcome far =
      one(move_17 + "@%p1 add.u32 %r4, %r4, 4096;\n" + load, FindingKind::out_of_bounds, 17);
  CHECK(far.registers[4 * 8 + 4] == 0xffff);  // lane 4, register 2: row 1 of matrix 2 is lane 17's
  one(move_17 + load, FindingKind::uninitialised_read, 17,
      "setp.eq.u32 %p2, %r1, 17; @!%p2 st.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1};\n");
  // Unused lanes may hold any address with x1 and x2.
  CHECK(run(kernel("mov.u32 %r4, %r3; setp.gt.u32 %p1, %r1, 15; @%p1 mov.u32 %r4, -1;\n"
                   "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%m0, %m1}, [%r4];"))
            .report.findings.empty());
  // A store of this interval by another lane.
  one("xor.b32 %r5, %r1, 1; mad.lo.s32 %r4, %r5, 16, %r2; st.shared.b32 [%r3], %r1;\n" + load,
      FindingKind::shared_race, 0);
  // An asynchronous copy that is under way.
  const std::string copy = "cp.async.cg.shared.global [%r3], [%rd1], 16; cp.async.commit_group;\n";
  const Outcome early = one(copy + "mov.u32 %r4, %r3;\n" + load, FindingKind::async_not_waited, 0);
  CHECK(early.registers == std::vector<u16>(256, 0xffff));
  one(copy + "cp.async.wait_group 0; xor.b32 %r5, %r1, 1; mad.lo.s32 %r4, %r5, 16, %r2;\n" + load,
      FindingKind::async_not_waited, 0);
  CHECK(run(kernel(copy + "cp.async.wait_group 0; bar.sync 0; mov.u32 %r4, %r3;\n" + load))
            .report.findings.empty());
  // Not by all lanes.
  for (const char* part : {"@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%m0}, [%r3];",
                           "@%p1 stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%m0};",
                           "@%p1 movmatrix.sync.aligned.m8n8.trans.b16 %m0, %m1;"})
    one(std::string("setp.gt.u32 %p1, %r1, 3;\n") + part, FindingKind::divergent_barrier, 4);
  CHECK(find(run(kernel("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%m0}, [%r3];"), 20).report,
             FindingKind::divergent_barrier) != nullptr);
  // Two lanes give one row: a race of the store.
  one("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%m0};", FindingKind::shared_race, 1);
}

TEST_CASE("matrix moves that do not exist are one clear error", "[matrix]") {
  for (const char* bad : {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%m0}, [%r3];",
                          "ldmatrix.sync.aligned.m8n16.x1.shared.b16 {%m0}, [%r3];",
                          "ldmatrix.sync.aligned.m8n8.x1.global.b16 {%m0}, [%rd1];"}) {
    INFO(bad);
    std::string said;
    try {
      const Outcome o = run(kernel(bad));
      const Finding* f = find(o.report, FindingKind::unsupported);
      if (f != nullptr) said = f->detail;
    } catch (const std::exception& e) {
      said = e.what();
    }
    CHECK_FALSE(said.empty());
  }
}

}  // namespace
}  // namespace simgpu::test
