#!/bin/bash
# What simcc makes of CUDA programs: what nvcc refuses is refused, what nobody has set is found and nothing else, loops are
# unrolled and sums rounded as by nvcc.
# shellcheck source=common/simgpu/tests/programs.bash
. "$(dirname "$0")/programs.bash"

# constexpr alone makes no function of the device; nvcc lets no kernel call it, not even for a constant.
program constant '#include <algorithm>
MARK constexpr
int up(int a, int b) { return (a + b - 1) / b; }
constexpr int kBlocks = up(100, 32);
__global__ void k(int* p) { constexpr int n = up(7, 2);
  p[0] = n + kBlocks; p[1] = sizeof(up(1, 2)) + std::max(n, 1); if constexpr (kBlocks == 4) p[2] = 0; }
int main() { int* p; cudaMalloc(&p, 12); k<<<up(3, 4), 1>>>(p); return cudaDeviceSynchronize(); }'
for compiler in clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    sed 's/MARK/__host__ __device__/' "$scratch/constant.cu" >"$scratch/both.cu"
    holds "a constexpr function of both sides ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/both.cu"
    sed 's/MARK//' "$scratch/constant.cu" >"$scratch/host.cu"
    fails "a constexpr function of the host in a kernel ($compiler)" 2 "host.cu:7:47: error: simgpu: 'up' is a function of the host" env CLANG="$compiler" common/simgpu/simrun "$scratch/host.cu"
    same "with the place to mend it, and one error ($compiler)" 1,1 "$(grep -c 'host.cu:5:5: note: add __host__ __device__ here' "$scratch/.out"),$(grep -c ': error: ' "$scratch/.out")"
    holds "nvcc's option allows it ($compiler)" env CLANG="$compiler" common/simgpu/simcc --expt-relaxed-constexpr -c "$scratch/host.cu" -o "$scratch/host.o"
done
# nvcc's options, each in the spellings that nvcc takes: those that mean something here do it, the others do no harm.
program options 'static_assert(__cplusplus == 202002L && ONE == 1 && TWO == 2);
__global__ void k(float a, float b, float c, float* o) { *o = a * b + c; }
int main() {
  float *o, h; cudaMalloc(&o, 4); k<<<1, 1>>>(1.1f, 1.3f, -1.43f, o); cudaMemcpy(&h, o, 4, cudaMemcpyDeviceToHost);
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  std::printf("per thread ");
#endif
  std::printf("%d\n", h != 0);
}'
values='-std=c++20 -DONE=1 -DTWO=2'
for options in "$values" "--std c++20 --define-macro ONE=1,TWO=2 --fmad true" "$values -fmad=false" "$values --fmad false" \
    "$values --default-stream per-thread" "$values -default-stream=per-thread -w" \
    "$values -t 4 --threads=2 -diag-suppress 177,20 --ptxas-options=-v -Xptxas -O3 -arch sm_90a -gencode=arch=compute_90a,code=sm_90a -ccbin g++ --cudart=shared" \
    "$values -O 2 --optimize=3 -keep --keep-dir there -Xlinker -O1,-O2 --library m -Werror all-warnings -Werror=reorder -Wno-deprecated-gpu-targets -rdc=false" \
    "$values -prec-div=false --prec-sqrt false -ftz=true --use_fast_math -lineinfo --resource-usage --restrict"; do
    want=1
    case $options in *fmad*false*) want=0 ;; *default-stream*) want="per thread 1" ;; esac
    # shellcheck disable=SC2086
    holds "simcc $options" common/simgpu/simcc $options "$scratch/options.cu" -o "$scratch/options"
    says "and what it does" "^$want\$" "$scratch/options"
done
for option in -rdc=true "--relocatable-device-code true" -dc; do
    # shellcheck disable=SC2086
    fails "simcc $option" 2 'cannot be linked together here' common/simgpu/simcc $option "$scratch/options.cu"
done
fails "a language that is none" 2 '-x c: only cu' common/simgpu/simcc -x c "$scratch/options.cu"
fails "an option without its value" 2 '-arch needs an argument' common/simgpu/simcc "$scratch/options.cu" -arch
fails "an option that nobody knows" 2 'unknown option --nonsense' common/simgpu/simcc --nonsense=1 "$scratch/options.cu"
# constexpr functions of the host's library that look at text.
program text '#include <string_view>
constexpr unsigned hash(std::string_view s) { unsigned h = 1; for (char c : s) h = (h ^ c) * 16777619u; return h; }
__global__ void k(const char* given, int* out) {
  constexpr std::string_view all[] = {"relu", "gelu", "silu"};
  out[0] = hash("gelu") == hash(given); out[1] = -1;
  for (int i = 0; i < 3; ++i) if (std::string_view(given) == all[i]) out[1] = i;
  out[2] = std::string_view(given) < std::string_view("silu"); out[3] = std::string_view(given).find(108);
}
int main() {
  char* given; int *out, h[4]; cudaMalloc(&given, 8); cudaMalloc(&out, 16); cudaMemcpy(given, "gelu", 5, cudaMemcpyHostToDevice);
  k<<<1, 1>>>(given, out); cudaMemcpy(h, out, 16, cudaMemcpyDeviceToHost); std::printf("%d %d %d %d\n", h[0], h[1], h[2], h[3]);
}'
program host_text '#include <cstring>
__global__ void k(const char* s, int* o) { *o = strlen(s); }
int main() {}'
for compiler in clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    holds "a text's length and order in a kernel ($compiler)" env CLANG="$compiler" common/simgpu/simcc --expt-relaxed-constexpr "$scratch/text.cu" -o "$scratch/text"
    says "as on the host ($compiler)" '^1 1 1 2$' "$scratch/text"
    fails "strlen itself is the host's ($compiler)" 1 "call to 'strlen'" env CLANG="$compiler" common/simgpu/simcc -c "$scratch/host_text.cu" -o "$scratch/host_text.o"
