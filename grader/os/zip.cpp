#include "grader/os/zip.hpp"

#include <array>
#include <cstdint>

namespace grader::zip {
namespace {

std::uint32_t little(std::string_view bytes, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= static_cast<std::uint32_t>(
                 static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]))
             << (8 * i);
  return value;
}

void put(std::string& out, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i) & 255);
}

/// Bits of a deflate stream, least significant first. Past the end it delivers zeros and remembers
/// that it did.
class Bits {
 public:
  explicit Bits(std::string_view bytes) : bytes_(bytes) {}
  unsigned take(int count) {
    unsigned value = 0;
    for (int i = 0; i < count; ++i) value |= bit() << i;
    return value;
  }
  unsigned bit() {
    if (at_ >= bytes_.size() * 8) {
      overrun_ = true;
      return 0;
    }
    const unsigned value = static_cast<unsigned char>(bytes_[at_ / 8]) >> (at_ % 8) & 1;
    ++at_;
    return value;
  }
  void to_byte() { at_ = (at_ + 7) / 8 * 8; }
  bool overrun() const { return overrun_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool overrun_ = false;
};

/// Canonical Huffman code from code lengths (RFC 1951, section 3.2.2).
class Huffman {
 public:
  /// False if the lengths describe more codes than there are.
  bool build(const std::uint8_t* lengths, std::size_t count) {
    counts_.fill(0);
    for (std::size_t i = 0; i < count; ++i) ++counts_[lengths[i]];
    counts_[0] = 0;
    int left = 1;
    for (int length = 1; length < 16; ++length) {
      left = left * 2 - counts_[static_cast<std::size_t>(length)];
      if (left < 0) return false;
    }
    std::array<int, 16> next{};
    for (std::size_t length = 1; length < 15; ++length)
      next[length + 1] = next[length] + counts_[length];
    symbols_.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i)
      if (lengths[i] != 0)
        symbols_[static_cast<std::size_t>(next[lengths[i]]++)] = static_cast<std::uint16_t>(i);
    return true;
  }
  /// -1 if no code matches.
  int decode(Bits& bits) const {
    int code = 0, first = 0, index = 0;
    for (std::size_t length = 1; length < 16; ++length) {
      code |= static_cast<int>(bits.bit());
      const int count = counts_[length];
      if (code - first < count) return symbols_[static_cast<std::size_t>(index + code - first)];
      index += count;
      first = (first + count) * 2;
      code *= 2;
      if (bits.overrun()) return -1;
    }
    return -1;
  }

 private:
  std::array<int, 16> counts_{};
  std::vector<std::uint16_t> symbols_;
};

