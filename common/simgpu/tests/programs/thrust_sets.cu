// Thrust's sorts of every kind of key, tuples that kernels assign, sorted sets, partitions, elements seen through a function,
// and pointers of the device that a kernel follows.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_input_output_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/tuple.h>

#include <algorithm>
#include <vector>

#include "check.h"

typedef thrust::device_vector<int> Ints;

static int wrong = 0;
static void yes(bool is, const char* what) {
  if (!is) std::printf("%s: WRONG\n", what), ++wrong;
}
static bool same(const Ints& d, std::vector<int> h) {
  return thrust::host_vector<int>(d) == h;
}

struct ByTens {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 < b / 10; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return (x & 1) != 0; }
};
struct Tenfold {
  __host__ __device__ int operator()(int x) const { return 10 * x; }
};
struct Tenth {
  __host__ __device__ float operator()(int x) const { return static_cast<float>(x) / 10.0f; }
};
struct Larger {
  typedef thrust::tuple<bool, float, int> Best;
  __host__ __device__ Best operator()(const Best& a, const Best& b) const {
    Best result = a;
    if (thrust::get<1>(a) < thrust::get<1>(b)) result = b;
    thrust::get<0>(result) = true;
    return result;
  }
};
__global__ void through_pointers(thrust::device_ptr<int> p, thrust::device_vector<int>::iterator q,
                                 int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) p[i] = q[i] + *(p + i), p[i] += 1;
}

/// Against the host's stable sort; n on both sides of where the device changes its way.
template <class T, class Before>
void sorts(const char* what, Before before) {
  for (const std::size_t n : {0, 1, 2, 15, 16, 17, 33, 1000, 2048, 2049, 5003}) {
    std::vector<T> keys(n), expected(n);
    std::vector<int> places(n);
    unsigned int state = 12345;
    for (std::size_t i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      keys[i] = static_cast<T>(static_cast<int>(state >> 8) % 3001 - 1500) / static_cast<T>(3);
      if (i % 7 == 0) keys[i] = static_cast<T>(-0.0);
      places[i] = static_cast<int>(i);
    }
    thrust::device_vector<T> alone = keys, d = keys;
    Ints values = places;
    thrust::sort(alone.begin(), alone.end(), before);
    thrust::stable_sort_by_key(d.begin(), d.end(), values.begin(), before);
    std::stable_sort(places.begin(), places.end(), [&](int a, int b) {
      return before(keys[static_cast<std::size_t>(a)], keys[static_cast<std::size_t>(b)]);
    });
    for (std::size_t i = 0; i < n; ++i) expected[i] = keys[static_cast<std::size_t>(places[i])];
    yes(thrust::host_vector<T>(alone) == expected && thrust::host_vector<T>(d) == expected &&
            same(values, places),
        what);
  }
}

static void tuples() {
  std::vector<thrust::tuple<int, float>> h = {{3, 1.0f}, {1, 2.0f}, {3, 0.5f}, {1, 1.0f}};
  thrust::device_vector<thrust::tuple<int, float>> d = h;
  thrust::sort(d.begin(), d.end());
  thrust::tuple<int, float> first = d[0], last = d[3];
  yes(first == thrust::make_tuple(1, 1.0f) && last == thrust::make_tuple(3, 1.0f),
      "tuples are sorted");
  Ints a = std::vector<int>{3, 1, 2}, b = std::vector<int>{10, 20, 30};
  thrust::device_vector<float> c = std::vector<float>{0.5f, 0.25f, 0.75f};
  thrust::sort_by_key(a.begin(), a.end(),
                      thrust::make_zip_iterator(thrust::make_tuple(b.begin(), c.begin())));
  yes(same(a, {1, 2, 3}) && same(b, {20, 30, 10}) && c[2] == 0.5f, "values are tuples");
  const auto zip = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin()));
  thrust::sort(zip, zip + 3, thrust::greater<thrust::tuple<int, int>>());
  yes(same(a, {3, 2, 1}) && same(b, {10, 30, 20}), "a zipped range");
  std::vector<Larger::Best> rows = {{false, 1.0f, 1}, {false, 7.0f, 2}, {false, 3.0f, 3}};
  thrust::device_vector<Larger::Best> best = rows;
  const Larger::Best found =
      thrust::reduce(best.begin(), best.end(), Larger::Best(false, 0.0f, 0), Larger());
  int where = 0;
  float what = 0;
  thrust::tie(where, what) = thrust::make_tuple(thrust::get<2>(found), thrust::get<1>(found));
  yes(where == 2 && what == 7.0f && thrust::tuple_size<Larger::Best>::value == 3,
      "tuples are reduced");
}