done
program unwritten '__global__ void k(int* p) { float sum; for (int i = 0; i < 3; ++i) sum += 0.5f; *p = static_cast<int>(sum); }
int main() { int* p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); return cudaDeviceSynchronize(); }'
fails "a variable that nobody wrote is a finding: 99" 99 'but 1 finding' simrun "$scratch/unwritten.cu"
cp "$scratch/.out" "$scratch/said"
says "in the compiler's words" "unwritten.cu:3:.*'sum' is uninitialized" cat "$scratch/said"
program sums '__global__ void k(const float* x, float* y, int n) {
  float acc[4][4], used[3];
  for (int i = 0; i < 3; ++i) if (i < n) used[i] = x[i];
  for (int j = 0; j < n; ++j) for (int i = 0; i < 16; ++i) acc[i / 4][i % 4] += x[i] * x[j];
  for (int i = 0; i < 16; ++i) y[i] = acc[i / 4][i % 4];
  for (int i = 0; i < 3; ++i) if (i < n) y[i] += used[i];
}
int main() { float *x, *y; cudaMalloc(&x, 64); cudaMalloc(&y, 64); cudaMemset(x, 0, 64); k<<<1, 1>>>(x, y, 2); return cudaDeviceSynchronize(); }'
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    fails "sums in an array that nobody cleared: 99 ($compiler)" 99 'finding' env CLANG="$compiler" common/simgpu/simrun "$scratch/sums.cu"
    cp "$scratch/.out" "$scratch/said"
    says "the line that uses them, and that of the array ($compiler)" 'sums.cu:7: uninitialised read: .* the array declared on sums.cu:4 that nothing has set' cat "$scratch/said"
    sed 's/acc\[4\]\[4\]/acc[4][4] = {}/' "$scratch/sums.cu" >"$scratch/cleared.cu"
    holds "cleared: none ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/cleared.cu"
done
# An array whose last use chooses its element at run time, so that what the loop computes is stored in local memory.
program chosen '__global__ void k(const float* x, float* y, int n) {
  float acc[2];
  for (int j = threadIdx.x; j < n; j += 32) for (int i = 0; i < 2; ++i) acc[i] += x[2 * j + i];
  for (int i = 0; i < 2; ++i) for (int d = 16; d > 0; d /= 2) acc[i] += __shfl_xor_sync(~0u, acc[i], d);
  if (threadIdx.x < 2) y[threadIdx.x] = acc[threadIdx.x];
}
int main() { float *x, *y; cudaMalloc(&x, 400); cudaMalloc(&y, 8); cudaMemset(x, 0, 400); k<<<1, 32>>>(x, y, 50); return cudaDeviceSynchronize(); }'
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    fails "sums that nobody cleared, one chosen at run time: 99 ($compiler)" 99 'the array declared on chosen.cu:4 that nothing has set' env CLANG="$compiler" common/simgpu/simrun "$scratch/chosen.cu"
    sed 's/acc\[2\]/acc[2] = {}/' "$scratch/chosen.cu" >"$scratch/chosen_cleared.cu"
    holds "cleared: none ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/chosen_cleared.cu"
