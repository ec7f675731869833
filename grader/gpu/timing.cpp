#include "grader/gpu/timing.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

#include "common/inputs.hpp"
#include "grader/gpu/link.hpp"
#include "grader/messages.hpp"

namespace grader::gpu {
namespace {

using messages::text;
using statistics::Interval;

/// How often a yardstick alone may be as fast as in the rounds before that is suspect: tensor
/// kernels settle 15 % below their first rate, and processes that take turns cost a little.
constexpr double allowed_slowdown = 1.3;
// Of the bootstrap: while rounds go on, and for the verdict.
constexpr int few_resamples = 300, many_resamples = 2000;
constexpr double allowed_event_gap = 0.10;
constexpr double above_roofline = 1.05;
/// A request may be so much shorter than asked for before its list is made longer.
constexpr double short_request = 0.85;
/// Warm: a participant's requests agree to this.
constexpr double steady_within = 0.02;

std::uint64_t system_seed() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

/// One participant with all that was measured of it.
struct Slot {
  Participant* who = nullptr;
  unsigned launches = 1;
  double alone_ms = 0;  ///< per launch, when its list was found: see alone_at_first()
  double last_ms = 0;   ///< per launch, of its last request
  std::vector<Taken> rounds;
  // Of candidates:
  Comparison* result = nullptr;
  bool out = false;  ///< got into trouble
};

class Measurement {
 public:
  Measurement(const std::vector<Participant*>& candidates, Participant* naive, Participant* cublas,
              Observer* observer, const Options& options)
      : observer_(observer),
        options_(options),
        random_(options.seed != 0 ? options.seed : system_seed()),
        candidates_(std::max<std::size_t>(1, candidates.size())),
        results_(candidates_.size()) {
    naive_.who = naive;
    cublas_.who = cublas;
    for (Slot* slot : {&naive_, &cublas_})
      if (slot->who) slots_.push_back(slot);
    // The candidates last: before, yardsticks are alone.
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      candidates_[i].result = &results_[i];
      if (i >= candidates.size() || !candidates[i]) continue;  // yardsticks alone
      candidates_[i].who = candidates[i];
      slots_.push_back(&candidates_[i]);
    }
  }

  std::vector<Comparison> run() {
    const auto start = std::chrono::steady_clock::now();
    everything();
    for (Slot& candidate : candidates_)
      if (candidate.who)
        if (const Trouble late = candidate.who->finish()) drop(candidate, late);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (Slot& candidate : candidates_) {
      evaluate(candidate);
      cross_check(candidate);
      Comparison& result = *candidate.result;
      result.verified = candidate.who != nullptr && !candidate.out;
      result.seed = options_.seed;
      result.blocks = blocks_;
      result.throttle = throttle_;
      result.others = others_;
      result.seconds = seconds;
    }
    return std::move(results_);
  }

 private:
  void everything() {
    for (Slot* slot : std::vector<Slot*>(slots_))
      if (!slot->out) find_length(*slot);
    if (!anyone()) return;
    warm_up();
    const bool alone = candidates_.size() == 1;
    for (unsigned block = 0; block <= (alone ? options_.extra_blocks : 0); ++block) {
      ++blocks_;
      for (unsigned round = 0; round < options_.max_rounds; ++round) {
        one_round();
        if (!anyone()) return;
        const bool enough = round + 1 >= options_.min_rounds;
        if (!enough && round + 1 < options_.clear_rounds) continue;
        for (Slot& candidate : candidates_) evaluate(candidate, few_resamples);
        if (clear() || (enough && settled())) break;
      }
      evaluate(candidates_.front());
      if (!alone || !straddles()) break;
    }
  }

  /// Somebody is left to be measured.
  bool anyone() const {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [](const Slot& one) { return !one.out; });
  }

  void drop(Slot& slot, const Trouble& trouble) {
    // Trouble of a yardstick is everybody's.
    for (Slot& candidate : candidates_) {
      if ((slot.result != nullptr && &candidate != &slot) || candidate.out) continue;
      candidate.out = true;
      candidate.result->outcome = Outcome::trouble;
      candidate.result->trouble = trouble;
    }
    slot.out = true;
    slots_.erase(std::remove_if(slots_.begin(), slots_.end(), [](Slot* s) { return s->out; }),
                 slots_.end());
  }

