// The engine on a real GPU: worker, runner, timing, and what cheats get. Not part of `make test`,
// which needs no GPU; `make test-gpu` builds and runs it.
//
// Environment: GPU_WORKER, GPU_CHEATS and GPU_NEIGHBOUR are the paths of the programs.
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "common/catch2.hpp"
#include "common/inputs.hpp"
#include "grader/gpu/speed.hpp"
#include "grader/os/process.hpp"

using namespace grader;
using namespace grader::gpu;
using gpu::protocol::Type;
using gpu::protocol::Yardstick;

namespace {

std::string path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  if (!value) throw std::runtime_error(std::string(variable) + " is not set");
  return value;
}

TimingWorker& worker() {
  static TimingWorker one({path_in("GPU_WORKER")});
  return one;
}

Observer& observer() {
  static Nvml one(worker().info().uuid);
  return one;
}

RunnerSpec cheats(int patience_ms = 4000) {
  RunnerSpec spec;
  spec.program = path_in("GPU_CHEATS");
  spec.patience = std::chrono::milliseconds(patience_ms);
  return spec;
}

/// Short, for verdicts that do not depend on precise times.
Options brief() {
  Options options;
  options.request_seconds = 0.02;
  options.warm_up_seconds = 0.02;
  options.min_rounds = options.max_rounds = 3;
  options.extra_blocks = 0;
  options.cublas = false;
  return options;
}

TimedComparison time(const std::string& entry, const Options& options = brief(),
                     int patience_ms = 4000) {
  Runner runner(cheats(patience_ms));
  Competitor competitor{runner, entry};
  const TimedComparison seen =
      compare(worker(), &competitor, {Type::float32, 1024, 1024, 1024}, &observer(), options);
  std::cout << entry << ": " << seen.trouble.detail;
  if (seen.over_naive)
    std::cout << " " << seen.over_naive->middle << " of naive [" << seen.over_naive->low << ", "
              << seen.over_naive->high << "]";
  for (const auto& one : seen.suspect) std::cout << " SUSPECT " << one;
  std::cout << " (" << seen.seconds << " s)\n";
  return seen;
}

/// Another process on this GPU, not one of the judge's.
class Neighbour {
 public:
  Neighbour(const std::string& what, const std::string& how_much) : process_(spec(what, how_much)) {
    for (int i = 0; i < 300 && process_.output().empty(); ++i)
      if (process_.wait(std::chrono::milliseconds(100))) break;
    if (process_.output().empty()) throw std::runtime_error("neighbour: " + process_.errors());
  }

 private:
  static ProcessSpec spec(const std::string& what, const std::string& how_much) {
    ProcessSpec spec;
    spec.argv = {"sh", "-c", "sleep 600 | \"$@\"", "sh", path_in("GPU_NEIGHBOUR"), what, how_much};
    spec.environment = gpu_environment();
    return spec;
  }
  Process process_;
};

Trouble::Kind kind_of(const std::string& entry) {
  return time(entry).trouble.kind;
}

}  // namespace

TEST_CASE("the device tells who it is") {
  const DeviceInfo& device = worker().info();
  std::cout << device.name << " " << device.uuid << " " << device.arch() << " driver "
            << device.driver << " runtime " << device.runtime << " cuBLAS " << device.cublas << " ("
            << device.cublas_path << ") L2 " << (device.l2_bytes >> 20) << " MiB clock "
            << device.clock_khz << " kHz FP32 roofline "
            << roofline_tflops(device, Type::float32, {}) << " TFLOP/s\n";
  const Conditions now = observer().now();
  std::cout << "NVML: clock " << now.sm_clock_mhz.value_or(0) << " MHz, throttle "
            << throttle_text(now.throttle.value_or(0)) << ", processes "
            << now.compute_processes.value_or(99) << ", " << now.power_w.value_or(0) << " W\n";
  // Every Linux driver that CUDA 12 runs on shares memory as files; see gpu/shared_memory.cuh.
  CHECK(device.sharing == gpu::protocol::Sharing::files);
  CHECK(device.uuid.size() == 40);
}

