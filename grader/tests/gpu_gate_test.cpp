// The object gate: symbol tables made up here, objects of the host compiler, and, where nvcc is
// installed, small hostile .cu files.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "common/catch2.hpp"
#include "grader/compile/toolchain.hpp"
#include "grader/gpu/build.hpp"
#include "grader/gpu/object_gate.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
using namespace grader::gpu;
namespace fs = std::filesystem;

namespace {

ObjectSymbol wanted(const std::string& name) {
  ObjectSymbol symbol;
  symbol.name = name;
  return symbol;
}
ObjectSymbol given(const std::string& name) {
  ObjectSymbol symbol = wanted(name);
  symbol.defined = true;
  return symbol;
}

/// What an honest object of nvcc 13 with kernels holds.
ObjectFile honest() {
  ObjectFile object;
  for (const char* name : {"__cudaRegisterFatBinary",
                           "__cudaRegisterFatBinaryEnd",
                           "__cudaUnregisterFatBinary",
                           "__cudaRegisterFunction",
                           "__cudaPushCallConfiguration",
                           "__cudaPopCallConfiguration",
                           "__cudaLaunchKernel",
                           "__cudaInitModule",
                           "cudaGetLastError",
                           "cudaGetErrorName",
                           "cudaFuncSetAttribute",
                           "atexit",
                           "_Unwind_Resume",
                           "__gxx_personality_v0",
                           "__cxa_guard_acquire",
                           "__cxa_throw",
                           "_ZNSt13runtime_errorC1ERKNSt7__cxx1112basic_string"
                           "IcSt11char_traitsIcESaIcEEE",
                           "_Znwm",
                           "__stack_chk_fail",
                           "memcpy",
                           "snprintf"})
    object.symbols.push_back(wanted(name));
  object.symbols.push_back(given("_Z10gemm_naiveIffEv10MatrixViewIKT_ES3_S0_IT0_EP11CUstream_st"));
  object.sections = {{".text", 100}, {".init_array", 8}, {".nv_fatbin", 5000}};
  return object;
}

std::string kinds(const std::vector<GateFinding>& findings) {
  std::string all;
  for (const auto& finding : findings)
    all += (all.empty() ? "" : " ") + finding.kind + ":" + finding.symbol;
  return all;
}

/// An object of the host's C++ compiler from this source.
std::string compiled(const std::string& source) {
  const Scratch scratch(test::build_folder() / "tmp");
  write_file_atomically(scratch.path() / "a.cpp", source);
  ProcessSpec spec;
  spec.argv = {test::host_compiler(),
               "-std=c++17",
               "-O1",
               "-c",
               (scratch.path() / "a.cpp").string(),
               "-o",
               (scratch.path() / "a.o").string()};
  spec.environment = minimal_environment();
  const RunResult result = run_process(spec, std::chrono::minutes(2));
  INFO(result.errors);
  REQUIRE(result.ok());
  return read_file(scratch.path() / "a.o");
}

}  // namespace

TEST_CASE("an honest object passes the gate") {
  CHECK(kinds(inspect_object(honest())) == "");
}

TEST_CASE("each kind of call that a launcher has no use for is named") {
  const std::pair<const char*, const char*> table[] = {
      {"cublasSgemm_v2", "library"},
      {"cublasLtMatmul", "library"},
      {"cudnnCreate", "library"},
      {"dlopen", "loader"},
      {"dlsym", "loader"},
      {"nvrtcCompileProgram", "compiler"},
      {"nvJitLinkCreate", "compiler"},
      {"cuLaunchKernel", "driver"},
      {"cuModuleLoadData", "driver"},
      {"cudaGetDriverEntryPoint", "driver"},
      {"cudaGetDriverEntryPointByVersion", "driver"},
      {"cudaGraphLaunch", "runtime"},
      {"cudaLaunchHostFunc", "runtime"},
      {"cudaIpcOpenMemHandle", "runtime"},
      {"cudaDeviceReset", "runtime"},
      {"cudaHostAlloc", "runtime"},
      {"pthread_create", "thread"},
      {"fork", "thread"},
      {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
       "system"},
      {"_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode", "system"},
      {"system", "unknown"},
      {"open", "unknown"},
      {"syscall", "unknown"},
      {"getenv", "unknown"},
      {"clock_gettime", "unknown"},
      {"exit", "unknown"},
  };
  for (const auto& [symbol, kind] : table) {
    INFO(symbol);
    ObjectFile object = honest();
    object.symbols.push_back(wanted(symbol));
    const auto findings = inspect_object(object);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == kind);
    CHECK(findings[0].sentence().find(findings[0].symbol) != std::string::npos);
  }
}

