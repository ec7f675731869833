#include "grader/os/pool.hpp"

#include <omp.h>

#include <algorithm>

namespace grader {

Pool::Pool(unsigned threads) {
  for (unsigned i = 0; i < std::max(threads, 1u); ++i) threads_.emplace_back([this] { work(); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(guard_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Pool::work() {
  // One job per core is enough: a team of OpenMP's in each would only spin and take time from them.
  omp_set_num_threads(1);
  std::unique_lock lock(guard_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || (jobs_ && next_ < jobs_->size()); });
    if (stop_) return;
    const auto& job = (*jobs_)[next_++];
    lock.unlock();
    std::exception_ptr failure;
    try {
      job();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    if (++finished_ == jobs_->size()) done_.notify_all();
  }
}

void Pool::run(const std::vector<std::function<void()>>& jobs) {
  if (jobs.empty()) return;
  std::unique_lock lock(guard_);
  jobs_ = &jobs;
  next_ = finished_ = 0;
  failure_ = nullptr;
  wake_.notify_all();
  done_.wait(lock, [&] { return finished_ == jobs.size(); });
  jobs_ = nullptr;
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace grader