  /// One request: prepared, timed, verified. Empty: it was its last, there is trouble.
  std::optional<Taken> request(Slot& slot) {
    if (slot.result != nullptr) {
      // What the candidate before it left must still be there: its outputs are taken over now.
      if (Slot* const before = std::exchange(wrote_last_, &slot);
          before != nullptr && before != &slot && !before->out)
        if (const Trouble late = before->who->still_there()) drop(*before, late);
    }
    Trouble trouble = slot.who->prepare(slot.launches, random_());
    Taken taken;
    if (!trouble) {
      const auto run = [&] { taken.sample = slot.who->run(); };
      if (observer_)
        taken.conditions = observer_->during(run);
      else
        run();
      trouble = slot.who->verify();
    }
    if (trouble) {
      drop(slot, trouble);
      return {};
    }
    slot.last_ms = taken.sample.per_launch_ms();
    note(taken.conditions);
    return taken;
  }

  void note(const Conditions& conditions) {
    if (conditions.throttle) throttle_ |= *conditions.throttle;
    if (conditions.compute_processes) {
      const auto ours = static_cast<unsigned>(Link::alive());
      if (*conditions.compute_processes > ours)
        others_ = std::max(others_, *conditions.compute_processes - ours);
    }
  }

  /// Makes the list so long that a request lasts as long as it must. The first one of a kernel
  /// loads its code: lists grow tenfold at most, each measured anew.
  void find_length(Slot& slot) {
    const unsigned most = std::max(1u, slot.who->most_launches());
    for (int step = 0; step < 12; ++step) {
      const auto taken = request(slot);
      if (!taken) return;
      heated_ += taken->sample.seconds;
      const bool long_enough = taken->sample.seconds >= short_request * options_.request_seconds;
      if (step > 0 || long_enough) slot.alone_ms = taken->sample.per_launch_ms();
      if (long_enough || slot.launches >= most) return;
      slot.launches = step == 0 && slot.who->known_launches() > 0
                          ? std::clamp(slot.who->known_launches(), 1u, most)
                          : longer(slot.launches, taken->sample.seconds, most);
    }
  }

  unsigned longer(unsigned launches, double seconds, unsigned most) const {
    const double wanted = 1.1 * options_.request_seconds / std::max(seconds, 1e-7) * launches;
    const double capped = std::min({std::ceil(wanted), 10.0 * launches, static_cast<double>(most)});
    return std::max(launches, static_cast<unsigned>(capped));
  }

  void warm_up() {
    const double least = options_.warm_up_seconds, most = 4 * options_.warm_up_seconds;
    for (bool steady = false; heated_ < least || (!steady && heated_ < most);) {
      steady = true;
      for (Slot* slot : std::vector<Slot*>(slots_)) {
        if (slot->out) continue;
        const double before = slot->last_ms;
        const auto taken = request(*slot);
        if (!taken) {
          if (!anyone()) return;
          continue;
        }
        heated_ += taken->sample.seconds;
        steady = steady && std::abs(slot->last_ms - before) <= steady_within * slot->last_ms;
      }
    }
  }

