// float4, int2, dim3 and the other vector types of CUDA.
//
// In device code the types of 2 and 4 elements copy through one compiler vector, because otherwise
// clang splits
// `*(float4*)&registers[i] = *(const float4*)&tile[k][c]` into four loads, where nvcc makes one of
// 16 bytes. That takes a copy constructor of their own; trivial_abi keeps them (and structs of
// them) passed by value like the plain aggregates they are on the host.
//
// Such a type is neither trivially copyable nor an aggregate: a union with one cannot be copied,
// std::atomic and bit casts refuse it. Whoever compiles a file that clang refuses does it again with
// __SIMGPU_PLAIN_VECTORS: aggregates, whose copies may be split in that file.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define __VECTOR_TYPES_H__

#include <utility>

#include "simgpu/attributes.h"

#if defined(__CUDA_ARCH__) && !defined(__SIMGPU_PLAIN_VECTORS)

#define __SIMGPU_MEMBER __attribute__((device, host, nodebug, always_inline))

// `auto [x, y, z, w] = v` takes an aggregate apart by itself, and these by the protocol of tuples.
#define __SIMGPU_PART(Const, T, Which)   \
  template <__SIZE_TYPE__ I>             \
  __SIMGPU_MEMBER Const T& get() Const { \
    return Which;                        \
  }
#define __SIMGPU_WHICH2 I == 0 ? x : y
#define __SIMGPU_WHICH4 I == 0 ? x : I == 1 ? y : I == 2 ? z : w
#define __SIMGPU_PARTS(T, Which) __SIMGPU_PART(, T, Which) __SIMGPU_PART(const, T, Which)
#define __SIMGPU_TUPLE(Name, T, Count)                                          \
  template <>                                                                   \
  struct std::tuple_size<Name> : std::integral_constant<std::size_t, Count> {}; \
  template <std::size_t I>                                                      \
  struct std::tuple_element<I, Name> {                                          \
    typedef T type;                                                             \
  };

#define __SIMGPU_VECTOR2(Name, T, Align)                                          \
  typedef T __simgpu_vector_##Name __attribute__((ext_vector_type(2)));           \
  struct __attribute__((trivial_abi)) alignas(Align) Name {                       \
    union {                                                                       \
      struct {                                                                    \
        T x, y;                                                                   \
      };                                                                          \
      __simgpu_vector_##Name __simgpu_all;                                        \
    };                                                                            \
    Name() = default;                                                             \
    __SIMGPU_MEMBER constexpr explicit Name(T a) : x(a), y() {}                   \
    __SIMGPU_MEMBER constexpr Name(T a, T b) : x(a), y(b) {}                      \
    __SIMGPU_MEMBER Name(const Name& other) : __simgpu_all(other.__simgpu_all) {} \
    __SIMGPU_MEMBER Name& operator=(const Name& other) {                          \
      __simgpu_all = other.__simgpu_all;                                          \
      return *this;                                                               \
    }                                                                             \
    __SIMGPU_PARTS(T, __SIMGPU_WHICH2)                                            \
  };                                                                              \
  __SIMGPU_TUPLE(Name, T, 2)

#define __SIMGPU_VECTOR4(Name, T, Align)                                                   \
  typedef T __simgpu_vector_##Name __attribute__((ext_vector_type(4)));                    \
  struct __attribute__((trivial_abi)) alignas(Align) Name {                                \
    union {                                                                                \
      struct {                                                                             \
        T x, y, z, w;                                                                      \
      };                                                                                   \
      __simgpu_vector_##Name __simgpu_all;                                                 \
    };                                                                                     \
    Name() = default;                                                                      \
    __SIMGPU_MEMBER constexpr explicit Name(T a) : x(a), y(), z(), w() {}                  \
    __SIMGPU_MEMBER constexpr Name(T a, T b, T c = 0, T d = 0) : x(a), y(b), z(c), w(d) {} \
    __SIMGPU_MEMBER Name(const Name& other) : __simgpu_all(other.__simgpu_all) {}          \
    __SIMGPU_MEMBER Name& operator=(const Name& other) {                                   \
      __simgpu_all = other.__simgpu_all;                                                   \
      return *this;                                                                        \
    }                                                                                      \
    __SIMGPU_PARTS(T, __SIMGPU_WHICH4)                                                     \
  };                                                                                       \
  __SIMGPU_TUPLE(Name, T, 4)

