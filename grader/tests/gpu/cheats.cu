// Launchers that are timed by the tests of the engine on a real GPU: one honest kernel, and what
// careless, curious and malicious ones do. Linked with grader/gpu/runner_main.cu like a student's
// object; the comment above each says what must come of it.
#include <cuda_runtime.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

#include "common/matrix.hpp"
#include "grader/gpu/protocol.hpp"
#include "grader/gpu/runner_main.hpp"

namespace {

using View = MatrixView<const float>;
using Result = MatrixView<float>;

__global__ void product(View a, View b, Result c, int depth) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= c.rows || col >= c.cols) return;
  float sum = 0;
  for (int k = 0; k < depth; ++k) sum += a(row, k) * b(k, col);
  c(row, col) = sum;
}

/// As TF32 does: both factors cut to 11 significant bits.
__global__ void imprecise_product(View a, View b, Result c) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= c.rows || col >= c.cols) return;
  const auto rounded = [](float x) {
    return __uint_as_float((__float_as_uint(x) + 0x1000u) & ~0x1fffu);
  };
  float sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += rounded(a(row, k)) * rounded(b(k, col));
  c(row, col) = sum;
}

__global__ void set_one(float* place, float value) {
  *place = value;
}
__global__ void spin() {
  while (clock64() != 0) {
  }
}
__global__ void write_nowhere(float* place) {
  place[0] = 1;
}

void launch(View a, View b, Result c, cudaStream_t stream, int depth) {
  const dim3 block(32, 8);
  const dim3 grid((static_cast<unsigned>(c.cols) + 31) / 32,
                  (static_cast<unsigned>(c.rows) + 7) / 8);
  product<<<grid, block, 0, stream>>>(a, b, c, depth);
}

// right, and as fast as the naive yardstick
void honest(View a, View b, Result c, cudaStream_t stream) {
  launch(a, b, c, stream, a.cols);
}

// right: the device is waited for, whatever the stream; its time counts
void other_stream(View a, View b, Result c, cudaStream_t) {
  static cudaStream_t mine = [] {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return stream;
  }();
  launch(a, b, c, mine, a.cols);
}

// wrong: a thread launches when everybody thinks it is done
void late_thread(View a, View b, Result c, cudaStream_t) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    launch(a, b, c, nullptr, a.cols);
    cudaDeviceSynchronize();
  }).detach();
}

// some trouble: right at first, and a thread spoils one element later; it is stopped before that,
// and spoils the next request
void late_spoiler(View a, View b, Result c, cudaStream_t stream) {
  launch(a, b, c, stream, a.cols);
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    set_one<<<1, 1>>>(c.data, 0);
    cudaDeviceSynchronize();
  }).detach();
}

// wrong: results are kept by the addresses of A and B
void replay(View a, View b, Result c, cudaStream_t stream) {
  static std::map<std::pair<const float*, const float*>, float*> kept;
  const std::size_t bytes =
      sizeof(float) * static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.cols);
  float*& copy = kept[{a.data, b.data}];
  if (copy != nullptr) {
    cudaMemcpyAsync(c.data, copy, bytes, cudaMemcpyDeviceToDevice, stream);
    return;
  }
  launch(a, b, c, stream, a.cols);
  if (cudaMalloc(&copy, bytes) == cudaSuccess)
    cudaMemcpyAsync(copy, c.data, bytes, cudaMemcpyDeviceToDevice, stream);
}

// wrong: the first call computes, every other one returns
void batch_and_skip(View a, View b, Result c, cudaStream_t stream) {
  static int calls = 0;
  if (calls++ % 2 == 0) launch(a, b, c, stream, a.cols);
}

// wrong inputs: zeros times zeros is quick
void zero_inputs(View a, View b, Result c, cudaStream_t stream) {
  const auto clear = [&](const float* data, int rows, int cols) {
    cudaMemsetAsync(const_cast<float*>(data), 0,
                    sizeof(float) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols),
                    stream);
  };
  clear(a.data, a.rows, a.cols);
  clear(b.data, b.rows, b.cols);
  clear(c.data, c.rows, c.cols);
}

// imprecise
void half_precision(View a, View b, Result c, cudaStream_t stream) {
  const dim3 block(32, 8);
  const dim3 grid((static_cast<unsigned>(c.cols) + 31) / 32,
                  (static_cast<unsigned>(c.rows) + 7) / 8);
  imprecise_product<<<grid, block, 0, stream>>>(a, b, c);
}

