// Kernels with arrays in local memory, each in one respect different from others: ../local_merging_test.cpp has what nvcc
// 13.0 makes of them for sm_90. All indices of an array are not constants, else it would be in registers; and the arrays
// have 32 elements and more, since ptxas keeps smaller ones in registers all the same.
#define KERNEL(name, ...)                                            \
  extern "C" __global__ void name(float* g, const int* d, int n) { \
    d += threadIdx.x;                                                \
    g += threadIdx.x;                                                \
    __VA_ARGS__                                                      \
  }
#define UNROLL_NOT _Pragma("unroll 1")
#define FILL(o, size) UNROLL_NOT for (int i = 0; i < n; ++i) o[d[i] % size] = g[i];
#define USE(o, size)                                             \
  UNROLL_NOT for (int i = 0; i < n; ++i) s += o[d[i + 9] % size]; \
  g[0] = s;
#define PUT(i, value) g[777 + 64 * (i)] = value

#define LOAD(name, type, size, begin, end)                                 \
  KERNEL(name, type o[size]; FILL(o, unsigned(size)) for (int i = begin; i < end; ++i) PUT(i, o[i]);)
#define STORE(name, type, size, begin, end)                                                       \
  KERNEL(name, type o[size]; float s = 0; FILL(o, unsigned(size)) for (int i = begin; i < end; ++i) \
                                                      o[i] = g[i * 7];                              \
         USE(o, unsigned(size)))

LOAD(load_0_2, float, 32, 0, 3)
LOAD(load_1_2, float, 32, 1, 3)
LOAD(load_1_8, float, 32, 1, 9)
LOAD(load_0_6, float, 32, 0, 7)
LOAD(load_of_34, float, 34, 0, 8)
LOAD(load_of_33, float, 33, 1, 9)
LOAD(load_doubles, double, 16, 1, 4)
LOAD(load_shorts_8, short, 64, 0, 8)
LOAD(load_shorts_3, short, 64, 0, 3)
LOAD(load_shorts_6, short, 64, 0, 6)
LOAD(load_shorts_of_66, short, 66, 0, 8)
LOAD(load_shorts_of_65, short, 65, 0, 8)
LOAD(load_bytes_16, unsigned char, 128, 0, 16)
LOAD(load_bytes_7, unsigned char, 128, 0, 7)
LOAD(load_bytes_6, signed char, 128, 0, 6)
LOAD(load_bytes_of_132, signed char, 132, 0, 8)
LOAD(load_bytes_of_130, signed char, 130, 0, 8)
LOAD(load_bytes_of_131, signed char, 131, 0, 8)
KERNEL(load_shorts_0_3, short o[64]; FILL(o, 64u) PUT(0, o[0]); PUT(3, o[3]);)
STORE(store_1_3, float, 32, 1, 4)
STORE(store_1_8, float, 32, 1, 9)
STORE(store_of_33, float, 33, 1, 9)
STORE(store_shorts_6, short, 64, 0, 6)
STORE(store_shorts_of_65, short, 65, 0, 8)
STORE(store_bytes_12, signed char, 128, 0, 12)

#define ONE float o[32], s = 0; FILL(o, 32u)
#define TWO float o[32], p[32], s = 0; FILL(o, 32u) FILL(p, 32u)
KERNEL(two_windows, ONE for (int i = 0; i < 4; ++i) { o[i] = g[i * 7]; o[i + 16] = g[i * 9]; } USE(o, 32u))
KERNEL(two_arrays, TWO for (int i = 0; i < 4; ++i) { o[i] = g[i * 7]; p[i] = g[i * 9]; } USE(o, 32u) g[1] = p[d[3] % 32u];)
KERNEL(two_arrays_of_33, float o[33], p[33], s = 0; FILL(o, 33u) FILL(p, 33u) for (int i = 0; i < 4; ++i) { o[i] = g[i * 7]; p[i] = g[i * 9]; }
       USE(o, 33u) g[1] = p[d[3] % 33u];)
#define FOUR(between) o[0] = g[3]; o[1] = g[9]; between; o[2] = g[8]; o[3] = g[19];
KERNEL(store_load_store, ONE FOUR(g[4] = o[d[77] & 31]) USE(o, 32u))
KERNEL(store_other_store, TWO FOUR(g[4] = p[d[77] & 31]) USE(o, 32u))
KERNEL(store_barrier_store, ONE FOUR(__syncthreads()) USE(o, 32u))
KERNEL(store_shuffle_store, ONE FOUR(s = __shfl_xor_sync(~0u, o[1], 1)) USE(o, 32u))
KERNEL(store_atomic_store, ONE FOUR(atomicAdd(g + 55, 1.0f)) USE(o, 32u))
KERNEL(store_if_store, ONE FOUR(if (g[10] > 3) g[22] = 8) USE(o, 32u))
KERNEL(store_at_28, ONE int k = d[3] & 28; for (int i = 0; i < 4; ++i) o[k + i] = g[i * 7]; USE(o, 32u))
KERNEL(store_at_30, ONE int k = d[3] & 30; for (int i = 0; i < 4; ++i) o[k + i] = g[i * 7]; USE(o, 32u))
#define LOADS(between) PUT(0, o[0]); PUT(1, o[1]); between; PUT(2, o[2]); PUT(3, o[3]);
KERNEL(load_barrier_load, ONE LOADS(__syncthreads()))
KERNEL(load_fence_load, ONE LOADS(__threadfence()))
KERNEL(load_store_load, ONE LOADS(o[d[99] & 31] = 2))
KERNEL(load_other_load, TWO LOADS(p[d[99] & 31] = 2) USE(p, 32u))
KERNEL(row_of_4, float o[8][4]; float* q = &o[0][0]; FILL(q, 32u) int k = d[3] & 7; for (int i = 0; i < 4; ++i) PUT(i, o[k][i]);)
KERNEL(row_of_3, float o[16][3]; float* q = &o[0][0]; FILL(q, 48u) int k = d[3] & 7; for (int i = 0; i < 3; ++i) PUT(i, o[k][i]);)
KERNEL(row_of_2, float o[17][2]; float* q = &o[0][0]; FILL(q, 34u) int k = d[3] & 7; for (int i = 0; i < 2; ++i) PUT(i, o[k][i]);)
KERNEL(scale, ONE for (int i = 0; i < 8; ++i) o[i] *= g[i * 7]; USE(o, 32u))
KERNEL(scale_of_33, float o[33], s = 0; FILL(o, 33u) for (int i = 0; i < 8; ++i) o[i] *= g[i * 7]; USE(o, 33u))
KERNEL(shift_down, ONE for (int i = 0; i < 8; ++i) o[i] = o[i + 1]; USE(o, 32u))
KERNEL(shift_up, ONE for (int i = 8; i > 0; --i) o[i] = o[i - 1]; USE(o, 32u))
KERNEL(reverse, ONE for (int i = 0; i < 4; ++i) { float x = o[i]; o[i] = o[7 - i]; o[7 - i] = x; } USE(o, 32u))
KERNEL(copy, TWO for (int i = 0; i < 8; ++i) p[i] = o[i]; USE(o, 32u) g[1] = p[d[3] & 31];)
KERNEL(three_sizes, float a[33], b[32], c[31]; FILL(a, 33u) FILL(b, 32u) FILL(c, 31u) for (int i = 0; i < 4; ++i) PUT(i, a[i] * b[i] * c[i]);)
struct Four {
  float x[4];
};
KERNEL(structs, Four o[8]; float* q = o[0].x; FILL(q, 32u) for (int i = 0; i < 4; ++i) PUT(i, o[0].x[i]);)
