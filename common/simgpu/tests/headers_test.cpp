// The headers and the flags under every installed clang: no warning, vector accesses of full width,
// each memory instruction on the line of the student's code, and only the functions that the engine
// provides left to call.

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "common/catch2.hpp"
#include "common/simgpu/exec/math_calls.hpp"
#include "common/simgpu/tests/harness.hpp"
#include "common/simgpu/tests/process.hpp"

namespace simgpu::test {
namespace {

const std::vector<std::string> kWarnings = {"-Wall", "-Wextra", "-Wpedantic", "-Wshadow",
                                            "-Werror"};

Ran device_pass(const Clang& clang, const std::string& source, const std::string& output) {
  std::vector<std::string> argv = device_flags(clang);
  argv.insert(argv.begin(), clang.command);
  argv.insert(argv.end(), kWarnings.begin(), kWarnings.end());
  argv.insert(argv.end(), {source, "-o", output});
  return run_process(argv);
}

Ran host_pass(const Clang& clang, const std::string& source, const std::string& ptx,
              const std::string& output) {
  std::vector<std::string> argv = {clang.command, "@common/simgpu/flags/host.rsp", "-I."};
  argv.insert(argv.end(), kWarnings.begin(), kWarnings.end());
  argv.insert(argv.end(),
              {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", ptx, source, "-c", "-o", output});
  return run_process(argv);
}

/// The text of each kernel, by name.
std::map<std::string, std::string> kernels_of(const std::string& ptx) {
  std::map<std::string, std::string> kernels;
  std::istringstream lines(ptx);
  std::string line, name;
  while (std::getline(lines, line)) {
    std::smatch match;
    static const std::regex entry(R"(\.entry\s+([A-Za-z0-9_$]+))");
    if (std::regex_search(line, match, entry)) name = match[1];
    if (!name.empty()) kernels[name] += line + "\n";
  }
  return kernels;
}

/// How often each memory instruction occurs, types left out: "ld.shared.v4" -> 32. Loads of
/// parameters do not count.
std::map<std::string, int> accesses(const std::string& text) {
  std::map<std::string, int> count;
  static const std::regex access(
      R"(\b(ld|st)\.(global|shared|local)(\.nc)?(\.v[248])?\.[a-z]+([0-9]+))");
  for (std::sregex_iterator it(text.begin(), text.end(), access), end; it != end; ++it) {
    const int elements = (*it)[4].length() ? (*it)[4].str()[2] - '0' : 1;
    const int bytes = elements * std::stoi((*it)[5]) / 8;
    ++count[(*it)[1].str() + "." + (*it)[2].str() + " " + std::to_string(bytes)];
  }
  return count;
}

using Counts = std::map<std::string, int>;

TEST_CASE("headers: vector types keep their width", "[headers]") {
  const TemporaryFolder folder;
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    const Ran ran =
        device_pass(clang, "common/simgpu/tests/headers/widths.cu", folder / "widths.ptx");
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(ran.err.empty());
    const auto kernels = kernels_of(read_file(folder / "widths.ptx"));
    CHECK(accesses(kernels.at("tiles")) ==
          Counts{
              {"ld.global 16", 2}, {"ld.shared 16", 32}, {"st.global 16", 4}, {"st.shared 16", 2}});
    for (const auto& [type, bytes] : std::map<std::string, int>{{"float2", 8},
                                                                {"float4", 16},
                                                                {"double2", 16},
                                                                {"int2", 8},
                                                                {"int4", 16},
                                                                {"uint2", 8},
                                                                {"uint4", 16},
                                                                {"longlong2", 16},
                                                                {"ulonglong2", 16},
                                                                {"uchar4", 4},
                                                                {"short4", 8}}) {
      INFO(type);
      const std::string width = std::to_string(bytes);
      CHECK(accesses(kernels.at("copy_" + type)) ==
            Counts{{"ld.global " + width, 1}, {"st.global " + width, 1}});
    }
    CHECK(accesses(kernels.at("copy_double4")) == Counts{{"ld.global 16", 2}, {"st.global 16", 2}});
    for (const auto& [type, bytes] :
         std::map<std::string, int>{{"float2", 8}, {"float4", 16}, {"int4", 16}, {"double2", 16}}) {
      INFO(type);
      const std::string width = std::to_string(bytes);
      const std::string& text = kernels.at("cached_" + type);
      CHECK(accesses(text) == Counts{{"ld.global " + width, 1}, {"st.global " + width, 1}});
      CHECK(text.find("ld.global.nc.v") != std::string::npos);
    }
    CHECK(accesses(kernels.at("by_value")) ==
          Counts{{"ld.shared 16", 1}, {"st.shared 16", 1}, {"st.global 16", 2}});
    // A float4 is 16 bytes of the parameter block, in a struct as well: no hidden pointer to a
    // copy.
    CHECK(kernels.at("by_value").find("_param_0[16]") != std::string::npos);
    CHECK(kernels.at("by_value").find("_param_1[32]") != std::string::npos);
  }
}

TEST_CASE("headers: each access keeps the line of the call", "[headers]") {
  const TemporaryFolder folder;
  const std::string source = "common/simgpu/tests/headers/places.cu";
  std::set<int> expected;
  {
    std::istringstream lines(read_file(source));
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (line.size() > 4 && line.compare(line.size() - 4, 4, "// @") == 0) expected.insert(number);
    }
  }
  REQUIRE(expected.size() == 16);
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    const Ran ran = device_pass(clang, source, folder / "places.ptx");
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    std::istringstream lines(read_file(folder / "places.ptx"));
    std::string line;
    std::map<int, std::string> files;
    std::set<int> seen;
    int file = 0, number = 0;
    const std::string text = read_file(folder / "places.ptx");
    static const std::regex file_directive(R"rx(\.file\s+(\d+)\s+"([^"]*)"(\s+"([^"]*)")?)rx");
    for (std::sregex_iterator it(text.begin(), text.end(), file_directive), end; it != end; ++it) {
      files[std::stoi((*it)[1])] = (*it)[4].length() ? (*it)[4].str() : (*it)[2].str();
    }
    static const std::regex loc(R"(\.loc\s+(\d+)\s+(\d+))");
    static const std::regex access(
        R"(\b((ld|st|atom|red)\.(global|shared|local|volatile)|(atom|red)\.|(ld|st)\.[a-z]*[0-9]|shfl\.|vote\.|bar\.|barrier\.|membar|fence))");
    while (std::getline(lines, line)) {
      std::smatch match;
      if (std::regex_search(line, match, loc)) {
        file = std::stoi(match[1]);
        number = std::stoi(match[2]);
      } else if (std::regex_search(line, match, access)) {
        INFO(line);
        CHECK(files[file].find("places.cu") != std::string::npos);
        CHECK(expected.count(number) == 1);
        seen.insert(number);
      }
    }
    CHECK(seen == expected);
  }
}

TEST_CASE("headers: every function compiles without a warning and calls nothing that is not there",
          "[headers]") {
  const TemporaryFolder folder;
  const std::set<std::string> provided = {"vprintf", "__assertfail"};
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    const std::string source = "common/simgpu/tests/programs/intrinsics.cu";
    const Ran device = device_pass(clang, source, folder / "x.ptx");
    INFO(device.err);
    REQUIRE(device.status == 0);
    CHECK(device.err.empty());
    const Ran host = host_pass(clang, source, folder / "x.ptx", folder / "x.o");
    INFO(host.err);
    REQUIRE(host.status == 0);
    CHECK(host.err.empty());
    const std::string text = read_file(folder / "x.ptx");
    static const std::regex external(R"(\.extern\s+\.func[^;]*?([A-Za-z0-9_$]+)\s*\n\()");
    for (std::sregex_iterator it(text.begin(), text.end(), external), end; it != end; ++it) {
      const std::string name = (*it)[1];
      INFO(name);
      CHECK((provided.count(name) == 1 || exec::find_math_function(name) != nullptr));
    }
    CHECK(text.find(".version 7.0") != std::string::npos);
    CHECK(text.find(".target sm_80") != std::string::npos);
  }
}

TEST_CASE("headers: the kernel sees the architecture that its GPU branch would see", "[headers]") {
  const TemporaryFolder folder;
  write_file(folder / "arch.cu",
             "__global__ void k(int* p) {\n"
             "#if __CUDA_ARCH__ >= 900\n  *p = 1;\n#else\n#error wrong branch\n#endif\n}\n"
             "#ifndef __CUDACC__\n#error no __CUDACC__\n#endif\n");
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    const Ran ran = device_pass(clang, folder / "arch.cu", folder / "arch.ptx");
    INFO(ran.err);
    CHECK(ran.status == 0);
  }
}

