// What the programs of this folder share. They hold kernels in the manner of public code, which check their own
// results. Nothing in them is inline PTX: what nvcc and clang make of the same text is what ../others.py compares.
// A program prints one line per launch, in order: "kernel, shape: ok".
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
T* upload(const std::vector<T>& host) {
  T* p = nullptr;
  check(cudaMalloc(&p, host.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return p;
}

template <class T>
std::vector<T> download(const T* p, std::size_t n) {
  std::vector<T> host(n);
  check(cudaMemcpy(host.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return host;
}

/// Says whether the launch before it left what `want` gives for each element.
template <class T, class F>
void expect(const std::string& name, const T* got, std::size_t n, F want) {
  check(cudaGetLastError(), name.c_str());
  check(cudaDeviceSynchronize(), name.c_str());
  const std::vector<T> host = download(got, n);
  bool right = true;
  for (std::size_t i = 0; i < n; ++i) {
    const double w = want(i), g = static_cast<double>(static_cast<float>(host[i]));
    right = right && std::fabs(g - w) <= 1e-3 * (1 + std::fabs(w));
  }
  std::printf("%s: %s\n", name.c_str(), right ? "ok" : "WRONG");
}

inline std::vector<float> some_floats(std::size_t n, unsigned seed) {
  std::vector<float> values(n);
  for (float& v : values) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int>(seed >> 24) - 128) / 64.0f;
  }
  return values;
}
