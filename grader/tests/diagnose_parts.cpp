// Which index went too far, which part of C is wrong, which step or part of a factor it is: what is
// said where a formula for all of C is not found.
#include <bit>
#include <cmath>
#include <utility>

#include "common/catch2.hpp"
#include "common/tests/matchers.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using grader::Operation;
using simgpu::AccessType;
using simgpu::FindingKind;

namespace {

const Tile kNaive{16, 16, 16, 1, 1};
const Tile kRegisters{16, 16, 8, 4, 4};

template <typename Value>
Kernel each(Value value) {
  return [value](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.put(i, j, value(call, i, j));
  };
}

Diagnosis named(const Kernel& kernel, const Shape& s, const Tile& tile = kRegisters) {
  return diagnose(evidence(kernel, ElementType::float32, tile, s));
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

/// Reads or stores one element more, on top of the right result.
template <typename Where>
Kernel and_touches(Where where) {
  return [where](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.put(i, j, call.element(i, j));
    where(call);
  };
}

}  // namespace

TEST_CASE("out of bounds: the index that goes too far is told where rows follow each other") {
  const Shape dense{17, 33, 65};
  // One behind the last element of A is A[17][0] and A[16][65]: only one of the two is meant.
  const Diagnosis row = named(and_touches([](Call& c) { c.at_a(c.m, 0); }), dense);
  CHECK(row.headline == "line 31 reads A[17][0], past its end: A is 17 x 65");
  CHECK(has(row.next_step, "The row is 17 here"));
  CHECK(has(row.next_step, "below M"));
  CHECK(has(row.next_step,
            "a min() with M - 1? Check that test: does it compare this row, with <, or limit it?"));
  CHECK(has(row.next_step, "and must return if either is outside (||)"));
  const Diagnosis k = named(and_touches([](Call& c) { c.at_a(c.m - 1, c.k); }), dense);
  CHECK(k.headline == "line 31 reads A[16][65], past its end: A is 17 x 65");
  CHECK(has(k.next_step, "The columns of A are counted by k: the last is 64"));
  CHECK(has(k.next_step, "or several k, what skips the ones beyond K?"));
  const Diagnosis of_b = named(and_touches([](Call& c) { c.at_b(c.k, 3); }), dense);
  CHECK(has(of_b.next_step, "The rows of B are counted by k"));
  const Diagnosis col = named(and_touches([](Call& c) { c.put(c.m - 1, c.n + 4, 0); }), dense);
  CHECK(col.headline == "line 40 writes C[16][37], past its end: C is 17 x 33");
  CHECK(has(col.next_step, "The column is 37 here"));
  // A bound is at fault, and not its absence, where only one other extent decides.
  const auto rows_below = [](auto bound) {
    return and_touches([bound](Call& c) {
      for (int i = c.m; i < bound(c); ++i) c.at_a(i, 0);
    });
  };
  const Diagnosis by_n = named(rows_below([](const Call& c) { return c.n; }), dense);
  CHECK(by_n.headline == "line 31 reads A[17][0], past its end: A is 17 x 65");
  CHECK(has(by_n.next_step, "only where N, the columns of C, is larger than M"));
  const Diagnosis by_k = named(rows_below([](const Call& c) { return c.k; }), dense);
  CHECK(has(by_k.next_step, "only where K, the columns of A, is larger than M"));
  const auto of_either = rows_below([](const Call& c) { return std::max(c.n, c.k); });
  CHECK(has(named(of_either, dense).next_step, "a guard, or a min() with"));
  const auto columns_below_m = and_touches([](Call& c) {
    for (int j = c.n; j < c.m; ++j) c.put(c.m - 1, j, 0);
  });
  CHECK(has(named(columns_below_m, {65, 33, 17}).next_step,
            "only where M, the rows of C, is larger than N"));
  const Diagnosis both = named(and_touches([](Call& c) { c.put(c.m, c.n, 0); }), dense);
  CHECK(has(both.next_step, "Row and column are both too large"));
  const Diagnosis before = named(and_touches([](Call& c) { c.at_a(-2, 5); }), dense);
  CHECK(before.headline == "line 31 reads A[-2][5], before its start");
  const Diagnosis left = named(and_touches([](Call& c) { c.at_b(0, -3); }), dense);
  CHECK(left.headline == "line 31 reads B[0][-3], before its start");
  CHECK(has(left.next_step, "The column is -3"));
}

TEST_CASE("out of bounds where nothing hangs over an edge is no missing guard") {
  // 16 x 16 threads a block, and as many blocks as it takes, or one more along each extent.
  const auto judged = [](const Kernel& kernel, unsigned more) {
    const auto as_launched = [more](Run r) {
      r.launches.front().grid = {(static_cast<unsigned>(r.c_before.cols) + 15) / 16 + more,
                                 (static_cast<unsigned>(r.c_before.rows) + 15) / 16 + more, 1};
      r.launches.front().block = {16, 16, 1};
      return r;
    };
    Evidence e = evidence(kernel, ElementType::float32, kNaive, {17, 33, 65});
    e.run = as_launched(std::move(e.run));
    e.run_probe = [kernel, as_launched](const Matrix& a, const Matrix& b, const Matrix& c) {
      return as_launched(run(kernel, a, b, c));
    };
    return diagnose(e).next_step;
  };
  const Kernel always = and_touches([](Call& c) { c.put(c.m - 1, c.n + 4, 0); });
  const Kernel at_edges = and_touches([](Call& c) {
    if (c.n % 16 != 0) c.put(c.m - 1, c.n + 4, 0);
  });
  CHECK(has(judged(always, 0), "no guard is missing"));
  CHECK(has(judged(at_edges, 0), "What should keep it below N"));
  CHECK(has(judged(always, 1), "What should keep it below N"));
}

TEST_CASE("out of bounds: several elements at once, and bytes that are no elements") {
  const auto reading = [](unsigned bytes, std::int64_t offset, std::uint64_t of) {
    simgpu::Finding f;
    f.kind = FindingKind::out_of_bounds;
    f.at.type = AccessType::load;
    f.at.where = {"gemm.cu", 31};
    f.at.object = "A";
    f.at.bytes = bytes;
    f.at.offset = offset;
    f.at.object_bytes = of;
    return explain(f, kNaive, nullptr, ElementType::float32);
  };
  CHECK(has(reading(16, 56, 64).next_step, "moves 16 bytes at once, 4 elements"));
  CHECK(has(reading(13, 56, 64).next_step, "moves 13 bytes, and an element has 4"));
  CHECK(has(reading(4, 64, 64).next_step, "Work out the index"));
  CHECK(has(reading(16, 64, 64).next_step, "Work out the index"));
}

TEST_CASE("what had been stored of an array is told") {
  const auto reading = [](std::int64_t element, std::vector<simgpu::ByteRange> written) {
    simgpu::Finding f;
    f.kind = FindingKind::uninitialised_read;
    f.at.where = {"gemm.cu", 47};
    f.at.space = simgpu::MemorySpace::shared;
    f.at.object = "tile";
    f.at.bytes = 4;
    f.at.offset = 4 * element;
    f.at.object_bytes = 4 * 36 * 32;
    f.written = std::move(written);
    for (const simgpu::ByteRange& r : f.written) f.written_bytes += r.end - r.begin;
    return explain(f, kNaive, nullptr, ElementType::float32);
  };
  const auto told = [](const Diagnosis& d, const std::string& words) {
    return std::any_of(d.details.begin(), d.details.end(),
                       [&words](const std::string& line) { return has(line, words); });
  };
  CHECK(told(reading(5, {}), "nothing at all had been stored in tile"));
  const Diagnosis some = reading(500, {{0, 128}, {256, 260}});
  CHECK(told(some, "of the 1152 elements of tile, 33 had been stored by then: 0..31, 64"));
  CHECK(has(some.next_step, "Compare the index"));
  // Rows of 36 of which 32 are stored, three of them seen: element 896 is [24][32].
  const std::vector<simgpu::ByteRange> rows = {{0, 128}, {144, 272}, {288, 416}};
  const Diagnosis behind = reading(896, rows);
  CHECK(told(behind, "the first 32 of every 36 elements"));
  CHECK(told(behind, "this one is [24][32]"));
  CHECK(has(behind.next_step, "after them"));
  // [24][31] is in no row that had been stored: that rows are stored so far does not make it so.
  const Diagnosis below = reading(895, rows);
  CHECK(told(below, "as many as 3 rows of 36; this one is [24][31]"));
  CHECK(has(below.next_step, "Of the first 3 rows, 32 elements each had been stored"));
  CHECK(has(reading(40, rows).next_step, "Compare the index"));
  CHECK(told(reading(896, {{0, 128}, {144, 272}, {288, 420}}), "97 had been stored"));
}

TEST_CASE("the part of C that is wrong is told as rows and columns") {
  // Differs from element to element by no simple rule.
  const auto off = [](int i, int j) { return 1.0 + (i * 7 + j * 3) % 5; };
  const auto wrong_in = [off](auto in) {
    return each([off, in](Call& c, int i, int j) {
      return c.element(i, j) + (in(c, i, j) ? off(i, j) : 0);
    });
  };
  const Diagnosis columns =
      named(wrong_in([](Call&, int, int j) { return j % 4 != 0; }), {40, 40, 40});
  CHECK(columns.id == "WRONG-PART");
  CHECK(columns.headline == "C is wrong in columns 1..3 of every 4, and right in the rest");
  const Diagnosis last =
      named(wrong_in([](Call& c, int, int j) { return j == c.n - 1; }), {40, 40, 40});
  CHECK(last.id == "WRONG-PART");
  CHECK(has(last.headline, "C is wrong in the last column ("));
  const Diagnosis crossing =
      named(wrong_in([](Call&, int i, int j) { return i % 16 < 8 && j % 16 >= 8; }), {64, 64, 40});
  CHECK(has(crossing.headline, "columns 8..15 of every 16, in rows 0..7 of every 16"));
  const Diagnosis zero = named(
      each([](Call& c, int i, int j) { return i % 4 == 3 ? 0 : c.element(i, j) + (i % 4 == 9); }),
      {40, 40, 40}, {16, 16, 8, 1, 1});
  CHECK(zero.id == "ALL-ZERO");
  CHECK(has(zero.headline, "C is 0 in row 3 of every 4"));
  const Diagnosis right =
      named(wrong_in([](Call&, int i, int j) { return i >= 16 || j >= 16; }), {40, 40, 40});
  CHECK(right.headline == "C is right in columns 0..15, in rows 0..15 alone");
  // Here and there is no part, and neither are three elements.
  CHECK(
      named(wrong_in([](Call&, int i, int j) { return (i * i + j) % 7 == 0; }), {40, 40, 40}).id ==
      "UNEXPLAINED");
  CHECK(named(wrong_in([](Call&, int i, int j) { return i == 1 && j < 3; }), {40, 40, 40}).id ==
        "UNEXPLAINED");
}

TEST_CASE("terms are left out by a question about another element") {
  const auto asked = [](bool of_a, bool of_b) {
    return each([of_a, of_b](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k)
        if ((!of_a || j / 16 * 16 + k % 16 < c.n) && (!of_b || i / 16 * 16 + k % 16 < c.m))
          sum += c.at_a(i, k) * c.at_b(k, j);
      return sum;
    });
  };
  for (const auto& [of_a, of_b, what] : {std::tuple{true, true, "A and of B"},
                                         {true, false, "of A are"},
                                         {false, true, "of B are"}}) {
    const Diagnosis d = named(asked(of_a, of_b), {17, 33, 65}, kNaive);
    CHECK(d.id == "K-MISSING");
    CHECK(has(d.headline, "left out by a test that is not about them"));
    CHECK(has(d.headline, what));
  }
  // A thread's tile is fetched in another way: nothing is claimed there.
  CHECK_FALSE(has(named(asked(true, true), {17, 33, 65}).headline, "not about them"));
}