TEST_CASE("headers: the standard library can be included beside them", "[headers]") {
  const TemporaryFolder folder;
  std::string text;
  for (const char* header :
       {"algorithm", "array",   "atomic",      "cassert",    "chrono",  "cmath",
        "complex",   "cstdint", "cstdio",      "functional", "iomanip", "iostream",
        "limits",    "map",     "memory",      "numeric",    "random",  "string",
        "thread",    "tuple",   "type_traits", "vector"}) {
    text += std::string("#include <") + header + ">\n";
  }
  text +=
      "__device__ __noinline__ float f(float x) { return std::sqrt(x) + std::abs(x) + std::fma(x, "
      "x, x); }\n"
      "__global__ void k(float* p) { *p = f(*p); }\n"
      "int main() { auto p = std::make_shared<int>(std::abs(-3)); return *p - "
      "static_cast<int>(std::sqrt(9.0)); }\n";
  write_file(folder / "std.cu", text);
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    const Ran device = device_pass(clang, folder / "std.cu", folder / "std.ptx");
    INFO(device.err);
    REQUIRE(device.status == 0);
    const Ran host = host_pass(clang, folder / "std.cu", folder / "std.ptx", folder / "std.o");
    INFO(host.err);
    CHECK(host.status == 0);
  }
}

