#include "grader/course/intake/tree.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "grader/course/intake/unpack.hpp"
#include "grader/errors.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"

namespace grader::intake {
namespace fs = std::filesystem;
namespace {

constexpr std::array endings{".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".tgz",
                             ".tbz",    ".txz",     ".tzst",   ".tar",     ".zip"};

std::string mebibytes(std::size_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    if (slash > at) parts.push_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  return parts;
}

/// What file managers and version control leave behind; no student means it.
bool is_noise(const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part == "__MACOSX" || part == ".git" || part == ".DS_Store" ||
           part.compare(0, 2, "._") == 0 || part == "Thumbs.db" || part == "desktop.ini";
  });
}

/// What is wrong with a path by itself, "" = nothing.
std::string trouble(const std::string& path, const std::vector<std::string>& parts, int depth) {
  if (parts.empty()) return "it has no name";
  if (path.front() == '/' || (path.size() > 1 && path[1] == ':' && std::isalpha(path[0])))
    return "an absolute path";
  if (std::find(parts.begin(), parts.end(), "..") != parts.end())
    return "a path that leaves its folder";
  if (visible(path) != path) return "its name holds characters that are invisible or reorder text";
  if (std::any_of(parts.begin(), parts.end(),
                  [](const std::string& part) { return part.size() > most_name_bytes; }))
    return "a name of more than " + std::to_string(most_name_bytes) + " bytes";
  if (parts.size() > static_cast<std::size_t>(depth) + 1)
    return "deeper than " + std::to_string(depth) + " folders";
  if (std::any_of(parts.begin(), parts.end(),
                  [](const std::string& part) { return part.front() == '.' && part != "."; }))
    return "hidden: its name begins with a dot";
  return "";
}

/// The last word on a tree: names judged, twins found, noise gone, sorted.
void settle(Tree& tree, const Limits& limits) {
  std::map<std::string, std::size_t> there, folded_there;
  std::vector<TreeFile> kept;
  for (auto& file : tree.files) {
    const auto parts = parts_of(file.path);
    if (is_noise(parts)) continue;
    if (file.problem.empty()) file.problem = trouble(file.path, parts, limits.depth);
    std::string path;
    for (const auto& part : parts)
      if (part != ".") path += (path.empty() ? "" : "/") + part;
    if (file.problem.empty()) file.path = path;
    kept.push_back(std::move(file));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const TreeFile& a, const TreeFile& b) { return a.path < b.path; });
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto [same, fresh] = there.emplace(kept[i].path, i);
    if (!fresh) kept[i].problem = kept[same->second].problem = "there twice: neither is taken";
    const auto [twin, alone] = folded_there.emplace(folded(kept[i].path), i);
    if (!alone && fresh)
      for (const std::size_t one : {i, twin->second})
        if (kept[one].problem.empty())
          kept[one].problem = "differs from " + shown(kept[one == i ? twin->second : i].path) +
                              " in case only: neither is taken";
  }
  for (auto& file : kept)
    if (!file.problem.empty()) file.bytes.clear();
  tree.files = std::move(kept);
}

bool is_source(const std::string& name) {
  return name.size() > 3 && folded(name).ends_with(".cu");  // folding may change the length
}

struct Walk {
  const fs::path& root;
  const Limits& limits;
  Tree& tree;
  std::size_t total = 0;

  void file(const fs::path& path, const std::string& name) {
    TreeFile found{path.string(), {}, {}};
    if (is_source(name) || is_archive_name(name)) {
      const std::size_t cap = is_source(name) ? limits.file_bytes : limits.packed_bytes;
      UntrustedFile read = read_untrusted(root, path, cap);
      if (read.refusal == Refusal::too_large)
        found.problem = "larger than " + mebibytes(cap);
      else if (read.refusal != Refusal::none)
        found.problem = to_string(read.refusal);
      else if (is_source(name) && read.bytes.size() > limits.total_bytes - total)
        found.problem = "more than " + mebibytes(limits.total_bytes) + " of sources together";
      else
        found.bytes = std::move(read.bytes);
      if (is_source(name)) total += found.bytes.size();
    }
    tree.files.push_back(std::move(found));
  }

  /// All below `at`, which is `depth` folders deep.
  void folder(const fs::path& at, int depth) {
    const auto entries = list_untrusted(root, at, limits.entries);
    const auto full = [&] { return tree.files.size() >= limits.entries; };
    for (const auto& entry : entries.value_or(std::vector<Entry>{})) {
      if (full()) break;
      const fs::path path = at == "." ? fs::path(entry.name) : at / entry.name;
      switch (entry.kind) {
        case EntryKind::file:
          file(path, entry.name);
          break;
        case EntryKind::folder:
          if (is_noise({entry.name})) break;
          if (entry.name.front() == '.')  // trouble() says so; what is in it does not matter
            tree.files.push_back({path.string(), {}, {}});
          else if (depth < limits.depth)
            folder(path, depth + 1);
          else
            tree.files.push_back(
                {path.string(), {}, "deeper than " + std::to_string(limits.depth) + " folders"});
          break;
        case EntryKind::symlink:
          tree.files.push_back({path.string(), {}, "a symbolic link (not followed)"});
          break;
        case EntryKind::other:
          tree.files.push_back({path.string(), {}, "not a regular file"});
          break;
      }
    }
    const std::string many =
        "more than " + std::to_string(limits.entries) + " entries; the rest was not read";
    if ((!entries || full()) &&
        std::find(tree.remarks.begin(), tree.remarks.end(), many) == tree.remarks.end())
      tree.remarks.push_back(many);
  }
};

