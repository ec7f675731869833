// CUB's reductions, scans, loads and stores: of whole and ragged blocks, of values with constructors, of parts of a block.
#include <cub/cub.cuh>

#include <algorithm>
#include <vector>

#include "check.h"

template <int Threads>
__global__ void reduce(const float* x, float* out, int valid) {
  typedef cub::BlockReduce<float, Threads> Reduce;
  __shared__ typename Reduce::TempStorage temp;
  const float v = x[threadIdx.x];
  const float sum = Reduce(temp).Sum(v);
  __syncthreads();
  const float most = Reduce(temp).Reduce(v, cub::Max());
  __syncthreads();
  const float part = Reduce(temp).Sum(v, valid);
  __syncthreads();
  float two[2] = {v, 1.0f};
  const float both = Reduce(temp).Sum(two);
  if (threadIdx.x == 0) out[0] = sum, out[1] = most, out[2] = part, out[3] = both;
}
__global__ void argmax(const float* x, int n, int* best) {
  using Pair = cub::KeyValuePair<int, float>;
  using Reduce = cub::BlockReduce<Pair, 16, cub::BLOCK_REDUCE_RAKING, 8>;
  __shared__ Reduce::TempStorage temp;
  Pair mine(-1, -1e30f);
  for (int i = static_cast<int>(threadIdx.y * 16 + threadIdx.x); i < n; i += 128) mine = cub::ArgMax()(mine, Pair(i, x[i]));
  const Pair r = Reduce(temp).Reduce(mine, cub::ArgMax());
  if (threadIdx.x == 0 && threadIdx.y == 0) *best = r.key;
}
/// Sums of tiles go on from one to the next.
struct Running {
  int total;
  __device__ int operator()(int sum) {
    const int before = total;
    total += sum;
    return before;
  }
};
template <int Threads, int Items, cub::BlockLoadAlgorithm In, cub::BlockStoreAlgorithm Out>
__global__ void scan(const int* in, int* out, int n) {
  typedef cub::BlockLoad<int, Threads, Items, In> Load;
  typedef cub::BlockStore<int, Threads, Items, Out> Store;
  typedef cub::BlockScan<int, Threads> Scan;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } temp;
  Running running{0};
  for (int at = 0; at < n; at += Threads * Items) {
    int data[Items];
    Load(temp.load).Load(in + at, data, n - at, 0);
    __syncthreads();
    Scan(temp.scan).ExclusiveSum(data, data, running);
    __syncthreads();
    Store(temp.store).Store(out + at, data, n - at);
    __syncthreads();
  }
}
template <int Threads>
__global__ void scan_one(const int* in, int* out) {
  typedef cub::BlockScan<int, Threads, cub::BLOCK_SCAN_WARP_SCANS> Scan;
  __shared__ typename Scan::TempStorage temp;
  int sum, total, most;
  Scan(temp).InclusiveSum(in[threadIdx.x], sum, total);
  __syncthreads();
  Scan(temp).ExclusiveScan(in[threadIdx.x], most, -1, cub::Max());
  out[3 * threadIdx.x] = sum, out[3 * threadIdx.x + 1] = total, out[3 * threadIdx.x + 2] = most;
}
__global__ void warps(const int* x, int* out) {
  typedef cub::WarpReduce<int> Reduce;
  typedef cub::WarpReduce<int, 8> Eighth;
  typedef cub::WarpScan<double> Scan;
  __shared__ Reduce::TempStorage temp[2];
  __shared__ Eighth::TempStorage eighths[8];
  __shared__ Scan::TempStorage scans[2];
  const int w = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32, v = x[threadIdx.x];
  const int sum = Reduce(temp[w]).Sum(v), part = Reduce(temp[w]).Sum(v, 10);
  const int eighth = Eighth(eighths[threadIdx.x / 8]).Reduce(v, cub::Min());
  const int segment = Reduce(temp[w]).HeadSegmentedSum(v, lane % 5 == 0);
  double before;
  Scan(scans[w]).ExclusiveSum(static_cast<double>(v), before);
  const int turned = cub::ShuffleIndex<32>(v, 31 - lane, ~0u);
  int* const o = out + 6 * threadIdx.x;
  o[0] = lane == 0 ? sum : 0, o[1] = lane == 0 ? part : 0, o[2] = lane % 8 == 0 ? eighth : 0;
  o[3] = lane % 5 == 0 ? segment : 0, o[4] = static_cast<int>(before), o[5] = turned;
}

