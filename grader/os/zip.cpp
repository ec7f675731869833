#include "grader/os/zip.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <new>
#include <utility>

#include <zlib.h>

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

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

bool inflate(std::string_view packed, std::size_t most, std::string& out) {
  out.clear();
  if (packed.size() > UINT_MAX || most > UINT_MAX) return false;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();  // negative: no header
  // What an archive claims of its files costs memory only as far as its bytes can give them: deflate
  // makes at most 258 bytes of two bits.
  constexpr std::size_t expansion = 4 * 258;
  std::string unpacked(std::min(most, packed.size() * expansion), '\0');
  // zlib's fields are not const, but it only reads them.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(unpacked.size());
  const int end = ::inflate(&stream, Z_FINISH);
  unpacked.resize(stream.total_out);
  inflateEnd(&stream);
  if (end == Z_STREAM_END) out = std::move(unpacked);
  return end == Z_STREAM_END;
}

namespace {

/// One entry of the central directory, as it says of itself.
struct Entry {
  std::uint32_t flags = 0, method = 0, crc = 0;
  std::uint32_t type = 0;  ///< of a Unix file, 0 if unknown
  std::size_t packed = 0, size = 0, local = 0;
};

/// Fills in file.bytes, or says in file.problem why not. `total` counts what all files took.
void unpack(std::string_view bytes, const Entry& entry, const Limits& limits, std::size_t& total,
            File& file) {
  const std::size_t local = entry.local;
  std::size_t data = 0;
  if (local <= bytes.size() && bytes.size() - local >= 30 && little(bytes, local, 4) == 0x04034b50)
    data = local + 30 + little(bytes, local + 26, 2) + little(bytes, local + 28, 2);
  if (entry.flags & 1) {
    file.problem = "encrypted";
  } else if (entry.size > limits.entry_bytes || entry.size > limits.total_bytes - total) {
    file.problem = "too large";
  } else if (data == 0 || data > bytes.size() || entry.packed > bytes.size() - data) {
    file.problem = "damaged";
  } else if (entry.method == 0 && entry.packed == entry.size) {
    file.bytes = std::string(bytes.substr(data, entry.size));
  } else if (entry.method == 8) {
    if (!inflate(bytes.substr(data, entry.packed), entry.size, file.bytes))
      file.problem = "damaged";
  } else {
    file.problem = "packed with an unknown method";
  }
  if (file.problem.empty() && (file.bytes.size() != entry.size || crc32(file.bytes) != entry.crc))
    file.problem = "damaged";
  if (!file.problem.empty()) file.bytes.clear();
  total += file.bytes.size();
}

/// Where the end record begins: 22 bytes and a comment of at most 65535.
std::size_t end_record(std::string_view bytes) {
  for (std::size_t back = 22; back <= bytes.size() && back <= 22 + 65535; ++back)
    if (little(bytes, bytes.size() - back, 4) == 0x06054b50) return bytes.size() - back;
  return std::string_view::npos;
}

}  // namespace

Archive read(std::string_view bytes, bool (*wanted)(const std::string&), const Limits& limits) {
  Archive archive;
  const auto refuse = [&](const char* why) {
    archive.files.clear();
    archive.problem = why;
    return archive;
  };
  const std::size_t end = end_record(bytes);
  if (end == std::string_view::npos) return refuse("not a zip archive");
  const std::size_t count = little(bytes, end + 10, 2);
  std::size_t at = little(bytes, end + 16, 4);
  if (count > limits.entries) return refuse("too many entries");
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 || little(bytes, at, 4) != 0x02014b50)
      return refuse("damaged archive");
    constexpr std::uint32_t unix_system = 3, type_mask = 0170000, link = 0120000, regular = 0100000;
    const bool made_on_unix = little(bytes, at + 4, 2) >> 8 == unix_system;
    Entry entry;
    entry.flags = little(bytes, at + 8, 2);
    entry.method = little(bytes, at + 10, 2);
    entry.crc = little(bytes, at + 16, 4);
    entry.packed = little(bytes, at + 20, 4);
    entry.size = little(bytes, at + 24, 4);
    entry.type = made_on_unix ? little(bytes, at + 38, 4) >> 16 & type_mask : 0;
    entry.local = little(bytes, at + 42, 4);
    const std::size_t name_length = little(bytes, at + 28, 2),
                      skip = little(bytes, at + 30, 2) + little(bytes, at + 32, 2);
    if (bytes.size() - at - 46 < name_length) return refuse("damaged archive");
    File file;
    file.name = std::string(bytes.substr(at + 46, name_length));
    at += 46 + name_length + skip;
    if (file.name.empty() || file.name.back() == '/') continue;
    if (entry.type == link)
      file.problem = "a symbolic link (not followed)";
    else if (entry.type != 0 && entry.type != regular)
      file.problem = "not a regular file";
    else if (wanted(file.name))
      unpack(bytes, entry, limits, total, file);
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
