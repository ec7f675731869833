// Threads, warps and blocks whose parts of C, or of a tile, overlap; and what had been stored of an array when
// the rest of it was read.
#include <functional>
#include <string>
#include <utility>

#include "common/catch2.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using simgpu::Access;
using simgpu::AccessType;
using simgpu::Finding;
using simgpu::FindingKind;
using simgpu::MemorySpace;

namespace {

const Tile kRegisterTile{128, 64, 8, 8, 4};
constexpr int kColumns = 128;  // of C
constexpr std::uint64_t kStart = 1 << 20;

bool mentions(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

bool listed(const Diagnosis& d, const std::string& words) {
  for (const std::string& line : d.details)
    if (mentions(line, words)) return true;
  return false;
}

Access store_to_c(int row, int col, simgpu::Dim3 thread, simgpu::Dim3 block = {0, 0, 0}) {
  Access a;
  a.type = AccessType::store;
  a.where = {"gemm.cu", 102};
  a.space = MemorySpace::global;
  a.object = "C";
  a.object_bytes = 4096;
  a.bytes = 4;
  a.offset = 4 * (std::int64_t{row} * kColumns + col);
  a.thread = thread;
  a.block = block;
  return a;
}

/// Row and column of C that a thread of a block stores with its instruction n.
using Place = std::function<std::pair<int, int>(simgpu::Dim3 thread, simgpu::Dim3 block, int n)>;

/// Blocks of 16 x 16 threads, each of which stores 8 rows by 4 columns: instruction n stores row n / 4, column n
/// % 4 of them. `times`: that a warp executes each.
Diagnosis of_overlap(const Access& one, const Access& other, const Place& place,
                     std::uint64_t times = 1, const Tile& tile = kRegisterTile) {
  Finding f;
  f.kind = FindingKind::global_race;
  f.at = one;
  f.other = other;
  Evidence e;
  e.tile = tile;
  e.small_integers = true;
  const auto call = [f](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = run(
        [](Call& k) {
          for (int i = 0; i < k.m; ++i)
            for (int j = 0; j < k.n; ++j) k.put(i, j, k.element(i, j));
        },
        a, b, c);
    r.launches[0].grid = {2, 1, 1};
    r.launches[0].block = {16, 16, 1};
    r.launches[0].findings.push_back(f);
    return r;
  };
  e.run = call(Matrix(e.type, 128, 2, 2), Matrix(e.type, 2, kColumns, kColumns),
               Matrix(e.type, 128, kColumns, kColumns));
  e.follow = [=](const Run& run, const simgpu::WarpOf& warp) {
    Run again = run;
    for (int n = 0; n < 32; ++n) {
      simgpu::AccessSample s;
      s.where = f.at.where;
      s.type = AccessType::store;
      s.bytes = 4;
      s.mask = ~0u;
      s.object = "C";
      s.object_address = kStart;
      s.requests = 16 * times;  // two blocks of eight warps
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned t = warp.warp * 32 + lane;
        const auto [row, col] = place({t % 16, t / 16, 0}, warp.block, n);
        s.address[lane] =
            kStart + 4 * (static_cast<std::uint64_t>(row) * kColumns + static_cast<unsigned>(col));
      }
      again.launches[0].samples.push_back(s);
    }
    return std::optional<Run>(again);
  };
  return diagnose(e);
}

int of(std::uint32_t x) {
  return static_cast<int>(x);
}

}  // namespace

TEST_CASE("columns of two threads that overlap are told by what each thread stores") {
  const auto columns = [](int apart, int step) {
    return [=](simgpu::Dim3 thread, simgpu::Dim3, int n) {
      return std::pair{of(thread.y) * 8 + n / 4, of(thread.x) * apart + n % 4 * step};
    };
  };
  const Diagnosis d =
      of_overlap(store_to_c(0, 16, {0, 0, 0}), store_to_c(0, 16, {4, 0, 0}), columns(4, 16));
  CHECK(d.id == "RACE-WAW");
  CHECK(listed(d, "thread (0, 0) of block (0, 0) stores columns 0, 16, 32, 48 of C"));
  CHECK(listed(d, "thread (4, 0) of block (0, 0) stores columns 16, 32, 48, 64 of C"));
  CHECK(mentions(d.next_step, "begin 4 columns apart, and the 4 columns of a thread lie 16 apart"));
  CHECK(mentions(d.next_step, "or neighbours begin 1 apart and its columns lie 16 apart"));
  CHECK(mentions(
      of_overlap(store_to_c(0, 1, {0, 0, 0}), store_to_c(0, 1, {1, 0, 0}), columns(1, 1)).next_step,
      "begin 1 column apart, and the 4 columns of a thread lie 1 apart"));
  // What is executed several times is known only in part.
  const Diagnosis again =
      of_overlap(store_to_c(0, 16, {0, 0, 0}), store_to_c(0, 16, {4, 0, 0}), columns(4, 16), 2);
  CHECK_FALSE(listed(again, "stores columns"));
  CHECK(mentions(again.next_step, "A thread has several columns of C"));
}

