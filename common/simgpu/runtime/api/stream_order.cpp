#include "common/simgpu/runtime/api/stream_order.hpp"

#include <algorithm>
#include <utility>

#include "common/simgpu/runtime/backend.hpp"

namespace simgpu::runtime {

StreamOrder& StreamOrder::get() {
  static auto* const order = new StreamOrder;
  return *order;
}

void StreamOrder::create(cudaStream_t stream, bool waits_for_default) {
  numbers_[stream] = ++last_number_;
  ++streams_;
  if (waits_for_default) return;
  free_.insert(last_number_);
  ++free_streams_;
}

std::uint64_t StreamOrder::number_of(cudaStream_t stream) const {
  if (stream == cudaStreamPerThread) return kOfThread;
  const auto found = numbers_.find(stream);
  return found == numbers_.end() ? kDefault : found->second;
}

void StreamOrder::join(Clock& to, const Clock& from) {
  for (const auto& [stream, count] : from) {
    std::uint64_t& known = to[stream];
    known = std::max(known, count);
  }
}

StreamOrder::Clock StreamOrder::before(std::uint64_t stream) const {
  Clock known = host_;
  const auto join_stream = [&](std::uint64_t other) {
    if (const auto found = known_.find(other); found != known_.end()) join(known, found->second);
  };
  join_stream(stream);
  if (stream == kDefault) {
    for (const auto& [other, clock] : known_)
      if (waits_for_default(other)) join(known, clock);
  } else if (waits_for_default(stream)) {
    join_stream(kDefault);
  }
  return known;
}

void StreamOrder::work(Backend& backend, cudaStream_t stream, const std::string& what,
                       const std::vector<TouchedBytes>& bytes) {
  if (!matters()) return;
  Work work{number_of(stream), 0, what, {}, {}};
  for (const TouchedBytes& b : bytes) (b.written ? work.writes : work.reads).push_back(b);
  Clock known = before(work.stream);
  if (backend.takes_findings()) compare(backend, work, known);
  work.number = ++counts_[work.stream];
  last_[work.stream] = what;
  known[work.stream] = work.number;
  known_[work.stream] = std::move(known);
  if (!backend.takes_findings()) return;
  constexpr std::size_t kMost = 256;  // a program that never waits
  if (under_way_.size() == kMost) under_way_.erase(under_way_.begin());
  if (!bytes.empty()) under_way_.push_back(std::move(work));
}

namespace {

/// The first byte that both have, 0 = none.
DevicePtr common_byte(const std::vector<TouchedBytes>& a, const std::vector<TouchedBytes>& b) {
  auto x = a.begin(), y = b.begin();  // both by address
  while (x != a.end() && y != b.end()) {
    if (const DevicePtr first = std::max(x->first, y->first); first < std::min(x->end, y->end))
      return first;
    x->end < y->end ? ++x : ++y;
  }
  return 0;
}

/// " reads", " writes", or what else a call does to memory.
std::string does(const std::string& what, bool reads) {
  if (what == "cudaMallocAsync") return " allocates";
  if (what == "cudaFreeAsync") return " frees";
  return reads ? " reads" : " writes";
}

}  // namespace

void StreamOrder::compare(Backend& backend, const Work& work, const Clock& known) {
  std::set<std::uint64_t> said;  // of each other stream, the last work is enough
  for (auto it = under_way_.rbegin(); it != under_way_.rend(); ++it) {
    const Work& other = *it;
    const auto seen = known.find(other.stream);
    if (other.stream == work.stream || (seen != known.end() && other.number <= seen->second))
      continue;
    const DevicePtr read = common_byte(work.reads, other.writes),
                    overwritten = common_byte(work.writes, other.reads),
                    rewritten = common_byte(work.writes, other.writes);
    const DevicePtr at = read != 0 ? read : overwritten != 0 ? overwritten : rewritten;
    if (at == 0 || !said.insert(other.stream).second) continue;
    if (!told_.insert(work.what + '|' + other.what).second) continue;
    DevicePtr base = at;
    std::uint64_t bytes = 0;
    backend.find(at, base, bytes);
    backend.note_finding(
        work.what + does(work.what, read != 0) + " byte " + std::to_string(at - base) +
        " of an allocation of " + std::to_string(bytes) + " bytes, which " + other.what +
        does(other.what, read == 0 && overwritten != 0) +
        " in another stream, and nothing orders the two: cudaStreamWaitEvent() on an event that is "
        "recorded behind the first, or a synchronisation, must come between");
  }
}

void StreamOrder::forget_memory(DevicePtr first, DevicePtr end) {
  const auto within = [=](const TouchedBytes& b) { return first <= b.first && b.end <= end; };
  for (Work& work : under_way_) {
    std::erase_if(work.reads, within);
    std::erase_if(work.writes, within);
  }
}

StreamOrder::Running StreamOrder::take_running(cudaStream_t stream) {
  auto found = running_.extract(number_of(stream));
  return found.empty() ? Running{} : std::move(found.mapped());
}

// griddepcontrol.wait waits for the ends of the kernels right before, and makes what they wrote visible (PTX ISA,
// CUDA Programming Guide). A kernel that executes it ends after all that it waits for; one that does not may end,
// and let the next begin, while those still run.
void StreamOrder::keep_running(cudaStream_t stream, Running before, EarlierKernel kernel,
                               const GridControl& did) {
  Running left;
  for (EarlierKernel& earlier : before) {
    const bool waited_for = did.waits && earlier.skipped_by.empty();
    // By a wait it is over when this kernel ends, but not yet when the next one may begin.
    if (waited_for && (did.waits_first || !did.lets_next_begin)) continue;
    if (!waited_for && earlier.skipped_by.empty()) earlier.skipped_by = kernel.name;
    left.push_back(std::move(earlier));
  }
  if (did.lets_next_begin) left.push_back(std::move(kernel));
  constexpr std::size_t kMost = 16;  // a program whose kernels never wait
  if (left.size() > kMost) left.erase(left.begin());
  if (!left.empty()) running_[number_of(stream)] = std::move(left);
}

void StreamOrder::record(cudaEvent_t event, cudaStream_t stream) {
  take_running(stream);
  events_[event] = before(number_of(stream));
}
void StreamOrder::wait(cudaStream_t stream, cudaEvent_t event) {
  take_running(stream);
  if (const auto found = events_.find(event); found != events_.end()) {
    const std::uint64_t number = number_of(stream);
    Clock known = before(number);
    join(known, found->second);
    known_[number] = std::move(known);
  }
}

void StreamOrder::host_waits(cudaStream_t stream) {
  join(host_, before(number_of(stream)));
  drop_what_is_over();
}
void StreamOrder::host_waits(cudaEvent_t event) {
  if (const auto found = events_.find(event); found != events_.end()) join(host_, found->second);
  drop_what_is_over();
}
void StreamOrder::host_waits_for_all() {
  host_ = counts_;
  running_.clear();
  under_way_.clear();
}

void StreamOrder::begin_anew() {
  counts_.clear();
  host_.clear();
  known_.clear();
  last_.clear();
  events_.clear();
  running_.clear();
  under_way_.clear();
}

std::vector<std::string> StreamOrder::left_behind(cudaStream_t stream) const {
  const std::uint64_t own = number_of(stream);
  const Clock known = before(own);
  std::vector<std::string> list;
  for (const auto& [other, count] : counts_) {
    if (other == own || other == kDefault || other == kOfThread) continue;
    const auto seen = known.find(other);
    if (seen == known.end() || seen->second < count) list.push_back(last_.at(other));
  }
  return list;
}

void StreamOrder::drop_what_is_over() {
  running_.clear();
  std::erase_if(under_way_, [&](const Work& w) {
    const auto known = host_.find(w.stream);
    return known != host_.end() && w.number <= known->second;
  });
}

}  // namespace simgpu::runtime