TEST_CASE("tiles that overlap, and rows of a thread's tile that stay 0 beside other errors") {
  const auto weighted = [](auto weight) {
    return each([weight](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) sum += weight(c, i, k) * c.at_a(i, k) * c.at_b(k, j);
      return sum;
    });
  };
  // As many tiles as there are, each one further on.
  const Diagnosis steps = named(weighted([](Call& c, int, int k) {
                                  int times = 0;
                                  for (int t = 0; t < (c.k + 7) / 8; ++t)
                                    times += k >= t && k < t + 8;
                                  return times;
                                }),
                                {17, 33, 65});
  CHECK(steps.id == "K-TILE-REPEATED");
  CHECK(has(steps.headline, "each begins 1 after the one before, and has 8 columns"));
  const Diagnosis rows =
      named(weighted([](Call&, int i, int) { return i % 4 < 2 ? 2 : 0; }), {17, 33, 65});
  CHECK(rows.id == "ALL-ZERO");
  CHECK(has(rows.headline, "zeros in rows 2..3 of each thread's 4: no product is added there"));
}

TEST_CASE("steps that do more than add a product") {
  const auto stepped = [](double start, auto next) {
    return each([start, next](Call& c, int i, int j) {
      double sum = start;
      for (int k = 0; k < c.k; ++k) sum = next(sum, c.at_a(i, k), c.at_b(k, j));
      return sum;
    });
  };
  const auto check = [&](const Kernel& kernel, const std::string& formula) {
    const Diagnosis d = named(kernel, {17, 33, 5});
    CHECK(d.id == "WRONG-OPERATOR");
    CHECK(has(d.headline, "makes the sum " + formula + ";"));
  };
  check(stepped(0, [](double s, double a, double b) { return s * a + b; }),
        "sum * A[i][k] + B[k][j]");
  check(stepped(0, [](double s, double a, double b) { return (s + a) * b; }),
        "(sum + A[i][k]) * B[k][j]");
  check(stepped(1, [](double s, double a, double b) { return s * a * b; }),
        "sum * A[i][k] * B[k][j]");
  check(stepped(0, [](double s, double a, double b) { return s + std::fabs(a * b); }),
        "sum + |A[i][k] * B[k][j]|");
  const Kernel mean = each([](Call& c, int i, int j) {
    return static_cast<double>(static_cast<float>(c.element(i, j) / c.k));
  });
  const Diagnosis divided = named(mean, {17, 33, 65});
  CHECK(divided.id == "WRONG-OPERATOR");
  CHECK(has(divided.headline, "divided by K"));
}

