// What a sweep measured: points, where they were measured, and their file.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace grader::sweep {

/// One kernel on one size, as the sweep program of a lab reports it. Matrices are n x n.
struct Point {
  std::string id;                                ///< experiment/variant/type/n/x
  std::string experiment, variant, type, label;  ///< label: of x where x is not a number of its own
  int n = 0, x = 0;

  std::optional<double> ms;       ///< median per product; nothing if there is no time
  double low = 0, high = 0;       ///< its bootstrap interval, 95 %
  int samples = 0, launches = 0;  ///< launches back to back in each sample
  double naive_ms = 0;            ///< the yardstick for this type and n; 0: not measured
  std::optional<double> cublas_ms;

  int registers = 0;                                ///< per thread
  long long local_bytes = 0;                        ///< per thread: spills and arrays
  long long static_shared = 0, dynamic_shared = 0;  ///< bytes per block
  int threads = 0;                                  ///< per block
  long long blocks = 0;                             ///< of the grid
  int resident_blocks = 0;                          ///< per multiprocessor
  double occupancy = 0;                             ///< 0 ... 1
  double wavefronts = 0;  ///< per shared request of the inner loop, modelled; 0: not modelled
  int mhz = 0;            ///< SM clock after the last sample; 0: unknown

  std::string error;    ///< wrong result, or what the runtime said; then there is no time
  std::string skipped;  ///< why it cannot run here

  bool done() const { return ms.has_value() || !skipped.empty(); }
  /// What stands for x in a table.
  std::string x_shown() const { return label.empty() ? std::to_string(x) : label; }
  double gflops() const;  ///< 2 n^3 / time; 0 without a time
};

/// Everything in a results file.
struct Results {
  int lab = 0;
  std::map<std::string, std::string> provenance;  ///< gpu, driver, cuda, nvcc, cublas, date, ...
  int multiprocessors = 0;
  std::vector<Point> points;

  /// Points may be taken over if all of this is the same.
  std::string identity() const;
};

/// Reads a point from a line of the sweep program or of a results file. Throws
/// nlohmann::json::exception.
Point point_from(const nlohmann::json& object);
nlohmann::json to_json(const Point& point);

/// One line per point. Sentences are generated from the points and stored for readers of the file.
std::string to_json_text(const Results& results);
/// Throws UserError naming the file.
Results read_results(const std::filesystem::path& file);
Results results_from(const std::string& text, const std::string& name);

std::string to_csv(const Results& results);

/// The points of `plan` that `known` has not done yet, and `plan` filled with those it has.
std::vector<std::string> merge(std::vector<Point>& plan, const std::vector<Point>& known);

}  // namespace grader::sweep
