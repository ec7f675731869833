// The CUDA runtime on a device in the same process: complete programs, compiled by simcc, with the
// output that CUDA gives them. The programs are in programs/; NAME.out is what they print, the
// lines of NAME.err must occur in what simgpu says on stderr. arguments, intrinsics, kernel_printf,
// queries, reduction, sticky, templates, two_files and variables printed the same on an H200 under
// CUDA 13.0; launch_errors.cu names its differences, the others have not run there.

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"
#include "common/simgpu/tests/process.hpp"

namespace simgpu::test {
namespace {

namespace fs = std::filesystem;
using Environment = std::vector<std::pair<std::string, std::string>>;

const std::string kPrograms = "common/simgpu/tests/programs/";

std::string simcc() {
  return root_folder() + "/common/simgpu/simcc";
}

Environment with_clang(const std::string& clang) {
  return {{"CLANG", clang}, {"BUILD", build_folder()}};
}

/// Every program of the folder: a .cu file, or a folder of files that belong together.
std::vector<std::string> programs() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kPrograms)) {
    if (entry.is_directory() || entry.path().extension() == ".cu")
      names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void check_output(const std::string& name, const Ran& ran) {
  INFO("stderr:\n" << ran.err);
  CHECK(ran.status == 0);
  CHECK(ran.out == read_file(kPrograms + name + ".out"));
  if (!fs::exists(kPrograms + name + ".err")) {
    CHECK(ran.err.find("\n    kernel ") == std::string::npos);  // each finding has such a line
    return;
  }
  std::istringstream lines(read_file(kPrograms + name + ".err"));
  std::string line;
  while (std::getline(lines, line)) {
    INFO(line);
    CHECK(ran.err.find(line) != std::string::npos);
    if (line.find("is not available") != std::string::npos)
      CHECK(ran.err.find(line) == ran.err.rfind(line));
  }
}

void check_program(const std::string& name, const Clang& clang) {
  INFO(name << " with " << clang.command);
  const TemporaryFolder folder;
  std::vector<std::string> sources;
  if (fs::is_directory(kPrograms + name)) {
    for (const auto& entry : fs::directory_iterator(kPrograms + name)) {
      if (entry.path().extension() == ".cu" || entry.path().extension() == ".cpp")
        sources.push_back(entry.path().string());
    }
  } else {
    sources.push_back(kPrograms + name + ".cu");
  }
  std::vector<std::string> objects;
  for (const std::string& source : sources) {
    objects.push_back(folder / (std::to_string(objects.size()) + ".o"));
    const Ran compiled =
        run_process({simcc(), "-Wall", "-Wextra", "-Werror", "-c", source, "-o", objects.back()},
                    "", with_clang(clang.command));
    INFO(compiled.err);
    REQUIRE(compiled.status == 0);
    CHECK(compiled.err.empty());
  }
  // With the device in the program, and in one of its own.
  for (const char* separate : {"0", "1"}) {
    INFO("SIMGPU_SEPARATE=" << separate);
    std::vector<std::string> argv = {simcc(), "-o", folder / "program"};
    argv.insert(argv.end(), objects.begin(), objects.end());
    Environment environment = with_clang(clang.command);
    environment.emplace_back("SIMGPU_SEPARATE", separate);
    const Ran linked = run_process(argv, "", environment);
    INFO(linked.err);
    REQUIRE(linked.status == 0);
    check_output(name, run_process({folder / "program"}));
  }
}

TEST_CASE("runtime: programs print what they print on a GPU, oldest clang", "[runtime]") {
  REQUIRE(programs().size() >= 24);
  for (const std::string& name : programs()) check_program(name, clangs().front());
}

TEST_CASE("runtime: programs print what they print on a GPU, newest clang", "[runtime]") {
  // Those whose device code or embedding could depend on the compiler.
  for (const char* name : {"intrinsics", "variables", "arguments", "histogram", "reduction",
                           "sticky", "findings", "kernel_printf", "two_files"}) {
    if (clangs().size() > 1) check_program(name, clangs().back());
  }
  SUCCEED();
}

TEST_CASE("runtime: reports of counts, silence on request", "[runtime]") {
  const TemporaryFolder folder;
  const Ran compiled = run_process({simcc(), kPrograms + "tiled_gemm.cu", "-o", folder / "gemm"},
                                   "", with_clang(clangs().front().command));
  REQUIRE(compiled.status == 0);
  const Ran plain = run_process({folder / "gemm"});
  CHECK(plain.err.empty());
  const Ran counts = run_process({folder / "gemm"}, "", {{"SIMGPU_REPORT", "kernels"}});
  CHECK(counts.out == plain.out);
  CHECK(counts.err.find("gemm(float const*, float const*, float*, int, int, int)\n"
                        "  1 launch, grid 4×5 blocks of 16×16 threads, 2048 bytes of shared") !=
        std::string::npos);
  // 20 blocks of 256 threads walk three tiles of 16: 20 * 256 * 48 products.
  CHECK(counts.err.find("fma f32 245 760") != std::string::npos);
  CHECK(counts.err.find("simgpu: 2 kernels, 2 launches\n") != std::string::npos);
  CHECK(counts.err.find("tiled_gemm.cu:") == std::string::npos);
  const Ran lines = run_process({folder / "gemm"}, "", {{"SIMGPU_REPORT", "lines"}});
  CHECK(lines.err.find("tiled_gemm.cu:17") != std::string::npos);

  const Ran racy = run_process({simcc(), kPrograms + "findings.cu", "-o", folder / "findings"}, "",
                               with_clang(clangs().front().command));
  REQUIRE(racy.status == 0);
  CHECK(run_process({folder / "findings"}, "", {{"SIMGPU_QUIET", "1"}}).err.empty());
  CHECK(run_process({folder / "findings"}, "", {{"SIMGPU_CHECKS", "0"}}).err.empty());
  CHECK_FALSE(run_process({folder / "findings"}).err.empty());
}

TEST_CASE("runtime: device code that is not there or broken is an error code", "[runtime]") {
  const TemporaryFolder folder;
  write_file(folder / "p.cu",
             "#include <cstdio>\n__global__ void k(int* p) { *p = 1; }\n"
             "int main() { int* p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); std::printf(\"%s\\n\", "
             "cudaGetErrorName(cudaGetLastError())); }\n");
  const std::string clang = clangs().front().command;
  for (const auto& [ptx, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "cudaErrorNoKernelImageForDevice\n"},
           {"this is no PTX\n", "cudaErrorInvalidPtx\n"},
           {".version 7.0\n.target sm_80\n.address_size 64\n",
            "cudaErrorInvalidDeviceFunction\n"}}) {
    INFO(ptx);
    write_file(folder / "p.ptx", ptx + '\0');
    REQUIRE(
        run_process({clang, "@common/simgpu/flags/host.rsp", "-Xclang", "-fcuda-include-gpubinary",
                     "-Xclang", folder / "p.ptx", "-c", folder / "p.cu", "-o", folder / "p.o"})
            .status == 0);
    REQUIRE(
        run_process({simcc(), folder / "p.o", "-o", folder / "p"}, "", with_clang(clang)).status ==
        0);
    const Ran ran = run_process({folder / "p"});
    CHECK(ran.status == 0);
    CHECK(ran.out == expected);
    CHECK(ran.err.find("simgpu: kernel launch returns") != std::string::npos);
  }
}

