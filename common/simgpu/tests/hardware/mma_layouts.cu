// Every mma, wmma and ldmatrix form once, on seeded data: run it on a GPU and on the simulated GPU and
// compare the lines.
//
//   nvcc -O2 -std=c++17 -arch=sm_90 common/simgpu/tests/hardware/mma_layouts.cu -o mma_gpu && ./mma_gpu > gpu.txt
//   common/simgpu/simcc common/simgpu/tests/hardware/mma_layouts.cu -o mma_sim && ./mma_sim > sim.txt
//   diff gpu.txt sim.txt
//
// A line is: form, "exact" and a hash of all result registers for data whose sums are exact (small
// integers; FP64 with any data): must be the same everywhere. Then, for random data, the largest
// deviation from the exact sum, as a share of the sum of all magnitudes, in units of 2^-24 (FP16 sums:
// 2^-11): tensor cores round in their own way, so that this may differ. Lines that begin with "fragment"
// hash the registers that a wmma.load fills: CUDA leaves their order open, and simgpu promises it for
// m16n16k16, m16n16k8 and m8n8k4 only.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t status_ = (call);                                                          \
    if (status_ != cudaSuccess) {                                                                \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_));    \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

typedef std::uint32_t u32;
typedef std::uint64_t u64;

// ---- data

