// No false alarms: correct code that looks suspicious must come out with an empty list of findings
// and the right result, by every compiler.
#include <algorithm>
#include <numeric>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u8 = std::uint8_t;

std::vector<int> numbers(std::size_t n, unsigned below = 100) {
  Random random(n);
  std::vector<int> values(n);
  for (int& v : values) v = static_cast<int>(random.below(below));
  return values;
}
std::vector<float> floats(std::size_t n) {
  const std::vector<int> v = numbers(n);
  return {v.begin(), v.end()};
}

template <typename Body>
void with_each_clang(Body body) {
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    Gpu gpu(compile("clean.cu", clang));
    body(gpu);
  }
}

void clean(const LaunchReport& report) {
  INFO(report.kernel);
  CHECK(to_text(report.findings) == "");
  CHECK(report.completed);
}

TEST_CASE("clean: warp-synchronous code with __syncwarp", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<int> in = numbers(128);
    const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.device.alloc(512, "out");
    clean(gpu.run("warp_synchronous", {1, 1, 1}, {128, 1, 1}, d_in, out));
    const std::vector<int> got = gpu.download<int>(out, 128);
    for (std::size_t t = 0; t < 128; ++t) {
      const auto warp = in.begin() + static_cast<std::ptrdiff_t>(t / 32 * 32);
      CHECK(got[t] == std::accumulate(warp, warp + 32, 0));
    }
  });
}

TEST_CASE("clean: double buffering with one barrier a tile", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<int> in = numbers(128 * 5);
    const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.device.alloc(512, "out");
    clean(gpu.run("double_buffer", {1, 1, 1}, {128, 1, 1}, d_in, out, 5));
    CHECK(gpu.download<int>(out, 128) ==
          std::vector<int>(128, std::accumulate(in.begin(), in.end(), 0)));
  });
}

TEST_CASE("clean: block reduction", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<int> in = numbers(256 * 7);
    const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.device.alloc(28, "out");
    clean(gpu.run("block_reduction", {7, 1, 1}, {256, 1, 1}, d_in, out));
    const std::vector<int> got = gpu.download<int>(out, 7);
    for (int b = 0; b < 7; ++b) {
      CHECK(got[static_cast<std::size_t>(b)] ==
            std::accumulate(in.begin() + b * 256, in.begin() + b * 256 + 256, 0));
    }
  });
}

TEST_CASE("clean: threads, warps and blocks write neighbouring bytes", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const DevicePtr a = gpu.device.alloc(512, "a"), b = gpu.device.alloc(512, "b");
    clean(gpu.run("neighbouring_bytes", {4, 1, 1}, {128, 1, 1}, a, b));
    const std::vector<u8> got = gpu.download<u8>(a, 512), plain = gpu.download<u8>(b, 512);
    for (std::size_t i = 0; i < 512; ++i) {
      const std::size_t t = i % 128;
      CHECK(got[i] == static_cast<u8>(127 - t + 127 - t));
      CHECK(plain[i] == t);
    }
    const DevicePtr c = gpu.device.alloc(8 * 13, "c");
    clean(gpu.run("interleaved_blocks", {13, 1, 1}, {32, 1, 1}, c));
    const std::vector<u8> blocks = gpu.download<u8>(c, 8 * 13);
    for (std::size_t i = 0; i < blocks.size(); ++i) CHECK(blocks[i] == i % 13);
  });
}

TEST_CASE("clean: shared and global atomics", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<int> in = numbers(128, 16);
    const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.upload(std::vector<int>(16, 0), "out");
    clean(gpu.run("shared_atomics", {3, 1, 1}, {128, 1, 1}, d_in, out));
    const std::vector<int> got = gpu.download<int>(out, 16);
    for (int v = 1; v < 16; ++v)
      CHECK(got[static_cast<std::size_t>(v)] == 3 * std::count(in.begin(), in.end(), v));
    const DevicePtr found = gpu.device.alloc(4, "found");
    clean(gpu.run("same_value_flag", {1, 1, 1}, {128, 1, 1}, d_in, found));
    CHECK(gpu.download<int>(found, 1)[0] == 1);
  });
}

TEST_CASE("clean: broadcasts and overlapping reads", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<int> in = numbers(256);
    const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.device.alloc(1024, "out");
    clean(gpu.run("broadcast_reads", {4, 1, 1}, {64, 1, 1}, d_in, out));
    CHECK(gpu.download<int>(out, 256) == std::vector<int>(256, 2 * in[0] + in[1]));
    clean(gpu.run("read_only_overlap", {4, 1, 1}, {64, 1, 1}, d_in, out));
  });
}

TEST_CASE("clean: vector loads up to the last byte", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<float> in = floats(4 * 77);
    const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.device.alloc(in.size() * 4, "out");
    clean(gpu.run("last_element_vector", {3, 1, 1}, {32, 1, 1}, d_in, out, 77));
    CHECK(gpu.download<float>(out, in.size()) == in);
  });
}

TEST_CASE("clean: padding that nobody touches", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<float> in = floats(1024);
    const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.device.alloc(4096, "out");
    clean(gpu.run("padded_tile", {1, 1, 1}, {32, 32, 1}, d_in, out));
    const std::vector<float> got = gpu.download<float>(out, 1024);
    for (std::size_t y = 0; y < 32; ++y) {
      for (std::size_t x = 0; x < 32; ++x) CHECK(got[y * 32 + x] == in[x * 32 + y]);
    }
    const DevicePtr ints = gpu.upload(numbers(32), "ints"), bytes = gpu.device.alloc(32, "bytes");
    clean(gpu.run("struct_padding", {1, 1, 1}, {32, 1, 1}, ints, bytes));
  });
}

