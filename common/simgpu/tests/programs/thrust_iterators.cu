// Thrust's iterators over others, its further algorithms, random numbers and placeholders, on the device and on the host.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/merge.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <vector>

#include "check.h"

static void yes(bool is, const char* what) { std::printf("%s: %s\n", what, is ? "right" : "WRONG"); }
template <typename V>
bool holds(const V& v, const std::vector<int>& expected) {
  return thrust::host_vector<int>(v.begin(), v.end()) == expected;
}

struct Square : thrust::unary_function<int, int> {
  __host__ __device__ int operator()(int v) { return v * v; }  // not const, as many programs have it
};
struct Odd {
  __host__ __device__ bool operator()(int v) { return v % 2 != 0; }
};
struct Axpy {
  template <typename Tuple>
  __host__ __device__ void operator()(Tuple t) const {
    thrust::get<2>(t) = 2 * thrust::get<0>(t) + thrust::get<1>(t);
  }
};
struct Dot {
  __host__ __device__ int operator()(const thrust::tuple<int, int>& t) const {
    return thrust::get<0>(t) * thrust::get<1>(t);
  }
};
struct Swap {
  __host__ __device__ thrust::tuple<int, int> operator()(const thrust::tuple<int, int>& t) const {
    return thrust::make_tuple(thrust::get<1>(t), thrust::get<0>(t));
  }
};

template <typename Vector>
void algorithms(const char* where) {
  std::printf("-- %s\n", where);
  Vector x(6), y(6), z(6);
  thrust::sequence(x.begin(), x.end(), 1);            // 1 2 3 4 5 6
  thrust::sequence(y.begin(), y.end(), 10, 10);       // 10 20 ... 60
  const auto squares = thrust::make_transform_iterator(x.begin(), Square());
  yes(thrust::reduce(squares, squares + 6) == 91, "transform_iterator");
  thrust::copy(squares, squares + 6, z.begin());
  yes(holds(z, {1, 4, 9, 16, 25, 36}), "copied");

  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
  const auto products = thrust::make_transform_iterator(pairs, Dot());
  yes(thrust::reduce(products, products + 6) == 910, "zip_iterator");
  const auto triples = thrust::make_zip_iterator(x.begin(), y.begin(), z.begin());
  thrust::for_each(triples, triples + 6, Axpy());
  yes(holds(z, {12, 24, 36, 48, 60, 72}), "tuples of references");
  thrust::transform(pairs, pairs + 6, pairs, Swap());
  yes(holds(x, {10, 20, 30, 40, 50, 60}) && holds(y, {1, 2, 3, 4, 5, 6}), "tuples written");

  const std::vector<int> order{5, 0, 3};
  const Vector map(order.begin(), order.end());
  const auto some = thrust::make_permutation_iterator(x.begin(), map.begin());
  yes(thrust::reduce(some, some + 3) == 110, "permutation_iterator");
  Vector part(3);
  thrust::gather(map.begin(), map.end(), x.begin(), part.begin());
  yes(holds(part, {60, 10, 40}), "gather");
  thrust::scatter(part.begin(), part.end(), map.begin(), y.begin());
  yes(holds(y, {10, 2, 3, 40, 5, 60}), "scatter");
  const auto backwards = thrust::make_reverse_iterator(x.begin() + 6);
  thrust::copy(backwards, backwards + 3, part.begin());
  yes(holds(part, {60, 50, 40}), "reverse_iterator");
  thrust::reverse(part.begin(), part.end());
  yes(holds(part, {40, 50, 60}), "reverse");

  const std::vector<int> runs{3, 3, 1, 7, 7, 7};
  Vector keys(runs.begin(), runs.end()), keys_out(6), sums(6);
  const auto end = thrust::reduce_by_key(keys.begin(), keys.end(), thrust::constant_iterator<int>(1),
                                         keys_out.begin(), sums.begin());
  keys_out.resize(static_cast<std::size_t>(end.first - keys_out.begin()));
  sums.resize(keys_out.size());
  yes(holds(keys_out, {3, 1, 7}) && holds(sums, {2, 1, 3}), "reduce_by_key");
  thrust::inclusive_scan_by_key(keys.begin(), keys.end(), x.begin(), z.begin());
  yes(holds(z, {10, 30, 30, 40, 90, 150}), "inclusive_scan_by_key");
  thrust::exclusive_scan_by_key(keys.begin(), keys.end(), x.begin(), z.begin());
  yes(holds(z, {0, 10, 0, 0, 40, 90}), "exclusive_scan_by_key");
  keys.resize(static_cast<std::size_t>(thrust::unique(keys.begin(), keys.end()) - keys.begin()));
  yes(holds(keys, {3, 1, 7}), "unique");
  Vector kept(6);
  kept.resize(static_cast<std::size_t>(
      thrust::copy_if(thrust::make_counting_iterator(0), thrust::make_counting_iterator(6), y.begin(),
                      kept.begin(), Odd()) - kept.begin()));
  yes(holds(kept, {2, 4}), "copy_if with a stencil");
  y.resize(static_cast<std::size_t>(thrust::remove_if(y.begin(), y.end(), Odd()) - y.begin()));
  yes(holds(y, {10, 2, 40, 60}), "remove_if");

  yes(thrust::count_if(x.begin(), x.end(), Odd()) == 0, "count_if");
  thrust::sort(y.begin(), y.end());
  yes(thrust::is_sorted(y.begin(), y.end()) && !thrust::is_sorted(keys.begin(), keys.end()), "is_sorted");
  yes(thrust::lower_bound(y.begin(), y.end(), 40) - y.begin() == 2 &&
          thrust::upper_bound(y.begin(), y.end(), 40) - y.begin() == 3 &&
          thrust::binary_search(y.begin(), y.end(), 60) && !thrust::binary_search(y.begin(), y.end(), 11),
      "bounds");
  Vector places(3);
  thrust::lower_bound(y.begin(), y.end(), part.begin(), part.end(), places.begin());
  yes(holds(places, {2, 3, 3}), "bounds of many");
  Vector merged(7);
  thrust::merge(y.begin(), y.end(), part.begin(), part.end(), merged.begin());
  yes(holds(merged, {2, 10, 40, 40, 50, 60, 60}), "merge");
  thrust::adjacent_difference(x.begin(), x.end(), z.begin());
  yes(holds(z, {10, 10, 10, 10, 10, 10}), "adjacent_difference");
  yes(thrust::all_of(y.begin(), y.end(), thrust::placeholders::_1 % 2 == 0) &&
          !thrust::any_of(y.begin(), y.end(), Odd()),
      "all_of, any_of");
  using namespace thrust::placeholders;
  thrust::transform(x.begin(), x.end(), z.begin(), z.begin(), 3 * _1 - _2 + 1);
  yes(holds(z, {21, 51, 81, 111, 141, 171}), "placeholders");
}

