// The rounds of a measurement, on anyone who takes part; the protocol stands in timing.hpp.
#include "grader/gpu/timing.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <random>
#include <utility>

#include <fmt/core.h>

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
/// A request may be so much shorter than asked for before its list is made longer.
constexpr double short_request = 0.85;
/// Warm: a participant's requests agree to this.
constexpr double steady_within = 0.02;

/// One participant with all that was measured of it.
struct Slot {
  Participant* who = nullptr;
  unsigned launches = 1;
  double alone_ms = 0;  ///< per launch, when its list was found: see alone_at_first()
  double last_ms = 0;   ///< per launch, of its last request
  std::vector<Taken> rounds;
  // Of candidates:
  TimedComparison* result = nullptr;
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

  std::vector<TimedComparison> run() {
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
      TimedComparison& result = *candidate.result;
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
      candidate.result->outcome = TimingOutcome::trouble;
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
    TimedComparison& result = *candidate.result;
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
    const TimedComparison& result = *candidates_.front().result;
    return open(result.over_naive, options_.naive_bar) ||
           open(result.over_cublas, options_.cublas_bar);
  }

  void cross_check(const Slot& candidate) {
    TimedComparison& result = *candidate.result;
    if (result.outcome != TimingOutcome::measured || result.rounds == 0) return;
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

  static std::string milliseconds(double ms) { return fmt::format("{:.4g}", ms); }

  Observer* const observer_;
  const Options& options_;
  inputs::SplitMix64 random_;
  Slot naive_, cublas_;
  std::vector<Slot> candidates_;  ///< one without a participant: yardsticks alone
  std::vector<Slot*> slots_;      ///< who takes part, still
  Slot* wrote_last_ = nullptr;    ///< of the candidates
  std::vector<TimedComparison> results_;
  std::size_t rounds_ = 0;
  unsigned blocks_ = 0, others_ = 0;
  std::uint64_t throttle_ = 0;
  double heated_ = 0;  ///< seconds of requests before the first round
};

}  // namespace

std::uint64_t system_seed() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

double Series::median_ms() const {
  return ms.empty() ? 0 : statistics::median(ms);
}

double TimedComparison::tflops() const {
  if (!candidate || candidate->ms.empty()) return 0;
  return problem.flops() / candidate->median_ms() * 1e-9;
}

TimedComparison measure(Participant* candidate, Participant* naive, Participant* cublas,
                        Observer* observer, const Options& options) {
  std::vector<Participant*> candidates;
  if (candidate) candidates.push_back(candidate);
  return std::move(Measurement(candidates, naive, cublas, observer, options).run().front());
}

std::vector<TimedComparison> measure(const std::vector<Participant*>& candidates,
                                     Participant* naive, Participant* cublas, Observer* observer,
                                     const Options& options) {
  return Measurement(candidates, naive, cublas, observer, options).run();
}

}  // namespace grader::gpu
