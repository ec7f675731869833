// Vector loads of which only some elements are used, beside what ptxas 13.0 makes of the same PTX.
#include <fmt/format.h>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

struct Probe {
  const char* used;         ///< of x, y, z, w
  std::vector<int> widths;  ///< bytes of each LDG, LD or LDS
};

// As `nvdisasm -c` shows them for sm_80 and sm_90.
const std::vector<Probe> kFour = {
    {"x", {4}},     {"y", {4}},     {"z", {4}},     {"w", {4}},     {"xy", {8}},
    {"xz", {4, 4}}, {"xw", {4, 4}}, {"yz", {4, 4}}, {"yw", {4, 4}}, {"zw", {8}},
    {"xyz", {16}},  {"xyw", {16}},  {"xzw", {16}},  {"yzw", {16}},  {"xyzw", {16}},
};
const std::vector<Probe> kFourGeneric = {
    {"xz", {4, 4}},  {"yz", {4, 4}},  {"zw", {8}},     {"xyz", {8, 4}},
    {"xyw", {8, 4}}, {"xzw", {4, 8}}, {"yzw", {4, 8}}, {"xyzw", {16}},
};
const std::vector<Probe> kTwo = {{"x", {4}}, {"y", {4}}, {"xy", {8}}};
const std::vector<Probe> kTwoLong = {{"x", {8}}, {"y", {8}}, {"xy", {16}}};

/// A warp loads a vector per lane, one behind the other, and stores the elements in `used`.
Counts run(const std::string& space, int elements, const std::string& type, const char* used) {
  const bool is_long = type == "b64";
  const char* const reg = is_long ? "%rd1" : "%r1";
  std::string list, stores;
  for (int i = 0; i < elements; ++i) list += fmt::format("{}{}{}", i == 0 ? "" : ", ", reg, i);
  for (const char* c = used; *c != '\0'; ++c)
    stores += fmt::format("st.global.{} [%rd3+{}], {}{};\n", type, 4096 + 1024 * (c - used), reg,
                          *c == 'w' ? 3 : *c - 'x');
  const int pitch = elements * (is_long ? 8 : 4);
  std::string fill;  // of the lane's place in `tile`
  for (int at = 0; at < pitch; at += 8) fill += fmt::format("st.shared.u64 [%rd4+{}], %rd5;", at);
  const bool shared = space.find("shared") != std::string::npos;
  Gpu gpu(ptx_module(fmt::format(R"(
.visible .entry k(.param .u64 p)
{{
  .shared .align 16 .b8 tile[1024];
  .reg .pred %p1; .reg .b32 %r<20>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, {};
  add.u64 %rd3, %rd1, %rd2; mov.u64 %rd4, tile; add.u64 %rd4, %rd4, %rd2; mov.u64 %rd5, 0;
  {}
  setp.lt.u32 %p1, %r1, 99;
  ld{}.v{}.{} {{{}}}, [{}];
  {}ret;
}}
)",
                                 pitch, fill, space, elements, type, list, shared ? "%rd4" : "%rd3",
                                 stores)));
  const DevicePtr p = gpu.upload(std::vector<std::uint32_t>(4096, 7), "p");
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, p);
  CHECK(to_text(r.findings) == "");
  return r.total;
}

void check_global(const std::string& space, int elements, const std::string& type,
                  const std::vector<Probe>& probes) {
  const int pitch = elements * (type == "b64" ? 8 : 4);
  for (const Probe& probe : probes) {
    CAPTURE(space, elements, type, probe.used);
    const GlobalCounts seen = run(space, elements, type, probe.used).global_load;
    CHECK(seen.requests == probe.widths.size());
    // Every access reaches all sectors: no vector is larger than half of one.
    CHECK(seen.sectors == probe.widths.size() * static_cast<unsigned>(pitch));
    std::size_t bytes = 0;
    for (const int width : probe.widths) bytes += 32u * static_cast<unsigned>(width);
    CHECK(seen.bytes == bytes);
  }
}

TEST_CASE("of a vector in global memory only what is used is loaded", "[counts]") {
  for (const char* space : {".global", ".global.nc"}) {
    check_global(space, 4, "b32", kFour);
    check_global(space, 2, "b32", kTwo);
    check_global(space, 2, "b64", kTwoLong);
  }
}

TEST_CASE("at a generic address three of four words are two loads", "[counts]") {
  check_global("", 4, "b32", kFourGeneric);
  check_global("", 2, "b32", kTwo);
}

TEST_CASE("volatile and ordered vectors are loaded whole", "[counts]") {
  for (const char* space : {".volatile.global", ".relaxed.gpu.global", ".acquire.gpu.global"})
    check_global(space, 4, "b32", {{"x", {16}}, {"yz", {16}}, {"xyzw", {16}}});
}

TEST_CASE("a vector of which nothing is used is loaded", "[counts]") {
  check_global(".global", 4, "b32", {{"", {16}}});
}

TEST_CASE("of a vector in shared memory only what is used is loaded", "[counts]") {
  for (const Probe& probe : kFour) {
    CAPTURE(probe.used);
    const SharedCounts seen = run(".shared", 4, "b32", probe.used).shared_load;
    CHECK(seen.requests == probe.widths.size());
    // 32 vectors of 16 bytes lie in each bank four times: 4 wavefronts, whatever is taken of them.
    CHECK(seen.wavefronts == 4 * probe.widths.size());
    CHECK(seen.raw_requests == 1);
    unsigned ideal = 0;
    for (const int width : probe.widths) ideal += static_cast<unsigned>(width) / 4;
    CHECK(seen.ideal_wavefronts == ideal);
  }
  CHECK(run(".shared", 2, "b32", "y").shared_load.wavefronts == 2);
  CHECK(run(".shared", 2, "b64", "y").shared_load.wavefronts == 4);
}

}  // namespace
}  // namespace simgpu::test
