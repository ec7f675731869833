// Asynchronous copies, correct and with one mistake per kernel (on the line marked "// @name").
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// One warp or more: each thread copies its own four bytes and reads them back.
extern "C" __global__ void own_word(const int* in, int* out) {
  __shared__ int tile[256];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[blockIdx.x * blockDim.x + t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[blockIdx.x * blockDim.x + t] = tile[t];
}
extern "C" __global__ void own_word_early(const int* in, int* out) {
  __shared__ int tile[256];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[blockIdx.x * blockDim.x + t], 4);  // @early_copy
  __pipeline_commit();
  out[blockIdx.x * blockDim.x + t] = tile[t];  // @early_read
  __pipeline_wait_prior(0);
}
extern "C" __global__ void never_committed(const int* in, int* out) {
  __shared__ int tile[256];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // @uncommitted_copy
  __pipeline_wait_prior(0);
  out[t] = tile[t];  // @uncommitted_read
}
// Threads read what their neighbour copied.
extern "C" __global__ void neighbour(const int* in, int* out, int barrier) {
  __shared__ int tile[256];
  const int t = threadIdx.x, n = blockDim.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // @neighbour_copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (barrier) __syncthreads();
  out[t] = tile[(t + n - 1) % n];  // @neighbour_read
}
extern "C" __global__ void barrier_before_wait(const int* in, int* out) {
  __shared__ int tile[256];
  const int t = threadIdx.x, n = blockDim.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // @wrong_order_copy
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  out[t] = tile[(t + n - 1) % n];  // @wrong_order_read
}
// A ring of `stages` tiles; waits until `open` groups are under way.
template <int Stages, int Open>
__device__ void ring(const int* in, int* out, int rounds) {
  __shared__ int tile[Stages][64];
  const int t = threadIdx.x;
  for (int s = 0; s < Stages - 1; ++s) {
    if (s < rounds) __pipeline_memcpy_async(&tile[s][t], &in[s * 64 + t], 4);
    __pipeline_commit();
  }
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    __pipeline_wait_prior(Open);
    __syncthreads();
    sum += tile[r % Stages][63 - t] * (r + 1);  // @ring_read
    const int next = r + Stages - 1;
    if (next < rounds) __pipeline_memcpy_async(&tile[next % Stages][t], &in[next * 64 + t], 4);  // @ring_copy
    __pipeline_commit();
  }
  out[t] = sum;
}
extern "C" __global__ void ring_right(const int* in, int* out, int rounds) {
  ring<3, 1>(in, out, rounds);
}
extern "C" __global__ void ring_off_by_one(const int* in, int* out, int rounds) {
  ring<3, 2>(in, out, rounds);
}
// Copies into the buffer that others still read: the barrier stands too early.
extern "C" __global__ void overwrites(const int* in, int* out, int rounds) {
  __shared__ int tile[2][64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    __pipeline_memcpy_async(&tile[0][t], &in[r * 64 + t], 4);  // @war_copy
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += tile[0][63 - t];  // @war_read
  }
  out[t] = sum;
}
extern "C" __global__ void store_on_pending(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // @pending_copy
  __pipeline_commit();
  tile[t] = 5;  // @pending_store
  __pipeline_wait_prior(0);
  out[t] = tile[t];
}
extern "C" __global__ void copy_on_pending(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);       // @first_copy
  __pipeline_memcpy_async(&tile[t], &in[64 + t], 4);  // @second_copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = tile[t];
}
extern "C" __global__ void two_lanes_one_place(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t / 2], &in[t], 4);  // @two_lanes
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[t / 2];
}
// The last `zeros` bytes of each 16 are zero and not read.
extern "C" __global__ void zero_fill(const float* in, float* out, int zeros) {
  __shared__ float4 tile[32];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], in + 4 * t, 16, zeros);  // @zero_fill
  __pipeline_commit();
  __pipeline_wait_prior(0);
  reinterpret_cast<float4*>(out)[t] = tile[t];
}
// Copies of `Bytes` through the cache (.ca) or past it (.cg): `from` and `to` are byte strides.
template <int Bytes, bool L1>
__device__ void strided(const char* in, int* out, int from, int to, int source_bytes) {
  extern __shared__ char space[];
  const int t = threadIdx.x;
  const unsigned dst = static_cast<unsigned>(__cvta_generic_to_shared(space + t * to));
  const char* src = in + t * from;
  if (L1)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(dst), "l"(src), "n"(Bytes), "r"(source_bytes) : "memory");
  else
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(dst), "l"(src), "n"(Bytes), "r"(source_bytes) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = *reinterpret_cast<int*>(space + t * to);
}
extern "C" __global__ void strided_4(const char* in, int* out, int from, int to, int n) {
  strided<4, true>(in, out, from, to, n);
}
extern "C" __global__ void strided_8(const char* in, int* out, int from, int to, int n) {
  strided<8, true>(in, out, from, to, n);
}
extern "C" __global__ void strided_16(const char* in, int* out, int from, int to, int n) {
  strided<16, true>(in, out, from, to, n);
}
extern "C" __global__ void strided_16_cg(const char* in, int* out, int from, int to, int n) {
  strided<16, false>(in, out, from, to, n);
}
// Arithmetic between commit and wait, or none.
extern "C" __global__ void hidden(const float* in, float* out, float x, int work) {
  __shared__ float4 tile[32];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], in + 4 * t, 16);  // @hidden_copy
  __pipeline_commit();
  float sum = x;
  if (work) {
    asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(sum) : "f"(x));
    asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(sum) : "f"(x));
  }
  __pipeline_wait_prior(0);
  out[t] = sum + tile[t].x;
}
// A ring of `places` places, one of which is multiplied while the others may be copied to. `left`
// groups are left under way by each wait; `split`: the two halves of a place are two groups.
extern "C" __global__ void ring(const float* in, float* out, int places, int left, int split,
                                int steps) {
  __shared__ float4 tile[8][2][32];
  const int t = threadIdx.x;
  const auto copy = [&](int step) {
    for (int half = 0; half < 2; ++half) {
      __pipeline_memcpy_async(&tile[step % places][half][t], in + 4 * t, 16);
      if (split) __pipeline_commit();
    }
    if (!split) __pipeline_commit();
  };
  const auto wait = [&] {
    switch (left) {
      case 0:
        return __pipeline_wait_prior(0);  // @ring_wait
      case 1:
        return __pipeline_wait_prior(1);
      default:
        return __pipeline_wait_prior(2);
    }
  };
  for (int s = 0; s < places - 1; ++s) copy(s);
  float sum = 0;
  for (int s = 0; s < steps; ++s) {
    wait();
    wait();  // nothing is left to arrive: no step of its own
    __syncthreads();
    copy(s + places - 1);
    sum = fmaf(tile[s % places][0][t].x, tile[s % places][1][t].y, sum);
  }
  out[t] = sum;
}
// C = A * B, 64 x 64 tiles, three stages of 16-byte copies, any K divisible by 16.
extern "C" __global__ void gemm_ring(const float* a, const float* b, float* c, int n, int k) {
  constexpr int kStages = 3, kDepth = 16;
  __shared__ __align__(16) float as[kStages][32][kDepth + 4], bs[kStages][kDepth][32];
  const int t = threadIdx.x, tx = t % 8, ty = t / 8;  // 64 threads, 4 x 4 each
  const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  auto fetch = [&](int tile) {
    if (tile * kDepth < k) {
      const int s = tile % kStages;
      for (int e = t; e < 32 * kDepth / 4; e += 64) {
        const int r = e / (kDepth / 4), q = e % (kDepth / 4);
        __pipeline_memcpy_async(&as[s][r][4 * q], &a[(row0 + r) * k + tile * kDepth + 4 * q], 16);
      }
      for (int e = t; e < kDepth * 32 / 4; e += 64) {
        const int r = e / 8, q = e % 8;
        __pipeline_memcpy_async(&bs[s][r][4 * q], &b[(tile * kDepth + r) * n + col0 + 4 * q], 16);
      }
    }
    __pipeline_commit();
  };
  fetch(0);
  fetch(1);
  float sum[4][4] = {};
  for (int tile = 0; tile * kDepth < k; ++tile) {
    __pipeline_wait_prior(1);
    __syncthreads();
    fetch(tile + 2);
    const int s = tile % kStages;
    for (int d = 0; d < kDepth; ++d) {
      const float4 y = *reinterpret_cast<const float4*>(&bs[s][d][4 * tx]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float x = as[s][4 * ty + i][d];
        sum[i][0] += x * y.x;
        sum[i][1] += x * y.y;
        sum[i][2] += x * y.z;
        sum[i][3] += x * y.w;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(&c[(row0 + 4 * ty + i) * n + col0 + 4 * tx]) =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
// The same with plain loads and stores, for comparison of the simulator's speed.
extern "C" __global__ void gemm_plain(const float* a, const float* b, float* c, int n, int k) {
  constexpr int kDepth = 16;
  __shared__ __align__(16) float as[32][kDepth + 4], bs[kDepth][32];
  const int t = threadIdx.x, tx = t % 8, ty = t / 8;
  const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float sum[4][4] = {};
  for (int tile = 0; tile * kDepth < k; ++tile) {
    __syncthreads();
    for (int e = t; e < 32 * kDepth / 4; e += 64) {
      const int r = e / (kDepth / 4), q = e % (kDepth / 4);
      *reinterpret_cast<float4*>(&as[r][4 * q]) =
          *reinterpret_cast<const float4*>(&a[(row0 + r) * k + tile * kDepth + 4 * q]);
    }
    for (int e = t; e < kDepth * 32 / 4; e += 64) {
      const int r = e / 8, q = e % 8;
      *reinterpret_cast<float4*>(&bs[r][4 * q]) =
          *reinterpret_cast<const float4*>(&b[(tile * kDepth + r) * n + col0 + 4 * q]);
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d) {
      const float4 y = *reinterpret_cast<const float4*>(&bs[d][4 * tx]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float x = as[4 * ty + i][d];
        sum[i][0] += x * y.x;
        sum[i][1] += x * y.y;
        sum[i][2] += x * y.z;
        sum[i][3] += x * y.w;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(&c[(row0 + 4 * ty + i) * n + col0 + 4 * tx]) =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
