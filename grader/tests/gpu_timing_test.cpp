// The timing protocol on simulated machines: clocks that drift, throttle and hiccup. No GPU.
//
// The machine is that of the study behind the protocol: a slow drift of 4 %, throttle episodes of
// +25 %, 1.5 % of noise per sample, one outlier of x1.5 in a hundred, and every machine is another
// 3 % off. Verdicts at a bar of 0.60 must not depend on any of that.
#include <cmath>
#include <functional>
#include <map>

#include "common/catch2.hpp"
#include "common/inputs.hpp"
#include "grader/gpu/speed.hpp"

using namespace grader;
using namespace grader::gpu;

namespace {

/// Time passes only by what runs on it.
class Machine : public Observer {
 public:
  explicit Machine(std::uint64_t seed) : random_(seed) { day_ = 1 + 0.03 * normal(); }

  double drift = 0.04, noise = 0.015, outliers = 0.01, throttles = 0.001, episode = 1.25;
  bool bimodal = false;   ///< half of the samples 8 % slower, at random
  unsigned others = 0;    ///< processes besides ours
  bool clocks = true;     ///< can be read
  double clock_drop = 1;  ///< of the clock in an episode, where it shows
  double two_states = 1;  ///< half of the samples so many times as slow, at 1.58 GHz

  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform());
  }
  /// Seconds that work of `ideal` seconds takes now.
  double take(double ideal) {
    double factor = day_ * (1 + drift * std::sin(now_ / 7)) * std::exp(noise * normal());
    if (uniform() < outliers) factor *= 1.5;
    if (episode_ == 0 && uniform() < throttles) episode_ = 5;
    slow_ = episode_ > 0;
    if (episode_ > 0) {
      factor *= episode;
      --episode_;
    }
    if (bimodal && uniform() < 0.5) factor *= 1.08;
    low_ = two_states > 1 && uniform() < 0.5;
    if (low_) factor *= two_states;
    now_ += ideal * factor;
    return ideal * factor;
  }
  Conditions now() override {
    Conditions conditions;
    if (clocks) conditions.sm_clock_mhz = static_cast<unsigned>(1980 * (slow_ ? clock_drop : 1));
    if (two_states > 1) conditions.sm_clock_mhz = low_ ? 1580u : 1980u;
    conditions.throttle = 4;
    conditions.compute_processes = others;
    return conditions;
  }
  double seconds() const { return now_; }

 private:
  inputs::SplitMix64 random_;
  double day_ = 1, now_ = 0;
  int episode_ = 0;
  bool slow_ = false, low_ = false;
};

class Simulated : public Participant {
 public:
  Simulated(Machine& machine, std::string name, double ms)
      : machine_(machine), name_(std::move(name)), ms_(ms) {}
  std::string name() const override { return name_; }
  Trouble prepare(unsigned launches, std::uint64_t request) override {
    launches_ = launches;
    ++prepared;
    seeds[request] += 1;
    if (late_at == prepared) return trouble(Trouble::Kind::late_write);
    return {};
  }
  Sample run() override {
    ++runs;
    CHECK(runs == prepared);  // never twice on the same inputs
    const double seconds = machine_.take(1e-3 * ms_ * launches_) + overhead;
    last = seconds;
    return {seconds, seconds * event_share, launches_};
  }
  Trouble verify() override {
    ++verified;
    CHECK(verified == runs);  // each run, and before the next
    if (wrong_at == verified) return trouble(Trouble::Kind::wrong);
    return {};
  }
  Trouble finish() override {
    finished = true;
    return late_at_end ? trouble(Trouble::Kind::late_write) : Trouble{};
  }
  unsigned most_launches() const override { return most; }

  int prepared = 0, runs = 0, verified = 0, wrong_at = -1, late_at = -1;
  bool finished = false, late_at_end = false;
  double overhead = 0.00025, event_share = 0.998, last = 0;
  unsigned most = 8192;
  std::map<std::uint64_t, int> seeds;

