// Working ahead. Somebody waits for `make check`: so the sessions need not wait for each other at the
// end of each stage. Each works through its stages in order, as fast as it can, and the judge, who
// decides one stage after the other, finds the results there. What is found does not depend on who
// was first: every call has data of its own, and a session makes its calls in the same order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace grader {

/// Who may use a session now: the thread that works ahead with it, or the judge, who goes first.
class Turn {
 public:
  class Held {
   public:
    explicit Held(Turn& turn) : turn_(&turn) {}
    Held(Held&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held& operator=(Held&&) = delete;
    ~Held();

   private:
    Turn* turn_;
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

/// What has become of the stages of one lab, as threads tell each other.
class StageBoard {
 public:
  /// One more strand of work will end().
  void begin();
  void end();
  /// A strand has no more to do for this stage, on which it has worked so long. Every strand says so of
  /// each of its stages, also where it was told to stop.
  void done(const std::string& strand, const std::string& stage, double seconds);
  /// Waits for done(). The seconds that it told.
  double wait(const std::string& strand, const std::string& stage);

  /// Did not pass: what needs it need not be tried.
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
