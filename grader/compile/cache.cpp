#include "grader/compile/cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/sha256.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;

// Processor time decides; on a busy machine it may take long to get it (a minute was seen to be too
// short).
constexpr std::chrono::seconds compiler_wall{600};
constexpr std::size_t cached_bytes = 256u << 20;
constexpr std::size_t source_cap = 1u << 20;
// One version of all labs takes some 150 MB. What was used in the last quarter of an hour stays: it may
// be read right now.
constexpr std::uintmax_t cache_cap = 512u << 20;
constexpr std::uintmax_t cache_after_pruning = cache_cap / 2;
constexpr std::chrono::minutes in_use{15};

/// Everything that student code is compiled against, as one hash: our headers, what the labs are
/// given, and the compilers' flags.
std::string digest_of_headers(const fs::path& root) {
  static std::mutex guard;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(guard);
  auto& digest = known[root.string()];
  if (!digest.empty()) return digest;
  std::vector<fs::path> folders = {root / "common"};
  for (const auto& lab : fs::directory_iterator(root))
    if (fs::is_directory(lab.path() / "given")) folders.push_back(lab.path() / "given");
  std::set<fs::path> files;
  for (const auto& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      static const std::set<std::string> read_by_compilers = {".hpp", ".cuh", ".h", ".rsp",
                                                              ".inl", ".inc", ""};  // <cuda/atomic>
      if (entry.is_regular_file() &&
          read_by_compilers.count(entry.path().extension().string()) != 0)
        files.insert(entry.path());
    }
  }
  std::string all;
  for (const auto& file : files)
    all += fs::relative(file, root).string() + '\0' + read_file(file) + '\0';
  return digest = sha256(all);
}

/// Headers that a student put beside gemm.cu: part of what is compiled on their own machine.
std::string neighbours(const fs::path& folder) {
  std::set<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() &&
        (extension == ".hpp" || extension == ".cuh" || extension == ".h"))
      files.insert(entry.path());
  }
  std::string all;
  for (const auto& file : files) all += file.filename().string() + '\0' + read_file(file) + '\0';
  return all;
}

/// Recently used entries survive the pruning. False: it is not there.
bool touch(const fs::path& path) {
  std::error_code error;
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return !error;
}

std::optional<std::string> cached(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || !touch(path)) return {};
  try {
    return read_file(path, cached_bytes);
  } catch (const UserError&) {
    return {};  // pruned since, or not to be read: it is made again
  }
}

/// Of a compiler outside of /usr: the folder above its bin/, which a box has to be given.
std::string folder_of_compiler(const std::string& program) {
  std::error_code error;
  const fs::path path = fs::canonical(program, error);
  if (error || program.front() != '/' || path.string().rfind("/usr/", 0) == 0) return {};
  const fs::path folder = path.parent_path().parent_path();
  return folder == "/" ? std::string() : folder.string();
}

}  // namespace

std::string digest_of_library(const fs::path& library) {
  static std::mutex guard;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(guard);
  auto& digest = known[library.string()];
  if (digest.empty()) digest = sha256(read_file(library, 1u << 30));
  return digest;
}

CompilerRuns::CompilerRuns(const Workplace& place, std::string identity,
                           const BuildOptions& options, CompilerLimits limits,
                           std::vector<std::string> environment)
    : place_(place),
      identity_(std::move(identity)),
      options_(options),
      limits_(limits),
      environment_(environment.empty() ? minimal_environment() : std::move(environment)),
      cache_(place.build / "cache"),
      scratch_(options.box ? options.box->folder : place.build / "tmp",
               options.box ? std::nullopt : options.user) {
  make_folder(cache_);
  if (!options.box) return;
  // Another user has to get in: nothing else is in here, and only this submission's boxes see it.
  fs::permissions(scratch_.path(), fs::perms(0755));
  make_folder(scratch_.path() / "in");
}

