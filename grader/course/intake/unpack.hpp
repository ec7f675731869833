// What build/bin/unpack writes: a record per entry of the archive, then one that ends the stream.
// Numbers are 32 bits in this machine's byte order; both ends are one build.
#pragma once

#include <cstdint>

namespace grader::intake {

enum class Packed : char {
  file = 'f',     ///< name, bytes
  listed = 'l',   ///< name; a file whose bytes nobody wants
  refused = 'r',  ///< name, reason
  end = 'e',      ///< "", why nothing more could be read ("" = the archive's end)
};

struct RecordHead {
  Packed kind = Packed::end;
  std::uint32_t name = 0, bytes = 0;  ///< lengths of the two texts that follow
};

/// The archive is open here when the program starts.
constexpr int archive_descriptor = 3;

}  // namespace grader::intake
