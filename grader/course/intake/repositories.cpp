#include <algorithm>
#include <sstream>

#include "grader/course/intake/kinds.hpp"
#include "grader/errors.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/process.hpp"
#include "grader/os/sha256.hpp"

extern char** environ;

namespace grader::intake {
namespace fs = std::filesystem;
namespace {

/// Classroom calls a repository assignment-account, and both may have hyphens: every ending is a
/// candidate, the longest first, for the roster to choose from.
std::vector<std::string> accounts(const std::string& repository) {
  std::vector<std::string> found;
  for (std::size_t at = repository.find('-'); at != std::string::npos;
       at = repository.find('-', at + 1))
    if (at + 1 < repository.size()) found.push_back(repository.substr(at + 1));
  return found;
}

std::string name_of(std::string address) {
  while (!address.empty() && address.back() == '/') address.pop_back();
  if (address.ends_with(".git")) address.resize(address.size() - 4);
  const std::size_t slash = address.find_last_of("/:");
  return slash == std::string::npos ? address : address.substr(slash + 1);
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "git said nothing";
  const std::size_t begin = text.find_last_of('\n', end);
  return shown(text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin));
}

std::string git(std::vector<std::string> arguments, std::size_t output_bytes) {
  ProcessSpec spec;
  // What a repository brings along runs nothing: no hook (an empty template), no monitor, no filter.
  spec.argv = {"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  // The instructor's own keys and helpers are needed to get in; a question would wait for ever.
  for (char** one = environ; *one; ++one)
    if (std::string_view(*one).rfind("GIT_DIR=", 0) != 0) spec.environment.emplace_back(*one);
  spec.environment.emplace_back("GIT_TERMINAL_PROMPT=0");
  spec.environment.emplace_back("GIT_ALLOW_PROTOCOL=file:git:https:ssh");
  spec.environment.emplace_back("GIT_LFS_SKIP_SMUDGE=1");
  spec.environment.emplace_back("LC_ALL=C");
  spec.output_bytes = output_bytes;
  const RunResult ran = run_process(spec, std::chrono::minutes(5));
  if (ran.timed_out) throw InfraError("git gave no answer within 5 minutes");
  if (ran.capped)
    throw InfraError("the repository is larger than " + std::to_string(output_bytes >> 20) +
                     " MiB");
  if (ran.status != 0) throw InfraError(last_line(ran.errors));
  return ran.output;
}

}  // namespace

std::optional<Found> find_clones(const Source& source) {
  Found found;
  std::size_t others = 0;
  for (const auto& entry : source.entries()) {
    if (is_hidden(entry.name)) continue;
    const auto inside =
        entry.kind == EntryKind::folder ? source.inside(entry.name) : std::vector<std::string>();
    if (std::find(inside.begin(), inside.end(), ".git") == inside.end()) {
      ++others;
      found.ignored.push_back(shown(entry.name) + ": not a clone of a repository");
      continue;
    }
    Submission one;
    one.id = entry.name;
    one.also = accounts(entry.name);
    one.parts.push_back({entry.name, ""});
    found.students.push_back(std::move(one));
  }
  if (found.students.size() <= others) return {};
  return found;
}

Found find_repositories(const fs::path& list) {
  Found found;
  std::istringstream lines(read_file(list, 4u << 20));
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> parts;
    for (std::string word; words >> word;) parts.push_back(word);
    if (parts.empty()) continue;
    const std::string& address = parts.back();
    if (parts.size() > 2 || address.front() == '-' ||
        (address.find('/') == std::string::npos && address.find(':') == std::string::npos))
      throw UserError(list.string() + ":" + std::to_string(number) +
                          ": not the address of a repository, nor an id and one: " + shown(line),
                      exit_usage);
    Submission one;
    one.id = parts.size() == 2 ? parts.front() : name_of(address);
    if (parts.size() == 1) one.also = accounts(one.id);
    one.parts.push_back({address, ""});
    found.students.push_back(std::move(one));
  }
  return found;
}

Tree tree_of_repository(const std::string& address, const fs::path& store, const Unpack& unpack) {
  const fs::path clone = store / (sha256(address).substr(0, 20) + ".git");
  if (fs::exists(clone / "HEAD")) {
    git({"-C", clone.string(), "fetch", "-q", "--depth=1", "--no-tags", "origin", "HEAD"},
        1u << 20);
  } else {
    // Into a folder that gets its name when it is whole: a clone that was killed is none.
    make_folder(store);
    const fs::path partial = clone.string() + ".partial";
    fs::remove_all(partial);
    git({"clone", "-q", "--bare", "--depth=1", "--no-tags", "--single-branch", "--template=", "--",
         address, partial.string()},
        1u << 20);
    fs::rename(partial, clone);
    git({"-C", clone.string(), "fetch", "-q", "--depth=1", "--no-tags", "origin", "HEAD"},
        1u << 20);
  }
  Tree tree = tree_of_archive(
      git({"-C", clone.string(), "archive", "--format=tar", "FETCH_HEAD"}, Limits().packed_bytes),
      unpack);
  open_archives(tree, unpack);
  return tree;
}

}  // namespace grader::intake
