// The runner's side: a process that holds the student's compiled code and does what a Server asks.
//
// A runner is linked from the student's objects, a table of entries, a main that calls
// `simgpu_runner_main`, and libsimgpu_cudart_remote.a. It owns no device and no data: matrices
// arrive as device addresses, which mean nothing here. C++17, no library but the standard one, so
// the table can be compiled together with the student's flags.
//
//   #include "common/simgpu/runtime/remote/runner_loop.hpp"
//   template <typename In, typename Out>
//   void gemm_naive(MatrixView<const In>, MatrixView<const In>, MatrixView<Out>, cudaStream_t);
//   const char* suspects();
//   static const simgpu::runtime::Entry entries[] = {
//       simgpu::runtime::launcher<&gemm_naive<float, float>>("gemm_naive<float>"),
//       simgpu::runtime::answer("suspects", &suspects)};
//   int main() { return simgpu::runtime::simgpu_runner_main(3, entries, 2); }
#pragma once

#include <cstddef>

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace simgpu::runtime {

/// A matrix argument as it arrives: becomes the launcher's own view type, element types included.
struct RawView {
  void* data = nullptr;
  int rows = 0, cols = 0, ld = 0;
};

struct Entry {
  const char* name = nullptr;
  /// Exactly one of the two is set.
  void (*launch)(const RawView& a, const RawView& b, const RawView& c,
                 CUstream_st* stream) = nullptr;
  const char* (*answer)() = nullptr;
};

namespace detail {
template <auto Function>
struct Launcher;

/// View types are aggregates {T* data; int rows, cols, ld;}.
template <typename A, typename B, typename C, void (*Function)(A, B, C, CUstream_st*)>
struct Launcher<Function> {
  template <typename View>
  static View view(const RawView& raw) {
    using Pointer = decltype(View::data);
    return View{static_cast<Pointer>(raw.data), raw.rows, raw.cols, raw.ld};
  }
  static void call(const RawView& a, const RawView& b, const RawView& c, CUstream_st* stream) {
    Function(view<A>(a), view<B>(b), view<C>(c), stream);
  }
};
}  // namespace detail

template <auto Function>
constexpr Entry launcher(const char* name) {
  return Entry{name, &detail::Launcher<Function>::call, nullptr};
}
constexpr Entry answer(const char* name, const char* (*function)()) {
  return Entry{name, nullptr, function};
}

/// Serves calls until the judge says goodbye or closes the channel. Returns the process's exit
/// status: 0 after a goodbye, 2 if `fd` is no channel, 3 if the other side broke the protocol or
/// vanished.
int simgpu_runner_main(int fd, const Entry* entries, std::size_t count);

}  // namespace simgpu::runtime
