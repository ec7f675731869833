// unpack ENTRIES FILE_BYTES PACKED_BYTES TOTAL_BYTES: reads a stranger's zip or tar from descriptor
// 3 and writes its files to standard output as records (unpack.hpp). A program of its own, so that
// whatever an archive does to its reader stays here: it may open nothing, start nothing and write
// nowhere else.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <archive.h>
#include <archive_entry.h>

#include "grader/course/intake/unpack.hpp"
#include "grader/os/limit.hpp"

using namespace grader::intake;

namespace {

void write_all(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t put = ::write(1, bytes, size);
    if (put <= 0) std::_Exit(1);
    bytes += put;
    size -= static_cast<std::size_t>(put);
  }
}

void record(Packed kind, std::string_view name, std::string_view bytes) {
  RecordHead head;
  // Without what stands between the fields.
  std::array<char, sizeof head> raw{};
  head.kind = kind;
  head.name = static_cast<std::uint32_t>(name.size());
  head.bytes = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(raw.data(), &head, sizeof head);
  write_all(raw.data(), raw.size());
  write_all(name.data(), name.size());
  write_all(bytes.data(), bytes.size());
}

std::string read_input() {
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  for (ssize_t got; (got = ::read(archive_descriptor, buffer.data(), buffer.size())) > 0;)
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  return bytes;
}

/// From here on: no file, no process, nothing but the pipe.
void give_up_everything() {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  for (const int what : {RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_FSIZE, RLIMIT_CORE})
    if (!grader::set_limit(what, 0)) ::_exit(3);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.rbegin(), end.rend(), text.rbegin(), [](char wanted, char c) {
           return wanted == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
         });
}

bool is_packed(std::string_view name) {
  const auto endings = {".zip", ".tar",    ".tar.gz", ".tgz",     ".tar.bz2",
                        ".tbz", ".tar.xz", ".txz",    ".tar.zst", ".tzst"};
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* end) { return ends_with(name, end); });
}

bool is_wanted(std::string_view name) {
  return ends_with(name, ".cu") || ends_with(name, "submission_metadata.yml") || is_packed(name);
}

constexpr const char* not_one = "not a zip or tar archive, or damaged from its beginning";

std::string too_large(std::size_t most) {
  return "larger than " + std::to_string(most >> 20) + " MiB";
}

struct Reader {
  std::unique_ptr<archive, decltype(&archive_read_free)> handle{archive_read_new(),
                                                                &archive_read_free};
  std::size_t entries, file_bytes, packed_bytes, total_bytes;
  std::size_t total = 0;

  /// "" and the bytes, or why there are none.
  std::string data(std::size_t most, std::string& bytes) {
    for (;;) {
      const void* block = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int result = archive_read_data_block(handle.get(), &block, &size, &offset);
      if (result == ARCHIVE_EOF) return "";
      if (result != ARCHIVE_OK) {
        const char* why = archive_error_string(handle.get());
        const bool locked = why && (std::strstr(why, "ncrypt") || std::strstr(why, "assphrase"));
        return locked ? "encrypted" : "damaged";
      }
      // A sparse file's holes cost nothing in the archive and everything here.
      const auto begin = static_cast<std::size_t>(offset);
      if (offset < 0 || begin > most || size > most - begin) return too_large(most);
      if (begin + size > total_bytes - total) return "too much";
      bytes.resize(std::max(bytes.size(), begin));
      bytes.append(static_cast<const char*>(block), size);
    }
  }

  /// False: nothing more is to be read.
  bool entry(archive_entry* one) {
    const char* pathname = archive_entry_pathname(one);
    const std::string name = pathname ? pathname : "";
    const auto type = archive_entry_filetype(one);
    if (type == AE_IFDIR) return true;
    if (archive_entry_hardlink(one)) {
      record(Packed::refused, name, "a hard link to another file");
    } else if (archive_entry_symlink(one) || type == AE_IFLNK) {
      record(Packed::refused, name, "a symbolic link (not followed)");
    } else if (type != AE_IFREG) {
      record(Packed::refused, name, "not a regular file");
    } else if (archive_entry_is_encrypted(one)) {
      record(Packed::refused, name, "encrypted");
    } else if (!is_wanted(name)) {
      record(Packed::listed, name, "");
    } else {
      std::string bytes;
      const std::size_t most = is_packed(name) ? packed_bytes : file_bytes;
      // A sparse file may end in a hole, which is no data.
      const bool hollow =
          archive_entry_size_is_set(one) && archive_entry_size(one) > static_cast<la_int64_t>(most);
      const std::string why = hollow ? too_large(most) : data(most, bytes);
      if (why == "too much") {
        record(Packed::end, "",
               "it unpacks to more than " + std::to_string(total_bytes >> 20) +
                   " MiB of sources; the rest was not read");
        return false;
      }
      total += why.empty() ? bytes.size() : 0;
      record(why.empty() ? Packed::file : Packed::refused, name, why.empty() ? bytes : why);
    }
    return true;
  }

  void run(const std::string& input) {
    archive_read_support_filter_gzip(handle.get());
    archive_read_support_filter_bzip2(handle.get());
    archive_read_support_filter_xz(handle.get());
    archive_read_support_filter_zstd(handle.get());
    archive_read_support_format_tar(handle.get());
    // By the directory at its end alone: reading from the front finds other files in a zip that was
    // made to have two contents.
    archive_read_support_format_zip_seekable(handle.get());
    if (input.empty() ||
        archive_read_open_memory(handle.get(), input.data(), input.size()) != ARCHIVE_OK)
      return record(Packed::end, "", not_one);
    for (std::size_t count = 0;; ++count) {
      archive_entry* one = nullptr;
      const int result = archive_read_next_header(handle.get(), &one);
      if (result == ARCHIVE_EOF) return record(Packed::end, "", "");
      if (result < ARCHIVE_WARN)
        return record(Packed::end, "", count > 0 ? "damaged archive" : not_one);
      if (count == entries)
        return record(Packed::end, "",
                      "more than " + std::to_string(entries) + " entries; the rest was not read");
      if (!entry(one)) return;
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  std::setlocale(LC_CTYPE, "C.UTF-8");  // names in UTF-8 stay as they are
  Reader reader{.entries = number(1),
                .file_bytes = number(2),
                .packed_bytes = number(3),
                .total_bytes = number(4)};
  const std::string input = read_input();
  give_up_everything();
  reader.run(input);
  return 0;
}
