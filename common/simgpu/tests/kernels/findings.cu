// One mistake per kernel, on the line marked "// @name".
#include <cuda_runtime.h>

#define NOINLINE __attribute__((noinline))

// ---- bounds

extern "C" __global__ void oob_load(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1];  // @oob_load
}
extern "C" __global__ void oob_negative(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i - 1];  // @oob_negative
}
extern "C" __global__ void oob_store(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = 1.0f;  // @oob_store
}
extern "C" __global__ void oob_vector(const float4* in, float4* out) {
  int i = threadIdx.x;
  out[i] = in[i];  // @oob_vector
}
extern "C" __global__ void oob_atomic(int* out) {
  atomicAdd(&out[threadIdx.x], 1);  // @oob_atomic
}
extern "C" __global__ void oob_far(float* out, long long offset) {
  out[offset] = 1.0f;  // @oob_far
}
extern "C" __global__ void oob_shared(int* out, int shift) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x + shift];  // @oob_shared
}
extern "C" __global__ void oob_dynamic(int* out, int shift) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x + shift] = 1;  // @oob_dynamic
  out[threadIdx.x] = 1;
}
extern "C" __global__ void oob_local(int* out, int index) {
  int mine[8];
  for (int k = 0; k < 8; ++k) mine[k] = k;
  mine[index + threadIdx.x] = 5;  // @oob_local
  int s = 0;
  for (int k = 0; k < 8; ++k) s += mine[(k * index) & 7];
  out[threadIdx.x] = s;
}
NOINLINE __device__ float inner(const float* p, int i) {
  return p[i];  // @oob_in_function
}
extern "C" __global__ void oob_in_function(const float* in, float* out) {
  out[threadIdx.x] = inner(in, threadIdx.x + 100);
}

// ---- alignment and pointers

extern "C" __global__ void misaligned_load(const float* in, float* out) {
  float4 v = *reinterpret_cast<const float4*>(in + 1 + 4 * threadIdx.x);  // @misaligned_load
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
extern "C" __global__ void misaligned_shared(float* out, int pitch) {
  extern __shared__ float rows[];
  rows[threadIdx.x] = 1.0f;
  rows[threadIdx.x + 32] = 1.0f;
  __syncthreads();
  if (threadIdx.x < 4) {
    float4 v = *reinterpret_cast<const float4*>(&rows[threadIdx.x * pitch]);  // @misaligned_shared
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
  }
}
extern "C" __global__ void reads(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // @reads
}
extern "C" __global__ void writes(int* out) {
  out[threadIdx.x] = 1;  // @writes
}

// ---- uninitialised

extern "C" __global__ void uninit_shared(int* out) {
  __shared__ int tile[64];
  if (threadIdx.x != 40) tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // @uninit_shared
}
extern "C" __global__ void uninit_local(int* out, int k) {
  int mine[8];
  mine[k & 7] = 1;
  out[threadIdx.x] = mine[(k + threadIdx.x) & 7];  // @uninit_local
}
extern "C" __global__ void uninit_output(float* c) {
  c[threadIdx.x] += 1.0f;  // @uninit_output
}

// ---- races

extern "C" __global__ void race_raw(int* out) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  tile[t] = t;             // @race_raw_write
  out[t] = tile[63 - t];   // @race_raw_read
}
extern "C" __global__ void race_war(int* out) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  int v = tile[63 - t];  // @race_war_read
  tile[t] = v + 1;       // @race_war_write
  out[t] = v;
}
extern "C" __global__ void race_waw(int* out) {
  __shared__ int flag;
  int t = threadIdx.x;
  if (t % 32 == 5) flag = t;  // @race_waw
  __syncthreads();
  out[t] = flag;
}
// The classical mistake: the barrier after the inner loop is missing.
extern "C" __global__ void race_tile_loop(const int* in, int* out, int tiles) {
  __shared__ int tile[128];
  int t = threadIdx.x, s = 0;
  for (int k = 0; k < tiles; ++k) {
    tile[t] = in[k * 128 + t];  // @race_loop_write
    __syncthreads();
    for (int j = 0; j < 128; ++j) s += tile[j];  // @race_loop_read
  }
  out[t] = s;
}
extern "C" __global__ void race_blocks_write(int* out) {
  if (threadIdx.x == 7) out[3] = blockIdx.x;  // @race_blocks_write
}
// Results of another width than the data: clang would make one store of two equal ones, without a line.
extern "C" __global__ void race_blocks_read(int* data, long long* out) {
  if (threadIdx.x == 0) data[blockIdx.x] = 1;                                       // @race_blocks_w
  if (threadIdx.x == 32) out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];       // @race_blocks_r
}
extern "C" __global__ void race_block_global(int* data, int* out) {
  int t = threadIdx.x;
  data[t] = t;              // @race_global_write
  out[t] = data[63 - t];    // @race_global_read
}
extern "C" __global__ void race_plain_and_atomic(int* data) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) data[0] = 5;  // @race_plain
  } else if (threadIdx.x == 0) {
    atomicAdd(data, 1);                 // @race_atomic
  }
}