ProcessSpec CompilerRuns::spec(std::vector<std::string> argv,
                               const std::optional<fs::path>& out) const {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  const bool box = options_.box.has_value();
  spec.environment = box ? std::vector<std::string>{"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin"}
                         : environment_;
  spec.environment.push_back("TMPDIR=" + (box ? "/tmp" : scratch_.path().string()));
  spec.folder = box ? "/lab" : place_.root.string();
  spec.limits.cpu_seconds = limits_.cpu_seconds;
  spec.limits.address_bytes = limits_.address_bytes;
  spec.limits.file_bytes = limits_.file_bytes;
  spec.output_bytes = 256u << 10;
  spec.user = options_.user;
  if (options_.verbose) {
    static std::mutex guard;
    const std::lock_guard lock(guard);
    for (const auto& argument : spec.argv) std::cerr << argument << ' ';
    std::cerr << '\n';
  }
  if (!box) return spec;
  spec.user.reset();
  BoxView view{BoxRole::compiler,
               {{options_.box->kit / "lab", "/lab"}, {scratch_.path() / "in", "/box"}},
               out,
               {}};
  if (const std::string own = folder_of_compiler(spec.argv[0]); !own.empty())
    view.rest.push_back(own);
  return boxed(*options_.box, view, std::move(spec));
}

std::string CompilerRuns::key(const std::string& purpose, const std::string& inputs,
                              const std::vector<std::string>& argv) const {
  std::string text =
      purpose + '\0' + identity_ + '\0' + digest_of_headers(place_.root) + '\0' + inputs;
  // Without files in the private folder, which is another one each time: what they hold is in inputs.
  for (std::size_t i = 1; i < argv.size(); ++i)
    if (argv[i].rfind(scratch_.path().string(), 0) != 0) text += '\0' + argv[i];
  return sha256(text);
}

CacheEntry CompilerRuns::entry(const std::string& purpose, const std::string& inputs,
                               const std::vector<std::string>& argv) const {
  return cache_ / (key(purpose, inputs, argv) + "." + purpose);
}

std::optional<CompilerPass> CompilerRuns::kept(const CacheEntry& entry) const {
  auto bytes = cached(entry);
  if (!bytes) return {};
  CompilerPass pass;
  pass.bytes = std::move(*bytes);
  pass.said = cached(entry.string() + ".txt").value_or("");
  pass.ok = true;
  return pass;
}

void CompilerRuns::keep(const CacheEntry& entry, const CompilerPass& pass) const {
  if (!pass.said.empty()) write_file_atomically(entry.string() + ".txt", pass.said);
  write_file_atomically(entry, pass.bytes);
}

CompilerPass CompilerRuns::run(const std::string& purpose, const std::string& inputs,
                               std::vector<std::string> argv, const std::string& output,
                               const std::string& header,
                               const std::function<bool()>& unchanged) const {
  const CacheEntry where = entry(purpose, inputs, argv);
  if (auto pass = kept(where)) return std::move(*pass);
  if (!header.empty()) argv.insert(argv.end(), {"-Xclang", "-include-pch", "-Xclang", header});
  return run(where, std::move(argv), output, unchanged);
}

CompilerPass CompilerRuns::run(const CacheEntry& entry, std::vector<std::string> argv,
                               const std::string& output,
                               const std::function<bool()>& unchanged) const {
  CompilerPass pass;
  const Budget::Spending spending(options_.budget.get());
  std::optional<Scratch> out;
  if (options_.box) out.emplace(scratch_.path(), options_.box->user);
  const fs::path folder = out ? out->path() : scratch_.path();
  argv.insert(argv.end(), {"-o", ((out ? fs::path("/out") : folder) / output).string()});
  pass.run = run_to_its_own_end(spec(std::move(argv), out ? std::optional(folder) : std::nullopt),
                                compiler_wall);
  pass.said = pass.run.errors + pass.run.output;
  if (!pass.run.ok()) return pass;
  UntrustedFile made = read_untrusted(folder, output, limits_.file_bytes);
  if (made.refusal != Refusal::none)
    throw InfraError("the compiler left no usable " + output + ": " +
                     std::string(to_string(made.refusal)));
  pass.bytes = std::move(made.bytes);
  pass.ok = true;
  if (!unchanged || unchanged()) keep(entry, pass);
  return pass;
}

