#include "grader/compile/array_bounds.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "common/simgpu/ptx/clusters.hpp"
#include "grader/compile/cache.hpp"
#include "grader/compile/unit.hpp"

namespace grader {
namespace {

bool of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The subscripts that begin at `at`, without their brackets.
std::vector<std::string> subscripts_at(const std::string& source, std::size_t at) {
  std::vector<std::string> found;
  for (;;) {
    at = source.find_first_not_of(" \t\r\n", at);
    if (at == std::string::npos || source[at] != '[') return found;
    int depth = 0;
    std::size_t end = at;
    for (; end < source.size(); ++end) {
      depth += source[end] == '[' ? 1 : source[end] == ']' ? -1 : 0;
      if (depth == 0) break;
    }
    if (depth != 0) return found;
    found.push_back(source.substr(at + 1, end - at - 1));
    at = end + 1;
  }
}

/// The most subscripts that follow a name anywhere: where it is declared it has all of them.
std::size_t dimensions_of(const std::string& source, const std::string& name) {
  std::size_t most = 0;
  for (std::size_t at = source.find(name); at != std::string::npos;
       at = source.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && of_name(source[at - 1])) || (end < source.size() && of_name(source[end])))
      continue;
    most = std::max(most, subscripts_at(source, end).size());
  }
  return most;
}

std::size_t offset_of(const std::string& source, unsigned line, unsigned column) {
  std::size_t at = 0;
  for (unsigned i = 1; i < line && at != std::string::npos; ++i) {
    at = source.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  if (at == std::string::npos || column == 0 || at + column > source.size())
    return std::string::npos;
  return at + column - 1;
}

}  // namespace

std::optional<ArrayIndex> array_index_in(const std::string& printed) {
  static const std::string begin = "array bounds ";
  const std::size_t at = printed.find(begin);
  if (at == std::string::npos) return {};
  std::istringstream line(printed.substr(at + begin.size()));
  ArrayIndex found;
  line >> found.line >> found.column >> found.index;
  for (unsigned& one : found.thread) line >> one;
  for (unsigned& one : found.block) line >> one;
  // The type is in quotes: 'unsigned int[4]'.
  line >> std::ws;
  std::string rest;
  std::getline(line, rest);
  const std::size_t end = rest.find("' ");
  if (rest.empty() || rest.front() != '\'' || end == std::string::npos) return {};
  found.type = rest.substr(1, end - 1);
  found.file = rest.substr(end + 2);
  return found;
}

std::optional<ArrayOverrun> overrun_of(const ArrayIndex& index, const std::string& source) {
  ArrayOverrun found;
  const auto lengths =
      static_cast<std::size_t>(std::count(index.type.begin(), index.type.end(), '['));
  const std::size_t bracket = index.type.find('[');
  if (bracket == std::string::npos) return {};
  found.length = std::atoll(index.type.c_str() + bracket + 1);
  found.rows = lengths > 1;
  const std::size_t begin = offset_of(source, index.line, index.column);
  if (begin == std::string::npos || found.length < 1) return {};
  std::size_t end = begin;
  while (end < source.size() && of_name(source[end])) ++end;
  found.name = source.substr(begin, end - begin);
  if (found.name.empty()) return {};
  const std::vector<std::string> written = subscripts_at(source, end);
  const std::size_t dimensions = std::max(dimensions_of(source, found.name), lengths);
  const std::size_t before = dimensions - lengths;
  if (written.empty() || before >= written.size()) return {};
  // More than a thread has registers: a tile kept as one row. Where in it is worked out elsewhere, often
  // by whoever called this line, and what comes of it tells more.
  constexpr std::int64_t kRegisters = 255;
  if (dimensions == 1 && found.length > kRegisters) return {};
  found.inner = before > 0;
  found.row = found.name;
  for (std::size_t i = 0; i < before; ++i) found.row += '[' + written[i] + ']';
  found.access = found.row + '[' + std::to_string(index.index) + ']';
  const std::size_t left = source.find_last_not_of(" \t\r\n", begin == 0 ? 0 : begin - 1);
  const bool address = begin > 0 && left != std::string::npos && source[left] == '&';
  if (address && index.index == found.length) return {};
  const bool first_row =
      std::all_of(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(before),
                  [](const std::string& one) { return one == "0"; });
  if (found.inner && first_row) return {};
  return found;
}

