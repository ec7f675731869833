// cuRAND's device functions, written for the simulated GPU.
//
// curandStatePhilox4_32_10_t is Philox4x32 with 10 rounds (simgpu/philox.h): the same bits as the
// paper's vectors, and numbers made of them as cuRAND's documentation says. `seed` is the key, `subsequence` the upper half of
// the counter. curandState (XORWOW, also under the name of MRG32k3a) is Marsaglia's generator
// (Journal of Statistical Software 8, 14), but begins elsewhere than NVIDIA's: its numbers are
// others.
#pragma once
#pragma GCC system_header

// NVIDIA's guard: a toolkit's header that is found later adds nothing.
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"
#include "simgpu/philox.h"

#if defined(__CUDA__)

#define __SIMGPU_RANDOM static __inline__ __attribute__((device, nodebug, always_inline))

// The states have no padding: programs copy them as a whole, and what nobody wrote may not be read.

/// A normally distributed number that is left of a pair.
struct __simgpu_left_normal {
  int has, has_double;
  double value_double;
  float value;
  int unused;
};

struct curandStatePhilox4_32_10 {
  uint4 ctr;     ///< of `output`
  uint4 output;  ///< four numbers, of which `STATE` have been taken
  uint2 key;
  unsigned int STATE, unused[3];
  __simgpu_left_normal left;
};
static_assert(sizeof(curandStatePhilox4_32_10) == 3 * 16 + 8 + sizeof(__simgpu_left_normal),
              "no padding");
struct curandStateXORWOW {
  unsigned int d, v[5];
  __simgpu_left_normal left;
};
struct curandStateMRG32k3a {
  curandStateXORWOW words;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

// ---- Philox

__SIMGPU_RANDOM uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
  return __simgpu_philox(c, k);
}
/// Adds `n` to the counter from its word `first` (0 or 2) on, with carries.
__SIMGPU_RANDOM void __simgpu_philox_add(curandStatePhilox4_32_10_t* s, unsigned long long n,
                                         bool upper) {
  unsigned long long low = (unsigned long long)s->ctr.y << 32 | s->ctr.x;
  unsigned long long high = (unsigned long long)s->ctr.w << 32 | s->ctr.z;
  if (upper) {
    high += n;
  } else {
    low += n;
    if (low < n) ++high;
  }
  s->ctr = make_uint4((unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high,
                      (unsigned int)(high >> 32));
}
__SIMGPU_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* s) {
  const unsigned long long taken = s->STATE + (n & 3);
  __simgpu_philox_add(s, (n >> 2) + (taken >> 2), false);
  s->STATE = (unsigned int)(taken & 3);
  s->output = curand_Philox4x32_10(s->ctr, s->key);
}
__SIMGPU_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* s) {
  __simgpu_philox_add(s, n, true);
  s->output = curand_Philox4x32_10(s->ctr, s->key);
}
__SIMGPU_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence,
                                 unsigned long long offset, curandStatePhilox4_32_10_t* s) {
  s->ctr = make_uint4(0, 0, 0, 0);
  s->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
  s->STATE = s->unused[0] = s->unused[1] = s->unused[2] = 0;
  s->left = {0, 0, 0.0, 0.0f, 0};
  __simgpu_philox_add(s, subsequence, true);
  skipahead(offset, s);
}
__SIMGPU_RANDOM unsigned int curand(curandStatePhilox4_32_10_t* s) {
  const unsigned int at = s->STATE++;
  const uint4 o = s->output;
  const unsigned int result = at == 0 ? o.x : at == 1 ? o.y : at == 2 ? o.z : o.w;
  if (at == 3) {
    s->STATE = 0;
    __simgpu_philox_add(s, 1, false);
    s->output = curand_Philox4x32_10(s->ctr, s->key);
  }
  return result;
}
/// The next four numbers.
__SIMGPU_RANDOM uint4 curand4(curandStatePhilox4_32_10_t* s) {
  const uint4 a = s->output;
  __simgpu_philox_add(s, 1, false);
  const uint4 b = s->output = curand_Philox4x32_10(s->ctr, s->key);
  switch (s->STATE) {
    case 0:
      return a;
    case 1:
      return make_uint4(a.y, a.z, a.w, b.x);
    case 2:
      return make_uint4(a.z, a.w, b.x, b.y);
    default:
      return make_uint4(a.w, b.x, b.y, b.z);
  }
}

// ---- XORWOW