static u64 random_state;
static u64 next_random() {  // splitmix64
  u64 z = (random_state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
static u64 hash_of(const void* data, std::size_t bytes) {  // FNV-1a
  const unsigned char* p = static_cast<const unsigned char*>(data);
  u64 h = 0xcbf29ce484222325ull;
  for (std::size_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 0x100000001b3ull;
  return h;
}

enum Type { f16, bf16, tf32, f32, f64, s8, u8, s32 };
static unsigned bits_of(Type t) {
  return t == f16 || t == bf16 ? 16 : t == f64 ? 64 : t == s8 || t == u8 ? 8 : 32;
}
static u64 bits_of_double(double v) {
  u64 b;
  std::memcpy(&b, &v, 8);
  return b;
}
static u32 bits_of_float(float v) {
  u32 b;
  std::memcpy(&b, &v, 4);
  return b;
}
static float float_of_bits(u32 b) {
  float v;
  std::memcpy(&v, &b, 4);
  return v;
}
/// Numbers that the format holds; `v` is cut off, which is exact for small integers.
static u64 encode(Type t, double v) {
  const u32 f = bits_of_float(static_cast<float>(v));
  switch (t) {
    case f16: {
      if (std::fabs(v) < 6.103515625e-05) return (f >> 16) & 0x8000u;
      return ((f >> 16) & 0x8000u) | (((f & 0x7fffffffu) - (112u << 23)) >> 13);
    }
    case bf16:
      return f >> 16;
    case f64:
      return bits_of_double(v);
    case tf32:
    case f32:
      return f;
    case s8:
    case u8:
      return static_cast<u64>(static_cast<std::int64_t>(v)) & 0xff;
    default:
      return static_cast<u32>(static_cast<std::int32_t>(v));
  }
}
static double decode(Type t, u64 b) {
  switch (t) {
    case f16: {
      const double sign = b & 0x8000 ? -1 : 1;
      const int e = static_cast<int>(b >> 10) & 31, m = static_cast<int>(b & 1023);
      if (e == 31) return m != 0 ? NAN : sign * INFINITY;
      return sign * (e == 0 ? std::ldexp(m, -24) : std::ldexp(m + 1024, e - 25));
    }
    case bf16:
      return static_cast<double>(float_of_bits(static_cast<u32>(b) << 16));
    case tf32:
      return static_cast<double>(float_of_bits(static_cast<u32>(b) & 0xffffe000u));
    case f32:
      return static_cast<double>(float_of_bits(static_cast<u32>(b)));
    case f64: {
      double v;
      std::memcpy(&v, &b, 8);
      return v;
    }
    case s8:
      return static_cast<std::int8_t>(b);
    case u8:
      return static_cast<std::uint8_t>(b);
    default:
      return static_cast<std::int32_t>(b);
  }
}
static double random_value(Type t, bool integers) {
  const u64 r = next_random();
  if (t == u8) return static_cast<double>(r % 17);
  if (integers || t == s8 || t == s32) return static_cast<double>(r % 17) - 8;
  return (static_cast<double>(r >> 11) * 0x1p-53 - 0.5) * 4;
}

// ---- mma.sync: registers as they are

// Operands have fixed numbers: D 0-7, A 8-15, B 16-23, C 24-31 (loads and stores: registers 0-7, pointer
// 8, pitch 9); a form uses the first few of each.
#define RD1 "{%0}"
#define RD2 "{%0, %1}"
#define RD4 "{%0, %1, %2, %3}"
#define RD8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define RA1 "{%8}"
#define RA2 "{%8, %9}"
#define RA4 "{%8, %9, %10, %11}"
#define RA8 "{%8, %9, %10, %11, %12, %13, %14, %15}"
#define RB1 "{%16}"
#define RB2 "{%16, %17}"
#define RB4 "{%16, %17, %18, %19}"
#define RB8 "{%16, %17, %18, %19, %20, %21, %22, %23}"
#define RC1 "{%24}"
#define RC2 "{%24, %25}"
#define RC4 "{%24, %25, %26, %27}"
#define RC8 "{%24, %25, %26, %27, %28, %29, %30, %31}"
#define OPERANDS(c, w) \
  c((w)[0]), c((w)[1]), c((w)[2]), c((w)[3]), c((w)[4]), c((w)[5]), c((w)[6]), c((w)[7])

struct Form {
  const char* name;
  unsigned m, n, k;
  Type a, b, sum;
  void (*kernel)(const void* in, void* out);
  unsigned registers_a, registers_b, registers_c;
};

// W: a register of A and B; V: of C and D.
#define MMA(Id, Text, W, CW, V, CV, NA, NB, NC)                                                \
  __global__ void Id(const void* in, void* out) {                                              \
    const unsigned lane = threadIdx.x;                                                         \
    const W* from = static_cast<const W*>(in);                                                 \
    W a[8] = {}, b[8] = {};                                                                    \
    V c[8] = {}, d[8];                                                                         \
    for (int i = 0; i < NA; ++i) a[i] = from[32 * i + lane];                                   \
    for (int i = 0; i < NB; ++i) b[i] = from[32 * (NA + i) + lane];                            \
    const V* sums = reinterpret_cast<const V*>(from + 32 * (NA + NB));                         \
    for (int i = 0; i < NC; ++i) c[i] = sums[32 * i + lane];                                   \
    asm volatile("mma.sync.aligned." Text " " RD##NC ", " RA##NA ", " RB##NB ", " RC##NC ";"   \
                 : OPERANDS("=" CV, d)                                                         \
                 : OPERANDS(CW, a), OPERANDS(CW, b), OPERANDS(CV, c));                         \
    for (int i = 0; i < NC; ++i) static_cast<V*>(out)[32 * i + lane] = d[i];                   \
  }
MMA(mma_f16_k16, "m16n8k16.row.col.f32.f16.f16.f32", u32, "r", float, "f", 4, 2, 4)
MMA(mma_f16_k8, "m16n8k8.row.col.f32.f16.f16.f32", u32, "r", float, "f", 2, 1, 4)
MMA(mma_f16_k16_half, "m16n8k16.row.col.f16.f16.f16.f16", u32, "r", u32, "r", 4, 2, 2)
MMA(mma_f16_k8_half, "m16n8k8.row.col.f16.f16.f16.f16", u32, "r", u32, "r", 2, 1, 2)
MMA(mma_bf16_k16, "m16n8k16.row.col.f32.bf16.bf16.f32", u32, "r", float, "f", 4, 2, 4)
MMA(mma_bf16_k8, "m16n8k8.row.col.f32.bf16.bf16.f32", u32, "r", float, "f", 2, 1, 4)
MMA(mma_tf32_k4, "m16n8k4.row.col.f32.tf32.tf32.f32", u32, "r", float, "f", 2, 1, 4)
MMA(mma_tf32_k8, "m16n8k8.row.col.f32.tf32.tf32.f32", u32, "r", float, "f", 4, 2, 4)
MMA(mma_f64_m8, "m8n8k4.row.col.f64.f64.f64.f64", double, "d", double, "d", 1, 1, 2)
MMA(mma_f64_k4, "m16n8k4.row.col.f64.f64.f64.f64", double, "d", double, "d", 2, 1, 4)
MMA(mma_f64_k8, "m16n8k8.row.col.f64.f64.f64.f64", double, "d", double, "d", 4, 2, 4)
MMA(mma_f64_k16, "m16n8k16.row.col.f64.f64.f64.f64", double, "d", double, "d", 8, 4, 4)
MMA(mma_s8_m8, "m8n8k16.row.col.s32.s8.s8.s32", u32, "r", u32, "r", 1, 1, 2)
MMA(mma_s8_k16, "m16n8k16.row.col.s32.s8.s8.s32", u32, "r", u32, "r", 2, 1, 4)
MMA(mma_s8_k32, "m16n8k32.row.col.s32.s8.s8.s32", u32, "r", u32, "r", 4, 2, 4)
MMA(mma_u8_k32, "m16n8k32.row.col.s32.u8.u8.s32", u32, "r", u32, "r", 4, 2, 4)
MMA(mma_s8u8_k32, "m16n8k32.row.col.s32.s8.u8.s32", u32, "r", u32, "r", 4, 2, 4)
MMA(mma_u8s8_k16, "m16n8k16.row.col.s32.u8.s8.s32", u32, "r", u32, "r", 2, 1, 4)
MMA(mma_s8_k32_clamped, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", u32, "r", u32, "r", 4, 2, 4)

static const Form kForms[] = {
    {"m16n8k16 f32.f16", 16, 8, 16, f16, f16, f32, mma_f16_k16, 4, 2, 4},
    {"m16n8k8 f32.f16", 16, 8, 8, f16, f16, f32, mma_f16_k8, 2, 1, 4},
    {"m16n8k16 f16.f16", 16, 8, 16, f16, f16, f16, mma_f16_k16_half, 4, 2, 2},
    {"m16n8k8 f16.f16", 16, 8, 8, f16, f16, f16, mma_f16_k8_half, 2, 1, 2},
    {"m16n8k16 f32.bf16", 16, 8, 16, bf16, bf16, f32, mma_bf16_k16, 4, 2, 4},
    {"m16n8k8 f32.bf16", 16, 8, 8, bf16, bf16, f32, mma_bf16_k8, 2, 1, 4},
    {"m16n8k4 f32.tf32", 16, 8, 4, tf32, tf32, f32, mma_tf32_k4, 2, 1, 4},
    {"m16n8k8 f32.tf32", 16, 8, 8, tf32, tf32, f32, mma_tf32_k8, 4, 2, 4},
    {"m8n8k4 f64", 8, 8, 4, f64, f64, f64, mma_f64_m8, 1, 1, 2},
    {"m16n8k4 f64", 16, 8, 4, f64, f64, f64, mma_f64_k4, 2, 1, 4},
    {"m16n8k8 f64", 16, 8, 8, f64, f64, f64, mma_f64_k8, 4, 2, 4},
    {"m16n8k16 f64", 16, 8, 16, f64, f64, f64, mma_f64_k16, 8, 4, 4},
    {"m8n8k16 s8", 8, 8, 16, s8, s8, s32, mma_s8_m8, 1, 1, 2},
    {"m16n8k16 s8", 16, 8, 16, s8, s8, s32, mma_s8_k16, 2, 1, 4},
    {"m16n8k32 s8", 16, 8, 32, s8, s8, s32, mma_s8_k32, 4, 2, 4},
    {"m16n8k32 u8", 16, 8, 32, u8, u8, s32, mma_u8_k32, 4, 2, 4},
    {"m16n8k32 s8.u8", 16, 8, 32, s8, u8, s32, mma_s8u8_k32, 4, 2, 4},
    {"m16n8k16 u8.s8", 16, 8, 16, u8, s8, s32, mma_u8s8_k16, 2, 1, 4},
    {"m16n8k32 s8 satfinite", 16, 8, 32, s8, s8, s32, mma_s8_k32_clamped, 4, 2, 4},
};

struct Place {
  unsigned row, column;
};
/// PTX ISA, matrix fragments for mma; which: 'a', 'b', 'c'.
static Place place_of(const Form& f, char which, unsigned lane, unsigned e) {
  const unsigned g = lane / 4, t = lane % 4;
  if (which == 'c') return {g + 8 * (e / 2), 2 * t + e % 2};
  const unsigned bits = bits_of(which == 'a' ? f.a : f.b), p = bits < 32 ? 32 / bits : 1;
  const unsigned r = e / p, along = t * p + e % p;
  if (which == 'b') return {along + 4 * p * r, g};
  if (f.m == 8) return {g, along + 4 * p * r};
  return {g + 8 * (r % 2), along + 4 * p * (r / 2)};
}

static unsigned char* device_in;
static unsigned char* device_out;
constexpr std::size_t kBytes = 1 << 16;

/// One launch of one warp; false (and a line) if it fails.
template <class Kernel>
static bool launched(const char* name, Kernel kernel) {
  kernel();
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status == cudaSuccess) return true;
  std::printf("%-28s %s\n", name, cudaGetErrorString(status));
  return false;
}

/// Words of registers: [register][lane].
static void put(std::vector<unsigned char>& words, unsigned first, Type t, unsigned lane, unsigned e,
                u64 value) {
  const unsigned bits = bits_of(t), p = bits < 32 ? 32 / bits : 1, word = bits == 64 ? 8 : 4;
  std::memcpy(&words[((first + e / p) * 32 + lane) * word + e % p * (bits / 8)], &value, bits / 8);
}
static u64 get(const std::vector<unsigned char>& words, Type t, unsigned lane, unsigned e) {
  const unsigned bits = bits_of(t), p = bits < 32 ? 32 / bits : 1, word = bits == 64 ? 8 : 4;
  u64 value = 0;
  std::memcpy(&value, &words[(e / p * 32 + lane) * word + e % p * (bits / 8)], bits / 8);
  return value;
}

static void run_form(const Form& f) {
  const unsigned word = f.a == f64 ? 8 : 4;
  u64 hash = 0;
  double worst = 0;
  for (int round = 0; round < 2; ++round) {
    const bool integers = round == 0;
    random_state = hash_of(f.name, std::strlen(f.name)) + static_cast<u64>(round);
    std::vector<double> a(f.m * f.k), b(f.k * f.n), c(f.m * f.n);
    std::vector<unsigned char> in((f.registers_a + f.registers_b + f.registers_c) * 32 * word);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned e = 0; e < f.m * f.k / 32; ++e) {
        const u64 v = encode(f.a, random_value(f.a, integers && f.a != f64));
        const Place p = place_of(f, 'a', lane, e);
        put(in, 0, f.a, lane, e, v);
        a[p.row * f.k + p.column] = decode(f.a, v);
      }
      for (unsigned e = 0; e < f.k * f.n / 32; ++e) {
        const u64 v = encode(f.b, random_value(f.b, integers && f.b != f64));
        const Place p = place_of(f, 'b', lane, e);
        put(in, f.registers_a, f.b, lane, e, v);
        b[p.row * f.n + p.column] = decode(f.b, v);
      }
      for (unsigned e = 0; e < f.m * f.n / 32; ++e) {
        const u64 v = encode(f.sum, random_value(f.sum, integers && f.sum != f64));
        const Place p = place_of(f, 'c', lane, e);
        put(in, f.registers_a + f.registers_b, f.sum, lane, e, v);
        c[p.row * f.n + p.column] = decode(f.sum, v);
      }
    }
    std::vector<unsigned char> out(f.registers_c * 32 * word);
    CHECK(cudaMemcpy(device_in, in.data(), in.size(), cudaMemcpyHostToDevice));
    if (!launched(f.name, [&] { f.kernel<<<1, 32>>>(device_in, device_out); })) return;
    CHECK(cudaMemcpy(out.data(), device_out, out.size(), cudaMemcpyDeviceToHost));
    if (integers) hash = hash_of(out.data(), out.size());
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned e = 0; e < f.m * f.n / 32; ++e) {
        const Place p = place_of(f, 'c', lane, e);
        double sum = c[p.row * f.n + p.column], size = std::fabs(sum);
        for (unsigned k = 0; k < f.k; ++k) {
          const double product = a[p.row * f.k + k] * b[k * f.n + p.column];
          sum += product;
          size += std::fabs(product);
        }
        const double got = decode(f.sum, get(out, f.sum, lane, e));
        const double unit = f.sum == f16 ? 0x1p-11 : f.sum == f64 ? 0x1p-53 : 0x1p-24;
        const double deviation = std::fabs(got - sum) / (size > 0 ? size : 1) / unit;
        if (integers && f.sum != f64 && deviation != 0) {
          std::printf("%-28s wrong at row %u column %u: %.17g instead of %.17g\n", f.name, p.row,
                      p.column, got, sum);
          return;
        }
        if (!(deviation <= worst)) worst = deviation;
      }
  }
  std::printf("%-28s exact %016llx random %.3f units\n", f.name,
              static_cast<unsigned long long>(hash), worst);
}