done
# What is right, however little of an array is set; and a file of which one kernel is wrong.
program partly 'template <class F> __device__ void each(F f) { for (int i = 0; i < 4; ++i) f(i); }
__global__ void halves(const short* x, int* y) { short a[2]; a[1] = x[threadIdx.x]; y[threadIdx.x] = (*reinterpret_cast<unsigned*>(a) >> 16) + 1; }
__global__ void pairs(const float* x, float* y) { float a[2]; a[0] = x[threadIdx.x]; float2 v = *reinterpret_cast<float2*>(a); y[threadIdx.x] = v.x * 2; }
__global__ void logic(const int* x, int* y, int n) {
  int a[3], s = 0; bool set[3] = {};
  for (int i = 0; i < 3; ++i) if (i < n) a[i] = x[i], set[i] = true;
  for (int i = 0; i < 3; ++i) { const bool big = a[i] > 4; if (set[i] & big) ++s; if (!(set[i] && !big)) s += 2; }
  y[threadIdx.x] = s;
}
__global__ void captured(const float* x, float* y, int n) {
  float a[2][4]; float s = 0;
  each([&](int i) { if (i < n) a[1][i] = x[i]; });
  each([&](int i) { s += i < n ? a[1][i] : 0; });
  y[threadIdx.x] = s;
}
__global__ void rows(const unsigned* x, float* y) {
  unsigned a[4], b[2] = {x[threadIdx.x], x[threadIdx.x + 32]};
  float d[4] = {};
  a[0] = b[0], a[2] = b[1];
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  y[threadIdx.x] = d[0] + d[1];
}
__global__ void sums(const float* x, float* y) { float acc[4] INITIAL; for (int i = 0; i < 16; ++i) acc[i % 4] += x[i]; y[threadIdx.x] = acc[0] + acc[3]; }
int main() { int *x, *y; cudaMalloc(&x, 512); cudaMalloc(&y, 512); cudaMemset(x, 0, 512);
halves<<<1, 32>>>((short*)x, y); pairs<<<1, 32>>>((float*)x, (float*)y); logic<<<1, 32>>>(x, y, 1); captured<<<1, 32>>>((float*)x, (float*)y, 2);
rows<<<1, 32>>>((unsigned*)x, (float*)y); sums<<<1, 32>>>((float*)x, (float*)y); return cudaDeviceSynchronize(); }'
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    sed 's/INITIAL/= {}/' "$scratch/partly.cu" >"$scratch/right.cu"
    holds "arrays of which only what is set is used: none ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/right.cu"
    sed 's/INITIAL//' "$scratch/partly.cu" >"$scratch/wrong.cu"
    fails "one that is used unset, beside them: 99 ($compiler)" 99 'but 1 finding' env CLANG="$compiler" common/simgpu/simrun "$scratch/wrong.cu"
done
# Single variables, and members and elements of a byte: none as long as a thread uses what it has set.
program singles '#include <stdint.h>
struct Point { float x, y; int id; bool seen; };
__device__ bool found_at(const int* in, int n, int wanted, int& where) {
  for (int j = 0; j < n; ++j) if (in[j] == wanted) { where = j; return true; }
  return false;
}
__global__ void search(const int* in, int* out, int n) {
  int where;
  const bool any = found_at(in, n, threadIdx.x, where);
  CONDITION out[threadIdx.x] = where;
  float best; int at;
  for (int j = 0; j < n; ++j) { const float d = in[j] - 3.0f; if (j == 0 || d < best) best = d, at = j; }
  if (best < 0) out[32 + threadIdx.x] = at;
}
__global__ void flags(const int* in, int* out, Point* points, int n) {
  bool found FOUND;
  for (int j = 0; j < n; ++j) if (in[j] == static_cast<int>(threadIdx.x)) found = true;
  out[64 + threadIdx.x] = found ? 1 : 2;
  const int* p POINTER;
  if (n > 3) p = in;
  if (threadIdx.x == 1) out[200] = *p;
  Point q, r;
  q.x = 1, q.y = 2, q.id = 3;
  if (SEEN) q.seen = true;
  if (n > 3) q.seen = true;
  r = q;
  if (r.seen) out[96 + threadIdx.x] = r.id;
  points[threadIdx.x] = r;
  uint8_t b[8];
  for (int j = 0; j < BYTES; ++j) b[j] = static_cast<uint8_t>(in[j]);
  out[128 + threadIdx.x] = b[0] + b[5] + b[7] * 2;
}
int main() { int *x, *y, h[8] = {1, 7, 2, 9, 4, 30, 3, 8}; Point* p; cudaMalloc(&x, 32); cudaMalloc(&y, 1024); cudaMalloc(&p, 32 * sizeof(Point));
cudaMemcpy(x, h, 32, cudaMemcpyHostToDevice); search<<<1, 32>>>(x, y, 8); flags<<<1, 32>>>(x, y, p, 8 - FEWER); return cudaDeviceSynchronize(); }'
singles() { # CONDITION FOUND BYTES FEWER POINTER
    sed "s/CONDITION/$1/; s/FOUND/$2/; s/BYTES/$3/; s/FEWER/$4/; s/POINTER/$5/; s/SEEN/n > 9/" "$scratch/singles.cu" >"$scratch/singles_now.cu"
    CLANG=$compiler common/simgpu/simrun --report=none "$scratch/singles_now.cu" 2>&1 | grep -v "warning:"
}
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    says "single variables, bytes, a pointer: none ($compiler)" 'no findings' singles 'if (any)' '= false' 8 0 '= nullptr'
    says "an index that is not found, stored ($compiler)" 'uses the variable declared on singles_now.cu:10 that nothing has set' singles '' '= false' 8 0 '= nullptr'
    says "a flag that only some threads set ($compiler)" 'uses the variable declared on singles_now.cu:18 that nothing has set' singles 'if (any)' '' 8 0 '= nullptr'
    says "bytes that a loop has left out ($compiler)" 'an element of the array declared on singles_now.cu:31 that nothing has set' singles 'if (any)' '= false' 7 0 '= nullptr'
    singles 'if (any)' '= false' 8 5 '' >"$scratch/said"
    says "a pointer that nothing has set ($compiler)" 'uses the variable declared on singles_now.cu:21 that nothing has set' cat "$scratch/said"
    says "a member that is a flag ($compiler)" 'a part of the variable declared on singles_now.cu:24 that nothing has set' cat "$scratch/said"
