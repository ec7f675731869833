// What is asked of arrays in shared memory: pieces that are begun, places of a ring, threads that are numbered through.
#include <vector>

#include "common/catch2.hpp"
#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using simgpu::FindingKind;

namespace {

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

/// An array of `bytes` in shared memory, and a load of 4 bytes at `offset`.
simgpu::Access load(std::int64_t offset, std::uint64_t bytes) {
  simgpu::Access a;
  a.type = simgpu::AccessType::load;
  a.where = {"gemm.cu", 41};
  a.space = simgpu::MemorySpace::shared;
  a.object = "tile";
  a.offset = offset;
  a.object_bytes = bytes;
  a.bytes = 4;
  return a;
}

}  // namespace

TEST_CASE("pieces of which only the first element was stored, among whole ones") {
  simgpu::Finding f;
  f.kind = FindingKind::uninitialised_read;
  f.at = load(4, 8192);
  f.written = {{0, 4}, {16, 20}, {32, 36}, {48, 52}};
  f.written_bytes = 7172;  // as elsewhere whole pieces were
  const auto next_step = [&] { return explain(f, {}, nullptr, ElementType::float32).next_step; };
  CHECK(has(next_step(), "only the first 4 have been stored"));
  f.at = load(68, 8192);  // what is there is not listed
  CHECK_FALSE(has(next_step(), "only the first 4"));
  f.at = load(4, 8192);
  f.written[2] = {32, 40};
  CHECK_FALSE(has(next_step(), "only the first 4"));
}

TEST_CASE("a place behind the last one of a ring") {
  const Tile tile{16, 32, 8, 4, 4, 16, 16};  // a pair of tiles has 8 * 48 elements
  Evidence of;
  of.tile = tile;
  simgpu::LaunchReport launch;
  launch.block = {32, 1, 1};
  const std::uint64_t bytes = 3 * 384 * 4;
  Diagnosis d;
  CHECK(ask_of_place_behind(of, load(1160 * 4, bytes), launch, {8, 392}, 1160, d));
  CHECK(has(d.next_step, "element 8 of place 3, and the 3 places of the ring are numbered 0 to 2"));
  CHECK_FALSE(ask_of_place_behind(of, load(1161 * 4, bytes), launch, {8, 392}, 1161, d));
  CHECK_FALSE(ask_of_place_behind(of, load(8 * 4, bytes), launch, {8}, 8, d));        // inside
  CHECK_FALSE(ask_of_place_behind(of, load(392 * 4, 384 * 4), launch, {8}, 392, d));  // no ring
  of.tile.wm = 0;
  CHECK_FALSE(ask_of_place_behind(of, load(1160 * 4, bytes), launch, {8}, 1160, d));
}

TEST_CASE("rows of threads that begin further apart than a row has threads") {
  const simgpu::Dim3 block{64, 4, 1}, thread{0, 3, 0};
  const auto firsts = [](std::int64_t first) {
    std::vector<std::int64_t> list;
    for (std::int64_t t = 0; t < 32; ++t) list.push_back(first + t);
    return list;
  };
  Diagnosis d;
  CHECK(ask_of_rows_of_threads(block, thread, firsts(768), 1, d));
  CHECK(has(d.next_step, "each row of threads begins 256 elements after the one above it"));
  CHECK(has(d.next_step, "a row of the block has 64 threads, which take 64 elements"));
  CHECK_FALSE(ask_of_rows_of_threads(block, thread, firsts(192), 1, d));  // as it should be
  CHECK_FALSE(ask_of_rows_of_threads(block, {0, 0, 0}, firsts(768), 1, d));
  CHECK_FALSE(ask_of_rows_of_threads({256, 1, 1}, thread, firsts(768), 1, d));
  CHECK_FALSE(ask_of_rows_of_threads(block, thread, firsts(770), 1, d));  // no row of threads
}

TEST_CASE("a thread's number divided by two lengths of a row") {
  Evidence e;
  e.tile = {64, 128, 16, 1, 1};
  const simgpu::Dim3 block{256, 1, 1};
  const auto firsts = [](std::int64_t number, auto&& of) {
    std::vector<std::int64_t> list;
    for (std::int64_t t = number; t < number + 32; ++t) list.push_back(of(t));
    return list;
  };
  Diagnosis d;
  const auto by_rows = firsts(224, [](auto t) { return t / 16 * 16 + t % 64; });
  CHECK(ask_of_numbering(e, block, by_rows, 224, 1, 1024, d));
  CHECK(has(d.next_step, "takes row t / 16 and, in that row, number t % 64"));
  const auto pieces = firsts(32, [](auto t) { return t / 16 * 16 + t % 4 * 4; });
  CHECK(ask_of_numbering(e, block, pieces, 32, 4, 1024, d));
  CHECK(has(d.next_step, "takes row t / 16 and, in that row, number t % 4"));
  const auto right = firsts(224, [](auto t) { return t; });
  CHECK_FALSE(ask_of_numbering(e, block, right, 224, 1, 1024, d));
  const auto other = firsts(224, [](auto t) { return 2 * t; });
  CHECK_FALSE(ask_of_numbering(e, block, other, 224, 1, 1024, d));
}
