// What only plain vectors can do, as CUDA's are: members of std::atomic, bit casts, named initialisers.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // of {0.5f}
#include <atomic>
#include <type_traits>

#include "check.h"

struct Particle {
  float4 place;
  int2 cell;
};
static_assert(std::is_trivially_copyable<Particle>::value, "copied with memcpy");
static_assert(std::is_trivial<uint4>::value && std::is_standard_layout<double2>::value, "plain");

template <class To, class From>
__host__ __device__ To bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable<From>::value, "");
  return __builtin_bit_cast(To, from);
}

constexpr float4 kStep{1, 2, 3, 4};
constexpr float4 kSame = kStep;
static_assert(kSame.z == 3, "known to the compiler");

__global__ void move(Particle* particles, int4* bits) {
  float4 step = {0.5f};
  step.y = kSame.w;
  Particle p = particles[threadIdx.x];
  p.place = {p.place.x + step.x, p.place.y + step.y, p.place.z + step.z, p.place.w};
  ++p.cell.y;
  particles[threadIdx.x] = p;
  bits[threadIdx.x] = bits_of<int4>(p.place);
}

int main() {
  std::atomic<float2> shared(float2{1, 2});
  shared.store({3, 4});
  Particle host[32];
  for (int i = 0; i < 32; ++i)
    host[i] = Particle{.place = {float(i), 1, 2, 3}, .cell = {.x = i, .y = 7}};
  Particle* particles;
  int4 *bits, seen[32];
  CHECK(cudaMalloc(&particles, sizeof host));
  CHECK(cudaMalloc(&bits, sizeof seen));
  CHECK(cudaMemcpy(particles, host, sizeof host, cudaMemcpyHostToDevice));
  move<<<1, 32>>>(particles, bits);
  CHECK(cudaMemcpy(host, particles, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(seen, bits, sizeof seen, cudaMemcpyDeviceToHost));
  const float4 last = bits_of<float4>(seen[31]);
  std::printf("%g %g %g %g, cell %d %d, atomic %g\n", last.x, last.y, last.z, last.w,
              host[31].cell.x, host[31].cell.y, shared.load().y);
  CHECK(cudaFree(particles));
  CHECK(cudaFree(bits));
}