done
# malloc() and free() in kernels: what is read before it is written, or after it was freed, and what is freed twice.
program heap '__global__ void k(int* out) {
  int* p = (int*)malloc(32);
  p[0] = threadIdx.x, p[1] = 2;
  BEFORE
  free(p);
  AFTER
  int* q = new int(3);
  atomicAdd(out, *q);
  delete q;
}
int main() { int* out; cudaMalloc(&out, 4); cudaMemset(out, 0, 4); for (int i = 0; i < 2; ++i) k<<<2, 32>>>(out); cudaDeviceSynchronize(); return 0; }'
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    heap() { sed "s/BEFORE/$1/; s/AFTER/$2/" "$scratch/heap.cu" >"$scratch/heap_now.cu"; }
    heap 'atomicAdd(out, p[0] + p[1]);' ''
    holds "what malloc() gave, written, read and freed: none ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/heap_now.cu"
    heap 'atomicAdd(out, p[2]);' ''
    fails "read before it is written: 99 ($compiler)" 99 'nothing has written since malloc' env CLANG="$compiler" common/simgpu/simrun "$scratch/heap_now.cu"
    heap '' 'atomicAdd(out, p[0]);'
    fails "read after free(): 99 ($compiler)" 99 'heap_now.cu:8: uninitialised read: .* or after free' env CLANG="$compiler" common/simgpu/simrun "$scratch/heap_now.cu"
    heap '' 'p[1] = 3;'
    fails "written after free(): 99 ($compiler)" 99 'heap_now.cu:8: use after free: writes 4 bytes at byte 4 of what malloc[(][)] or new gave and free' env CLANG="$compiler" common/simgpu/simrun "$scratch/heap_now.cu"
    heap 'p[8] = 3;' ''
    fails "written behind its end: 99 ($compiler)" 99 'heap_now.cu:6: out-of-bounds: writes 4 bytes at byte 32 of what malloc[(][)] or new gave [(]32 bytes[)], behind its end' env CLANG="$compiler" common/simgpu/simrun "$scratch/heap_now.cu"
    heap 'char* c = (char*)malloc(21); for (int i = 0; i < 21; ++i) c[i] = i; atomicAdd(out, c[20]); free(c);' ''
    holds "all of a block of 21 bytes: none ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/heap_now.cu"
    heap '' 'free(p);'
    fails "freed twice ($compiler)" 99 'delete of memory that is free already' env CLANG="$compiler" common/simgpu/simrun "$scratch/heap_now.cu"
