#include "grader/bench/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "grader/messages.hpp"

namespace grader::bench {
namespace {

using messages::text;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string minutes(double seconds) {
  return seconds < 90 ? fmt::format("{:.0f} s", std::ceil(seconds))
                      : fmt::format("{} min", std::lround(seconds / 60));
}

bool noisy(const Record& record, const LoopOptions& options) {
  return record.status == Status::measured && record.spread() > options.most_spread;
}

/// Stands until its source or the protocol changes. What failed may have been the machine's fault,
/// as may an interval too wide, and what was skipped may be affordable now.
bool stands(const Record& record, const std::string& hash, const LoopOptions& options) {
  if (record.source_sha256 != hash) return false;
  if (record.status == Status::wrong) return true;
  if (record.status != Status::measured || record.protocol != kBenchProtocol) return false;
  return !noisy(record, options) || record.attempts >= options.attempts;
}

bool stands(const Yardsticks* one) {
  return one && one->status == Status::measured && one->protocol == gpu::kTimingProtocol;
}

/// The attempt with the narrowest interval, whatever its time. A wrong result in any of them is
/// what counts; after one that failed for another reason there is no further one.
Record measure(Meter& meter, const Point& point, const Yardsticks& yardsticks,
               const LoopOptions& options) {
  Record best = meter.measure(point, yardsticks);
  for (unsigned attempts = 2; noisy(best, options) && attempts <= options.attempts; ++attempts) {
    Record again = meter.measure(point, yardsticks);
    if (again.status == Status::wrong) return again;
    if (again.status != Status::measured) break;
    if (again.spread() < best.spread()) best = std::move(again);
    best.attempts = attempts;
  }
  if (noisy(best, options))
    best.note += (best.note.empty() ? "" : "; ") +
                 text("bench.noisy", {{"percent", fmt::to_string(std::lround(100 * best.spread()))},
                                      {"attempts", fmt::to_string(best.attempts)}});
  return best;
}

}  // namespace

double estimate_ms(const Results& results, const Point& point) {
  const auto distance = [&](const Shape& shape) {
    return std::abs(std::log(shape.flops() / point.shape.flops()));
  };
  const Record* nearest = nullptr;
  for (const Record& record : results.records)
    if (record.point.lab == point.lab && record.point.rung == point.rung &&
        record.point.type == point.type && record.status == Status::measured &&
        (!nearest || distance(record.point.shape) < distance(nearest->point.shape)))
      nearest = &record;
  if (nearest) return scaled_ms(nearest->point.shape, nearest->ms, point.shape);
  // Never seen: as slow as the naive yardstick, or it will be found out at a small shape.
  const Yardsticks* naive = nullptr;
  for (const Yardsticks& one : results.yardsticks)
    if (one.math == point.math() && one.naive_ms &&
        (!naive || distance(one.shape) < distance(naive->shape)))
      naive = &one;
  return naive ? scaled_ms(naive->shape, *naive->naive_ms, point.shape) : 0;
}

RunSummary run_points(const std::vector<Point>& plan, Meter& meter, Results& results,
                      const LoopOptions& options) {
  const auto clock = options.clock ? options.clock : steady_seconds;
  const double begin = clock();
  RunSummary summary;
  std::vector<const Point*> open;
  for (const Point& point : plan) {
    const Record* known = results.find(point);
    if (known && stands(*known, meter.source_sha256(point), options))
      ++summary.kept;
    else
      open.push_back(&point);
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Point& point = *open[i];
    const double spent = clock() - begin;
    if (options.limit_seconds > 0 && spent >= options.limit_seconds) {
      summary.left = open.size() - i;
      break;
    }
    if (options.progress)
      options.progress(text(
          "bench.progress",
          {{"number", fmt::to_string(i + 1)},
           {"of", fmt::to_string(open.size())},
           {"entry", point.entry()},
           {"shape", point.shape.name()},
           {"left", i < 5 ? ""
                          : text("bench.left",
                                 {{"time", minutes(spent / static_cast<double>(i) *
                                                   static_cast<double>(open.size() - i))}})}}));
    Record record;
    if (auto known = meter.not_measurable(point)) {
      record = std::move(*known);
    } else if (const double ms = estimate_ms(results, point); ms > options.most_launch_ms) {
      record.status = Status::skipped;
      record.note = text("bench.skipped",
                         {{"limit", fmt::to_string(static_cast<int>(options.most_launch_ms))}});
    } else {
      const Yardsticks* known_yardsticks = results.find(point.math(), point.shape);
      if (!stands(known_yardsticks)) {
        Yardsticks one = meter.yardsticks(point.math(), point.shape);
        one.date = utc_now();
        results.put(std::move(one));
        if (options.save) options.save(results);
        known_yardsticks = results.find(point.math(), point.shape);
      }
      record = measure(meter, point, *known_yardsticks, options);
    }
    record.point = point;
    record.source = meter.source(point);
    record.source_sha256 = meter.source_sha256(point);
    record.date = utc_now();
    if (record.status == Status::measured) record.first_measured = record.date;
    results.put(std::move(record));
    ++summary.measured;
    if (options.save) options.save(results);
  }
  return summary;
}

}  // namespace grader::bench