template <class T>
static T* upload(const std::vector<T>& v) {
  T* p = nullptr;
  CHECK(cudaMalloc(&p, v.size() * sizeof(T)));
  CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <class T>
static std::vector<T> download(const T* p, std::size_t n) {
  std::vector<T> v(n);
  CHECK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}
static void yes(bool is, const char* what) { std::printf("%s: %s\n", what, is ? "right" : "WRONG"); }

template <int Threads>
static void try_reduce(const char* what) {
  std::vector<float> x(Threads);
  for (int i = 0; i < Threads; ++i) x[i] = static_cast<float>(i * 37 % 101);
  float* const out = upload(std::vector<float>(4));
  const int valid = Threads / 2 + 1;
  reduce<Threads><<<1, Threads>>>(upload(x), out, valid);
  float sum = 0, most = 0, part = 0;
  for (int i = 0; i < Threads; ++i) sum += x[i], most = std::max(most, x[i]), part += i < valid ? x[i] : 0;
  yes(download(out, 4) == std::vector<float>{sum, most, part, sum + Threads}, what);
}
template <int Items, cub::BlockLoadAlgorithm In, cub::BlockStoreAlgorithm Out>
static void try_scan(const char* what) {
  const int n = 1003;
  std::vector<int> in(n), want(n);
  for (int i = 0, sum = 0; i < n; ++i) in[i] = i * 7 % 11, want[i] = sum, sum += in[i];
  int* const out = upload(std::vector<int>(n));
  scan<96, Items, In, Out><<<1, 96>>>(upload(in), out, n);
  yes(download(out, n) == want, what);
}
template <int Threads>
static void try_scan_one(const char* what) {
  std::vector<int> in(Threads), want;
  int total = 0, sum = 0, most = -1;
  for (int i = 0; i < Threads; ++i) total += in[i] = i * 7 % 11;
  for (int v : in) sum += v, want.insert(want.end(), {sum, total, most}), most = std::max(most, v);
  int* const out = upload(std::vector<int>(3 * Threads));
  scan_one<Threads><<<1, Threads>>>(upload(in), out);
  yes(download(out, 3 * Threads) == want, what);
}

int main() {
  try_reduce<256>("reductions of 256 threads");
  try_reduce<48>("of 48");
  try_reduce<7>("of 7");
  std::vector<float> x(1000);
  for (int i = 0; i < 1000; ++i) x[i] = static_cast<float>(i * 37 % 101);
  int* const best = upload(std::vector<int>(1));
  argmax<<<1, dim3(16, 8)>>>(upload(x), 1000, best);
  yes(download(best, 1)[0] == std::max_element(x.begin(), x.end()) - x.begin(), "the first greatest of 16 x 8");
  try_scan<4, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>("a scan of tiles, transposed");
  try_scan<3, cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>("direct");
  try_scan_one<128>("a scan of 128 threads");
  try_scan_one<50>("of 50");
  std::vector<int> v(64), want;
  for (int i = 0; i < 64; ++i) v[i] = (i * 29 + 3) % 17;
  for (int i = 0; i < 64; ++i) {
    const int *w = &v[i / 32 * 32], lane = i % 32;
    int sum = 0, part = 0, eighth = 99, segment = 0, before = 0;
    for (int k = 0; k < 32; ++k) sum += w[k], part += k < 10 ? w[k] : 0, before += k < lane ? w[k] : 0;
    for (int k = lane; k < 32 && k < lane + 5; ++k) segment += w[k];
    for (int k = lane; k < 32 && k < lane + 8; ++k) eighth = std::min(eighth, w[k]);
    want.insert(want.end(), {lane == 0 ? sum : 0, lane == 0 ? part : 0, lane % 8 == 0 ? eighth : 0, lane % 5 == 0 ? segment : 0, before, w[31 - lane]});
  }
  int* const out = upload(std::vector<int>(64 * 6));
  warps<<<1, 64>>>(upload(v), out);
  yes(download(out, 64 * 6) == want, "warps, parts of them, segments");
  return 0;
}
