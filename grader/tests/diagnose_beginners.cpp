// What a newcomer to CUDA writes first: the sentence must name the cause, not just the element.
#include <utility>

#include "common/catch2.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using grader::Operation;

namespace {

const Tile kNaive{16, 16, 1, 1, 1};
const Tile kRegisters{16, 16, 8, 4, 2};

template <typename Value>
Kernel each(Value value) {
  return [value](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.put(i, j, value(call, i, j));
  };
}

template <typename Condition>
Kernel stored_if(Condition condition) {
  return [condition](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j)
        if (condition(call, i, j)) call.put(i, j, call.element(i, j));
  };
}

/// As if launched with this grid, of blocks of 16 x 16 threads.
Evidence launched(const Kernel& kernel, const Shape& s, simgpu::Dim3 grid, std::size_t times = 1,
                  bool parts = false) {
  Evidence e = evidence(kernel, ElementType::float32, kNaive, s);
  const auto as_launched = [=](Run r) {
    r.launches.front().grid = grid;
    r.launches.front().block = {16, 16, 1};
    const simgpu::LaunchReport launch = r.launches.front();
    r.launches.assign(times, launch);
    if (!parts) return r;
    r.launches.front().total.fma_f32 = 1;
    r.launches.front().buffers.emplace_back().label = "scratch 1";
    r.launches.front().buffers.back().store.requests = 1;
    return r;
  };
  e.run = as_launched(std::move(e.run));
  e.run_probe = [kernel, as_launched](const Matrix& a, const Matrix& b, const Matrix& c) {
    return as_launched(run(kernel, a, b, c));
  };
  return e;
}

Diagnosis named(const Kernel& kernel, const Shape& s, const Tile& tile = kNaive) {
  return diagnose(evidence(kernel, ElementType::float32, tile, s));
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

bool any_has(const std::vector<std::string>& lines, const std::string& words) {
  return std::any_of(lines.begin(), lines.end(),
                     [&words](const std::string& line) { return has(line, words); });
}

}  // namespace

TEST_CASE("no launch is told from a kernel that stores nothing") {
  const Kernel nothing = [](Call&) {};
  Evidence none = launched(nothing, {19, 37, 5}, {1, 1, 1}, 0);
  CHECK(has(diagnose(none).headline, "no kernel was launched"));
  CHECK(has(diagnose(launched(nothing, {19, 37, 5}, {3, 2, 1})).next_step, "The kernel ran"));
  const Diagnosis often = diagnose(
      launched(stored_if([](Call&, int i, int) { return i < 16; }), {19, 37, 5}, {1, 1, 1}, 19));
  CHECK(any_has(often.details, "launched 19 times: grid 1 x 1"));
}

TEST_CASE("a grid that is large enough is not blamed") {
  const Kernel cut = stored_if([](Call&, int i, int j) { return i < 16 && j < 16; });
  const Diagnosis enough = diagnose(launched(cut, {19, 31, 5}, {2, 2, 1}));
  CHECK(enough.id == "UNWRITTEN");
  CHECK(has(enough.next_step, "enough threads"));
  CHECK_FALSE(has(diagnose(launched(cut, {19, 31, 5}, {1, 1, 1})).next_step, "enough threads"));
}

TEST_CASE("whose the launch is decides what is asked about it") {
  const Kernel nothing = [](Call&) {};
  const Kernel cut = stored_if([](Call&, int i, int) { return i < 16; });
  for (const bool own : {true, false}) {
    const auto asked = [own](Evidence e) {
      e.launch = own ? grader::LaunchBy::student : grader::LaunchBy::lab;
      return std::string(diagnose(e).next_step);
    };
    INFO(own);
    const std::string none = asked(launched(nothing, {19, 37, 5}, {1, 1, 1}, 0)),
                      few = asked(launched(cut, {19, 31, 5}, {2, 1, 1}));
    CHECK(has(none, "A launch looks like") == own);
    CHECK(has(few, "Where does the number of blocks come from") == own);
    for (const std::string& text : {none, few})
      CHECK(has(text, "The launch of this stage is given") != own);
  }
}

