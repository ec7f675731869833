// Which GPU, which tools, and what does not fit together: decided from what nvidia-smi and nvcc
// print, and asked of programs on PATH that stand in for them.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "common/catch2.hpp"
#include "grader/gpu/toolchain.hpp"
#include "grader/labs/lab.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
using namespace grader::gpu;
namespace fs = std::filesystem;

namespace {

constexpr const char* two_gpus =
    "0, NVIDIA H200, GPU-11111111-aaaa, 9.0, 580.95.05, 143771, 512\n"
    "1, Tesla T4, GPU-22222222-bbbb, 7.5, 580.95.05, 15360, 0\n";

GpuToolchain cuda13() {
  GpuToolchain tools;
  tools.nvcc = "/usr/local/cuda/bin/nvcc";
  tools.cuda = {13, 0};
  tools.known_arch = {75, 80, 86, 89, 90, 100, 120};
  return tools;
}

Driver driver13(const char* csv = two_gpus) {
  Driver driver;
  driver.devices = parse_devices(csv);
  driver.cuda = Version{13, 0};
  return driver;
}

/// Programs that stand in for the real ones, first on PATH.
class FakeMachine {
 public:
  FakeMachine() : scratch_(test::build_folder() / "tmp") {
    const char* path = std::getenv("PATH");
    saved_ = path ? path : "";
  }
  void program(const std::string& name, const std::string& script) const {
    const fs::path file = scratch_.path() / name;
    write_file_atomically(file, "#!/bin/sh\n" + script);
    ::chmod(file.c_str(), 0755);
  }
  fs::path path() const { return scratch_.path(); }

  /// make check of the fixture on this machine: everything of the real one but its GPU.
  RunResult check(const test::FixtureProject& project, std::vector<std::string> arguments,
                  std::vector<std::string> variables = {}) const {
    ProcessSpec spec;
    spec.argv = {(test::build_folder() / "bin" / "grader").string(),
                 "--root",
                 project.root().string(),
                 "--build",
                 (project.root() / "build").string(),
                 "check"};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.environment = {"PATH=" + scratch_.path().string() + ":" + saved_,
                        "NVCC=" + (scratch_.path() / "nvcc").string()};
    if (const char* clang = std::getenv("CLANG"))
      spec.environment.push_back(std::string("CLANG=") + clang);
    spec.environment.insert(spec.environment.end(), variables.begin(), variables.end());
    spec.output_bytes = 1u << 20;
    return run_process(spec, std::chrono::minutes(5));
  }

  /// nvidia-smi with this list, for a driver of this CUDA version.
  void smi(const std::string& csv, const std::string& cuda) const {
    program("nvidia-smi", "case \"$*\" in\n*query-gpu*) cat <<'END'\n" + csv +
                              "END\n;;\n*) echo '| NVIDIA-SMI 580.95.05   Driver Version: "
                              "580.95.05   CUDA Version: " +
                              cuda + "     |' ;;\nesac\n");
  }
  void nvcc(const std::string& release) const {
    program("nvcc", "case \"$*\" in\n--version) echo 'Cuda compilation tools, release " + release +
                        ", V" + release +
                        ".88' ;;\n--list-gpu-code) printf 'sm_75\\nsm_80\\nsm_90\\n' "
                        ";;\n*) echo 'this nvcc compiles nothing' >&2; exit 1 ;;\nesac\n");
  }

 private:
  Scratch scratch_;
  std::string saved_;
};

}  // namespace

TEST_CASE("architectures are read in every spelling, and nothing else is") {
  for (const char* spelling : {"90", "9.0", "sm_90", "compute_90"}) {
    INFO(spelling);
    REQUIRE(parse_arch(spelling));
    CHECK(parse_arch(spelling)->name() == "sm_90");
  }
  CHECK(parse_arch("sm_90a")->name() == "sm_90a");
  CHECK(parse_arch("12.0")->number == 120);
  for (const char* nonsense : {"", "sm_", "hopper", "9", "90b", "90; rm", "12000", "-90"}) {
    INFO(nonsense);
    CHECK_FALSE(parse_arch(nonsense));
  }
}