TEST_CASE("runtime: a kernel that violates a precondition of the standard library", "[runtime]") {
  const TemporaryFolder folder;
  write_file(folder / "p.cu",
             "#include <cuda/std/optional>\n"
             "__global__ void k(int* p, int n) {\n"
             "  cuda::std::optional<int> some;\n  if (n > 2) some = n;\n  *p = *some;\n}\n"
             "int main() {\n  int* p;\n  cudaMalloc(&p, 4);\n  k<<<1, 1>>>(p, 3);\n"
             "  if (cudaDeviceSynchronize() != cudaSuccess) return 1;\n  k<<<1, 1>>>(p, 1);\n"
             "  return cudaDeviceSynchronize() == cudaSuccess ? 2 : 3;\n}\n");
  for (const Clang* clang : {&clangs().front(), &clangs().back()}) {
    INFO(clang->command);
    const Ran compiled =
        run_process({simcc(), "-D_GLIBCXX_ASSERTIONS", folder / "p.cu", "-o", folder / "p"}, "",
                    with_clang(clang->command));
    INFO(compiled.err);
    REQUIRE(compiled.status == 0);
    const Ran ran = run_process({folder / "p"});
    CHECK(ran.status == 3);
    CHECK((ran.out + ran.err).find("_M_is_engaged()") != std::string::npos);
  }
}