/// The unpacker's records as a tree. It has seen a stranger's bytes: nothing it says is believed
/// without a look.
Tree tree_of_records(std::string_view stream) {
  Tree tree;
  bool backslashes = false;
  for (;;) {
    RecordHead head;
    if (stream.size() < sizeof head) break;
    std::memcpy(&head, stream.data(), sizeof head);
    stream.remove_prefix(sizeof head);
    if (head.name > stream.size() || head.bytes > stream.size() - head.name) break;
    TreeFile file{std::string(stream.substr(0, head.name)), {}, {}};
    std::string second(stream.substr(head.name, head.bytes));
    stream.remove_prefix(std::size_t{head.name} + head.bytes);
    if (head.kind == Packed::end) {
      if (!second.empty()) tree.remarks.push_back(printable(second));
      if (backslashes)
        tree.remarks.push_back("the archive has backslashes in its paths; read as folders");
      return tree;
    }
    (head.kind == Packed::refused ? file.problem : file.bytes) = std::move(second);
    if (file.path.find('\\') != std::string::npos) {
      std::replace(file.path.begin(), file.path.end(), '\\', '/');
      backslashes = true;
    }
    tree.files.push_back(std::move(file));
  }
  return {{}, {"damaged archive: its reader stopped in the middle"}};
}

}  // namespace

bool is_archive_name(std::string_view name) {
  const std::string low = folded(name);
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
    return low.size() > ending.size() && low.ends_with(ending);
  });
}

bool is_foreign_archive(std::string_view name) {
  const std::string low = folded(name);
  return low.ends_with(".rar") || low.ends_with(".7z");
}

std::string without_archive_ending(const std::string& name) {
  const std::string low = folded(name);
  for (const std::string_view ending : endings)
    if (low.size() > ending.size() && low.ends_with(ending))
      return name.substr(0, name.size() - ending.size());
  return name;
}

Tree tree_of_folder(const fs::path& root, const fs::path& at, const Limits& limits) {
  Tree tree;
  const fs::path below = root / at;
  Walk{below, limits, tree}.folder(".", 0);
  settle(tree, limits);
  return tree;
}

RunResult unpack_unboxed(ProcessSpec spec) {
  return run_to_its_own_end(spec, unpack_patience);
}

Tree tree_of_archive(std::string_view bytes, const Unpack& unpack, const Limits& limits) {
  const UniqueFd archive(::memfd_create("archive", MFD_CLOEXEC));
  std::size_t done = 0;
  while (archive && done < bytes.size()) {
    const ssize_t put = ::write(archive.get(), bytes.data() + done, bytes.size() - done);
    if (put <= 0) break;
    done += static_cast<std::size_t>(put);
  }
  if (!archive || done < bytes.size() || ::lseek(archive.get(), 0, SEEK_SET) != 0)
    throw InfraError("no memory for an archive of " + std::to_string(bytes.size()) + " bytes");
  ProcessSpec spec;
  // build/bin/grade and build/tests/grader_tests have it in the same place.
  const fs::path build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  spec.argv = {(build / "bin/unpack").string(), std::to_string(limits.entries),
               std::to_string(limits.file_bytes), std::to_string(limits.packed_bytes),
               std::to_string(limits.total_bytes)};
  spec.environment = minimal_environment();
  spec.descriptors = {{archive.get(), archive_descriptor}};
  spec.limits.cpu_seconds = 20;
  spec.limits.address_bytes = (512u << 20) + 2 * (bytes.size() + limits.total_bytes);
  // The names come on top: 2000 of at most 64 KiB in a zip.
  spec.output_bytes = limits.total_bytes + limits.packed_bytes + limits.entries * (64u << 10);
  const RunResult ran = unpack(spec);
  if (ran.timed_out || ran.capped) return {{}, {"damaged archive: its reader found no end"}};
  if (WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 127)
    throw InfraError("cannot start " + spec.argv[0] + ": run make again");
  if (ran.status != 0 && WIFSIGNALED(ran.status))
    return {{}, {"damaged archive: its reader died of " + signal_name(WTERMSIG(ran.status))}};
  Tree tree = tree_of_records(ran.output);
  settle(tree, limits);
  return tree;
}

void open_archives(Tree& tree, const Unpack& unpack, const Limits& limits) {
  // A zip of a zip happens; more layers, or more archives, are a way to fill the memory: each may
  // unpack to total_bytes.
  constexpr int most_layers = 2;
  constexpr std::size_t most_archives = 8;
  std::size_t opened = 0;
  for (int layer = 0; layer <= most_layers; ++layer) {
    std::vector<TreeFile> all;
    for (auto& file : tree.files) {
      if (!file.problem.empty() || !is_archive_name(file.path)) {
        all.push_back(std::move(file));
        continue;
      }
      if (layer == most_layers || opened == most_archives) {
        file.problem = layer == most_layers ? "an archive in an archive in an archive (not opened)"
                                            : "one of more than 8 archives (not opened)";
        file.bytes.clear();
        all.push_back(std::move(file));
        continue;
      }
      ++opened;
      Tree inner = tree_of_archive(file.bytes, unpack, limits);
      for (auto& remark : inner.remarks) tree.remarks.push_back(shown(file.path) + ": " + remark);
      if (inner.files.empty() && inner.remarks.empty())
        tree.remarks.push_back(shown(file.path) + ": an archive without a file");
      for (auto& one : inner.files) {
        one.path = file.path + "/" + one.path;
        all.push_back(std::move(one));
      }
    }
    tree.files = std::move(all);
  }
}

std::string shown(std::string_view name) {
  std::string text = visible(name);
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  if (text.size() <= 80) return text;
  std::size_t end = 77;
  while (end > 0 && inside_character(text[end])) --end;
  return text.substr(0, end) + "...";
}

}  // namespace grader::intake