TEST_CASE("rows of two threads that overlap are told by what each thread stores") {
  const Diagnosis d =
      of_overlap(store_to_c(2, 0, {0, 2, 0}), store_to_c(2, 0, {0, 0, 0}),
                 [](simgpu::Dim3 thread, simgpu::Dim3, int n) {
                   return std::pair{of(thread.y) + n / 4, of(thread.x) + n % 4 * 16};
                 });
  CHECK(listed(d, "thread (0, 2) of block (0, 0) stores rows 2..9 of C"));
  CHECK(mentions(d.next_step, "Their first rows lie 2 apart, and a thread has 8 rows"));
}

TEST_CASE("blocks that begin too early are told by the same thread of both") {
  const Diagnosis d = of_overlap(
      store_to_c(0, 16, {0, 0, 0}, {1, 0, 0}), store_to_c(0, 16, {0, 0, 0}),
      [](simgpu::Dim3 thread, simgpu::Dim3 block, int n) {
        return std::pair{of(thread.y) * 8 + n / 4, of(block.x) * 16 + of(thread.x) + n % 4 * 16};
      });
  CHECK(listed(d, "thread (0, 0) of block (1, 0) stores columns 16, 32, 48, 64 of C"));
  CHECK(mentions(d.next_step, "moves on by 16 columns of C, and a block has 64"));
}

TEST_CASE("blocks of one element per thread that begin too early are told by how many threads") {
  const auto next = [](simgpu::Dim3 block, simgpu::Dim3 thread) {
    return of_overlap(
               store_to_c(0, 0, {0, 0, 0}, block), store_to_c(0, 0, thread),
               [](simgpu::Dim3, simgpu::Dim3, int) {
                 return std::pair{0, 0};
               },
               1, Tile{16, 16, 16, 1, 1})
        .next_step;
  };
  CHECK(
      mentions(next({0, 1, 0}, {0, 3, 0}),
               "The next block along y begins only 3 threads after this one, and a block has 16"));
  CHECK(mentions(next({0, 3, 0}, {0, 3, 0}), "begins only 1 thread after"));
  CHECK(mentions(next({1, 0, 0}, {2, 0, 0}), "2 is gridDim.x, how many blocks there are"));
  // No block begins further on than the threads of this one do, or along another axis.
  for (const simgpu::Dim3& thread :
       {simgpu::Dim3{16, 0, 0}, simgpu::Dim3{0, 2, 0}, simgpu::Dim3{2, 2, 0}})
    CHECK_FALSE(mentions(next({1, 0, 0}, thread), "The next block"));
  CHECK_FALSE(mentions(next({1, 1, 0}, {2, 2, 0}), "The next block"));
  CHECK_FALSE(mentions(next({2, 0, 0}, {3, 0, 0}), "The next block"));
}

TEST_CASE("a thread that comes in a later round of its loop to where another one begins") {
  const auto next = [](std::uint64_t times, int first) {
    return of_overlap(
               store_to_c(0, 48, {0, 3, 0}), store_to_c(0, 48, {0, 0, 0}),
               [first](simgpu::Dim3 thread, simgpu::Dim3, int) {
                 return std::pair{0, of(thread.y) * 16 + of(thread.x) + first};
               },
               times, Tile{16, 16, 16, 1, 1})
        .next_step;
  };
  CHECK(mentions(next(3, 0),
                 "C[0][48] is where thread (0, 3) begins, and thread (0, 0), which begins"
                 " at C[0][0], comes there in a later round of its loop"));
  CHECK(mentions(next(3, 0), "With 2 x 1 blocks of 16 x 16 threads, 512 threads take part"));
  CHECK_FALSE(mentions(next(1, 0), "a later round"));  // there is no loop
  CHECK_FALSE(mentions(next(3, 1), "a later round"));  // neither begins there
}

TEST_CASE("a thread that stores in front of its block's tile: the block begins too early") {
  const Diagnosis d = of_overlap(store_to_c(0, 2, {0, 0, 0}, {1, 0, 0}),
                                 store_to_c(0, 2, {2, 0, 0}), [](simgpu::Dim3, simgpu::Dim3, int) {
                                   return std::pair{0, 0};
                                 });
  CHECK(mentions(d.next_step, "before its block's tile: the tile begins at column 64"));
  CHECK(mentions(d.next_step, "What is blockIdx.x multiplied by? It should be 64"));
}

