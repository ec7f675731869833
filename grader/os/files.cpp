#include "grader/os/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "common/wire/unique_fd.hpp"
#include "grader/errors.hpp"

namespace grader {
namespace fs = std::filesystem;
using wire::UniqueFd;
namespace {

std::string reason() {
  return std::strerror(errno);
}

/// Reads at most cap + 1 bytes, so that the caller can tell "too large" without trusting fstat.
bool read_all(int fd, std::size_t cap, std::string& out) {
  char buffer[1 << 16];
  while (out.size() <= cap) {
    const ssize_t got = ::read(fd, buffer, std::min(sizeof buffer, cap + 1 - out.size()));
    if (got == 0) return true;
    if (got < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    out.append(buffer, static_cast<std::size_t>(got));
  }
  return true;
}

/// Opens each component with O_NOFOLLOW from an already open folder: what
/// openat2(RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH) does, on kernels that lack it too.
UniqueFd open_beneath(const fs::path& root, const fs::path& relative, int final_flags,
                      Refusal& refusal) {
  UniqueFd at(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at) {
    refusal = Refusal::missing;
    return {};
  }
  std::vector<std::string> parts;
  for (const auto& part : relative) {
    if (part == "." || part.empty()) continue;
    if (part == ".." || part.is_absolute()) {
      refusal = Refusal::bad_name;
      return {};
    }
    parts.push_back(part.string());
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const int flags = last ? final_flags : (O_PATH | O_DIRECTORY);
    const int fd = ::openat(at.get(), parts[i].c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
      struct stat info {};
      const bool known = ::fstatat(at.get(), parts[i].c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
      if (!known)
        refusal = Refusal::missing;
      else if (S_ISLNK(info.st_mode))
        refusal = Refusal::symlink;
      else if (last && !S_ISREG(info.st_mode))
        refusal = Refusal::not_regular;
      else
        refusal = Refusal::unreadable;
      return {};
    }
    at.reset(fd);
  }
  return at;
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t cap) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes;
  if (!fd || !read_all(fd.get(), cap, bytes))
    throw UserError("cannot read " + path.string() + ": " + reason(), exit_infrastructure);
  if (bytes.size() > cap)
    throw UserError(path.string() + " is larger than " + std::to_string(cap) + " bytes",
                    exit_infrastructure);
  return bytes;
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error && !fs::is_directory(path))
    throw UserError("cannot create the folder " + path.string() + ": " + error.message() +
                        ". Make it writable, or choose another one with BUILD=dir",
                    exit_infrastructure);
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  static std::atomic<unsigned> serial{0};
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::path partial;
  const auto fail = [&](const char* what) {
    const std::string why = reason();
    ::unlink(partial.c_str());
    throw UserError(std::string("cannot ") + what + " " + path.string() + ": " + why,
                    exit_infrastructure);
  };
  UniqueFd fd;
  do {  // on a shared disk a process of another machine may have this one's id
    partial = folder / ("." + path.filename().string() + "." + std::to_string(::getpid()) + "." +
                        std::to_string(++serial));
    fd = UniqueFd(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  } while (!fd && errno == EEXIST);
  if (!fd) fail("write");
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (put < 0) {
      if (errno == EINTR) continue;
      fail("write");
    }
    done += static_cast<std::size_t>(put);
  }
  if (::fsync(fd.get()) != 0) fail("sync");
  if (::rename(partial.c_str(), path.c_str()) != 0) fail("rename");
  if (UniqueFd dir(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); dir)
    ::fsync(dir.get());
}

std::string_view to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::none:
      return "fine";
    case Refusal::missing:
      return "missing";
    case Refusal::symlink:
      return "a symbolic link (not followed)";
    case Refusal::not_regular:
      return "not a regular file";
    case Refusal::hard_link:
      return "a hard link to another file";
    case Refusal::too_large:
      return "too large";
    case Refusal::unreadable:
      return "not readable";
    case Refusal::bad_name:
      return "a path that leaves its folder";
  }
  return "?";
}

UntrustedFile read_untrusted(const fs::path& root, const fs::path& relative, std::size_t cap) {
  UntrustedFile file;
  // O_NONBLOCK: opening a FIFO for reading must not wait for a writer.
  UniqueFd fd = open_beneath(root, relative, O_RDONLY | O_NONBLOCK | O_NOCTTY, file.refusal);
  if (!fd) return file;
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0)
    file.refusal = Refusal::unreadable;
  else if (!S_ISREG(info.st_mode))
    file.refusal = Refusal::not_regular;
  else if (info.st_nlink > 1)
    file.refusal = Refusal::hard_link;
  else if (info.st_size > static_cast<off_t>(cap))
    file.refusal = Refusal::too_large;
  else if (!read_all(fd.get(), cap, file.bytes))
    file.refusal = Refusal::unreadable;
  else if (file.bytes.size() > cap)
    file.refusal = Refusal::too_large;
  if (file.refusal != Refusal::none) file.bytes.clear();
  return file;
}

std::optional<std::vector<Entry>> list_untrusted(const fs::path& root, const fs::path& relative,
                                                 std::size_t max_entries) {
  Refusal refusal = Refusal::none;
  UniqueFd fd;
  if (relative.empty() || relative == ".")  // root itself, which is trusted
    fd.reset(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  else
    fd = open_beneath(root, relative, O_RDONLY | O_DIRECTORY, refusal);
  if (!fd) return std::vector<Entry>{};
  struct Closer {
    void operator()(DIR* dir) const { ::closedir(dir); }
  };
  const std::unique_ptr<DIR, Closer> dir(::fdopendir(fd.get()));
  if (!dir) return std::vector<Entry>{};
  fd.release();
  std::vector<Entry> entries;
  while (const dirent* item = ::readdir(dir.get())) {
    const std::string name = item->d_name;
    if (name == "." || name == "..") continue;
    if (entries.size() == max_entries) return std::nullopt;
    Entry entry{name, EntryKind::other};
    struct stat info {};
    if (::fstatat(::dirfd(dir.get()), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      if (S_ISREG(info.st_mode)) entry.kind = EntryKind::file;
      if (S_ISDIR(info.st_mode)) entry.kind = EntryKind::folder;
      if (S_ISLNK(info.st_mode)) entry.kind = EntryKind::symlink;
    }
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace grader
