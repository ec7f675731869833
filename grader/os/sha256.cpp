#include "grader/os/sha256.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace grader {
namespace {

/// The standard's constants are the first 32 bits of the fractional parts of the square (initial
/// state) and cube roots (rounds) of the first primes. Exact in integers, so that no rounding mode
/// can change them.
constexpr std::array<std::uint32_t, 64> primes = [] {
  std::array<std::uint32_t, 64> found{};
  std::size_t count = 0;
  for (std::uint32_t n = 2; count < found.size(); ++n) {
    bool prime = true;
    for (std::uint32_t d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (prime) found[count++] = n;
  }
  return found;
}();

__extension__ using Wide = unsigned __int128;

/// floor(2^32 * root(n)) modulo 2^32, by bisection: power 2 or 3.
constexpr std::uint32_t root_fraction(std::uint32_t n, int power) {
  std::uint64_t low = 0,
                high = std::uint64_t{1} << 37;  // the 64th prime is 311, its root is below 32
  while (high - low > 1) {
    const std::uint64_t mid = low + (high - low) / 2;
    // Compare mid^power with n * 2^(32*power) without overflow: mid < 2^37, so mid^3 < 2^111.
    const Wide value = power == 2 ? Wide{mid} * mid : Wide{mid} * mid * mid;
    (value <= (Wide{n} << (32 * power)) ? low : high) = mid;
  }
  return static_cast<std::uint32_t>(low);
}

constexpr std::array<std::uint32_t, 64> round_constants = [] {
  std::array<std::uint32_t, 64> k{};
  for (std::size_t i = 0; i < k.size(); ++i) k[i] = root_fraction(primes[i], 3);
  return k;
}();
static_assert(round_constants[0] == 0x428a2f98u && round_constants[63] == 0xc67178f2u);

void compress(std::array<std::uint32_t, 8>& h, const unsigned char* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
           std::uint32_t{block[4 * i + 2]} << 8 | std::uint32_t{block[4 * i + 3]};
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, hh] = h;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = hh + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    hh = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> add{a, b, c, d, e, f, g, hh};
  for (std::size_t i = 0; i < 8; ++i) h[i] += add[i];
}

using Compress = void (*)(std::array<std::uint32_t, 8>& h, const unsigned char* block);

#ifdef __x86_64__
/// The same by the processor's instructions for it, which do two rounds, or four words of the schedule,
/// at a time. They take the state as ABEF and CDGH.
__attribute__((target("sha,sse4.1"))) void compress_by_instructions(std::array<std::uint32_t, 8>& h,
                                                                    const unsigned char* block) {
  const auto load = [](const void* from) __attribute__((target("sha,sse4.1"))) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i cdab = _mm_shuffle_epi32(load(h.data()), 0xb1),
                efgh = _mm_shuffle_epi32(load(h.data() + 4), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  const __m128i abef_before = abef, cdgh_before = cdgh;
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i w[4];
  for (std::size_t i = 0; i < 4; ++i) w[i] = _mm_shuffle_epi8(load(block + 16 * i), big_endian);
  for (std::size_t i = 0; i < 16; ++i) {
    __m128i& now = w[i % 4];
    const __m128i last = w[(i + 3) % 4];
    if (i >= 4)
      now = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]),
                                               _mm_alignr_epi8(last, w[(i + 2) % 4], 4)),
                                 last);
    const __m128i added = _mm_add_epi32(now, load(round_constants.data() + 4 * i));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
  }
  const __m128i feba = _mm_shuffle_epi32(_mm_add_epi32(abef, abef_before), 0x1b),
                dchg = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdgh_before), 0xb1);
  auto* const to = reinterpret_cast<__m128i*>(h.data());
  _mm_storeu_si128(to, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(to + 1, _mm_alignr_epi8(dchg, feba, 8));
}

bool has_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0;
}

Compress quickest() {
  static const bool there = has_instructions();
  return there ? compress_by_instructions : compress;
}
#else
Compress quickest() {
  return compress;
}
#endif

std::string hash(std::string_view bytes, Compress compress) {
  std::array<std::uint32_t, 8> h{};
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = root_fraction(primes[i], 2);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t done = 0;
  for (; bytes.size() - done >= 64; done += 64) compress(h, data + done);
  std::array<unsigned char, 128> tail{};
  const std::size_t rest = bytes.size() - done;
  for (std::size_t i = 0; i < rest; ++i) tail[i] = data[done + i];
  tail[rest] = 0x80;
  const std::size_t length = rest < 56 ? 64 : 128;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (std::size_t i = 0; i < 8; ++i)
    tail[length - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  for (std::size_t at = 0; at < length; at += 64) compress(h, tail.data() + at);
  std::string hex;
  for (const std::uint32_t word : h)
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[word >> shift & 15];
  return hex;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  return hash(bytes, quickest());
}

std::string sha256_of_any_processor(std::string_view bytes) {
  return hash(bytes, compress);
}

std::string code_sha256(std::string_view source) {
  std::string code;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    const std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line.substr(first, 2) == "//") continue;
    code.append(line).push_back('\n');
  }
  return sha256(code);
}

}  // namespace grader