struct Draw {
  __host__ __device__ float operator()(int i) const {
    thrust::default_random_engine engine;
    engine.discard(static_cast<unsigned long long>(i));
    return thrust::uniform_real_distribution<float>(0.0f, 1.0f)(engine);
  }
};

int main() {
  thrust::device_vector<int> shorter(5, 3);
  thrust::sequence(shorter.begin(), shorter.end());
  shorter.erase(shorter.begin() + 1, shorter.begin() + 3);
  yes(holds(shorter, {0, 3, 4}), "erase");
  algorithms<thrust::device_vector<int>>("device");
  algorithms<thrust::host_vector<int>>("host");

  std::printf("-- lambdas, which cannot be assigned\n");
  const auto squares = thrust::make_transform_iterator(thrust::make_counting_iterator(1),
                                                       [] __host__ __device__(int i) { return i * i; });
  auto second = squares;
  second = squares + 1;
  yes(*second == 4 && thrust::reduce(squares, squares + 10) == 385, "on the host");
  thrust::device_vector<int> places(4);
  thrust::copy(squares, squares + 4, places.begin());
  yes(holds(places, {1, 4, 9, 16}), "on the device");

  std::printf("-- random numbers\n");
  thrust::minstd_rand engine;
  unsigned int last = 0;
  for (int i = 0; i < 10000; ++i) last = engine();
  yes(last == 399268537u, "minstd_rand's ten thousandth, as the C++ standard has it");
  thrust::minstd_rand jumped;
  jumped.discard(9999);
  yes(jumped() == last, "discard");
  thrust::device_vector<float> u(1000);
  thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(1000), u.begin(), Draw());
  const float mean = thrust::reduce(u.begin(), u.end()) / 1000;
  yes(mean > 0.45f && mean < 0.55f, "uniform");
  thrust::default_random_engine dice;
  thrust::uniform_int_distribution<int> die(-2, 3);
  int seen = 0;
  for (int i = 0; i < 1000; ++i) seen |= 1 << (die(dice) + 2);
  yes(seen == 63, "both ends are drawn");
  return 0;
}
