// Labs in which warps have tiles and lanes have registers: whose index is wrong, and which part of it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "common/catch2.hpp"
#include "grader/diagnose/hypotheses.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using grader::Operation;
using simgpu::Access;
using simgpu::AccessType;
using simgpu::Actor;
using simgpu::FindingKind;
using simgpu::MemorySpace;

namespace {

const Tile kOfWarps{32, 32, 16, 0, 0, 16, 16};

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

Access of_thread(AccessType type, MemorySpace space, std::int64_t offset, unsigned thread) {
  Access a;
  a.type = type;
  a.space = space;
  a.where = {"mma.cu", 90};
  a.object = space == MemorySpace::global ? "C" : "memory";
  a.offset = offset;
  a.address = static_cast<std::uint64_t>(offset);
  a.object_bytes = 6144;
  a.bytes = 4;
  a.thread = {thread, 0, 0};
  return a;
}

simgpu::Finding found(FindingKind kind, const Access& at) {
  simgpu::Finding f;
  f.kind = kind;
  f.at = at;
  return f;
}

/// What is said of `f`, found in a right call of 40 x 30 x 50 with that grid.
Diagnosis told(const simgpu::Finding& f, simgpu::Dim3 grid) {
  const auto call = [f, grid](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = run(
        [](Call& k) {
          for (int i = 0; i < k.m; ++i)
            for (int j = 0; j < k.n; ++j) k.put(i, j, k.element(i, j));
        },
        a, b, c);
    r.launches[0].grid = grid;
    r.launches[0].block = {128, 1, 1};
    r.launches[0].findings = {f};
    return r;
  };
  Evidence e;
  e.tile = kOfWarps;
  e.small_integers = true;
  e.run = call(random_matrix(e.type, 40, 50, 0, inputs::SplitMix64(1), true),
               random_matrix(e.type, 50, 30, 0, inputs::Pcg(1), true), Matrix(e.type, 40, 30, 30));
  e.run_probe = call;
  return diagnose(e);
}

/// A product of which C[i][j] is what `value` says.
template <typename Value>
Diagnosis product_of(Value value, const Shape& s, const Tile& tile = kOfWarps) {
  const Kernel kernel = [value](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.put(i, j, value(call, i, j));
  };
  return diagnose(evidence(kernel, ElementType::float32, tile, s));
}

/// C with each k counted as often as `weight` says.
template <typename Weight>
Diagnosis counted(Weight weight, const Shape& s, const Tile& tile = kOfWarps) {
  return product_of(
      [weight](Call& c, int i, int j) {
        double sum = 0;
        for (int k = 0; k < c.k; ++k) sum += weight(c, k) * c.at_a(i, k) * c.at_b(k, j);
        return sum;
      },
      s, tile);
}

}  // namespace

TEST_CASE("a register that nobody set is told by the elements that are NaN") {
  const auto in = [](int width) {
    return product_of(
        [width](Call& c, int i, int j) { return j % 16 < width ? c.element(i, j) : std::nan(""); },
        {64, 64, 40});
  };
  const Diagnosis half = in(8);
  CHECK(half.id == "WRONG-PART");
  CHECK(says(half.headline, "C is NaN in columns 8..15 of every 16"));
  CHECK(says(half.next_step, "a fragment"));
  const Diagnosis wrong =
      product_of([](Call& c, int i,
                    int j) { return c.element(i, j) + (j % 16 < 8 ? 0 : 1 + (i * 7 + j) % 5); },
                 {64, 64, 40});
  CHECK(wrong.id == "WRONG-PART");
  CHECK_FALSE(says(wrong.headline, "NaN"));
}

