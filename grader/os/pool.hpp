// A thread pool. Child processes die with the thread that started them, so threads that start
// long-lived children must live as long as those are needed.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace grader {

class Pool {
 public:
  explicit Pool(unsigned threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Runs all jobs, starting them in this order, and waits. Rethrows the first exception.
  void run(const std::vector<std::function<void()>>& jobs);
  /// Runs a job as soon as a thread is free, and does not wait. The job must not throw. Jobs that have
  /// not begun when the pool is destroyed are dropped.
  void start(std::function<void()> job);

 private:
  void work();

  std::mutex guard_;
  std::condition_variable wake_, done_;
  std::deque<std::function<void()>> waiting_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace grader
