#include "common/simgpu/exec/op.hpp"

namespace simgpu::exec {

// Each in its file of kernels/.
namespace kernels {
void fill_integer(HandlerTable& t);
void fill_moves(HandlerTable& t);
void fill_float(HandlerTable& t);
void fill_convert(HandlerTable& t);
void fill_memory(HandlerTable& t);
void fill_stretch(HandlerTable& t);
void fill_half(HandlerTable& t);
void fill_mma(HandlerTable& t);
}  // namespace kernels

const HandlerTable& handlers() {
  static const HandlerTable table = [] {
    HandlerTable t{};
    kernels::fill_integer(t);
    kernels::fill_moves(t);
    kernels::fill_float(t);
    kernels::fill_convert(t);
    kernels::fill_memory(t);
    kernels::fill_stretch(t);
    kernels::fill_half(t);
    kernels::fill_mma(t);
    return t;
  }();
  return table;
}

}  // namespace simgpu::exec
