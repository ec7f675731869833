// How fast is a kernel, as a ratio that can be argued about: the timing protocol.
//
// Who takes part: the candidate (a student's launcher, in the runner) and the yardsticks (a naive
// kernel and cuBLAS in the same math mode, in the worker). All serve the same kind of request, a
// list of products C_l = A_i B_j on buffers of the worker: launch all, wait for the device, reply.
// The buffers are as fast in the runner as in the worker: gpu/shared_memory.cuh.
//
//   1. Verify. The candidate computes one product, then a list; wrong code is never timed.
//   2. Lists are made as long as a request must be (0.1 s; 0.11 is aimed at, and a list is made
//      longer when it takes less than 0.085): launch cost and the switch between processes (0.25 ms
//      on an H200) then weigh little. Every launch has inputs of its own from more than three L2
//      caches' worth of A_i and B_j, and an output of its own. Memory that a launcher takes from
//      the stream's pool for a while comes from the driver once, not once a request.
//   3. Warm-up: all in turn until they are steady, each within 2 % of its request before, after at
//      least half a second of requests (those of step 2 count: they heat the chip alike) and at
//      most two. Tensor kernels start 15 % faster than they go on: they draw more power than the
//      board may for long. A fixed time would be too short for a cold chip, and too long for one
//      that has been at work; what drifts on after that drifts for all of a round.
//   4. Rounds. In each, every participant serves one request, in an order drawn for the round and
//      timed by the judge's steady clock from sending to reply. Before each of the candidate's
//      requests A and B are drawn anew and C is poisoned; after it, every C is verified by
//      Freivalds' check and rows of some are recomputed, with vectors and rows drawn after the run.
//      So nothing can be kept from one request for the next, and nothing can be left out. Between
//      its requests the candidate's process is stopped.
//   5. The statistic is the median over rounds of t_yardstick / t_candidate of one round: what
//      slows the machine slows both and cancels (Bulej et al., "Duet benchmarking: improving
//      measurement accuracy in the cloud", ICPE 2020: 2.3 to 82 times more accurate than separate
//      runs). Its interval is the percentile bootstrap (Efron and Tibshirani, "An introduction to
//      the bootstrap", 1993, chapter 13). Every round counts. Clocks are shown, and decide
//      nothing: the driver has a new reading every 100 ms (docs/results/h200/nvml-clock.csv), and a
//      chip at its power cap changes its own all the time. To drop rounds in which a clock was off
//      chooses rounds by their times. Where a machine has two states, that keeps each participant's
//      more frequent one, and a wrong ratio with a narrow interval. (Participants differ among
//      themselves: tensor kernels run at 1.6 GHz on an H200 where others run at 1.98.)
//   6. A block has at least 10 rounds and ends when all half-widths are below 1 % (as NVBench does,
//      which stops at 0.5 % of noise; Triton's do_bench has a fixed time instead) or at a cap. From
//      five rounds on it ends where they leave no doubt: all bars of a goal are met, or one is
//      missed, by 5 % of it, grace included, and by as much as the interval is wide.
//   7. Decision: the bar is lowered by a grace of 3 %. Pass if the whole interval is above, fail if
//      it is below. If it straddles, up to three more blocks are pooled; then the median decides if
//      it is known to 1 %, else the verdict is "inconclusive".
//
// Simulated machines that drift, throttle and hiccup take all of this in grader/tests, where rates
// of false verdicts are asserted. Cross-checks that say SUSPECT and leave the verdict to people:
// events and wall clock differ by more than 10 %, rates above what the chip can do, yardsticks that
// became slower when the candidate's process came.
//
// What stops cheating is in grader/README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/gpu/nvml.hpp"
#include "grader/gpu/runner.hpp"
#include "grader/gpu/statistics.hpp"
#include "grader/gpu/worker.hpp"

