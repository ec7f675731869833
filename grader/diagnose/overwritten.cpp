// C that was computed, and then lost to what came after.
#include <cmath>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Bytes of C that a launch stored, by whatever means; and whether it read anything at all.
struct Traffic {
  std::uint64_t stored_to_c = 0;
  bool reads = false;
};

Traffic traffic_of(const simgpu::LaunchReport& launch) {
  Traffic seen;
  for (const simgpu::BufferCounts& buffer : launch.buffers) {
    if (buffer.label == "C") seen.stored_to_c += buffer.store.bytes + buffer.atomic.bytes;
    seen.reads |= buffer.load.requests + buffer.load.bytes + buffer.atomic.requests > 0;
  }
  return seen;
}

/// The line of a launch that stored most to global memory; none is known: line 0.
simgpu::SourceLine line_that_stores(const simgpu::LaunchReport& launch) {
  simgpu::SourceLine where;
  std::uint64_t most = 0;
  for (const simgpu::LineCounts& line : launch.lines) {
    const std::uint64_t bytes = line.counts.global_store.bytes + line.counts.global_atomic.bytes;
    if (bytes > most) most = bytes, where = line.where;
  }
  return where;
}

/// "naive_kernel<float> (line 57)".
std::string kernel_with_line(const simgpu::LaunchReport& launch) {
  const simgpu::SourceLine where = line_that_stores(launch);
  return kernel_name(launch.kernel) + (where.line ? " (" + line_of(where) + ")" : "");
}

/// The last launch before `end` that stored to C.
const simgpu::LaunchReport* last_that_stores(const Run& run, std::size_t begin, std::size_t end) {
  for (std::size_t i = std::min(end, run.launches.size()); i-- > begin;)
    if (traffic_of(run.launches[i]).stored_to_c > 0) return &run.launches[i];
  return nullptr;
}

/// Elements of C that lie wholly in these bytes of it and should hold something else.
bool any_lost(const Run& run, const std::vector<double>& correct, std::uint64_t begin,
              std::uint64_t end) {
  const Matrix& c = run.c_after;
  const std::size_t size = size_of(c.type);
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.cols; ++j) {
      const std::uint64_t at = c.index(i, j) * size;
      const double right = correct[static_cast<std::size_t>(i) * static_cast<std::size_t>(c.cols) +
                                   static_cast<std::size_t>(j)];
      // More than rounding: what holds now is not what was computed.
      if (at >= begin && at + size <= end &&
          !(std::fabs(c.at(i, j) - right) <= std::fabs(right) / 64))
        return true;
    }
  return false;
}

Diagnosis overwritten(const std::string& by, const simgpu::LaunchReport& first,
                      const std::string& last) {
  Diagnosis d = say("OVERWRITTEN", by, {{"kernel", kernel_with_line(first)}, {"last", last}});
  d.place = line_that_stores(first);
  return d;
}

}  // namespace

std::optional<Diagnosis> explain_overwritten(Operation operation, const Run& run) {
  if (run.launches.empty() || run.c_after.elements() != run.c_before.elements() ||
      run.c_after.elements() == 0)
    return std::nullopt;
  const std::vector<double> correct = correct_result(operation, run);
  for (const Fill& fill : run.fills) {
    const simgpu::LaunchReport* first = last_that_stores(run, 0, fill.launches);
    if (first == nullptr || last_that_stores(run, fill.launches, run.launches.size()) != nullptr)
      continue;
    if (any_lost(run, correct, fill.begin, fill.end)) return overwritten("", *first, "");
  }
  // A kernel that stores all of C and reads nothing, behind one that does.
  const simgpu::LaunchReport* last = last_that_stores(run, 0, run.launches.size());
  if (last == nullptr) return std::nullopt;
  const auto at = static_cast<std::size_t>(last - run.launches.data());
  const simgpu::LaunchReport* first = last_that_stores(run, 0, at);
  const std::uint64_t whole = static_cast<std::uint64_t>(run.c_after.rows) *
                              static_cast<std::uint64_t>(run.c_after.cols) *
                              size_of(run.c_after.type);
  const Traffic traffic = traffic_of(*last);
  if (first == nullptr || traffic.reads || traffic.stored_to_c < whole ||
      !traffic_of(*first).reads || !any_lost(run, correct, 0, run.c_after.storage.size()))
    return std::nullopt;
  return overwritten("kernel", *first, kernel_with_line(*last));
}

}  // namespace grader::diag