TEST_CASE(
    "headers: pairs and groups of 16-bit numbers keep their width, fragments stay in registers",
    "[headers]") {
  const TemporaryFolder folder;
  write_file(folder / "wide.cu",
             "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <mma.h>\n"
             "template <class T> __device__ void copy(const T* a, T* b) { b[threadIdx.x] = "
             "a[threadIdx.x]; }\n"
             "extern \"C\" {\n"
             "__global__ void half1(const __half* a, __half* b) { copy(a, b); }\n"
             "__global__ void half2_(const __half2* a, __half2* b) { copy(a, b); }\n"
             "__global__ void bf2(const __nv_bfloat162* a, __nv_bfloat162* b) { copy(a, b); }\n"
             "__global__ void eight(const __half* a, __half* b) {\n"
             "  *reinterpret_cast<uint4*>(b + 8 * threadIdx.x) =\n"
             "      *reinterpret_cast<const uint4*>(a + 8 * threadIdx.x);\n}\n"
             "__global__ void product(const __half* a, float* c, int trips) {\n"
             "  using namespace nvcuda::wmma;\n"
             "  fragment<matrix_a, 16, 16, 16, __half, row_major> x;\n"
             "  fragment<matrix_b, 16, 16, 16, __half, col_major> y;\n"
             "  fragment<accumulator, 16, 16, 16, float> z[2];\n"
             "  for (int i = 0; i < 2; ++i) fill_fragment(z[i], 0.0f);\n"
             "  for (int t = 0; t < trips; ++t) {\n"
             "    load_matrix_sync(x, a + 16 * t, 64);  // line 20\n"
             "    load_matrix_sync(y, a + 32 * t, 64);\n"
             "    for (int i = 0; i < 2; ++i) mma_sync(z[i], x, y, z[i]);\n"
             "  }\n"
             "  for (int i = 0; i < 2; ++i)\n"
             "    for (int e = 0; e < z[i].num_elements; ++e) z[i].x[e] *= 2.0f;\n"
             "  for (int i = 0; i < 2; ++i) store_matrix_sync(c + 16 * i, z[i], 64, "
             "mem_row_major);\n}\n}\n");
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    const Ran ran = device_pass(clang, folder / "wide.cu", folder / "wide.ptx");
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(ran.err.empty());
    const Ran host = host_pass(clang, folder / "wide.cu", folder / "wide.ptx", folder / "wide.o");
    INFO(host.err);
    CHECK(host.status == 0);
    CHECK(host.err.empty());
    const auto kernels = kernels_of(read_file(folder / "wide.ptx"));
    CHECK(accesses(kernels.at("half1")) == Counts{{"ld.global 2", 1}, {"st.global 2", 1}});
    CHECK(accesses(kernels.at("half2_")) == Counts{{"ld.global 4", 1}, {"st.global 4", 1}});
    CHECK(accesses(kernels.at("bf2")) == Counts{{"ld.global 4", 1}, {"st.global 4", 1}});
    CHECK(accesses(kernels.at("eight")) == Counts{{"ld.global 16", 1}, {"st.global 16", 1}});
    const std::string& product = kernels.at("product");
    CHECK(accesses(product).empty());
    CHECK(product.find("local") == std::string::npos);
    const auto place = product.find("wmma.load.a");
    REQUIRE(place != std::string::npos);
    const std::string before = product.substr(0, place);
    CHECK(before.substr(before.rfind(".loc")).find(" 20 ") != std::string::npos);
  }
}

TEST_CASE("headers: what is not there is a compile error, not a surprise", "[headers]") {
  const TemporaryFolder folder;
  for (const auto& [code, message] : std::map<std::string, std::string>{
           {"__global__ void k() { surf2Dread(nullptr, 0, 0, 0); }", "surf2Dread"},
           {"#include <cuda_fp4.h>\n", "cuda_fp4.h"},
           {"#include <thrust/set_operations.h>\n", "thrust/set_operations.h"},
           {"texture<float, 1> t;", "textures and surfaces are not supported"}}) {
    INFO(code);
    write_file(folder / "bad.cu", code);
    const Ran ran = device_pass(clangs().front(), folder / "bad.cu", folder / "bad.ptx");
    CHECK(ran.status != 0);
    CHECK(ran.err.find(message) != std::string::npos);
  }
}

}  // namespace
}  // namespace simgpu::test