namespace grader::gpu {

// ---- the protocol, without a GPU

/// Stands in results beside what was measured. 1 left rounds out ("dropped") by readings of the
/// clock; in 2 every round counts.
constexpr unsigned kTimingProtocol = 2;

/// One that nobody can predict.
std::uint64_t system_seed();

/// One participant's part of a round.
struct Taken {
  Sample sample;
  Conditions conditions;  ///< meanwhile
};

/// Why a participant's outputs or its process are not right. Ends the measurement.
struct Trouble {
  enum class Kind {
    none,
    wrong,       ///< an output does not hold A * B
    late_write,  ///< an output changed after it had been verified
    ended,       ///< the process crashed, hung, left
    device,      ///< an error of the device or of a launch
  };
  Kind kind = Kind::none;
  std::string detail;  ///< one line, for people
  std::optional<OutputCheck> verification;
  std::optional<RunnerFault> fault;
  explicit operator bool() const { return kind != Kind::none; }
};

/// One who takes part. Times come from the participant, so that tests can simulate them.
class Participant {
 public:
  virtual ~Participant() = default;
  virtual std::string name() const = 0;
  /// Not timed: new inputs, poisoned outputs, for `launches` launches of request number `request`.
  virtual Trouble prepare(unsigned launches, std::uint64_t request) = 0;
  /// Timed by the judge's clock.
  virtual Sample run() = 0;
  /// Not timed: what came of the last run. Called after every run, before anything else.
  virtual Trouble verify() = 0;
  /// Not timed, before another candidate's request: do the outputs still hold what was verified?
  virtual Trouble still_there() { return {}; }
  /// Not timed, after all: the process is gone, do its outputs still hold what was verified?
  virtual Trouble finish() { return {}; }
  /// How many launches one request may have at most.
  virtual unsigned most_launches() const { return static_cast<unsigned>(protocol::kMaxLaunches); }
  /// How many an earlier measurement on this machine found a request to need; 0 = never measured.
  /// After its first launch the list is made so long at once.
  virtual unsigned known_launches() const { return 0; }
};

struct TimedComparison;

struct Options {
  double request_seconds = 0.1;  ///< of one request: see 2. above
  double warm_up_seconds = 0.5;
  unsigned min_rounds = 10, max_rounds = 30;  ///< of a block
  unsigned extra_blocks = 3;                  ///< only where a bar is straddled
  double half_width = 0.01;                   ///< of an interval, as a fraction of its middle
  unsigned clear_rounds = 5;                  ///< do where all bars are clearly met, or one missed:
  double clear_of_bar = 0.05;                 ///< so far from the interval, as a fraction
  std::uint64_t seed = 0;                     ///< 0: from the system
  bool naive = true, cublas = true;           ///< which yardsticks take part
  /// Bars that decide whether fewer rounds do and whether more blocks are needed; without one, one
  /// block of at least min_rounds is all.
  std::optional<double> naive_bar, cublas_bar;
  /// The bars of several candidates that share rounds, in their order: a pair per goal.
  struct Bars {
    std::optional<double> naive, cublas;
  };
  std::vector<std::vector<Bars>> shared_bars;
  double grace = 0.03;
  /// Memory for outputs may be used again within a request, and products may repeat: for small
  /// shapes in a bench. Never in a verdict.
  bool reuse_outputs = false;
  /// The candidate's process is not killed, before and after: starting one takes longer than a
  /// bench's rounds. Late writes are then found only while it stands still. Never in a verdict.
  bool keep_process = false;
  /// Before each request the candidate's process is asked for no launch at all, so that the switch
  /// to it (step 2) is not in its time: cuBLAS, in the worker, has none. Requests of 20 ms gave, on an
  /// H200, twice each, FP32 at 4096 1.014 of cuBLAS -> 1.023, FP64 at 4096 (6.5.3) 1.008 -> 1.033, TF32
  /// at 8192 1.014 -> 1.030. Never in a verdict, where it must not run once A and B are drawn.
  bool switch_first = false;
  /// After the rounds, errors of the candidate and of cuBLAS are compared. Needs keep_process.
  bool errors = false;
  /// Of the yardsticks, where an earlier measurement found them: see Participant::known_launches().
  unsigned naive_launches = 0, cublas_launches = 0;
};

/// One participant's part.
struct Series {
  std::string name;
  unsigned launches = 0;          ///< per request
  std::vector<double> ms;         ///< per launch, of each kept round, by the judge's clock
  std::vector<double> device_ms;  ///< the same by events; shown only
  double median_ms() const;       ///< 0 without rounds
};

enum class TimingOutcome {
  measured,
  trouble,      ///< see `trouble`; nothing was decided
  too_large,    ///< no shape that fits the device's memory
  unavailable,  ///< buffers cannot be shared, or there is no such yardstick
};

struct TimedComparison {
  TimingOutcome outcome = TimingOutcome::measured;
  Trouble trouble;
  std::string note;  ///< why not, for too_large and unavailable
  std::string entry;
  Problem asked, problem;  ///< as asked for; as measured, smaller if memory was short
  std::optional<Series> candidate, naive, cublas;
  /// t_yardstick / t_candidate: how many times as fast as the yardstick. 1 = the same.
  std::optional<statistics::Interval> over_naive, over_cublas;
  unsigned rounds = 0, blocks = 0;
  bool verified = false;  ///< every output of every timed request was
  /// Of the same products, in the same rows; the candidate's and cuBLAS's.
  std::optional<Errors> errors, cublas_errors;
  std::uint64_t seed = 0;
  std::optional<unsigned> clock_low, clock_median, clock_high;  ///< MHz, during requests
  std::uint64_t throttle = 0;                                   ///< all reasons seen, or-ed
  unsigned others = 0;               ///< other processes that computed on the device, at most
  std::vector<std::string> suspect;  ///< cross-checks that did not hold, one line each
  double seconds = 0;                ///< wall time of it all
  bool smaller() const {
    return problem.m != asked.m || problem.n != asked.n || problem.k != asked.k;
  }
  double tflops() const;  ///< of the candidate; 0 if not measured
};

/// The rounds, on anyone. `candidate` may be null: then yardsticks are measured alone. Fills
/// series, intervals, rounds, conditions, trouble. `observer` may be null.
TimedComparison measure(Participant* candidate, Participant* naive, Participant* cublas,
                        Observer* observer, const Options& options);

/// The same for several candidates in the same rounds; one that gets into trouble drops out. Extra
/// blocks are for one candidate alone; fewer rounds do where all of shared_bars are clear.
std::vector<TimedComparison> measure(const std::vector<Participant*>& candidates,
                                     Participant* naive, Participant* cublas, Observer* observer,
                                     const Options& options);

// ---- on a GPU

struct Competitor {
  Runner& runner;
  std::string entry;      ///< "gemm_naive<float>"
  unsigned launches = 0;  ///< per request, if known (Participant::known_launches())
};

/// Measures `entry` against the worker's yardsticks at this problem, at a smaller one if the memory
/// is short (each extent halved, never below 1024; a note says so). `competitor` may be null. The
/// runner is killed at the end, unless options.keep_process: late writes are looked for after that.
/// Throws InfraError if our own worker fails.
TimedComparison compare(TimingWorker& worker, Competitor* competitor, const Problem& problem,
                        Observer* observer, const Options& options);

/// The same for several competitors in the same rounds, at least one; in their order.
std::vector<TimedComparison> compare(TimingWorker& worker,
                                     const std::vector<Competitor*>& competitors,
                                     const Problem& problem, Observer* observer,
                                     const Options& options);

/// 2 * multiply-adds per second that no kernel of this type can exceed on this chip, in TFLOP/s; 0
/// if unknown.
double roofline_tflops(const DeviceInfo& device, protocol::Type type,
                       std::optional<unsigned> max_clock_mhz);

}  // namespace grader::gpu
