// What a bench measures: every rung and type that computes a product, at every shape, and how long
// one launch may be expected to take.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/labs/lab.hpp"

namespace grader::bench {

struct Shape {
  int m = 0, n = 0, k = 0;
  bool operator==(const Shape&) const = default;
  bool square() const { return m == n && n == k; }
  double flops() const { return 2.0 * m * n * k; }
  /// "4096" for a square, else "64x8192x8192".
  std::string name() const;
};

/// Powers of two from 256 to 8192; beside them; thin or flat. In the order they are measured in:
/// small and telling ones first, so that rates are known before anything expensive is tried, and
/// that a bench that is stopped has the most important points.
std::vector<Shape> shapes(bool quick);
std::vector<Shape> even_shapes();   ///< by size, as tables show them
std::vector<Shape> odd_shapes();    ///< by size
std::vector<Shape> flat_shapes();   ///< thin ones, flat ones, a deep one
std::vector<Shape> other_shapes();  ///< all that are not even, in this order

/// What must have been measured for a number to stand: one rung in one type at one shape.
struct Point {
  int lab = 0;
  std::string lab_name, rung, title, stage;  ///< stage: the last one of this rung
  std::string type;                          ///< as in lab.toml: "float"
  bool tf32 = false;                         ///< operands rounded to TF32
  std::string file;                          ///< "gemm.cu"
  Shape shape;
  /// "float", or "tf32": the yardsticks' type.
  std::string math() const { return tf32 ? "tf32" : type; }
  std::string entry() const { return rung + "<" + type + ">"; }
};

/// True if this rung computes C = A * B for any K: what a bench can compare. (Lab 1's first rung
/// takes K = 1 only; lab 3's round trip copies.)
bool is_benched(const Lab& lab, const Rung& rung);

/// All points of these labs in the order of measuring: shape by shape, then type by type, then the
/// rungs as the labs list them.
std::vector<Point> plan(const std::vector<Lab>& labs, bool quick);

/// Multiply-adds of the CPU's baselines; by size.
struct CpuPoint {
  std::string what;  ///< "triple loop" or "OpenBLAS"
  std::string type;  ///< int32 (triple loop only), float, double
  Shape shape;
};
std::vector<CpuPoint> cpu_plan(bool quick);

/// One launch of a kernel that took `known_ms` at `known`, at `shape`: by the operations. Halved
/// rates at thin shapes are not foreseen.
double scaled_ms(const Shape& known, double known_ms, const Shape& shape);

}  // namespace grader::bench