TEST_CASE("machine code runs within a major version, never on an older minor one") {
  CHECK(runs_on({80, ""}, 86));
  CHECK(runs_on({86, ""}, 86));
  CHECK_FALSE(runs_on({86, ""}, 80));
  CHECK_FALSE(runs_on({80, ""}, 90));
  CHECK(runs_on({90, "a"}, 90));
  CHECK_FALSE(runs_on({90, "a"}, 100));
  CHECK_FALSE(runs_on({120, ""}, 12));
}

TEST_CASE("nvidia-smi's list is read; lines that are something else are left out") {
  const auto devices =
      parse_devices(std::string(two_gpus) + "\nNo devices were found\n2, x, y, [N/A], 1, 2, 3\n");
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].name == "NVIDIA H200");
  CHECK(devices[0].arch == 90);
  CHECK(devices[0].memory_mib == 143771);
  CHECK(devices[1].arch == 75);
  CHECK(parse_devices("0, GB10, GPU-3, 12.1, 580.1, [N/A], [N/A]\n").at(0).memory_mib == 0);
}

TEST_CASE("CUDA_VISIBLE_DEVICES chooses and orders, by number and by UUID") {
  const auto all = parse_devices(two_gpus);
  const auto names = [&](const std::optional<std::string>& value) {
    std::string list;
    for (const auto& one : visible_devices(all, value)) list += std::to_string(one.index);
    return list;
  };
  CHECK(names(std::nullopt) == "01");
  CHECK(names("1") == "1");
  CHECK(names("1,0") == "10");
  CHECK(names("1,7,0") == "1");  // CUDA stops at the first that does not exist
  CHECK(names("") == "");
  CHECK(names("-1") == "");
  CHECK(names("GPU-2222") == "1");
  CHECK(names("GPU-") == "");
  CHECK(names("NoDevFiles") == "");
}

TEST_CASE("versions are found where tools print them") {
  CHECK(version_after("| Driver Version: 535.1 CUDA Version: 12.2  |", "CUDA Version")->text() ==
        "12.2");
  CHECK(version_after("CUDA Version                  : 13.0", "CUDA Version")->major == 13);
  CHECK(version_after("Cuda compilation tools, release 11.8, V11.8.89", "release")->minor == 8);
  CHECK_FALSE(version_after("CUDA Version: N/A", "CUDA Version"));
  CHECK_FALSE(version_after("", "release"));
}

TEST_CASE("what does not fit together is one sentence and what to do") {
  const auto reason = [](const Hardware& hardware, const std::string& part) {
    INFO(hardware.reason << " / " << hardware.advice);
    CHECK_FALSE(hardware.usable);
    CHECK(hardware.reason.find(part) != std::string::npos);
  };
  Driver none;
  none.trouble = "no driver, says the test";
  reason(decide(none, cuda13(), {}, ""), "no driver, says the test");
  reason(decide(driver13(), std::nullopt, {}, ""), "NVIDIA H200");
  reason(decide(driver13(), cuda13(), "", ""), "hides all GPUs");
  reason(decide(driver13(), cuda13(), {}, "hopper"), "ARCH=hopper");
  reason(decide(driver13(), cuda13(), {}, "80"), "sm_80 does not run on this GPU");
  Driver old = driver13();
  old.cuda = Version{12, 4};
  reason(decide(old, cuda13(), {}, ""), "runs CUDA 12.4");
  CHECK(decide(old, cuda13(), {}, "").advice.find("12.x") != std::string::npos);
  GpuToolchain behind = cuda13();
  behind.known_arch = {75, 80};
  reason(decide(driver13(), behind, {}, ""), "cannot compile for sm_90");
  reason(decide(driver13("0, Tesla P100, GPU-1, 6.0, 535.1, 16384, 0\n"), cuda13(), {}, ""),
         "too old");
}