done
# A fragment without a bracket in the whole file.
program unfilled '#include <mma.h>
using namespace nvcuda;
__global__ void square(const half* a, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> B;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> C;
  wmma::load_matrix_sync(A, a, 16);
  wmma::load_matrix_sync(B, a, 16);
  wmma::mma_sync(C, A, B, C);
  wmma::store_matrix_sync(c, C, 16, wmma::mem_row_major);
}
int main() { half* a; float* c; cudaMalloc(&a, 512); cudaMalloc(&c, 1024); cudaMemset(a, 0, 512);
square<<<1, 32>>>(a, c); return cudaDeviceSynchronize(); }'
fails "a fragment that nobody filled, and no array beside it: 99" 99 'but 1 finding' common/simgpu/simrun "$scratch/unfilled.cu"
# Structs, and CUDA's fragments, which are some. What is right first: parts that are set, copies of the whole.
program structs '#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
struct Sums { float of[4]; int n; };
__global__ void product(const half* a, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
  for (int t = 0; t < 2; ++t) {
    FILL
    for (int k = 0; k < 2; ++k) {
      wmma::load_matrix_sync(fa, a + k * 256, 16);
      wmma::load_matrix_sync(fb, a + t * 256, 16);
      wmma::mma_sync(acc[t], fa, fb, acc[t]);
    }
  }
  for (int t = 0; t < 2; ++t) wmma::store_matrix_sync(c + t * 256, acc[t], 16, wmma::mem_row_major);
}
__device__ __noinline__ Sums chosen(Sums a, Sums b, bool first) { return first ? a : b; }
__global__ void sums(const float* x, float* y, int n) {
  Sums s ZERO, t, u = {};
  __shared__ Sums kept[32];
  for (int i = 0; i < 8; ++i) if (i % 4 < n) s.of[i % 4] += x[i];
  s.n = n;
  t = s;
  kept[threadIdx.x] = t;
  __syncthreads();
  u.n = t.n;
  t = kept[31 - threadIdx.x];
  y[threadIdx.x] = t.of[1] + t.n;
}
__global__ void parts(const float* x, Sums* out, int n) {
  Sums s, t;
  if (n > 1) s.of[0] = x[0];
  t.n = n, t.of[2] = 1;
  Sums u[2]; u[0].n = 1; u[1].of[3] = 2;
  out[0] = chosen(s, t, x[1] == 0);
  Sums v = u[n & 1];
  out[1] = v;
  float4 q; q.y = x[2];
  float scratch[3]; for (int i = 0; i < 3; ++i) if (i < n) scratch[i] = x[i];
  __shared__ float lies[96];
  for (int i = 0; i < 3; ++i) lies[3 * threadIdx.x + i] = 2 * scratch[i];
  out[2].of[0] = q.y + lies[3 * threadIdx.x + 1];
}
int main() { char *x, *y; cudaMalloc(&x, 2048); cudaMalloc(&y, 2048); cudaMemset(x, 0, 2048);
product<<<1, 32>>>((half*)x, (float*)y); sums<<<1, 32>>>((float*)x, (float*)y, 2); parts<<<1, 1>>>((float*)x, (Sums*)y, 2); return cudaDeviceSynchronize(); }'
fill='wmma::fill_fragment(acc[t], 0.0f);'
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    sed "s/FILL/$fill/; s/ZERO/= {}/" "$scratch/structs.cu" >"$scratch/right.cu"
    holds "structs of which only what is set is used: none ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/right.cu"
    sed "s/FILL//; s/ZERO/= {}/" "$scratch/structs.cu" >"$scratch/wrong.cu"
    fails "sums in fragments that nobody filled: 99 ($compiler)" 99 'but 1 finding' env CLANG="$compiler" common/simgpu/simrun "$scratch/wrong.cu"
    cp "$scratch/.out" "$scratch/said"
    says "the line that stores them, and that of the fragments ($compiler)" 'wrong.cu:19: uninitialised read: .* the variable declared on wrong.cu:10 that nothing has set' cat "$scratch/said"
    sed "s/FILL/$fill/; s/ZERO//" "$scratch/structs.cu" >"$scratch/wrong.cu"
    fails "sums in a struct, used behind shared memory: 99 ($compiler)" 99 'but 1 finding' env CLANG="$compiler" common/simgpu/simrun "$scratch/wrong.cu"
    cp "$scratch/.out" "$scratch/said"
    says "the line that uses them, and that of the struct ($compiler)" 'uninitialised read: .* the variable declared on wrong.cu:23 that nothing has set' cat "$scratch/said"