TEST_CASE("parts of a factor that count too often") {
  const auto judged = [](double times_a, double times_b) {
    const auto scaled = [](double x, double times) {
      const double big = inputs::round_to_11_bits(x);
      return big + times * (x - big);
    };
    const Kernel kernel = each([=](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k)
        sum += scaled(c.at_a(i, k), times_a) * scaled(c.at_b(k, j), times_b);
      return static_cast<double>(static_cast<float>(sum));
    });
    return diagnose(evidence(kernel, ElementType::float32, kRegisters, {17, 33, 65}, false));
  };
  CHECK(judged(1, 1).id == "none");
  for (const auto& [a, b, what] : {std::tuple{2.0, 1.0, "A counts 2 times"},
                                   {1.0, 3.0, "B counts 3 times"},
                                   {2.0, 2.0, "A and B counts 2 times"},
                                   {2048.0, 2048.0, "A and B counts 2048 times"}}) {
    const Diagnosis d = judged(a, b);
    CHECK(d.id == "PART-LOST");
    CHECK(has(d.headline, what));
  }
}

TEST_CASE("the product of the big parts is missing, which integers show as zeros") {
  const auto parts = [](bool with_big) {
    return each([with_big](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) {
        const double a = c.at_a(i, k), b = c.at_b(k, j);
        const double big_a = inputs::round_to_11_bits(a), big_b = inputs::round_to_11_bits(b);
        sum += (a - big_a) * big_b + big_a * (b - big_b) + (with_big ? big_a * big_b : 0);
      }
      return static_cast<double>(static_cast<float>(sum));
    });
  };
  const auto judged = [](const Kernel& kernel, bool by_tensor_cores) {
    tensor_cores = by_tensor_cores;
    const Diagnosis d = named(kernel, {17, 33, 65});
    tensor_cores = false;
    return d;
  };
  CHECK(judged(parts(true), true).id == "none");
  const Diagnosis d = judged(parts(false), true);
  CHECK(d.id == "PART-LOST");
  CHECK(has(d.headline, "the product of the two big parts is missing"));
  CHECK(judged(parts(false), false).id ==
        "PART-LOST");  // the tests of 6.3 and 6.3.3 are such kernels
  for (const bool by_tensor_cores : {true, false})
    CHECK(judged(each([](Call&, int, int) { return 0.0; }), by_tensor_cores).id == "ALL-ZERO");
}

