#!/bin/bash
# The programs of examples/ on the simulated GPU: the right result, no findings, and the count that each is there to show.
# Then make sim and simrun by themselves: one clear message for whatever is wrong, and the exit status that says which.
# shellcheck source=common/simgpu/tests/programs.bash
. "$(dirname "$0")/programs.bash"
# example NAME [ARGUMENT...]
example() {
    local file=examples/$1.cu
    simrun "$file" "${@:2}" >"$scratch/out" 2>"$scratch/report"
    same "$1 ends with 0" 0 $?
    same "$1 finds its result right" ok "$(cat "$scratch/out")"
    same "$1 has no findings" "$1.cu: ended with status 0, no findings" "$(tail -n 1 "$scratch/report")"
    tried="$tried $1"
}
tried=

simrun examples/hello.cu >"$scratch/out" 2>"$scratch/report"
same "hello: a line from each thread, then the host's" "$(for i in 0 1; do for j in 0 1 2; do echo "block $i of 2, thread $j of 3"; done; done; echo 'the host goes on')" "$(cat "$scratch/out")"
tried="$tried hello"

example vector_add
same "vector_add moves no sector more than it must" "$(ideal add 'global load')" "$(count add 'global load' sectors)"
same "two arrays of 10007 words, 8 in a sector" $((2 * ((10007 + 7) / 8))) "$(count add 'global load' sectors)"

example scale
same "scale touches 70 of 72 elements a row, 9 sectors each" $((50 * 9)) "$(count scale 'global store' sectors)"

example neighbours
same "a block reads its 128 elements and one on each side" 46 "$(count sum_of_neighbours 'global load' requests)"
sed '/__syncthreads/d' examples/neighbours.cu >"$scratch/neighbours.cu"
fails "without the barrier: a race" 1 'neighbours.cu: ended with status 1, 3 findings' simrun "$scratch/neighbours.cu"
cp "$scratch/.out" "$scratch/said"
says "named with both lines" 'shared-memory race: neighbours.cu:17 writes .* read by neighbours.cu:' cat "$scratch/said"

# A loop of many turns is not unrolled, by no pass: once it took minutes to look for what nobody has set.
cat >"$scratch/turns.cu" <<'END'
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void turns(float* out) {
  fragment<accumulator, 16, 16, 16, float> sum;
  fragment<matrix_a, 16, 16, 16, half, row_major> a;
  fragment<matrix_b, 16, 16, 16, half, col_major> b;
  fill_fragment(sum, 0.0f); fill_fragment(a, half(0.5f)); fill_fragment(b, half(0.25f));
  for (int k = 0; k < 3000; ++k) mma_sync(sum, a, b, sum);
  store_matrix_sync(out, sum, 16, mem_row_major);
}
int main() { float h, *x; cudaMalloc(&x, 1024); turns<<<1, 32>>>(x); cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost); return h != 6000; }
END
TIMEFORMAT=%0U
{ time common/simgpu/simrun "$scratch/turns.cu" >"$scratch/said" 2>&1; } 2>"$scratch/took"
same "3000 products in a loop" "turns.cu: ended with status 0, no findings" "$(tail -n 1 "$scratch/said")"
same "take no 15 s of a processor" yes "$([ "$(cat "$scratch/took")" -lt 15 ] && echo yes || cat "$scratch/took")"

cat >"$scratch/again.cu" <<'END'
__global__ void back(int* x) { x[threadIdx.x] = x[63 - threadIdx.x]; }
int main() { int* x; cudaMalloc(&x, 256); cudaMemset(x, 0, 256); for (int i = 0; i < 5; ++i) back<<<1, 64>>>(x); return cudaDeviceSynchronize(); }
END
simrun "$scratch/again.cu" >"$scratch/said" 2>&1
same "what five launches do alike is one finding" "again.cu: ended with status 0, but 1 finding: see above" "$(tail -n 1 "$scratch/said")"
says "and the later ones are counted" 'later launches had the same findings, 4 times in all' cat "$scratch/said"

cp common/simgpu/tests/programs/check.h "$scratch"
sed '/fence.proxy.tensormap::generic.acquire/d' common/simgpu/tests/programs/changed_maps.cu >"$scratch/maps.cu"
simrun "$scratch/maps.cu" >"$scratch/said" 2>&1
same "a changed tensor map is used without a fence" "maps.cu: ended with status 0, but 1 finding: see above" "$(tail -n 1 "$scratch/said")"
says "which is named" 'missing fence between proxies: .* fence.proxy.tensormap::generic.acquire' cat "$scratch/said"

