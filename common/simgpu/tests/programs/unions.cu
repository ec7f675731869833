// Unions with vectors in them, copied whole: from memory, from shared memory, by value, in structs.
#include <vector>

#include "check.h"

union Vector {
  float4 v;
  float f[4];
};
union Bytes {
  uint2 words;
  unsigned char b[8];
};
struct alignas(16) Tagged {
  union {
    float4 all;
    struct {
      float a, b, c, d;
    };
  };
  int tag;
};
template <class T, int N>
union Chunk {
  int4 raw;
  T data[N];
};

__device__ Vector turned(Vector x) {
  const Vector y = x;
  for (int i = 0; i < 4; ++i) x.f[i] = y.f[3 - i];
  return x;
}

__global__ void use(const float4* in, float* out, Bytes* bytes, Tagged* tagged) {
  __shared__ Vector shared[32];
  const int i = threadIdx.x;
  Vector x;
  x.v = in[i];
  shared[i] = turned(x);
  __syncthreads();
  const Vector y = shared[i ^ 1];
  out[i] = y.f[0] + 10 * y.f[3];
  Bytes b = bytes[i];
  b.b[3] = static_cast<unsigned char>(i);
  bytes[i] = b;
  Tagged t;
  t.all = x.v;
  t.tag = i;
  t.b += 1;
  tagged[i] = t;
  Chunk<short, 8> c = {make_int4(i, 0, 0, 7)}, d = c;
  if (d.data[0] != i || d.data[6] != 7) out[i] = -1;
}

int main() {
  std::vector<float4> in(32);
  std::vector<Bytes> bytes(32);
  for (int i = 0; i < 32; ++i) {
    in[i] = make_float4(i, 0.25f, 0.5f, 100 + i);
    bytes[i].words = make_uint2(0x01020304u, i);
  }
  float4* d_in;
  float* d_out;
  Bytes* d_bytes;
  Tagged* d_tagged;
  CHECK(cudaMalloc(&d_in, 32 * sizeof *d_in));
  CHECK(cudaMalloc(&d_out, 32 * sizeof *d_out));
  CHECK(cudaMalloc(&d_bytes, 32 * sizeof *d_bytes));
  CHECK(cudaMalloc(&d_tagged, 32 * sizeof *d_tagged));
  CHECK(cudaMemcpy(d_in, in.data(), 32 * sizeof *d_in, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_bytes, bytes.data(), 32 * sizeof *d_bytes, cudaMemcpyHostToDevice));
  use<<<1, 32>>>(d_in, d_out, d_bytes, d_tagged);
  std::vector<float> out(32);
  std::vector<Tagged> tagged(32);
  CHECK(cudaMemcpy(out.data(), d_out, 32 * sizeof *d_out, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(bytes.data(), d_bytes, 32 * sizeof *d_bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(tagged.data(), d_tagged, 32 * sizeof *d_tagged, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < 32; ++i) {
    const int other = i ^ 1;
    wrong += out[i] != 100 + other + 10 * other;
    wrong += bytes[i].words.x != ((0x01020304u & 0xffffffu) | unsigned(i) << 24) || bytes[i].b[4] != i;
    wrong += tagged[i].a != i || tagged[i].b != 1.25f || tagged[i].d != 100 + i || tagged[i].tag != i;
  }
  std::printf("%d wrong, %zu bytes\n", wrong, sizeof(Tagged));
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  CHECK(cudaFree(d_bytes));
  CHECK(cudaFree(d_tagged));
  return 0;
}
