// A measurement on a GPU: buffers, the yardsticks and the candidates that take part.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <future>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "common/inputs.hpp"
#include "grader/gpu/timing.hpp"
#include "grader/messages.hpp"

namespace grader::gpu {
namespace {

using messages::text;
using protocol::Launch;

constexpr double above_roofline = 1.05;

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
class BufferPlan {
 public:
  /// `candidates` of them may have buffers open.
  BufferPlan(TimingWorker& worker, const Problem& problem, bool reuse, std::size_t candidates)
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

  TimingWorker& worker() const { return worker_; }
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

  TimingWorker& worker_;
  Problem problem_;
  bool reuse_, several_;
  unsigned pair_ring_ = 2, own_ = 2;
  std::uint64_t budget_ = 0, generation_ = 0;
};

class YardstickParticipant : public Participant {
 public:
  YardstickParticipant(BufferPlan& plan, protocol::Yardstick yardstick, unsigned known)
      : plan_(plan), yardstick_(yardstick), known_(known) {}
  unsigned known_launches() const override { return known_; }
  std::string name() const override {
    return yardstick_ == protocol::Yardstick::naive ? "naive" : "cuBLAS";
  }
  Trouble prepare(unsigned launches, std::uint64_t request) override {
    list_ = product_list(launches, plan_.worker().buffers(), plan_.own(), request);
    return {};
  }
  Sample run() override { return plan_.worker().run(yardstick_, list_); }
  /// Ours, so once is enough: that the yardstick computes what the candidate must.
  Trouble verify() override {
    if (verified_) return {};
    verified_ = true;
    const OutputCheck seen =
        plan_.worker().verify(system_seed(), last_writers(list_, plan_.own()), true);
    if (!seen.right()) throw InfraError("the yardstick " + name() + " computes a wrong product");
    return {};
  }
  /// Of these products, whose outputs are numbered from 0: in the rows that `seed` draws.
  Errors errors(const std::vector<Launch>& list, std::uint64_t seed) {
    plan_.worker().run(yardstick_, list);
    return plan_.worker().verify(seed, list, true).errors;
  }

 private:
  BufferPlan& plan_;
  protocol::Yardstick yardstick_;
  unsigned known_;
  std::vector<Launch> list_;
  bool verified_ = false;
};

class CandidateParticipant : public Participant {
 public:
  CandidateParticipant(BufferPlan& plan, const Competitor& who, const Options& options)
      : plan_(plan),
        runner_(who.runner),
        entry_(who.entry),
        known_(who.launches),
        keep_process_(options.keep_process),
        switch_first_(options.switch_first) {}
  std::string name() const override { return entry_; }
  unsigned known_launches() const override { return known_; }
  unsigned most_launches() const override { return plan_.most_launches(); }

  Trouble prepare(unsigned launches, std::uint64_t request) override {
    // What was verified must still be there: nothing of the candidate's may be running on.
    if (const Trouble late = look_again()) return late;
    if (!plan_.ensure(launches)) {
      // The runner still has the last buffers open, and so keeps their memory. A new one does not.
      runner_.kill();
      if (!plan_.ensure(launches))
        throw InfraError("the GPU's memory was taken by others while kernels were timed");
    }
    if (opened_ != plan_.generation() || !runner_.alive()) {
      if (const RunnerFault fault = runner_.open(plan_.worker().arenas()); !fault.none()) {
        // Its context needs memory, too, and how much is the driver's secret.
        if (fault.name == "cudaErrorMemoryAllocation") throw DeviceMemoryShort(0, 0);
        return ended(fault);
      }
      opened_ = plan_.generation();
    }
    plan_.worker().fill(request);
    list_ = product_list(launches, plan_.worker().buffers(), plan_.outputs_for(launches),
                         request ^ 0x5bd1e995u);
    return {};
  }

  Sample run() override {
    if (switch_first_) runner_.run(entry_, {});
    const TimedOutcome outcome = runner_.run(entry_, list_);
    fault_ = outcome.fault;
    return outcome.sample;
  }

  Trouble verify() override {
    if (!fault_.none()) return ended(fault_);
    const auto list =
        plan_.reuse() ? last_writers(list_, plan_.outputs_for(static_cast<unsigned>(list_.size())))
                      : list_;
    const OutputCheck seen = plan_.worker().verify(system_seed(), list);
    if (!seen.right()) {
      Trouble trouble;
      trouble.kind = Trouble::Kind::wrong;
      trouble.verification = seen;
      trouble.detail = describe(seen);
      return trouble;
    }
    sum_ = plan_.worker().checksum();
    return {};
  }

