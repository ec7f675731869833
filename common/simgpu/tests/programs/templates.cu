// Template kernels and functors, explicit instantiations, host launchers behind function pointers, classes.
#include "check.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

template <typename T>
struct Plus {
  __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct Times {
  __host__ __device__ T operator()(T a, T b) const { return a * b; }
};

template <typename T, int N>
struct Vec {
  T v[N];
  __device__ T sum() const {
    T s = T(0);
#pragma unroll
    for (int i = 0; i < N; ++i) s += v[i];
    return s;
  }
};

template <typename T, typename Op, int Block>
__global__ void __launch_bounds__(Block) zip(const T* a, const T* b, T* c, int n, Op op) {
  const int i = blockIdx.x * Block + threadIdx.x;
  if (i < n) c[i] = op(a[i], b[i]);
}

template <typename T, int N>
__global__ void sums(const Vec<T, N>* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i].sum();
}

template <typename T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : n_(values.size()) {
    CHECK(cudaMalloc(&p_, n_ * sizeof(T)));
    CHECK(cudaMemcpy(p_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit Buffer(size_t n) : n_(n) { CHECK(cudaMalloc(&p_, n_ * sizeof(T))); }
  ~Buffer() { cudaFree(p_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return p_; }
  std::vector<T> host() const {
    std::vector<T> values(n_);
    CHECK(cudaMemcpy(values.data(), p_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* p_ = nullptr;
  size_t n_ = 0;
};

template <typename T, template <typename> class Op>
double launch_zip(int n) {
  std::vector<T> a, b;
  for (int i = 0; i < n; ++i) {
    a.push_back(static_cast<T>(i % 7));
    b.push_back(static_cast<T>(i % 5));
  }
  Buffer<T> da(a), db(b), dc(a.size());
  zip<T, Op<T>, 128><<<(n + 127) / 128, 128>>>(da.get(), db.get(), dc.get(), n, Op<T>());
  CHECK(cudaGetLastError());
  double total = 0;
  for (T value : dc.host()) total += static_cast<double>(value);
  return total;
}

using Launcher = double (*)(int);

int main() {
  const std::map<std::string, Launcher> launchers = {
      {"int plus", &launch_zip<int, Plus>},
      {"float times", &launch_zip<float, Times>},
      {"double plus", &launch_zip<double, Plus>},
      {"int64 times", &launch_zip<std::int64_t, Times>},
  };
  for (const auto& [name, launcher] : launchers) std::printf("%s %g\n", name.c_str(), launcher(1000));
  std::vector<Vec<float, 3>> vectors;
  for (int i = 0; i < 50; ++i) vectors.push_back({{1.0f * i, 2.0f * i, 3.0f * i}});
  Buffer<Vec<float, 3>> dv(vectors);
  Buffer<float> out(vectors.size());
  auto kernel = sums<float, 3>;
  kernel<<<2, 32>>>(dv.get(), out.get(), 50);
  CHECK(cudaDeviceSynchronize());
  std::printf("sums %g %g\n", out.host()[1], out.host()[49]);
  return 0;
}
