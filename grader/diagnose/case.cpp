#include "grader/diagnose/case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/inputs.hpp"

namespace grader::diag {

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return 8;
    case ElementType::float16:
    case ElementType::bfloat16:
      return 2;
    case ElementType::int32:
    case ElementType::float32:
      break;
  }
  return 4;
}

ElementType result_type(ElementType type) {
  return size_of(type) == 2 ? ElementType::float32 : type;
}

int significant_bits(ElementType type) {
  switch (type) {
    case ElementType::int32:
      return 31;
    case ElementType::float64:
      return 53;
    case ElementType::float16:
      return 11;
    case ElementType::bfloat16:
      return 8;
    case ElementType::float32:
      break;
  }
  return 24;
}

Matrix::Matrix(ElementType t, int rows_, int cols_, int ld_)
    : type(t), rows(rows_), cols(cols_), ld(ld_) {
  storage.resize(matrix_storage(rows, cols, ld) * size_of(type));
}

std::size_t Matrix::elements() const {
  return storage.size() / size_of(type);
}

double Matrix::at(std::size_t element) const {
  const std::byte* const place = storage.data() + element * size_of(type);
  const auto read = [place](auto value) {
    std::memcpy(&value, place, sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
    case ElementType::int32:
      return read(std::int32_t{});
    case ElementType::float32:
      return read(float{});
    case ElementType::float16:
      return read(Half{});
    case ElementType::bfloat16:
      return read(BFloat16{});
    case ElementType::float64:
      break;
  }
  return read(double{});
}

std::vector<double> Matrix::values() const {
  std::vector<double> dense;
  dense.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col) dense.push_back(at(row, col));
  return dense;
}

void Matrix::set(std::size_t element, double value) {
  std::byte* const place = storage.data() + element * size_of(type);
  const auto write = [place](auto typed) { std::memcpy(place, &typed, sizeof typed); };
  switch (type) {
    case ElementType::int32:
      write(static_cast<std::int32_t>(value));
      break;
    case ElementType::float32:
      write(static_cast<float>(value));
      break;
    case ElementType::float16:
      write(Half(value));
      break;
    case ElementType::bfloat16:
      write(BFloat16(value));
      break;
    case ElementType::float64:
      write(value);
      break;
  }
}

bool Matrix::same_bits(const Matrix& other, std::size_t element) const {
  const std::size_t width = size_of(type);
  return std::memcmp(storage.data() + element * width, other.storage.data() + element * width,
                     width) == 0;
}

bool stores_scratch(const Case& c) {
  for (const simgpu::LaunchReport& launch : c.run.launches)
    for (const simgpu::BufferCounts& buffer : launch.buffers)
      if (buffer.label.starts_with("scratch ") && buffer.store.requests > 0) return true;
  return false;
}

bool shares_sums(const Case& c) {
  return std::any_of(c.run.launches.begin(), c.run.launches.end(), [](const auto& launch) {
    const simgpu::Counts& t = launch.total;
    if (t.cluster_load_requests + t.cluster_store_requests + t.cluster_atomic_requests > 0)
      return true;
    const bool multiplies =
        t.fma_f16 + t.fma_f32 + t.fma_f64 + t.mul_f32 + t.mul_f64 > 0 || !t.tensor_ops.empty();
    return std::any_of(launch.buffers.begin(), launch.buffers.end(), [&](const auto& buffer) {
      return (buffer.label == "C" && buffer.atomic.requests > 0) ||
             (multiplies && buffer.label.starts_with("scratch ") &&
              buffer.store.requests + buffer.atomic.requests > 0);
    });
  });
}

