// A launch on a host that has no memory or no threads left: an exception of launch(), never the end
// of the process, and the device goes on.
#include <malloc.h>
#include <sys/resource.h>

#include <fstream>
#include <new>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

// Sanitizers map terabytes of addresses.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace simgpu::test {
namespace {

/// While it lives this process may map only `headroom` bytes more.
class ShortOfMemory {
 public:
  explicit ShortOfMemory(std::uint64_t headroom) {
    ::mallopt(M_ARENA_MAX, 1);  // else each thread reserves 64 MiB or more for its own use
    ::getrlimit(RLIMIT_AS, &before_);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    REQUIRE(pages > 0);
    rlimit now = before_;
    now.rlim_cur = pages * 4096 + headroom;
    REQUIRE(::setrlimit(RLIMIT_AS, &now) == 0);
  }
  ~ShortOfMemory() {
    ::setrlimit(RLIMIT_AS, &before_);
    ::mallopt(M_ARENA_MAX, 0);
  }
  ShortOfMemory(const ShortOfMemory&) = delete;
  ShortOfMemory& operator=(const ShortOfMemory&) = delete;

 private:
  rlimit before_{};
};

/// Every block raises its element by one; `large` has 256 KiB of local memory for each thread.
const char* const kKernels = R"(
.visible .entry small(.param .u64 p)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1]; add.s32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry large(.param .u64 p)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  .local .align 4 .b8 mine[262144];
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
  st.local.u32 [mine], %r1;
  ld.global.u32 %r2, [%rd1]; add.s32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;
  ret;
}
)";

LaunchOptions on_threads(unsigned count) {
  LaunchOptions options;
  options.host_threads = count;
  return options;
}

}  // namespace

TEST_CASE("a host that gives fewer threads than asked for runs all blocks", "[robustness]") {
  constexpr unsigned kBlocks = 256;
  Gpu gpu(ptx_module(kKernels));
  const DevicePtr p = gpu.upload(std::vector<std::uint32_t>(kBlocks, 7), "p");
  {
    const ShortOfMemory limit(256u << 20);  // 31 stacks
    CHECK(
        gpu.run("small", {kBlocks, 1, 1}, {1, 1, 1}, 0u, on_threads(kBlocks), p).findings.empty());
  }
  CHECK(gpu.download<std::uint32_t>(p, kBlocks) == std::vector<std::uint32_t>(kBlocks, 8));
}

TEST_CASE("a launch without the memory it needs throws, and has changed nothing", "[robustness]") {
  constexpr unsigned kBlocks = 16, kThreads = 512;
  Gpu gpu(ptx_module(kKernels));
  const std::vector<std::uint32_t> before(kBlocks, 7), after(kBlocks, 8);
  const DevicePtr p = gpu.upload(before, "p");
  for (const unsigned threads : {1u, 4u}) {
    INFO(threads << " host threads");
    {
      const ShortOfMemory limit(64u << 20);  // a block needs 144 MiB
      CHECK_THROWS_AS(
          gpu.run("large", {kBlocks, 1, 1}, {kThreads, 1, 1}, 0u, on_threads(threads), p),
          std::bad_alloc);
    }
    CHECK(gpu.download<std::uint32_t>(p, kBlocks) == before);
    gpu.device.write(p, std::as_bytes(std::span(before)));
    CHECK(gpu.run("small", {kBlocks, 1, 1}, {1, 1, 1}, p).findings.empty());
    CHECK(gpu.download<std::uint32_t>(p, kBlocks) == after);
    gpu.device.write(p, std::as_bytes(std::span(before)));
  }
}

}  // namespace simgpu::test

#endif
