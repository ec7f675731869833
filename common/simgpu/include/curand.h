// cuRAND's generators of the host: Philox4x32 with 10 rounds (simgpu/philox.h) under every name, computed on the host
// and written to wherever the pointer leads. The numbers have NVIDIA's distributions, but are others.
#pragma once
#pragma GCC system_header

// NVIDIA's guard: a toolkit's header that is found later adds nothing.
#define CURAND_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "cuda_runtime.h"
#include "simgpu/philox.h"

#define CURAND_VERSION 10400

enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999,
};
typedef enum curandStatus curandStatus_t;
enum curandRngType {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204,
};
typedef enum curandRngType curandRngType_t;
enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
};
typedef enum curandOrdering curandOrdering_t;

struct curandGenerator_st {
  std::uint64_t seed = 0, next = 0;
  cudaStream_t stream = nullptr;
};
typedef struct curandGenerator_st* curandGenerator_t;

namespace __simgpu_curand {

/// Number `at` of the sequence.
inline std::uint32_t word(std::uint64_t seed, std::uint64_t at) {
  const uint4 four = __simgpu_philox(
      make_uint4(static_cast<std::uint32_t>(at / 4), static_cast<std::uint32_t>(at / 4 >> 32), 0,
                 0),
      make_uint2(static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)));
  const std::uint32_t words[4] = {four.x, four.y, four.z, four.w};
  return words[at % 4];
}
inline std::uint32_t draw(curandGenerator_t g) {
  return word(g->seed, g->next++);
}
inline std::uint64_t draw64(curandGenerator_t g) {
  const std::uint64_t low = draw(g);
  return low | std::uint64_t{draw(g)} << 32;
}
/// In (0, 1].
template <typename T>
T uniform(curandGenerator_t g) {
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(draw(g)) * 2.3283064e-10f + 2.3283064e-10f / 2;
  else
    return static_cast<T>(draw64(g) >> 11) * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
}

/// `n` numbers of `make(i)`, to memory of the device or the host.
template <typename T, typename Make>
curandStatus_t fill(curandGenerator_t g, T* out, std::size_t n, Make make) {
  if (!g) return CURAND_STATUS_NOT_INITIALIZED;
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = make();
  if (n == 0) return CURAND_STATUS_SUCCESS;
  return ::cudaMemcpy(static_cast<void*>(out), values.data(), n * sizeof(T), cudaMemcpyDefault) ==
                 cudaSuccess
             ? CURAND_STATUS_SUCCESS
             : CURAND_STATUS_LAUNCH_FAILURE;
}
/// By Box and Muller, two at a time: an odd number is an error, as with cuRAND.
template <typename T, typename From>
curandStatus_t fill_normal(curandGenerator_t g, T* out, std::size_t n, From from) {
  if (n % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  bool has = false;
  double kept = 0;
  return fill(g, out, n, [&] {
    if (has) {
      has = false;
      return static_cast<T>(from(kept));
    }
    const double r = std::sqrt(-2.0 * std::log(static_cast<double>(uniform<T>(g))));
    const double angle = 6.283185307179586 * static_cast<double>(uniform<T>(g));
    has = true;
    kept = r * std::sin(angle);
    return static_cast<T>(from(r * std::cos(angle)));
  });
}

}  // namespace __simgpu_curand

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  if (!generator) return CURAND_STATUS_INITIALIZATION_FAILED;
  if (type >= CURAND_RNG_QUASI_DEFAULT) return CURAND_STATUS_TYPE_ERROR;
  *generator = new curandGenerator_st;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                curandRngType_t type) {
  return curandCreateGenerator(generator, type);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t g) {
  if (!g) return CURAND_STATUS_NOT_INITIALIZED;
  delete g;
  return CURAND_STATUS_SUCCESS;
}
/// The place in the sequence stays: so it is on an H200, of every pseudorandom type.
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g,
                                                         unsigned long long seed) {
  if (!g) return CURAND_STATUS_NOT_INITIALIZED;
  g->seed = seed;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset) {
  if (!g) return CURAND_STATUS_NOT_INITIALIZED;
  g->next = offset;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t g, curandOrdering_t) {
  return g ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
inline curandStatus_t curandSetStream(curandGenerator_t g, cudaStream_t stream) {
  if (!g) return CURAND_STATUS_NOT_INITIALIZED;
  g->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerateSeeds(curandGenerator_t g) {
  return g ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
inline curandStatus_t curandGetVersion(int* version) {
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned int* out, size_t n) {
  return __simgpu_curand::fill(g, out, n, [g] { return __simgpu_curand::draw(g); });
}
inline curandStatus_t curandGenerateLongLong(curandGenerator_t g, unsigned long long* out,
                                             size_t n) {
  return __simgpu_curand::fill(
      g, out, n, [g] { return static_cast<unsigned long long>(__simgpu_curand::draw64(g)); });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t g, float* out, size_t n) {
  return __simgpu_curand::fill(g, out, n, [g] { return __simgpu_curand::uniform<float>(g); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* out, size_t n) {
  return __simgpu_curand::fill(g, out, n, [g] { return __simgpu_curand::uniform<double>(g); });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t g, float* out, size_t n, float mean,
                                           float stddev) {
  return __simgpu_curand::fill_normal(g, out, n, [=](double z) { return mean + stddev * z; });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* out, size_t n,
                                                 double mean, double stddev) {
  return __simgpu_curand::fill_normal(g, out, n, [=](double z) { return mean + stddev * z; });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float* out, size_t n, float mean,
                                              float stddev) {
  return __simgpu_curand::fill_normal(g, out, n,
                                      [=](double z) { return std::exp(mean + stddev * z); });
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double* out, size_t n,
                                                    double mean, double stddev) {
  return __simgpu_curand::fill_normal(g, out, n,
                                      [=](double z) { return std::exp(mean + stddev * z); });
}
/// By Knuth's products, in parts of 16 events on average.
inline curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned int* out, size_t n,
                                            double lambda) {
  if (!(lambda > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  return __simgpu_curand::fill(g, out, n, [=] {
    unsigned int count = 0;
    for (double left = lambda; left > 0; left -= 16) {
      const double limit = std::exp(left < 16 ? -left : -16.0);
      for (double p = __simgpu_curand::uniform<double>(g); p > limit; ++count)
        p *= __simgpu_curand::uniform<double>(g);
    }
    return count;
  });
}