 private:
  static Trouble trouble(Trouble::Kind kind) {
    Trouble one;
    one.kind = kind;
    return one;
  }
  Machine& machine_;
  std::string name_;
  double ms_;
  unsigned launches_ = 1;
};

SpeedGoal goal_at(double naive) {
  SpeedGoal goal;
  goal.stage = "1.2";
  goal.type = "float";
  goal.bars.naive = naive;
  return goal;
}

struct Rates {
  int pass = 0, fail = 0, inconclusive = 0;
};

/// Verdicts on candidates of this true ratio at a bar of 0.60.
Rates verdicts(double ratio, int trials, void (*change)(Machine&) = nullptr) {
  Rates rates;
  const SpeedGoal goal = goal_at(0.60);
  for (int trial = 0; trial < trials; ++trial) {
    Machine machine(static_cast<std::uint64_t>(1000 * ratio) * 1000 +
                    static_cast<std::uint64_t>(trial));
    if (change) change(machine);
    Simulated candidate(machine, "candidate", 10 / ratio), naive(machine, "naive", 10);
    Options options = options_for(goal, "sm_90");
    options.seed = static_cast<std::uint64_t>(trial) + 1;
    const TimedComparison seen = measure(&candidate, &naive, nullptr, &machine, options);
    switch (judge_speed(goal, seen, "sm_90").verdict) {
      case SpeedVerdict::pass:
        ++rates.pass;
        break;
      case SpeedVerdict::fail:
        ++rates.fail;
        break;
      default:
        ++rates.inconclusive;
    }
  }
  return rates;
}

}  // namespace

TEST_CASE("speed verdicts: false ones do not happen, whatever the machine does") {
  // As in the study: 0.54 and 0.57 must fail, 0.60 and above must pass; nobody at the printed bar
  // fails. In between, within the grace, both may be.
  constexpr int trials = 60;
  for (const double below : {0.45, 0.54, 0.57}) {
    INFO(below);
    const Rates rates = verdicts(below, trials);
    CHECK(rates.pass == 0);
    CHECK(rates.fail >= trials * 97 / 100);
  }
  for (const double above : {0.60, 0.61, 0.66, 0.80}) {
    INFO(above);
    const Rates rates = verdicts(above, trials);
    CHECK(rates.fail == 0);
    CHECK(rates.pass >= trials * 97 / 100);
  }
}

TEST_CASE("speed verdicts: on bad machines doubt is inconclusive, not wrong") {
  constexpr int trials = 30;
  const auto bad = [](Machine& machine) {
    machine.noise = 0.10;
    machine.outliers = 0.10;
    machine.throttles = 0.02;
  };
  const auto bimodal = [](Machine& machine) { machine.bimodal = true; };
  // Where five rounds may do, a wide interval must not pass for a clear one.
  const auto uneasy = [](Machine& machine) { machine.noise = 0.05; };
  CHECK(verdicts(0.54, 3 * trials, uneasy).pass == 0);
  CHECK(verdicts(0.64, 3 * trials, uneasy).fail == 0);
  CHECK(verdicts(0.50, trials, bad).pass == 0);
  CHECK(verdicts(0.70, trials, bad).fail == 0);
  CHECK(verdicts(0.54, trials, bimodal).pass == 0);
  CHECK(verdicts(0.64, trials, bimodal).fail == 0);
  // Right at the edge of bar and grace nobody can know; then most must not be told "fail".
  const auto awful = [](Machine& machine) { machine.noise = 0.25; };
  const Rates edge = verdicts(0.60, trials, awful);
  CHECK(edge.fail <= trials / 4);
  CHECK(edge.inconclusive >= trials / 4);
}

