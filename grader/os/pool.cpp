#include "grader/os/pool.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <utility>

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
    wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const std::function<void()> job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

void Pool::start(std::function<void()> job) {
  {
    const std::lock_guard lock(guard_);
    waiting_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void Pool::run(const std::vector<std::function<void()>>& jobs) {
  std::size_t finished = 0;
  std::exception_ptr first;
  for (const auto& job : jobs)
    start([&] {
      std::exception_ptr failure;
      try {
        job();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(guard_);
      if (failure && !first) first = failure;
      if (++finished == jobs.size()) done_.notify_all();
    });
  std::unique_lock lock(guard_);
  done_.wait(lock, [&] { return finished == jobs.size(); });
  if (first) std::rethrow_exception(first);
}

}  // namespace grader
