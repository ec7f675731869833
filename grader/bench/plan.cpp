#include "grader/bench/plan.hpp"

#include <algorithm>
#include <array>

namespace grader::bench {
namespace {

constexpr std::array<const char*, 5> kTypes = {"float", "double", "int32", "bfloat16", "half"};

Shape square(int n) {
  return {n, n, n};
}

}  // namespace

std::string Shape::name() const {
  if (square()) return std::to_string(n);
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

std::vector<Shape> even_shapes() {
  return {square(256), square(512), square(1024), square(2048), square(4096), square(8192)};
}

std::vector<Shape> odd_shapes() {
  return {square(1023), square(1025), square(2047), square(2049), square(4095)};
}

std::vector<Shape> flat_shapes() {
  return {{16, 8192, 8192}, {64, 8192, 8192},  {8192, 64, 8192},
          {8192, 8192, 64}, {8192, 8192, 256}, {256, 256, 16384}};
}

std::vector<Shape> other_shapes() {
  std::vector<Shape> all = odd_shapes();
  for (const Shape& shape : flat_shapes()) all.push_back(shape);
  return all;
}

std::vector<Shape> shapes(bool quick) {
  if (quick) return {square(1024), square(4096), square(2047)};
  std::vector<Shape> all = {square(1024), square(4096), square(2048), square(4095),
                            square(512),  square(256),  square(8192), square(2047),
                            square(2049), square(1023), square(1025)};
  for (const Shape& shape : flat_shapes()) all.push_back(shape);
  return all;
}

bool is_benched(const Lab& lab, const Rung& rung) {
  return rung.operation == Operation::product && !lab.only_one_term(rung);
}

std::vector<Point> plan(const std::vector<Lab>& labs, bool quick) {
  std::vector<Point> points;
  for (const Shape& shape : shapes(quick)) {
    std::vector<Point> of_shape;
    for (const Lab& lab : labs)
      for (const Rung& rung : lab.rungs) {
        if (!is_benched(lab, rung)) continue;
        std::string last;
        for (const Stage& stage : lab.stages)
          if (stage.rung == rung.name) last = stage.id;
        for (const std::string& type : rung.types)
          of_shape.push_back({lab.id, lab.name, rung.name, rung.title, last, type,
                              rung.precision == Precision::tf32, rung.file, shape});
      }
    const auto rank = [](const Point& point) {
      const auto* at = std::find(kTypes.begin(), kTypes.end(), point.type);
      return 2 * (at - kTypes.begin()) + (point.tf32 ? 1 : 0);
    };
    std::stable_sort(of_shape.begin(), of_shape.end(),
                     [&](const Point& x, const Point& y) { return rank(x) < rank(y); });
    points.insert(points.end(), of_shape.begin(), of_shape.end());
  }
  return points;
}

std::vector<CpuPoint> cpu_plan(bool quick) {
  std::vector<CpuPoint> points;
  std::vector<Shape> all =
      quick ? std::vector<Shape>{square(256), square(512), square(1024)} : even_shapes();
  if (!quick)
    for (const Shape& shape : other_shapes()) all.push_back(shape);
  std::sort(all.begin(), all.end(),
            [](const Shape& x, const Shape& y) { return x.flops() < y.flops(); });
  for (const char* type : {"float", "double", "int32"})
    for (const Shape& shape : all) points.push_back({"triple loop", type, shape});
  for (const char* type : {"float", "double"})
    for (const Shape& shape : all) points.push_back({"OpenBLAS", type, shape});
  return points;
}

double scaled_ms(const Shape& known, double known_ms, const Shape& shape) {
  return known.flops() > 0 ? known_ms * shape.flops() / known.flops() : 0;
}

}  // namespace grader::bench
