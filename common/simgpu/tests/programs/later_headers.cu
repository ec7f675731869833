// More of what published programs use of CUDA's headers: cuda::ptx, cuda::std, semaphores and latches,
// NV_IF_TARGET, DPX, conversions of pairs to 8 bits, dot products of vectors, functions of half, compare and
// swap of 16 bits and of a struct's member. Each line is checked here and prints ok. uint32_t needs no header.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/ptx>
#include <cuda/semaphore>
#include <cuda/std/algorithm>
#include <cuda/std/atomic>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <nv/target>

#include <cmath>
#include <cstdio>

#include "check.h"

namespace ptx = cuda::ptx;

template <class F>
void shows(const char* name, const int* values, int n, F wanted) {
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < n; ++i) {
    ok &= values[i] == wanted(i);
    if (values[i] != wanted(i)) std::printf("%d: %d, not %d\n", i, values[i], wanted(i));
  }
  std::printf("%s: %s\n", name, ok ? "ok" : "WRONG");
}

// Two tiles in turn, as the Programming Guide has it for cuda::ptx.
__global__ void ring(int* out, const int* in) {
  __shared__ alignas(128) int tile[2][64];
  __shared__ uint64_t bar[2];
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar[0], 1);
    ptx::mbarrier_init(&bar[1], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  for (uint32_t t = 0; t < 4; ++t) {
    const uint32_t place = t % 2;
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &bar[place], sizeof tile[0]);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[place], in + t * 64,
                         sizeof tile[0], &bar[place]);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar[place], t / 2 % 2)) {
    }
    tile[place][threadIdx.x] *= 3;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + t * 64, tile[place],
                         sizeof tile[0]);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
    __syncthreads();
  }
  if (ptx::get_sreg_laneid() != threadIdx.x % 32 || ptx::get_sreg_ctaid_x() != 0) __trap();
}

__global__ void standard(int* out, cuda::std::span<const int> in) {
  const auto [twice, half] = cuda::std::make_tuple(2 * in[threadIdx.x], in[threadIdx.x] * 0.5f);
  cuda::std::optional<int> some;
  if (threadIdx.x % 2 == 1) some = 100;
  const cuda::std::complex<float> c(1, 2), square = c * c;
  int sum = twice + static_cast<int>(2 * half) + some.value_or(7) +
            static_cast<int>(square.real() + square.imag()) + cuda::std::max(3, 4) +
            static_cast<int>(cuda::std::sqrt(16.0f)) + cuda::std::popcount(0xffu) +
            cuda::std::countl_zero(1u) + cuda::maximum<>()(1, 2) +
            cuda::std::plus<>()(1, 1);
  NV_IF_TARGET(NV_IS_DEVICE, (sum += 1000;), (sum += 5000;))
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (sum += 10000;), (sum += 50000;))
  out[threadIdx.x] = sum + static_cast<int>(in.size());
}

