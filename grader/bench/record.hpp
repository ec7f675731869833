// What was measured, and its files: of benches, of sweeps and of speed proofs.
//
//     {"schema": 2, "kind": "bench",                "sweep" and "speed-proof" are the others
//      "machine":    {gpu, driver, cuda, nvcc, cublas, arch, ...}  strings
//      "provenance": {command, commit, date, protocol, ...}        strings
//      "runs":       [{machine and provenance of one run}]         speed proofs, which join several
//      "goals":      [{goal, bars, solution, previous}]            speed proofs: the verdicts
//      "records":    [{lab, rung, type, math, m, n, k, status, ms, ...}]
//      "yardsticks": [{math, m, n, k, cublas_ms, naive_ms, ...}]   benches: cuBLAS and naive, paired
//      "cpu":        [{what, type, m, n, k, status, ms, threads}]  benches
//      "predictions": [{stage, percent, seen}]}                    benches: as they stood before a run
//
// Units: ms per launch (median over rounds). over_cublas and over_naive are t_yardstick / t: how
// many times as fast as that yardstick, from rounds in which both ran: [low, median, high], the 95 %
// bootstrap interval of the median. A bare number is a quotient of two medians, each from its own
// rounds. cublas_ms and naive_ms are the yardsticks' own times. What follows from these, TFLOP/s =
// 2 M N K / time and percent of cuBLAS, is in no file. errors and cublas_errors, [worst, mean], are
// in u(|A||B|), u = 2^-24, of double 2^-53: of the same elements of the same products.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "grader/bench/plan.hpp"
#include "grader/gpu/timing.hpp"

namespace grader::bench {

/// Of a kernel's point; yardsticks have kTimingProtocol. 2 had six rounds at most, and the switch to the
/// kernel's process in the kernel's time: about 1 % of 20 ms.
constexpr unsigned kBenchProtocol = 3;

/// "measured" counts; all others say why there is no number.
enum class Status {
  measured,
  wrong,        ///< a wrong result: never timed
  failed,       ///< crashed, hung, or the device reported an error
  skipped,      ///< one launch would take too long, or this GPU cannot run it
  not_started,  ///< its TODO is open
  unavailable,  ///< cannot run or does not build on this machine
};
const char* to_string(Status status);
std::optional<Status> status_from(const std::string& name);

/// How many times as fast as a yardstick.
struct Ratio {
  double middle = 0;
  std::optional<std::pair<double, double>> interval;  ///< low, high
};

/// |C - AB| in u(|A||B|), over some rows of some products.
struct Error {
  double worst = 0, mean = 0;
};

/// A point of a sweep, and what its kernel takes of the GPU.
struct Swept {
  std::string experiment, variant, label;           ///< label: of x where x is no number of its own
  int x = 0;                                        ///< what is swept
  int registers = 0;                                ///< per thread
  long long local_bytes = 0;                        ///< per thread: spills and arrays
  long long static_shared = 0, dynamic_shared = 0;  ///< bytes per block
  int threads = 0;                                  ///< per block; 0: not known
  long long blocks = 0;                             ///< of the grid
  int resident_blocks = 0;                          ///< per multiprocessor
  double occupancy = 0;                             ///< 0 ... 1
  double wavefronts = 0;  ///< per shared request of the inner loop, modelled; 0: not modelled
};

struct Record {
  Point point;
  std::string mutant;  ///< of the lab's solution, "L1-01-x-along-rows"; "" = the source itself
  Status status = Status::unavailable;
  std::string note;  ///< one line: why there is no number, or what is suspect
  double ms = 0;
  std::optional<std::pair<double, double>> ms_interval;  ///< 95 %
  std::optional<Ratio> over_cublas, over_naive;
  std::optional<double> cublas_ms, naive_ms;
  std::optional<Error> errors, cublas_errors;
  std::optional<unsigned> mhz_low, mhz, mhz_high;  ///< of the SMs; mhz: the median
  std::string throttle;                            ///< reasons seen, "" = none
  unsigned rounds = 0, launches = 0;               ///< launches per request
  unsigned attempts = 1;               ///< of which this one's interval was the narrowest
  unsigned others = 0;                 ///< other processes on the device, at most
  unsigned protocol = kBenchProtocol;  ///< what another one measured does not stand
  bool verified = false;
  std::optional<unsigned> run;  ///< of the file's runs, from 0
  std::optional<Swept> swept;
  std::string source, source_sha256;
  std::string date, first_measured;  ///< UTC, "2026-11-21T19:00:00Z"; the first of this rung's

  bool is(const Point& other) const;
  double tflops() const { return ms > 0 ? point.shape.flops() / ms * 1e-9 : 0; }
  std::optional<double> percent_of_cublas() const {
    return over_cublas ? std::optional(100 * over_cublas->middle) : std::nullopt;
  }
  /// From one end of the interval to the other, as a fraction of its middle; 0 without one. Where
  /// there is no cuBLAS, of the interval of over_naive.
  double spread() const;
};

struct Yardsticks {
  std::string math;
  Shape shape;
  Status status = Status::unavailable;
  std::string note;
  std::optional<double> cublas_ms, naive_ms;  ///< medians, not of the same rounds
  std::optional<unsigned> mhz;                ///< median
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
  double ms = 0;
  unsigned threads = 0, rounds = 0;
  double gflops() const { return ms > 0 ? point.shape.flops() / ms * 1e-6 : 0; }
};

/// A prediction as it stood when a bench began.
struct Prediction {
  std::string key;     ///< stage: "1.2"
  double percent = 0;  ///< of cuBLAS
  std::string seen;    ///< UTC
};

using Words = std::map<std::string, std::string>;

struct Results {
  std::string kind = "bench";
  Words machine, provenance;
  std::vector<Words> runs;
  std::vector<std::string> goals;  ///< each a JSON object; they follow from the records
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

/// As it stands in a file. Throws nlohmann::json::exception on what is none.
nlohmann::ordered_json to_json(const Record& record);
Record record_of(const nlohmann::json& object);

/// One record per line: a diff shows what changed.
std::string to_text(const Results& results);
/// Throws UserError naming the file for anything that holds no results of this kind.
Results from_text(const std::string& text, const std::string& name,
                  const std::string& kind = "bench");

/// Six digits are more than any timing is worth.
double rounded(double value);
std::optional<Ratio> ratio_of(const std::optional<statistics::Interval>& measured);  ///< rounded

/// Versions as `machine` has them: 13000 -> "13.0", 130100 -> "13.1.0", 0 -> "none".
std::string cuda_version(int number);
std::string cublas_version(int number);

/// "2026-11-21T19:00:00Z"
std::string utc_now();

}  // namespace grader::bench
