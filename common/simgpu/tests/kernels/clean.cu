// Correct code that looks suspicious: none of it may get a finding.
#include <cuda_runtime.h>

extern "C" __global__ void warp_synchronous(const int* in, int* out) {
  __shared__ volatile int box[128];
  int t = threadIdx.x, lane = t & 31, base = t & ~31;
  box[t] = in[t];
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    int v = box[base + ((lane + step) & 31)];
    __syncwarp();
    box[t] = box[t] + v;
    __syncwarp();
  }
  out[t] = box[t];
}

extern "C" __global__ void double_buffer(const int* in, int* out, int tiles) {
  __shared__ int tile[2][128];
  int t = threadIdx.x, s = 0;
  tile[0][t] = in[t];
  __syncthreads();
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) tile[(k + 1) & 1][t] = in[(k + 1) * 128 + t];
    for (int j = 0; j < 128; ++j) s += tile[k & 1][j];
    __syncthreads();
  }
  out[t] = s;
}

extern "C" __global__ void block_reduction(const int* in, int* out) {
  __shared__ int box[256];
  int t = threadIdx.x;
  box[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int n = 128; n > 0; n /= 2) {
    if (t < n) box[t] += box[t + n];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = box[0];
}

extern "C" __global__ void neighbouring_bytes(unsigned char* shared_out, unsigned char* global_out) {
  __shared__ unsigned char bytes[128];
  __shared__ unsigned short halves[128];
  int t = threadIdx.x;
  bytes[t] = t;                  // four warps... and lanes write into one word
  halves[127 - t] = t;
  global_out[blockIdx.x * 128 + t] = t;
  __syncthreads();
  shared_out[blockIdx.x * 128 + t] = bytes[127 - t] + halves[t];
}

// Blocks that meet inside one 32-byte sector and even one word, each with bytes of its own.
extern "C" __global__ void interleaved_blocks(unsigned char* out) {
  if (threadIdx.x < 8) out[threadIdx.x * gridDim.x + blockIdx.x] = blockIdx.x;
}

extern "C" __global__ void shared_atomics(const int* in, int* out) {
  __shared__ int histogram[16];
  int t = threadIdx.x;
  if (t < 16) histogram[t] = 0;
  __syncthreads();
  atomicAdd(&histogram[in[t] & 15], 1);
  atomicMax(&histogram[0], in[t] & 3);
  __syncthreads();
  if (t < 16) atomicAdd(&out[t], histogram[t]);
}

extern "C" __global__ void broadcast_reads(const int* in, int* out) {
  __shared__ int one;
  if (threadIdx.x == 0) one = in[0];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = one + in[0] + in[1];
}

extern "C" __global__ void last_element_vector(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// Padding of the pitch is allocated, never written, never read.
extern "C" __global__ void padded_tile(const float* in, float* out) {
  __shared__ float tile[32][33];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * 32 + x];
  __syncthreads();
  out[y * 32 + x] = tile[x][y];
}

extern "C" __global__ void same_thread(int* data, int* out) {
  __shared__ int box[64];
  int t = threadIdx.x;
  box[t] = t;
  box[t] += 2;
  data[t] = box[t];
  data[t] = data[t] * 2;
  out[t] = data[t];
}

extern "C" __global__ void zero_fill(const float* a, float* c, int m, int k) {
  __shared__ float tile[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  float s = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    int row = blockIdx.y * 16 + y, col = k0 + x;
    tile[y][x] = row < m && col < k ? a[row * k + col] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 16; ++j) s += tile[y][j] * (x + 1);
    __syncthreads();
  }
  int row = blockIdx.y * 16 + y;
  if (row < m) c[row * 16 + x] = s;
}

// A guarded access must not become an unguarded one by the compiler's speculation.
extern "C" __global__ void guarded_reads(const int* in, int* out, int n) {
  __shared__ int box[64];
  int t = threadIdx.x;
  if (t < n) box[t] = in[t];
  __syncthreads();
  int v = 0;
  if (t == 0) v = box[0] + box[1];
  if (t < n) v += t + 1 < n ? box[t + 1] : 0;
  out[t] = v;
}

extern "C" __global__ void producer_consumer_warps(const int* in, int* out, int rounds) {
  __shared__ int box[2][32];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  int s = 0;
  for (int k = 0; k <= rounds; ++k) {
    if (warp == 0 && k < rounds) box[k & 1][lane] = in[k * 32 + lane];
    if (warp == 1 && k > 0) s += box[(k - 1) & 1][31 - lane];
    __syncthreads();
  }
  if (warp == 1) out[lane] = s;
}

// The last block to finish sums what all wrote: fence and atomic order the accesses.
__device__ unsigned int finished = 0;
extern "C" __global__ void last_block(const int* in, int* partial, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(&finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    int s = 0;
    for (int b = 0; b < gridDim.x; ++b) s += reinterpret_cast<volatile int*>(partial)[b];
    *out = s;
    finished = 0;
  }
}

// Every block hands its numbers to the next one, by a flag of its own: release and acquire order them.
extern "C" __global__ void released_by_flags(const int* in, int* data, unsigned* flags, int* out) {
  const int t = threadIdx.x, here = blockIdx.x * 32 + t;
  data[here] = in[here];
  __syncwarp();
  if (t == 0)
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flags + blockIdx.x) : "memory");
  if (blockIdx.x == 0) return;
  for (unsigned there = 0; !there;)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(there)
                 : "l"(flags + blockIdx.x - 1)
                 : "memory");
  out[here] = data[here - 32];
}

extern "C" __global__ void whole_warps_leave(const int* in, int* out) {
  __shared__ int box[64];
  int t = threadIdx.x;
  box[t] = in[t];
  __syncthreads();
  if (t >= 32) return;
  out[t] = box[t] + box[t + 32];
  __syncwarp();
}

extern "C" __global__ void shuffle_reduction(const float* in, float* out) {
  float v = in[blockIdx.x * 32 + threadIdx.x];
  for (int n = 16; n > 0; n /= 2) v += __shfl_down_sync(0xffffffffu, v, n);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

extern "C" __global__ void read_only_overlap(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int s = 0;
  for (int k = 0; k < 40; ++k) s += in[(i + k) % (gridDim.x * blockDim.x)];
  out[i] = s;
}

extern "C" __global__ void partial_initialisation(const float* in, float* out, int n) {
  // Only n of 64 elements exist on the host's side: the rest of the buffer is never read.
  int t = threadIdx.x;
  out[t] = t < n ? in[t] : 0.0f;
}

extern "C" __global__ void same_value_flag(const int* in, int* found) {
  __shared__ int any;
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (in[threadIdx.x] > 5) atomicOr(&any, 1);
  __syncthreads();
  if (threadIdx.x == 0) *found = any;
}

extern "C" __global__ void struct_padding(const int* in, char* out) {
  struct S { char a; int b; };
  __shared__ S box[32];
  int t = threadIdx.x;
  box[t].a = in[t];
  box[t].b = in[t] * 2;
  __syncthreads();
  out[t] = box[31 - t].a + box[31 - t].b;
}

// Each warp keeps its own slice: no block barrier needed, __syncwarp is.
extern "C" __global__ void warp_slices(const float* in, float* out) {
  __shared__ float tile[4][32][33];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int r = 0; r < 32; ++r) tile[warp][r][lane] = in[(warp * 32 + r) * 32 + lane];
  __syncwarp();
  for (int r = 0; r < 32; ++r) out[(warp * 32 + r) * 32 + lane] = tile[warp][lane][r];
}
