#include "grader/judge/seeds.hpp"

#include <bit>
#include <string>

#include "grader/os/sha256.hpp"

namespace grader {
namespace {

/// The digest's 32 bytes.
std::string digest(const std::string& message) {
  const std::string hex = sha256(message);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

void quarter(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) {
  a += b, d = std::rotl(d ^ a, 16);
  c += d, b = std::rotl(b ^ c, 12);
  a += b, d = std::rotl(d ^ a, 8);
  c += d, b = std::rotl(b ^ c, 7);
}

}  // namespace

Key hmac_sha256(const Key& key, std::string_view message) {
  constexpr std::size_t block = 64;  // bytes; RFC 2104
  std::string inner(block, '\x36'), outer(block, '\x5c');
  for (std::size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  const std::string result = digest(outer + digest(inner + std::string(message)));
  Key made{};
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<unsigned char>(result[i]);
  return made;
}

ChaCha20::ChaCha20(const Key& key, std::uint32_t stream) {
  state_ = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};  // "expand 32-byte k"
  for (std::size_t i = 0; i < 8; ++i)
    state_[4 + i] = std::uint32_t{key[4 * i]} | std::uint32_t{key[4 * i + 1]} << 8 |
                    std::uint32_t{key[4 * i + 2]} << 16 | std::uint32_t{key[4 * i + 3]} << 24;
  state_[12] = 0;  // the block's number
  state_[13] = stream;
}

void ChaCha20::next_block() {
  block_ = state_;
  auto& x = block_;
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < 4; ++i) quarter(x[i], x[4 + i], x[8 + i], x[12 + i]);
    for (std::size_t i = 0; i < 4; ++i)
      quarter(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
  }
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += state_[i];
  ++state_[12];  // 2^32 blocks are 256 GiB: more than any matrix here
  used_ = 0;
}

std::uint64_t ChaCha20::operator()() {
  if (used_ >= block_.size()) next_block();
  const std::uint64_t low = block_[used_], high = block_[used_ + 1];
  used_ += 2;
  return high << 32 | low;
}

DataSeed CallSeeds::next(std::string_view entry) {
  if (!key_) return number_;
  return hmac_sha256(*key_, std::string(entry) + '\0' + std::to_string(calls_++));
}

}  // namespace grader