TEST_CASE("speed verdicts: what is clear takes five rounds, what is close takes more") {
  const auto quiet = [](Machine& machine) {
    machine.noise = 0.002;
    machine.outliers = machine.throttles = 0;
  };
  const auto rounds = [&](double ratio, const Options& base, void (*change)(Machine&)) {
    Machine machine(77);
    change(machine);
    Simulated candidate(machine, "candidate", 10 / ratio), naive(machine, "naive", 10);
    Options options = base;
    options.seed = 8;
    return measure(&candidate, &naive, nullptr, &machine, options).rounds;
  };
  Options judged;
  judged.naive_bar = 0.60;
  CHECK(rounds(0.80, judged, quiet) == judged.clear_rounds);
  CHECK(rounds(0.50, judged, quiet) == judged.clear_rounds);
  // 0.582 is where a pass begins; within 5 % of it, or without a bar, a block has its ten.
  for (const double close : {0.57, 0.58, 0.60})
    CHECK(rounds(close, judged, quiet) >= judged.min_rounds);
  CHECK(rounds(0.80, Options(), quiet) >= judged.min_rounds);
  // Noise is no reason to go on while the bar is farther away than the interval is wide.
  const auto noisy = [](Machine& machine) { machine.noise = 0.05; };
  CHECK(rounds(0.90, judged, noisy) == judged.clear_rounds);
  CHECK(rounds(0.62, judged, noisy) >= judged.min_rounds);
  // A bar against a yardstick that is not there decides nothing.
  Options other;
  other.cublas_bar = 0.60;
  CHECK(rounds(0.80, other, quiet) >= judged.min_rounds);

  // Of two bars, one that is missed by far decides; one that is met by far does not.
  const auto beside = [&](double over_naive, double cublas_bar) {
    Machine machine(79);
    quiet(machine);
    Simulated candidate(machine, "candidate", 10 / over_naive), naive(machine, "naive", 10),
        cublas(machine, "cublas", 5 / over_naive);
    Options options = judged;
    options.cublas_bar = cublas_bar;
    options.seed = 10;
    return measure(&candidate, &naive, &cublas, &machine, options).rounds;
  };
  CHECK(beside(0.50, 0.51) == judged.clear_rounds);
  CHECK(beside(0.80, 0.51) >= judged.min_rounds);

  const auto shared = [&](double second, std::vector<Options::Bars> bars_of_second) {
    Machine machine(78);
    quiet(machine);
    Simulated one(machine, "one", 10 / 0.80), two(machine, "two", 10 / second),
        naive(machine, "naive", 10);
    Options options;
    options.seed = 9;
    options.shared_bars = {{{0.60, {}}}, std::move(bars_of_second)};
    return measure({&one, &two}, &naive, nullptr, &machine, options).front().rounds;
  };
  const Options::Bars below = {0.60, {}}, close = {0.41, {}};
  CHECK(shared(0.40, {below}) == judged.clear_rounds);
  CHECK(shared(0.40, {below, close}) >= judged.min_rounds);
  CHECK(shared(0.40, {}) >= judged.min_rounds);
}

TEST_CASE("speed verdicts: a comparison with stored milliseconds would be wrong here") {
  // The control of this file: the same machines, judged by their absolute time as of another day.
  int wrong = 0;
  constexpr int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    Machine machine(static_cast<std::uint64_t>(trial) + 5);
    std::vector<double> times;
    for (int i = 0; i < 10; ++i) times.push_back(machine.take(0.1));
    wrong += statistics::median(times) > 0.1 / 0.97 ? 1 : 0;  // at the bar, with the same grace
  }
  CHECK(wrong >= trials / 20);
}

