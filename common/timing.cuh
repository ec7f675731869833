// Timing kernels: events, warm-up, several input sets, and interleaved pairs.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "common/cuda_check.cuh"
#include "common/statistics.hpp"

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

struct Options {
  double warm_up_seconds = 0.5;  ///< of the reference: clocks fall as a GPU heats up
  int input_sets = 3;  ///< calls rotate through so many sets; together more than the L2 cache
  int min_pairs = 20, max_pairs = 200;
  double target_half_width = 0.01;  ///< stop when the ratio is known so well, as a fraction of it
  std::uint64_t seed = 1;           ///< of the order within pairs
};

struct Result {
  std::vector<statistics::Pair> pairs;      ///< milliseconds
  statistics::Interval ratio;               ///< reference / student
  double reference_ms = 0, student_ms = 0;  ///< medians
};

/// Times reference(set) against student(set) in pairs of random order. prepare(set) runs before
/// each call and is not timed: fresh inputs, poisoned output, cold cache. after(set) runs after
/// each student call: verify *every* output.
template <typename Prepare, typename Reference, typename Student, typename After>
Result interleaved(cudaStream_t stream, const Options& options, Prepare&& prepare,
                   Reference&& reference, Student&& student, After&& after) {
  const auto begin = std::chrono::steady_clock::now();
  do {
    prepare(0);
    reference(0);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
           options.warm_up_seconds);
  prepare(0);
  student(0);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  after(0);

  Result result;
  std::uint64_t state = options.seed;
  for (int i = 0; i < options.max_pairs; ++i) {
    const int set = i % options.input_sets;
    state = state * 6364136223846793005u + 1442695040888963407u;
    const bool student_first = (state >> 63) != 0;
    statistics::Pair pair;
    for (int turn = 0; turn < 2; ++turn) {
      prepare(set);
      CUDA_CHECK(cudaStreamSynchronize(stream));
      if ((turn == 0) == student_first) {
        pair.student = milliseconds(stream, [&] { student(set); });
        after(set);
      } else {
        pair.reference = milliseconds(stream, [&] { reference(set); });
      }
    }
    result.pairs.push_back(pair);
    if (i + 1 >= options.min_pairs) {
      result.ratio = statistics::paired_ratio(result.pairs);
      if (result.ratio.half_width() <= options.target_half_width * result.ratio.middle) break;
    }
  }
  result.ratio = statistics::paired_ratio(result.pairs);
  std::vector<double> references, students;
  for (const statistics::Pair& pair : result.pairs) {
    references.push_back(pair.reference);
    students.push_back(pair.student);
  }
  result.reference_ms = statistics::median(references);
  result.student_ms = statistics::median(students);
  return result;
}

}  // namespace timing
