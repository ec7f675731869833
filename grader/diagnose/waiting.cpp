// Threads that wait for ever: who waits where.
#include <algorithm>
#include <string>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {

void name_flag(const simgpu::Finding& finding, Diagnosis& d) {
  const simgpu::Access& at = finding.at;
  const auto bytes = std::max<std::uint64_t>(1, at.bytes);
  const std::string name = is_scratch(at) ? messages::text("part.scratch") : at.object;
  const Diagnosis named = say("DEADLOCK", "flag",
                              {{"where", line_of(at.where)},
                               {"index", at.offset / static_cast<std::int64_t>(bytes)},
                               {"name", name}});
  d.headline = named.headline;
  d.next_step = named.next_step;
  std::string list;
  std::uint64_t listed = 0;
  for (const simgpu::ByteRange& r : finding.written) {
    list += (list.empty() ? "" : ", ") + from_to(static_cast<std::int64_t>(r.begin / bytes),
                                                 static_cast<std::int64_t>((r.end - 1) / bytes));
    listed += r.end - r.begin;
  }
  if (listed < finding.written_bytes) list += ", ...";
  d.details.push_back(messages::text(
      list.empty() ? "detail.flag.alike" : "detail.flag.unlike",
      {{"total", at.object_bytes / bytes}, {"bytes", bytes}, {"name", name}, {"list", list}}));
}

bool is_open_phase(simgpu::FindingCause cause) {
  using Cause = simgpu::FindingCause;
  return cause == Cause::open_phase || cause == Cause::extra_arrivals ||
         cause == Cause::other_bytes || cause == Cause::few_arrivals;
}

void add_others_waiting(const simgpu::Finding& finding, const simgpu::LaunchReport* launch,
                        Diagnosis& d) {
  constexpr int kMostTold = 2;
  if (launch == nullptr) return;
  int told = 0;
  for (const simgpu::Finding& other : launch->findings) {
    if (other.kind != finding.kind) continue;
    if (other.cause == simgpu::FindingCause::extra_arrivals)
      d.next_step = messages::text("DEADLOCK.lanes.next");
    if (other.cause == simgpu::FindingCause::few_arrivals)
      d.next_step = messages::text("DEADLOCK.few.next");
    if (other.cause == simgpu::FindingCause::other_bytes)
      d.next_step = messages::text("DEADLOCK.bytes.next");
    if (&other != &finding && told++ < kMostTold)
      d.details.push_back(messages::text("detail.also_waits", {{"sentence", other.detail}}));
  }
}

void ask_of_stop(const Run& run, const simgpu::Finding& finding, Diagnosis& d) {
  if (finding.cause == simgpu::FindingCause::box_place)
    d.next_step = messages::text("TRAP.box.next");
  if (finding.cause == simgpu::FindingCause::negative_source)  // more zeros than bytes
    d.next_step = messages::text("OOB.longer.zeros.next");
  if (d.id != "BARRIER-EARLY-EXIT") return;
  for (const simgpu::LaunchReport& launch : run.launches)
    if (launch.kernel == finding.kernel &&
        launch.static_shared_bytes + launch.dynamic_shared_bytes == 0)
      d.next_step = messages::text("BARRIER-EARLY-EXIT.needless.next");
}

std::string variant_of_endless(const simgpu::LaunchReport* launch, const Run* run) {
  // Of the smallest budget, 2^25, each of so many threads had ten thousand instructions.
  constexpr double kFewThreads = 3000;
  // Of as many, each had 32: what it takes to find out that there is nothing to do.
  constexpr double kManyThreads = 1 << 20;
  if (launch == nullptr) return "grid";
  double threads = 1;
  for (const simgpu::Dim3& size : {launch->grid, launch->block})
    threads *= static_cast<double>(size.x) * size.y * size.z;
  if (threads <= kFewThreads) return "wait";
  if (run == nullptr) return "grid";
  const auto elements = static_cast<double>(run->c_before.rows) * run->c_before.cols;
  return threads > kManyThreads && threads > 16 * elements ? "grid" : "work";
}

}  // namespace grader::diag