TEST_CASE("blocks in one row are numbered by the tiles of a row") {
  // As many blocks as tiles, and each row of tiles lacks its last, partial one.
  const Kernel cut = stored_if([](Call& c, int, int j) { return j < c.n / 16 * 16; });
  const auto in_one_row = [](Run r) {
    const int m = r.c_before.rows, n = r.c_before.cols;
    r.launches.front().grid = {static_cast<unsigned>((m + 15) / 16 * ((n + 15) / 16)), 1, 1};
    r.launches.front().block = {64, 1, 1};
    return r;
  };
  Evidence e = launched(cut, {37, 29, 5}, {1, 1, 1});
  e.tile = {16, 16, 8, 4, 4};
  e.run = in_one_row(std::move(e.run));
  e.run_probe = [cut, in_one_row](const Matrix& a, const Matrix& b, const Matrix& c) {
    return in_one_row(run(cut, a, b, c));
  };
  const Diagnosis d = diagnose(e);
  CHECK(d.id == "UNWRITTEN");
  CHECK(has(d.next_step, "the number of a block gives the row and the column of its tile"));
  CHECK_FALSE(any_has(d.details, "one thread per element"));
}

TEST_CASE("a grid that is too small for what each block stores") {
  // Blocks of 8 columns, and a grid as if they had 16, as the lab's tile has.
  const auto blocks = [](int n) { return (n + 15) / 16; };
  const Kernel kernel = stored_if([blocks](Call& c, int, int j) { return j < 8 * blocks(c.n); });
  Evidence e = launched(kernel, {19, 37, 5}, {1, 1, 1});
  const auto as_launched = [blocks](Run r) {
    const int m = r.c_before.rows, n = r.c_before.cols;
    r.launches.front().grid = {static_cast<unsigned>(blocks(n)), static_cast<unsigned>(blocks(m)),
                               1};
    return r;
  };
  e.tile = {16, 16, 8, 4, 4};
  e.run = as_launched(std::move(e.run));
  e.run_probe = [kernel, as_launched](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = run(kernel, a, b, c);
    r.launches.front().block = {16, 1, 1};
    return as_launched(std::move(r));
  };
  const Diagnosis d = diagnose(e);
  CHECK(d.id == "UNWRITTEN");
  CHECK(has(d.next_step, "along x, each stores 8 columns"));
  CHECK(has(d.next_step, "where you make the grid"));
  CHECK_FALSE(has(d.next_step, "enough threads"));
  e.launch = grader::LaunchBy::lab;
  const Diagnosis given = diagnose(e);
  CHECK(given.headline == d.headline);
  CHECK(has(given.next_step, "along x, each stores 8 columns"));
  CHECK(has(given.next_step, "The launch of this stage is given and has enough blocks"));
  CHECK_FALSE(has(given.next_step, "where you make the grid"));
}

TEST_CASE("elements that are missing by their value, or by where their tile lies") {
  const Diagnosis zeros =
      named(stored_if([](Call& c, int i, int j) { return c.element(i, j) != 0; }), {33, 17, 5});
  CHECK(has(zeros.headline, "exactly those that should be 0"));
  const Diagnosis inner = named(stored_if([](Call& c, int i, int j) {
                                  return (i / 16 + 1) * 16 > c.m || (j / 16 + 1) * 16 > c.n;
                                }),
                                {33, 17, 5});
  CHECK(has(inner.headline, "entirely inside C were never written"));
  const Diagnosis apart =
      named(stored_if([](Call&, int, int j) { return j % 32 < 16; }), {33, 40, 5});
  CHECK(apart.headline == "of every 32 columns of C only the first 16 were written");
  CHECK(has(apart.next_step, "blockIdx.x"));
  const Diagnosis rows =
      named(stored_if([](Call&, int i, int) { return i % 64 < 16; }), {70, 40, 5});
  CHECK(has(rows.next_step, "blockIdx.y"));
}

TEST_CASE("the sums of a thread's tile with exchanged indices") {
  // acc[j][i] += ..., where acc has 4 rows of 2 columns: place 2 * j + i has what belongs to (i, j).
  const Kernel exchanged = each([](Call& c, int i, int j) {
    const int row0 = i / 4 * 4, col0 = j / 2 * 2;
    if (row0 + 4 > c.m || col0 + 2 > c.n) return c.element(i, j);
    double sum = 0;
    for (int m = 0; m < 4; ++m)
      for (int n = 0; n < 2; ++n)
        if (2 * n + m == (i - row0) * 2 + j - col0) sum += c.element(row0 + m, col0 + n);
    return sum;
  });
  const Diagnosis d = named(exchanged, {33, 18, 5}, kRegisters);
  CHECK(d.id == "TILE-MAP");
  CHECK(has(d.headline, "acc[j][i]"));
}

