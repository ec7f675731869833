// The launchers and the runner of runner/, compiled as the grader compiles a submission.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "common/simgpu/tests/harness.hpp"
#include "common/simgpu/tests/process.hpp"

namespace simgpu::test {

/// Compiled once: the launchers' PTX, and the runner.
struct Built {
  TemporaryFolder folder;
  std::string ptx, runner;

  static const Built& get() {
    static const Built built;
    return built;
  }

 private:
  Built() {
    const std::string clang = clangs().front().command;
    const std::string source = "common/simgpu/tests/runner/launchers.cu";
    const auto step = [](const std::vector<std::string>& argv) {
      const Ran ran = run_process(argv);
      if (ran.status != 0) throw std::runtime_error(argv[0] + " failed:\n" + ran.err);
    };
    std::vector<std::string> device = device_flags(clangs().front());
    device.insert(device.begin(), clang);
    device.insert(device.end(), {source, "-o", folder / "launchers.ptx"});
    step(device);
    // In graded mode nothing is embedded: an empty file stands for the image.
    write_file(folder / "empty", "");
    step({clang, "@common/simgpu/flags/host.rsp", "-I.", "-Xclang", "-fcuda-include-gpubinary",
          "-Xclang", folder / "empty", source, "-c", "-o", folder / "launchers.o"});
    step({clang, "-std=c++17", "-I.", "-c", "common/simgpu/tests/runner/runner.cpp", "-o",
          folder / "runner.o"});
    step({clang, folder / "launchers.o", folder / "runner.o",
          build_folder() + "/lib/libsimgpu_cudart_remote.a", "-pthread", "-o", folder / "runner"});
    ptx = read_file(folder / "launchers.ptx");
    runner = folder / "runner";
  }
};

}  // namespace simgpu::test