  void one_round() {
    std::vector<Slot*> order = slots_;
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random_() >> 11) % i]);
    for (Slot* slot : order) {
      if (slot->out) continue;
      const auto taken = request(*slot);
      if (!taken) {
        if (!anyone()) return;
        continue;
      }
      slot->rounds.push_back(*taken);
      if (taken->sample.seconds < short_request * options_.request_seconds)
        slot->launches = longer(slot->launches, taken->sample.seconds, slot->who->most_launches());
    }
    ++rounds_;
  }

  /// Who is compared in a candidate's result.
  std::vector<const Slot*> party(const Slot& candidate) const {
    std::vector<const Slot*> list;
    for (const Slot* slot : {&naive_, &cublas_, &candidate})
      if (slot->who) list.push_back(slot);
    return list;
  }

  void evaluate(const Slot& candidate, int resamples = many_resamples) {
    Comparison& result = *candidate.result;
    const std::size_t rounds = candidate.who ? std::min(rounds_, candidate.rounds.size()) : rounds_;
    result.rounds = static_cast<unsigned>(rounds);
    const auto series = [&](const Slot& slot) -> std::optional<Series> {
      if (!slot.who) return {};
      Series one;
      one.name = slot.who->name();
      one.launches = slot.launches;
      for (std::size_t i = 0; i < rounds; ++i) {
        const Sample& sample = slot.rounds[i].sample;
        one.ms.push_back(sample.per_launch_ms());
        one.device_ms.push_back(sample.launches ? 1e3 * sample.device_seconds / sample.launches
                                                : 0);
      }
      return one;
    };
    result.candidate = series(candidate);
    result.naive = series(naive_);
    result.cublas = series(cublas_);
    const auto ratio = [&](const std::optional<Series>& yardstick) -> std::optional<Interval> {
      if (!yardstick || !result.candidate || rounds == 0) return {};
      std::vector<double> ratios;
      for (std::size_t i = 0; i < rounds; ++i) {
        if (!(yardstick->ms[i] > 0 && result.candidate->ms[i] > 0)) return {};
        ratios.push_back(yardstick->ms[i] / result.candidate->ms[i]);
      }
      return statistics::median_interval(ratios, 0.95, resamples);
    };
    result.over_naive = ratio(result.naive);
    result.over_cublas = ratio(result.cublas);
    std::vector<double> clocks;
    for (const Slot* slot : party(candidate))
      for (const Taken& taken : slot->rounds)
        if (taken.conditions.sm_clock_mhz) clocks.push_back(*taken.conditions.sm_clock_mhz);
    if (!clocks.empty()) {
      const auto [low, high] = std::minmax_element(clocks.begin(), clocks.end());
      result.clock_low = static_cast<unsigned>(*low);
      result.clock_high = static_cast<unsigned>(*high);
      result.clock_median = static_cast<unsigned>(statistics::median(clocks));
    }
  }

  /// All ratios are known as well as they must be. Yardsticks alone: after the fewest rounds.
  bool settled() const {
    const auto known = [&](const std::optional<Interval>& ratio) {
      return !ratio || ratio->half_width() <= options_.half_width * ratio->middle;
    };
    return std::all_of(candidates_.begin(), candidates_.end(), [&](const Slot& one) {
      return !one.who || one.out ||
             (one.result->rounds >= options_.min_rounds && known(one.result->over_naive) &&
              known(one.result->over_cublas));
    });
  }

  /// Nobody would doubt a verdict: all of a goal's bars are met by far, or one is missed by far.
  bool clear() const {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Slot& one = candidates_[i];
      if (one.out) continue;
      std::vector<Options::Bars> bars = {{options_.naive_bar, options_.cublas_bar}};
      if (candidates_.size() > 1)
        bars = i < options_.shared_bars.size() ? options_.shared_bars[i] : decltype(bars)();
      bool any = false, all = one.who != nullptr && one.result->rounds >= options_.clear_rounds;
      for (const Options::Bars& goal : bars) {
        bool judged = false, met = true, missed = false;
        const auto look = [&](const std::optional<Interval>& ratio,
                              const std::optional<double>& bar) {
          if (!ratio || !bar) return;
          const double edge = *bar * (1 - options_.grace), far = 1 + options_.clear_of_bar;
          const double width = ratio->high - ratio->low;
          judged = true;
          met = met && ratio->low >= std::max(edge * far, edge + width);
          missed = missed || ratio->high < std::min(edge / far, edge - width);
        };
        look(one.result->over_naive, goal.naive);
        look(one.result->over_cublas, goal.cublas);
        any = any || judged;
        all = all && (!judged || met || missed);  // one bar that is missed decides
      }
      if (!any || !all) return false;
    }
    return true;
  }

  /// A bar lies inside an interval: another block may tell.
  bool straddles() const {
    const auto open = [&](const std::optional<Interval>& ratio, const std::optional<double>& bar) {
      return ratio && bar &&
             statistics::decide(*ratio, *bar, options_.grace) == statistics::Decision::inconclusive;
    };
    const Comparison& result = *candidates_.front().result;
    return open(result.over_naive, options_.naive_bar) ||
           open(result.over_cublas, options_.cublas_bar);
  }

  void cross_check(const Slot& candidate) {
    Comparison& result = *candidate.result;
    if (result.outcome != Outcome::measured || result.rounds == 0) return;
    if (result.candidate) {
      const double wall = result.candidate->median_ms(),
                   events = statistics::median(result.candidate->device_ms);
      if (events > 0 && std::abs(events - wall) > allowed_event_gap * wall)
        result.suspect.push_back(text("speed.suspect.events", {{"events", milliseconds(events)},
                                                               {"wall", milliseconds(wall)}}));
    }
    for (const Slot* slot : {&naive_, &cublas_}) {
      if (!slot->who || !candidate.who || slot->alone_ms <= 0 || !alone_at_first()) continue;
      const auto& series = slot == &naive_ ? result.naive : result.cublas;
      if (series->median_ms() > allowed_slowdown * slot->alone_ms)
        result.suspect.push_back(
            text("speed.suspect.slower", {{"name", series->name},
                                          {"alone", milliseconds(slot->alone_ms)},
                                          {"beside", milliseconds(series->median_ms())}}));
    }
  }

  /// Were yardsticks measured once before any candidate had a process?
  bool alone_at_first() const { return candidates_.size() == 1 && !options_.keep_process; }

  static std::string milliseconds(double ms) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", ms);
    return text.data();
  }

  Observer* const observer_;
  const Options& options_;
  inputs::SplitMix64 random_;
  Slot naive_, cublas_;
  std::vector<Slot> candidates_;  ///< one without a participant: yardsticks alone
  std::vector<Slot*> slots_;      ///< who takes part, still
  Slot* wrote_last_ = nullptr;    ///< of the candidates
  std::vector<Comparison> results_;
  std::size_t rounds_ = 0;
  unsigned blocks_ = 0, others_ = 0;
  std::uint64_t throttle_ = 0;
  double heated_ = 0;  ///< seconds of requests before the first round
};