TEST_CASE("definitions that take somebody else's place are refused, a student's own are not") {
  for (const char* symbol :
       {"clock_gettime", "memcmp", "write", "cudaEventElapsedTime", "main", "_Znwm", "_ZdlPv",
        "_ZSt9terminatev", "_ZNSt6chrono3_V212system_clock3nowEv"}) {
    INFO(symbol);
    ObjectFile object = honest();
    object.symbols.push_back(given(symbol));
    CHECK(inspect_object(object).at(0).kind == "interposed");
  }
  ObjectFile object = honest();
  object.symbols.push_back(given("_Z8ceil_divii"));
  object.symbols.push_back(given("_ZN4mine6helperEv"));
  ObjectSymbol local = given("my_static_function");
  local.local = true;
  object.symbols.push_back(local);
  ObjectSymbol inlined = given("_ZNSt6vectorIiSaIiEE9push_backERKi");
  inlined.weak = true;
  object.symbols.push_back(inlined);
  ObjectSymbol personality = given("DW.ref.__gxx_personality_v0");
  personality.weak = true;
  object.symbols.push_back(personality);
  CHECK(kinds(inspect_object(object)) == "");
}

TEST_CASE("code that runs before main is refused") {
  for (const char* name : {".preinit_array", ".ctors", ".ctors.65535", ".fini_array", ".init"}) {
    INFO(name);
    ObjectFile object = honest();
    object.sections.push_back({name, 8});
    CHECK(kinds(inspect_object(object)) == std::string("constructor:") + name);
  }
  ObjectFile two = honest();
  two.sections.push_back({".init_array.00101", 8});
  CHECK(kinds(inspect_object(two)) == "constructor:.init_array");
  ObjectFile without_kernels = honest();
  without_kernels.symbols.erase(without_kernels.symbols.begin());
  CHECK(kinds(inspect_object(without_kernels)) == "constructor:.init_array");
}

TEST_CASE("system calls by hand are found in a disassembly") {
  CHECK(inspect_disassembly("   4:\tsyscall\n").at(0).symbol == "syscall");
  CHECK(inspect_disassembly("  1f:\tint    $0x80\n").at(0).kind == "instruction");
  CHECK(inspect_disassembly(" 7:\tcall   syscall_table\n a:\tmov    $0x3b,%eax\n").empty());
}

TEST_CASE("objects of a real compiler are read; anything else is refused") {
  CHECK(kinds(inspect_object(compiled("int add(int a, int b) { return a + b; }\n"))) == "");
  CHECK(kinds(inspect_object(compiled(
            "#include <ctime>\nextern \"C\" int clock_gettime(clockid_t, timespec* t) noexcept {\n"
            "  t->tv_sec = 0; return 0; }\n"))) == "interposed:clock_gettime");
  CHECK(kinds(inspect_object(compiled("extern \"C\" void* dlopen(const char*, int);\n"
                                      "void* f() { return dlopen(\"libcublas.so\", 1); }\n"))) ==
        "loader:dlopen");
  CHECK(kinds(inspect_object(compiled(
            "#define PASTE(a, b) a##b\nextern \"C\" int PASTE(cublas, Sgemm_v2)();\n"
            "int f() { return PASTE(cublas, Sgemm_v2)(); }\n"))) == "library:cublasSgemm_v2");
  CHECK(kinds(inspect_object(compiled(
            "__attribute__((constructor)) static void early() { __builtin_trap(); }\n"))) ==
        "constructor:.init_array");
  CHECK(kinds(inspect_object(compiled("#include <string>\nstd::string greeting = \"a global object "
                                      "with a constructor\";\n")))
            .find("constructor:.init_array") != std::string::npos);
  CHECK(kinds(inspect_object(compiled(
            "static void early() { __builtin_trap(); }\n"
            "__attribute__((section(\".preinit_array\"), used)) static void (*p)() = early;\n"))) ==
        "constructor:.preinit_array");
#if defined(__x86_64__) && defined(__GLIBC__)
  CHECK(kinds(inspect_object(compiled("static int one() { return 1; }\n"
                                      "extern \"C\" int (*pick())() { return one; }\n"
                                      "__attribute__((ifunc(\"pick\"))) int chosen();\n")))
            .find("ifunc:chosen()") != std::string::npos);
#endif

  std::string object = compiled("int twice(int a) { return 2 * a; }\n");
  REQUIRE(read_object(object));
  CHECK_FALSE(read_object(""));
  CHECK_FALSE(
      read_object("\x7f"
                  "ELF"));
  // Cut off or scribbled over anywhere: refused or read, never read outside of the file.
  for (std::size_t cut = 0; cut < object.size(); cut += 7)
    (void)read_object(std::string_view(object).substr(0, cut));
  for (std::size_t at = 0; at < object.size(); at += 3) {
    std::string broken = object;
    broken[at] = '\xff';
    (void)read_object(broken);
  }
  CHECK(inspect_object("no object").at(0).kind == "unreadable");
}