TEST_CASE("a thread that leaves its block's tile is told from the one that owns it") {
  // C[35][0] is in the second of two tiles of 32 x 32.
  auto race = found(FindingKind::global_race,
                    of_thread(AccessType::store, MemorySpace::global, 35 * 30 * 4, 0));
  race.at.block = {0, 1, 0};
  race.other = of_thread(AccessType::store, MemorySpace::global, 35 * 30 * 4, 96);
  const Diagnosis left = told(race, {1, 2, 1});
  CHECK(left.id == "RACE-WAW");
  CHECK(says(left.next_step, "Thread (96, 0) of block (0, 0) leaves"));
  CHECK(says(left.next_step, "row 35, and its last row is 31"));
  // A grid that does not count tiles does not tell whose tile it is.
  CHECK(says(told(race, {2, 1, 1}).next_step, "One of the two has left its block's tile"));
  race.other->block = {0, 1, 0};
  race.other->thread = {33, 0, 0};
  CHECK(says(told(race, {1, 2, 1}).next_step, "The parts of warps 0 and 1 overlap"));
  race.other->thread = {3, 0, 0};
  CHECK_FALSE(says(told(race, {1, 2, 1}).next_step, "warps 0"));
}

TEST_CASE("warps that store to one place of shared memory need a part each") {
  auto race =
      found(FindingKind::shared_race, of_thread(AccessType::store, MemorySpace::shared, 64, 0));
  race.other = of_thread(AccessType::store, MemorySpace::shared, 64, 32);
  race.at.actor = race.other->actor = Actor::warp;
  const auto next = [&] {
    return explain(race, kOfWarps, nullptr, ElementType::float32).next_step;
  };
  CHECK(says(next(), "Does each warp have its own part of shared memory"));
  race.other->thread = {33, 0, 0};
  CHECK_FALSE(says(next(), "Does each warp have its own part"));
}

TEST_CASE("copies of one thread that overlap are told from one place that is filled twice") {
  auto race =
      found(FindingKind::shared_race, of_thread(AccessType::store, MemorySpace::shared, 1024, 0));
  race.other = race.at;
  race.at.actor = race.other->actor = Actor::engine;
  race.other->bytes = 4096;
  const auto explained = [&] { return explain(race, kOfWarps, nullptr, ElementType::float16); };
  CHECK(says(explained().headline, "is filled again"));
  race.other->offset = 0;
  CHECK(says(explained().headline, "their places overlap"));
  CHECK(says(explained().next_step, "fills 4096 bytes, and the other begins 1024 bytes"));
}

TEST_CASE("the first lane that is not aligned tells what its index is made of") {
  auto wide =
      found(FindingKind::misaligned, of_thread(AccessType::load, MemorySpace::shared, 132, 36));
  wide.at.bytes = 16;
  const auto next = [&] {
    return explain(wide, kOfWarps, nullptr, ElementType::float32).next_step;
  };
  CHECK(says(next(), "comes from lane / 4"));
  wide.at.thread.x = 33;
  CHECK(says(next(), "comes from the lane's number"));
  wide.at.thread.x = 37;  // none that begins a group
  CHECK(says(next(), "Every part of the index"));
  wide.at.thread.x = 32;  // no lane's number adds anything
  CHECK(says(next(), "This is lane 0 of warp 1"));
  CHECK(says(next(), "the step from one piece or fragment to the next"));
  wide.at.thread.x = 0;
  CHECK(says(next(), "Every part of the index"));
}

TEST_CASE("behind the end of dynamic shared memory it is the launch or a row") {
  // Tiles of 32 x 16 and 16 x 32 floats take 4096 bytes together.
  Run r;
  r.launches.resize(1);
  r.launches[0].dynamic_shared_bytes = 4096;
  auto beyond =
      found(FindingKind::out_of_bounds, of_thread(AccessType::store, MemorySpace::shared, 4096, 0));
  beyond.at.object_bytes = 4096;
  const auto next = [&] { return explain(beyond, kOfWarps, &r, ElementType::float32).next_step; };
  CHECK(says(next(), "for every place of a ring (STAGES times as much)"));
  beyond.at.offset += 4;
  CHECK(says(next(), "Do all tiles fit into that?"));
  beyond.at.type = AccessType::load;
  CHECK(says(next(), "row 16 of B's tile does not exist"));
  r.launches[0].dynamic_shared_bytes = 0;  // an array of a fixed size
  CHECK(says(next(), "A shared array has a fixed size"));
}