done
# One lane asks, all get the answer: the others pass on a variable that they never wrote, which C++ lets a compiler
# conclude from, and CUDA does not.
program elected '#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int from_first(int v) { return __shfl_sync(~0u, v, 0); }
__global__ void k(int* n) {
  auto g = cg::coalesced_threads();
  int r;
  if (g.thread_rank() == 0) r = atomicAdd(n, static_cast<int>(g.size()));
  r = g.shfl(r, 0) + static_cast<int>(g.thread_rank());
  if (r != static_cast<int>(threadIdx.x)) atomicAdd(n + 2, 1);
  int s;
  if (threadIdx.x == 0) s = atomicAdd(n + 1, 1);
  if (from_first(s) != 0) atomicAdd(n + 2, 1);
}
int main() { int *p, h[3]; cudaMalloc(&p, sizeof h); cudaMemset(p, 0, sizeof h); k<<<1, 32>>>(p);
cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost); return !(h[0] == 32 && h[1] == 1 && h[2] == 0); }'
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    holds "one lane asks for all ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/elected.cu"
done
program holes '__global__ void k(float* c) { if (threadIdx.x != 7) c[threadIdx.x] = 1; }
int main() { float *c, h[64]; cudaMalloc(&c, sizeof h); k<<<1, 64>>>(c); return cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost); }'
fails "an element that no thread wrote, copied to the host: 99" 99 'but 1 finding' simrun "$scratch/holes.cu"
cp "$scratch/.out" "$scratch/said"
says "which one" '4 of 256 bytes copied from allocation 1 were never written, the first at byte 28' cat "$scratch/said"
program padded 'struct S { char a; double b; };
__global__ void k(S* s) { s[threadIdx.x].a = 1; s[threadIdx.x].b = 2; }
int main() { S *s, h[9]; cudaMalloc(&s, sizeof h); k<<<1, 9>>>(s); return cudaMemcpy(h, s, sizeof h, cudaMemcpyDeviceToHost); }'
holds "padding between members is none" simrun "$scratch/padded.cu"
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    holds "nor is what copies padding ($compiler)" env CLANG="$compiler" common/simgpu/simrun common/simgpu/tests/programs/padding.cu
done
program unset 'struct S { double x; int n; };
__global__ void make(S* s) { s[threadIdx.x].x = 1; }
__global__ void pass(const S* s, S* t) { t[threadIdx.x] = s[threadIdx.x]; }
__global__ void use(const S* t, int* n) { n[threadIdx.x] = t[threadIdx.x].n + 1; }
int main() { S *s, *t; int* n; cudaMalloc(&s, 512); cudaMalloc(&t, 512); cudaMalloc(&n, 128);
make<<<1, 32>>>(s); pass<<<1, 32>>>(s, t); use<<<1, 32>>>(t, n); return cudaDeviceSynchronize(); }'
fails "a member that nobody wrote: 99" 99 'finding' simrun "$scratch/unset.cu"
holds "lane 0 says that its warp has read" simrun common/simgpu/tests/programs/ring.cu
cp common/simgpu/tests/programs/check.h "$scratch"
sed '/__syncwarp/d' common/simgpu/tests/programs/ring.cu >"$scratch/ring.cu"
fails "before the other lanes have: 99" 99 '1 finding' simrun "$scratch/ring.cu"
cp "$scratch/.out" "$scratch/said"
says "what is missing" 'a __syncwarp[(][)] is missing between it and the other lanes' cat "$scratch/said"
program brackets '#include <vector>
__global__ void k(int* p) { *p = 5; }
int main() { std::vector<std::vector<int> > v; int *p, h; cudaMalloc(&p, 4); k << <1, 1 >> > (p);
cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); return h; }'
fails "brackets that a formatter has cut up" 5 'brackets.cu: ended with status 5, no findings' simrun "$scratch/brackets.cu"
program arguments '__global__ void k(int* p) { *p = 5; }
int main(int, char *) { int *p, h; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); return h; }'
fails "main(int, char*), of which nvcc only warns" 5 'arguments.cu: ended with status 5, no findings' simrun "$scratch/arguments.cu"
program exact '__global__ void k(float* p) { const float x = p[threadIdx.x]; p[threadIdx.x] = expf(x) / sqrtf(x); }
int main() { float *p, h[32]; for (float& v : h) v = 2.25f; cudaMalloc(&p, 128); cudaMemcpy(p, h, 128, cudaMemcpyHostToDevice); k<<<1, 32>>>(p);
cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost); return !(h[9] > 6.3251f && h[9] < 6.3252f); }'
for fast in "" -use_fast_math; do
    # shellcheck disable=SC2086
    holds "exact or fast arithmetic compiles (${fast:-exact})" common/simgpu/simcc $fast "$scratch/exact.cu" -o "$scratch/exact"
    SIMGPU_REPORT=kernels "$scratch/exact" 2>"$scratch/report"
    same "with the same result to four digits (${fast:-exact})" 0 $?
    same "multiply-adds of expf, a division, a square root (${fast:-exact})" "$([ -n "$fast" ] || echo $((32 * (4 + 5 + 2))))" "$(sed -n 's/.*fma f32 \([0-9 ]*[0-9]\).*/\1/p' "$scratch/report" | tr -d ' ')"