TEST_CASE("yardsticks are right in every type and on ragged shapes") {
  for (const Type type :
       {Type::int32, Type::float32, Type::float64, Type::float16, Type::bfloat16, Type::tf32}) {
    for (const auto [m, n, k] : {std::array{1024, 1024, 1024}, std::array{257, 129, 1000},
                                 std::array{1, 7, 3}, std::array{2048, 512, 4096}}) {
      worker().prepare({type, m, n, k}, {2, 3, 1, 4});
      worker().fill(99);
      const std::vector<gpu::protocol::Launch> list = {
          {0, 0, 0, 0}, {1, 1, 1, 0}, {0, 2, 2, 0}, {1, 0, 3, 0}};
      for (const Yardstick yardstick : {Yardstick::naive, Yardstick::cublas}) {
        if (!worker().has(yardstick)) continue;
        const Sample sample = worker().run(yardstick, list);
        const auto start = std::chrono::steady_clock::now();
        const OutputCheck seen = worker().verify(12345, list, true);
        const double ms =
            1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        INFO(type_name(type) << " " << m << " x " << n << " x " << k << " "
                             << (yardstick == Yardstick::naive ? "naive" : "cuBLAS") << " fault "
                             << static_cast<int>(seen.fault) << " launch " << seen.launch << " row "
                             << seen.row << " col " << seen.col << " " << seen.residual << " > "
                             << seen.allowed);
        CHECK(seen.right());
        if (m == 2048)
          std::cout << type_name(type) << (yardstick == Yardstick::naive ? " naive " : " cuBLAS ")
                    << sample.per_launch_ms() << " ms, verified in " << ms / 4 << " ms each\n";
      }
      // Untouched outputs are wrong, and named as unwritten.
      const OutputCheck untouched = worker().verify(1, {{0, 0, 0, 0}});
      CHECK_FALSE(untouched.right());
      CHECK(untouched.unwritten);
      // One that holds another product is wrong.
      const OutputCheck other = worker().verify(2, {{1, 0, 0, 0}}, true);
      CHECK_FALSE(other.right());
    }
  }
}

TEST_CASE("honest kernels are timed, others get their verdict") {
  const TimedComparison honest = time("honest");
  CHECK(honest.outcome == TimingOutcome::measured);
  CHECK(honest.verified);
  REQUIRE(honest.over_naive);
  CHECK(std::abs(honest.over_naive->middle - 1) < 0.05);
  const TimedComparison other = time("other_stream");
  CHECK(other.outcome == TimingOutcome::measured);
  REQUIRE(other.over_naive);
  CHECK(other.over_naive->middle < 1.1);

  CHECK(kind_of("late_thread") == Trouble::Kind::wrong);
  CHECK(kind_of("replay") == Trouble::Kind::wrong);
  CHECK(kind_of("batch_and_skip") == Trouble::Kind::wrong);
  CHECK(kind_of("half_precision") == Trouble::Kind::wrong);
  CHECK(kind_of("ends_early") == Trouble::Kind::wrong);
  CHECK(kind_of("one_element") == Trouble::Kind::wrong);
  CHECK(kind_of("nothing") == Trouble::Kind::wrong);
  CHECK(kind_of("late_spoiler") != Trouble::Kind::none);
  CHECK(kind_of("faults") == Trouble::Kind::device);
  CHECK(kind_of("refused") == Trouble::Kind::device);
  CHECK(kind_of("leaves") == Trouble::Kind::ended);
  CHECK(kind_of("crashes") == Trouble::Kind::ended);
  CHECK(kind_of("throws") == Trouble::Kind::ended);
  CHECK(kind_of("speaks_nonsense") == Trouble::Kind::ended);
  CHECK(kind_of("closes_the_socket") == Trouble::Kind::ended);
  CHECK(kind_of("forges_a_reply") != Trouble::Kind::none);
  const TimedComparison inputs = time("zero_inputs");
  REQUIRE(inputs.trouble.verification);
  CHECK(inputs.trouble.verification->fault == gpu::protocol::Fault::inputs);
  const TimedComparison beyond = time("beyond_the_end");
  REQUIRE(beyond.trouble.verification);
  CHECK(beyond.trouble.verification->fault == gpu::protocol::Fault::padding);
}