TEST_CASE("indices that do not follow k") {
  const Diagnosis d = named(each([](Call& c, int i, int j) {
                              double sum = 0;
                              for (int k = 0; k < c.k; ++k)
                                sum += c.at_a(i, i % 4) * c.at_b(j % 2, j);
                              return sum;
                            }),
                            {32, 16, 8}, kRegisters);
  CHECK(d.id == "WRONG-INDEX");
  CHECK(d.headline ==
        "every step multiplies A[i][i % 4] by B[j % 2][j]: neither of them follows k");
}

TEST_CASE("both factors from one matrix, also where that goes outside of it") {
  const Diagnosis d = named(each([](Call& c, int i, int j) {
                              double sum = 0;
                              for (int k = 0; k < c.k; ++k) sum += c.at_a(i, k) * c.at_a(k, j);
                              return sum;
                            }),
                            {19, 37, 41});
  CHECK(d.id == "WRONG-MATRIX");
}

TEST_CASE("only the first k-tile") {
  const Kernel first = each([](Call& c, int i, int j) {
    double sum = 0;
    for (int k = 0; k < std::min(8, c.k); ++k) sum += c.at_a(i, k) * c.at_b(k, j);
    return sum;
  });
  const Diagnosis d = named(first, {33, 17, 40}, kRegisters);
  CHECK(d.id == "K-TILE-MISSING");
  CHECK(d.headline == "only the first k-tile (k = 0..7) is in the sum");
  CHECK(has(d.next_step, "rounds after the first"));
  CHECK(has(d.next_step, "move on by more k than a tile has"));
  // By a kernel, and another one that adds up what several blocks have summed.
  Evidence shared = launched(first, {33, 17, 40}, {2, 1, 1}, 2, true);
  shared.tile = kRegisters;
  const Diagnosis parts = diagnose(shared);
  CHECK(parts.headline == d.headline);
  CHECK(has(parts.next_step, "Several blocks share a sum"));
  // A second launch alone shares nothing.
  Evidence twice = launched(first, {33, 17, 40}, {2, 1, 1}, 2);
  twice.tile = kRegisters;
  CHECK_FALSE(has(diagnose(twice).next_step, "Several blocks share a sum"));
}

TEST_CASE("C's old NaN in the result") {
  const Kernel times_zero =
      each([](Call& c, int i, int j) { return c.old(i, j) * 0 + c.element(i, j); });
  Evidence e = evidence(times_zero, ElementType::float32, kNaive, {5, 7, 3});
  CHECK_FALSE(has(diagnose(e).headline, "C is read"));  // nothing says that it was
  simgpu::BufferCounts c;
  c.label = "C";
  c.load.requests = 2;
  e.run.launches.front().buffers.push_back(c);
  CHECK(diagnose(e).id == "ACCUMULATES");
}

TEST_CASE("a copy of nothing but zeros has no accumulator to ask for") {
  const Kernel zero = [](Call& c) {
    for (int i = 0; i < c.m; ++i)
      for (int k = 0; k < c.k; ++k) c.put(i, k, 0);
  };
  Evidence e = evidence(zero, ElementType::float32, kNaive, {17, 9, 9});
  e.operation = Operation::copy_a;
  const Diagnosis d = diagnose(e);
  CHECK(d.id == "ALL-ZERO");
  CHECK_FALSE(has(d.next_step, "accumulator"));
}

TEST_CASE("= for += shows also where the last tile is filled up with zeros") {
  const auto last = [](int count) {
    return each([count](Call& c, int i, int j) {
      double sum = 0;
      const int padded = (c.k + 7) / 8 * 8;  // a k-tile of 8, zeros beyond K
      for (int k = std::max(0, padded - count); k < c.k; ++k) sum += c.at_a(i, k) * c.at_b(k, j);
      return sum;
    });
  };
  CHECK(named(last(1), {17, 9, 12}, kRegisters).id == "K-ONLY-LAST");
  const Diagnosis four = named(last(4), {17, 9, 12}, kRegisters);
  CHECK(four.id == "K-ONLY-LAST");
  CHECK(named(
            [](Call& c) {
              for (int i = 0; i < c.m; ++i)
                for (int j = 0; j < c.n; ++j) c.put(i, j, 0);
            },
            {17, 9, 12}, kRegisters)
            .id == "ALL-ZERO");
}