// 32 bytes: two accesses of 16 bytes, as on hardware.
#define __SIMGPU_VECTOR4_WIDE(Name, T, Align)                                              \
  typedef T __simgpu_vector_##Name __attribute__((ext_vector_type(2)));                    \
  struct __attribute__((trivial_abi)) alignas(Align) Name {                                \
    union {                                                                                \
      struct {                                                                             \
        T x, y, z, w;                                                                      \
      };                                                                                   \
      struct {                                                                             \
        __simgpu_vector_##Name __simgpu_low, __simgpu_high;                                \
      };                                                                                   \
    };                                                                                     \
    Name() = default;                                                                      \
    __SIMGPU_MEMBER constexpr explicit Name(T a) : x(a), y(), z(), w() {}                  \
    __SIMGPU_MEMBER constexpr Name(T a, T b, T c = 0, T d = 0) : x(a), y(b), z(c), w(d) {} \
    __SIMGPU_MEMBER Name(const Name& other)                                                \
        : __simgpu_low(other.__simgpu_low), __simgpu_high(other.__simgpu_high) {}          \
    __SIMGPU_MEMBER Name& operator=(const Name& other) {                                   \
      __simgpu_low = other.__simgpu_low;                                                   \
      __simgpu_high = other.__simgpu_high;                                                 \
      return *this;                                                                        \
    }                                                                                      \
    __SIMGPU_PARTS(T, __SIMGPU_WHICH4)                                                     \
  };                                                                                       \
  __SIMGPU_TUPLE(Name, T, 4)

#else  // aggregates of the same size and alignment

#define __SIMGPU_VECTOR2(Name, T, Align) \
  struct alignas(Align) Name {           \
    T x, y;                              \
  };
#define __SIMGPU_VECTOR4(Name, T, Align) \
  struct alignas(Align) Name {           \
    T x, y, z, w;                        \
  };
#define __SIMGPU_VECTOR4_WIDE(Name, T, Align) __SIMGPU_VECTOR4(Name, T, Align)

#endif

#define __SIMGPU_VECTORS_1_3(Prefix, T) \
  struct Prefix##1 {                    \
    T x;                                \
  };                                    \
  struct Prefix##3 {                    \
    T x, y, z;                          \
  };
#define __SIMGPU_VECTORS(Prefix, T, Align2, Align4) \
  __SIMGPU_VECTORS_1_3(Prefix, T)                   \
  __SIMGPU_VECTOR2(Prefix##2, T, Align2)            \
  __SIMGPU_VECTOR4(Prefix##4, T, Align4)
// CUDA 13 names the alignment of the long ones.
#define __SIMGPU_VECTORS_64(Prefix, T)        \
  __SIMGPU_VECTORS_1_3(Prefix, T)             \
  __SIMGPU_VECTOR2(Prefix##2, T, 16)          \
  __SIMGPU_VECTOR4_WIDE(Prefix##4, T, 16)     \
  __SIMGPU_VECTOR4_WIDE(Prefix##4_16a, T, 16) \
  __SIMGPU_VECTOR4_WIDE(Prefix##4_32a, T, 32)

__SIMGPU_VECTORS(char, signed char, 2, 4)
__SIMGPU_VECTORS(uchar, unsigned char, 2, 4)
__SIMGPU_VECTORS(short, short, 4, 8)
__SIMGPU_VECTORS(ushort, unsigned short, 4, 8)
__SIMGPU_VECTORS(int, int, 8, 16)
__SIMGPU_VECTORS(uint, unsigned int, 8, 16)
__SIMGPU_VECTORS(float, float, 8, 16)
__SIMGPU_VECTORS_64(long, long)
__SIMGPU_VECTORS_64(ulong, unsigned long)
__SIMGPU_VECTORS_64(longlong, long long)
__SIMGPU_VECTORS_64(ulonglong, unsigned long long)
__SIMGPU_VECTORS_64(double, double)

#undef __SIMGPU_VECTOR2
#undef __SIMGPU_VECTOR4
#undef __SIMGPU_VECTOR4_WIDE
#undef __SIMGPU_VECTORS_1_3
#undef __SIMGPU_VECTORS
#undef __SIMGPU_VECTORS_64

/// Extents of a grid or a block; what is left out is 1.
struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};