TEST_CASE("as many k-tiles as another extent takes") {
  const auto ends = [](auto extent) {
    return counted([extent](Call& c, int k) { return k < (extent(c) + 15) / 16 * 16 ? 1 : 0; },
                   {17, 33, 65});
  };
  const Diagnosis rows = ends([](const Call& c) { return c.m; });
  CHECK(rows.id == "SWAPPED-EXTENTS");
  CHECK(says(rows.headline, "as many as M = "));
  CHECK(says(ends([](const Call& c) { return c.n; }).headline, "as many as N = "));
  CHECK(ends([](const Call&) { return 16; }).id != "SWAPPED-EXTENTS");
}

TEST_CASE("where k-tiles begin is told by how often each k is counted") {
  const auto begins = [](int second) {
    return counted(
        [second](Call&, int k) {
          int windows = k >= 48 ? 1 : 0;
          for (const int first : {0, 3 * second, 20 * second})
            if (k >= first && k < first + 16) ++windows;
          return windows;
        },
        {17, 33, 57});
  };
  const Diagnosis one = begins(1);
  CHECK(one.id == "K-TILE-REPEATED");
  CHECK(says(one.headline, "begin at k = 0, 3, 20"));
  CHECK(says(one.headline, "should begin at 0, 16, 32"));
  CHECK_FALSE(says(begins(0).headline, "begin at k"));  // a whole tile is there twice
}

TEST_CASE("a last k-tile that is moved until all of it is there") {
  const auto moved = [](int length, bool shared) {
    std::vector<int> counts(41);
    for (int k = 0; k < 41; ++k)
      counts[static_cast<std::size_t>(k)] = (k < 32 ? 1 : 0) + (k >= 41 - length ? 1 : 0);
    const auto d = grader::diag::name_starts(counts, {16}, grader::diag::Starts::any, shared);
    return d ? d->headline : "";
  };
  CHECK(says(moved(16, true), "the last k-tile begins at k = 25"));
  CHECK(says(moved(16, true), "k = 25..31 are added twice"));
  CHECK_FALSE(says(moved(14, true), "ends with the sum"));
  // In one block's loop this may be what the tile before has left.
  CHECK_FALSE(says(moved(16, false), "ends with the sum"));
}

TEST_CASE("a few steps are told one by one") {
  const auto lost = [](Call&, int k) { return k == 15 || k == 31 || k == 40 ? 0 : 1; };
  CHECK(says(counted(lost, {17, 33, 41}).headline, "k = 15, 31, 40 are missing from the sum"));
  const auto again = [](Call&, int k) { return k == 13 || k == 14 || k == 29 ? 2 : 1; };
  CHECK(says(counted(again, {17, 33, 41}).headline, "k = 13, 14, 29 are added 2 times"));
  const auto replaced = [](int from) {
    return counted(
        [from](Call&, int k) {
          return k == 16 || k == 32 ? 0 : k == 16 + from || k == 32 + from ? 2 : 1;
        },
        {17, 33, 41});
  };
  const Diagnosis old = replaced(-2), later = replaced(2);
  CHECK(old.id == "K-TILE-REPEATED");
  CHECK(says(old.headline,
             "k = 14, 30 are added twice, and k = 16, 32 never: what was loaded before"));
  CHECK(says(later.headline,
             "k = 18, 34 are added twice, and k = 16, 32 never: what was loaded for later"));
}

