// wmma on 4-bit integers and on single bits, from global and from shared memory, by rows that are longer than a tile's.
#include <mma.h>

#include <vector>

#include "check.h"

using namespace nvcuda;
using namespace nvcuda::wmma::experimental;

constexpr int kPitch = 64;        // 4-bit elements from row to row
constexpr int kBitPitch = 256;    // bits

template <class T>
__global__ void four_bits(const unsigned* a, const unsigned* b, int* c, bool finite) {
  __shared__ __align__(16) unsigned tile[8 * kPitch / 8];
  for (int i = threadIdx.x; i < 8 * kPitch / 8; i += 32) tile[i] = b[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 8, 8, 32, T, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, T, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
  wmma::load_matrix_sync(sum, c, 8, wmma::mem_row_major);
  for (int k = 0; k < kPitch; k += 32) {
    wmma::load_matrix_sync(x, a + k / 8, kPitch);
    wmma::load_matrix_sync(y, tile + k / 8, kPitch);
    wmma::mma_sync(sum, x, y, sum, finite);
  }
  wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}

__global__ void bits(const unsigned* a, const unsigned* b, int* by_xor, int* by_and) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> differ, both;
  wmma::fill_fragment(differ, 0);
  wmma::fill_fragment(both, 0);
  for (int k = 0; k < kBitPitch; k += 128) {
    wmma::load_matrix_sync(x, a + k / 32, kBitPitch);
    wmma::load_matrix_sync(y, b + k / 32, kBitPitch);
    wmma::bmma_sync(differ, x, y, differ);
    wmma::bmma_sync(both, x, y, both, bmmaBitOpAND);
  }
  wmma::store_matrix_sync(by_xor, differ, 8, wmma::mem_col_major);
  wmma::store_matrix_sync(by_and, both, 8, wmma::mem_row_major);
}

__global__ void filled(int* c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
  wmma::fill_fragment(x, -3);
  wmma::fill_fragment(y, 2);
  wmma::fill_fragment(sum, 1);
  wmma::mma_sync(sum, x, y, sum);
  wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}

unsigned random_word() {
  static unsigned state = 12345;
  state = state * 1664525u + 1013904223u;
  return state ^ (state >> 15);
}
int element(const std::vector<unsigned>& v, int line, int k, bool is_signed) {
  const unsigned e = v[line * kPitch / 8 + k / 8] >> (4 * (k % 8)) & 15u;
  return is_signed && e > 7 ? static_cast<int>(e) - 16 : static_cast<int>(e);
}

int* device_copy(const void* from, size_t bytes) {
  int* p;
  CHECK(cudaMalloc(&p, bytes));
  CHECK(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
  return p;
}

template <class T>
int wrong_of_four_bits(bool is_signed, bool finite) {
  std::vector<unsigned> a(8 * kPitch / 8), b(a.size());
  for (unsigned& v : a) v = random_word();
  for (unsigned& v : b) v = random_word();
  std::vector<int> c(64);
  for (int i = 0; i < 64; ++i) c[i] = i % 2 ? 2147483600 : i;
  const std::vector<int> before = c;
  int* da = device_copy(a.data(), a.size() * 4);
  int* db = device_copy(b.data(), b.size() * 4);
  int* dc = device_copy(c.data(), 256);
  four_bits<T><<<1, 32>>>(reinterpret_cast<unsigned*>(da), reinterpret_cast<unsigned*>(db), dc, finite);
  CHECK(cudaMemcpy(c.data(), dc, 256, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      long long sum = before[i * 8 + j];
      for (int k = 0; k < kPitch; k += 32) {
        for (int q = k; q < k + 32; ++q) sum += element(a, i, q, is_signed) * element(b, j, q, is_signed);
        if (finite && sum > 2147483647) sum = 2147483647;
      }
      wrong += c[i * 8 + j] != static_cast<int>(static_cast<unsigned>(sum));
    }
  return wrong;
}

int main() {
  std::printf("%d %d %d %d\n", wrong_of_four_bits<precision::s4>(true, false),
              wrong_of_four_bits<precision::u4>(false, false), wrong_of_four_bits<precision::s4>(true, true),
              wrong_of_four_bits<precision::u4>(false, true));

  constexpr int kWords = 8 * kBitPitch / 32;
  std::vector<unsigned> a(kWords), b(kWords);
  for (unsigned& v : a) v = random_word();
  for (unsigned& v : b) v = random_word();
  std::vector<int> differ(64), both(64), c(64);
  int* da = device_copy(a.data(), kWords * 4);
  int* db = device_copy(b.data(), kWords * 4);
  int* dx = device_copy(differ.data(), 256);
  int* dy = device_copy(both.data(), 256);
  bits<<<1, 32>>>(reinterpret_cast<unsigned*>(da), reinterpret_cast<unsigned*>(db), dx, dy);
  CHECK(cudaMemcpy(differ.data(), dx, 256, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(both.data(), dy, 256, cudaMemcpyDeviceToHost));
  int wrong_xor = 0, wrong_and = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      int x = 0, n = 0;
      for (int k = 0; k < kBitPitch; ++k) {
        const unsigned p = a[i * 8 + k / 32] >> (k % 32) & 1u, q = b[j * 8 + k / 32] >> (k % 32) & 1u;
        x += p ^ q;
        n += p & q;
      }
      wrong_xor += differ[j * 8 + i] != x;
      wrong_and += both[i * 8 + j] != n;
    }
  std::printf("%d %d\n", wrong_xor, wrong_and);

  filled<<<1, 32>>>(dx);
  CHECK(cudaMemcpy(c.data(), dx, 256, cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", c[0], c[63]);
}