static void sets() {
  const Ints a = std::vector<int>{1, 2, 2, 4, 6, 9}, b = std::vector<int>{2, 3, 4, 4, 9};
  Ints out(11);
  const auto cut = [&](Ints::iterator end) { return Ints(out.begin(), end); };
  yes(same(cut(thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin())),
           {1, 2, 2, 3, 4, 4, 6, 9}),
      "union");
  yes(same(cut(thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), out.begin())),
           {2, 4, 9}),
      "intersection");
  yes(same(cut(thrust::set_difference(a.begin(), a.end(), b.begin(), b.end(), out.begin())),
           {1, 2, 6}),
      "difference");
  yes(same(cut(thrust::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                                out.begin())),
           {1, 2, 3, 4, 6}),
      "symmetric difference");
  const thrust::discard_iterator<> nowhere,
      end = thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), nowhere);
  yes(end - nowhere == 3, "how many both have");
  const Ints x = std::vector<int>{10, 20, 21, 40, 60, 90}, y = std::vector<int>{-2, -3, -4, -5, -9};
  Ints keys(11), values(11);
  thrust::merge_by_key(a.begin(), a.end(), b.begin(), b.end(), x.begin(), y.begin(), keys.begin(),
                       values.begin());
  yes(same(keys, {1, 2, 2, 2, 3, 4, 4, 4, 6, 9, 9}) &&
          same(values, {10, 20, 21, -2, -3, 40, -4, -5, 60, 90, -9}),
      "merged by key");
  Ints p = std::vector<int>{1, 2, 3, 4, 5, 6, 7};
  const auto middle = thrust::stable_partition(p.begin(), p.end(), IsOdd());
  yes(same(p, {1, 3, 5, 7, 2, 4, 6}) && middle - p.begin() == 4 &&
          thrust::is_partitioned(p.begin(), p.end(), IsOdd()),
      "partition");
  Ints odd(7), even(7);
  const auto ends = thrust::partition_copy(p.begin(), p.end(), odd.begin(), even.begin(), IsOdd());
  yes(ends.first - odd.begin() == 4 && ends.second - even.begin() == 3 && even[2] == 6,
      "two copies");
  std::vector<int> h = {1, 2, 3, 4};
  yes(thrust::partition(h.begin(), h.end(), IsOdd()) - h.begin() == 2 && h[2] == 2, "on the host");
}

int main() {
  sorts<int>("int", thrust::less<int>());
  sorts<int>("by tens", ByTens());
  sorts<short>("short", thrust::greater<short>());
  sorts<unsigned char>("bytes", thrust::less<>());
  sorts<long long>("long long", thrust::greater<>());
  sorts<float>("float", thrust::less<float>());
  sorts<double>("double", thrust::greater<double>());
  tuples();
  sets();
  Ints d = std::vector<int>{1, 2, 3}, e(3);
  thrust::copy(d.begin(), d.end(), thrust::make_transform_output_iterator(e.begin(), Tenfold()));
  yes(same(e, {10, 20, 30}), "written through a function");
  const auto both = thrust::make_transform_input_output_iterator(e.begin(), Tenth(), Tenfold());
  thrust::transform(both, both + 3, both, thrust::negate<float>());
  yes(same(e, {-10, -20, -30}), "read and written through functions");
  through_pointers<<<1, 32>>>(e.data(), d.begin(), 3);
  yes(same(e, {-8, -17, -26}), "pointers of the device in a kernel");
  const int numbers[3] = {1, 2, 4};
  yes(thrust::reduce(numbers, numbers + 3) == 7, "an array");
  yes(thrust::inner_product(numbers, numbers + 2, numbers + 1, 0.0f, thrust::plus<float>(),
                            thrust::divides<float>()) == 1.0f,
      "operators of a type that is named");
  std::printf("%d wrong\n", wrong);
  return 0;
}
