// Rungs with 16-bit operands, TF32 rungs, and rungs that no simulated GPU can run, graded by the
// real program. The fixture brings its own 16-bit structs: what the judge relies on is their bits
// and names.
#include <sys/wait.h>

#include <map>
#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "grader/errors.hpp"
#include "grader/os/files.hpp"
#include "grader/tests/bench.hpp"

using grader::test::FixtureProject;

namespace {

const std::string toml = R"(id = 6
name = "lab6_fixture"
title = "Types"
tile = { BM = 8, BN = 8, BK = 4 }
[[rung]]
name = "gemm_16"
types = ["half", "bfloat16"]
[[rung]]
name = "gemm_tf32"
types = ["float"]
precision = "tf32"
[[rung]]
name = "gemm_wgmma"
types = ["bfloat16"]
file = "wgmma.cu"
needs_arch = "sm_90a"
[[stage]]
id = "6.0"
title = "Small operands"
rung = "gemm_16"
points = 3
shapes = ["tiny", "ragged", "strided", "empty"]
[[stage]]
id = "6.1"
title = "TF32"
rung = "gemm_tf32"
points = 4
shapes = ["tiny", "ragged"]
[[stage]]
id = "6.2"
title = "Hopper"
rung = "gemm_wgmma"
points = 100
shapes = ["tiny"]
[[stage]]
id = "6.3"
title = "After Hopper"
rung = "gemm_tf32"
needs = ["6.2"]
points = 1
shapes = ["tiny"]
)";

const std::string source = R"(#include <cuda_runtime.h>
#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

struct __half { unsigned short x; };
struct __nv_bfloat16 { unsigned short x; };
__device__ inline float value(float x) { return x; }
__device__ inline float value(__nv_bfloat16 x) { return __uint_as_float(static_cast<unsigned>(x.x) << 16); }
__device__ inline float value(__half x) {
  const float magnitude = __uint_as_float((x.x & 0x7fffu) << 13) * 5.192296858534828e33f;  // 2^112
  return (x.x & 0x8000u) != 0 ? -magnitude : magnitude;
}
__device__ inline float rounded(float x) {  // to 11 bits
  const float split = __fmul_rn(8193.0f, x);
  return __fsub_rn(split, __fsub_rn(split, x));
}
__device__ inline float cut(float x, unsigned mask) { return __uint_as_float(__float_as_uint(x) & mask); }

template <typename In, typename Out>
__global__ void kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= c.rows || col >= c.cols) return;
  Out sum = 0;
  for (int k = 0; k < a.cols; ++k) @STEP@;
  c(row, col) = sum;
}
template <typename In, typename Out>
__global__ void kernel_tf32(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= c.rows || col >= c.cols) return;
  Out sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += @TF32@(a(row, k)) * @TF32@(b(k, col));
  c(row, col) = sum;
}
template <typename In, typename Out>
void gemm_16(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c, cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  kernel<<<dim3((c.cols + 7) / 8, (c.rows + 7) / 8), dim3(8, 8), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
template <typename In, typename Out>
void gemm_tf32(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c, cudaStream_t stream) {
  kernel_tf32<<<dim3((c.cols + 7) / 8, (c.rows + 7) / 8), dim3(8, 8), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
)";

struct Verdicts {
  int exit_code = -1;
  nlohmann::json stages, score;
};

Verdicts judge(const FixtureProject& project, const std::string& step,
               const std::string& tf32 = "rounded") {
  grader::write_file_atomically(project.lab() / "lab.toml", toml);
  std::string text = source;
  const auto put = [&text](const std::string& mark, const std::string& code) {
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.replace(at, mark.size(), code);
  };
  put("@STEP@", step);
  put("@TF32@", tf32);
  project.write_source(text);
  put("gemm_16", "gemm_wgmma");
  grader::write_file_atomically(project.lab() / "wgmma.cu", text);
  const auto result = project.grader({"check", "--lab", "6", "--device", "sim", "--json", "-"});
  INFO(result.errors);
  REQUIRE(WIFEXITED(result.status));
  Verdicts verdicts;
  verdicts.exit_code = WEXITSTATUS(result.status);
  const auto document = nlohmann::json::parse(result.output);
  for (const auto& stage : document.at("labs").at(0).at("stages"))
    verdicts.stages[stage.at("id").get<std::string>()] = stage;
  verdicts.score = document.at("score");
  return verdicts;
}

const std::string right = "sum += value(a(row, k)) * value(b(k, col))";

}  // namespace