TEST_CASE("timing: how it goes") {
  Machine machine(3);
  Simulated candidate(machine, "candidate", 2.5), naive(machine, "naive", 23),
      cublas(machine, "cuBLAS", 0.18);
  Options options;
  options.seed = 9;
  const TimedComparison seen = measure(&candidate, &naive, &cublas, &machine, options);
  CHECK(seen.outcome == TimingOutcome::measured);
  CHECK(seen.verified);
  CHECK(candidate.finished);
  CHECK(seen.rounds >= options.min_rounds);
  CHECK(seen.blocks == 1);
  CHECK(candidate.verified == candidate.runs);
  for (const auto& [seed, times] : candidate.seeds) CHECK(times == 1);  // new inputs every time
  // Requests are as long as they must be.
  REQUIRE(seen.candidate);
  for (const auto* series : {&*seen.candidate, &*seen.naive, &*seen.cublas}) {
    INFO(series->name);
    CHECK(series->launches * series->median_ms() > 85);
    CHECK(series->launches * series->median_ms() < 250);
    CHECK(series->ms.size() == seen.rounds);
  }
  REQUIRE(seen.over_naive);
  REQUIRE(seen.over_cublas);
  CHECK(std::abs(seen.over_naive->middle / 9.2 - 1) < 0.03);
  CHECK(std::abs(seen.over_cublas->middle / 0.072 - 1) < 0.03);
  CHECK(seen.clock_median == 1980u);
  CHECK(seen.throttle == 4u);
  CHECK(seen.suspect.empty());
  CHECK(throttle_text(seen.throttle) == "software power cap");
  CHECK(throttle_text(1).empty());
}

TEST_CASE("timing: the machine is looked at while work runs") {
  // Clocks that rest as soon as nothing runs: a look afterwards would see another machine.
  class Resting : public Machine {
   public:
    using Machine::Machine;
    Conditions now() override {
      Conditions conditions = Machine::now();
      conditions.sm_clock_mhz = 345;
      return conditions;
    }
    Conditions during(const std::function<void()>& work) override {
      work();
      return Machine::now();
    }
  };
  Resting machine(31);
  Simulated candidate(machine, "candidate", 5), naive(machine, "naive", 10);
  const TimedComparison seen = measure(&candidate, &naive, nullptr, &machine, {});
  CHECK(seen.clock_median == 1980u);
}

TEST_CASE("timing: the order within rounds is drawn anew") {
  // A machine on which the first after a pause is slower: a fixed order would favour one of them.
  class Ordered : public Simulated {
   public:
    Ordered(Machine& machine, std::string name, std::string& log)
        : Simulated(machine, std::move(name), 10), log_(log) {}
    Sample run() override {
      log_ += name();
      return Simulated::run();
    }

   private:
    std::string& log_;
  };
  Machine machine(4);
  std::string log;
  Ordered a(machine, "A", log), b(machine, "B", log);
  Options options;
  options.seed = 2;
  options.min_rounds = options.max_rounds = 30;
  measure(&a, &b, nullptr, &machine, options);
  const std::string rounds = log.substr(log.size() - 60);
  int first = 0;
  for (std::size_t i = 0; i < rounds.size(); i += 2) {
    CHECK(rounds[i] != rounds[i + 1]);
    first += rounds[i] == 'A' ? 1 : 0;
  }
  CHECK(first > 5);
  CHECK(first < 25);
}

TEST_CASE("timing: candidates that share rounds get the ratios that they would get alone") {
  Machine machine(21);
  Simulated fast(machine, "fast", 2.5), slow(machine, "slow", 15), naive(machine, "naive", 10),
      cublas(machine, "cuBLAS", 1);
  Options options;
  options.seed = 6;
  const auto seen = measure({&fast, &slow}, &naive, &cublas, &machine, options);
  REQUIRE(seen.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    INFO(i);
    const double ms = i == 0 ? 2.5 : 15;
    CHECK(seen[i].outcome == TimingOutcome::measured);
    CHECK(seen[i].verified);
    CHECK(seen[i].rounds >= options.min_rounds);
    REQUIRE(seen[i].candidate);
    CHECK(seen[i].candidate->name == (i == 0 ? "fast" : "slow"));
    REQUIRE(seen[i].over_naive);
    REQUIRE(seen[i].over_cublas);
    CHECK(std::abs(seen[i].over_naive->middle / (10 / ms) - 1) < 0.03);
    CHECK(std::abs(seen[i].over_cublas->middle / (1 / ms) - 1) < 0.03);
  }
  CHECK(seen[0].naive->ms == seen[1].naive->ms);  // the yardsticks ran once for both
  CHECK(fast.finished);
  CHECK(slow.finished);
}