bool may_have_arrays(const std::string& source) {
  std::string before;  // the word in front, without blanks and comments
  bool apart = false;  // and something came between
  for (std::size_t i = 0; i < source.size(); ++i) {
    const bool line = source.compare(i, 2, "//") == 0, block = source.compare(i, 2, "/*") == 0;
    if (line || block) {
      const std::size_t end = source.find(line ? "\n" : "*/", i + 2);
      if (end == std::string::npos) return false;
      i = end + (line ? 0 : 1);
      apart = true;
    } else if (std::isspace(static_cast<unsigned char>(source[i])) != 0) {
      apart = true;
    } else if (of_name(source[i])) {
      if (apart) before.clear();
      before += source[i];
      apart = false;
    } else {
      if (source[i] == '[' && !before.empty() && before != "auto") return true;  // not auto [x, y]
      before.clear();
    }
  }
  return false;
}

std::optional<Build> with_array_bounds(const Workplace& place, const Toolchain& toolchain,
                                       const Lab& lab, const SourceOf& source,
                                       const BuildOptions& options, const Build& built,
                                       const Rung& rung, const std::string& type) {
  const CompilerRuns runs(place, toolchain.identity, options);
  const StudentFile student = read_student_file(place, lab, source(rung.file), options, runs);
  if (student.status != BuildStatus::built || student.source != built.unit(rung.file).source)
    return {};
  const TranslationUnit unit = translation_unit(
      lab, rung.file, student.compiled,
      [&](const Rung& one, const std::string& of) { return one.name == rung.name && of == type; });
  const std::string path = runs.put("array_bounds.cu", unit.text).string();
  std::vector<std::string> flags = {toolchain.clang, "@common/simgpu/flags/device.rsp", "-I.",
                                    device_flags_of(toolchain.clang_version),
                                    "@common/simgpu/flags/array_bounds.rsp"};
  // Else the last array of a struct counts as one without an end.
  if (std::atoi(toolchain.clang_version.c_str()) >= 16)
    flags.insert(flags.end(), {"-Xclang", "-fstrict-flex-arrays=3"});
  const auto compiled = [&](const std::string& name, const std::vector<std::string>& more,
                            const std::string& header) {
    std::vector<std::string> argv = flags;
    argv.insert(argv.end(), more.begin(), more.end());
    argv.push_back(path);
    return runs.run(name, unit.text + '\0' + student.inputs, argv, name + ".ptx", header,
                    [&student] { return student.unchanged(); });
  };
  // With a precompiled header reading takes a tenth of a second less, each time.
  const std::string header = runs.header("array_bounds.pch", flags, "");
  CompilerPass pass = compiled("array_bounds", {}, header);
  if (!pass.ok && !header.empty()) pass = compiled("array_bounds", {}, "");
  if (!pass.ok) return {};
  if (simgpu::ptx::has_clusters(pass.bytes)) {
    const CompilerPass clusters =
        compiled("array_bounds.clusters", {"-D__SIMGPU_CLUSTER_PASS"}, "");
    if (!clusters.ok) return {};
    pass.bytes += std::string(simgpu::ptx::kClusters) + clusters.bytes;
  }
  Build checked = built;
  checked.array_bounds = {};
  for (SourceUnit& one : checked.units) one.ptx.clear();
  for (SourceUnit& one : checked.units)
    if (one.file == rung.file) one.ptx = {std::move(pass.bytes)};
  return checked;
}

}  // namespace grader