# A sum over a warp by a volatile pointer: six lines read and write, and one thing is wrong.
steps() { # WORDS: what stands between reading and writing, and behind
    echo "__device__ void steps(volatile float* s, int t) { float v = s[t];"
    for k in 32 16 8 4 2 1; do echo "  v += s[t + $k]; $1 s[t] = v; $1"; done
    echo "}"
}
for sync in "" "__syncwarp();"; do
    { steps "$sync"; cat <<'END'
__global__ void sum(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) steps(s, threadIdx.x);
  if (threadIdx.x == 0) *y = s[0];
}
int main() { float *x, *y; cudaMalloc(&x, 256); cudaMalloc(&y, 4); cudaMemset(x, 0, 256); sum<<<1, 64>>>(x, y); return cudaDeviceSynchronize(); }
END
    } >"$scratch/volatile.cu"
    simrun "$scratch/volatile.cu" >"$scratch/said" 2>&1
    same "findings of a volatile sum ${sync:-without __syncwarp()}" "$([ -n "$sync" ] && echo 0 || echo 1)" "$(grep -c 'shared-memory race' "$scratch/said")"
done

cat >"$scratch/runs_on.cu" <<'END'
__global__ void search(const int* x, int* place) { unsigned int i = 0; while (x[i] != 7) ++i; *place = static_cast<int>(i); }
int main() { int *x, *place; cudaMalloc(&x, 64); cudaMalloc(&place, 4); cudaMemset(x, 0, 64); search<<<1, 1>>>(x, place);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 1; }
END
simrun "$scratch/runs_on.cu" >"$scratch/said" 2>&1
same "a loop that leaves its array ends by the fault, as on a GPU" "runs_on.cu: ended with status 0, but 1 finding: see above" "$(tail -n 1 "$scratch/said")"
says "and the finding is the cause" 'runs_on.cu:1: out-of-bounds: reads 4 bytes directly past the end of allocation 1' cat "$scratch/said"