TEST_CASE("every step inside a k-tile takes the k of the first one") {
  const Tile deep{32, 32, 32, 0, 0, 16, 16};
  const auto stuck = [](Call&, int k) { return k % 32 < 8 ? 4 : 0; };
  const Diagnosis d = counted(stuck, {17, 33, 81}, deep);
  CHECK(d.id == "K-TILE-REPEATED");
  CHECK(says(d.headline, "of every 32 k, the first 8 are added 4 times and the others never"));
}

TEST_CASE("one of two sets that should take turns") {
  const Tile deep{32, 32, 64, 0, 0, 16, 16};
  // The first group is loaded before the turns begin, and multiplied once.
  const auto turns = [](Call&, int k) { return k < 16 ? 1 : k / 16 % 2 == 0 ? 2 : 0; };
  const Diagnosis d = counted(turns, {17, 33, 256}, deep);
  INFO(d.headline);
  CHECK(d.id == "K-TILE-REPEATED");
  CHECK(says(d.headline, "of every two groups of 16 k"));
  // Whole k-tiles are no fragments.
  CHECK_FALSE(says(counted(turns, {17, 33, 256}).headline, "of every two groups"));
}

TEST_CASE("elements of both operands that are stored over others") {
  const auto taken = [](int of_a, int of_b) {
    return product_of(
        [=](Call& c, int i, int j) {
          double sum = 0;
          for (int k = 0; k < (c.k + 3) / 4 * 4; ++k) {
            const int ka = k % 4 == of_a ? k + 2 : k, kb = k % 4 == of_b ? k + 1 : k;
            if (ka < c.k && kb < c.k) sum += c.at_a(i, ka) * c.at_b(kb, j);
          }
          return sum;
        },
        {17, 33, 41});
  };
  const Diagnosis d = taken(0, 1);
  CHECK(d.id == "WRONG-ELEMENT");
  CHECK(says(d.headline, "elements of A, and of B, do not arrive: A[0][0] is in no"));
  CHECK(says(d.headline, "and A[0][2] is there in its place"));
}

TEST_CASE("a pointer that goes on along a row of B") {
  const auto walks = [](int tile) {
    return product_of(
        [=](Call& c, int i, int j) {
          double sum = 0;
          for (int k = 0; k < c.k; ++k) {
            const int inside = k % tile, gone = k - inside;
            sum += c.at_a(i, k) * c.b.read(static_cast<std::int64_t>(inside) * c.b.ld() + j + gone);
          }
          return sum;
        },
        {17, 33, 41});
  };
  const Diagnosis each = walks(1);
  CHECK(each.id == "WRONG-ELEMENT");
  CHECK(says(each.headline, "B is walked along a row: in step k = 1, C[0][0] takes B[0][1]"));
  CHECK(
      says(each.next_step, "moves on by one element in every step, and it should move on by one"));
  const Diagnosis tiles = walks(8);
  CHECK(says(tiles.headline, "in step k = 8, C[0][0] takes B[0][8] where B[8][0] belongs"));
  CHECK(
      says(tiles.next_step, "by 8 elements after every 8 steps, and it should move on by 8 rows"));
}

TEST_CASE("runs of which only C is looked at look for no races") {
  const Kernel kernel = [](Call& c) {
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int k = 0; k < c.k; ++k)
          sum += c.at_a(i, k) * c.at_b(k, k % 4 == 1 ? (j ^ 1) % c.n : j);
        c.put(i, j, sum);
      }
  };
  Evidence e = evidence(kernel, ElementType::float32, kOfWarps, {17, 34, 41});
  const Diagnosis expected = diagnose(e);
  int checked = 0, unchecked = 0;
  const auto counting = [probe = e.run_probe](int& count) {
    return [probe, &count](const Matrix& a, const Matrix& b, const Matrix& c) {
      ++count;
      return probe(a, b, c);
    };
  };
  e.run_probe = counting(checked);
  e.run_unchecked = counting(unchecked);
  const Diagnosis d = diagnose(e);
  CHECK(d.id == "WRONG-ELEMENT");
  CHECK(d.headline == expected.headline);
  CHECK(unchecked > 2 * 41);  // two for each k
  CHECK(checked < 20);
}