TEST_CASE("what fits is picked, and why is said") {
  const Hardware first = decide(driver13(), cuda13(), {}, "");
  REQUIRE(first.usable);
  CHECK(first.arch.name() == "sm_90");
  CHECK(first.reason.find("the first of 2") != std::string::npos);
  const Hardware second = decide(driver13(), cuda13(), "1", "");
  REQUIRE(second.usable);
  CHECK(second.device.name == "Tesla T4");
  CHECK(second.arch.name() == "sm_75");
  CHECK(second.reason == "CUDA_VISIBLE_DEVICES=1");
  // An older minor version within the major one is a choice, too; so is a newer toolkit minor.
  CHECK(decide(driver13("0, RTX 3060, GPU-1, 8.6, 580.1, 12288, 0\n"), cuda13(), {}, "80").usable);
  Driver minor = driver13();
  minor.cuda = Version{13, 0};
  GpuToolchain later = cuda13();
  later.cuda = {13, 1};
  CHECK(decide(minor, later, {}, "").usable);
}

TEST_CASE(
    "labs 1 to 4 and WMMA in half run from Turing on, lab 5 from Ampere, wgmma on Hopper alone") {
  for (const auto& lab : discover_labs(test::project_root())) {
    for (const auto& rung : lab.rungs) {
      for (const auto& type : rung.types) {
        INFO(rung.name << "<" << type << ">");
        const bool hopper = !rung.needs_arch.empty();
        CHECK(why_not(rung, type, {90, ""}).empty());
        CHECK(why_not(rung, type, {100, ""}).empty() != hopper);
        CHECK(why_not(rung, type, {80, ""}).empty() != hopper);
        if (lab.id <= 4) {
          CHECK(why_not(rung, type, {75, ""}).empty());
        }
      }
    }
    if (lab.id == 5) {
      CHECK(why_not(lab.rung("gemm_wmma"), "half", {75, ""}).empty());
      for (const char* rung : {"gemm_wmma", "gemm_mma"})
        CHECK(why_not(lab.rung(rung), "bfloat16", {75, ""}).find("sm_80 or later") !=
              std::string::npos);
    }
  }
}

TEST_CASE("DEVICE=gpu on a machine that cannot: one sentence, exit 3; auto goes on with sim") {
  const test::FixtureProject project;
  const FakeMachine machine;
  const std::string h200 = "0, NVIDIA H200, GPU-1, 9.0, 580.95.05, 143771, 512\n";
  const auto refused = [&](const std::string& part, std::vector<std::string> variables = {}) {
    const RunResult result = machine.check(project, {"--device", "gpu"}, std::move(variables));
    INFO(result.errors << result.output);
    CHECK(WEXITSTATUS(result.status) == 3);
    CHECK(result.errors.find(part) != std::string::npos);
    CHECK(result.output.empty());
  };
  machine.program("nvidia-smi",
                  "echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA "
                  "driver.\"; exit 9\n");
  machine.nvcc("13.0");
  refused("NVIDIA-SMI has failed");
  const RunResult automatic = machine.check(project, {"--device", "auto"});
  CHECK(automatic.output.find("sim (no CUDA device)") != std::string::npos);

  machine.smi(h200, "12.4");
  refused("runs CUDA 12.4");
  machine.smi("0, Tesla P100, GPU-1, 6.0, 580.95.05, 16384, 0\n", "13.0");
  refused("too old");
  machine.smi("0, RTX 9090, GPU-1, 15.0, 580.95.05, 16384, 0\n", "13.0");
  refused("cannot compile for sm_150");
  machine.smi(h200, "13.0");
  refused("hides all GPUs", {"CUDA_VISIBLE_DEVICES="});
  refused("does not run on this GPU", {"ARCH=80", "ARCH_CHOSEN=1"});
  machine.program("nvcc", "exit 1\n");
  refused("no nvcc that works");
  const RunResult without = machine.check(project, {"--device", "auto"});
  INFO(without.output);
  CHECK(without.output.find("no nvcc") != std::string::npos);
}
