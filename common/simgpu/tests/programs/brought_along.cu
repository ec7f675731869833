// What programs use without including it, because NVIDIA's headers bring it along (nvcc 13.0 compiles this).
#include <cooperative_groups.h>
#include <thrust/device_vector.h>

__global__ void largest(const float* x, float* out, int n) {
  assert(n < INT_MAX);
  float best = -FLT_MAX;
  for (int i = 0; i < n; ++i) best = fmaxf(best, x[i]);
  *out = best;
}

int main() {
  const auto before = std::chrono::steady_clock::now();
  const std::unique_ptr<float[]> h(new float[3]{1, 5, 2});
  thrust::device_vector<float> x(h.get(), h.get() + 3), y(1);
  largest<<<1, 1>>>(x.data().get(), y.data().get(), static_cast<int>(x.size()));
  std::optional<float> result = y[0];
  std::atomic<int> digits(isdigit('7') ? 1 : 0);
  const bool later = std::chrono::steady_clock::now() >= before;
  std::cout << *result << ' ' << strlen("four") << ' ' << digits << later << ' ' << UINT_MAX << '\n';
  return EXIT_SUCCESS;
}