// ---- wmma: memory to memory, and the registers of a load

// Elements of A at in, of B at in + 8192, of C at in + 16384; D to out. Pitches in elements.
#define WMMA(Id, Shape, LA, LB, LC, TA, TC, TD, Types, W, CW, NA, NB, V, CV, NC, U, CU, ND, PA, PB, PC) \
  __global__ void Id(const void* in, void* out) {                                                  \
    const char* from = static_cast<const char*>(in);                                               \
    const unsigned lane = threadIdx.x;                                                             \
    W a[8], b[8]; \
    V c[8]; \
    U d[8]; \
    const unsigned pa = PA, pb = PB, pc = PC; \
    asm volatile("wmma.load.a.sync.aligned." LA "." Shape "." TA " " RD##NA ", [%8], %9;" \
                 : OPERANDS("=" CW, a) \
                 : "l"(from), "r"(pa) \
                 : "memory"); \
    asm volatile("wmma.load.b.sync.aligned." LB "." Shape "." TA " " RD##NB ", [%8], %9;" \
                 : OPERANDS("=" CW, b) \
                 : "l"(from + 8192), "r"(pb) \
                 : "memory"); \
    asm volatile("wmma.load.c.sync.aligned." LC "." Shape "." TC " " RD##NC ", [%8], %9;" \
                 : OPERANDS("=" CV, c) \
                 : "l"(from + 16384), "r"(pc) \
                 : "memory"); \
    asm volatile("wmma.mma.sync.aligned." LA "." LB "." Shape "." Types " " RD##ND ", " RA##NA \
                 ", " RB##NB ", " RC##NC ";" \
                 : OPERANDS("=" CU, d) \
                 : OPERANDS(CW, a), OPERANDS(CW, b), OPERANDS(CV, c)); \
    asm volatile("wmma.store.d.sync.aligned." LC "." Shape "." TD " [%8], " RD##ND ", %9;" \
                 : \
                 : OPERANDS(CU, d), "l"(out), "r"(pc) \
                 : "memory"); \
    char* raw = static_cast<char*>(out) + 16384;                                                   \
    for (int i = 0; i < NA; ++i) reinterpret_cast<W*>(raw)[32 * i + lane] = a[i];                  \
    for (int i = 0; i < NB; ++i) reinterpret_cast<W*>(raw + 4096)[32 * i + lane] = b[i];           \
    for (int i = 0; i < NC; ++i) reinterpret_cast<V*>(raw + 8192)[32 * i + lane] = c[i];           \
  }
