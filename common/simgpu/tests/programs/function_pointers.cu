// Device functions by address: tables, pointers that the host fetched, template arguments, virtual functions.
#include <vector>

#include "check.h"

typedef float (*Operation)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ Operation table[3] = {add, mul, sub};
__device__ Operation fetched = add;
__constant__ Operation constant = mul;

__global__ void by_table(const float* x, float* y) { y[threadIdx.x] = table[threadIdx.x % 3](x[threadIdx.x], 2.0f); }
__global__ void by_argument(Operation f, const float* x, float* y) { y[threadIdx.x] = (*f)(x[threadIdx.x], 3.0f) + constant(x[threadIdx.x], 1.0f); }
template <Operation F>
__global__ void by_template(const float* x, float* y) {
  y[threadIdx.x] = F(x[threadIdx.x], 4.0f);
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Box : Shape {
  float w, h;
  __device__ Box(float a, float b) : w(a), h(b) {}
  __device__ float area() const override { return w * h; }
};
__global__ void make(Shape** shapes) {
  const float t = static_cast<float>(threadIdx.x);
  if (threadIdx.x % 2)
    shapes[threadIdx.x] = new Square(t);
  else
    shapes[threadIdx.x] = new Box(t, 10.0f);
}
__global__ void measure(Shape** shapes, float* y) {
  y[threadIdx.x] = shapes[threadIdx.x]->area();
  delete shapes[threadIdx.x];
}

template <class F>
static void show(const char* name, const float* y, F want) {
  float host[48];
  CHECK(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < 48; ++i) right = right && host[i] == want(i, static_cast<float>(i));
  std::printf("%s: %s\n", name, right ? "right" : "WRONG");
}

int main() {
  std::vector<float> host(48);
  for (int i = 0; i < 48; ++i) host[i] = static_cast<float>(i);
  float *x, *y;
  CHECK(cudaMalloc(&x, 48 * sizeof(float)));
  CHECK(cudaMalloc(&y, 48 * sizeof(float)));
  CHECK(cudaMemcpy(x, host.data(), 48 * sizeof(float), cudaMemcpyHostToDevice));
  by_table<<<1, 48>>>(x, y);
  show("a table", y, [](int i, float v) { return i % 3 == 0 ? v + 2 : i % 3 == 1 ? v * 2 : v - 2; });
  Operation f;
  CHECK(cudaMemcpyFromSymbol(&f, fetched, sizeof f));
  by_argument<<<1, 48>>>(f, x, y);
  show("an argument", y, [](int, float v) { return v + 3 + v; });
  by_template<sub><<<1, 48>>>(x, y);
  show("a template's", y, [](int, float v) { return v - 4; });
  Shape** shapes;
  CHECK(cudaMalloc(&shapes, 48 * sizeof(Shape*)));
  make<<<1, 48>>>(shapes);
  measure<<<1, 48>>>(shapes, y);
  show("virtual functions", y, [](int i, float v) { return i % 2 ? v * v : v * 10; });
  return 0;
}