TEST_CASE("a lab of two files: one that fails takes no other with it") {
  const FixtureProject project;
  const std::string two = R"(id = 6
name = "lab6_fixture"
title = "Files"
tile = { BM = 8, BN = 8, BK = 4 }
[[rung]]
name = "gemm_tf32"
types = ["float"]
precision = "tf32"
[[rung]]
name = "gemm_16"
types = ["half"]
file = "half.cu"
[[stage]]
id = "6.0"
title = "First file"
rung = "gemm_tf32"
points = 1
shapes = ["tiny"]
[[stage]]
id = "6.1"
title = "Second file"
rung = "gemm_16"
points = 1
shapes = ["tiny"]
)";
  grader::write_file_atomically(project.lab() / "lab.toml", two);
  std::string text = source;  // the kernels of both files have the same names
  for (const auto& [mark, code] :
       std::map<std::string, std::string>{{"@STEP@", right}, {"@TF32@", "rounded"}})
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.replace(at, mark.size(), code);
  project.write_source(text);
  const auto check = [&](const std::string& second) {
    grader::write_file_atomically(project.lab() / "half.cu", second);
    const auto result = project.grader({"check", "--lab", "6", "--device", "sim", "--json", "-"});
    INFO(result.errors);
    REQUIRE(WIFEXITED(result.status));
    return nlohmann::json::parse(result.output).at("labs").at(0);
  };
  auto lab = check(text);
  CHECK(lab.at("build").at("status") == "ok");
  CHECK(lab.at("stages").at(0).at("state") == "passed");
  CHECK(lab.at("stages").at(1).at("state") == "passed");

  lab = check(text + "int x = y;\n");
  CHECK(lab.at("build").at("status") == "compile_error");
  CHECK(lab.at("build").at("headline") == "lab6_fixture/half.cu does not compile");
  CHECK(lab.at("stages").at(0).at("state") == "passed");
  CHECK(lab.at("stages").at(1).at("verdict") == "COMPILE_ERROR");
  CHECK(lab.at("stages").at(1).at("file") == "lab6_fixture/half.cu");

  lab = check(text + "void nowhere();\nvoid somewhere() { nowhere(); }\n");  // does not link
  CHECK(lab.at("build").at("status") == "link_error");
  CHECK(lab.at("stages").at(0).at("state") == "passed");
  CHECK(lab.at("stages").at(1).at("verdict") == "COMPILE_ERROR");

  lab =
      check(text + "__global__ void odd() { asm volatile(\".incbin \\\"/etc/hostname\\\"\"); }\n");
  CHECK(lab.at("build").at("status") == "compile_error");
  CHECK(lab.at("stages").at(0).at("state") == "passed");
  CHECK(lab.at("stages").at(1).at("verdict") == "COMPILE_ERROR");
}

TEST_CASE("16-bit and TF32 rungs are graded, and what needs Hopper too") {
  const FixtureProject project;
  const Verdicts v = judge(project, right);
  CHECK(v.exit_code == grader::exit_ok);
  for (const char* id : {"6.0", "6.1", "6.2", "6.3"}) {
    INFO(id << ": " << v.stages[id].dump());
    CHECK(v.stages[id]["verdict"] == "ACCEPTED");
    CHECK(v.stages[id]["notes"].empty());
  }
  CHECK(v.score["possible"] == 108);
  CHECK(v.score["earned"] == 108);
  CHECK(v.score["stages"] == 4);
  const auto run = project.grader({"run", "--lab", "6", "--rung", "gemm_16", "--type", "half"});
  CHECK(run.output.find("result right") != std::string::npos);
  const auto hopper = project.grader({"run", "--lab", "6", "--rung", "gemm_wgmma"});
  CHECK(hopper.output.find("result right") != std::string::npos);
}

TEST_CASE("bugs in rungs with 16-bit operands are named as in any other") {
  struct Row {
    const char *step, *diagnosis;
  };
  const Row rows[] = {
      {"sum = rounded(sum + value(a(row, k)) * value(b(k, col)))", "LOW-PRECISION"},
      {"sum += value(a(row, k)) * value(b.data[col * b.ld + k])", "B-TRANSPOSED"},
      {"sum += k == 0 ? 0 : value(a(row, k)) * value(b(k, col))", "K-MISSING"},
      {"sum = value(a(row, k)) * value(b(k, col))", "K-ONLY-LAST"},
      {"sum += value(a.data[row * a.cols + k]) * value(b.data[k * a.cols + col])", "WRONG-LD"},
  };
  const FixtureProject project;
  for (const Row& row : rows) {
    const Verdicts v = judge(project, row.step);
    INFO(row.step << ": " << v.stages["6.0"].dump());
    CHECK(v.exit_code == grader::exit_failed);
    CHECK(v.stages["6.0"]["diagnosis"] == row.diagnosis);
    CHECK(v.stages["6.1"]["verdict"] == "ACCEPTED");
  }
}

TEST_CASE("TF32: cut off inputs are worth a note, anything less is too little") {
  const FixtureProject project;
  const Verdicts full = judge(project, right, "value");
  CHECK(full.stages["6.1"]["verdict"] == "ACCEPTED");
  CHECK(full.stages["6.1"]["notes"].empty());
  const auto cut = [&](const std::string& mask) {
    return judge(project, right, "[](float x) { return cut(x, " + mask + "); }");
  };
  const Verdicts raw = cut("~0x1fffu");
  INFO(raw.stages["6.1"].dump());
  CHECK(raw.stages["6.1"]["verdict"] == "ACCEPTED");
  REQUIRE(raw.stages["6.1"]["notes"].size() == 1);
  CHECK(raw.stages["6.1"]["notes"][0].get<std::string>().find("LOW-PRECISION") == 0);
  const Verdicts bfloat16 = cut("~0xffffu");
  CHECK(bfloat16.stages["6.1"]["verdict"] == "PRECISION");
  CHECK(bfloat16.stages["6.1"]["diagnosis"] == "LOW-PRECISION");
}
