// Thrust's random numbers: the engines minstd (with NVIDIA's and the standard's constants) and taus88, and distributions.
#pragma once
#pragma GCC system_header

#include <iostream>

#include "../simgpu/thrust_vectors.h"

namespace thrust {

/// x' = x * A mod M, from 1 on.
template <unsigned int A, unsigned int M>
class __simgpu_lcg {
 public:
  typedef unsigned int result_type;
  static constexpr result_type default_seed = 1, min = 1, max = M - 1;
  __SIMGPU_THRUST explicit __simgpu_lcg(result_type seed = default_seed) { this->seed(seed); }
  __SIMGPU_THRUST void seed(result_type seed = default_seed) {
    x_ = seed % M == 0 ? default_seed : seed % M;
  }
  __SIMGPU_THRUST result_type operator()() {
    return x_ = static_cast<result_type>(static_cast<unsigned long long>(x_) * A % M);
  }
  __SIMGPU_THRUST void discard(unsigned long long n) {
    unsigned long long power = A, step = 1;
    for (; n > 0; n /= 2) {
      if (n % 2) step = step * power % M;
      power = power * power % M;
    }
    x_ = static_cast<result_type>(x_ * step % M);
  }

 private:
  result_type x_;
};
typedef __simgpu_lcg<16807u, 2147483647u> minstd_rand0;
typedef __simgpu_lcg<48271u, 2147483647u> minstd_rand;
typedef minstd_rand default_random_engine;

/// Both ends included.
template <typename T = int>
class uniform_int_distribution {
 public:
  typedef T result_type;
  __SIMGPU_THRUST explicit uniform_int_distribution(T a = 0, T b = 0x7fffffff) : a_(a), b_(b) {}
  template <typename Engine>
  __SIMGPU_THRUST T operator()(Engine& engine) const {
    const double u = static_cast<double>(engine() - Engine::min) /
                     (static_cast<double>(Engine::max - Engine::min) + 1.0);
    return static_cast<T>(floor(u * (static_cast<double>(b_) + 1.0 - static_cast<double>(a_)) +
                                static_cast<double>(a_)));
  }

 private:
  T a_, b_;
};
/// In [a, b).
template <typename T = double>
class uniform_real_distribution {
 public:
  typedef T result_type;
  __SIMGPU_THRUST explicit uniform_real_distribution(T a = 0, T b = 1) : a_(a), b_(b) {}
  template <typename Engine>
  __SIMGPU_THRUST T operator()(Engine& engine) const {
    const T u = static_cast<T>(engine() - Engine::min) /
                (static_cast<T>(Engine::max - Engine::min) + static_cast<T>(1));
    return u * (b_ - a_) + a_;
  }

 private:
  T a_, b_;
};
/// By Box and Muller, of two numbers each.
template <typename T = double>
class normal_distribution {
 public:
  typedef T result_type;
  __SIMGPU_THRUST explicit normal_distribution(T mean = 0, T stddev = 1)
      : mean_(mean), stddev_(stddev) {}
  template <typename Engine>
  __SIMGPU_THRUST T operator()(Engine& engine) const {
    const double range = static_cast<double>(Engine::max - Engine::min) + 1.0;
    const double u = (static_cast<double>(engine() - Engine::min) + 1.0) / range;
    const double v = static_cast<double>(engine() - Engine::min) / range;
    return mean_ + stddev_ * static_cast<T>(sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v));
  }

 private:
  T mean_, stddev_;
};

namespace random {
using thrust::default_random_engine;
using thrust::minstd_rand;
using thrust::minstd_rand0;
using thrust::normal_distribution;
using thrust::uniform_int_distribution;
using thrust::uniform_real_distribution;
}  // namespace random

}  // namespace thrust