TEST_CASE("big keeps fewer bits than a tensor core reads") {
  const auto judged = [](int cleared) {
    const auto as_read = [](float x) {
      return static_cast<double>(
          std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000u));
    };
    const auto both = [=](double value) {
      const auto x = static_cast<float>(value);
      const auto big = std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000u) &
                                            ~((1u << cleared) - 1));
      return as_read(big) + as_read(x - big);
    };
    const Kernel kernel = each([=](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) sum += both(c.at_a(i, k)) * both(c.at_b(k, j));
      return static_cast<double>(static_cast<float>(sum));
    });
    return diagnose(evidence(kernel, ElementType::float32, kRegisters, {17, 33, 65}, false));
  };
  for (const int cleared : {18, 20}) {
    const Diagnosis d = judged(cleared);
    CHECK(d.id == "PART-LOST");
    CHECK(has(d.headline, "big keeps " + std::to_string(24 - cleared) + " bits"));
    CHECK(has(d.next_step, "it looks like " + std::to_string(cleared)));
  }
}

TEST_CASE("sums of other elements are added to one") {
  // Of eight columns, all to the first; and each thread's sum goes on from row to row.
  const Diagnosis first = named(each([](Call& c, int i, int j) {
                                  double sum = 0;
                                  for (int e = 0; j % 8 == 0 && e < 8 && j + e < c.n; ++e)
                                    sum += c.element(i, j + e);
                                  return sum;
                                }),
                                {17, 33, 21}, kNaive);
  CHECK(first.id == "SUMS-MIXED");
  CHECK(has(first.headline, "of A * B, [0][0], [0][1]"));
  const Diagnosis on = named(each([](Call& c, int i, int j) {
                               return c.element(i, j) + (i >= 10 ? c.element(i - 10, j) : 0);
                             }),
                             {17, 33, 21}, kNaive);
  CHECK(on.id == "SUMS-MIXED");
  CHECK(has(on.headline, "is the sum of 2 elements of A * B, [0]["));
}