TEST_CASE("timing: of candidates that share rounds, one in trouble leaves the others alone") {
  class Late : public Simulated {  // its outputs change while another one has its turn
   public:
    using Simulated::Simulated;
    Trouble still_there() override {
      Trouble trouble;
      if (runs >= 9) trouble.kind = Trouble::Kind::late_write;
      return trouble;
    }
  };
  for (const int wrong_at : {1, 2, 5, 8}) {
    INFO(wrong_at);
    Machine machine(22);
    Simulated honest(machine, "honest", 5), wrong(machine, "wrong", 5), naive(machine, "naive", 10);
    Late late(machine, "late", 4);
    wrong.wrong_at = wrong_at;
    Options options;
    options.seed = static_cast<std::uint64_t>(wrong_at);
    const auto seen = measure({&wrong, &honest, &late}, &naive, nullptr, &machine, options);
    CHECK(seen[0].trouble.kind == Trouble::Kind::wrong);
    CHECK_FALSE(seen[0].verified);
    CHECK(wrong.runs == wrong_at);
    CHECK(seen[2].trouble.kind == Trouble::Kind::late_write);
    CHECK(late.runs >= 9);
    CHECK(late.runs < 15);
    CHECK(seen[1].outcome == TimingOutcome::measured);
    CHECK(seen[1].verified);
    CHECK(seen[1].rounds >= options.min_rounds);
    REQUIRE(seen[1].over_naive);
    CHECK(std::abs(seen[1].over_naive->middle / 2 - 1) < 0.03);
  }
}

TEST_CASE("timing: a known length is taken after one launch; warm is when times agree") {
  class Known : public Simulated {
   public:
    using Simulated::Simulated;
    unsigned known_launches() const override { return 44; }
    Trouble prepare(unsigned launches, std::uint64_t request) override {
      lengths.push_back(launches);
      return Simulated::prepare(launches, request);
    }
    std::vector<unsigned> lengths;
  };
  Machine machine(23);
  machine.drift = machine.noise = machine.outliers = machine.throttles = 0;
  Known candidate(machine, "candidate", 2.5);
  Simulated naive(machine, "naive", 10);
  Options options;
  options.seed = 1;
  options.warm_up_seconds = 0.1;
  measure(&candidate, &naive, nullptr, &machine, options);
  REQUIRE(candidate.lengths.size() > 3);
  CHECK(candidate.lengths[0] == 1);
  CHECK(candidate.lengths[1] == 44);
  // One launch, the list, one request that agrees with it, ten rounds.
  CHECK(candidate.runs == 13);

  // A chip that slows down as it gets warm is waited for, but not for ever.
  class Warming : public Simulated {
   public:
    using Simulated::Simulated;
    Sample run() override {
      Sample sample = Simulated::run();
      sample.seconds *= 1 + 0.3 * static_cast<double>(std::min(runs, settles)) / 10;
      return sample;
    }
    int settles = 8;
  };
  for (const int settles : {8, 1000}) {
    Machine other(24);
    other.drift = other.noise = other.outliers = other.throttles = 0;
    Warming warming(other, "candidate", 100);
    warming.settles = settles;
    Simulated beside(other, "naive", 100);
    Options ten;
    ten.max_rounds = ten.min_rounds;
    measure(&warming, &beside, nullptr, &other, ten);
    const int before_rounds = warming.runs - 10;
    CHECK(before_rounds >= (settles == 8 ? 6 : 2));
    CHECK(before_rounds < 15);
  }
}

