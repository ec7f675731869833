// A stand-in for a rung on the CPU: wrong formulas are written as loops over bounds-checked memory,
// and handed to the diagnosis as the judge would hand over a kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "common/inputs.hpp"
#include "grader/diagnose/diagnose.hpp"

namespace diagnose_bench {

using namespace grader::diag;

/// One operand. Accesses outside the allocation are findings, as on the simulated GPU: loads return
/// 0, stores are lost.
class Memory {
 public:
  Memory(std::string name, Matrix& matrix, simgpu::LaunchReport& launch)
      : name_(std::move(name)), matrix_(&matrix), launch_(&launch), values_(matrix.elements()) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = matrix.at(i);
  }
  double read(std::int64_t index) const {
    return inside(index, simgpu::AccessType::load) ? values_[static_cast<std::size_t>(index)] : 0;
  }
  void write(std::int64_t index, double value) {
    if (!inside(index, simgpu::AccessType::store)) return;
    const auto at = static_cast<std::size_t>(index);
    matrix_->set(at, value);
    values_[at] = matrix_->at(at);
  }
  int ld() const { return matrix_->ld; }
  simgpu::Dim3 block{0, 0, 0};  ///< of whom a finding tells

 private:
  bool inside(std::int64_t index, simgpu::AccessType type) const {
    if (index >= 0 && index < static_cast<std::int64_t>(values_.size())) return true;
    if (!launch_->findings.empty()) return false;
    simgpu::Finding finding;
    finding.kind = simgpu::FindingKind::out_of_bounds;
    finding.at.where.line = type == simgpu::AccessType::load ? 31 : 40;
    finding.at.type = type;
    finding.at.object = name_;
    finding.at.block = block;
    finding.at.bytes = static_cast<unsigned>(size_of(matrix_->type));
    finding.at.offset = index * static_cast<std::int64_t>(size_of(matrix_->type));
    finding.at.object_bytes = matrix_->storage.size();
    launch_->findings.push_back(finding);
    return false;
  }
  std::string name_;
  Matrix* matrix_;
  simgpu::LaunchReport* launch_;
  std::vector<double> values_;  ///< what lies in *matrix_: a kernel reads each element many times
};

struct Call {
  int m, n, k;
  Memory a, b, c;
  simgpu::Dim3 grid{1, 1, 1};
  double element(int i, int j) const {  ///< the right sum
    double sum = 0;
    for (int t = 0; t < k; ++t) sum += at_a(i, t) * at_b(t, j);
    return sum;
  }
  double at_a(int i, int t) const { return a.read(static_cast<std::int64_t>(i) * a.ld() + t); }
  double at_b(int t, int j) const { return b.read(static_cast<std::int64_t>(t) * b.ld() + j); }
  void put(int i, int j, double value) {
    c.write(static_cast<std::int64_t>(i) * c.ld() + j, value);
  }
  double old(int i, int j) const { return c.read(static_cast<std::int64_t>(i) * c.ld() + j); }
};

using Kernel = std::function<void(Call&)>;

/// Runs count as done on tensor cores.
inline bool tensor_cores = false;

inline Run run(const Kernel& kernel, const Matrix& a, const Matrix& b, const Matrix& c) {
  Run r;
  r.a = a;
  r.b = b;
  r.c_before = c;
  r.c_after = c;
  Matrix a_after = a, b_after = b;
  simgpu::LaunchReport launch;
  Call call{a.rows,
            b.cols,
            a.cols,
            {"A", a_after, launch},
            {"B", b_after, launch},
            {"C", r.c_after, launch},
            {1, 1, 1}};
  kernel(call);
  launch.grid = call.grid;
  launch.lines.emplace_back().where.line = 31;  // in which all loads of A and B are said to be
  launch.lines.back().counts.global_load.requests = 1;
  if (tensor_cores) launch.total.tensor_ops["f16"] = 4096;
  r.launches.push_back(std::move(launch));
  r.a_after = std::move(a_after);
  r.b_after = std::move(b_after);
  return r;
}

struct Shape {
  int m, n, k;
  int pad_a = 0, pad_b = 0, pad_c = 0;
};

inline Matrix with_poison(Matrix m, bool everything) {
  for (int i = 0; i < m.rows; ++i)
    for (int j = everything ? 0 : m.cols; j < (i + 1 < m.rows ? m.ld : m.cols); ++j) {
      const std::size_t at = m.index(i, j) * size_of(m.type);
      const auto put = [&](auto value) {
        std::memcpy(m.storage.data() + at, &value, sizeof value);
      };
      if (m.type == ElementType::int32)
        put(inputs::poison<std::int32_t>());
      else if (m.type == ElementType::float16)
        put(inputs::poison<Half>());
      else if (m.type == ElementType::bfloat16)
        put(inputs::poison<BFloat16>());
      else if (m.type == ElementType::float32)
        put(inputs::poison<float>());
      else
        put(inputs::poison<double>());
    }
  return m;
}

template <typename Generator>
Matrix random_matrix(ElementType type, int rows, int cols, int pad, Generator generator,
                     bool integers) {
  Matrix m(type, rows, cols, cols + pad);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      const std::uint64_t bits = generator();
      m.set(i, j,
            integers ? static_cast<double>(static_cast<int>((bits >> 11) % 17) - 8)
            : type == ElementType::int32
                ? static_cast<double>(static_cast<std::int32_t>(bits >> 32))
                : static_cast<double>(
                      static_cast<float>(std::ldexp(static_cast<double>(bits >> 40), -23) - 1)));
    }
  return with_poison(std::move(m), false);
}

/// What the judge hands over for a call at `s`: poisoned C, NaN padding, and a way to run the
/// kernel again.
inline Evidence evidence(const Kernel& kernel, ElementType type, const Tile& tile, const Shape& s,
                         bool integers = true) {
  Evidence e;
  e.type = type;
  e.tile = tile;
  e.small_integers = integers;
  e.run = run(kernel, random_matrix(type, s.m, s.k, s.pad_a, inputs::SplitMix64(42), integers),
              random_matrix(type, s.k, s.n, s.pad_b, inputs::Pcg(43), integers),
              with_poison(Matrix(result_type(type), s.m, s.n, s.n + s.pad_c), true));
  e.run_probe = [kernel](const Matrix& a, const Matrix& b, const Matrix& c) {
    return run(kernel, a, b, c);
  };
  return e;
}

/// A right kernel on blocks of 16 x 16 threads, whose calls with the matrix A report findings(A).
inline Evidence reporting(std::function<std::vector<simgpu::Finding>(const Matrix&)> findings,
                          const Tile& tile) {
  const auto call = [findings](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = run(
        [](Call& k) {
          for (int i = 0; i < k.m; ++i)
            for (int j = 0; j < k.n; ++j) k.put(i, j, k.element(i, j));
        },
        a, b, c);
    r.launches[0].block = {16, 16, 1};
    r.launches[0].findings = findings(a);
    return r;
  };
  Evidence e;
  e.tile = tile;
  e.small_integers = true;
  const Matrix a = random_matrix(e.type, 40, 50, 0, inputs::SplitMix64(1), true);
  const Matrix b = random_matrix(e.type, 50, 30, 0, inputs::Pcg(1), true);
  e.run = call(a, b, Matrix(e.type, 40, 30, 30));
  e.run_probe = call;
  return e;
}

}  // namespace diagnose_bench