  Trouble still_there() override { return look_again(); }

  Trouble finish() override {
    if (!keep_process_) runner_.kill();
    return look_again();
  }

  /// Multiplies once more, as many as cuBLAS has outputs for, and says what it multiplied. None if
  /// that is not right.
  std::optional<Errors> errors(std::uint64_t seed, std::vector<Launch>& multiplied) {
    constexpr unsigned most = 16;  // of one verification, see protocol::Verify::sampled
    if (prepare(std::min(most, plan_.own()), seed)) return {};
    run();
    if (!fault_.none()) return {};
    const OutputCheck seen = plan_.worker().verify(seed, list_);
    if (!seen.right()) return {};
    multiplied = list_;
    return seen.errors;
  }

 private:
  Trouble look_again() {
    if (!sum_) return {};
    const bool same = plan_.worker().checksum() == *sum_;
    sum_.reset();
    if (same) return {};
    Trouble trouble;
    trouble.kind = Trouble::Kind::late_write;
    trouble.detail = text("speed.trouble.late");
    return trouble;
  }

  static Trouble ended(const RunnerFault& fault) {
    if (fault.end == grader::CallEnd::infra) throw InfraError(fault.message);
    Trouble trouble;
    trouble.kind =
        fault.end == grader::CallEnd::returned ? Trouble::Kind::device : Trouble::Kind::ended;
    trouble.fault = fault;
    trouble.detail = describe(fault);
    return trouble;
  }

  static std::string describe(const RunnerFault& fault) {
    switch (fault.end) {
      case grader::CallEnd::hung:
        return text("speed.trouble.hung");
      case grader::CallEnd::crashed:
        return text("speed.trouble.crashed", {{"signal", signal_name(fault.signal)}});
      case grader::CallEnd::exited:
        return text("speed.trouble.exited", {{"status", fault.exit_status}});
      case grader::CallEnd::threw:
        return text("speed.trouble.threw", {{"what", fault.message}});
      case grader::CallEnd::returned:
        return text("speed.trouble.device", {{"call", fault.call}, {"name", fault.name}});
      default:
        return text("speed.trouble.protocol");
    }
  }

  std::string describe(const OutputCheck& seen) const {
    using protocol::Fault;
    if (seen.fault == Fault::inputs) return text("speed.trouble.inputs");
    if (seen.fault == Fault::padding) return text("speed.trouble.padding");
    const std::vector<messages::Gap> gaps = {
        {"launch", seen.launch + 1},
        {"launches", list_.size()},
        {"row", seen.row},
        {"wrong", seen.wrong_launches},
    };
    return text(seen.unwritten                   ? "speed.trouble.unwritten"
                : seen.fault == Fault::precision ? "speed.trouble.precision"
                                                 : "speed.trouble.wrong",
                gaps);
  }

