// Timing kernels with events.
#pragma once

#include <cuda_runtime.h>

#include "common/cuda_check.cuh"

namespace timing {

/// A CUDA event, destroyed with its owner.
class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) { CUDA_CHECK(cudaEventRecord(event_, stream)); }
  /// Milliseconds from `start` to this event; waits for it.
  double since(const Event& start) {
    CUDA_CHECK(cudaEventSynchronize(event_));
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_{};
};

/// Milliseconds that what `call` enqueues on `stream` takes on the device.
template <typename Call>
double milliseconds(cudaStream_t stream, Call&& call) {
  Event start, stop;
  start.record(stream);
  call();
  stop.record(stream);
  return stop.since(start);
}

}  // namespace timing