// Every shape and type, with layouts row/row/row, row/col/col, col/row/row and col/col/col.
#define FORMS_OF(X, Id, Shape, ...)                                        \
  X(Id##_rrr, Shape, "row", "row", "row", __VA_ARGS__)                     \
  X(Id##_rcc, Shape, "row", "col", "col", __VA_ARGS__)                     \
  X(Id##_crr, Shape, "col", "row", "row", __VA_ARGS__)                     \
  X(Id##_ccc, Shape, "col", "col", "col", __VA_ARGS__)
#define SIXTEEN(X, Id, Shape, NA16, NB16, NA8, NB8)                                                  \
  FORMS_OF(X, Id##_f16_f32, Shape, "f16", "f32", "f32", "f32.f32", u32, "r", 8, 8, float, "f", 8, float, "f", 8, 40, 40, 40) \
  FORMS_OF(X, Id##_f16_f16, Shape, "f16", "f16", "f16", "f16.f16", u32, "r", 8, 8, u32, "r", 4, u32, "r", 4, 40, 40, 40) \
  FORMS_OF(X, Id##_bf16, Shape, "bf16", "f32", "f32", "f32.bf16.bf16.f32", u32, "r", NA16, NB16, float, "f", 8, float, "f", 8, 40, 40, 40) \
  FORMS_OF(X, Id##_s8, Shape, "s8", "s32", "s32", "s32.s8.s8.s32", u32, "r", NA8, NB8, u32, "r", 8, u32, "r", 8, 48, 48, 40) \
  FORMS_OF(X, Id##_u8, Shape, "u8", "s32", "s32", "s32.u8.u8.s32", u32, "r", NA8, NB8, u32, "r", 8, u32, "r", 8, 48, 48, 40)
#define ALL_WMMA(X)                                                                                  \
  SIXTEEN(X, wmma_16_16_16, "m16n16k16", 4, 4, 2, 2)                                                 \
  SIXTEEN(X, wmma_32_8_16, "m32n8k16", 8, 2, 4, 1)                                                   \
  SIXTEEN(X, wmma_8_32_16, "m8n32k16", 2, 8, 1, 4)                                                   \
  FORMS_OF(X, wmma_16_16_8_tf32, "m16n16k8", "tf32", "f32", "f32", "f32.tf32.tf32.f32", u32, "r", 4, 4, float, "f", 8, float, "f", 8, 40, 40, 40) \
  FORMS_OF(X, wmma_8_8_4_f64, "m8n8k4", "f64", "f64", "f64", "f64.f64.f64.f64", double, "d", 1, 1, double, "d", 2, double, "d", 2, 40, 40, 40)
ALL_WMMA(WMMA)

static Type type_of(const char* name) {
  const char* names[] = {"f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s32"};
  for (int i = 0; i < 8; ++i)
    if (std::strcmp(names[i], name) == 0) return static_cast<Type>(i);
  return f32;
}

static void run_wmma(const char* name, const char* shape, const char* la, const char* lb,
                     const char* lc, const char* ta, const char* tc,
                     void (*kernel)(const void*, void*), unsigned bytes_a, unsigned bytes_b,
                     unsigned bytes_c, unsigned pa, unsigned pb, unsigned pc) {
  unsigned m = 0, n = 0, k = 0;
  std::sscanf(shape, "m%un%uk%u", &m, &n, &k);
  const Type a = type_of(ta), c = type_of(tc);
  random_state = hash_of(name, std::strlen(name));
  std::vector<unsigned char> in(kBytes / 2), out(kBytes / 2);
  std::vector<double> va(m * k), vb(k * n), vc(m * n);
  const auto fill = [&](std::vector<double>& v, unsigned rows, unsigned columns, bool by_rows,
                        unsigned pitch, Type t, std::size_t at) {
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned q = 0; q < columns; ++q) {
        const u64 bits = encode(t, random_value(t, true));
        const std::size_t index = by_rows ? r * pitch + q : q * pitch + r;
        std::memcpy(&in[at + index * (bits_of(t) / 8)], &bits, bits_of(t) / 8);
        v[r * columns + q] = decode(t, bits);
      }
  };
  fill(va, m, k, la[0] == 'r', pa, a, 0);
  fill(vb, k, n, lb[0] == 'r', pb, a, 8192);
  fill(vc, m, n, lc[0] == 'r', pc, c, 16384);
  CHECK(cudaMemcpy(device_in, in.data(), in.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_out, 0, kBytes));
  if (!launched(name, [&] { kernel<<<1, 32>>>(device_in, device_out); })) return;
  CHECK(cudaMemcpy(out.data(), device_out, out.size(), cudaMemcpyDeviceToHost));
  unsigned wrong = 0;
  for (unsigned r = 0; r < m; ++r)
    for (unsigned q = 0; q < n; ++q) {
      double sum = vc[r * n + q];
      for (unsigned i = 0; i < k; ++i) sum += va[r * k + i] * vb[i * n + q];
      u64 bits = 0;
      const std::size_t index = lc[0] == 'r' ? r * pc + q : q * pc + r;
      std::memcpy(&bits, &out[index * (bits_of(c) / 8)], bits_of(c) / 8);
      wrong += decode(c, bits) != sum;
    }
  std::printf("%-28s %s %s %s %s %016llx\n", name, la, lb, lc, wrong == 0 ? "exact" : "WRONG",
              static_cast<unsigned long long>(hash_of(out.data(), 16384)));
  std::printf("fragment %-28s a %016llx b %016llx c %016llx\n", name,
              static_cast<unsigned long long>(hash_of(&out[16384], bytes_a)),
              static_cast<unsigned long long>(hash_of(&out[16384 + 4096], bytes_b)),
              static_cast<unsigned long long>(hash_of(&out[16384 + 8192], bytes_c)));
}

// ---- ldmatrix

#define LDMATRIX(Id, Text, N)                                                                  \
  __global__ void Id(const void* in, void* out) {                                              \
    __shared__ __align__(128) u32 tile[32 * 36];                                               \
    const unsigned lane = threadIdx.x;                                                         \
    for (int i = 0; i < 36; ++i)                                                               \
      tile[32 * i + lane] = static_cast<const u32*>(in)[32 * i + lane];                        \
    __syncthreads();                                                                           \
    const unsigned at =                                                                        \
        static_cast<unsigned>(__cvta_generic_to_shared(tile)) + (lane * 5 % 32) * 144;         \
    u32 d[8];                                                                                  \
    asm volatile("ldmatrix.sync.aligned.m8n8." Text ".shared.b16 " RD##N ", [%8];"             \
                 : OPERANDS("=r", d)                                                           \
                 : "r"(at)                                                                     \
                 : "memory");                                                                  \
    for (int i = 0; i < N; ++i) static_cast<u32*>(out)[32 * i + lane] = d[i];                  \
  }
LDMATRIX(ldmatrix_x1, "x1", 1)
LDMATRIX(ldmatrix_x2, "x2", 2)
LDMATRIX(ldmatrix_x4, "x4", 4)
LDMATRIX(ldmatrix_x1_trans, "x1.trans", 1)
LDMATRIX(ldmatrix_x2_trans, "x2.trans", 2)
LDMATRIX(ldmatrix_x4_trans, "x4.trans", 4)

static void run_ldmatrix(const char* name, void (*kernel)(const void*, void*), unsigned n) {
  random_state = 42;
  std::vector<u64> in(32 * 36 / 2);
  for (u64& v : in) v = next_random();
  std::vector<u32> out(32 * n);
  CHECK(cudaMemcpy(device_in, in.data(), in.size() * 8, cudaMemcpyHostToDevice));
  if (!launched(name, [&] { kernel<<<1, 32>>>(device_in, device_out); })) return;
  CHECK(cudaMemcpy(out.data(), device_out, out.size() * 4, cudaMemcpyDeviceToHost));
  std::printf("%-28s exact %016llx\n", name,
              static_cast<unsigned long long>(hash_of(out.data(), out.size() * 4)));
}

int main() {
  CHECK(cudaMalloc(&device_in, kBytes));
  CHECK(cudaMalloc(&device_out, kBytes));
  CHECK(cudaMemset(device_in, 0, kBytes));
  CHECK(cudaMemset(device_out, 0, kBytes));
  for (const Form& f : kForms) run_form(f);
#define RUN(Id, Shape, LA, LB, LC, TA, TC, TD, Types, W, CW, NA, NB, V, CV, NC, U, CU, ND, PA, PB, PC) \
  run_wmma(#Id, Shape, LA, LB, LC, TA, TC, Id, sizeof(W) * NA * 32, sizeof(W) * NB * 32,           \
           sizeof(V) * NC * 32, PA, PB, PC);
  ALL_WMMA(RUN)
  run_ldmatrix("ldmatrix x1", ldmatrix_x1, 1);
  run_ldmatrix("ldmatrix x2", ldmatrix_x2, 2);
  run_ldmatrix("ldmatrix x4", ldmatrix_x4, 4);
  run_ldmatrix("ldmatrix x1.trans", ldmatrix_x1_trans, 1);
  run_ldmatrix("ldmatrix x2.trans", ldmatrix_x2_trans, 2);
  run_ldmatrix("ldmatrix x4.trans", ldmatrix_x4_trans, 4);
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  return 0;
}