TEST_CASE("clean: a thread's own writes and reads", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const DevicePtr data = gpu.device.alloc(256, "data"), out = gpu.device.alloc(256, "out");
    clean(gpu.run("same_thread", {1, 1, 1}, {64, 1, 1}, data, out));
    const std::vector<int> got = gpu.download<int>(out, 64);
    for (int t = 0; t < 64; ++t) CHECK(got[static_cast<std::size_t>(t)] == 2 * (t + 2));
  });
}

TEST_CASE("clean: zero fill at ragged edges", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const int m = 37, k = 29;
    const std::vector<float> a = floats(static_cast<std::size_t>(m * k));
    const DevicePtr d_a = gpu.upload(a, "A"),
                    c = gpu.device.alloc(static_cast<std::size_t>(m) * 64, "C");
    clean(gpu.run("zero_fill", {1, 3, 1}, {16, 16, 1}, d_a, c, m, k));
    const std::vector<float> got = gpu.download<float>(c, static_cast<std::size_t>(m * 16));
    for (int r = 0; r < m; ++r) {
      float sum = 0;
      for (int j = 0; j < k; ++j) sum += a[static_cast<std::size_t>(r * k + j)];
      CHECK(got[static_cast<std::size_t>(r * 16 + 4)] == 5 * sum);
    }
  });
}

TEST_CASE("clean: guarded reads stay guarded", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    for (const int n : {2, 33, 63, 64}) {
      const DevicePtr in = gpu.upload(numbers(static_cast<std::size_t>(n)), "in"),
                      out = gpu.device.alloc(256, "out");
      clean(gpu.run("guarded_reads", {1, 1, 1}, {64, 1, 1}, in, out, n));
    }
    const DevicePtr some = gpu.device.alloc(256, "some"), out = gpu.device.alloc(256, "out");
    gpu.device.fill(some, std::byte{0}, 40);
    clean(gpu.run("partial_initialisation", {1, 1, 1}, {64, 1, 1}, some, out, 10));
  });
}

TEST_CASE("clean: a producing and a consuming warp", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<int> in = numbers(32 * 9);
    const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.device.alloc(128, "out");
    clean(gpu.run("producer_consumer_warps", {1, 1, 1}, {64, 1, 1}, d_in, out, 9));
    const std::vector<int> got = gpu.download<int>(out, 32);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      int sum = 0;
      for (std::size_t r = 0; r < 9; ++r) sum += in[r * 32 + 31 - lane];
      CHECK(got[lane] == sum);
    }
  });
}

TEST_CASE("clean: the last block sums what all blocks wrote", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<int> in = numbers(50);
    const DevicePtr d_in = gpu.upload(in, "in"), partial = gpu.device.alloc(200, "partial"),
                    out = gpu.device.alloc(4, "out");
    for (int round = 0; round < 2; ++round) {
      clean(gpu.run("last_block", {50, 1, 1}, {64, 1, 1}, d_in, partial, out));
      CHECK(gpu.download<int>(out, 1)[0] == std::accumulate(in.begin(), in.end(), 0));
    }
  });
}

TEST_CASE("clean: more flags than a launch usually has, released and acquired", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    constexpr unsigned BLOCKS = 700;
    const std::vector<int> in = numbers(32 * BLOCKS);
    const DevicePtr d_in = gpu.upload(in, "in"), data = gpu.device.alloc(128 * BLOCKS, "data"),
                    flags = gpu.upload(std::vector<unsigned>(BLOCKS, 0), "flags"),
                    out = gpu.device.alloc(128 * BLOCKS, "out");
    clean(gpu.run("released_by_flags", {BLOCKS, 1, 1}, {32, 1, 1}, d_in, data, flags, out));
    const std::vector<int> got = gpu.download<int>(out, in.size());
    CHECK(std::equal(got.begin() + 32, got.end(), in.begin()));
  });
}

TEST_CASE("clean: whole warps leave after the last barrier", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const DevicePtr in = gpu.upload(numbers(64), "in"), out = gpu.device.alloc(128, "out");
    clean(gpu.run("whole_warps_leave", {1, 1, 1}, {64, 1, 1}, in, out));
    const DevicePtr f = gpu.upload(floats(96), "f"), sums = gpu.device.alloc(12, "sums");
    clean(gpu.run("shuffle_reduction", {3, 1, 1}, {32, 1, 1}, f, sums));
    const std::vector<float> values = floats(96), got = gpu.download<float>(sums, 3);
    for (int b = 0; b < 3; ++b) {
      CHECK(got[static_cast<std::size_t>(b)] ==
            std::accumulate(values.begin() + 32 * b, values.begin() + 32 * b + 32, 0.0f));
    }
  });
}

TEST_CASE("clean: warps with slices of their own", "[clean]") {
  with_each_clang([](Gpu& gpu) {
    const std::vector<float> in = floats(4096);
    const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.device.alloc(4096 * 4, "out");
    clean(gpu.run("warp_slices", {1, 1, 1}, {128, 1, 1}, d_in, out));
    const std::vector<float> got = gpu.download<float>(out, 4096);
    CHECK(got[33] == in[32 + 1]);
    CHECK(got[5] == in[5 * 32]);
  });
}

}  // namespace
}  // namespace simgpu::test
