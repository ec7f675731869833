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

TEST_CASE("three of four words are read as four", "[counts]") {
  const std::string pair = "ld.global.v2.u32 {%r1, %r2}, [%rd2];\n";
  CHECK(run(pair + "ld.global.u32 %r3, [%rd2+8];\n").first == kOnce);
  CHECK(run(pair + "ld.global.u32 %r3, [%rd2+8];\n", 8).first.requests == 2);
  CHECK(run(pair + "ld.global.u32 %r3, [%rd2+12];\n").first.requests == 2);
  CHECK(run(pair + "st.global.u32 [%rd2], %r1;\nld.global.u32 %r3, [%rd2+8];\n").first.requests ==
        2);
  CHECK(run("ld.global.u32 %r3, [%rd2];\nld.global.u32 %r3, [%rd2+8];\n").first.requests == 2);
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

/// What a warp's accesses of shared memory cost: loads, then stores. %rd3 is the lane's 16 bytes there,
/// `shift` bytes behind them: a parameter, so that nobody knows the alignment before (store_merging.hpp).
std::pair<Traffic, Traffic> run_shared(const std::string& body, unsigned shift = 0) {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out, .param .u64 shift)
{
  .shared .align 16 .b8 s[1024];
  .reg .b16 %h<9>; .reg .b32 %r<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 16; add.u64 %rd2, %rd1, %rd4;
  mov.u64 %rd3, s; add.u64 %rd3, %rd3, %rd4;
  ld.param.u64 %rd6, [shift]; add.u64 %rd3, %rd3, %rd6;
)" + body + "\nret;\n}\n"));
  const DevicePtr out = gpu.upload(std::vector<std::uint32_t>(256, 7), "out");
  const LaunchReport r =
      gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, out, std::uint64_t{shift});
  CHECK(to_text(r.findings) == "");
  const auto of = [](const SharedCounts& c) { return Traffic{c.requests, c.wavefronts}; };
  return {of(r.total.shared_load), of(r.total.shared_store)};
}

/// As clang copies 16 bytes: the upper 8, then the lower 8. `type`: as clang 14 or 22 writes it.
std::string copy(const std::string& to, const std::string& at, const std::string& from,
                 const std::string& source, const std::string& between = "",
                 const std::string& type = "u64") {
  const auto step = [&](const std::string& place) {
    return "ld." + from + "." + type + " %rd5, [" + source + place + "];\nst." + to + "." + type +
           " [" + at + place + "], %rd5;\n";
  };
  return step("+8") + between + step("");
}

TEST_CASE("a struct of 16 bytes that is copied as a whole is one access", "[counts]") {
  for (const char* type : {"u64", "b64"}) {
    const std::string in = copy("shared", "%rd3", "global", "%rd2", "", type);
    const std::string back = copy("global", "%rd2", "shared", "%rd3", "", type);
    // 16 bytes a lane: 4 wavefronts, 16 sectors.
    CHECK(run_shared(in) == std::pair{kNone, Traffic{1, 4}});
    CHECK(run_shared(in + back) == std::pair{Traffic{1, 4}, Traffic{1, 4}});
    CHECK(run(copy("global", "%rd2", "global", "%rd2", "", type)) == std::pair{kOnce, kOnce});
  }
  // A struct of 32 bytes is two accesses of 16, the upper one first; every second bank is left out.
  CHECK(run_shared("add.u64 %rd2, %rd2, %rd4;\nadd.u64 %rd3, %rd3, %rd4;\n" +
                   copy("shared", "%rd3+16", "global", "%rd2+16") +
                   copy("shared", "%rd3", "global", "%rd2"))
            .second == Traffic{2, 16});
}

TEST_CASE("8 bytes that are not the halves of an aligned copy are two accesses", "[counts]") {
  const auto stores = [](const std::string& body, unsigned shift = 0) {
    return run_shared(body, shift).second.requests;
  };
  const auto between = [&](const std::string& what) {
    return stores(copy("shared", "%rd3", "global", "%rd2", what));
  };
  CHECK(between("") == 1);
  CHECK(between("add.u32 %r2, %r1, 1;\n") == 1);
  CHECK(between("bar.sync 0;\n") == 2);
  CHECK(between("ld.global.u32 %r2, [%rd1];\n") == 2);
  CHECK(between("add.u64 %rd2, %rd2, 0;\n") == 2);
  CHECK(between("add.u64 %rd3, %rd3, 0;\n") == 2);
  CHECK(between("bra L;\nL:\n") == 2);
  CHECK(stores(copy("shared", "%rd3", "global", "%rd2"), 8) == 2);
  CHECK(stores(copy("shared", "%rd3", "global", "%rd2", "", "f64")) == 2);
  CHECK(stores(copy("volatile.shared", "%rd3", "global", "%rd2")) == 2);
  // In the order in which somebody writes them by hand.
  CHECK(stores("ld.global.u64 %rd5, [%rd2];\nst.shared.u64 [%rd3], %rd5;\n"
               "ld.global.u64 %rd5, [%rd2+8];\nst.shared.u64 [%rd3+8], %rd5;\n") == 2);
}

TEST_CASE("eight halves are stored to shared memory at once", "[counts]") {
  const std::string upper = "st.shared.v4.u16 [%rd3+8], {%h5, %h6, %h7, %h8};\n",
                    lower = "st.shared.v4.u16 [%rd3], {%h1, %h2, %h3, %h4};\n";
  CHECK(run_shared(upper + lower).second == Traffic{1, 4});
  CHECK(run_shared(upper + lower, 8).second == Traffic{2, 8});
  CHECK(run_shared(upper + "ld.global.u32 %r2, [%rd1];\n" + lower).second == Traffic{1, 4});
  CHECK(run_shared(upper + "ld.shared.u32 %r2, [%rd3+8];\n" + lower).second.requests == 2);
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