done
# Loops without a pragma: as far as nvcc unrolls them, but for arrays, which it keeps in registers.
program rolled '__global__ void k(const float* a, float* c) {
  __shared__ float as[64 * 8], bs[8 * 64];
  for (int i = threadIdx.x; i < 512; i += 64) as[i] = a[i], bs[i] = a[i + 512];
  __syncthreads();
  float sums[64] = {}, x[8], y[8];
  for (int d = 0; d < 8; ++d) {
    for (int i = 0; i < 8; ++i) x[i] = as[(threadIdx.x / 8 * 8 + i) * 8 + d];
    for (int j = 0; j < 8; ++j) y[j] = bs[d * 64 + threadIdx.x % 8 * 8 + j];
    for (int i = 0; i < 8; ++i) for (int j = 0; j < 8; ++j) sums[i * 8 + j] += x[i] * y[j];
  }
  for (int i = 0; i < 64; ++i) c[threadIdx.x * 64 + i] = sums[i];
}
int main() { float *a, *c; cudaMalloc(&a, 4096); cudaMalloc(&c, 16384); cudaMemset(a, 0, 4096); k<<<1, 64>>>(a, c); return cudaDeviceSynchronize(); }'
program array '__global__ void k(const float* a, float* c) {
  float sums[256] = {};
  for (int d = 0; d < 9; ++d) for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) sums[16 * i + j] += a[16 * d + i] * a[16 * d + j];
  for (int i = 0; i < 256; ++i) c[i] = sums[i];
}
int main() {}'
# nvcc 13.0 leaves this one in local memory: 1024 multiply-adds are too many for it.
program attention '__global__ void k(const float* v, float* c, int n) {
  __shared__ float s[32][33], values[32][33];
  float sums[32];
  const int t = threadIdx.x;
  for (int x = 0; x < 32; ++x) sums[x] = 0;
  for (int j = 0; j < n; ++j) {
    for (int x = 0; x < 32; ++x) values[t][x] = v[j * 32 + x], s[t][x] = v[j];
    __syncthreads();
    for (int x = 0; x < 32; ++x) {
      float sum = 0;
      for (int y = 0; y < 32; ++y) sum += s[t][y] * values[y][x];
      sums[x] = sums[x] * 2 + sum;
    }
    __syncthreads();
  }
  for (int x = 0; x < 32; ++x) c[t * 32 + x] = sums[x];
}
int main() {}'
# A loop whose lanes take three or four turns: nvcc takes three of them beforehand, then four at once. It knows, too, that a
# block has threads.
program turns '__global__ void k(const float* a, float* c, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += expf(a[i]);
  c[threadIdx.x] = sum;
}
__global__ void by_step(const float* a, float* c, int n) {
  float sum = 0;
  const int step = blockDim.x;
  for (int i = threadIdx.x; i < n; i += step) sum += expf(a[i]);
  c[threadIdx.x] = sum;
}
int main() { float *a, *c; cudaMalloc(&a, 400); cudaMalloc(&c, 128); cudaMemset(a, 0, 400); k<<<1, 32>>>(a, c, 100); by_step<<<1, 32>>>(a, c, 100); return cudaDeviceSynchronize(); }'
# Loops of unknown length with arithmetic on halves, and an array of halves read by words: what is asm, and an array's
# alignment, does not change what nvcc makes of them (flags/as_nvcc.awk).
program halves '#include <cuda_fp16.h>
__global__ void dot(const half2* a, const half2* b, float* c, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    const float2 x = __half22float2(__ldg(a + i)), y = __half22float2(b[i]);
    sum += x.x * y.x + x.y * y.y;
  }
  c[threadIdx.x] = sum;
}
struct __attribute__((packed)) Tagged { char tag; int value; };
__global__ void words(const half* a, unsigned* c) {
  __shared__ half tile[32][40];
  __shared__ Tagged last[32];
  for (int i = 0; i < 8; ++i) tile[threadIdx.x][i] = a[i];
  last[threadIdx.x].value = 1;
  __syncthreads();
  const int row = threadIdx.x / 4, place = threadIdx.x % 4 * 2;
  c[threadIdx.x] = *(unsigned*)&tile[row][place] + last[31 - threadIdx.x].value;
}
int main() {
  half* a; float* c; cudaMalloc(&a, 4000); cudaMalloc(&c, 128); cudaMemset(a, 0, 4000);
  dot<<<1, 32>>>((half2*)a, (half2*)a + 400, c, 300);
  words<<<1, 32>>>(a, (unsigned*)c);
  return cudaDeviceSynchronize();
}'
# Stores to global memory change nothing in shared memory, so nvcc keeps what it has read there; also through a pointer into
# dynamic shared memory. A pointer that comes from elsewhere may point anywhere.
program apart '__device__ float* anywhere;
__global__ void apart(float* out, const float* x, int n, bool again) {
  __shared__ float mean;
  extern __shared__ float buffer[];
  float *mine = buffer + 32, *to = out + blockIdx.x * n;
  if (threadIdx.x == 0) mean = x[0];
  mine[threadIdx.x] = 1;
  if (again) anywhere = mine;
  __syncthreads();
  for (int i = 0; i < 8; ++i) to[i * 32 + threadIdx.x] = (x[i] - mean) * mine[1];
}
__global__ void meets(float* out) {
  __shared__ float sum[32];
  float* p = out ? sum : anywhere;
  sum[threadIdx.x] = 1;
  __syncthreads();
  for (int i = 0; i < 8; ++i) { p[threadIdx.x] += 1; out[i * 32 + threadIdx.x] = sum[threadIdx.x]; }
}
int main() {
  float *a, *c, h[256]; cudaMalloc(&a, 4000); cudaMalloc(&c, 4000); cudaMemset(a, 0, 4000);
  apart<<<1, 32, 400>>>(c, a, 100, false);
  meets<<<1, 32>>>(c);
  cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 256; ++i) if (h[i] != i / 32 + 2) return 1;
  return 0;
}'
# A struct in shared memory is stored and loaded as a whole, as nvcc does, also if nothing takes its address. One that nobody
# uses takes no shared memory.
program whole 'struct __align__(8) Sum { float most, total; };
struct Unused { float value[64]; };
__global__ void k(float* out) {
  __shared__ Sum all;
  __shared__ Unused none;
  if (threadIdx.x == 0) { Sum sum; sum.most = out[0]; sum.total = out[1]; all = sum; }
  __syncthreads();
  out[threadIdx.x] = all.most * all.total;
}
__global__ void other(float* out) { out[threadIdx.x] = 1; }
int main() {
  float* a; cudaMalloc(&a, 128); cudaMemset(a, 0, 128);
  cudaFuncAttributes k_has, other_has;
  cudaFuncGetAttributes(&k_has, k); cudaFuncGetAttributes(&other_has, other);
  k<<<1, 32>>>(a); other<<<1, 32>>>(a);
  return cudaDeviceSynchronize() != cudaSuccess || k_has.sharedSizeBytes != 8 || other_has.sharedSizeBytes != 0;
}'
# What a load has brought stays known across atomics of shared memory, and across what only lanes see, as in what ptxas makes
# of it (nvcc 13.0, sm_90). Not across an atomic of global memory, and not across a barrier; and a poll stays an atomic.
program kept '
#define KERNEL(name, between) \
  __global__ void name(const int* x, int n, int* y) { __shared__ int s[64]; const int t = threadIdx.x, v = x[t]; int w = v; int* z = y + n; \
    s[t] = v; between; y[t] = v * 3 + x[t] + w + s[t]; }
