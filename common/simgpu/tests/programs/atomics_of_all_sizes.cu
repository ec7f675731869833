// cuda::atomic and cuda::atomic_ref of every size and kind of number, with what is seldom used of them: waiting, bits by
// operators, pointers, flags.
#include <cstdint>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/atomic>

#include "check.h"

constexpr auto kDevice = cuda::thread_scope_device;
struct Places {
  std::int8_t bytes[5];
  std::uint16_t words[3];
  bool raised;
  long number;
  unsigned long size;
  int* at;
  double largest;
  short lowest;
};

__global__ void count(Places* p, int* base) {
  const int t = static_cast<int>(threadIdx.x);
  cuda::atomic_ref<std::int8_t, kDevice>(p->bytes[t % 5]).fetch_add(1);
  cuda::atomic_ref<std::uint16_t, kDevice>(p->words[t % 3]) += 1000;
  cuda::atomic_ref<long, kDevice>(p->number).fetch_sub(t);
  cuda::atomic_ref<unsigned long, kDevice> size(p->size);
  ++size;
  cuda::atomic_ref<int*, kDevice>(p->at).fetch_add(1);
  cuda::atomic_ref<double, kDevice>(p->largest).fetch_max(t * 0.5);
  cuda::atomic_ref<short, kDevice>(p->lowest).fetch_min(static_cast<short>(-t));
  cuda::atomic_ref<bool, kDevice> raised(p->raised);
  if (t == 40 && blockIdx.x == 1) raised.store(true, cuda::memory_order_release);
  if (t == 0 && blockIdx.x == 0) raised.wait(false, cuda::memory_order_acquire);
  static_assert(decltype(raised)::is_always_lock_free, "");
  if (p->at < base) __trap();
}

__global__ void flags(int* out) {
  __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> bits, turn;
  __shared__ cuda::std::atomic_flag taken;
  __shared__ int firsts;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    new (&bits) cuda::atomic<unsigned, cuda::thread_scope_block>(0xf0u);
    new (&turn) cuda::atomic<unsigned, cuda::thread_scope_block>(0u);
    new (&taken) cuda::std::atomic_flag(false);
    firsts = 0;
  }
  __syncthreads();
  bits |= 1u << (t % 4);
  __syncthreads();
  bits &= ~(1u << (4 + t % 2));
  __syncthreads();
  if (t < 3) bits ^= 1u << t;
  if (!taken.test_and_set()) atomicAdd(&firsts, 1);
  if (t == 33) {
    turn = 7;
    turn.notify_all();
  }
  turn.wait(0);
  __syncthreads();
  if (t == 0) {
    out[0] = static_cast<int>(bits.load());
    out[1] = firsts;
    out[2] = static_cast<int>(turn);
    out[3] = taken.test();
  }
}

/// A barrier's mbarrier by its address is what the instructions of PTX take.
__global__ void by_address(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  std::uint64_t* const word = cuda::device::barrier_native_handle(bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = reinterpret_cast<void*>(word) == &bar;
}

int main() {
  Places* p;
  CHECK(cudaMallocManaged(&p, sizeof(Places)));
  CHECK(cudaMemset(p, 0, sizeof(Places)));
  int* base;
  CHECK(cudaMalloc(&base, 1024));
  CHECK(cudaDeviceSynchronize());
  p->at = base;
  count<<<2, 64>>>(p, base);
  CHECK(cudaDeviceSynchronize());
  std::printf("bytes %d %d, words %d %d, number %ld, size %lu\n", p->bytes[0], p->bytes[4], p->words[0],
              p->words[2], p->number, p->size);
  std::printf("pointer %d, largest %g, lowest %d, raised %d\n", static_cast<int>(p->at - base), p->largest,
              p->lowest, p->raised);
  int *out, said[64];
  CHECK(cudaMalloc(&out, sizeof said));
  flags<<<1, 64>>>(out);
  CHECK(cudaMemcpy(said, out, 4 * sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("bits %x, first %d, turn %d, taken %d\n", said[0], said[1], said[2], said[3]);
  by_address<<<1, 64>>>(out);
  CHECK(cudaMemcpy(said, out, sizeof said, cudaMemcpyDeviceToHost));
  std::printf("addresses %d %d\n", said[0], said[63]);
  return 0;
}