// ------------------------------------------------------------------------------------------------
// on a GPU

using protocol::Launch;

/// The products of one request. From three pairs on neighbours share neither A nor B; while there
/// are more pairs than launches no product occurs twice. Which is which is drawn for each request.
std::vector<Launch> product_list(unsigned launches, const Buffers& buffers, unsigned outputs,
                                 std::uint64_t seed) {
  inputs::SplitMix64 random(seed);
  const auto shuffled = [&](unsigned count) {
    std::vector<std::uint16_t> order(count);
    std::iota(order.begin(), order.end(), std::uint16_t{0});
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random() >> 11) % i]);
    return order;
  };
  const auto a = shuffled(buffers.a), b = shuffled(buffers.b), c = shuffled(outputs);
  std::vector<Launch> list(launches);
  for (unsigned t = 0; t < launches; ++t) {
    Launch& one = list[t];
    one.a = a[t % buffers.a];
    one.b = b[(t + t / buffers.a) % buffers.b];
    one.c = c[t % outputs];
  }
  return list;
}

/// Of each output, only the last launch that wrote it.
std::vector<Launch> last_writers(const std::vector<Launch>& list, unsigned outputs) {
  if (list.size() <= outputs) return list;
  return {list.end() - outputs, list.end()};
}

/// Buffers of the worker, as many as the longest list of the candidate needs.
class Stage {
 public:
  /// `candidates` of them may have buffers open.
  Stage(Worker& worker, const Problem& problem, bool reuse, std::size_t candidates)
      : worker_(worker), problem_(problem), reuse_(reuse), several_(candidates > 1) {
    const double cache =
        3.0 * static_cast<double>(std::max<std::uint64_t>(worker.info().l2_bytes, 1u << 20));
    const auto ring = [&](double bytes, double most) {
      return static_cast<unsigned>(std::clamp(std::ceil(cache / std::max(bytes, 1.0)), 2.0, most));
    };
    pair_ring_ =
        ring(static_cast<double>(problem.bytes_a() + problem.bytes_b()), largest_pair_ring);
    own_ = ring(static_cast<double>(problem.bytes_c()), largest_own_ring);
  }