// wrong: one per cent of the sum is left out
void ends_early(View a, View b, Result c, cudaStream_t stream) {
  launch(a, b, c, stream, a.cols - a.cols / 100);
}

// wrong: right but for a single element
void one_element(View a, View b, Result c, cudaStream_t stream) {
  launch(a, b, c, stream, a.cols);
  set_one<<<1, 1, 0, stream>>>(c.data + static_cast<std::ptrdiff_t>(c.rows / 3) * c.ld + 7, 0.5F);
}

// padding: right, and one element beyond the end of C
void beyond_the_end(View a, View b, Result c, cudaStream_t stream) {
  launch(a, b, c, stream, a.cols);
  set_one<<<1, 1, 0, stream>>>(c.data + static_cast<std::ptrdiff_t>(c.rows) * c.ld, 0);
}

// wrong: nothing is computed
void nothing(View, View, Result, cudaStream_t) {}

// hung
void hangs(View, View, Result, cudaStream_t stream) {
  spin<<<1, 1, 0, stream>>>();
}
void hangs_on_the_host(View, View, Result, cudaStream_t) {
  for (volatile int i = 0;; i = i + 1) {
  }
}

// device error
void faults(View, View, Result, cudaStream_t stream) {
  write_nowhere<<<1, 1, 0, stream>>>(nullptr);
}
// refused launch
void refused(View, View, Result, cudaStream_t stream) {
  set_one<<<1, 4096, 0, stream>>>(nullptr, 0);
}

// ended
void leaves(View, View, Result, cudaStream_t) {
  std::printf("VERDICT: PASS\n");
  std::exit(0);
}
void crashes(View, View, Result, cudaStream_t) {
  *static_cast<volatile int*>(nullptr) = 1;
}
void throws(View, View, Result, cudaStream_t) {
  throw std::runtime_error("no, thanks");
}
void speaks_nonsense(View, View, Result, cudaStream_t) {
  (void)!::write(3, "done, and very fast", 19);
}
void forges_a_reply(View a, View b, Result c, cudaStream_t) {
  using namespace grader::gpu::protocol;
  static std::uint32_t serial = 0;
  ++serial;  // a guess: call 1 is `open`
  wire::Channel(kDescriptor, kProtocol)
      .send(wire::make(Kind::done, serial + 1, Done{}), wire::kForever);
  launch(a, b, c, nullptr, a.cols);
}
void closes_the_socket(View, View, Result, cudaStream_t) {
  ::close(3);
}

// suspect at most: the device is kept busy while others are timed
void works_on(View a, View b, Result c, cudaStream_t stream) {
  launch(a, b, c, stream, a.cols);
  static const bool once = [=] {
    const auto matrix = [](auto view) {
      float* data = nullptr;
      cudaMalloc(&data, sizeof(float) * static_cast<std::size_t>(view.rows) *
                            static_cast<std::size_t>(view.cols));
      return Result{data, view.rows, view.cols, view.cols};
    };
    const Result x = matrix(a), y = matrix(b), z = matrix(c);
    std::thread([=] {
      cudaStream_t mine;
      cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
      for (;;) {
        launch(x, y, z, mine, x.cols);
        cudaStreamSynchronize(mine);
      }
    }).detach();
    return true;
  }();
  (void)once;
}

const simgpu::runtime::Entry entries[] = {
#define ENTRY(name) simgpu::runtime::launcher<&name>(#name)
    ENTRY(honest),         ENTRY(other_stream),      ENTRY(late_thread),    ENTRY(late_spoiler),
    ENTRY(replay),         ENTRY(batch_and_skip),    ENTRY(zero_inputs),    ENTRY(half_precision),
    ENTRY(ends_early),     ENTRY(one_element),       ENTRY(beyond_the_end), ENTRY(nothing),
    ENTRY(hangs),          ENTRY(hangs_on_the_host), ENTRY(faults),         ENTRY(refused),
    ENTRY(leaves),         ENTRY(crashes),           ENTRY(throws),         ENTRY(speaks_nonsense),
    ENTRY(forges_a_reply), ENTRY(closes_the_socket), ENTRY(works_on),
#undef ENTRY
};

}  // namespace

int main(int argc, char** argv) {
  return grader::gpu::runner_main(argc, argv, entries, sizeof entries / sizeof entries[0]);
}
