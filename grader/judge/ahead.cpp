#include "grader/judge/ahead.hpp"

namespace grader {

SessionLock::Held::~Held() {
  if (!lock_) return;
  {
    const std::lock_guard lock(lock_->guard_);
    lock_->held_ = false;
  }
  lock_->free_.notify_all();
}

SessionLock::Held SessionLock::take_for_judge() {
  std::unique_lock lock(guard_);
  ++judges_waiting_;
  free_.wait(lock, [this] { return !held_; });
  --judges_waiting_;
  held_ = true;
  return Held(*this);
}

SessionLock::Held SessionLock::take_for_strand() {
  std::unique_lock lock(guard_);
  free_.wait(lock, [this] { return !held_ && judges_waiting_ == 0; });
  held_ = true;
  return Held(*this);
}

void StageBoard::begin() {
  const std::lock_guard lock(guard_);
  ++strands_;
}

void StageBoard::end() {
  // Told while it is held: once the last strand has ended, this may be gone.
  const std::lock_guard lock(guard_);
  if (--strands_ == 0) news_.notify_all();
}

void StageBoard::done(const std::string& strand, const std::string& stage, double seconds) {
  {
    const std::lock_guard lock(guard_);
    done_[{strand, stage}] = seconds;
  }
  news_.notify_all();
}

double StageBoard::wait(const std::string& strand, const std::string& stage) {
  std::unique_lock lock(guard_);
  const auto key = std::pair(strand, stage);
  news_.wait(lock, [&] { return done_.count(key) != 0; });
  return done_[key];
}

void StageBoard::fail(const std::string& stage) {
  const std::lock_guard lock(guard_);
  failed_.insert(stage);
}

bool StageBoard::failed(const std::string& stage) const {
  const std::lock_guard lock(guard_);
  return failed_.count(stage) != 0;
}

void StageBoard::wait_for_all() {
  std::unique_lock lock(guard_);
  news_.wait(lock, [this] { return strands_ == 0; });
}

}  // namespace grader
