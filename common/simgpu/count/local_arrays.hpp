// Where nvcc puts a function's arrays in local memory.
//
// Compilers gather what a function keeps in local memory in one variable, `__local_depot`, of which an array is known
// by the constant that is added to the depot's own address. clang packs the arrays; nvcc 13.0 aligns each to the
// largest power of two, at most 16, that divides its size (`float o[32]` to 16, `o[34]` to 8, `o[33]` to 4), puts
// them one behind the other in the same order, and the frame begins at a multiple of 8 or of what any of them needs. So
// `o[0] ... o[3]` is one access of 16 bytes in one kernel and four of 4 bytes in another.
//
// In PTX that was not written by a compiler a variable is one array, and has the alignment that it says.
//
// ptxas keeps small arrays in registers, whatever their indices: kept_arrays.hpp.
//
// Not modelled: nvcc aligns arrays, of structs too, but not a struct that has arrays; here it counts as one array, since
// PTX does not tell the two apart.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/addresses.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

inline constexpr unsigned kMostZeros = 4;  ///< log2 of 16 bytes, the widest access

inline unsigned zeros_of(std::uint64_t value) {
  return std::min<unsigned>(kMostZeros, static_cast<unsigned>(std::countr_zero(value)));
}

class LocalArrays {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  LocalArrays(const ptx::Module& module, const ptx::Function& function);

  bool empty() const { return arrays_.empty(); }
  /// Of the frame's bytes, in which `offset` bytes behind the variable's own address is another place with nvcc.
  std::int64_t place(std::uint32_t variable, std::int64_t offset) const;
  /// Zero bits at the end of the variable's address.
  unsigned zeros(std::uint32_t variable) const;

  /// The array that `offset` lies in, kNone: of none.
  std::uint32_t array_at(std::uint32_t variable, std::int64_t offset) const;
  std::uint32_t count() const { return static_cast<std::uint32_t>(arrays_.size()); }
  /// Bytes of an array in a compiler's frame; 0: of another variable.
  std::int64_t bytes(std::uint32_t array) const { return arrays_[array].bytes; }
  /// log2 of the bytes that the front end of nvcc aligns an array to, 0 where none was at work.
  unsigned front_end_zeros(std::uint32_t array) const { return arrays_[array].zeros; }

 private:
  struct Array {
    std::uint32_t variable;
    std::int64_t start;      ///< in clang's depot, bytes
    std::int64_t place = 0;  ///< in nvcc's
    unsigned zeros = 0;
    std::int64_t bytes = 0;
  };
  struct Frame {
    std::uint32_t variable;
    unsigned zeros;
  };
  void lay_out(const ptx::Module& module, std::uint32_t variable, std::vector<std::int64_t> starts);

  std::vector<Array> arrays_;  ///< by variable and start
  std::vector<Frame> frames_;
};

}  // namespace simgpu::count
