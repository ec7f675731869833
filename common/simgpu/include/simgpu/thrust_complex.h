// thrust::complex: libcu++'s, as in CUDA 13, with Thrust's functions and output.
#pragma once
#pragma GCC system_header

#include <complex>
#include <ostream>

#include "../cuda/std/complex"

namespace thrust {

using ::cuda::std::abs;
using ::cuda::std::arg;
using ::cuda::std::complex;
using ::cuda::std::conj;
using ::cuda::std::exp;
using ::cuda::std::norm;
using ::cuda::std::polar;

template <class T>
__SIMGPU_BOTH complex<T> log(const complex<T>& c) {
  return {::log(abs(c)), arg(c)};
}
template <class T>
__SIMGPU_BOTH complex<T> log10(const complex<T>& c) {
  return log(c) / complex<T>(::log(T(10)));
}
template <class T>
__SIMGPU_BOTH complex<T> sqrt(const complex<T>& c) {
  return polar(::sqrt(abs(c)), arg(c) / 2);
}
template <class T>
__SIMGPU_BOTH complex<T> pow(const complex<T>& base, const complex<T>& power) {
  return base == complex<T>() ? base : exp(log(base) * power);
}
template <class T>
__SIMGPU_BOTH complex<T> pow(const complex<T>& base, const T& power) {
  return base == complex<T>() ? base : polar(::pow(abs(base), power), power * arg(base));
}
template <class T>
__SIMGPU_BOTH complex<T> pow(const T& base, const complex<T>& power) {
  return pow(complex<T>(base), power);
}
template <class T>
__SIMGPU_BOTH complex<T> sinh(const complex<T>& c) {
  return {::sinh(c.real()) * ::cos(c.imag()), ::cosh(c.real()) * ::sin(c.imag())};
}
template <class T>
__SIMGPU_BOTH complex<T> cosh(const complex<T>& c) {
  return {::cosh(c.real()) * ::cos(c.imag()), ::sinh(c.real()) * ::sin(c.imag())};
}
template <class T>
__SIMGPU_BOTH complex<T> tanh(const complex<T>& c) {
  return sinh(c) / cosh(c);
}
template <class T>
__SIMGPU_BOTH complex<T> sin(const complex<T>& c) {
  return {::sin(c.real()) * ::cosh(c.imag()), ::cos(c.real()) * ::sinh(c.imag())};
}
template <class T>
__SIMGPU_BOTH complex<T> cos(const complex<T>& c) {
  return {::cos(c.real()) * ::cosh(c.imag()), -::sin(c.real()) * ::sinh(c.imag())};
}
template <class T>
__SIMGPU_BOTH complex<T> tan(const complex<T>& c) {
  return sin(c) / cos(c);
}
/// The projection onto the Riemann sphere.
template <class T>
__SIMGPU_BOTH complex<T> proj(const complex<T>& c) {
  if (!isinf(c.real()) && !isinf(c.imag())) return c;
  return {static_cast<T>(HUGE_VAL), ::copysign(T(0), c.imag())};
}

}  // namespace thrust

namespace cuda {
namespace std {
template <class T, class Char, class Traits>
::std::basic_ostream<Char, Traits>& operator<<(::std::basic_ostream<Char, Traits>& out,
                                               const complex<T>& c) {
  return out << '(' << c.real() << ',' << c.imag() << ')';
}
}  // namespace std
}  // namespace cuda