  BufferPlan& plan_;
  Runner& runner_;
  std::string entry_;
  unsigned known_ = 0;
  bool keep_process_ = false, switch_first_ = false;
  std::uint64_t opened_ = 0;
  std::vector<Launch> list_;
  RunnerFault fault_;
  std::optional<std::uint64_t> sum_;
};

/// Of a candidate and of cuBLAS, over the same elements: some rows of some products at a time.
void compare_errors(CandidateParticipant& candidate, YardstickParticipant* cublas,
                    TimedComparison& result) {
  constexpr std::uint64_t enough = 1u << 16;  // elements
  constexpr unsigned most = 8;                // requests
  Errors own, library;
  for (unsigned i = 0; i < most && own.elements < enough; ++i) {
    std::vector<Launch> list;
    const std::uint64_t seed = system_seed();
    const std::optional<Errors> seen = candidate.errors(seed, list);
    if (!seen || seen->elements == 0) return;
    own.add(*seen);
    if (cublas) library.add(cublas->errors(list, seed));
  }
  result.errors = own;
  if (cublas) result.cublas_errors = library;
}

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

TimedComparison compare(TimingWorker& worker, Competitor* competitor, const Problem& problem,
                        Observer* observer, const Options& options) {
  std::vector<Competitor*> competitors;
  if (competitor) competitors.push_back(competitor);
  return std::move(compare(worker, competitors, problem, observer, options).front());
}

namespace {

/// Every competitor's result where nothing was measured.
std::vector<TimedComparison> unmeasured(const std::vector<Competitor*>& competitors,
                                        const Problem& problem, TimingOutcome outcome,
                                        const std::string& note) {
  std::vector<TimedComparison> results(std::max<std::size_t>(1, competitors.size()));
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].asked = results[i].problem = problem;
    results[i].outcome = outcome;
    results[i].note = note;
    if (i < competitors.size()) results[i].entry = competitors[i]->entry;
  }
  return results;
}

/// Halves what is above 1024. False: nothing is.
bool make_smaller(Problem& problem) {
  bool smaller = false;
  for (int* extent : {&problem.m, &problem.n, &problem.k}) {
    if (*extent <= 1024) continue;
    *extent = std::max(1024, *extent / 2);
    smaller = true;
  }
  return smaller;
}

/// What holds whatever the rounds gave: the problem that was measured, and whether any chip could
/// be so fast.
void complete(TimedComparison& result, const Problem& asked, const Problem& measured,
              const DeviceInfo& device) {
  result.asked = asked;
  result.problem = measured;
  const auto shape = [](const Problem& p) { return fmt::format("{} x {} x {}", p.m, p.n, p.k); };
  if (result.smaller())
    result.note =
        text("speed.smaller",
             {{"device", device.name}, {"asked", shape(asked)}, {"shape", shape(measured)}});
  const double peak = roofline_tflops(device, asked.type, {});
  if (peak > 0 && result.outcome == TimingOutcome::measured &&
      result.tflops() > above_roofline * peak)
    result.suspect.push_back(
        text("speed.suspect.roofline",
             {{"rate", static_cast<int>(result.tflops())}, {"peak", static_cast<int>(peak)}}));
}

}  // namespace

std::vector<TimedComparison> compare(TimingWorker& worker,
                                     const std::vector<Competitor*>& competitors,
                                     const Problem& problem, Observer* observer,
                                     const Options& options) {
  const DeviceInfo& device = worker.info();
  const auto kill_all = [&] {
    for (Competitor* one : competitors) one->runner.kill();
  };
  const auto too_large = [&] {
    return unmeasured(competitors, problem, TimingOutcome::too_large,
                      text("speed.too_large", {{"device", device.name}}));
  };
  // Whatever it did before: a process that has seen nothing of this shape.
  if (!options.keep_process) kill_all();
  if (!competitors.empty() && device.sharing == protocol::Sharing::none)
    return unmeasured(competitors, problem, TimingOutcome::unavailable, text("speed.no_ipc"));

  Problem fitting = problem;
  std::optional<BufferPlan> plan;
  for (;;) {
    plan.emplace(worker, fitting, options.reuse_outputs, competitors.size());
    if (plan->begin()) break;
    if (!make_smaller(fitting)) return too_large();
  }
  Starters starters;
  if (competitors.size() > 1 && !options.keep_process) starters.start(competitors);
  YardstickParticipant naive(*plan, protocol::Yardstick::naive, options.naive_launches),
      cublas(*plan, protocol::Yardstick::cublas, options.cublas_launches);
  std::deque<CandidateParticipant> candidates;
  std::vector<Participant*> list;
  for (Competitor* one : competitors)
    list.push_back(&candidates.emplace_back(*plan, *one, options));
  const bool with_cublas = options.cublas && worker.has(protocol::Yardstick::cublas);
  std::vector<TimedComparison> results;
  try {
    results = measure(list, options.naive ? &naive : nullptr, with_cublas ? &cublas : nullptr,
                      observer, options);
    if (options.errors && candidates.size() == 1 && results[0].outcome == TimingOutcome::measured)
      compare_errors(candidates[0], with_cublas ? &cublas : nullptr, results[0]);
  } catch (const DeviceMemoryShort&) {
    kill_all();
    return too_large();
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    complete(results[i], problem, fitting, device);
    if (i < competitors.size()) results[i].entry = competitors[i]->entry;
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
    case protocol::Type::float32:  // or three products of TF32, which are as accurate (lab 6.3)
      per_clock = std::max(row->fp32, row->tf32 / 3);
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
