#include "grader/gpu/session.hpp"

#include <cstdint>

#include "common/float16.hpp"
#include "common/reference.hpp"
#include "grader/gpu/timing.hpp"
#include "grader/messages.hpp"

namespace grader::gpu {
namespace {

using messages::text;

template <typename T>
MatrixView<const T> view(const diag::Matrix& matrix) {
  return {reinterpret_cast<const T*>(matrix.storage.data()), matrix.rows, matrix.cols, matrix.ld};
}

template <typename T>
ProbabilisticResult freivalds(const diag::Run& run, std::uint64_t seed, double units) {
  return check_probabilistically<T>(view<T>(run.a), view<T>(run.b), view<ResultOf<T>>(run.c_after),
                                    seed, 10, units);
}

ProbabilisticResult freivalds(diag::ElementType type, const diag::Run& run, std::uint64_t seed,
                              double units) {
  switch (type) {
    case diag::ElementType::int32:
      return freivalds<std::int32_t>(run, seed, units);
    case diag::ElementType::float64:
      return freivalds<double>(run, seed, units);
    case diag::ElementType::float16:
      return freivalds<Half>(run, seed, units);
    case diag::ElementType::bfloat16:
      return freivalds<BFloat16>(run, seed, units);
    case diag::ElementType::float32:
      break;
  }
  return freivalds<float>(run, seed, units);
}

}  // namespace

HardwareSession::HardwareSession(HardwareConfig config) : config_(std::move(config)) {}
HardwareSession::~HardwareSession() = default;

CallOutcome HardwareSession::call(const CallSpec& spec) {
  if (!runner_) {
    RunnerSpec wanted;
    wanted.program = config_.program;
    wanted.patience = config_.patience;
    wanted.user = config_.user;
    wanted.box = config_.box;
    runner_ = std::make_unique<Runner>(std::move(wanted));
  }
  CallOutcome outcome = runner_->call(spec);
  // The runtime's errors are sticky or not; either way C is worth nothing.
  if (outcome.end == CallEnd::returned && !outcome.result.errors.empty() &&
      !outcome.run.failed_launch)
    outcome.end = CallEnd::threw;
  return outcome;
}

std::vector<Case> large_cases(const Lab& lab, const Stage& stage, bool quick) {
  const Rung& rung = lab.rung(stage.rung);
  std::vector<Case> cases;
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    Case shape;
    shape.extents = {m, n, lab.only_one_term(rung) ? 1 : k};
    cases.push_back(shape);
  };
  if (rung.operation != Operation::product) return cases;  // a copy has its own extents
  add(1023, 1025, 1027);
  if (!quick) add(2049, 2047, 2051);
  return cases;
}

LargeResult check_large(Caller& session, const Rung& rung, const std::string& type,
                        const Case& shape, const DataSeed& data) {
  const diag::ElementType element = element_type(type);
  const Inputs inputs = make_inputs(element, rung, shape, Fill::zero_mean, Before::poison, data);
  CallSpec spec;
  spec.entry = rung.name + "<" + type + ">";
  spec.a = inputs.a;
  spec.b = inputs.b;
  spec.c = inputs.c;
  CallOutcome outcome = session.call(spec);
  LargeResult result;
  Failure failure;
  failure.fill = Fill::zero_mean;
  failure.untouched = outcome.run.c_after.storage == outcome.run.c_before.storage;
  bool failed = true;
  if (outcome.end == CallEnd::infra && device_error(outcome) == "cudaErrorMemoryAllocation") {
    result.no_memory = true;
    return result;
  }
  if (outcome.end == CallEnd::infra) {
    failure.kind = Failure::Kind::infra;
  } else if (outcome.end == CallEnd::threw && !outcome.result.errors.empty()) {
    failure.kind = Failure::Kind::api;
  } else if (outcome.end != CallEnd::returned) {
    failure.kind = Failure::Kind::ended;
  } else if (!outcome.run.failed_launch) {
    const bool inputs_kept = outcome.run.a_after->storage == outcome.run.a.storage &&
                             outcome.run.b_after->storage == outcome.run.b.storage;
    const ProbabilisticResult checked =
        freivalds(element, outcome.run, system_seed(), allowed_units(rung, type, Fill::zero_mean));
    result.row = checked.row;
    failed = !inputs_kept || !checked.passed;
  }
  if (failed) {
    failure.outcome = std::move(outcome);
    result.failure = std::move(failure);
  }
  return result;
}

std::string device_error(const CallOutcome& outcome) {
  return outcome.result.errors.empty() ? std::string() : outcome.result.errors.front().name;
}

}  // namespace grader::gpu