  /// False: not even the least fits.
  bool begin() {
    try {
      worker_.prepare({problem_.type, 1, 1, 1}, {1, 1, 1, 1});  // frees what there was
    } catch (const DeviceMemoryShort&) {
      return false;
    }
    const std::uint64_t free = worker_.free_memory();
    const auto reserve = std::max<std::uint64_t>(free / 10, 256u << 20);  // the runner's context
    budget_ = free > reserve ? free - reserve : 0;
    // What others still have open is freed when they open what replaces it.
    if (several_) budget_ /= 2;
    for (;; pair_ring_ = std::max(2u, pair_ring_ / 2), own_ = std::max(2u, own_ / 2)) {
      if (bytes_of(problem_, buffers_for(4)) <= budget_) return allocate(reuse_ ? own_ : 4);
      if (pair_ring_ == 2 && own_ == 2) return false;
    }
  }

  /// Room for a list of this length; new ones if there was too little.
  bool ensure(unsigned launches) {
    const unsigned outputs = outputs_for(launches);
    const Buffers wanted = buffers_for(outputs);
    const Buffers& has = worker_.buffers();
    return (has.c >= outputs && has.a >= wanted.a) || allocate(outputs);
  }

  unsigned most_launches() const {
    unsigned low = 1, high = static_cast<unsigned>(protocol::kMaxLaunches);
    if (reuse_) return high;
    while (low < high) {
      const unsigned middle = low + (high - low + 1) / 2;
      if (bytes_of(problem_, buffers_for(middle)) <= budget_)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }

  unsigned outputs_for(unsigned launches) const {
    return reuse_ ? std::min(launches, std::max(own_, 2u)) : launches;
  }

  Worker& worker() const { return worker_; }
  unsigned own() const { return own_; }
  std::uint64_t generation() const { return generation_; }
  bool reuse() const { return reuse_; }

 private:
  static constexpr double largest_pair_ring = 512, largest_own_ring = 512;

  Buffers buffers_for(unsigned outputs) const {
    const auto side = static_cast<unsigned>(std::ceil(std::sqrt(static_cast<double>(outputs))));
    const unsigned pairs = reuse_ ? pair_ring_ : std::max(pair_ring_, side);
    return {pairs, pairs, outputs, own_};
  }
  bool allocate(unsigned outputs) {
    ++generation_;
    try {
      worker_.prepare(problem_, buffers_for(outputs));
    } catch (const DeviceMemoryShort&) {
      return false;
    }
    worker_.fill(system_seed());
    return true;
  }

  Worker& worker_;
  Problem problem_;
  bool reuse_, several_;
  unsigned pair_ring_ = 2, own_ = 2;
  std::uint64_t budget_ = 0, generation_ = 0;
};

class YardstickParticipant : public Participant {
 public:
  YardstickParticipant(Stage& stage, protocol::Yardstick yardstick, unsigned known)
      : stage_(stage), yardstick_(yardstick), known_(known) {}
  unsigned known_launches() const override { return known_; }
  std::string name() const override {
    return yardstick_ == protocol::Yardstick::naive ? "naive" : "cuBLAS";
  }
  Trouble prepare(unsigned launches, std::uint64_t request) override {
    list_ = product_list(launches, stage_.worker().buffers(), stage_.own(), request);
    return {};
  }
  Sample run() override { return stage_.worker().run(yardstick_, list_); }
  /// Ours, so once is enough: that the yardstick computes what the candidate must.
  Trouble verify() override {
    if (verified_) return {};
    verified_ = true;
    const Verification seen =
        stage_.worker().verify(system_seed(), last_writers(list_, stage_.own()), true);
    if (!seen.right()) throw InfraError("the yardstick " + name() + " computes a wrong product");
    return {};
  }