TEST_CASE("timing: wrong code is never timed") {
  for (const int at : {1, 2, 5, 12}) {
    Machine machine(7);
    Simulated candidate(machine, "candidate", 5), naive(machine, "naive", 10);
    candidate.wrong_at = at;
    Options options;
    options.seed = 1;
    const TimedComparison seen = measure(&candidate, &naive, nullptr, &machine, options);
    CHECK(seen.outcome == TimingOutcome::trouble);
    CHECK(seen.trouble.kind == Trouble::Kind::wrong);
    CHECK_FALSE(seen.verified);
    CHECK(candidate.runs == at);  // nothing runs after that
    CHECK(candidate.finished);
    const SpeedDecision decision = judge_speed(goal_at(0.1), seen, "sm_90");
    CHECK(decision.verdict == SpeedVerdict::fail);
    CHECK(decision.reason == "speed.not_right");
  }
}

TEST_CASE("timing: late writes count, found before the next request or after the process is gone") {
  Machine machine(8);
  Simulated candidate(machine, "candidate", 5), naive(machine, "naive", 10);
  candidate.late_at = 9;
  Options options;
  CHECK(measure(&candidate, &naive, nullptr, nullptr, options).trouble.kind ==
        Trouble::Kind::late_write);
  Simulated other(machine, "candidate", 5);
  other.late_at_end = true;
  const TimedComparison seen = measure(&other, &naive, nullptr, nullptr, options);
  CHECK(seen.outcome == TimingOutcome::trouble);
  CHECK(seen.trouble.kind == Trouble::Kind::late_write);
  CHECK_FALSE(seen.verified);
}

TEST_CASE("timing: every round counts, whatever the clock reads") {
  Machine machine(11);
  machine.throttles = 0.03;
  machine.clock_drop = 0.7;
  Simulated candidate(machine, "candidate", 15), naive(machine, "naive", 10);
  Options options;
  options.seed = 4;
  options.min_rounds = options.max_rounds = 30;
  const TimedComparison seen = measure(&candidate, &naive, nullptr, &machine, options);
  CHECK(seen.rounds == 30);
  REQUIRE(seen.over_naive);
  CHECK(std::abs(seen.over_naive->middle / (10.0 / 15) - 1) < 0.02);
  CHECK(seen.clock_low == 1386u);
  CHECK(seen.clock_high == 1980u);

  // A machine of two states that its clock shows: to choose rounds by it would give wrong verdicts.
  for (void (*change)(Machine&) :
       {+[](Machine& m) { m.two_states = 1.08; }, +[](Machine& m) { m.two_states = 1.20; }}) {
    CHECK(verdicts(0.54, 300, change).pass == 0);
    CHECK(verdicts(0.64, 300, change).fail == 0);
  }
}

TEST_CASE("timing: cross-checks say suspect") {
  Machine machine(12);
  Options options;
  options.seed = 4;
  Simulated lies(machine, "candidate", 10), naive(machine, "naive", 10);
  lies.event_share = 0.5;
  CHECK(measure(&lies, &naive, nullptr, nullptr, options).suspect.size() == 1);

  // A yardstick that slows down as soon as the candidate's process exists.
  class Slowed : public Simulated {
   public:
    Slowed(Machine& machine, const Simulated& cause)
        : Simulated(machine, "naive", 10), cause_(cause) {}
    Sample run() override {
      Sample sample = Simulated::run();
      if (cause_.prepared > 0) sample.seconds *= 1.6;
      return sample;
    }

   private:
    const Simulated& cause_;
  };
  Simulated thief(machine, "candidate", 10);
  Slowed victim(machine, thief);
  const TimedComparison seen = measure(&thief, &victim, nullptr, nullptr, options);
  REQUIRE(seen.suspect.size() == 1);
  CHECK(judge_speed(goal_at(0.9), seen, "sm_90").suspect);
}