__SIMGPU_RANDOM unsigned int curand(curandStateXORWOW_t* s) {
  const unsigned int t = s->v[0] ^ (s->v[0] >> 2);
  s->v[0] = s->v[1];
  s->v[1] = s->v[2];
  s->v[2] = s->v[3];
  s->v[3] = s->v[4];
  s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
  s->d += 362437;
  return s->v[4] + s->d;
}
__SIMGPU_RANDOM void skipahead(unsigned long long n, curandStateXORWOW_t* s) {
  for (; n > 0; --n) curand(s);
}
/// Subsequences begin at words that Philox makes of their number.
__SIMGPU_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence,
                                 unsigned long long offset, curandStateXORWOW_t* s) {
  const uint2 key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
  const unsigned int low = (unsigned int)subsequence, high = (unsigned int)(subsequence >> 32);
  const uint4 a = curand_Philox4x32_10(make_uint4(0, 0, low, high), key);
  const uint4 b = curand_Philox4x32_10(make_uint4(1, 0, low, high), key);
  s->d = b.y;
  s->v[0] = a.x;
  s->v[1] = a.y;
  s->v[2] = a.z;
  s->v[3] = a.w;
  s->v[4] = b.x | 1;  // not all may be 0
  s->left = {0, 0, 0.0, 0.0f, 0};
  skipahead(offset, s);
}
__SIMGPU_RANDOM unsigned int curand(curandStateMRG32k3a_t* s) {
  return curand(&s->words);
}
__SIMGPU_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence,
                                 unsigned long long offset, curandStateMRG32k3a_t* s) {
  curand_init(seed, subsequence, offset, &s->words);
}
__SIMGPU_RANDOM __simgpu_left_normal* __simgpu_left(curandStatePhilox4_32_10_t* s) {
  return &s->left;
}
__SIMGPU_RANDOM __simgpu_left_normal* __simgpu_left(curandStateXORWOW_t* s) {
  return &s->left;
}
__SIMGPU_RANDOM __simgpu_left_normal* __simgpu_left(curandStateMRG32k3a_t* s) {
  return &s->words.left;
}

// ---- what is made of 32 random bits: uniform numbers are in (0, 1]

#define CURAND_2POW32_INV (2.3283064e-10f)
#define CURAND_2POW53_INV_DOUBLE (1.1102230246251565e-16)
#define CURAND_2POW32_INV_2PI (2.3283064e-10f * 6.2831855f)

__SIMGPU_RANDOM float _curand_uniform(unsigned int x) {
  return x * CURAND_2POW32_INV + (CURAND_2POW32_INV / 2.0f);
}
__SIMGPU_RANDOM double _curand_uniform_double_hq(unsigned int x, unsigned int y) {
  const unsigned long long z = (unsigned long long)x ^ ((unsigned long long)y << (53 - 32));
  return z * CURAND_2POW53_INV_DOUBLE + (CURAND_2POW53_INV_DOUBLE / 2.0);
}
/// Two normally distributed numbers by Box and Muller.
__SIMGPU_RANDOM float2 _curand_box_muller(unsigned int x, unsigned int y) {
  const float v = y * CURAND_2POW32_INV_2PI + (CURAND_2POW32_INV_2PI / 2.0f);
  const float s = sqrtf(-2.0f * logf(_curand_uniform(x)));
  return make_float2(s * __sinf(v), s * __cosf(v));
}
template <typename State>
__SIMGPU_RANDOM float curand_uniform(State* s) {
  return _curand_uniform(curand(s));
}
template <typename State>
__SIMGPU_RANDOM double curand_uniform_double(State* s) {
  const unsigned int x = curand(s);
  return _curand_uniform_double_hq(x, curand(s));
}
template <typename State>
__SIMGPU_RANDOM float2 curand_normal2(State* s) {
  const unsigned int x = curand(s);
  return _curand_box_muller(x, curand(s));
}
template <typename State>
__SIMGPU_RANDOM float curand_normal(State* s) {
  __simgpu_left_normal* const left = __simgpu_left(s);
  if (left->has) {
    left->has = 0;
    return left->value;
  }
  const float2 pair = curand_normal2(s);
  left->has = 1;
  left->value = pair.y;
  return pair.x;
}
template <typename State>
__SIMGPU_RANDOM double2 curand_normal2_double(State* s) {
  const double u = curand_uniform_double(s), v = curand_uniform_double(s) * 2.0;
  const double r = sqrt(-2.0 * log(u));
  return make_double2(r * sinpi(v), r * cospi(v));
}
template <typename State>
__SIMGPU_RANDOM double curand_normal_double(State* s) {
  __simgpu_left_normal* const left = __simgpu_left(s);
  if (left->has_double) {
    left->has_double = 0;
    return left->value_double;
  }
  const double2 pair = curand_normal2_double(s);
  left->has_double = 1;
  left->value_double = pair.y;
  return pair.x;
}
template <typename State>
__SIMGPU_RANDOM float curand_log_normal(State* s, float mean, float stddev) {
  return expf(mean + stddev * curand_normal(s));
}
__SIMGPU_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  return make_float4(_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z),
                     _curand_uniform(x.w));
}
__SIMGPU_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  return make_double2(_curand_uniform_double_hq(x.x, x.y), _curand_uniform_double_hq(x.z, x.w));
}
__SIMGPU_RANDOM float4 curand_normal4(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  const float2 a = _curand_box_muller(x.x, x.y), b = _curand_box_muller(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}

/// The number of events of a process that has `lambda` on average, by Knuth's products; beyond 64 by
/// the normal distribution.
template <typename State>
__SIMGPU_RANDOM unsigned int curand_poisson(State* s, double lambda) {
  if (lambda > 64.0) {
    const double n = rint(lambda + sqrt(lambda) * curand_normal_double(s));
    return n > 0.0 ? (unsigned int)n : 0u;
  }
  const double limit = exp(-lambda);
  unsigned int count = 0;
  for (double product = curand_uniform_double(s); product > limit; ++count)
    product *= curand_uniform_double(s);
  return count;
}

#undef __SIMGPU_RANDOM
#endif