 private:
  Stage& stage_;
  protocol::Yardstick yardstick_;
  unsigned known_;
  std::vector<Launch> list_;
  bool verified_ = false;
};

class CandidateParticipant : public Participant {
 public:
  CandidateParticipant(Stage& stage, const Competitor& who, bool keep_process)
      : stage_(stage),
        runner_(who.runner),
        entry_(who.entry),
        known_(who.launches),
        keep_process_(keep_process) {}
  std::string name() const override { return entry_; }
  unsigned known_launches() const override { return known_; }
  unsigned most_launches() const override { return stage_.most_launches(); }

  Trouble prepare(unsigned launches, std::uint64_t request) override {
    // What was verified must still be there: nothing of the candidate's may be running on.
    if (const Trouble late = look_again()) return late;
    if (!stage_.ensure(launches))
      throw InfraError("the GPU's memory was taken by others while kernels were timed");
    if (opened_ != stage_.generation() || !runner_.alive()) {
      if (const RunnerFault fault = runner_.open(stage_.worker().arenas()); !fault.none()) {
        // Its context needs memory, too, and how much is the driver's secret.
        if (fault.name == "cudaErrorMemoryAllocation") throw DeviceMemoryShort(0, 0);
        return ended(fault);
      }
      opened_ = stage_.generation();
    }
    stage_.worker().fill(request);
    list_ = product_list(launches, stage_.worker().buffers(), stage_.outputs_for(launches),
                         request ^ 0x5bd1e995u);
    return {};
  }

  Sample run() override {
    const TimedOutcome outcome = runner_.run(entry_, list_);
    fault_ = outcome.fault;
    return outcome.sample;
  }

  Trouble verify() override {
    if (!fault_.none()) return ended(fault_);
    const auto list =
        stage_.reuse()
            ? last_writers(list_, stage_.outputs_for(static_cast<unsigned>(list_.size())))
            : list_;
    const Verification seen = stage_.worker().verify(system_seed(), list);
    if (!seen.right()) {
      Trouble trouble;
      trouble.kind = Trouble::Kind::wrong;
      trouble.verification = seen;
      trouble.detail = describe(seen);
      return trouble;
    }
    sum_ = stage_.worker().checksum();
    return {};
  }

  Trouble still_there() override { return look_again(); }

  Trouble finish() override {
    if (!keep_process_) runner_.kill();
    return look_again();
  }

 private:
  Trouble look_again() {
    if (!sum_) return {};
    const bool same = stage_.worker().checksum() == *sum_;
    sum_.reset();
    if (same) return {};
    Trouble trouble;
    trouble.kind = Trouble::Kind::late_write;
    trouble.detail = text("speed.trouble.late");
    return trouble;
  }

  static Trouble ended(const RunnerFault& fault) {
    if (fault.end == grader::End::infra) throw InfraError(fault.message);
    Trouble trouble;
    trouble.kind =
        fault.end == grader::End::returned ? Trouble::Kind::device : Trouble::Kind::ended;
    trouble.fault = fault;
    trouble.detail = describe(fault);
    return trouble;
  }

  static std::string describe(const RunnerFault& fault) {
    switch (fault.end) {
      case grader::End::hung:
        return text("speed.trouble.hung");
      case grader::End::crashed:
        return text("speed.trouble.crashed", {{"signal", signal_name(fault.signal)}});
      case grader::End::exited:
        return text("speed.trouble.exited", {{"status", std::to_string(fault.exit_status)}});
      case grader::End::threw:
        return text("speed.trouble.threw", {{"what", fault.message}});
      case grader::End::returned:
        return text("speed.trouble.device", {{"call", fault.call}, {"name", fault.name}});
      default:
        return text("speed.trouble.protocol");
    }
  }