// ---- barriers

extern "C" __global__ void divergent_barrier(int* out) {
  __shared__ int box[64];
  int t = threadIdx.x;
  box[t] = t;
  if (t % 32 < 16) {
    box[t] += 2;
    __syncthreads();  // @divergent_barrier
    box[t] *= 3;
  }
  out[t] = box[t];
}
extern "C" __global__ void exited_before_barrier(int* out, int n) {
  __shared__ int box[64];
  int t = threadIdx.x;
  if (t >= n) return;  // @exit_return
  box[t] = t;
  __syncthreads();  // @exited_before_barrier
  out[t] = box[t ^ 1];
}
extern "C" __global__ void barrier_in_branch(int* out, int n) {
  __shared__ int box[64];
  int t = threadIdx.x;
  box[t] = t;
  if (t < n) __syncthreads();  // @barrier_in_branch
  out[t] = box[t ^ 1];
}
extern "C" __global__ void mismatched_barrier(int* out) {
  int t = threadIdx.x;
  if (t < 32) {
    __syncthreads();  // @mismatch_a
    out[t] = 1;
  } else {
    out[t] = 2;
    __syncthreads();  // @mismatch_b
    out[t] += 1;
  }
}
extern "C" __global__ void deadlock(int* out) {
  int t = threadIdx.x;
  if (t < 32) {
    asm volatile("bar.sync 1, 64;");  // @deadlock_a
  } else {
    asm volatile("bar.sync 2, 64;");  // @deadlock_b
  }
  out[t] = t;
}

// ---- never ending, traps

extern "C" __global__ void endless(volatile int* flag) {
  while (*flag == 0) {  // @endless
  }
}
extern "C" __global__ void endless_one_lane(volatile int* flag) {
  if (threadIdx.x == 3) {
    while (*flag == 0) {
    }
  }
}
extern "C" __global__ void traps(int* out) {
  if (threadIdx.x == 9) __trap();  // @trap
  out[threadIdx.x] = 1;
}
NOINLINE __device__ int endless_recursion(int n) {
  volatile int frame[16];
  frame[n & 15] = n;
  return endless_recursion(n + 1) + frame[n & 15];
}
extern "C" __global__ void stack_overflow(int* out) { out[threadIdx.x] = endless_recursion(threadIdx.x); }
extern "C" __global__ void divides(const int* by, int* out) {
  out[threadIdx.x] = 100 / by[threadIdx.x];  // @divides
}

// ---- more than fits into registers
extern "C" __global__ void spills(const float* a, const float* b, float* c) {
  float acc[24][16];
#pragma unroll
  for (int i = 0; i < 24; ++i)
#pragma unroll
    for (int j = 0; j < 16; ++j) acc[i][j] = 0;
  for (int k = 0; k < 64; ++k) {
    float ra[24], rb[16];
#pragma unroll
    for (int i = 0; i < 24; ++i) ra[i] = a[k * 24 + i];
#pragma unroll
    for (int j = 0; j < 16; ++j) rb[j] = b[k * 16 + j];
#pragma unroll
    for (int i = 0; i < 24; ++i)
#pragma unroll
      for (int j = 0; j < 16; ++j) acc[i][j] += ra[i] * rb[j];
  }
#pragma unroll
  for (int i = 0; i < 24; ++i)
#pragma unroll
    for (int j = 0; j < 16; ++j) c[i * 16 + j] = acc[i][j];
}

// A flag that releases nothing.
extern "C" __global__ void nothing_released(int* data, unsigned* flags, int* out) {
  const int t = threadIdx.x, here = blockIdx.x * 32 + t;
  data[here] = t;
  __syncwarp();
  unsigned* const own = flags + blockIdx.x;
  if (t == 0) asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(own) : "memory");
  if (blockIdx.x == 0) return;
  for (unsigned there = 0; !there;)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(own - 1) : "memory");
  out[here] = data[here - 32];
}