TEST_CASE("factors that are added up, and the largest product") {
  const Diagnosis grown = named(each([](Call& c, int i, int j) {
                                  double sum = 0, a = 0;
                                  for (int k = 0; k < c.k; ++k)
                                    sum += (a += c.at_a(i, k)) * c.at_b(k, j);
                                  return sum;
                                }),
                                {17, 9, 12});
  CHECK(grown.headline ==
        "step k multiplies the sum of A's elements up to k: the factors grow from step to step");
  const Diagnosis most = named(each([](Call& c, int i, int j) {
                                 double value = 0;
                                 for (int k = 0; k < c.k; ++k)
                                   value = std::max(value, c.at_a(i, k) * c.at_b(k, j));
                                 return value;
                               }),
                               {17, 9, 12});
  CHECK(most.id == "WRONG-OPERATOR");
}

TEST_CASE("one of the two factors of an outer product at the other one's index") {
  // Half of the places are beyond the end of the shorter array: what they hold is not known.
  const auto mixed = [](bool of_a) {
    return each([of_a](Call& c, int i, int j) {
      const int row = of_a ? i / 2 * 2 + j % 4 : i, col = of_a ? j : j / 2 * 2 + i % 4;
      const bool beyond = (of_a ? j : i) % 4 >= 2;
      return !beyond && row < c.m && col < c.n ? c.element(row, col) : 1e6;
    });
  };
  const Tile wide{16, 16, 8, 2, 4};
  CHECK(has(named(mixed(true), {32, 16, 8}, wide).headline, "a_k[j] where a_k[i]"));
  CHECK(has(named(mixed(false), {32, 16, 8}, kRegisters).headline, "b_k[i] where b_k[j]"));
}

TEST_CASE("a launch that is too small is told from a kernel that ends too early") {
  const auto rows = [](int first) {
    return stored_if([first](Call&, int i, int) { return i < first; });
  };
  const Diagnosis few = diagnose(launched(rows(32), {70, 31, 5}, {2, 2, 1}));
  CHECK(has(few.next_step, "Along y the launch has 2 blocks of 16 threads: enough for 32 rows"));
  const Diagnosis columns = diagnose(
      launched(stored_if([](Call&, int, int j) { return j < 16; }), {16, 40, 5}, {1, 1, 1}));
  CHECK(has(columns.next_step, "Along x the launch has one block of 16 threads"));
  CHECK_FALSE(has(diagnose(launched(rows(20), {70, 31, 5}, {2, 2, 1})).next_step, "Along y"));

  Evidence flat = launched(rows(1), {70, 31, 5}, {2, 1, 1});
  flat.run.launches.front().block = {16, 1, 1};
  const auto probe = flat.run_probe;
  flat.run_probe = [probe](const Matrix& a, const Matrix& b, const Matrix& c) {
    auto r = probe(a, b, c);
    r->launches.front().block = {16, 1, 1};
    return r;
  };
  CHECK(has(diagnose(flat).next_step, "threadIdx.y are always 0, and so is the row"));
}

TEST_CASE("where a thread has one element nothing is said of loops over its tile") {
  // Blocks begin 1 apart and threads 16: blockIdx and threadIdx have changed places.
  const auto far = stored_if([](Call&, int i, int j) { return i % 16 < 3 && j % 16 < 3; });
  const Diagnosis d = diagnose(launched(far, {40, 50, 5}, {4, 3, 1}));
  CHECK(d.id == "UNWRITTEN");
  CHECK(has(d.next_step, "threads 0 and 1 of the first block"));
  CHECK_FALSE(has(d.next_step, "loop"));
}

TEST_CASE("one row or column that is missing may be a bound that is one short") {
  const auto all_but_last = stored_if([](Call& c, int, int j) { return j < c.n - 1; });
  const Diagnosis d = named(all_but_last, {33, 17, 5}, {16, 16, 8, 4, 4});
  CHECK(d.id == "UNWRITTEN");
  CHECK(has(d.next_step, "one too short"));
}