TEST_CASE("buffers are shared by handles where files cannot be, and an error names itself") {
  WorkerSpec spec{path_in("GPU_WORKER")};
  spec.without = {"files"};
  TimingWorker older(spec);
  CHECK(older.info().sharing == gpu::protocol::Sharing::handles);
  Runner runner(cheats());
  Competitor competitor{runner, "honest"};
  const TimedComparison seen =
      compare(older, &competitor, {Type::float32, 1024, 1024, 1024}, &observer(), brief());
  CHECK(seen.outcome == TimingOutcome::measured);
  CHECK(seen.verified);

  worker().prepare({Type::float32, 64, 64, 64}, {1, 1, 1, 1});
  SharedArenas broken = worker().arenas();
  broken.files = {-1, -1};
  const RunnerFault fault = runner.open(broken);
  CHECK(fault.end == CallEnd::infra);
  INFO(fault.message);
  CHECK(fault.message.find("buffers cannot be shared with the runner (cudaError") == 0);
  CHECK(runner.open(worker().arenas()).none());
}

TEST_CASE("without cuBLAS ratios are to the naive yardstick alone") {
  WorkerSpec spec{path_in("GPU_WORKER")};
  spec.without = {"cublas"};
  TimingWorker alone(spec);
  CHECK(alone.info().cublas == 0);
  Runner runner(cheats());
  Competitor competitor{runner, "honest"};
  Options options = brief();
  options.cublas = true;
  const TimedComparison seen =
      compare(alone, &competitor, {Type::float32, 1024, 1024, 1024}, &observer(), options);
  CHECK(seen.outcome == TimingOutcome::measured);
  CHECK_FALSE(alone.has(Yardstick::cublas));
  CHECK_THROWS_AS(alone.run(Yardstick::cublas, {{0, 0, 0, 0}}), InfraError);
  CHECK_FALSE(seen.over_cublas);
  REQUIRE(seen.over_naive);
  SpeedGoal goal;
  goal.bars.naive = 0.9;
  goal.bars.cublas = 0.9;
  const SpeedDecision both = judge_speed(goal, seen, "sm_90");
  CHECK(both.verdict == SpeedVerdict::pass);
  CHECK(both.by == "naive");
  goal.bars.naive.reset();
  const SpeedDecision neither = judge_speed(goal, seen, "sm_90");
  CHECK(neither.verdict == SpeedVerdict::not_measured);
  CHECK(neither.reason == "speed.no_cublas");
}

TEST_CASE("a thread that works on is stopped while others are timed") {
  const TimedComparison seen = time("works_on");
  CHECK(seen.outcome == TimingOutcome::measured);
  REQUIRE(seen.over_naive);
  CHECK(seen.over_naive->middle < 1.1);
}

TEST_CASE("a hang ends with its process, and the next kernel runs") {
  for (const char* entry : {"hangs", "hangs_on_the_host"}) {
    const TimedComparison seen = time(entry, brief(), 1500);
    CHECK(seen.trouble.kind == Trouble::Kind::ended);
    REQUIRE(seen.trouble.fault);
    CHECK(seen.trouble.fault->end == CallEnd::hung);
    CHECK(seen.seconds < 8);
  }
  CHECK(time("honest").outcome == TimingOutcome::measured);
}