TEST_CASE("wrong only where rows begin anywhere") {
  const auto off = [](bool of_a) {
    return each([of_a](Call& c, int i, int j) {
      const bool anywhere = (of_a ? c.a.ld() : c.b.ld()) % 4 != 0;
      return c.element(i, j) + (anywhere ? (i * 7 + j * 3) % 5 + 1 : 0);
    });
  };
  for (const bool of_a : {true, false}) {
    const Diagnosis d = named(off(of_a), {17, 33, 21}, kNaive);
    CHECK(d.id == "ROWS-UNALIGNED");
    CHECK(has(d.headline, of_a ? "rows of A begin" : "rows of B begin"));
  }
}

TEST_CASE("C is cleared as if its rows followed each other") {
  // Sums are added to C, of which `rows` * cols elements in memory have been cleared.
  const auto cleared = [](int less) {
    const auto call = [less](const Matrix& a, const Matrix& b, const Matrix& c) {
      const std::int64_t count = std::int64_t{c.rows - less} * c.cols;
      Run r = run(
          [count](Call& k) {
            for (int i = 0; i < k.m; ++i)
              for (int j = 0; j < k.n; ++j) {
                const bool clear = std::int64_t{i} * k.c.ld() + j < count;
                k.put(i, j, k.element(i, j) + (clear ? 0 : k.old(i, j)));
              }
          },
          a, b, c);
      r.fills.push_back({0, static_cast<std::uint64_t>(count) * size_of(c.type), 0});
      return r;
    };
    Evidence e = evidence([](Call&) {}, ElementType::float32, kNaive, {17, 33, 21, 3, 3, 3});
    e.run = call(e.run.a, e.run.b, e.run.c_before);
    e.run_probe = call;
    return diagnose(e);
  };
  const Diagnosis d = cleared(0);
  CHECK(d.id == "WRONG-LD");
  CHECK(has(d.headline, "a memset clears the first 64 * 64 elements in memory, but rows of C are"));
  CHECK(has(d.headline, "it ends at C[51][15]"));
  CHECK_FALSE(has(cleared(1).headline, "a memset clears"));  // dense C is wrong as well
}

