// Thrust's vectors and algorithms, on the device and on the host, with functors that only one of both can call.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/replace.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include <algorithm>
#include <cstdlib>

#include "check.h"

struct Saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct Modulo {
  int n;
  __device__ bool operator()(int v) const { return v % n == static_cast<int>(threadIdx.x & 0u); }
};
struct ByTens {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 < b / 10; }
};
__global__ void twice(int* p, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) p[i] *= 2;
}
static void yes(bool is, const char* what) { std::printf("%s: %s\n", what, is ? "right" : "WRONG"); }

int main() {
  thrust::host_vector<int> h(4);
  thrust::sequence(h.begin(), h.end(), 14, 6);
  thrust::device_vector<int> d = h;
  d[0] = 99;
  d[1] += 1;
  d.push_back(d[0]);
  d.resize(7, -1);
  const thrust::device_vector<int> same = d;
  thrust::host_vector<int> back = same;
  yes(back == std::vector<int>({99, 21, 26, 32, 99, -1, -1}) && d.size() == 7 && d.back() == -1, "vectors");

  const int n = 1000;
  thrust::device_vector<int> x(n), y(n, 1);
  yes(thrust::count(x.begin(), x.end(), 0) == n, "elements begin as zeros");
  thrust::sequence(x.begin(), x.end());
  twice<<<4, 256>>>(thrust::raw_pointer_cast(x.data()), n);
  twice<<<4, 256>>>(thrust::raw_pointer_cast(&x[0]), 1);
  yes(x[n - 1] == 2 * (n - 1) && thrust::reduce(x.begin(), x.end()) == n * (n - 1), "kernels on a vector");

  const int offset = 3;
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), thrust::plus<int>());
  thrust::transform(y.begin(), y.end(), y.begin(), [=] __device__(int v) { return v + offset; });
  yes(y[0] == 4 && y[7] == 18 && thrust::count_if(x.begin(), x.end(), Modulo{5}) == n / 5, "functors of the device");
  thrust::device_vector<float> fx(100, 2.0f), fy(100, 1.0f);
  thrust::transform(fx.begin(), fx.end(), fy.begin(), fy.begin(), Saxpy{3.0f});
  yes(fy[50] == 7.0f && thrust::inner_product(fx.begin(), fx.end(), fy.begin(), 0.0f) == 1400.0f, "saxpy and a dot product");
  yes(thrust::transform_reduce(x.begin(), x.end(), thrust::square<int>(), 0LL, thrust::plus<long long>()) == 4LL * 332833500 &&
          thrust::reduce(x.begin(), x.end(), -1, thrust::maximum<int>()) == 1998,
      "reductions");

  thrust::device_vector<int> s(n);
  thrust::inclusive_scan(x.begin(), x.end(), s.begin());
  bool right = s[n - 1] == n * (n - 1) && s[1] == 2;
  thrust::exclusive_scan(x.begin(), x.end(), x.begin(), 5);
  thrust::host_vector<int> hx = x, hs = s;
  for (int i = 1; i < n; ++i) right = right && hx[i] == hs[i - 1] + 5;
  yes(right && hx[0] == 5, "scans, one in place");

  thrust::host_vector<int> random(777);
  thrust::generate(random.begin(), random.end(), std::rand);
  for (int& v : random) v %= 500;
  thrust::device_vector<int> keys = random, order(777);
  thrust::sequence(order.begin(), order.end());
  thrust::sort_by_key(keys.begin(), keys.end(), order.begin(), ByTens());
  thrust::host_vector<int> hk = keys, ho = order;
  right = true;
  for (int i = 0; i < 777; ++i) {
    right = right && hk[i] == random[ho[i]];
    if (i > 0) right = right && (hk[i - 1] / 10 < hk[i] / 10 || (hk[i - 1] / 10 == hk[i] / 10 && ho[i - 1] < ho[i]));
  }
  yes(right, "a stable sort by key");
  thrust::sort(thrust::device, keys.begin(), keys.end(), thrust::greater<int>());
  thrust::sort(random.begin(), random.end());
  hk = keys;
  std::reverse(hk.begin(), hk.end());
  yes(hk == random, "sorts");

  int* raw = nullptr;
  CHECK(cudaMalloc(&raw, 50 * sizeof(int)));
  thrust::device_ptr<int> p(raw);
  thrust::fill(p, p + 50, 4);
  thrust::sequence(thrust::device, raw, raw + 10);
  thrust::replace(p, p + 50, 4, 40);
  thrust::for_each(p, p + 10, [] __device__(int& v) { v = -v; });
  const auto least = thrust::min_element(p, p + 50), most = thrust::max_element(p, p + 50);
  yes(least - p == 4 && *least == -40 && most - p == 10 && *most == 40, "raw memory, extremes");
  thrust::device_vector<int> kept(50);
  const auto end = thrust::copy_if(p, p + 50, kept.begin(), Modulo{4});
  int host[2];
  thrust::copy(kept.begin() + 1, kept.begin() + 3, host);
  yes(end - kept.begin() == 43 && host[0] == -40 && host[1] == -8, "elements that are kept");
  yes(thrust::reduce(thrust::make_counting_iterator(1), thrust::make_counting_iterator(11)) == 55, "numbers without memory");
  CHECK(cudaFree(raw));
  return 0;
}