std::string CompilerRuns::header(const std::string& purpose, std::vector<std::string> argv,
                                 const std::string& beginning) const {
  // The compiler looks for what it once read at the same place again.
  const std::string name = sha256(beginning).substr(0, 16);
  fs::path text = "/dev/null";
  if (!beginning.empty() && options_.box) text = put(name + ".cuh", beginning);
  if (!beginning.empty() && !options_.box) {
    text = cache_ / (name + ".cuh");
    if (!touch(text)) write_file_atomically(text, beginning);
  }
  // Its date would be that of a copy, and where the headers lie is part of it. What the headers use of
  // their own templates is instantiated here; else every pass over a file would do it again, at half
  // of what it takes to read a file.
  argv.insert(argv.end(), {"-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-Xclang",
                           "-fpch-instantiate-templates", text.string()});
  // Headers of several beginnings are made side by side: each has a file of its own.
  const CompilerPass made =
      run(purpose, (options_.box ? "/lab" : place_.root.string()) + '\0' + beginning,
          std::move(argv), "made-" + name + "." + purpose);
  if (!made.ok) return {};
  // Not to be lost in a crash, as put() has it: it is one more copy.
  const fs::path copied = (options_.box ? fs::path("in") : fs::path()) / (name + "." + purpose);
  std::ofstream copy(scratch_.path() / copied, std::ios::binary);
  copy << made.bytes;
  if (!copy.flush()) return {};
  return ((options_.box ? fs::path("/box") : scratch_.path()) / copied.filename()).string();
}

RunResult CompilerRuns::tool(std::vector<std::string> argv) const {
  ProcessSpec listing = spec(std::move(argv));
  // All symbols of an object in the order of its table: what is cut off may be the launcher. A line has some 100 bytes.
  listing.output_bytes = 64u << 20;
  return run_to_its_own_end(std::move(listing), compiler_wall);
}

fs::path CompilerRuns::put(const std::string& name, const std::string& bytes) const {
  const fs::path folder = options_.box ? scratch_.path() / "in" : scratch_.path();
  const fs::path path = folder / name;
  make_folder(path.parent_path());
  write_file_atomically(path, bytes);
  return options_.box ? fs::path("/box") / name : path;
}

LinkedProgram CompilerRuns::keep_program(const std::string& bytes) const {
  const std::string name = sha256(bytes) + ".program";
  const fs::path path = (options_.box ? options_.box->folder : cache_) / name;
  // Another grader may prune between two of these steps; a file system may also refuse for good.
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (!touch(path)) {
      const fs::path made = scratch_.path() / name;
      write_file_atomically(made, bytes);
      fs::permissions(made, fs::perms(0755));
      // A link, since a rename would take the place of a file that another grader holds by now.
      std::error_code error;
      fs::create_hard_link(made, path, error);
      if (error && !fs::exists(path))
        fs::rename(made, path);
      else
        fs::remove(made);
    }
    if (options_.box) return {path, {}};
    auto lease = std::make_shared<UniqueFd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!*lease) continue;
    // A file system without locks gives none: then its date is what protects it.
    if (::flock(lease->get(), LOCK_SH) != 0) return {path, {}};
    struct stat status {};
    if (::fstat(lease->get(), &status) == 0 && status.st_nlink > 0) return {path, std::move(lease)};
  }
  throw InfraError("a program cannot be kept at " + path.string());
}

// Keeps the cache from growing for ever under `make watch`.
void CompilerRuns::prune() const {
  struct Kept {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::error_code error;
  std::vector<Kept> entries;
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(cache_, error)) {
    const fs::file_time_type used = entry.last_write_time(error);
    if (error) continue;
    const std::uintmax_t size = entry.file_size(error);
    if (error) continue;  // another grader prunes too
    bytes += size;
    // The empty file that every host pass names is never touched.
    if (entry.path().filename() != "no_gpu_binary") entries.push_back({used, size, entry.path()});
  }
  if (bytes <= cache_cap) return;
  std::sort(entries.begin(), entries.end(),
            [](const Kept& a, const Kept& b) { return a.used < b.used; });
  const auto kept_since = fs::file_time_type::clock::now() - in_use;
  for (const Kept& entry : entries) {
    if (bytes <= cache_after_pruning || entry.used >= kept_since) return;
    const UniqueFd lock(::open(entry.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;  // a leased program
    if (fs::remove(entry.path, error)) bytes -= entry.bytes;
  }
}

namespace {

/// Clang's own words when it has no memory left, at the beginning of a line. A source that merely says
/// so is quoted by an ordinary error, which ends with status 1.
bool ran_out_of_memory(const CompilerPass& pass) {
  if (WIFEXITED(pass.run.status) && WEXITSTATUS(pass.run.status) == 1) return false;
  std::istringstream lines(pass.said);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("LLVM ERROR: out of memory") ||
        (line.starts_with("terminate called") && line.find("bad_alloc") != std::string::npos))
      return true;
  return false;
}

}  // namespace

bool CompilerRuns::explain_limit(const CompilerPass& pass, const std::string& file,
                                 std::string& headline) const {
  const int status = pass.run.status;
  const bool by_limit =
      pass.run.timed_out ||
      (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL));
  const bool memory = ran_out_of_memory(pass);
  if (!by_limit && !memory) return false;
  headline =
      memory ? text("build.memory",
                    {{"file", file}, {"limit", std::to_string(limits_.address_bytes >> 30)}})
             : text("build.time", {{"file", file}, {"limit", std::to_string(limits_.cpu_seconds)}});
  return true;
}