TEST_CASE("the same stretch of every k-tile, and no more, is added") {
  const auto kept = [](auto is) {
    return each([is](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) sum += is(k) ? c.at_a(i, k) * c.at_b(k, j) : 0;
      return sum;
    });
  };
  const Tile deep{16, 16, 32, 4, 4};
  const Diagnosis last = named(kept([](int k) { return k % 32 >= 22; }), {17, 33, 96}, deep);
  CHECK(last.id == "K-MISSING");
  CHECK(has(last.headline, "of every 32 k only the last 10 are added"));
  const Diagnosis first = named(kept([](int k) { return k % 16 < 6; }), {17, 33, 96}, deep);
  CHECK(has(first.headline, "of every 16 k only the first 6 are added"));
}

TEST_CASE("which index of a wrong element is right") {
  // Two places of every seven, so that no formula fits.
  const auto taken = [](int row, int col) {
    return each([=](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) {
        const bool other = (i * 5 + j * 3 + k) % 7 < 2;
        const int of_row = other ? (i + row) % c.m : i, of_col = other ? (k + col) % c.k : k;
        sum += c.at_a(of_row, of_col) * c.at_b(k, j);
      }
      return sum;
    });
  };
  CHECK(has(named(taken(3, 0), {17, 33, 21}).headline, "the row of A is wrong"));
  CHECK(has(named(taken(0, 2), {17, 33, 21}).headline, "the column of A is wrong"));
}

TEST_CASE("errors as small as products of small parts are told from inputs that were cut") {
  const Kernel slightly = each([](Call& c, int i, int j) {
    double sum = 0;
    for (int k = 0; k < c.k; ++k) {
      const double b = c.at_b(k, j), other = c.at_b(k, 0);
      // The small part of another element in the place of its own.
      sum +=
          c.at_a(i, k) * (inputs::round_to_11_bits(b) + (other - inputs::round_to_11_bits(other)));
    }
    return static_cast<double>(static_cast<float>(sum));
  });
  const auto judged = [&](bool by_tensor_cores, double allowed) {
    tensor_cores = by_tensor_cores;
    Evidence e = evidence(slightly, ElementType::float32, kRegisters, {17, 33, 65}, false);
    e.allowed_units = allowed;
    const Diagnosis d = diagnose(e);
    tensor_cores = false;
    return d;
  };
  CHECK(has(judged(true, 32).headline, "as small as the products of small parts"));
  CHECK(judged(false, 32).id == "LOW-PRECISION");
}

TEST_CASE("a round trip whose tile is not 0 beyond the edge") {
  const auto copy = [](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r;
    r.a = r.a_after.emplace(a);
    r.b = r.b_after.emplace(b);
    r.c_before = r.c_after = c;
    for (int i = 0; i < c.rows; ++i)
      for (int j = 0; j < c.cols; ++j)
        r.c_after.set(i, j, a.at(i, j) + (j >= c.cols / 16 * 16 ? 1 + i % 3 : 0));
    r.launches.emplace_back();
    return r;
  };
  Evidence e;
  e.operation = Operation::copy_a;
  e.tile = kNaive;
  e.small_integers = true;
  const Matrix a = random_matrix(e.type, 40, 50, 0, inputs::SplitMix64(1), true);
  e.run =
      copy(a, random_matrix(e.type, 50, 30, 0, inputs::Pcg(1), true), Matrix(e.type, 40, 50, 50));
  e.run_probe = copy;
  const Diagnosis d = diagnose(e);
  CHECK(d.id == "WRONG-PART");
  CHECK_THAT(d.headline,
             Catch::Matchers::ContainsSubstring("what it holds beyond the edge is not 0"));
}

TEST_CASE("the pieces of a tile that hold no products are told") {
  const auto diagonal = [](int side) {
    return each([side](Call& c, int i, int j) {
      return i / side % 4 == j / side % 4 ? c.element(i, j) : 0;
    });
  };
  const Diagnosis elements = named(diagonal(1), {33, 50, 17});
  CHECK(elements.id == "ALL-ZERO");
  CHECK(has(elements.headline, "of the elements of each thread's 4 x 4 tile, only [0][0], [1][1]"));
  tensor_cores = true;
  const Diagnosis fragments = named(diagonal(16), {130, 140, 33}, {128, 128, 16, 4, 4, 64, 64});
  tensor_cores = false;
  CHECK(fragments.id == "ALL-ZERO");
  CHECK(has(fragments.headline, "of the 16 x 16 fragments of each warp's 64 x 64 tile, only [0]"));
}

