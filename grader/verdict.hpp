// What is decided about a build, a stage and a speed goal. Their names in JSON and JUnit stand here
// once; a name is part of the format and is never shown as a sentence.
#pragma once

#include <string_view>

namespace grader {

/// What became of a student's file.
enum class BuildStatus {
  built,
  missing,
  empty,
  refused,  ///< it is no plain file, or names what no submission may
  compile_error,
  compile_limit,  ///< the compiler ran out of its time or memory
  link_error,
  infra,  ///< the machine failed
};

/// Of a stage, on the simulated GPU and on a real one.
enum class Verdict {
  none,  ///< nothing was decided
  accepted,
  wrong_answer,
  precision,
  partial,  ///< right, with something to be said
  runtime_error,
  timeout,
  memory_limit,
  unsupported,
  goal_missed,
  compile_error,
  compile_limit,
  refused,    ///< real GPU: the object holds what no submission may
  sanitizer,  ///< real GPU: compute-sanitizer found something
  too_slow,   ///< real GPU: right, and below a speed goal
  not_started,
  locked,
  skipped,
  infra_error,
};

enum class SpeedVerdict { pass, fail, inconclusive, not_measured };

constexpr std::string_view to_string(BuildStatus status) {
  switch (status) {
    case BuildStatus::built:
      return "ok";
    case BuildStatus::missing:
      return "missing";
    case BuildStatus::empty:
      return "empty";
    case BuildStatus::refused:
      return "refused";
    case BuildStatus::compile_error:
      return "compile_error";
    case BuildStatus::compile_limit:
      return "compile_limit";
    case BuildStatus::link_error:
      return "link_error";
    case BuildStatus::infra:
      return "infra";
  }
  return "?";
}

constexpr std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::none:
      return "";
    case Verdict::accepted:
      return "ACCEPTED";
    case Verdict::wrong_answer:
      return "WRONG_ANSWER";
    case Verdict::precision:
      return "PRECISION";
    case Verdict::partial:
      return "PARTIAL";
    case Verdict::runtime_error:
      return "RUNTIME_ERROR";
    case Verdict::timeout:
      return "TIMEOUT";
    case Verdict::memory_limit:
      return "MEM_LIMIT";
    case Verdict::unsupported:
      return "UNSUPPORTED";
    case Verdict::goal_missed:
      return "GOAL_MISSED";
    case Verdict::compile_error:
      return "COMPILE_ERROR";
    case Verdict::compile_limit:
      return "COMPILE_LIMIT";
    case Verdict::refused:
      return "REFUSED";
    case Verdict::sanitizer:
      return "SANITIZER";
    case Verdict::too_slow:
      return "TOO_SLOW";
    case Verdict::not_started:
      return "NOT_STARTED";
    case Verdict::locked:
      return "LOCKED";
    case Verdict::skipped:
      return "SKIPPED";
    case Verdict::infra_error:
      return "INFRA_ERROR";
  }
  return "?";
}

constexpr std::string_view to_string(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::pass:
      return "pass";
    case SpeedVerdict::fail:
      return "fail";
    case SpeedVerdict::inconclusive:
      return "inconclusive";
    case SpeedVerdict::not_measured:
      return "not_measured";
  }
  return "?";
}

}  // namespace grader
