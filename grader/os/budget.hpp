// How long everything that one submission causes (compilers and calls) may take together: ten minutes.
// Thus an endless submission ends with a verdict, long before the class's grader gives up on the judge
// and blames the machine. Shared by threads.
#pragma once

#include <atomic>
#include <chrono>

namespace grader {

class Budget {
 public:
  using Clock = std::chrono::steady_clock;
  bool spent() const { return left_ <= 0; }

  /// Takes the time for which it exists from a budget, if there is one.
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