TEST_CASE("whole tiles that change places in a copy, and what was never written") {
  const auto copied = [](auto source, bool half) {
    return Kernel([=](Call& call) {
      for (int i = 0; i < call.m; ++i)
        for (int k = 0; k < call.k; ++k) {
          const auto [row, col] = source(i, k);
          if (half && i % 16 >= 8) continue;
          call.put(i, k, row < call.m && col < call.k ? call.at_a(row, col) : 0);
        }
    });
  };
  const auto diagnosed = [](const Kernel& kernel) {
    const Shape s{256, 16, 256};
    Evidence e = evidence(kernel, ElementType::float32, {128, 128, 16, 8, 8}, s);
    e.operation = Operation::copy_a;
    e.run = run(kernel, e.run.a, e.run.b,
                with_poison(Matrix(ElementType::float32, s.m, s.k, s.k), true));
    e.run.launches.front().block = {256, 1, 1};
    return diagnose(e);
  };
  // 2 x 16 tiles of 128 x 16, counted down where they are stored and along where they are read.
  const Diagnosis numbers = diagnosed(copied(
      [](int i, int k) {
        const int number = i / 128 * 16 + k / 16;
        return std::pair{number % 2 * 128 + i % 128, number / 2 * 16 + k % 16};
      },
      false));
  CHECK(numbers.id == "TILE-MAP");
  CHECK(has(numbers.headline, "tiles of C are in the wrong places"));
  CHECK(has(numbers.next_step, "In which order are tiles counted"));
  const Diagnosis half = diagnosed(copied([](int i, int k) { return std::pair{i + 8, k}; }, true));
  CHECK(half.id == "TILE-MAP");
  CHECK(std::any_of(half.details.begin(), half.details.end(),
                    [](const std::string& line) { return has(line, "were never written"); }));
}

TEST_CASE("sums that do not fit an int and end at its limits were not ints") {
  const auto through = [](auto converted) {
    return each([converted](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) sum += c.at_a(i, k) * c.at_b(k, j);
      return converted(sum);
    });
  };
  const Kernel saturated =
      through([](double sum) { return std::clamp(std::trunc(sum), -0x1p31, 0x1p31 - 1); });
  const Diagnosis d =
      diagnose(evidence(saturated, ElementType::int32, kNaive, {17, 33, 65}, false));
  CHECK(d.id == "LOW-PRECISION");
  CHECK(has(d.headline, "end at its limits"));
}

TEST_CASE("k that are counted too often because of when they are added") {
  const auto weighted = [](auto weight) {
    return each([weight](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) sum += weight(c, k) * c.at_a(i, k) * c.at_b(k, j);
      return sum;
    });
  };
  const auto so_far = weighted([](Call& c, int k) { return (c.k + 7) / 8 - k / 8; });
  const Diagnosis sofar = named(so_far, {17, 33, 65});
  CHECK(sofar.id == "K-TILE-REPEATED");
  CHECK(sofar.headline ==
        "the sum so far is added after every k-tile: the first k-tile counts 9 times, the last one "
        "once");
  const Diagnosis step = named(weighted([](Call& c, int k) { return c.k - k; }), {17, 33, 20});
  CHECK(has(step.headline, "after every step: the first step counts 20 times"));

  const auto piece = [](int twice, int never) {
    return [=](Call&, int k) {
      const int at = k % 8 / 2;
      return at == twice ? 2 : at == never ? 0 : 1;
    };
  };
  const Diagnosis late = named(weighted(piece(0, 3)), {17, 33, 65});
  CHECK(late.id == "K-TILE-REPEATED");
  CHECK(has(late.headline, "of every 8 k, the first 2 are added twice and the last 2 never"));
  const Diagnosis early = named(weighted(piece(3, 0)), {17, 33, 64});
  CHECK(has(early.headline, "of every 8 k, the last 2 are added twice and the first 2 never"));

  const auto growing = [](int top) { return [=](Call&, int k) { return top - k % 8 / 2; }; };
  CHECK(has(named(weighted(growing(4)), {17, 33, 65}).headline,
            "of every 8 k, the first 2 are added 4 times, the next 2 3 times"));
  CHECK(has(named(weighted(growing(3)), {17, 33, 65}).headline, "the first 2 are added 3 times"));
  const Diagnosis again =
      named(weighted([](Call&, int k) { return k / 8 % 2 == 0 ? 1 : 0; }), {17, 33, 65});
  CHECK(again.id == "K-TILE-MISSING");
  CHECK(has(again.headline, "with right ones between them"));
  const Diagnosis suffix =
      named(weighted([](Call& c, int k) { return k / 8 < c.k / 8 - 2 ? 1 : 0; }), {17, 33, 65});
  CHECK_FALSE(has(suffix.headline, "right ones"));
  const Diagnosis begin = named(weighted([](Call&, int k) { return k < 8 ? 0 : 1; }), {17, 33, 65});
  CHECK(begin.id == "K-TILE-MISSING");
  CHECK(has(begin.next_step, "is the part of block 0 added"));
}