TEST_CASE("speed verdicts: a fail beside other processes is inconclusive") {
  TimedComparison seen;
  seen.over_naive = statistics::Interval{0.40, 0.41, 0.42};
  seen.rounds = 10;
  CHECK(judge_speed(goal_at(0.6), seen, "sm_90").verdict == SpeedVerdict::fail);
  seen.others = 1;
  SpeedDecision decision = judge_speed(goal_at(0.6), seen, "sm_90");
  CHECK(decision.verdict == SpeedVerdict::inconclusive);
  CHECK(decision.reason == "speed.busy");
  CHECK(judge_speed(goal_at(0.3), seen, "sm_90").verdict == SpeedVerdict::pass);
  seen.others = 0;
  seen.asked.m = 4096;  // but memory was short
  seen.problem.m = 2048;
  decision = judge_speed(goal_at(0.6), seen, "sm_90");
  CHECK(decision.verdict == SpeedVerdict::inconclusive);
  CHECK(decision.reason == "speed.memory_short");
  CHECK(judge_speed(goal_at(0.3), seen, "sm_90").verdict == SpeedVerdict::pass);
}

TEST_CASE("speed verdicts: two bars, architectures, no cuBLAS") {
  SpeedGoal goal = goal_at(2);
  goal.bars.cublas = 0.5;
  goal.arch["sm_75"].cublas = 0.3;
  TimedComparison seen;
  seen.rounds = 10;
  seen.over_naive = statistics::Interval{2.9, 3, 3.1};
  seen.over_cublas = statistics::Interval{0.395, 0.4, 0.405};
  SpeedDecision decision = judge_speed(goal, seen, "sm_90");
  CHECK(decision.verdict == SpeedVerdict::fail);
  CHECK(decision.by == "cublas");
  CHECK(decision.ratio == 0.4);
  CHECK(decision.bar == 0.5);
  decision = judge_speed(goal, seen, "sm_75");
  CHECK(decision.verdict == SpeedVerdict::pass);
  CHECK(decision.by == "cublas");
  CHECK(decision.bars.naive == 2);
  seen.over_cublas.reset();
  CHECK(judge_speed(goal, seen, "sm_90").verdict == SpeedVerdict::pass);
  goal.bars.naive.reset();
  decision = judge_speed(goal, seen, "sm_90");
  CHECK(decision.verdict == SpeedVerdict::not_measured);
  CHECK(decision.reason == "speed.no_cublas");
  const Options options = options_for(goal, "sm_75");
  CHECK_FALSE(options.naive);
  CHECK(options.cublas_bar == 0.3);
}

TEST_CASE("timing: short memory makes requests shorter, not wrong") {
  Machine machine(13);
  Simulated candidate(machine, "candidate", 1), naive(machine, "naive", 10);
  candidate.most = 20;
  Options options;
  const TimedComparison seen = measure(&candidate, &naive, nullptr, nullptr, options);
  REQUIRE(seen.candidate);
  CHECK(seen.candidate->launches == 20);
  CHECK(seen.outcome == TimingOutcome::measured);
}

TEST_CASE("roofline: what no kernel can exceed") {
  DeviceInfo device;
  device.major = 9;
  device.multiprocessors = 132;
  device.clock_khz = 1980000;
  // A third of the rate of TF32, which beats that of multiply-adds in FP32, 66.9.
  CHECK(std::abs(roofline_tflops(device, gpu::protocol::Type::float32, {}) - 178.2) < 0.1);
  CHECK(std::abs(roofline_tflops(device, gpu::protocol::Type::float64, {}) - 66.9) < 0.1);
  CHECK(std::abs(roofline_tflops(device, gpu::protocol::Type::bfloat16, 1830) - 989) < 1);
  device.major = 7, device.minor = 5;  // no TF32
  CHECK(std::abs(roofline_tflops(device, gpu::protocol::Type::float32, {}) - 33.5) < 0.1);
  device.major = 3;
  CHECK(roofline_tflops(device, gpu::protocol::Type::float32, {}) == 0);
}