/// One block of compressed data after its code tables are known.
bool inflate_block(Bits& bits, const Huffman& literals, const Huffman& distances, std::size_t most,
                   std::string& out) {
  for (;;) {
    const int symbol = literals.decode(bits);
    if (symbol < 0 || bits.overrun()) return false;
    if (symbol == 256) return true;
    if (symbol < 256) {
      if (out.size() == most) return false;
      out += static_cast<char>(symbol);
      continue;
    }
    // Lengths 3..258: eight codes without extra bits, then groups of four with one more bit each;
    // the last is 258.
    const int l = symbol - 257;
    if (l > 28) return false;
    std::size_t length;
    if (l < 8) {
      length = static_cast<std::size_t>(l) + 3;
    } else if (l == 28) {
      length = 258;
    } else {
      const int extra = l / 4 - 1;
      length = static_cast<std::size_t>(((4 + l % 4) << extra) + 3) + bits.take(extra);
    }
    const int d = distances.decode(bits);
    if (d < 0 || d > 29) return false;
    const int extra = d < 2 ? 0 : d / 2 - 1;
    const std::size_t distance =
        (d < 2 ? static_cast<std::size_t>(d) : static_cast<std::size_t>(2 + d % 2) << extra) +
        bits.take(extra) + 1;
    if (bits.overrun() || distance > out.size() || length > most - out.size()) return false;
    for (std::size_t i = 0; i < length; ++i) out += out[out.size() - distance];
  }
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

bool inflate(std::string_view packed, std::size_t most, std::string& out) {
  Bits bits(packed);
  out.clear();
  for (bool last = false; !last;) {
    last = bits.bit() != 0;
    const unsigned kind = bits.take(2);
    std::array<std::uint8_t, 320> lengths{};
    Huffman literals, distances;
    if (kind == 0) {
      bits.to_byte();
      const unsigned length = bits.take(16), check = bits.take(16);
      if (bits.overrun() || (length ^ check) != 0xffff || length > most - out.size()) return false;
      for (unsigned i = 0; i < length; ++i) out += static_cast<char>(bits.take(8));
    } else if (kind == 1) {
      for (std::size_t i = 0; i < 288; ++i)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
      if (!literals.build(lengths.data(), 288)) return false;
      lengths.fill(5);
      if (!distances.build(lengths.data(), 30) ||
          !inflate_block(bits, literals, distances, most, out))
        return false;
    } else if (kind == 2) {
      const std::size_t literal_count = bits.take(5) + 257, distance_count = bits.take(5) + 1,
                        code_count = bits.take(4) + 4;
      constexpr std::array<std::uint8_t, 19> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
      std::array<std::uint8_t, 19> code_lengths{};
      for (std::size_t i = 0; i < code_count; ++i)
        code_lengths[order[i]] = static_cast<std::uint8_t>(bits.take(3));
      Huffman codes;
      if (!codes.build(code_lengths.data(), code_lengths.size())) return false;
      const std::size_t wanted = literal_count + distance_count;
      for (std::size_t at = 0; at < wanted;) {
        const int symbol = codes.decode(bits);
        if (symbol < 0 || bits.overrun()) return false;
        if (symbol < 16) {
          lengths[at++] = static_cast<std::uint8_t>(symbol);
          continue;
        }
        if (symbol == 16 && at == 0) return false;
        const std::uint8_t repeated = symbol == 16 ? lengths[at - 1] : std::uint8_t{0};
        unsigned times = symbol == 16   ? bits.take(2) + 3
                         : symbol == 17 ? bits.take(3) + 3
                                        : bits.take(7) + 11;
        if (times > wanted - at) return false;
        while (times-- > 0) lengths[at++] = repeated;
      }
      if (!literals.build(lengths.data(), literal_count) ||
          !distances.build(lengths.data() + literal_count, distance_count) ||
          !inflate_block(bits, literals, distances, most, out))
        return false;
    } else {
      return false;
    }
    if (bits.overrun()) return false;
  }
  return true;
}

Archive read(std::string_view bytes, bool (*wanted)(const std::string&), const Limits& limits) {
  Archive archive;
  const auto refuse = [&](const char* why) {
    archive.files.clear();
    archive.problem = why;
    return archive;
  };
  // The end record: 22 bytes and a comment of at most 65535.
  std::size_t end = std::string_view::npos;
  for (std::size_t back = 22; back <= bytes.size() && back <= 22 + 65535; ++back) {
    if (little(bytes, bytes.size() - back, 4) == 0x06054b50) {
      end = bytes.size() - back;
      break;
    }
  }
  if (end == std::string_view::npos) return refuse("not a zip archive");
  const std::size_t count = little(bytes, end + 10, 2);
  std::size_t at = little(bytes, end + 16, 4);
  if (count > limits.entries) return refuse("too many entries");
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 || little(bytes, at, 4) != 0x02014b50)
      return refuse("damaged archive");
    const std::uint32_t system = little(bytes, at + 4, 2) >> 8, flags = little(bytes, at + 8, 2),
                        method = little(bytes, at + 10, 2);
    const std::uint32_t crc = little(bytes, at + 16, 4), mode = little(bytes, at + 38, 4) >> 16;
    const std::size_t packed = little(bytes, at + 20, 4), size = little(bytes, at + 24, 4);
    const std::size_t name_length = little(bytes, at + 28, 2),
                      skip = little(bytes, at + 30, 2) + little(bytes, at + 32, 2);
    const std::size_t local = little(bytes, at + 42, 4);
    if (bytes.size() - at - 46 < name_length) return refuse("damaged archive");
    File file;
    file.name = std::string(bytes.substr(at + 46, name_length));
    at += 46 + name_length + skip;
    if (file.name.empty() || file.name.back() == '/') continue;
    constexpr std::uint32_t unix_system = 3, type_mask = 0170000, link = 0120000, regular = 0100000;
    const std::uint32_t type = system == unix_system ? mode & type_mask : 0;
    if (type == link) {
      file.problem = "a symbolic link (not followed)";
    } else if (type != 0 && type != regular) {
      file.problem = "not a regular file";
    } else if (wanted(file.name)) {
      std::size_t data = 0;
      if (local <= bytes.size() && bytes.size() - local >= 30 &&
          little(bytes, local, 4) == 0x04034b50)
        data = local + 30 + little(bytes, local + 26, 2) + little(bytes, local + 28, 2);
      if (flags & 1) {
        file.problem = "encrypted";
      } else if (size > limits.entry_bytes || size > limits.total_bytes - total) {
        file.problem = "too large";
      } else if (data == 0 || data > bytes.size() || packed > bytes.size() - data) {
        file.problem = "damaged";
      } else if (method == 0 && packed == size) {
        file.bytes = std::string(bytes.substr(data, size));
      } else if (method == 8) {
        if (!inflate(bytes.substr(data, packed), size, file.bytes)) file.problem = "damaged";
      } else {
        file.problem = "packed with an unknown method";
      }
      if (file.problem.empty() && (file.bytes.size() != size || crc32(file.bytes) != crc))
        file.problem = "damaged";
      if (!file.problem.empty()) file.bytes.clear();
      total += file.bytes.size();
    }
    archive.files.push_back(std::move(file));
  }
  return archive;
}

std::string write(const std::vector<File>& files) {
  std::string out, directory;
  for (const auto& file : files) {
    const auto offset = static_cast<std::uint32_t>(out.size()),
               size = static_cast<std::uint32_t>(file.bytes.size());
    std::string common;  // shared by both headers, from "version needed" on
    put(common, 20, 2);
    put(common, 1u << 11, 2);    // names are UTF-8
    put(common, 0, 2);           // stored
    put(common, 0, 2);           // 00:00
    put(common, 1 << 5 | 1, 2);  // 1980-01-01, the format's first day
    put(common, crc32(file.bytes), 4);
    put(common, size, 4);
    put(common, size, 4);
    put(common, static_cast<std::uint32_t>(file.name.size()), 2);
    put(common, 0, 2);
    put(out, 0x04034b50, 4);
    out += common + file.name + file.bytes;
    put(directory, 0x02014b50, 4);
    put(directory, 3 << 8 | 20, 2);  // made on Unix
    directory += common;
    put(directory, 0, 2);
    put(directory, 0, 2);
    put(directory, 0, 2);
    put(directory, 0100644u << 16, 4);
    put(directory, offset, 4);
    directory += file.name;
  }
  const auto start = static_cast<std::uint32_t>(out.size());
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, static_cast<std::uint32_t>(files.size()), 2);
  put(out, static_cast<std::uint32_t>(files.size()), 2);
  put(out, static_cast<std::uint32_t>(directory.size()), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace grader::zip