TEST_CASE("A's k in another order than B's: either one may be wrong") {
  const auto sum_of = [](auto of_a, auto of_b) {
    return each([=](Call& c, int i, int j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) sum += c.at_a(i, of_a(k)) * c.at_b(of_b(k), j);
      return sum;
    });
  };
  const auto same = [](int k) { return k; };
  const auto pairs = [](int k) { return k / 8 * 8 + k % 8 / 2 + 4 * (k % 2); };
  const Diagnosis a = named(sum_of(pairs, same), {17, 33, 64}),
                  b = named(sum_of(same, pairs), {17, 33, 64});
  for (const Diagnosis& d : {a, b}) {
    CHECK(d.id == "WRONG-INDEX");
    CHECK(has(d.headline, "no k is missing, but each k of A meets another k of B"));
  }
  const auto half = [](int k) { return k / 2; };
  CHECK_FALSE(has(named(sum_of(half, same), {17, 33, 64}).headline, "no k is missing"));
}

TEST_CASE("sums of a thread that all go to its first row or column") {
  const auto gathered = [](bool rows, int step) {
    return each([=](Call& c, int i, int j) {
      double sum = 0;
      for (int e = 0; (rows ? i : j) % (4 * step) < step && e < 4; ++e) {
        const int row = rows ? i + e * step : i, col = rows ? j : j + e * step;
        if (row < c.m && col < c.n) sum += c.element(row, col);
      }
      return sum;
    });
  };
  const Diagnosis rows = named(gathered(true, 1), {32, 48, 17});
  CHECK(rows.id == "TILE-MAP");
  CHECK(has(rows.headline, "the 4 rows of each thread's tile are all added to its first row"));
  CHECK(has(rows.next_step, "acc[0][j]"));
  const Diagnosis columns = named(gathered(false, 4), {32, 48, 17});
  CHECK(columns.id == "TILE-MAP");
  CHECK(has(columns.next_step, "acc[i][0]"));
}

TEST_CASE("a sum that ends at M or N where that is less than K") {
  const Kernel ends = each([](Call& c, int i, int j) {
    double sum = 0;
    for (int k = 0; k < std::min(c.k, c.n); ++k) sum += c.at_a(i, k) * c.at_b(k, j);
    return sum;
  });
  const Diagnosis d = named(ends, {35, 33, 65});
  CHECK(d.id == "SWAPPED-EXTENTS");
  CHECK(has(d.headline, "the sum ends at N = "));
}

TEST_CASE("a wrong number at one shape may be a finding where tiles are full") {
  const Kernel shifted = [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int k = 0; k < call.k; ++k) call.put(i, k, call.at_a(i, k) + (i * k) % 7 + 1);
    if (call.m == 128 && call.k == 128) call.at_a(call.m, 0);
  };
  Evidence e = evidence(shifted, ElementType::float32, kNaive, {17, 33, 20});
  e.operation = Operation::copy_a;
  e.run =
      run(shifted, e.run.a, e.run.b, with_poison(Matrix(ElementType::float32, 17, 20, 20), true));
  CHECK(diagnose(e).id == "OOB");
}
