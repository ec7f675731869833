// Where the numbers in A, B and C come from.
//
// `make check` draws them from a printed seed, so that whoever sees a failure can repeat it. In
// `make grade` nobody may know them beforehand, and no call may tell about another: each call has a
// key of its own, HMAC-SHA256(key of the student, rung and type and number of the call), and its
// numbers are the keystream of ChaCha20 (RFC 8439) under that key. The student's key is
// HMAC-SHA256(secret, student); secret and key are in the graders' memory and in a file of theirs
// alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace grader {

using Key = std::array<unsigned char, 32>;

Key hmac_sha256(const Key& key, std::string_view message);

/// The keystream as 64-bit numbers. `stream` is the nonce's first word: streams under one key are
/// independent.
class ChaCha20 {
 public:
  ChaCha20(const Key& key, std::uint32_t stream);
  std::uint64_t operator()() {
    if (used_ == words_.size()) next_blocks();
    const std::uint64_t low = words_[used_], high = words_[used_ + 1];
    used_ += 2;
    return high << 32 | low;
  }

 private:
  void next_blocks();

  static constexpr unsigned kBlocks = 8;  ///< made side by side
  static constexpr unsigned kWords = 16;  ///< of a block
  std::array<std::uint32_t, kWords> state_{};
  std::array<std::uint32_t, kBlocks * kWords> words_{};
  std::size_t used_ = kBlocks * kWords;
};

/// Of one call's data.
struct DataSeed {
  DataSeed(std::uint64_t seed) : number(seed) {}  // NOLINT: every seed is one
  DataSeed(const Key& of_call) : key(of_call) {}  // NOLINT
  std::uint64_t number = 0;
  std::optional<Key> key;  ///< then the number is not looked at
};

/// Of all calls to one rung in one type.
class CallSeeds {
 public:
  CallSeeds(std::uint64_t seed) : number_(seed) {}  // NOLINT
  CallSeeds(std::uint64_t seed, const std::optional<Key>& key) : number_(seed), key_(key) {}
  /// Of the next call to `entry` ("gemm_naive<float>").
  DataSeed next(std::string_view entry);
  /// Whether the code is somebody else's, who knows which calls are made in which order.
  bool keyed() const { return key_.has_value(); }
  /// With a key: an index below `count` for the next call to `entry`, which nobody else can predict.
  std::size_t pick(std::string_view entry, std::size_t count) const;

 private:
  std::uint64_t number_;
  std::optional<Key> key_;
  std::uint64_t calls_ = 0;
};

}  // namespace grader
