// Zip archives, as far as submissions need them: reading a stranger's file without trusting a
// number in it, and writing one of our own. PKWARE APPNOTE 6.3; zlib inflates and sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace grader::zip {

struct Limits {
  std::size_t entries = 2000;
  std::size_t entry_bytes = 1u << 20;   ///< one unpacked file
  std::size_t total_bytes = 16u << 20;  ///< all unpacked files together
};

struct File {
  std::string name;  ///< as it stands in the archive; may be anything
  std::string bytes;
  std::string problem;  ///< why it was not unpacked: "a symbolic link", "too large", "damaged";
                        ///< then bytes is empty
};

struct Archive {
  std::string problem;      ///< not empty: not a zip file, or not one that can be read
  std::vector<File> files;  ///< folders are left out
};

/// Unpacks into memory; nothing is ever written to a path that the archive names. `wanted` decides
/// by name which files are unpacked; the others are listed with empty bytes.
Archive read(std::string_view bytes, bool (*wanted)(const std::string& name),
             const Limits& limits = {});

/// An archive without compression, with fixed time stamps: the same files give the same bytes.
std::string write(const std::vector<File>& files);

/// CRC-32 as in ISO 3309.
std::uint32_t crc32(std::string_view bytes);

/// Raw deflate data. False if it is damaged or unpacks to more than `most` bytes.
bool inflate(std::string_view packed, std::size_t most, std::string& out);

}  // namespace grader::zip
