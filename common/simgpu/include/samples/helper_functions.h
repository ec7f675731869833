// Headers of NVIDIA's cuda-samples that come together: see helper_timer.h. Its functions for images are missing.
#pragma once
#pragma GCC system_header

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "helper_string.h"
#include "helper_timer.h"

template <typename T>
bool __simgpu_compare(const T* reference, const T* data, unsigned int n, double epsilon) {
  for (unsigned int i = 0; i < n; ++i)
    if (!(std::fabs(static_cast<double>(reference[i]) - static_cast<double>(data[i])) <= epsilon))
      return false;
  return true;
}
inline bool compareData(const float* reference, const float* data, unsigned int n, float epsilon,
                        float) {
  return __simgpu_compare(reference, data, n, static_cast<double>(epsilon));
}
/// By the norm of the difference, relative to that of the reference.
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned int n,
                           float epsilon) {
  double difference = 0, norm = 0;
  for (unsigned int i = 0; i < n; ++i) {
    const double d = static_cast<double>(reference[i]) - static_cast<double>(data[i]);
    difference += d * d;
    norm += static_cast<double>(reference[i]) * static_cast<double>(reference[i]);
  }
  return norm > 0 && std::sqrt(difference) < static_cast<double>(epsilon) * std::sqrt(norm);
}
