// Whose code a line is.
#include "grader/judge/owner.hpp"
#include "common/catch2.hpp"

namespace {

using grader::owner_of;

const char* const file = R"(#include "common/kernel.cuh"

constexpr int WARP = 32;  // lanes {of} a warp

/// Given.
__device__ inline int lane_row(int lane) {
  return lane / 8;
}

template <int THREADS, typename T>
__device__ void fetch_tile(T (&tile)[8][8], MatrixView<const T> m) {
  static_assert(THREADS % 32 == 0, "whole warps");
  // TODO(3.1) Fetch it.
  for (int i = 0; i < 8; ++i) {
    tile[i][0] = m(i, 0);
  }
}

template <int TILE, typename T>
__global__ void __launch_bounds__(TILE* TILE, 2)
    tiled_kernel(MatrixView<const T> a) {
  // TODO(3.2) Multiply.
  fetch_tile<32>(a);
}

template <int BM>
struct ConflictFree {
  // TODO(4.1) Remove it.
  __device__ static int place(int r) { return r * BM; }
};

constexpr int at_the_end = 1;
)";

TEST_CASE("a line belongs to the function around it and to the stage that is asked for there") {
  const auto given = owner_of(file, 7);
  CHECK(given.function == "lane_row");
  CHECK(given.stage.empty());
  CHECK_FALSE(given.kernel);

  const auto fetch = owner_of(file, 15);
  CHECK(fetch.function == "fetch_tile");
  CHECK(fetch.stage == "3.1");
  CHECK_FALSE(fetch.kernel);

  const auto kernel = owner_of(file, 23);
  CHECK(kernel.function == "tiled_kernel");
  CHECK(kernel.stage == "3.2");
  CHECK(kernel.kernel);

  const auto layout = owner_of(file, 29);
  CHECK(layout.stage == "4.1");
  CHECK(layout.function.empty());
}

TEST_CASE("a line outside of every function has no owner") {
  for (const unsigned line : {0U, 1U, 32U, 33U, 1000U}) {
    const auto owner = owner_of(file, line);
    CAPTURE(line);
    CHECK(owner.function.empty());
    CHECK(owner.stage.empty());
  }
}

TEST_CASE("the calls of a function, and of those the ones with what a message is about") {
  using Lines = std::vector<unsigned>;
  const std::string source = R"(template <typename T>
__device__ void fetch_tile(T* tile, int n) {
  prefetch_tile(tile);  // fetch_tile(a_tile) is none
}
__global__ void kernel(MatrixView<float> a, MatrixView<float> b) {
  fetch_tile<float>(a_tile, a);
  fetch_tile(b_tile, b);
  other(c);
}
)";
  CHECK(grader::calls_of(source, "fetch_tile", "") == Lines{6, 7});
  CHECK(grader::calls_of(source, "fetch_tile", "line 2 reads element 3 of b_tile, one past") ==
        Lines{7});
  CHECK(grader::calls_of(source, "fetch_tile", "line 2 reads A[17][0]") == Lines{6});
  CHECK(grader::calls_of(source, "fetch_tile", "line 2 reads element 3 of c_tile") == Lines{6, 7});
  CHECK(grader::calls_of(source, "nobody", "x[") == Lines{});
  CHECK(grader::calls_of(source, "", "") == Lines{});
}

TEST_CASE("any text is read to its end") {
  for (const char* text : {"", "}", "{", "TODO(", "f(\n{\nTODO(1.0\n}\n", ")))({\n"})
    for (unsigned line = 0; line < 5; ++line) CHECK(owner_of(text, line).stage.size() < 5);
}

TEST_CASE("a line is reached from a stage through the functions that it calls") {
  const std::string chain = R"(__device__ void move(int* to) {
  *to = 0;
}

__device__ void store(int* to) {
  move(to);
}

__device__ void load(int* to) {
  move(to);
}

__device__ void copy_stage(int* to) {
  // TODO(4.4) Load.
  load(to);
}

__device__ void again(int* to) {
  again(to);
}
)";
  CHECK(grader::reached_from(chain, 10, "4.4"));
  CHECK(grader::reached_from(chain, 15, "4.4"));
  CHECK_FALSE(grader::reached_from(chain, 6, "4.4"));
  CHECK_FALSE(grader::reached_from(chain, 19, "4.4"));
}

}  // namespace

TEST_CASE("an index that leaves its array is told by the array that the line names") {
  const std::string kernel = R"(
template <typename T>
__global__ void k() {
  __shared__ T a_tile[8][16], b_tile[16][8];
  alignas(16) __shared__ T scratch[4];  // not other[1]
  sum += a_tile[row][k] * b_tile[k][col];
  c(row, col) = scratch[0];
}
__device__ void fetch(T (&a_tile)[8][16]) {
  a_tile[row][k] = m(row, k);
}
)";
  const auto names = [&kernel](unsigned line, const std::string& headline) {
    const grader::Overrun at = grader::overrun_at(kernel, line, headline);
    return at.meant + ">" + at.met;
  };
  CHECK(names(6, "line 6 reads element 3 of scratch, which was never written") == "a_tile>scratch");
  CHECK(names(6, "line 6 reads b_tile[2][0], which was never written") == ">");
  CHECK(names(7, "line 7 reads b_tile[2][0], which was never written") == "scratch>b_tile");
  CHECK(names(6, "line 6 reads A[2][0], past its end: A is 2 x 4") == ">");
  CHECK(names(6, "line 6 reads other[2]") == ">");
  CHECK(names(10, "line 10 reads element 3 of scratch, which was never written") == ">");
  CHECK(names(99, "line 99 reads element 3 of scratch") == ">");
}

TEST_CASE("what a line's function calls may belong to a stage") {
  const std::string kernel = R"(template <typename T>
struct Tile {
  /// The address of element (row, col).
  __device__ T* at(int row, int col) {
    // TODO(5.3.1) Compute the place.
    return &data[row];
  }
  __device__ T given(int row) {
    return *at(row, 0);
  }
};

template <typename T>
__device__ void copy(Tile<T>& tile) {
  *tile.at(0, 0) = tile.given(1);
  // not .at(1, 1)
}

__device__ void other(Tile<float>& tile) {
  tile.given(0);  // not tile.at(0)
}
)";
  const auto called = grader::members_called_by(kernel, 15);
  REQUIRE(called.size() == 1);
  CHECK(called[0].function == "at");
  CHECK(called[0].stage == "5.3.1");
  CHECK(grader::members_called_by(kernel, 20).empty());
  CHECK(grader::members_called_by(kernel, 99).empty());
}
