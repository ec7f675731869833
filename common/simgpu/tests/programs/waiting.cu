// Threads that wait for each other: within a warp, between the warps of a block, between blocks.
#include <cstdio>
#include <initializer_list>

// Each lane takes the lock in turn; 32 lanes of a warp want it.
__global__ void lock_in_warp(int* lock, int* sum) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *sum += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// The same with the shortest loop: whoever holds the lock must leave the loop to give it back.
__global__ void spin_lock(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *sum += 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void consumer_and_producer(int* out) {
  __shared__ volatile int flag;
  __shared__ int data;
  if (threadIdx.x == 0) flag = 0;
  __syncwarp();
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    __threadfence();
    *out = data;
  } else if (threadIdx.x == 1) {
    data = 42;
    __threadfence();
    flag = 1;
  }
}

// Two warps hand over through a flag in shared memory.
__global__ void two_warps(int* out) {
  __shared__ volatile int ready;
  __shared__ int data[32];
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    while (ready == 0) {
    }
    __threadfence_block();
    out[threadIdx.x] = data[31 - threadIdx.x];
  } else {
    data[threadIdx.x - 32] = static_cast<int>(threadIdx.x);
    __threadfence_block();
    __syncwarp();
    if (threadIdx.x == 32) ready = 1;
  }
}

// A barrier over all blocks, by hand.
__global__ void grid_barrier(volatile int* arrived, int* data, int* out) {
  if (threadIdx.x == 0) data[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(const_cast<int*>(arrived), 1);
    while (*arrived < static_cast<int>(gridDim.x)) {
    }
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = data[gridDim.x - 1 - blockIdx.x];
}

// The same without atomics: each block raises a flag, one block looks at all of them and raises the others' (Xiao
// and Feng). What one block knows of another came through a third.
__global__ void master_barrier(volatile int* in, volatile int* out, int* data, int* result) {
  if (threadIdx.x == 0) data[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    in[blockIdx.x] = 1;
  }
  if (blockIdx.x == 1) {
    if (threadIdx.x < gridDim.x) {
      while (in[threadIdx.x] == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    if (threadIdx.x < gridDim.x) {
      __threadfence();
      out[threadIdx.x] = 1;
    }
  }
  if (threadIdx.x == 0) {
    while (out[blockIdx.x] == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 32) result[blockIdx.x] = data[gridDim.x - 1 - blockIdx.x];
}

// The programming guide's atomic addition by compare and swap.
__device__ double add(double* address, double value) {
  unsigned long long* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void sum_by_swaps(double* sum) {
  add(sum, threadIdx.x);
}

// A block looks at the flags of all others, one after the other.
__global__ void look_at_all(volatile int* flags, int* out) {
  constexpr int kBlocks = 16;
  if (threadIdx.x == 0) flags[blockIdx.x] = 1;
  int ready;
  do {
    ready = 0;
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) ready += flags[i];
  } while (ready < kBlocks);
  if (threadIdx.x == 0) out[blockIdx.x] = ready;
}

// A loop that works and looks at a flag that nobody sets is no deadlock.
__global__ void cancelled(volatile int* flag, unsigned int* out) {
  unsigned int x = threadIdx.x;
  for (int i = 0; i < 100000 && *flag == 0; ++i) x = 1664525u * x + 1013904223u;
  out[threadIdx.x] = x;
}

int main() {
  int *lock, *sum, *out, host[32];
  cudaMalloc(&lock, sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaMalloc(&out, sizeof host);
  for (auto kernel : {lock_in_warp, spin_lock}) {
    cudaMemset(lock, 0, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    kernel<<<3, 96>>>(lock, sum);
    cudaMemcpy(host, sum, sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("lock: %d\n", host[0]);
  }
  consumer_and_producer<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("within a warp: %d\n", host[0]);
  two_warps<<<1, 64>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("two warps: %d %d\n", host[0], host[31]);
  int* data;
  cudaMalloc(&data, sizeof host);
  cudaMemset(lock, 0, sizeof(int));
  grid_barrier<<<8, 64>>>(lock, data, out);
  cudaMemcpy(host, out, 8 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("eight blocks: %d %d\n", host[0], host[7]);
  int* flags;
  cudaMalloc(&flags, 64 * sizeof(int));
  cudaMemset(flags, 0, 64 * sizeof(int));
  master_barrier<<<8, 64>>>(flags, flags + 32, data, out);
  cudaMemcpy(host, out, 8 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("through a third block: %d %d\n", host[0], host[7]);
  cudaMemset(data, 0, sizeof host);
  look_at_all<<<16, 32>>>(data, out);
  cudaMemcpy(host, out, 16 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("flags of all: %d %d\n", host[0], host[15]);
  unsigned int *numbers, number;
  cudaMalloc(&numbers, 256 * sizeof *numbers);
  cudaMemset(lock, 0, sizeof(int));
  cancelled<<<1, 256>>>(lock, numbers);
  cudaMemcpy(&number, numbers + 255, sizeof number, cudaMemcpyDeviceToHost);
  std::printf("not cancelled: %u\n", number);
  double *total, result;
  cudaMalloc(&total, sizeof(double));
  cudaMemset(total, 0, sizeof(double));
  sum_by_swaps<<<4, 64>>>(total);
  cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("compare and swap: %g\n", result);
}