  std::string describe(const Verification& seen) const {
    using protocol::Fault;
    if (seen.fault == Fault::inputs) return text("speed.trouble.inputs");
    if (seen.fault == Fault::padding) return text("speed.trouble.padding");
    const std::vector<messages::Gap> gaps = {
        {"launch", std::to_string(seen.launch + 1)},
        {"launches", std::to_string(list_.size())},
        {"row", std::to_string(seen.row)},
        {"wrong", std::to_string(seen.wrong_launches)},
    };
    return text(seen.unwritten                   ? "speed.trouble.unwritten"
                : seen.fault == Fault::precision ? "speed.trouble.precision"
                                                 : "speed.trouble.wrong",
                gaps);
  }

  Stage& stage_;
  Runner& runner_;
  std::string entry_;
  unsigned known_ = 0;
  bool keep_process_ = false;
  std::uint64_t opened_ = 0;
  std::vector<Launch> list_;
  RunnerFault fault_;
  std::optional<std::uint64_t> sum_;
};

/// Starts the processes of several competitors at once: their contexts take a second each. A child
/// ends with the thread that started it, so the threads stay until the measurement is over.
class Starters {
 public:
  void start(const std::vector<Competitor*>& competitors) {
    std::vector<std::future<void>> ready;
    for (Competitor* one : competitors) {
      auto begun = std::make_shared<std::promise<void>>();
      ready.push_back(begun->get_future());
      threads_.emplace_back([one, begun, over = over_] {
        try {
          one->runner.has(one->entry);
        } catch (const std::exception&) {  // said when its turn comes
        }
        begun->set_value();
        over.wait();
      });
    }
    for (auto& one : ready) one.wait();
  }
  ~Starters() {
    end_.set_value();
    for (std::thread& one : threads_) one.join();
  }

 private:
  std::promise<void> end_;
  std::shared_future<void> over_ = end_.get_future().share();
  std::vector<std::thread> threads_;
};

}  // namespace

double Series::median_ms() const {
  return ms.empty() ? 0 : statistics::median(ms);
}

double Series::best_ms() const {
  return ms.empty() ? 0 : *std::min_element(ms.begin(), ms.end());
}

double Comparison::tflops() const {
  if (!candidate || candidate->ms.empty()) return 0;
  return problem.flops() / candidate->median_ms() * 1e-9;
}

Comparison measure(Participant* candidate, Participant* naive, Participant* cublas,
                   Observer* observer, const Options& options) {
  std::vector<Participant*> candidates;
  if (candidate) candidates.push_back(candidate);
  return std::move(Measurement(candidates, naive, cublas, observer, options).run().front());
}

std::vector<Comparison> measure(const std::vector<Participant*>& candidates, Participant* naive,
                                Participant* cublas, Observer* observer, const Options& options) {
  return Measurement(candidates, naive, cublas, observer, options).run();
}

Comparison compare(Worker& worker, Competitor* competitor, const Problem& problem,
                   Observer* observer, const Options& options) {
  std::vector<Competitor*> competitors;
  if (competitor) competitors.push_back(competitor);
  return std::move(compare(worker, competitors, problem, observer, options).front());
}

