#!/bin/bash
# The programs of examples/ on the simulated GPU: the right result, no findings, and the count that each is there to show.
# Then make sim and simrun by themselves: one clear message for whatever is wrong, and the exit status that says which.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/../../../grader/tests/shell.bash"
export BUILD=${BUILD:-build}
simrun() { common/simgpu/simrun "$@"; }

# count KERNEL WORDS UNIT: the number before UNIT in the line that begins with WORDS, of the kernel that $scratch/report has.
count() {
    awk -v kernel="$1" -v words="$2" -v unit="$3" '
        /^[a-z]/ { here = index($0, kernel "(") == 1 }
        here && index($0, "  " words) == 1 && match($0, "([0-9]+ )+" unit) {
            text = substr($0, RSTART, RLENGTH - length(unit)); gsub(/ /, "", text); print text; exit
        }' "$scratch/report"
}
ideal() { # KERNEL WORDS
    awk -v kernel="$1" -v words="$2" '
        /^[a-z]/ { here = index($0, kernel "(") == 1 }
        here && index($0, "  " words) == 1 && match($0, /\(ideal [0-9 ]+\)/) {
            text = substr($0, RSTART + 7, RLENGTH - 8); gsub(/ /, "", text); print text; exit
        }' "$scratch/report"
}
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
program() { printf '#include <cuda_runtime.h>\n#include <cstdio>\n%s\n' "$2" >"$scratch/$1.cu"; }
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
program follows '__global__ void k(int* p) { *p = 7; }
int main() { int* p; cudaMalloc(&p, 16); k<<<1, 1>>>(p); cudaDeviceSynchronize(); return ADDRESS; }'
sed 's/ADDRESS/p[2]/' "$scratch/follows.cu" >"$scratch/device_pointer.cu"
fails "host code that follows a device pointer: the allocation" 139 'host code follows a pointer to allocation 1\+8, which is memory of the device' simrun "$scratch/device_pointer.cu"
cp "$scratch/.out" "$scratch/said"
says "after the report of the kernels" '1 launch, grid' cat "$scratch/said"
sed 's/ADDRESS/*reinterpret_cast<volatile int*>(24)/' "$scratch/follows.cu" >"$scratch/no_pointer.cu"
fails "any other fault: the plain fact" 139 'ends by a fault: it touches address 0x18' simrun "$scratch/no_pointer.cu"
holds "and no word of device pointers" bash -c '! grep "memory of the device" '"$scratch/.out"
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
absent "cublasLt's products" "cublasLt's products are not supported: call cublasGemmEx" '#include <cublasLt.h>
void create(cublasLtMatmulDesc_t* d) { cublasLtMatmulDescCreate(d, CUBLAS_COMPUTE_32F, CUDA_R_32F); }'
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
# A loop whose lanes take three or four turns: nvcc takes three of them beforehand, then four at once.
program turns '__global__ void k(const float* a, float* c, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += expf(a[i]);
  c[threadIdx.x] = sum;
}
int main() { float *a, *c; cudaMalloc(&a, 400); cudaMalloc(&c, 128); cudaMemset(a, 0, 400); k<<<1, 32>>>(a, c, 100); return cudaDeviceSynchronize(); }'
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
for compiler in clang++ clang++-14 clang++-22; do
    command -v "$compiler" >/dev/null || continue
    CLANG=$compiler simrun "$scratch/halves.cu" >/dev/null 2>"$scratch/report"
    same "ten turns of two loads, although some lanes take nine ($compiler)" 20 "$(count dot 'global load' requests)"
    same "a word of a tile of halves, and four bytes of a packed struct ($compiler)" 5 "$(count words 'shared load' requests)"
    CLANG=$compiler common/simgpu/simcc --ptx "$scratch/attention.cu" >"$scratch/attention.ptx" 2>/dev/null
    same "an array for 1024 multiply-adds is in local memory ($compiler)" 1 "$(grep -c '\.local.*depot' "$scratch/attention.ptx")"
    CLANG=$compiler simrun "$scratch/turns.cu" >/dev/null 2>"$scratch/report"
    same "lanes with four turns, apart from those with three ($compiler)" 7 "$(count k 'global load' requests)"
    CLANG=$compiler simrun "$scratch/rolled.cu" >/dev/null 2>"$scratch/report"
    same "eight loads a step of one operand, two of the other, in 8 steps of 2 warps ($compiler)" 160 "$(count k 'shared load' requests)"
    CLANG=$compiler common/simgpu/simcc --ptx "$scratch/array.cu" >"$scratch/array.ptx" 2>/dev/null
    same "an array of 256 sums is in registers ($compiler)" 0 "$(grep -c '\.local' "$scratch/array.ptx")"
done
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
simrun examples/hello.cu 2>&1 | true # nobody reads what it says
holds "nothing is left in the build folder" bash -c '! ls -d "$BUILD"/sim.* 2>/dev/null'
