// A stretch: neighbouring operations of a basic block that run as one. What each would look up and
// check by itself is looked up and checked once for all of them; if anything is not as it was the
// last time, each runs by itself.
//
// It holds loads from shared memory of the usual kind and 32-bit multiply-adds, which is what the
// inner loops of a product are made of. They wait for nobody, and none of them changes an address
// that another one uses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simgpu/exec/op.hpp"

namespace simgpu::exec {

struct Stretch {
  static constexpr std::size_t kLeast = 3;    ///< operations that are worth it
  static constexpr std::size_t kWindows = 8;  ///< most of them

  /// The loads through one address register.
  struct Window {
    Ref address = kNoRef;  ///< u64 lanes
    std::uint32_t slot = 0;
    bool looks = false;      ///< nobody in this basic block has looked at the register before
    std::uint8_t align = 4;  ///< of the widest load, in bytes
    std::uint16_t loads = 0;
    std::int32_t least = 0, end = 0;  ///< bytes from the address, of the first lane
    std::int64_t from = 0, to = 0;    ///< Op::b and Op::c of its loads
  };
  struct Load {
    const Op* op = nullptr;
    std::int32_t offset = 0;  ///< bytes from the window's address
    std::uint32_t site = 0;
    std::uint8_t window = 0;
    std::uint8_t log2_words = 0;
  };
  enum class Kind : std::uint8_t {
    load,          ///< loads[load]
    multiply_add,  ///< `op`
    product,  ///< loads[load], loads[load + 1], of one word each, and `op`, which multiplies them
  };
  struct Step {
    const Op* op = nullptr;
    Kind kind = Kind::load;
    std::uint32_t load = 0;
  };

  std::uint32_t number = 0;  ///< in Program::stretches
  std::vector<Op> ops;
  std::vector<Window> windows;
  std::vector<Load> loads;
  std::vector<Step> steps;
};

/// What a worker knows of a stretch.
struct StretchTally {
  /// Of the windows' patterns; 0 = not known. While they are the same, each load costs what it cost
  /// the last time: what its site counts stands in `pending`.
  std::array<std::uint32_t, Stretch::kWindows> patterns{};
  std::uint64_t pending = 0;
};

}  // namespace simgpu::exec