std::vector<Comparison> compare(Worker& worker, const std::vector<Competitor*>& competitors,
                                const Problem& problem, Observer* observer,
                                const Options& options) {
  std::vector<Comparison> results(std::max<std::size_t>(1, competitors.size()));
  const auto unavailable = [&](Outcome outcome, const std::string& note) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i].asked = results[i].problem = problem;
      results[i].outcome = outcome;
      results[i].note = note;
      if (i < competitors.size()) results[i].entry = competitors[i]->entry;
    }
    return results;
  };
  // Whatever it did before: a process that has seen nothing of this shape.
  if (!options.keep_process)
    for (Competitor* one : competitors) one->runner.kill();
  if (!competitors.empty() && worker.info().sharing == protocol::Sharing::none)
    return unavailable(Outcome::unavailable, text("speed.no_ipc"));

  Problem fitting = problem;
  std::optional<Stage> stage;
  for (;;) {
    stage.emplace(worker, fitting, options.reuse_outputs, competitors.size());
    if (stage->begin()) break;
    Problem smaller = fitting;
    for (int* extent : {&smaller.m, &smaller.n, &smaller.k})
      if (*extent > 1024) *extent = std::max(1024, *extent / 2);
    if (smaller.bytes_a() + smaller.bytes_b() + smaller.bytes_c() ==
        fitting.bytes_a() + fitting.bytes_b() + fitting.bytes_c())
      return unavailable(Outcome::too_large,
                         text("speed.too_large", {{"device", worker.info().name}}));
    fitting = smaller;
  }
  Starters starters;
  if (competitors.size() > 1 && !options.keep_process) starters.start(competitors);
  YardstickParticipant naive(*stage, protocol::Yardstick::naive, options.naive_launches),
      cublas(*stage, protocol::Yardstick::cublas, options.cublas_launches);
  std::deque<CandidateParticipant> candidates;
  std::vector<Participant*> list;
  for (Competitor* one : competitors)
    list.push_back(&candidates.emplace_back(*stage, *one, options.keep_process));
  const bool with_cublas = options.cublas && worker.has(protocol::Yardstick::cublas);
  try {
    results = measure(list, options.naive ? &naive : nullptr, with_cublas ? &cublas : nullptr,
                      observer, options);
  } catch (const DeviceMemoryShort&) {
    for (Competitor* one : competitors) one->runner.kill();
    return unavailable(Outcome::too_large,
                       text("speed.too_large", {{"device", worker.info().name}}));
  }
  const auto shape = [](const Problem& p) {
    return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
  };
  const double peak = roofline_tflops(worker.info(), problem.type, {});
  for (std::size_t i = 0; i < results.size(); ++i) {
    Comparison& result = results[i];
    result.asked = problem;
    result.problem = fitting;
    if (i < competitors.size()) result.entry = competitors[i]->entry;
    if (result.smaller())
      result.note = text(
          "speed.smaller",
          {{"device", worker.info().name}, {"asked", shape(problem)}, {"shape", shape(fitting)}});
    if (peak > 0 && result.outcome == Outcome::measured && result.tflops() > above_roofline * peak)
      result.suspect.push_back(text("speed.suspect.roofline",
                                    {{"rate", std::to_string(static_cast<int>(result.tflops()))},
                                     {"peak", std::to_string(static_cast<int>(peak))}}));
  }
  return results;
}

double roofline_tflops(const DeviceInfo& device, protocol::Type type,
                       std::optional<unsigned> max_clock_mhz) {
  // Multiply-adds per clock and multiprocessor, dense, with FP32 sums where tensor cores have a
  // choice the faster one: "CUDA C++ Programming Guide", table of throughputs, and the
  // architectures' white papers. For an upper bound, never for a score.
  struct Row {
    int arch, int32, fp32, fp64, tf32, half;
  };
  constexpr std::array<Row, 8> rows = {{
      {75, 64, 64, 2, 0, 512},
      {80, 64, 64, 128, 512, 1024},
      {86, 64, 128, 2, 256, 512},
      {87, 64, 128, 2, 256, 512},
      {89, 64, 128, 2, 256, 512},
      {90, 64, 128, 128, 1024, 2048},
      {100, 128, 128, 128, 2048, 4096},
      {120, 128, 128, 2, 512, 1024},
  }};
  const int arch = 10 * device.major + device.minor;
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.arch == arch; });
  const double clock = max_clock_mhz ? 1e6 * *max_clock_mhz : 1e3 * device.clock_khz;
  if (row == rows.end() || clock <= 0) return 0;
  int per_clock = 0;
  switch (type) {
    case protocol::Type::int32:
      per_clock = row->int32;
      break;
    case protocol::Type::float32:
      per_clock = row->fp32;
      break;
    case protocol::Type::float64:
      per_clock = row->fp64;
      break;
    case protocol::Type::tf32:
      per_clock = row->tf32;
      break;
    case protocol::Type::float16:
    case protocol::Type::bfloat16:
      per_clock = row->half;
      break;
  }
  return 2.0 * per_clock * device.multiprocessors * clock * 1e-12;
}

}  // namespace grader::gpu
