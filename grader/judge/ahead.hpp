// Working ahead, so that `make check` takes less time: sessions do not wait for each other at the end
// of each stage. Each works through its stages in order, and the judge, who decides stage by stage,
// finds the results there. They do not depend on who was first, since every call has its own data and
// each session makes its calls in the same order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace grader {

/// A lock on a session, for the thread that works ahead with it and for the judge, who goes first.
class SessionLock {
 public:
  class Held {
   public:
    explicit Held(SessionLock& lock) : lock_(&lock) {}
    Held(Held&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held& operator=(Held&&) = delete;
    ~Held();

   private:
    SessionLock* lock_;
  };

  Held take_for_judge();
  /// Waits while the judge has it or waits for it.
  Held take_for_strand();

 private:
  std::mutex guard_;
  std::condition_variable free_;
  bool held_ = false;
  unsigned judges_waiting_ = 0;
};

/// Where the threads that work on one lab tell each other what has become of its stages. A strand is
/// such a thread's work with one session.
class StageBoard {
 public:
  /// Each strand calls these once.
  void begin();
  void end();
  /// The strand has finished with this stage, after so many seconds of work. It says so of each of its
  /// stages, even after stop().
  void done(const std::string& strand, const std::string& stage, double seconds);
  /// Waits for done() and returns its seconds.
  double wait(const std::string& strand, const std::string& stage);

  /// The stage did not pass, so stages that need it need not be tried.
  void fail(const std::string& stage);
  bool failed(const std::string& stage) const;

  /// Strands begin nothing more.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  /// After stop(): waits until none is left.
  void wait_for_all();

 private:
  mutable std::mutex guard_;
  std::condition_variable news_;
  std::map<std::pair<std::string, std::string>, double> done_;
  std::set<std::string> failed_;
  unsigned strands_ = 0;
  std::atomic<bool> stopped_ = false;
};

}  // namespace grader
