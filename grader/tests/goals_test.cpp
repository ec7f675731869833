// What is said about missed goals and predictions: the line, and what would do.
#include <sys/wait.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "grader/errors.hpp"
#include "grader/judge/stage.hpp"
#include "grader/os/files.hpp"
#include "grader/tests/bench.hpp"

using grader::lines_of;
using grader::Observed;
using grader::one_of_each;
using grader::worst_line;
using grader::test::FixtureProject;

namespace {

simgpu::LineCounts line(unsigned number, const std::string& file = "build/x/gemm.cu") {
  simgpu::LineCounts one;
  one.where = {file, number};
  return one;
}

const std::string toml = R"(id = 6
name = "lab6_fixture"
title = "Predictions"
tile = { BM = 16, BN = 16, BK = 8 }
[[rung]]
name = "gemm_given"
types = ["int32", "float"]
[[stage]]
id = "6.0"
title = "Predict"
rung = "gemm_given"
points = 3
shapes = ["tiny"]
[stage.answer]
function = "prediction"
measured = "load_wavefronts"
)";

const std::string source = R"(#include <cuda_runtime.h>
#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

constexpr int predicted = @VALUE@;  // TODO(6.0) How many wavefronts does a load take?
int prediction() { return predicted; }

template <typename In, typename Out>
__global__ void kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
  __shared__ Out sums[32 * 8];
  const int row = blockIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  Out sum = 0;
  if (col < c.cols)
    for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, col);
  sums[threadIdx.x] = sum;
  sums[threadIdx.x + 32] = sum;
  __syncthreads();
  for (int i = 2; i < 8; ++i) sums[i * 32 + threadIdx.x] = sum;
  __syncthreads();
  if (col < c.cols) { const Out other = sums[threadIdx.x * 8]; c(row, col) = other == sum ? other : sum; }
}
template <typename In, typename Out>
void gemm_given(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c, cudaStream_t stream) {
  kernel<<<dim3((c.cols + 31) / 32, c.rows), 32, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
)";

}  // namespace

TEST_CASE("a missed goal names the worst line") {
  Observed seen;
  seen.launches.resize(2);
  auto store = line(38), load = line(44), wide = line(50), plain = line(60);
  store.counts.shared_store = {100, 200, 100, 0, 0, 0, 12800};
  load.counts.shared_load = {100, 1600, 100, 0, 0, 0, 12800};
  load.counts.global_load = {10, 320, 40, 1280};
  wide.counts.shared_load = {400, 1600, 1600, 0, 0, 0, 204800};
  wide.counts.global_load = {100, 1600, 1600, 51200};
  plain.counts.fma_f32 = 77;
  plain.counts.global_store = {5, 20, 20, 640};
  auto header = line(44, "common/matrix.hpp");
  header.counts.shared_load.wavefronts = 1u << 30;
  seen.launches[0].lines = {store, load, header};
  seen.launches[1].lines = {load, wide, plain};
  const auto lines = lines_of(seen, "lab6_fixture/gemm.cu");
  REQUIRE(lines.size() == 4);
  CHECK(lines.at(44).shared_load.wavefronts == 3200);

  const auto conflict = worst_line("BANK-CONFLICT", lines);
  CHECK(conflict.line == 44);
  CHECK(conflict.text == "line 44: 16 wavefronts per request, 1 would do (shared loads)");
  const auto scattered = worst_line("UNCOALESCED", lines);
  CHECK(scattered.text == "line 44: 32 sectors per request, 4 would do (global loads)");
  CHECK(worst_line("UNCOALESCED", lines, "load_sectors_a").line == 44);
  CHECK(worst_line("UNCOALESCED", lines, "store_sectors_c").text ==
        "line 60 makes all of them: 20 sectors");
  CHECK(worst_line("NO-REUSE", lines).text ==
        "line 50 makes most of them: 1 600 of 2 240 sectors read");
  CHECK(worst_line("NO-REUSE", lines, "shared_bytes").text ==
        "line 50 makes most of them: 204 800 of 230 400 bytes");
  CHECK(worst_line("NO-SHARED", lines).line == 50);
  CHECK(worst_line("STORES", lines).line == 60);
  CHECK(worst_line("NOT-VECTORISED", lines).text ==
        "line 44: 128 bytes per request in 200 requests (shared loads); 16 bytes per lane are 512");
  CHECK(worst_line("NO-TENSOR", lines).line == 60);
  CHECK(worst_line("LOCAL-MEMORY", lines).line == 0);
  CHECK(worst_line("REGISTERS", lines).line == 0);
  CHECK(worst_line("BANK-CONFLICT", {}).line == 0);
  // Too many without a conflict: who makes most.
  auto clean = lines;
  clean.erase(44), clean.erase(38);
  CHECK(worst_line("BANK-CONFLICT", clean).text == "line 50 makes all of them: 1 600 wavefronts");
}

TEST_CASE("a prediction is compared with the count") {
  const FixtureProject project;
  grader::write_file_atomically(project.lab() / "lab.toml", toml);
  const auto judge = [&](const std::string& value) {
    std::string text = source;
    text.replace(text.find("@VALUE@"), 7, value);
    project.write_source(text);
    const auto result = project.grader({"check", "--lab", "6", "--device", "sim", "--json", "-"});
    INFO(result.errors);
    const auto document = nlohmann::json::parse(result.output);
    return document.at("labs").at(0).at("stages").at(0);
  };
  const auto untouched = judge("0"), wrong = judge("1"), negative = judge("-8"), right = judge("8");
  INFO(untouched.dump(1) << wrong.dump(1) << right.dump(1));
  CHECK(untouched["state"] == "not_started");
  CHECK(wrong["state"] == "failed");
  CHECK(wrong["diagnosis"] == "ANSWER");
  const auto read = source.find("other = sums");
  const auto line = std::count(source.begin(), source.begin() + static_cast<long>(read), '\n') + 1;
  CHECK(wrong["line"] == line);
  const std::string headline = wrong["headline"];
  CHECK(headline ==
        "prediction() predicts 1 wavefronts per request; the simulated GPU counts a different "
        "number in line " +
            std::to_string(line) + " of gemm_given");
  CHECK(negative["state"] == "failed");
  CHECK(right["state"] == "passed");
}

TEST_CASE("of notes that differ in numbers alone the one with the largest is shown") {
  CHECK(one_of_each({"about 95 registers", "about 159 registers", "a cudaFree is missing"}) ==
        std::vector<std::string>{"a cudaFree is missing", "about 159 registers"});
}
