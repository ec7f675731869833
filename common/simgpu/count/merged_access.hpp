// Accesses to shared or local memory that ptxas makes one of.
#pragma once

#include <cstdint>

namespace simgpu::count {

/// The part that an instruction plays. Of one that has no part in this: {own index, 0, 0}.
struct MergedAccess {
  std::uint32_t leader = 0;  ///< the first instruction, in PTX order, of those that become one
  /// per lane, of the merged access; 0 = another instruction leads
  std::uint8_t bytes = 0;
  /// of the leader: start of the merged access minus its own address, in bytes; > 0 where nobody uses what it begins with
  std::int16_t shift = 0;
};

/// What ptxas gets of an access to local memory: the front end of nvcc has made vectors before (local_vectors.hpp).
struct Vector {
  std::uint32_t leader = 0;  ///< the instruction where the vector is, in PTX order
  /// bytes of an element, elements; `elements` 0 = another instruction leads
  std::uint8_t element = 0, elements = 0;
  std::int16_t shift = 0;  ///< of the leader: start of the vector minus its own address, bytes
  bool is_joined = false;  ///< of several accesses
};

}  // namespace simgpu::count