KERNEL(by_shared_atomic, (void)z; atomicAdd(&s[v & 31], 1); atomicMax((unsigned*)&s[v & 31], 7u))
KERNEL(by_match, (void)z; w = __match_any_sync(~0u, v))
KERNEL(by_active, (void)z; w = __activemask())
KERNEL(by_redux, (void)z; w = __reduce_add_sync(~0u, v))
KERNEL(by_asm, (void)z; asm volatile("bfind.u32 %0, %1;" : "=r"(w) : "r"(v)))
KERNEL(by_global_atomic, atomicAdd(z, 1))
KERNEL(by_barrier, (void)z; __syncthreads())
KERNEL(by_clobber, (void)z; asm volatile("" : : : "memory"))
__global__ void polls(int* x) { while (atomicAdd(x, 0) != 0) {} }
int main() {
  int *x, *y; cudaMalloc(&x, 400); cudaMalloc(&y, 400); cudaMemset(x, 0, 400); cudaMemset(y, 0, 400);
  by_shared_atomic<<<1, 32>>>(x, 60, y); by_match<<<1, 32>>>(x, 60, y); by_active<<<1, 32>>>(x, 60, y); by_redux<<<1, 32>>>(x, 60, y);
  by_asm<<<1, 32>>>(x, 60, y); by_global_atomic<<<1, 32>>>(x, 60, y); by_barrier<<<1, 32>>>(x, 60, y); by_clobber<<<1, 32>>>(x, 60, y);
  polls<<<1, 32>>>(x);
  return cudaDeviceSynchronize();
}'
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    holds "a struct in shared memory takes what it holds ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/whole.cu"
    CLANG=$compiler simrun "$scratch/whole.cu" >/dev/null 2>"$scratch/report"
    same "a struct in shared memory is loaded whole ($compiler)" 1 "$(count k 'shared load' requests)"
    same "and stored whole ($compiler)" 1 "$(count k 'shared store' requests)"
    CLANG=$compiler simrun "$scratch/kept.cu" >/dev/null 2>"$scratch/report"
    for what in shared_atomic match active redux asm; do
        same "a value is kept across $what ($compiler)" 1 "$(count by_$what 'global load' requests)"
    done
    for what in global_atomic barrier clobber; do
        same "and read again behind $what ($compiler)" 2 "$(count by_$what 'global load' requests)"
    done
    same "a poll is an atomic ($compiler)" 1 "$(count polls 'global atomic' requests)"
    holds "pointers of two kinds meet ($compiler)" env CLANG="$compiler" common/simgpu/simrun "$scratch/apart.cu"
    CLANG=$compiler simrun "$scratch/apart.cu" >/dev/null 2>"$scratch/report"
    same "what is in shared memory is read once, whatever is stored elsewhere ($compiler)" 2 "$(count apart 'shared load' requests)"
    CLANG=$compiler simrun "$scratch/halves.cu" >/dev/null 2>"$scratch/report"
    same "ten turns of two loads, although some lanes take nine ($compiler)" 20 "$(count dot 'global load' requests)"
    same "a word of a tile of halves, and four bytes of a packed struct ($compiler)" 5 "$(count words 'shared load' requests)"
    CLANG=$compiler common/simgpu/simcc --ptx "$scratch/attention.cu" >"$scratch/attention.ptx" 2>/dev/null
    same "an array for 1024 multiply-adds is in local memory ($compiler)" 1 "$(grep -c '\.local.*depot' "$scratch/attention.ptx")"
    CLANG=$compiler simrun "$scratch/turns.cu" >/dev/null 2>"$scratch/report"
    same "lanes with four turns, apart from those with three ($compiler)" 7 "$(count k 'global load' requests)"
    same "also if a step is as long as the block ($compiler)" 7 "$(count by_step 'global load' requests)"
    CLANG=$compiler simrun "$scratch/rolled.cu" >/dev/null 2>"$scratch/report"
    same "eight loads a step of one operand, two of the other, in 8 steps of 2 warps ($compiler)" 160 "$(count k 'shared load' requests)"
    CLANG=$compiler common/simgpu/simcc --ptx "$scratch/array.cu" >"$scratch/array.ptx" 2>/dev/null
    same "an array of 256 sums is in registers ($compiler)" 0 "$(grep -c '\.local' "$scratch/array.ptx")"
done