std::vector<double> correct_result(Operation operation, const Run& run) {
  const int m = run.c_before.rows, n = run.c_before.cols, depth = run.a.cols;
  if (operation == Operation::copy_a) return run.a.values();
  if (operation == Operation::copy_b) return run.b.values();
  std::vector<double> correct(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  const std::vector<double> a = run.a.values(), b = run.b.values();
  const double* factor = a.data();
  for (int i = 0; i < m; ++i) {
    double* const row = correct.data() + static_cast<std::ptrdiff_t>(i) * n;
    const double* of_b = b.data();
    for (int k = 0; k < depth; ++k, ++factor)
      for (int j = 0; j < n; ++j) row[j] += *factor * *of_b++;
  }
  return correct;
}

Case make_case(Operation operation, Run run) {
  Case c;
  c.operation = operation;
  c.m = run.c_before.rows;
  c.n = run.c_before.cols;
  c.k = run.a.cols;
  c.correct = correct_result(operation, run);
  c.state.resize(c.correct.size());
  for (int i = 0; i < c.m; ++i) {
    for (int j = 0; j < c.n; ++j) {
      const std::size_t place = run.c_after.index(i, j);
      State& state = c.state[c.at(i, j)];
      if (run.c_after.at(place) == c.correct[c.at(i, j)]) continue;
      ++c.wrong;
      state = State::wrong;
      if (run.c_after.same_bits(run.c_before, place)) {
        state = State::untouched;
        ++c.untouched;
      }
    }
    if (i + 1 < c.m)
      for (int j = c.n; j < run.c_after.ld; ++j)
        c.padding_written |= !run.c_after.same_bits(run.c_before, run.c_after.index(i, j));
  }
  for (const simgpu::LaunchReport& launch : run.launches)
    for (const simgpu::Finding& finding : launch.findings)
      c.out_of_bounds |= finding.kind == simgpu::FindingKind::out_of_bounds;
  c.run = std::move(run);
  return c;
}

bool on_tensor_cores(const std::vector<Case>& cases) {
  for (const Case& c : cases)
    for (const simgpu::LaunchReport& launch : c.run.launches)
      if (!launch.total.tensor_ops.empty()) return true;
  return false;
}

namespace {

/// What the shapes of probes have in common with the call that failed.
struct ShapeStyle {
  bool aligned = false, strided = false;
  int bm = 16, bn = 16, bk = 1;

  /// Three different paddings; C's is wide enough to catch what runs over the end of a row.
  ProbeShape padded(int rows, int cols, int depth) const {
    if (!strided) return {rows, cols, depth, 0, 0, 0};
    return {rows, cols, depth, 3, 6, bn + 5};
  }
  /// Nudges equal extents apart: a transposed index is invisible in a square.
  ProbeShape distinct(int rows, int cols, int depth) const {
    const int step = aligned ? bk : 1;
    const auto part = [&] {
      while (std::abs(depth - rows) < 3 || std::abs(depth - cols) < 3) depth += step;
    };
    part();
    if (rows == cols) rows += aligned ? bm : 1;
    part();
    return padded(rows, cols, depth);
  }
};

ShapeStyle style_of(const Evidence& evidence) {
  const Run& run = evidence.run;
  ShapeStyle style;
  if (evidence.tile.bm > 0) style.bm = evidence.tile.bm;
  if (evidence.tile.bn > 0) style.bn = evidence.tile.bn;
  if (evidence.tile.bk > 0) style.bk = evidence.tile.bk;
  const int m = run.c_before.rows, n = run.c_before.cols, k = run.a.cols;
  style.aligned =
      m > 0 && n > 0 && k > 0 && m % style.bm == 0 && n % style.bn == 0 && k % style.bk == 0;
  style.strided =
      run.a.ld > run.a.cols || run.b.ld > run.b.cols || run.c_before.ld > run.c_before.cols;
  return style;
}

}  // namespace

std::vector<ProbeShape> telling_shapes(const Evidence& evidence) {
  const ShapeStyle style = style_of(evidence);
  const int bm = style.bm, bn = style.bn, bk = style.bk;
  // A rung that is only asked for K = 1 may be right for nothing else.
  if (evidence.run.a.cols == 1 && evidence.run.c_before.rows > 1 && evidence.run.c_before.cols > 1)
    return {style.padded(bm + 3, 2 * bn + 5, 1), style.padded(2 * bm + 7, bn / 2 + 5, 1),
            style.padded(2 * bm + 7, 4 * bn + 5, 1), style.padded(4 * bm + 5, 2 * bn + 7, 1)};
  if (style.aligned) {
    const int three = bk > 1 ? 3 * bk : 12;
    return {style.distinct(bm, 2 * bn, three), style.distinct(2 * bm, bn, three),
            style.distinct(2 * bm, 3 * bn, bk > 1 ? bk : 4)};
  }
  // Two whole k-tiles and most of a third: a missing partial tile differs from a missing last k.
  const int ragged = bk > 3 ? 2 * bk + bk / 2 + 1 : bk > 1 ? 3 * bk - 1 : 11;
  // K below the other extents: with K as leading dimension everything else would be out of bounds.
  return {style.distinct(bm + 3, 2 * bn + 5, ragged),
          style.distinct(2 * bm + 7, bn / 2 + 5, ragged),
          style.distinct(bm + 6, 2 * bn + 9, bk / 2 + 2)};
}

Matrix filled(ElementType type, int rows, int cols, int pad,
              const std::function<double(int, int)>& value) {
  Matrix m(type, rows, cols, cols + pad);
  for (std::size_t e = 0; e < m.elements(); ++e) m.set(e, 50 + static_cast<double>(e % 41));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) m.set(i, j, value(i, j));
  return m;
}

namespace {

template <typename Generator>
Matrix random_integers(ElementType type, int rows, int cols, int pad, Generator generator,
                       int limit) {
  const auto values = static_cast<std::uint64_t>(2 * limit + 1);
  return filled(type, rows, cols, pad, [&](int, int) {
    return static_cast<double>(static_cast<int>((generator() >> 11) % values) - limit);
  });
}

}  // namespace

