// How long everything that one submission causes may take together: compilers and calls. Shared by
// threads. It is what makes an endless submission end with a verdict, long before whoever grades the
// class gives up on the judge and calls it the machine's fault.
#pragma once

#include <atomic>
#include <chrono>

namespace grader {

class Budget {
 public:
  using Clock = std::chrono::steady_clock;
  bool spent() const { return left_ <= 0; }

  /// Takes the time that it lives off a budget; null is none.
  class Spending {
   public:
    explicit Spending(Budget* budget) : budget_(budget) {}
    ~Spending() {
      if (budget_) budget_->left_ -= (Clock::now() - begin_).count();
    }
    Spending(const Spending&) = delete;
    Spending& operator=(const Spending&) = delete;

   private:
    Budget* budget_;
    Clock::time_point begin_ = Clock::now();
  };

 private:
  std::atomic<Clock::rep> left_{Clock::duration(std::chrono::minutes(10)).count()};
};

}  // namespace grader