# Headers of NVIDIA's samples: ours, unless the program brings its own.
cat >"$scratch/sample.cu" <<'END'
#include <helper_cuda.h>
#include <helper_functions.h>
__global__ void fill(float* x) { x[threadIdx.x] = 2; }
int main(int argc, char** argv) {
  const int device = findCudaDevice(argc, (const char**)argv);
  const int n = checkCmdLineFlag(argc, (const char**)argv, "n") ? getCmdLineArgumentInt(argc, (const char**)argv, "n") : 3;
  StopWatchInterface* timer = nullptr;
  sdkCreateTimer(&timer);
  sdkStartTimer(&timer);
  float* x; checkCudaErrors(cudaMalloc(&x, 128)); fill<<<1, 32>>>(x); getLastCudaError("fill");
  float back[32], two[32]; checkCudaErrors(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
  for (float& v : two) v = 2;
  sdkStopTimer(&timer);
  const bool right = sdkGetTimerValue(&timer) > 0 && compareData(two, back, 32, 1e-6f, 0.0f) && device == 0 && n == 5;
  sdkDeleteTimer(&timer);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
END
holds "the helpers of NVIDIA's samples" simrun "$scratch/sample.cu" --n=5
mkdir -p "$scratch/own"
echo '#error its own' >"$scratch/own/helper_cuda.h"
common/simgpu/simcc -I"$scratch/own" -c "$scratch/sample.cu" -o "$scratch/sample.o" >"$scratch/said" 2>&1
says "a program's own come first" 'its own' cat "$scratch/said"

example reduction
holds "adding every other word has bank conflicts" test "$(count sum_interleaved 'shared load' wavefronts)" -gt $((3 * $(ideal sum_interleaved 'shared load')))
same "adding halves has none" "$(ideal sum_halves 'shared load')" "$(count sum_halves 'shared load' wavefronts)"

example cluster
same "each of 20000 values is an atomic of a warp, in other blocks' shared memory too" 625 "$(awk '/^  cluster /{ print $7 }' FS='[ ,]+' "$scratch/report" | head -1)"
sed '/all blocks have finished adding/d' examples/cluster.cu >"$scratch/cluster.cu"
simrun "$scratch/cluster.cu" >"$scratch/said" 2>&1
says "without the second barrier: a race between blocks" 'shared-memory race: cluster.cu:[0-9]* reaches shared memory of block .* which has ended' cat "$scratch/said"
holds "an ended block is no party with a line and a thread" bash -c '! grep "unknown line" '"$scratch/said"

cat >"$scratch/lock.cu" <<'END'
__device__ int lock, count;
__global__ void counts(int by_lock, int fenced) {
  if (threadIdx.x != 0) return;
  while (by_lock && atomicCAS(&lock, 0, 1) != 0) {}
  if (fenced) __threadfence();
  count = count + 1;
  if (fenced) __threadfence();
  if (by_lock) atomicExch(&lock, 0);
}
int main(int argc, char**) { counts<<<8, 32>>>(argc > 1, argc > 2); return cudaDeviceSynchronize(); }
END
simrun "$scratch/lock.cu" guarded >"$scratch/said" 2>&1
says "a lock without fences is no lock" 'if a lock guards the place, __threadfence\(\) is missing' cat "$scratch/said"
holds "with them it is one" simrun "$scratch/lock.cu" guarded fenced

example transpose
requests=$(count transpose_tile 'shared load' requests)
same "a column of the tile is in one bank: 32 wavefronts a request" $((32 * requests)) "$(count transpose_tile 'shared load' wavefronts)"
same "with padding in 32 banks: 1 wavefront a request" "$requests" "$(count transpose_padded 'shared load' wavefronts)"
same "the naive one writes 8 times the sectors" $((8 * $(ideal transpose_naive 'global store'))) "$(count transpose_naive 'global store' sectors)"
same "through a tile it writes what it must" "$(ideal transpose_tile 'global store')" "$(count transpose_tile 'global store' sectors)"

example histogram
same "8 blocks send 256 bins each to global memory" $((8 * 256 / 32)) "$(count histogram_shared 'global atomic' requests)"
same "instead of every byte" $(((50021 + 31) / 32)) "$(count histogram_global 'global atomic' requests)"

example gemm 33 65 17
same "gemm does M*N*K multiply-adds" $((33 * 65 * 17)) "$(sed -n 's/.*fma f32 \([0-9 ]*[0-9]\).*/\1/p' "$scratch/report" | tr -d ' ')"

example hopper_gemm 65 264 72
same "hopper_gemm's threads load nothing" "" "$(grep -E '^  (global|shared) load' "$scratch/report")"
same "one thread of each block orders five boxes a step" $((2 * 2 * 2 * 5)) "$(count gemm 'bulk load' requests)"
same "wgmma multiplies whole tiles, two operations a product" $((2 * 2 * 2 * 64 * 256 * 128)) "$(sed -n 's/.*tensor f16 \([0-9 ]*[0-9]\).*/\1/p' "$scratch/report" | tr -d ' ')"
sed '/arrived.wait/d' examples/hopper_gemm.cu >"$scratch/early.cu"
fails "without the wait: tiles are read before they have come" 134 'early.cu: killed by SIGABRT' simrun "$scratch/early.cu"
cp "$scratch/.out" "$scratch/said"
says "named with the copy" 'which the bulk copy of early.cu:[0-9]+ is still writing' cat "$scratch/said"
sed '/fence.mbarrier_init/d' examples/hopper_gemm.cu >"$scratch/fence.cu"
fails "without the fence: TMA may not see the barrier" 99 'but 1 finding' simrun "$scratch/fence.cu"

same "every example was tried" "$(for file in examples/*.cu; do basename "$file" .cu; done | sort)" "$(tr ' ' '\n' <<<"${tried# }" | sort)"
for file in examples/*.cu; do
    if command -v "${NVCC:-nvcc}" >/dev/null; then
        case $file in *hopper*) arch="arch=compute_90a,code=sm_90a" ;; *cluster*) arch="arch=compute_90,code=sm_90" ;; *) arch="arch=compute_75,code=sm_75" ;; esac
        holds "nvcc takes $file without a warning" "${NVCC:-nvcc}" -std=c++17 -gencode "$arch" -Werror all-warnings -I. -c "$file" -o "$scratch/nvcc.o"
    fi
    holds "and clang, with -Wall -Wextra" common/simgpu/simcc -Wall -Wextra -Werror -c "$file" -o "$scratch/clang.o"
done

# ---- make sim
says "make sim runs a program" '^ok$' make -s sim FILE=examples/gemm.cu ARGS="8 9 10"
says "and hands on its arguments" 'fma f32 720' make -s sim FILE=examples/gemm.cu ARGS="8 9 10"
says "REPORT=lines shows lines" '^  gemm\.cu:[0-9]+ +global load ' make -s sim FILE=examples/gemm.cu REPORT=lines
fails "without FILE it asks for one" 2 'run which program\? make sim FILE=' make -s sim
fails "a missing file is one clear error" 2 'no/such.cu: no such file' make -s sim FILE=no/such.cu
fails "a misspelt report too" 2 'REPORT=line: there is no such report' make -s sim FILE=examples/gemm.cu REPORT=line
holds "the report fits 80 columns" bash -c '! make -s sim FILE=examples/transpose.cu REPORT=lines 2>&1 | grep -E "^.{81}"'

# ---- simrun: the exit status
fails "no file: 4" 4 'no such file' simrun "$scratch/nothing.cu"
touch "$scratch/notes.txt"
fails "not CUDA: 4" 4 'notes.txt is no .cu file' simrun "$scratch/notes.txt"
program typo 'int main() { return cudaMaloc(); }'
fails "what does not compile: 2, after the compiler's words" 2 "typo.cu does not compile" simrun "$scratch/typo.cu"
cp "$scratch/.out" "$scratch/said"
says "which name the line" "typo.cu:3:.*cudaMaloc" cat "$scratch/said"
program five 'int main(int argc, char**) { return 4 + argc; }'
fails "the program's own status" 5 'five.cu: ended with status 5, and made no CUDA call' simrun "$scratch/five.cu"
program lists 'int main() { int sum = 0, none = 0; for (int i : {1, 2}) sum += i; std::swap(sum, none); return sum; }'
holds "lists and std::swap need no header, as with nvcc" simrun "$scratch/lists.cu"
program race '__global__ void k(int* out) { out[0] = blockIdx.x; }
int main() { int* p; cudaMalloc(&p, 4); k<<<2, 1>>>(p); return cudaDeviceSynchronize(); }'
fails "findings of a program that ends well: 99" 99 'race.cu: ended with status 0, but 1 finding: see above' simrun "$scratch/race.cu"
cp "$scratch/.out" "$scratch/said"
says "each with its line" 'race.cu:3: global-memory race' cat "$scratch/said"
says "and what was never freed" '1 allocation of 4 bytes was never freed' cat "$scratch/said"
program flag '__global__ void k(const int* x, int* found) {
  __shared__ bool any;
  if (threadIdx.x == 0) any = false;
  __syncthreads();
  if (x[blockIdx.x * 128 + threadIdx.x] > 5) *found = 1, any = true;
  __syncthreads();
  if (!any && threadIdx.x == 0) *found = 1;
}
int main() { int *x, *f, h; cudaMalloc(&x, 4096); cudaMalloc(&f, 4); cudaMemset(x, 9, 4096); cudaMemset(f, 0, 4); k<<<8, 128>>>(x, f);
cudaMemcpy(&h, f, 4, cudaMemcpyDeviceToHost); return h != 1; }'
holds "many threads write the same into a flag: no race" simrun "$scratch/flag.cu"
sed 's/found = 1, any/found = threadIdx.x, any/' "$scratch/flag.cu" >"$scratch/flags.cu"
fails "different values are one" 1 'flags.cu:7: global-memory race' simrun "$scratch/flags.cu"
program arms '__global__ void k(int* p) {
  if (threadIdx.x & 1) { __syncthreads(); p[threadIdx.x] = 1; } else { __syncthreads(); p[threadIdx.x] = 2; }
}
int main() { int* p; cudaMalloc(&p, 128); k<<<1, 32>>>(p); return cudaDeviceSynchronize(); }'
fails "a barrier in each arm, within a warp: 99" 99 'but 1 finding' simrun "$scratch/arms.cu"
cp "$scratch/.out" "$scratch/said"
says "each reached by half of the warp" 'divergent barrier: the barrier is reached by 16 of 32 threads' cat "$scratch/said"
program arms_apart '__global__ void k(int* p) {
  if (threadIdx.x & 1) { p[threadIdx.x] = 1; __syncthreads(); }
  else { p[threadIdx.x] = 2;
    __syncthreads(); }
}
int main() { int* p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); return cudaDeviceSynchronize(); }'
fails "on lines of their own, in two warps: told once" 99 'but 1 finding' simrun "$scratch/arms_apart.cu"
program leaves '__global__ void k(int* p) {
  if (threadIdx.x >= 50) return;
  __syncthreads();
  p[threadIdx.x] = 1;
}
int main() { int* p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); return cudaDeviceSynchronize(); }'
fails "threads that return before a barrier: one of them is named" 99 'other: leaves.cu:4, thread \(50,0,0\) of block' simrun "$scratch/leaves.cu"
program counter '__global__ void k(int* n) { *n += 1; }
__global__ void shift(int* n) {
  __shared__ int s[65];
  s[threadIdx.x] = s[64] = threadIdx.x == 0;
  __syncthreads();
  s[threadIdx.x] = s[threadIdx.x + 1];
  __syncthreads();
  n[threadIdx.x] = s[threadIdx.x];
}
int main() { int* n; cudaMalloc(&n, 256); cudaMemset(n, 0, 256); KERNEL<<<GRID, 64>>>(n); return cudaDeviceSynchronize(); }'
for grid in 1 4; do
    sed "s/KERNEL/k/; s/GRID/$grid/" "$scratch/counter.cu" >"$scratch/counts.cu"
    fails "threads that count in one place: an atomic is missing ($grid blocks)" 99 'counts.cu:3: .* use an atomic, such as atomicAdd' simrun "$scratch/counts.cu"
    holds "and no barrier" bash -c '! grep -E "__sync(threads|warp)\(\) is missing" '"$scratch/.out"
done
sed 's/KERNEL/shift/; s/GRID/1/' "$scratch/counter.cu" >"$scratch/shifts.cu"
fails "one that reads its neighbour's place on the same line: a barrier" 99 'shifts.cu:8: .* a __syncthreads\(\) is missing' simrun "$scratch/shifts.cu"
program refusals '__global__ void k() {}
int main() { int h[4] = {}, *p; cudaMalloc(&p, 16); cudaMemset(p, 0, 16);
MISTAKE
cudaFree(p); return 0; }'
refusal() { # WORDS STATUS TEXT MISTAKE
    sed "s/^MISTAKE/$4/" "$scratch/refusals.cu" >"$scratch/refused.cu"
    fails "$1" "$2" "$3" simrun "$scratch/refused.cu"
}
refusal "a copy in the wrong direction, whose error nobody asks for: 99" 99 'cudaMemcpy was refused with cudaErrorInvalidValue' 'cudaMemcpy(p, h, 16, cudaMemcpyDeviceToHost);'
refusal "one that is too long" 99 'cudaMemcpy was refused with cudaErrorInvalidValue' 'cudaMemcpy(p, h, 20, cudaMemcpyHostToDevice);'
refusal "memory that is freed twice" 99 'cudaFree was refused with cudaErrorInvalidValue' 'cudaFree(p);'
refusal "a graph, which is not there" 99 'cudaGraphLaunch was refused with cudaErrorNotSupported' 'cudaGraph_t g; cudaGraphExec_t e; cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal); k<<<1, 1>>>(); cudaStreamEndCapture(0, \&g); cudaGraphInstantiate(\&e, g, nullptr, nullptr, 0); cudaGraphLaunch(e, 0); cudaDeviceSynchronize();'
for ask in 'cudaGetLastError()' 'cudaPeekAtLastError()' 'printf("%s", cudaGetErrorString(error))'; do
    sed "s/^MISTAKE/const cudaError_t error = cudaMemcpy(p, h, 20, cudaMemcpyHostToDevice); if (error) $ask;/; s/; cudaFree(p)//" "$scratch/refusals.cu" >"$scratch/asked.cu"
    says "asked for, with $ask: none" 'asked.cu: ended with status 0, no findings' simrun "$scratch/asked.cu"
done
program shadow '__device__ int table[4];
__global__ void k(int n, int* p) { p[n] += 1; }
int main(int argc, char**) { int h[4]; if (argc > 1) return cudaMemcpy(h, table, 16, cudaMemcpyDeviceToHost);
int* p; cudaGetSymbolAddress((void**)&p, table); k<<<1, 1>>>(1, p); if (cudaDeviceSynchronize()) return 2;
k<<<1, 1>>>(1, table); return cudaDeviceSynchronize() == cudaErrorIllegalAddress; }'
fails "a variable of the device as an argument: which, and what to do" 1 "argument 2 of kernel 'k[^']*' is no address of the device: in host code, 'table' is a copy" simrun "$scratch/shadow.cu"
fails "also in a copy" 1 "the source is not device memory, but the kind says so; in host code, 'table' is a copy" simrun "$scratch/shadow.cu" copy
program managed_too '__global__ void k(int* p) { *p = 7; }
int main() { int *p, *m; cudaMalloc(&p, 16); cudaMallocManaged(&m, 16); k<<<1, 1>>>(m); cudaDeviceSynchronize(); return p[1] + m[0]; }'
fails "also where managed memory is in use, once" 139 'host code follows a pointer to allocation 1\+4, which is memory of the device' simrun "$scratch/managed_too.cu"
same "and told once" 1 "$(grep -c 'host code follows' "$scratch/.out")"
program inside '__constant__ char before[3];
namespace of { struct Pair { int first; float second[4]; }; __device__ Pair pair; }
__managed__ int shared[4];
__global__ void k(float* p) { *p = 1; before[0]; }
int main(int argc, char**) { int h[4]; k<<<1, 1>>>(reinterpret_cast<float*>(shared + 2)); if (cudaDeviceSynchronize()) return 2;
if (argc == 2) return cudaMemcpy(&of::pair.second, h, 16, cudaMemcpyHostToDevice); if (argc == 3) return cudaMemset(of::pair.second + 3, 0, 4);
if (argc == 4) return cudaMemset(&of::pair + 1, 0, 4);
k<<<1, 1>>>(&of::pair.second[1]); return cudaDeviceSynchronize() == cudaErrorIllegalAddress; }'
fails "an address within one: where, and that it is a copy" 1 "argument 1 of kernel 'k[^']*' is no address of the device: the pointer is byte 8 of 'of::pair', which in host code is a copy" simrun "$scratch/inside.cu"
fails "in a copy" 1 "the destination is not device memory, .* the pointer is byte 4 of 'of::pair'.*fourth argument is the offset" simrun "$scratch/inside.cu" copy
fails "in a fill" 1 "cudaMemset returns cudaErrorInvalidValue .* the pointer is byte 16 of 'of::pair'" simrun "$scratch/inside.cu" fill it
fails "behind its end: nothing of it" 1 "cudaMemset returns cudaErrorInvalidValue" simrun "$scratch/inside.cu" fill behind it
cp "$scratch/.out" "$scratch/said"
holds "and no word of the variable" bash -c '! grep "of::pair" '"$scratch/said"
program follows '__global__ void k(int* p) { *p = 7; }
int main() { int* p; cudaMalloc(&p, 16); k<<<1, 1>>>(p); cudaDeviceSynchronize(); return ADDRESS; }'
sed 's/ADDRESS/p[2]/' "$scratch/follows.cu" >"$scratch/device_pointer.cu"
fails "host code that follows a device pointer: the allocation" 139 'host code follows a pointer to allocation 1\+8, which is memory of the device' simrun "$scratch/device_pointer.cu"
cp "$scratch/.out" "$scratch/said"
says "after the report of the kernels" '1 launch, grid' cat "$scratch/said"
sed 's/ADDRESS/*reinterpret_cast<volatile int*>(24)/' "$scratch/follows.cu" >"$scratch/no_pointer.cu"
fails "any other fault: the plain fact" 139 'ends by a fault: it touches address 0x18' simrun "$scratch/no_pointer.cu"
cp "$scratch/.out" "$scratch/said"
holds "and no word of device pointers" bash -c '! grep "memory of the device" '"$scratch/said"
program early_read '#include <cuda/barrier>
__global__ void k(const float* in, float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ alignas(128) float t[128];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&t[threadIdx.x], &in[threadIdx.x], sizeof(float), bar);
  auto token = bar.arrive();
  out[threadIdx.x] = t[127 - threadIdx.x];
  bar.wait(std::move(token));
}
int main() { float *a, *b; cudaMalloc(&a, 512); cudaMalloc(&b, 512); cudaMemset(a, 0, 512); k<<<1, 128>>>(a, b); return cudaDeviceSynchronize(); }'
fails "a copy that is read before the wait: one finding" 99 'but 1 finding' simrun "$scratch/early_read.cu"
cp "$scratch/.out" "$scratch/said"
says "which names the wait" 'early_read.cu:11: read of an asynchronous copy .* the wait\(\) of a cuda::barrier' cat "$scratch/said"
program leaders '__global__ void k(const int* x, int* out, int* n) {
  const int lane = threadIdx.x % 32;
  const bool keep = x[threadIdx.x] > 3;
  const unsigned all = __ballot_sync(0xffffffffu, keep);
  int place;
  if (lane == 0) place = atomicAdd(n, __popc(all));
  place = __shfl_sync(0xffffffffu, USED, 0);
  if (keep) out[place + __popc(all & ((1u << lane) - 1))] = x[threadIdx.x];
}
int none() { }
int main() { int *x, *o, *n; cudaMalloc(&x, 256); cudaMalloc(&o, 256); cudaMalloc(&n, 4); cudaMemset(x, 9, 256); cudaMemset(n, 0, 4);
k<<<1, 64>>>(x, o, n); return cudaDeviceSynchronize(); }'
for compiler in clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    sed 's/USED/place/' "$scratch/leaders.cu" >"$scratch/leader.cu"
    CLANG=$compiler simrun "$scratch/leader.cu" >"$scratch/said" 2>&1
    same "one lane counts for its warp: no warning ($compiler)" 0 "$(grep -c 'sometimes-uninitialized' "$scratch/said")"
    same "what both passes of clang find is told once ($compiler)" 1 "$(grep -c 'leader.cu:12:.*warning: ' "$scratch/said")"
    sed 's/USED/place + 1/; s/__shfl_sync(0xffffffffu, \(.*\), 0)/\1/' "$scratch/leaders.cu" >"$scratch/alone.cu"
    CLANG=$compiler simrun "$scratch/alone.cu" >"$scratch/said" 2>&1
    same "without the shuffle there is one ($compiler)" 1 "$(grep -c 'sometimes-uninitialized' "$scratch/said")"
done
# What looks as if it were done, and is not: the second line of an `if` without braces, and a rounded value that nobody takes.
program unguarded '#include <mma.h>
__global__ void k(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  float v = 0;
  if (i < n) BEGIN
    v = x[i];
    y[i] = v; END
  TAKEN nvcuda::wmma::__float_to_tf32(v);
  if (i < n) y[i] += v;
}
int main() { float *x, *y; cudaMalloc(&x, 256); cudaMalloc(&y, 256); cudaMemset(x, 0, 256); k<<<1, 64>>>(x, y, 64); return cudaDeviceSynchronize(); }'
for compiler in clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    sed 's/BEGIN//; s/END//; s/TAKEN//' "$scratch/unguarded.cu" >"$scratch/unguarded_now.cu"
    CLANG=$compiler simrun "$scratch/unguarded_now.cu" >"$scratch/said" 2>&1
    same "a second line without braces: a warning ($compiler)" 1 "$(grep -c 'misleading-indentation' "$scratch/said")"
    same "a rounded value that nobody takes: a warning ($compiler)" 1 "$(grep -c 'unused-result' "$scratch/said")"
    sed 's/BEGIN/{/; s/END/}/; s/TAKEN/v =/' "$scratch/unguarded.cu" >"$scratch/unguarded_now.cu"
    CLANG=$compiler simrun "$scratch/unguarded_now.cu" >"$scratch/said" 2>&1
    same "with braces, and taken: none ($compiler)" 0 "$(grep -c 'warning:' "$scratch/said")"
done
# What is not there is one sentence, whatever the toolkit on the include path has.
program absent 'WORDS
int main() {}'
absent() { # WHAT TEXT WORDS
    awk -v words="$3" '{ sub(/^WORDS$/, words); print }' "$scratch/absent.cu" >"$scratch/lacks.cu"
    for compiler in clang++-14 clang++-22; do
        command -v "$compiler" >/dev/null || continue
        fails "$1: one sentence ($compiler)" 2 "error: .*simgpu: $2" env CLANG="$compiler" common/simgpu/simrun "$scratch/lacks.cu"
        same "and one error ($compiler)" 1 "$(grep -c ': error: ' "$scratch/.out")"
    done
}
absent "functions of cuBLAS that are missing" "this function of cuBLAS is not supported, but products" '#include <cublas_v2.h>
void add(cublasHandle_t h, const float* one, const float* a, float* c) { cublasSgeam(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, one, a, 2, one, a, 2, c, 2); }'
for library in cufft cusparse cusolverDn cudnn nccl nvrtc; do
    absent "$library.h" '.* not supported: ' "#include <$library.h>"
done
absent "Thrust's allocators" "thrust's allocators are not supported" '#include <thrust/device_allocator.h>'
absent "CUB's histograms" "this device-wide function of CUB is not supported" '#include <cub/cub.cuh>
void count(void* t, size_t n, int* p) { cub::DeviceHistogram::HistogramEven(t, n, p, p, 3, 0, 2, 3); }'
absent "CUB's sort of a block" 'this class of CUB is not supported' '#include <cub/block/block_radix_sort.cuh>
using Sort = cub::BlockRadixSort<int, 128, 4>;
__global__ void k() { __shared__ typename Sort::TempStorage storage; int keys[4] = {}; Sort(storage).Sort(keys); }'
absent "a kernel that launches a kernel" 'dynamic parallelism is not supported: launch this kernel from the host' '__global__ void child() {}
__global__ void parent() { child<<<1, 1>>>(); }'
program textures 'texture<float, 1> t;
int main() {}'
fails "textures: one sentence" 2 'textures and surfaces are not supported' simrun "$scratch/textures.cu"
if [ -e /usr/local/cuda/include/cublas_v2.h ]; then
    holds "with a toolkit on the include path" common/simgpu/simcc -Wall -Wextra -Werror -I/usr/local/cuda/include -c common/simgpu/tests/programs/published_headers.cu -o "$scratch/toolkit.o"
fi
program crash 'int main() { int* p; cudaMalloc(&p, 4); std::printf("%d", *p); }'
fails "host code that follows a device pointer: 139, and why" 139 'host code follows a pointer to allocation' simrun "$scratch/crash.cu"
mkdir "$scratch/a folder"
cp "$scratch/five.cu" "$scratch/a folder/it's five.cu"
fails "paths with blanks and quotes" 7 "it's five.cu: ended with status 7" simrun "$scratch/a folder/it's five.cu" "one more" two

# ---- the same where the device is a program beside, as in a handout
if [ ! -x "$BUILD/bin/simgpu_device" ]; then bad "no $BUILD/bin/simgpu_device: make all"; fi
fails "a crash of the host, of which the device beside knows nothing" 139 'killed by SIGSEGV' env SIMGPU_SEPARATE=1 common/simgpu/simrun "$scratch/crash.cu"
for file in examples/hello.cu examples/reduction.cu "$scratch"/{race,holes,five}.cu; do
    for separate in 0 1; do
        SIMGPU_SEPARATE=$separate simrun "$file" >"$scratch/out$separate" 2>"$scratch/report$separate"
        echo "status $?" >>"$scratch/report$separate"
    done
    same "${file##*/} says the same" "$(cat "$scratch/out0" "$scratch/report0")" "$(cat "$scratch/out1" "$scratch/report1")"
done
program quits '#include <unistd.h>
int main() { int* p; cudaMalloc(&p, 4); _exit(6); }'
fails "a program that leaves by _exit leaves no device behind" 6 'quits.cu: ended with status 6' env SIMGPU_SEPARATE=1 common/simgpu/simrun "$scratch/quits.cu"
fails "a device that is not there: one line" 3 'simgpu: the device cannot be started: /no/device' env SIMGPU_SEPARATE=1 SIMGPU_DEVICE_PROGRAM=/no/device common/simgpu/simrun "$scratch/race.cu"
# In a build folder of its own: other tests may have programs running in this one.
mkdir "$scratch/build" && ln -s "$(cd "$BUILD" && pwd)"/{bin,lib} "$scratch/build/"
for file in examples/hello.cu "$scratch"/{crash,quits,typo}.cu; do BUILD=$scratch/build simrun "$file"; done >/dev/null 2>&1
BUILD=$scratch/build simrun examples/hello.cu 2>&1 | true # nobody reads what it says
same "nothing is left in the build folder" "bin lib " "$(ls "$scratch/build" | tr '\n' ' ')"