bool StudentFile::unchanged() const {
  if (open_to_change.empty()) return true;
  try {
    return read_file(open_to_change, source_cap) == source;
  } catch (const std::exception&) {
    return false;  // gone, or too large by now
  }
}

StudentFile read_student_file(const Workplace& place, const Lab& lab, const fs::path& source,
                              const BuildOptions& options, const CompilerRuns& runs) {
  StudentFile student;
  const fs::path absolute = fs::absolute(place.root / source).lexically_normal();
  const fs::path relative = absolute.lexically_relative(place.root);
  const bool inside = !relative.empty() && *relative.begin() != "..";
  student.compiled = inside ? relative.string() : source.string();
  // By the name that lab.toml knows, whatever the stranger's own is, and wherever it lies here.
  const std::vector<std::string> known = lab.files();
  const std::string own = absolute.filename().string();
  const std::string name =
      std::find(known.begin(), known.end(), own) == known.end() ? known.front() : own;
  // A folder of that name elsewhere stands for the lab's: what is said fits into as many columns.
  const bool stands_for = !inside && absolute.parent_path().filename() == lab.name;
  student.shown_path = options.hostile || stands_for ? lab.name + "/" + name : student.compiled;

  UntrustedFile file;
  if (options.hostile) {
    file = read_untrusted(absolute.parent_path(), absolute.filename(), source_cap);
  } else {
    std::error_code error;
    if (!fs::exists(absolute, error))
      file.refusal = Refusal::missing;
    else if (!fs::is_regular_file(absolute, error))
      file.refusal = Refusal::not_regular;
    else
      file.bytes = read_file(absolute, source_cap);
  }
  if (file.refusal == Refusal::missing) {
    student.status = BuildStatus::missing;
    student.headline =
        text("build.missing", {{"file", student.shown_path}, {"lab", std::to_string(lab.id)}});
    return student;
  }
  if (file.refusal != Refusal::none) {
    student.status = BuildStatus::refused;
    student.headline = text("build.refused", {{"file", student.shown_path},
                                              {"why", std::string(to_string(file.refusal))}});
    return student;
  }
  student.source = std::move(file.bytes);
  if (student.source.find_first_not_of(" \t\r\n") == std::string::npos) {
    student.status = BuildStatus::empty;
    student.headline =
        text("build.empty", {{"file", student.shown_path}, {"lab", std::to_string(lab.id)}});
    return student;
  }

  // A copy under a fixed name keeps odd paths and odd neighbours of a stranger's file away from the
  // compilers.
  student.beside = (options.hostile ? student.shown_path : student.compiled) + '\0';
  if (options.hostile) {
    if (options.box) {
      student.compiled = runs.put(lab.name + "/" + name, student.source).string();
    } else {
      const fs::path copy = place.build / "submissions" / sha256(student.source) / lab.name / name;
      make_folder(copy.parent_path());
      if (!fs::exists(copy)) write_file_atomically(copy, student.source);
      const fs::path below = copy.lexically_relative(place.root);
      student.compiled = !below.empty() && *below.begin() != ".." ? below.string() : copy.string();
    }
    student.beside += student.compiled;
  } else {
    student.beside += neighbours(absolute.parent_path());
    student.open_to_change = absolute;
  }
  student.inputs = student.source + '\0' + student.beside;
  return student;
}

}  // namespace grader