__global__ void meetings(int* out) {
  __shared__ cuda::binary_semaphore<cuda::thread_scope_block> free;
  __shared__ cuda::latch<cuda::thread_scope_block> all;
  __shared__ int sum, of[96];
  if (threadIdx.x == 0) {
    new (&free) cuda::binary_semaphore<cuda::thread_scope_block>(1);
    init(&all, 96);
    sum = 0;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    free.acquire();
    sum += static_cast<int>(threadIdx.x);
    free.release();
  }
  of[threadIdx.x] = static_cast<int>(threadIdx.x);
  all.arrive_and_wait();
  out[threadIdx.x] = of[95 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum;
}

__global__ void packed(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  bool high, low;
  const int values[] = {__viaddmax_s32(t, 5, 20),
                        __vimin3_s32(t, 3, 9),
                        __vimax_s32_relu(-t, -4),
                        static_cast<int>(__viaddmax_s16x2(0x0001fffeu, 0x00020001u, 0x0002fff0u)),
                        static_cast<int>(__vibmax_u16x2(0x00050001u, 0x00040002u, &high, &low)),
                        __dp4a(make_char4(1, -2, 3, -4), make_char4(5, 6, 7, 8), t),
                        __dp2a_hi(make_short2(300, -2), make_char4(1, 2, 3, 4), t)};
  for (int k = 0; k < 7; ++k) out[7 * t + k] = values[k];
  if (!high || low) __trap();
}

__global__ void sixteen(int* out) {
  const __half2 p = make_half2(__float2half(0.5f), __float2half(-2.0f));
  const __half2 square = __hcmadd(p, p, p);
  out[0] = static_cast<int>(1000 * __half2float(htanh(p.x)) + 0.5f);
  out[1] = static_cast<int>(__half2float(hexp10(__float2half(2.0f))) + 0.5f);
  out[2] = static_cast<int>(100 * __half2float(square.x));
  out[3] = static_cast<int>(100 * __half2float(square.y));
  out[4] = __nv_cvt_halfraw2_to_fp8x2(static_cast<__half2_raw>(p), __NV_SATFINITE, __NV_E4M3);
  out[5] = __nv_fp8x2_e5m2(make_bfloat162(__float2bfloat16(1.0f), __float2bfloat16(-2.0f))).__x;
  __prof_trigger(0);
}

struct Maxima {
  int before;
  float most;
  unsigned short owner;
};
__device__ void at_most(float* place, float value) {
  int* const bits = reinterpret_cast<int*>(place);
  int old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
}
__global__ void swaps(Maxima* m, int* out) {
  at_most(&m->most, static_cast<float>(threadIdx.x * 37 % 128));
  out[threadIdx.x] = atomicCAS(&m->owner, 0, 9) == 0;
}

int main() {
  int *in, *out;
  CHECK(cudaMallocManaged(&in, 256 * sizeof(int)));
  CHECK(cudaMallocManaged(&out, 256 * sizeof(int)));
  for (int i = 0; i < 256; ++i) in[i] = i;
  ring<<<1, 64>>>(out, in);
  shows("cuda::ptx", out, 256, [](int i) { return 3 * i; });
  standard<<<1, 32>>>(out, cuda::std::span<const int>(in, 256));
  shows("cuda::std", out, 32,
        [](int i) { return 3 * i + (i % 2 ? 100 : 7) + 1 + 4 + 4 + 8 + 31 + 2 + 2 + 11256; });
  meetings<<<1, 96>>>(out);
  shows("semaphore, latch", out, 96, [](int i) { return i == 0 ? 96 : 95 - i; });
  packed<<<1, 32>>>(out);
  shows("words", out, 224, [](int i) {
    const int t = i / 7, wanted[] = {t + 5 < 20 ? 20 : t + 5,
                                     t < 3 ? t : 3,
                                     0,
                                     0x0003ffff,
                                     0x00050002,
                                     t + 5 - 12 + 21 - 32,
                                     t + 900 - 8};
    return wanted[i % 7];
  });
  sixteen<<<1, 1>>>(out);
  shows("half", out, 6, [](int i) {
    const int wanted[] = {462, 100, -325, -400, 0xc030, 0xc03c};
    return wanted[i];
  });
  Maxima* m;
  CHECK(cudaMallocManaged(&m, sizeof *m));
  *m = {1, -1.0f, 0};
  swaps<<<1, 128>>>(m, out);
  CHECK(cudaDeviceSynchronize());
  int winners = 0;
  for (int i = 0; i < 128; ++i) winners += out[i];
  std::printf("swaps: %s\n", m->most == 127 && m->owner == 9 && winners == 1 ? "ok" : "WRONG");
  const bool is_right = cuda::isqrt(99u) == 9 && cuda::isqrt(100LL) == 10 &&
                        cuda::is_power_of_two(64) && !cuda::is_power_of_two(65) &&
                        cuda::next_power_of_two(65) == 128;
  std::printf("arithmetic: %s\n", is_right ? "ok" : "WRONG");
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(m));
  return 0;
}