TEST_CASE("parts whose first row and column are exchanged, and columns that are off") {
  const auto from = [](auto place) {
    const Kernel kernel = [place](Call& call) {
      for (int i = 0; i < call.m; ++i)
        for (int j = 0; j < call.n; ++j)
          if (const auto [r, q] = place(i, j); r < call.m && q < call.n)
            call.put(i, j, call.element(r, q));
    };
    return diagnose(evidence(kernel, ElementType::float32, kOfWarps, {64, 64, 40}));
  };
  const Diagnosis parts = from([](int i, int j) {
    return std::pair{i / 32 * 32 + j % 32 / 8 * 8 + i % 8, j / 32 * 32 + i % 32 / 8 * 8 + j % 8};
  });
  CHECK(parts.id == "TILE-MAP");
  CHECK(says(parts.headline, "the 8 x 8 parts are right, but their rows and columns"));
  const Diagnosis shifted = from([](int i, int j) {
    return std::pair{i, j % 4 == 3 ? j - 2 : j % 4 > 0 ? j + 1 : j};
  });
  CHECK(shifted.id == "TILE-MAP");
  CHECK(says(shifted.next_step, "the column is off by 1"));
  const Diagnosis pairs = from([](int i, int j) {
    return std::pair{i, j % 4 == 1 ? j + 1 : j % 4 == 2 ? j - 1 : j};
  });
  CHECK(says(pairs.next_step, "C[0][1] and C[0][2] are swapped"));
}

TEST_CASE("a copy of which several elements come from one place") {
  const Kernel kernel = [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int k = 0; k < call.k; ++k) call.put(i, k, call.at_a(i / 2 * 2, k));
  };
  Evidence e = evidence(kernel, ElementType::float32, kOfWarps, {64, 16, 64});
  e.operation = Operation::copy_a;
  e.run =
      run(kernel, e.run.a, e.run.b, with_poison(Matrix(ElementType::float32, 64, 64, 64), true));
  const Diagnosis d = diagnose(e);
  CHECK(d.id == "TILE-MAP");
  CHECK(says(d.next_step, "C[1][0] and C[0][0] hold the same element"));
}

TEST_CASE("threads that store fewer elements than their share are told how many") {
  const Kernel kernel = [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j)
        if (i % 8 < 4) call.put(i, j, call.element(i, j));
  };
  const auto with_threads = [&kernel](unsigned threads) {
    Evidence e = evidence(kernel, ElementType::float32, kOfWarps, {64, 64, 40});
    const auto launched = [threads](Run r) {
      r.launches[0].block = {threads, 1, 1};
      r.launches[0].grid = {static_cast<unsigned>(r.c_before.cols + 31) / 32,
                            static_cast<unsigned>(r.c_before.rows + 31) / 32, 1};
      return r;
    };
    e.run = launched(e.run);
    e.run_probe = [=](const Matrix& a, const Matrix& b, const Matrix& c) {
      return launched(run(kernel, a, b, c));
    };
    return diagnose(e);
  };
  CHECK(with_threads(128).id == "UNWRITTEN");
  CHECK(says(with_threads(128).next_step, "128 threads store 512 of the 1024 elements"));
  CHECK(says(with_threads(128).next_step, "4 each; it takes 8 each"));
  CHECK_FALSE(says(with_threads(96).next_step, "each; it takes"));  // no equal shares
}

