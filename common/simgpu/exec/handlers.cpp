#include "common/simgpu/exec/op.hpp"

namespace simgpu::exec {

#define SIMGPU_DECLARE_ISA(isa)       \
  namespace isa {                     \
  void fill_integer(HandlerTable& t); \
  void fill_float(HandlerTable& t);   \
  void fill_convert(HandlerTable& t); \
  void fill_memory(HandlerTable& t);  \
  void fill_half(HandlerTable& t);    \
  void fill_mma(HandlerTable& t);     \
  }
SIMGPU_DECLARE_ISA(portable)
#if defined(__x86_64__)
SIMGPU_DECLARE_ISA(v3)
#endif

namespace {

HandlerTable make() {
  HandlerTable t{};
#if defined(__x86_64__)
  // What the v3 handlers are compiled for (see kernels/isa.hpp).
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    v3::fill_integer(t);
    v3::fill_float(t);
    v3::fill_convert(t);
    v3::fill_memory(t);
    v3::fill_half(t);
    v3::fill_mma(t);
    return t;
  }
#endif
  portable::fill_integer(t);
  portable::fill_float(t);
  portable::fill_convert(t);
  portable::fill_memory(t);
  portable::fill_half(t);
  portable::fill_mma(t);
  return t;
}

}  // namespace

const HandlerTable& handlers() {
  static const HandlerTable table = make();
  return table;
}

}  // namespace simgpu::exec