namespace {

/// The fixture project with one rung's file, built for sm_80 by nvcc.
GpuBuild built(const test::FixtureProject& project, const GpuToolchain& tools,
               const std::string& source) {
  project.write_source(source);
  const Workplace place{project.root(), project.root() / "build", {}};
  const std::vector<Lab> labs = discover_labs(project.root());
  return build_gpu(place, tools, {80, ""}, labs.front(),
                   [&](const std::string& file) { return labs.front().folder / file; });
}

}  // namespace

TEST_CASE("nvcc's objects: the honest fixture links, hostile ones are refused by name") {
  const auto tools = probe_nvcc();
  if (!tools) {
    std::cout << "skipped: no nvcc here, the gate is not tried on its objects\n";
    return;
  }
  const test::FixtureProject project;
  fs::create_directories(project.root() / "grader");
  fs::create_directory_symlink(test::project_root() / "grader/gpu", project.root() / "grader/gpu");
  fs::create_directory_symlink(test::project_root() / "grader/os", project.root() / "grader/os");
  const std::string honest_source =
      read_file(test::project_root() / "grader/tests/fixtures/lab6_fixture/gemm.cu");
  const GpuBuild good = built(project, *tools, honest_source);
  {
    INFO(good.units.at(0).headline);
    for (const auto& line : good.units.at(0).details) UNSCOPED_INFO(line);
    CHECK(good.units.at(0).usable());
    CHECK_FALSE(good.runner.empty());
  }
  const std::pair<const char*, const char*> hostile[] = {
      {"extern \"C\" int cublasSgemm_v2(...);\nint use() { return cublasSgemm_v2(0); }\n",
       "cublasSgemm_v2"},
      {"#include <dlfcn.h>\nvoid* use() { return dlsym(nullptr, \"cublasSgemm_v2\"); }\n", "dlsym"},
      {"#include <cuda.h>\nint use() { return cuInit(0); }\n", "cuInit"},
      {"void* use() { void* p; cudaDriverEntryPointQueryResult r;\n"
       "  cudaGetDriverEntryPointByVersion(\"cuInit\", &p, 12000, cudaEnableDefault, &r);\n"
       "  return p; }\n",
       "cudaGetDriverEntryPointByVersion"},
      {"__attribute__((constructor)) static void early() { __builtin_trap(); }\n", ".init_array"},
      {"extern \"C\" cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {\n"
       "  *ms = 0; return cudaSuccess; }\n",
       "cudaEventElapsedTime"},
      {"void use() { asm volatile(\"syscall\"); }\n", "syscall"},
  };
  for (const auto& [extra, symbol] : hostile) {
    INFO(extra);
    const GpuBuild build = built(project, *tools, honest_source + "\n" + extra);
    CHECK(build.units.at(0).status == BuildStatus::refused);
    CHECK(build.runner.empty());
    bool named = false;
    for (const auto& finding : build.units.at(0).gate) named = named || finding.symbol == symbol;
    for (const auto& line : build.units.at(0).details) UNSCOPED_INFO(line);
    CHECK(named);
  }
  const GpuBuild broken =
      built(project, *tools, honest_source + "\nint f() { return nonsense; }\n");
  CHECK(broken.units.at(0).status == BuildStatus::compile_error);
  REQUIRE_FALSE(broken.units.at(0).details.empty());
  CHECK(broken.units.at(0).details.at(0).find("lab6_fixture/gemm.cu:") != std::string::npos);
}
