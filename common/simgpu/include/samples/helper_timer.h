// The timers of helper_timer.h, a header of NVIDIA's cuda-samples that many programs include, written for the simulated
// GPU. They are the host's: they measure how long the simulation took. It stands behind every other folder of headers, so
// that a program's own copy is the one that is used.
#pragma once
#pragma GCC system_header

#include <chrono>

class StopWatchInterface {
 public:
  virtual ~StopWatchInterface() = default;
  virtual void start() {
    begin_ = clock::now();
    running_ = true;
  }
  virtual void stop() {
    if (!running_) return;
    total_ += since();
    ++sessions_;
    running_ = false;
  }
  virtual void reset() {
    total_ = 0;
    sessions_ = 0;
    if (running_) begin_ = clock::now();
  }
  virtual float getTime() { return total_ + (running_ ? since() : 0.0f); }  ///< milliseconds
  virtual float getAverageTime() {
    return sessions_ > 0 ? total_ / static_cast<float>(sessions_) : 0.0f;
  }

 private:
  typedef std::chrono::steady_clock clock;
  float since() const {
    return std::chrono::duration<float, std::milli>(clock::now() - begin_).count();
  }
  clock::time_point begin_;
  float total_ = 0;
  int sessions_ = 0;
  bool running_ = false;
};
typedef StopWatchInterface StopWatchLinux;

inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchInterface;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = nullptr;
  return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->start();
  return true;
}
inline bool sdkStopTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->stop();
  return true;
}
inline bool sdkResetTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->reset();
  return true;
}
inline float sdkGetTimerValue(StopWatchInterface** timer) {
  return *timer ? (*timer)->getTime() : 0.0f;
}
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) {
  return *timer ? (*timer)->getAverageTime() : 0.0f;
}