TEST_CASE("simcc: paths with blanks and quotes, objects, PTX", "[simcc]") {
  const TemporaryFolder folder;
  const std::string odd = folder / "it's $(touch owned) \"odd\"";
  fs::create_directory(odd);
  write_file(odd + "/a b.cu",
             "#include <cstdio>\n__global__ void k() {}\n"
             "int main() { k<<<1, 1>>>(); std::printf(\"%s %d\\n\", TEXT, "
             "int(cudaDeviceSynchronize())); }\n");
  const Environment environment = with_clang(clangs().front().command);
  const Ran compiled = run_process(
      {simcc(), "-DTEXT=\"a 'b' $(c)\"", "a b.cu", "-o", "the program"}, odd, environment);
  INFO(compiled.err);
  REQUIRE(compiled.status == 0);
  CHECK(run_process({odd + "/the program"}).out == "a 'b' $(c) 0\n");
  CHECK_FALSE(fs::exists(odd + "/owned"));

  REQUIRE(run_process({simcc(), "-DTEXT=\"x\"", "-c", "a b.cu"}, odd, environment).status == 0);
  REQUIRE(run_process({simcc(), "a b.o", "-oc"}, odd, environment).status == 0);
  CHECK(run_process({odd + "/c"}).out == "x 0\n");
  const Ran ptx = run_process({simcc(), "-DTEXT=\"x\"", "--ptx", "a b.cu"}, odd, environment);
  CHECK(ptx.out.find(".visible .entry _Z1kv(") != std::string::npos);
  // Options of nvcc that change nothing here, and some for the host compiler.
  const Ran options =
      run_process({simcc(), "-arch=sm_80", "-gencode", "arch=compute_80,code=sm_80", "-lineinfo",
                   "-O3", "-Xcompiler", "-fno-strict-aliasing,-O1", "-DTEXT=\"y\"", "a b.cu",
                   "-lcudart", "-lcublas", "-lcurand", "-o", "d"},
                  odd, environment);
  INFO(options.err);
  CHECK(options.status == 0);
  CHECK(options.err.empty());
}

TEST_CASE("simcc: what goes wrong is said in one line", "[simcc]") {
  const TemporaryFolder folder;
  write_file(folder / "p.cu", "__global__ void k() {}\nint main() {}\n");
  const auto script = [&](const std::string& name, const std::string& macros) {
    write_file(folder / name, "#!/bin/sh\nprintf '%s\\n' '" + macros + "'\n");
    fs::permissions(folder / name, fs::perms::owner_all);
    return folder / name;
  };
  struct Case {
    std::vector<std::string> arguments;
    Environment environment;
    std::string message;
  };
  const std::string good = clangs().front().command, build = build_folder();
  for (const Case& c : std::vector<Case>{
           {{folder / "p.cu"}, {{"CLANG", "no-such-clang"}}, "no-such-clang not found"},
           {{folder / "p.cu"},
            {{"CLANG", script("gcc-like", "#define __GNUC__ 12")}},
            "is not clang"},
           {{folder / "p.cu"},
            {{"CLANG", script("old", "#define __clang_major__ 11")}},
            "version 11"},
           {{folder / "p.cu"},
            {{"CLANG",
              script("apple", "#define __clang_major__ 15\n#define __apple_build_version__ 1")}},
            "Apple"},
           {{folder / "absent.cu"}, {{"CLANG", good}}, "no such file"},
           {{folder / "p.cu"},
            {{"CLANG", good}, {"BUILD", folder / "nothing"}},
            "is missing. Build it"},
           {{"--fancy", folder / "p.cu"}, {{"CLANG", good}}, "unknown option --fancy"},
           {{"-lcudnn", folder / "p.cu"}, {{"CLANG", good}}, "NVIDIA"},
           {{"-rdc=true", folder / "p.cu"}, {{"CLANG", good}}, "cannot be linked together"},
           {{"-o"}, {{"CLANG", good}}, "-o needs"},
           {{"-O2"}, {{"CLANG", good}}, "no input files"}}) {
    std::vector<std::string> argv = {simcc()};
    argv.insert(argv.end(), c.arguments.begin(), c.arguments.end());
    const Ran ran = run_process(argv, folder.path(), c.environment);
    INFO(c.message << "\n" << ran.err);
    CHECK(ran.status == 2);
    CHECK(ran.err.find("simcc: ") == 0);
    CHECK(ran.err.find(c.message) != std::string::npos);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  }
  // A compile error is the compiler's, at the student's line, and no program is left behind.
  write_file(folder / "bad.cu", "__global__ void k() {}\nint main() { undeclared(); }\n");
  const Ran bad = run_process({simcc(), "bad.cu", "-o", "bad"}, folder.path(),
                              {{"CLANG", good}, {"BUILD", build}});
  CHECK(bad.status == 1);
  CHECK(bad.err.find("bad.cu:2:14: error: use of undeclared identifier 'undeclared'") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(folder / "bad"));
}

}  // namespace
}  // namespace simgpu::test
