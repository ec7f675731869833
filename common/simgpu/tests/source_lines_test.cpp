// Every memory instruction is charged to the student's line, by every compiler.
#include <set>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

const std::string kFile = "lines.cu";

struct View {
  DevicePtr data;
  int rows, cols, ld, padding;
};

bool is_lines_cu(const SourceLine& where) {
  return where.file.size() >= kFile.size() &&
         where.file.compare(where.file.size() - kFile.size(), kFile.size(), kFile) == 0;
}

std::string describe(const LaunchReport& report) {
  std::string text;
  for (const LineCounts& l : report.lines) {
    const Counts& c = l.counts;
    text += l.where.file + ":" + std::to_string(l.where.line) + " global " +
            std::to_string(c.global_load.requests) + "/" + std::to_string(c.global_store.requests) +
            "/" + std::to_string(c.global_atomic.requests) + " shared " +
            std::to_string(c.shared_load.raw_requests) + "/" +
            std::to_string(c.shared_store.raw_requests) + " local " +
            std::to_string(c.local_load_requests) + "/" + std::to_string(c.local_store_requests) +
            "\n";
  }
  return text;
}

TEST_CASE("source lines of every kind of access", "[lines]") {
  for (const Clang& clang : clangs()) {
    Gpu gpu(compile(kFile, clang));
    const DevicePtr in = gpu.upload(std::vector<float>(64, 1), "in"),
                    out = gpu.device.alloc(256, "out"),
                    counter = gpu.upload(std::vector<int>{0}, "counter");
    const LaunchReport report = gpu.run("lines", {1, 1, 1}, {64, 1, 1}, 256u, LaunchOptions{},
                                        View{in, 8, 8, 8, 0}, View{out, 8, 8, 8, 0}, counter, 3);
    INFO(clang.command << "\n" << to_text(report.findings) << describe(report));
    CHECK(report.findings.empty());
    const auto line = [&report](const char* name) -> Counts {
      const LineCounts* l = at_line(report, marker(kFile, name));
      if (l == nullptr) {
        FAIL_CHECK("nothing was charged to the line marked " << name);
        return {};
      }
      return l->counts;
    };
    // 2 warps. at() is inlined: the load is charged to its line or to the caller's, both the
    // student's.
    CHECK(report.total.global_load.requests == 4);
    CHECK(line("fetch").global_load.requests == 2);
    CHECK(line("tile_store").shared_store.requests == 2);
    CHECK(line("barrier").barriers == 2);
    CHECK(line("sum_row").shared_load.raw_requests == report.total.shared_load.raw_requests - 4);
    CHECK(line("sum_row").shared_load.bytes == 64 * 8 * 4);
    CHECK(line("vector_store").shared_store.requests == 2);
    CHECK(line("vector_store").shared_store.bytes == 64 * 16);
    CHECK(line("vector_load").shared_load.requests == 2);
    CHECK(line("dynamic_store").shared_store.requests == 2);
    CHECK(line("dynamic_load").shared_load.requests == 2);
    CHECK(line("local_store").local_store_requests == report.total.local_store_requests);
    CHECK(line("local_store").local_store_requests == 2 * 16);
    CHECK(line("local_load").local_load_requests == 2);
    CHECK(line("atomic").global_atomic.requests + line("atomic").global_load.requests > 0);
    // Nothing outside the student's file: not in our headers, not in the compiler's.
    for (const LineCounts& l : report.lines) {
      INFO(l.where.file << ":" << l.where.line);
      CHECK(is_lines_cu(l.where));
      const Counts& c = l.counts;
      const bool memory = c.global_load.requests + c.global_store.requests +
                              c.global_atomic.requests + c.shared_load.raw_requests +
                              c.shared_store.raw_requests + c.local_load_requests +
                              c.local_store_requests + c.barriers !=
                          0;
      if (memory) CHECK(l.where.line != 0);
    }
  }
}

TEST_CASE("source lines in templates", "[lines]") {
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    Gpu gpu(compile(kFile, clang));
    unsigned kernels = 0;
    for (const KernelInfo& info : gpu.device.kernels(gpu.module)) {
      if (info.name.find("templated") == std::string::npos) continue;
      ++kernels;
      const bool is_double = info.name.find("double") != std::string::npos;
      INFO(info.name);
      const DevicePtr in = gpu.upload(std::vector<double>(1024, 0), "in"),
                      out = gpu.device.alloc(8192, "out");
      const LaunchReport report = gpu.run(info.mangled, {1, 1, 1}, {32, 1, 1}, in, out, 32);
      CHECK(to_text(report.findings).empty());
      CHECK(report.kernel == info.name);
      CHECK(report.static_shared_bytes == (is_double ? 8192 : 4096));
      const LineCounts* load = at_line(report, marker(kFile, "copy_load"));
      const LineCounts* store = at_line(report, marker(kFile, "copy_store"));
      REQUIRE(load != nullptr);
      REQUIRE(store != nullptr);
      CHECK(load->counts.global_load.requests == 32);
      CHECK(store->counts.shared_store.requests == 32);
      const LineCounts* read = at_line(report, marker(kFile, "templated_load"));
      const LineCounts* write = at_line(report, marker(kFile, "templated_store"));
      REQUIRE(read != nullptr);
      REQUIRE(write != nullptr);
      CHECK(read->counts.shared_load.raw_requests == 32);
      CHECK(write->counts.global_store.requests == 32);
    }
    CHECK(kernels == 2);
  }
}

TEST_CASE("names of kernels are readable", "[lines]") {
  for (const Clang& clang : clangs()) {
    Gpu gpu(compile(kFile, clang));
    std::set<std::string> names;
    for (const KernelInfo& info : gpu.device.kernels(gpu.module)) names.insert(info.name);
    INFO(clang.command);
    CHECK(names.size() == 3);
    CHECK(names.count("lines") == 1);
    for (const std::string& name : names) {
      INFO(name);
      CHECK(name.find("_Z") == std::string::npos);
    }
  }
}

TEST_CASE("shared arrays have the student's names", "[lines]") {
  // An access far out of bounds behind a template's array.
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    Gpu gpu(compile("findings.cu", clang));
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("oob_shared", {1, 1, 1}, {64, 1, 1}, out, 64);
    REQUIRE_FALSE(report.findings.empty());
    CHECK(report.findings[0].at.object == "tile");
    CHECK(report.findings[0].occurrences == 64);
  }
}

}  // namespace
}  // namespace simgpu::test