Matrix integers_a(ElementType type, int rows, int cols, int pad, std::uint64_t stream, int limit) {
  return random_integers(type, rows, cols, pad, inputs::SplitMix64(7919 * stream + 1), limit);
}

Matrix integers_b(ElementType type, int rows, int cols, int pad, std::uint64_t stream, int limit) {
  return random_integers(type, rows, cols, pad, inputs::Pcg(104729 * stream + 2), limit);
}

Matrix garbage(ElementType type, int rows, int cols, int pad) {
  Matrix m(type, rows, cols, cols + pad);
  // Below 2^23, so that garbage plus a sum is still exact in float.
  for (std::size_t e = 0; e < m.elements(); ++e)
    m.set(e, 4000000 + 7 * static_cast<double>(e % 500000));
  return m;
}

std::pair<int, int> result_extents(Operation operation, const ProbeShape& s) {
  switch (operation) {
    case Operation::copy_a:
      return {s.m, s.k};
    case Operation::copy_b:
      return {s.k, s.n};
    case Operation::product:
      break;
  }
  return {s.m, s.n};
}

std::pair<int, int> tile_of_c(Operation operation, const Tile& tile) {
  return result_extents(operation, {tile.bm, tile.bn, tile.bk, 0, 0, 0});
}

std::optional<Run> probe(const Evidence& evidence, Matrix a, Matrix b) {
  if (!evidence.run_probe) return std::nullopt;
  ProbeShape shape{a.rows, b.cols, a.cols, a.ld - a.cols, b.ld - b.cols, 0};
  const auto [rows, cols] = result_extents(evidence.operation, shape);
  const int pad = shape.pad_a > 0 || shape.pad_b > 0 ? 11 : 0;
  // Only C is looked at, and a hypothesis may ask for hundreds of runs.
  const Probe& run_it = evidence.run_unchecked ? evidence.run_unchecked : evidence.run_probe;
  std::optional<Run> run = run_it(a, b, garbage(result_type(evidence.type), rows, cols, pad));
  if (run && (run->failed_launch || run->c_after.elements() != run->c_before.elements()))
    return std::nullopt;
  return run;
}

ProbeShape shape_of(const Run& run) {
  return {run.a.rows,
          run.b.cols,
          run.a.cols,
          run.a.ld - run.a.cols,
          run.b.ld - run.b.cols,
          run.c_before.ld - run.c_before.cols};
}

std::optional<Case> probe_case(const Evidence& evidence, const ProbeShape& shape,
                               std::uint64_t stream, int limit) {
  if (!evidence.run_probe) return std::nullopt;
  const auto [rows, cols] = result_extents(evidence.operation, shape);
  std::optional<Run> run =
      evidence.run_probe(integers_a(evidence.type, shape.m, shape.k, shape.pad_a, stream, limit),
                         integers_b(evidence.type, shape.k, shape.n, shape.pad_b, stream, limit),
                         garbage(result_type(evidence.type), rows, cols, shape.pad_c));
  if (!run || run->failed_launch || run->c_after.elements() != run->c_before.elements())
    return std::nullopt;
  return make_case(evidence.operation, std::move(*run));
}

std::optional<Case> halved_case(const Evidence& evidence, ProbeShape shape, std::uint64_t stream) {
  std::optional<Case> least;
  const auto halved = [&] {
    std::array<int ProbeShape::*, 3> extents = {&ProbeShape::m, &ProbeShape::n, &ProbeShape::k};
    std::stable_sort(extents.begin(), extents.end(),
                     [&](auto x, auto y) { return shape.*x > shape.*y; });
    for (int ProbeShape::*const extent : extents) {
      ProbeShape half = shape;
      half.*extent = (half.*extent + 1) / 2;
      auto c = probe_case(evidence, half, stream);
      if (!c || c->wrong == 0) continue;
      shape = half;
      least = std::move(c);
      return true;
    }
    return false;
  };
  while (static_cast<double>(shape.m) * shape.n * shape.k > kFewProducts && halved()) {
  }
  return least;
}

bool reads_poison(const Run& run) {
  if (run.c_before.elements() == 0 || !std::isnan(run.c_before.at(0))) return false;
  const auto reads_c = [](const simgpu::LaunchReport& launch) {
    return std::any_of(
        launch.buffers.begin(), launch.buffers.end(),
        [](const simgpu::BufferCounts& b) { return b.label == "C" && b.load.requests > 0; });
  };
  for (std::size_t e = 0; e < run.c_after.elements(); ++e)
    if (std::isnan(run.c_after.at(e)))
      return std::any_of(run.launches.begin(), run.launches.end(), reads_c);
  return false;
}

}  // namespace grader::diag