TEST_CASE("own buffers: exact sizes, errors by name, nothing lost") {
  Runner runner(cheats());
  inputs::SplitMix64 random(1);
  HostMatrix<float> a(33, 17, 20), b(17, 45, 45), c(33, 45, 47);
  inputs::integers(a, random);
  inputs::integers(b, random);
  inputs::poison_all(c);
  CallSpec spec;
  spec.entry = "honest";
  const auto matrix = [](const HostMatrix<float>& m) {
    return diag::Matrix::of<float>(m.storage(), m.rows(), m.cols(), m.ld());
  };
  spec.a = matrix(a);
  spec.b = matrix(b);
  spec.c = matrix(c);
  const CallOutcome seen = runner.call(spec);
  REQUIRE(seen.end == CallEnd::returned);
  CHECK(seen.result.errors.empty());
  double wrong = 0;
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 45; ++j) {
      double sum = 0;
      for (int k = 0; k < 17; ++k)
        sum += static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
      wrong += seen.run.c_after.at(i, j) == sum ? 0 : 1;
    }
  CHECK(wrong == 0);
  spec.entry = "faults";
  const CallOutcome fault = runner.call(spec);
  REQUIRE(fault.result.errors.size() == 1);
  CHECK(fault.result.errors[0].name == "cudaErrorIllegalAddress");
  CHECK(fault.result.errors[0].call == "cudaDeviceSynchronize");
  spec.entry = "refused";
  const CallOutcome refused = runner.call(spec);  // a fresh process
  REQUIRE(refused.result.errors.size() == 1);
  CHECK(refused.result.errors[0].call == "kernel launch");
  CHECK(refused.run.failed_launch);
  spec.entry = "leaves";
  CHECK(runner.call(spec).end == CallEnd::exited);
  spec.entry = "honest";
  CHECK(runner.call(spec).end == CallEnd::returned);
  const Runner::Farewell farewell = runner.finish(std::chrono::milliseconds(5000));
  CHECK(farewell.left);
  CHECK(farewell.status == 0);
}

TEST_CASE("little free memory: a smaller shape, and below that a clear word") {
  const std::uint64_t all = worker().free_memory();
  REQUIRE(all > 3000ull << 20);
  Options options = brief();
  const Problem large{Type::float32, 16384, 16384, 16384};  // 1 GiB each of A, B, C
  const auto with_free = [&](const char* mib) {
    const Neighbour hoards("memory", mib);
    Runner runner(cheats());
    Competitor competitor{runner, "honest"};
    const TimedComparison seen = compare(worker(), &competitor, large, &observer(), options);
    std::cout << "with " << mib << " MiB: " << seen.note << '\n';
    return seen;
  };
  const TimedComparison some = with_free("1500");
  CHECK(some.outcome == TimingOutcome::measured);
  CHECK(some.verified);
  CHECK(some.smaller());
  CHECK(some.problem.m >= 1024);
  CHECK(some.note.find("16384") != std::string::npos);
  const TimedComparison little = with_free("300");
  CHECK(little.outcome == TimingOutcome::too_large);
  CHECK_FALSE(little.note.empty());
  SpeedGoal goal;
  goal.bars.naive = 0.5;
  CHECK(judge_speed(goal, little, worker().info().arch()).verdict == SpeedVerdict::not_measured);
  CHECK(time("honest").outcome == TimingOutcome::measured);  // and all is well again
}

TEST_CASE("a GPU that others use: a slow result is inconclusive, not failed") {
  const Neighbour computes("load", "600");
  const TimedComparison seen = time("honest");
  REQUIRE(seen.outcome == TimingOutcome::measured);
  CHECK(seen.others >= 1);
  SpeedGoal goal;
  goal.type = "float";
  goal.bars.naive = 2;  // twice as fast as it is
  const SpeedDecision decision = judge_speed(goal, seen, worker().info().arch());
  CHECK(decision.verdict == SpeedVerdict::inconclusive);
  CHECK(decision.reason == "speed.busy");
  goal.bars.naive = 0.2;
  CHECK(judge_speed(goal, seen, worker().info().arch()).verdict == SpeedVerdict::pass);
}
