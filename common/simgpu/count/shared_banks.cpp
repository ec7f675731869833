#include "common/simgpu/count/shared_banks.hpp"

#include <algorithm>
#include <bit>

namespace simgpu::count {
namespace {

constexpr unsigned kBanks = 32;

/// The words that one phase wants of each bank, without duplicates. If every lane wants 2 or 4
/// words, aligned to as many, the unit is that group of words, and a "bank" is 2 or 4 banks.
class Phase {
 public:
  explicit Phase(unsigned words_per_lane = 1) : banks_(kBanks / words_per_lane) {}
  void add(std::uint64_t word) {
    const unsigned bank = static_cast<unsigned>(word) & (banks_ - 1);
    for (unsigned k = 0; k < depth_[bank]; ++k)
      if (words_[bank][k] == word) return;
    words_[bank][depth_[bank]++] = word;
    worst_ = std::max(worst_, depth_[bank]);
  }
  unsigned worst() const { return worst_; }

 private:
  const unsigned banks_;  ///< a power of two
  std::uint64_t words_[kBanks][32];
  unsigned depth_[kBanks] = {};
  unsigned worst_ = 0;
};

bool pairs_agree(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned distance) {
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned j = i ^ distance;
    if (((mask >> i) & (mask >> j) & 1u) && address[i] != address[j]) return false;
  }
  return true;
}

}  // namespace

unsigned lanes_per_phase(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes,
                         bool is_load) {
  const unsigned lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  const bool merge =
      is_load && bytes > 4 && (pairs_agree(address, mask, 1) || pairs_agree(address, mask, 2));
  return merge ? 2 * lanes : lanes;
}

namespace {

/// Whether each lane of a phase has banks of its own; addresses are multiples of `bytes`. A quick
/// answer for most phases of a kernel without bank conflicts (a store of 16 bytes per lane: 50 ns
/// instead of 220).
bool banks_differ(const std::uint64_t (&address)[32], std::uint32_t phase, unsigned bytes) {
  const auto shift = static_cast<unsigned>(std::countr_zero(bytes));
  const std::uint64_t last_bank = 4 * kBanks / bytes - 1;
  std::uint32_t taken = 0, twice = 0;
  for (std::uint32_t left = phase; left != 0; left &= left - 1) {
    const std::uint32_t bank = 1u << ((address[std::countr_zero(left)] >> shift) & last_bank);
    twice |= taken & bank;
    taken |= bank;
  }
  return twice == 0;
}

}  // namespace

Wavefronts shared_wavefronts(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes,
                             bool is_load) {
  if (bytes > 16) {
    Wavefronts sum;
    std::uint64_t half[32];
    for (unsigned part = 0; part < bytes; part += 16) {
      for (unsigned i = 0; i < 32; ++i) half[i] = address[i] + part;
      const Wavefronts w = shared_wavefronts(half, mask, 16, is_load);
      sum.actual += w.actual;
      sum.ideal += w.ideal;
    }
    return sum;
  }
  const unsigned lanes = lanes_per_phase(address, mask, bytes, is_load);
  std::uint64_t bits = 0;
  for (std::uint32_t left = mask; left != 0; left &= left - 1)
    bits |= address[std::countr_zero(left)];
  const bool together = (bytes == 8 || bytes == 16) && bits % bytes == 0;
  const bool whole_words = together || (bytes == 4 && bits % 4 == 0);
  Wavefronts result;
  for (unsigned first = 0; first < 32; first += lanes) {
    const std::uint32_t in_phase =
        mask & (lanes == 32 ? 0xffffffffu : ((1u << lanes) - 1) << first);
    if (in_phase == 0) continue;
    ++result.ideal;
    if (whole_words && banks_differ(address, in_phase, bytes)) {
      ++result.actual;
      continue;
    }
    Phase phase(together ? bytes / 4 : 1);
    for (std::uint32_t left = in_phase; left != 0; left &= left - 1) {
      const std::uint64_t a = address[std::countr_zero(left)];
      if (together)
        phase.add(a / bytes);
      else
        for (std::uint64_t word = a / 4; word <= (a + bytes - 1) / 4; ++word) phase.add(word);
    }
    result.actual += phase.worst();
  }
  return result;
}

Wavefronts atomic_wavefronts(const std::uint64_t (&address)[32], std::uint32_t mask,
                             unsigned bytes) {
  const unsigned lanes = bytes <= 4 ? 32 : 16;
  Wavefronts result;
  for (unsigned first = 0; first < 32; first += lanes) {
    const std::uint32_t in_phase = mask & (lanes == 32 ? 0xffffffffu : 0xffffu << first);
    if (in_phase == 0) continue;
    // Every lane is served by itself: a bank takes as many cycles as lanes want a word of it.
    unsigned wanted[kBanks] = {}, worst = 0;
    for (std::uint32_t left = in_phase; left != 0; left &= left - 1) {
      const std::uint64_t a = address[std::countr_zero(left)];
      for (std::uint64_t word = a / 4; word <= (a + bytes - 1) / 4; ++word)
        worst = std::max(worst, ++wanted[word % kBanks]);
    }
    result.actual += worst;
    ++result.ideal;
  }
  return result;
}

Wavefronts matrix_wavefronts(const std::uint64_t (&row_address)[32], unsigned matrices) {
  Wavefronts result;
  for (unsigned m = 0; m < matrices; ++m) {
    Phase phase;
    for (unsigned r = 0; r < 8; ++r)
      for (unsigned k = 0; k < 4; ++k) phase.add(row_address[8 * m + r] / 4 + k);
    result.actual += phase.worst();
    ++result.ideal;
  }
  return result;
}

}  // namespace simgpu::count