TEST_CASE("what is stored over a finished C is told from an accumulator that stays 0") {
  const Kernel nothing_left = each([](Call&, int, int) { return 0.0; });
  const Shape s{5, 7, 3};
  const std::uint64_t bytes = 5 * 7 * 4;
  simgpu::BufferCounts a, c;
  a.label = "A", a.load.requests = 4;
  c.label = "C", c.store.bytes = bytes;
  simgpu::LineCounts store;
  store.where.line = 57;
  store.counts.global_store.bytes = bytes;
  Evidence e = evidence(nothing_left, ElementType::float32, kNaive, s);
  simgpu::LaunchReport& computes = e.run.launches.front();
  computes.kernel = "void naive_kernel<float>(int)";
  computes.buffers = {a, c};
  computes.lines.push_back(store);
  CHECK(diagnose(e).id == "ALL-ZERO");

  const auto filled = [&](std::uint64_t begin, std::uint64_t end, std::size_t launches) {
    Evidence with = e;
    with.run.fills = {{begin, end, launches}};
    return diagnose(with);
  };
  const Diagnosis d = filled(0, bytes, 1);
  CHECK(d.id == "OVERWRITTEN");
  CHECK(d.headline == "a memset overwrites C after naive_kernel<float> (line 57) has stored to it");
  CHECK(d.place.line == 57);
  CHECK(filled(8, 40, 1).id == "OVERWRITTEN");
  CHECK(filled(0, bytes, 0).id == "ALL-ZERO");  // before the kernel, as where it adds
  CHECK(filled(8, 10, 1).id == "ALL-ZERO");     // not one whole element

  // A kernel that only stores, after it or before it.
  simgpu::LaunchReport clears;
  clears.kernel = "void clear<float>(int)";
  clears.buffers = {c};
  Evidence after = e, before = e, part = e, copies = e;
  after.run.launches.push_back(clears);
  CHECK(diagnose(after).headline ==
        "clear<float> overwrites C after naive_kernel<float> (line 57) has stored to it");
  before.run.launches.insert(before.run.launches.begin(), clears);
  CHECK(diagnose(before).id == "ALL-ZERO");
  // A memset between them is not the last word.
  after.run.fills = {{0, bytes, 1}};
  CHECK(diagnose(after).id == "OVERWRITTEN");
  CHECK(has(diagnose(after).headline, "clear<float>"));
  clears.buffers.front().store.bytes = bytes - 4;
  part.run.launches.push_back(clears);
  CHECK(diagnose(part).id == "ALL-ZERO");
  clears.buffers = {a, c};
  copies.run.launches.push_back(clears);
  CHECK(diagnose(copies).id == "ALL-ZERO");
  // Right all the same: nothing to say.
  Evidence right = evidence(each([](Call& call, int i, int j) { return call.element(i, j); }),
                            ElementType::float32, kNaive, s);
  right.run.fills = {{0, bytes, 1}};
  CHECK(diagnose(right).id == "none");
}

TEST_CASE("the two numbers of blocks exchanged") {
  // 32 x 8 threads: as many blocks along x as cover the rows by 8, along y the columns by 32.
  const auto call = [](const Matrix& a, const Matrix& b, const Matrix& c) {
    const int x = (a.rows + 7) / 8, y = (b.cols + 31) / 32;
    Run r = run(stored_if([=](Call&, int i, int j) { return j < 32 * x && i < 8 * y; }), a, b, c);
    r.launches[0].grid = {static_cast<unsigned>(x), static_cast<unsigned>(y), 1};
    r.launches[0].block = {32, 8, 1};
    return r;
  };
  Evidence e = evidence(stored_if([](Call&, int, int) { return true; }), ElementType::float32,
                        kNaive, {17, 33, 65});
  e.run = call(e.run.a, e.run.b, e.run.c_before);
  e.run_probe = call;
  const Diagnosis d = diagnose(e);
  CHECK(d.id == "SWAPPED-EXTENTS");
  CHECK(d.headline ==
        "M and N are swapped: the grid covers 16 rows and 96 columns, C has 17 and 33");
}
