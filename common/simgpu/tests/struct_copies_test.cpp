// Structs of small elements that nvcc copies by wider accesses than PTX of clang has.
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

struct Traffic {
  std::uint64_t requests, sectors;
  friend bool operator==(const Traffic&, const Traffic&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Traffic& t) {
    return out << t.requests << " requests, " << t.sectors << " sectors";
  }
};

/// A warp runs `body`; %rd2 is the lane's 16 bytes of a buffer, `shift` bytes behind them. What it loads
/// and stores there.
std::pair<Traffic, Traffic> run(const std::string& body, unsigned shift = 0) {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b16 %h<9>; .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.u64 %rd2, %rd1, %rd2;
  add.u64 %rd2, %rd2, )" +
                     std::to_string(shift) + ";\n" + body + "\nret;\n}\n"));
  const DevicePtr out = gpu.upload(std::vector<std::uint32_t>(256, 7), "out");
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, out);
  CHECK(to_text(r.findings) == "");
  const auto of = [](const GlobalCounts& c) { return Traffic{c.requests, c.sectors}; };
  return {of(r.total.global_load), of(r.total.global_store)};
}

const std::string kLoads =
    "ld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%rd2];\nld.global.v4.u16 {%h5, %h6, %h7, %h8}, "
    "[%rd2+8];\n";
const std::string kStores =
    "st.global.v4.u16 [%rd2+8], {%h5, %h6, %h7, %h8};\nst.global.v4.u16 [%rd2], {%h1, %h2, %h3, "
    "%h4};\n";
constexpr Traffic kOnce = {1, 16}, kTwice = {2, 32}, kNone = {0, 0};

TEST_CASE("eight halves in 16 aligned bytes are one access", "[counts]") {
  CHECK(run(kLoads + kStores) == std::pair{kOnce, kOnce});
  // Eight bytes on, the same code reaches no such struct.
  constexpr Traffic across = {2, 33};  // a sector is reached by both
  CHECK(run(kLoads + kStores, 8) == std::pair{across, across});
}

TEST_CASE("what lies between two halves keeps them apart", "[counts]") {
  const std::size_t second = kLoads.find("ld.global", 1);
  const auto between = [&](const std::string& what) {
    return run(kLoads.substr(0, second) + what + kLoads.substr(second)).first;
  };
  CHECK(between("") == kOnce);
  CHECK(between("add.u32 %r2, %r1, 1;\n") == kOnce);
  CHECK(between("st.global.u32 [%rd2+512], %r1;\n") == kTwice);
  CHECK(between("bar.sync 0;\n") == kTwice);
  CHECK(between("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n") == kTwice);
  CHECK(between("add.u64 %rd2, %rd2, 0;\n") == kTwice);
  CHECK(between("bra L;\nL:\n") == kTwice);
  const std::size_t later = kStores.find("st.global", 1);
  CHECK(run(kStores.substr(0, later) + "ld.global.u32 %r2, [%rd2+512];\n" + kStores.substr(later))
            .second == kTwice);
}

TEST_CASE("bytes: four or two accesses are one", "[counts]") {
  const auto bytes = [](unsigned place) {
    return "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%rd2+" + std::to_string(place) + "];\n";
  };
  CHECK(run(bytes(0) + bytes(4) + bytes(8) + bytes(12)).first == kOnce);
  CHECK(run(bytes(8) + bytes(12)).first == kOnce);
  CHECK(run(bytes(4) + bytes(8)).first == kTwice);
  CHECK(run(bytes(0) + bytes(4) + bytes(12)).first == Traffic{2, 32});
  CHECK(run("").first == kNone);
}

TEST_CASE("volatile halves, and floats, are as written", "[counts]") {
  std::string each = kLoads;
  for (std::size_t at = 0; (at = each.find("ld.global", at)) != std::string::npos; at += 12)
    each.replace(at, 9, "ld.volatile.global");
  CHECK(run(each).first == kTwice);
  CHECK(
      run("ld.global.v2.u32 {%r1, %r2}, [%rd2];\nld.global.v2.u32 {%r2, %r3}, [%rd2+8];\n").first ==
      kTwice);
}

}  // namespace
}  // namespace simgpu::test
