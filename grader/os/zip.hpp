// A zip archive of our own. PKWARE APPNOTE 6.3; zlib sums. Strangers' archives are read by
// grader/course/intake.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace grader::zip {

struct File {
  std::string name;
  std::string bytes;
  std::uint32_t mode = 0644;  ///< of a regular file on Unix
};

/// An archive without compression, with fixed time stamps: the same files give the same bytes.
std::string write(const std::vector<File>& files);

/// CRC-32 as in ISO 3309.
std::uint32_t crc32(std::string_view bytes);

}  // namespace grader::zip