TEST_CASE("the same lane of two warps stores the same part of C") {
  Tile warps = kRegisterTile;
  warps.wm = 32, warps.wn = 16;
  const auto next = [&](unsigned thread) {
    return of_overlap(
               store_to_c(0, 0, {thread, 0, 0}), store_to_c(0, 0, {3, 0, 0}),
               [](simgpu::Dim3, simgpu::Dim3, int) {
                 return std::pair{0, 0};
               },
               1, warps)
        .next_step;
  };
  CHECK(mentions(next(67), "store the same part of C, 32 rows by 16 columns"));
  CHECK(mentions(next(68), "Where do the two parts begin"));
  warps.wm = 128, warps.wn = 64;  // a warp that has no part of the tile
  CHECK(mentions(next(67), "the same lane of two warps"));
}

TEST_CASE("an array that is filled in part: each thread has stored less than its share") {
  Run r;
  r.launches.emplace_back();
  r.launches[0].block = {256, 1, 1};
  Finding f;
  f.kind = FindingKind::uninitialised_read;
  f.at = store_to_c(0, 0, {0, 0, 0});
  f.at.type = AccessType::load;
  f.at.space = MemorySpace::shared;
  f.at.object = "tile";
  f.at.object_bytes = 4096;
  f.at.offset = 1024;
  f.written = {{0, 1024}};
  f.written_bytes = 1024;
  const auto next = [&] { return explain(f, Tile{}, &r, ElementType::float32).next_step; };
  CHECK(mentions(next(), "4 for each of the block's 256 threads, and only the first 256"));
  f.at.offset = f.written_bytes = f.written[0].end = 2048;
  CHECK(mentions(next(), "is 2 tiles (two buffers, a ring), tile 0 has been filled and tile 1"));
  f.at.offset = f.written_bytes = f.written[0].end = 1024;
  // A ring is filled place by place.
  r.launches[0].dynamic_shared_bytes = 4096;
  CHECK(mentions(next(), "Which part of the index is too large?"));
  r.launches[0].dynamic_shared_bytes = 0;
  f.at.object = "scratch";
  f.at.object_bytes = 12288;
  f.at.offset = 4 * 264;
  f.written = {{0, 1024}, {9216, 10240}, {10752, 11776}};
  f.written_bytes = 3072;
  CHECK(mentions(next(), "scratch has parts of 384 elements"));
  CHECK(mentions(next(),
                 "only the first 256 have been stored, one after the other; this is number 264"));
}

TEST_CASE("a packed tile whose rest is not set beyond the edge") {
  Run r;
  r.a = Matrix(ElementType::float32, 1, 1, 1);
  r.b = Matrix(ElementType::float32, 1, 40, 40);
  Finding f;
  f.kind = FindingKind::uninitialised_read;
  f.at = store_to_c(0, 0, {1, 0, 0});
  f.at.type = AccessType::load;
  f.at.object = "scratch 1";
  f.at.object_bytes = std::uint64_t{4} * 128 * 16;
  f.at.offset = 4;
  f.written = {{0, 4}};
  f.written_bytes = 4;
  const Tile tile{128, 128, 16, 8, 8};
  CHECK(mentions(explain(f, tile, &r, ElementType::float32).next_step,
                 "What exists of A (1 x 1) had been stored, and nothing else"));
  f.at.object_bytes += 4;
  CHECK(mentions(explain(f, tile, &r, ElementType::float32).next_step,
                 "Everything that was stored lies before this element"));
}

TEST_CASE("a race in a ring of padded tiles asks which place is free") {
  const Tile tile{128, 256, 8, 8, 8, 64, 64};
  Run r;
  r.launches.emplace_back();
  // Three pairs of (8, 132) and (8, 256) floats.
  const auto explained = [&](std::uint64_t elements, const Tile& of) {
    Finding f;
    f.kind = FindingKind::shared_race;
    f.at = store_to_c(0, 3200, {0, 0, 0});
    f.at.space = MemorySpace::shared;
    f.at.object = "ring";
    f.at.object_bytes = 4 * elements;
    f.other = f.at;
    f.other->thread = {1, 0, 0};
    f.at.type = AccessType::load;
    return explain(f, of, &r, ElementType::float32);
  };
  const std::string asks = "Place 1 of the ring is filled and read at the same time";
  const Diagnosis d = explained(3 * 3104, tile);
  CHECK(mentions(d.next_step, asks));
  CHECK(listed(d, "if ring is a ring of 3 pairs of tiles, this is in place 1"));
  CHECK_FALSE(mentions(explained(3 * 3104 + 1, tile).next_step, asks));
  CHECK_FALSE(mentions(explained(3104, tile).next_step, "of the ring"));
  CHECK_FALSE(mentions(explained(3 * 3104, kRegisterTile).next_step, "of the ring"));
}