TEST_CASE("elements of A and B that meet at different k: neither is blamed") {
  // Four k and the next four change places, as where two fragments exchange registers.
  const auto order = [](int k) { return k % 16 / 4 == 1 ? k + 4 : k % 16 / 4 == 2 ? k - 4 : k; };
  for (const bool of_a : {true, false}) {
    const Diagnosis d = product_of(
        [=](Call& c, int i, int j) {
          double sum = 0;
          for (int k = 0; k < (c.k + 15) / 16 * 16; ++k) {
            const int other = order(k), ka = of_a ? other : k, kb = of_a ? k : other;
            if (ka < c.k && kb < c.k) sum += c.at_a(i, ka) * c.at_b(kb, j);
          }
          return sum;
        },
        {32, 32, 32});
    CHECK(d.id == "WRONG-ELEMENT");
    INFO(d.headline);
    CHECK(says(d.headline, "C[0][0] contains the product A[0][4] * B[8][0]"));
    CHECK(says(d.next_step, "either of the two may be out of order"));
  }
}

TEST_CASE("tiles that change places are asked for the number that blocks have") {
  const auto with_grid = [](bool in_one_row) {
    const Kernel kernel = [in_one_row](Call& call) {
      const int down = (call.m + 31) / 32, across = (call.n + 31) / 32;
      const auto size = [](int n) { return static_cast<unsigned>(n); };
      call.grid = in_one_row ? simgpu::Dim3{size(down * across), 1, 1}
                             : simgpu::Dim3{size(across), size(down), 1};
      const bool even = down % 2 == 0;  // rows of tiles change places in pairs
      for (int i = 0; i < call.m; ++i)
        for (int j = 0; j < call.n; ++j) {
          const int other = (i / 32 ^ 1) * 32 + i % 32;
          call.put(i, j, call.element(even && other < call.m ? other : i, j));
        }
    };
    return diagnose(evidence(kernel, ElementType::float32, kOfWarps, {128, 64, 48}));
  };
  CHECK(says(with_grid(true).headline, "tiles of C are in the wrong places"));
  CHECK(says(with_grid(true).next_step, "The blocks lie in one row"));
  CHECK(says(with_grid(false).headline, "tiles of C are in the wrong places"));
  CHECK(says(with_grid(false).next_step, "Which of blockIdx.x and blockIdx.y"));
}

TEST_CASE("a part of a sum that is another tile's, where blocks hand over their sums") {
  const Kernel kernel = [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) {
        double sum = 0;
        for (int k = 0; k < call.k; ++k)
          sum += call.at_a(i, k) * call.at_b(k, k < call.k / 2 ? j : j % 32);
        call.put(i, j, sum);
      }
  };
  const auto diagnosed = [&kernel](const char* label) {
    const auto stored = [label](Run r) {
      r.launches[0].buffers.emplace_back();
      r.launches[0].buffers.back().label = label;
      r.launches[0].buffers.back().store.requests = 1;
      return r;
    };
    Evidence e = evidence(kernel, ElementType::float64, kOfWarps, {32, 64, 64});
    e.run = stored(e.run);
    e.run_probe = [=](const Matrix& a, const Matrix& b, const Matrix& c) {
      return stored(run(kernel, a, b, c));
    };
    return diagnose(e);
  };
  const Diagnosis d = diagnosed("scratch 1");
  INFO(d.headline);
  CHECK(d.id == "SUMS-MIXED");
  CHECK(says(d.headline, "C[0][32] holds what belongs to C[0][0]"));
  CHECK(diagnosed("C").id != "SUMS-MIXED");
}

TEST_CASE("a large shape is halved as long as it is wrong before it is looked into") {
  int large = 0;
  const Kernel kernel = [&large](Call& call) {
    large += static_cast<double>(call.m) * call.n * call.k > 4e6;
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j)
        call.put(i, j, call.element(i, j) + (call.k > 300 && call.n > 60 && i % 3 == j % 5));
  };
  const Evidence e = evidence(kernel, ElementType::float32, kOfWarps, {64, 128, 800});
  const auto least = halved_case(e, {64, 128, 800}, 1);
  REQUIRE(least);
  CHECK(least->wrong > 0);
  CHECK(least->k > 300);
  CHECK(static_cast<double>(least->m) * least->n * least->k <= 4e6);
  CHECK(large == 1);  // the call itself
}
