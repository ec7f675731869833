// What a bench has measured, and its file: bench.json.
//
//     {"schema": 1, "kind": "bench",
//      "machine":    {gpu, driver, cuda, nvcc, cublas, arch, ...}  strings; points of another
//                    machine are not kept
//      "provenance": {command, commit, date, cpu, compiler, openblas, protocol, ...}
//      "records":    [{lab, rung, type, math, m, n, k, status, ...}]   the rungs
//      "yardsticks": [{math, m, n, k, cublas_ms, naive_ms, ...}]       cuBLAS and naive, paired
//      "cpu":        [{what, type, m, n, k, status, gflops, ms, threads}]
//      "predictions": [{stage, type, n, percent, seen}]}               as they stood before a run
//
// Units: ms per launch (median over rounds), TFLOP/s = 2 M N K / time (GFLOP/s on the CPU), percent
// of cuBLAS = 100 * median of paired t_cublas / t_rung; its interval is the 95 % bootstrap
// interval of that median. ratio_over_naive = t_naive / t_rung, each from its own rounds; where
// there is no cuBLAS, the median of paired ones, which has the interval. Of a yardstick: cuBLAS's
// time alone and warm, naive's in rounds of both.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "grader/bench/plan.hpp"
#include "grader/gpu/timing.hpp"

namespace grader::bench {

/// "measured" counts; all others say why there is no number.
enum class Status {
  measured,
  wrong,        ///< a wrong result: never timed
  failed,       ///< crashed, hung, or the device reported an error
  skipped,      ///< one launch would take too long
  not_started,  ///< its TODO is open
  unavailable,  ///< cannot run or does not build on this machine
};
const char* to_string(Status status);
std::optional<Status> status_from(const std::string& name);

struct Record {
  Point point;
  Status status = Status::unavailable;
  std::string note;  ///< one line: why there is no number, or what is suspect
  double ms = 0, tflops = 0;
  std::optional<double> percent_of_cublas, percent_low, percent_high;
  std::optional<double> ratio_over_naive, ratio_low, ratio_high;
  std::optional<unsigned> clock_low, clock_median, clock_high;  ///< MHz of the SMs
  std::string throttle;                                         ///< reasons seen, "" = none
  unsigned rounds = 0, launches = 0;                            ///< launches per request
  unsigned attempts = 1;                     ///< of which this one's interval was the narrowest
  unsigned protocol = gpu::kTimingProtocol;  ///< what another one measured does not stand
  bool verified = false;
  std::string source, source_sha256;
  std::string date, first_measured;  ///< UTC, "2026-11-21T19:00:00Z"; the first of this rung's
  bool is(const Point& other) const;
  /// From one end of the interval to the other, as a fraction of its middle; 0 without one. Where
  /// there is no cuBLAS, of the interval of ratio_over_naive.
  double spread() const;
};

struct Yardsticks {
  std::string math;
  Shape shape;
  Status status = Status::unavailable;
  std::string note;
  std::optional<double> cublas_ms, naive_ms;  ///< medians, not of the same rounds
  std::optional<unsigned> clock_median;       ///< MHz
  unsigned rounds = 0;
  unsigned protocol = gpu::kTimingProtocol;
  std::string date;  ///< UTC
  double tflops(const std::optional<double>& ms) const {
    return ms && *ms > 0 ? shape.flops() / *ms * 1e-9 : 0;
  }
};

struct CpuRecord {
  CpuPoint point;
  Status status = Status::unavailable;
  std::string note;
  double ms = 0, gflops = 0;
  unsigned threads = 0, samples = 0;
};

/// A prediction as it stood when a bench began.
struct Prediction {
  std::string key;     ///< stage: "1.2"
  double percent = 0;  ///< of cuBLAS
  std::string seen;    ///< UTC
};

struct Results {
  std::map<std::string, std::string> machine, provenance;
  std::vector<Record> records;
  std::vector<Yardsticks> yardsticks;
  std::vector<CpuRecord> cpu;
  std::vector<Prediction> predictions;

  const Record* find(const Point& point) const;
  const Yardsticks* find(const std::string& math, const Shape& shape) const;
  const CpuRecord* find(const CpuPoint& point) const;
  void put(Record record);  ///< in place of an older one of the same point
  void put(Yardsticks one);
  void put(CpuRecord one);
  /// Takes what `other`, of the same machine, has newer than this or alone, of the rungs and the
  /// yardsticks: GPUs of one model can share a bench. The CPU's part and the predictions are taken
  /// where there are none here.
  void take_newer(const Results& other);
};

/// One record per line: a diff shows what changed.
std::string to_text(const Results& results);
/// Throws UserError naming the file for anything that is no such file.
Results from_text(const std::string& text, const std::string& name);

/// "2026-11-21T19:00:00Z"
std::string utc_now();

}  // namespace grader::bench
