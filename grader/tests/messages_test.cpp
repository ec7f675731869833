// The catalogue of messages against the code that uses it.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <toml++/toml.h>

#include "common/catch2.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
namespace fs = std::filesystem;

namespace {

/// The grader's C++, without its tests: path from the root -> text.
const std::map<std::string, std::string>& sources() {
  static const std::map<std::string, std::string> all = [] {
    std::map<std::string, std::string> found;
    const fs::path root = test::project_root();
    const auto take = [&](const fs::path& path) {
      const std::string name = fs::relative(path, root).string();
      const auto kind = path.extension();
      if ((kind == ".cpp" || kind == ".hpp" || kind == ".cu" || kind == ".cuh") &&
          name.find("/tests/") == name.npos)
        found[name] = read_file(path);
    };
    for (const auto& entry : fs::recursive_directory_iterator(root / "grader")) take(entry.path());
    for (const auto& lab : fs::directory_iterator(root))
      if (fs::exists(lab.path() / "goals.cpp")) take(lab.path() / "goals.cpp");
    return found;
  }();
  return all;
}

std::set<std::string> gaps_of(std::string_view pattern) {
  std::set<std::string> gaps;
  for (std::size_t at = pattern.find('{'); at != pattern.npos; at = pattern.find('{', at + 1))
    gaps.emplace(pattern.substr(at + 1, pattern.find('}', at) - at - 1));
  return gaps;
}

/// What stands between text( at `begin` and the parenthesis that closes it.
std::string call_at(const std::string& source, std::size_t begin) {
  int depth = 1;
  bool quoted = false;
  std::size_t at = begin;
  for (; at < source.size() && depth > 0; ++at) {
    if (source[at] == '\\')
      ++at;
    else if (source[at] == '"')
      quoted = !quoted;
    else if (!quoted)
      depth += source[at] == '(' ? 1 : source[at] == ')' ? -1 : 0;
  }
  return source.substr(begin, at - begin);
}

}  // namespace

TEST_CASE("the catalogue is sound", "[messages]") {
  using namespace grader::messages;
  std::set<std::string_view> seen;
  for (const std::string_view key : keys()) {
    INFO(std::string(key));
    CHECK(seen.insert(key).second);  // else one of its texts is never shown
    std::vector<Gap> gaps;
    const std::set<std::string> names = gaps_of(raw(key));
    for (const std::string& gap : names) {
      CHECK(std::regex_match(gap, std::regex("[a-z][a-z0-9_]*")));
      gaps.emplace_back(gap, "");
    }
    CHECK_NOTHROW(text(key, gaps));
    const std::size_t dot = key.rfind(".headline");
    if (dot == std::string_view::npos || dot + 9 != key.size()) continue;
    const std::string stem(key.substr(0, dot));
    CHECK((exists(stem + ".next") || exists(stem.substr(0, stem.find('.')) + ".next")));
  }
  CHECK_THROWS_AS(text("no such key"), std::out_of_range);
  CHECK_THROWS_AS(text("ALL-ZERO.headline.x"), std::out_of_range);
  CHECK_THROWS_AS(text("UNINIT.headline", {{"where", "line 3"}}), std::out_of_range);
  CHECK(text("UNINIT.headline", {{"where", "line 3"}, {"object", "As"}}) ==
        "line 3 reads As, which was never written");
}

TEST_CASE("nobody is asked to mend a launch that the lab gives", "[messages]") {
  // What a step says of launches there that is true whoever wrote them: it names what blocks and kernels do, or a
  // launch of which it is known that it was added or changed.
  const std::set<std::string_view> facts = {"EXIT.next",
                                            "EXCEPTION.next",
                                            "EXCEPTION.map.extent.next",
                                            "OVERWRITTEN.kernel.next",
                                            "RACE-GLOBAL.next",
                                            "OTHER-STREAM.next",
                                            "RACE-GLOBAL.scratch.next",
                                            "LAUNCHED-AGAIN.next",
                                            "DEFAULT-STREAM.next",
                                            "gpu.timed_wrong.next",
                                            "gpu.large_wrong.next",
                                            "stage.signature.next",
                                            "RACE-WAW.shared_tile.next",
                                            "UNWRITTEN.hint.covered",
                                            "SWAPPED-EXTENTS.blocks.next"};
  const std::regex of_launches(R"(<<<|\b[Ll]aunch|\b[Gg]rid\b)");
  unsigned forms = 0;
  for (const std::string_view key : messages::keys()) {
    INFO(std::string(key));
    const std::string text(messages::raw(key));
    const std::size_t dot = key.rfind(".given");
    if (dot != key.npos && dot + 6 == key.size()) {
      ++forms;
      const std::string base(key.substr(0, dot));
      REQUIRE(messages::exists(base));
      const std::set<std::string> gaps = gaps_of(text), known = gaps_of(messages::raw(base));
      CHECK(std::includes(known.begin(), known.end(), gaps.begin(), gaps.end()));
      continue;
    }
    const bool asks =
        key.find(".hint.") != key.npos ? key.starts_with("UNWRITTEN") : key.ends_with(".next");
    if (asks && std::regex_search(text, of_launches))
      CHECK((facts.count(key) == 1) != messages::exists(std::string(key) + ".given"));
  }
  CHECK(forms > 20);
}

TEST_CASE("the catalogue is the TOML that its files say", "[messages]") {
  std::size_t size = 0;
  for (const char* name : {"messages.toml", "author/messages.toml", "course/messages.toml"}) {
    const toml::table file = toml::parse_file((test::project_root() / "grader" / name).string());
    CHECK(file.size() > 10);
    size += file.size();
    for (const auto& [key, value] : file) {
      INFO(name << ": " << key.str());
      CHECK(value.value<std::string>() == std::string(messages::raw(key.str())));
    }
  }
  CHECK(size == messages::keys().size());
}

TEST_CASE("what only staff and authors say is not in the students' catalogue", "[messages]") {
  // A key that the code names as a whole, and no file of what students have.
  std::set<std::string> theirs, others;
  static const std::regex literal(R"re("([A-Za-z][\w-]*\.[\w.-]+)")re");
  for (const auto& [name, source] : sources()) {
    const bool handed_out = name.rfind("grader/author/", 0) && name.rfind("grader/course/", 0);
    for (std::sregex_iterator one(source.begin(), source.end(), literal), none; one != none; ++one)
      (handed_out ? theirs : others).insert((*one)[1]);
  }
  const toml::table file =
      toml::parse_file((test::project_root() / "grader/messages.toml").string());
  unsigned seen = 0;
  for (const std::string& key : others) {
    INFO(key);
    CHECK((theirs.count(key) || !file.contains(key)));
    seen += messages::exists(key);
  }
  CHECK(seen > 30);
  // And what the students' part says is there, where no other catalogue is linked.
  for (const std::string& key : theirs) {
    INFO(key);
    CHECK((file.contains(key) || !messages::exists(key)));
  }
}

TEST_CASE("every message that the grader's code names is in the catalogue, with all its gaps",
          "[messages]") {
  // text("key", {{"gap", ...}, ...}) in the sources: the key must exist and the gaps must be
  // exactly those.
  unsigned seen = 0;
  for (const auto& [name, source] : sources()) {
    for (std::size_t at = source.find("text(\""); at != source.npos;
         at = source.find("text(\"", at + 1)) {
      if (at > 0 &&
          (std::isalnum(static_cast<unsigned char>(source[at - 1])) || source[at - 1] == '_'))
        continue;
      const std::string call = call_at(source, at + 5);
      const std::size_t end = call.find('"', 1);
      const std::string key = call.substr(1, end - 1);
      if (call[end + 1] != ',' && call[end + 1] != ')') continue;  // "key" + something
      INFO(name << ": " << key);
      REQUIRE(messages::exists(key));
      ++seen;
      std::set<std::string> given;
      static const std::regex gap(R"re(\{\s*"(\w+)",)re");
      for (std::sregex_iterator one(call.begin(), call.end(), gap), none; one != none; ++one)
        given.insert((*one)[1]);
      if (!given.empty() || call[end + 1] == ')') CHECK(given == gaps_of(messages::raw(key)));
    }
  }
  CHECK(seen > 200);
}

TEST_CASE("what a student reads stands in the catalogue", "[messages]") {
  // Four words in a row are taken for a sentence. Those that stand elsewhere, and why:
  static const std::map<std::string, std::string> elsewhere = {
      {"grader/main.cpp", "options: CLI11 prints them"},
      {"grader/bench/main.cpp", "options"},
      {"grader/bench/ceilings.cu", "names of ceilings, kept with their values"},
      {"grader/commands/command_line.hpp", "options"},
      {"grader/messages.cpp", "a catalogue that cannot be read"},
      {"grader/labs/lab_toml.cpp", "mistakes in a lab's files, told to its author"},
      {"grader/labs/goals.cpp", "advice of a goal, beside the goal"},
      {"grader/os/", "faults of the machine, and names of them"},
      {"grader/compile/", "faults of the machine, and generated code"},
      {"grader/gpu/", "faults of the machine and of the timing worker"},
      {"grader/judge/", "faults of the grader, and names of assertions"},
  };
  std::set<std::string> used;
  static const std::regex prose(
      R"re("(?:[^"\\\n]|\\.)*\b[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,})re");
  static const std::regex comment("//[^\n]*");
  for (const auto& [name, source] : sources()) {
    if (name.rfind("grader/author/", 0) == 0 || name.rfind("grader/course/", 0) == 0 ||
        name.rfind("grader/", 0) != 0)
      continue;
    const auto names_file = [&file = name](const auto& one) {
      return file.rfind(one.first, 0) == 0;
    };
    const auto allowed = std::find_if(elsewhere.begin(), elsewhere.end(), names_file);
    std::istringstream lines(std::regex_replace(source, comment, ""));
    for (std::string line; std::getline(lines, line);) {
      if (!std::regex_search(line, prose)) continue;
      INFO(name << ": " << line);
      CHECK(allowed != elsewhere.end());
      if (allowed != elsewhere.end()) used.insert(allowed->first);
    }
  }
  for (const auto& [name, why] : elsewhere) {
    INFO(name << " needs no exception any more (" << why << ")");
    CHECK(used.count(name) == 1);
  }
}

TEST_CASE("every fragment of the explained page is used", "[messages]") {
  std::string code;
  for (const auto& [name, source] : sources())
    if (name.rfind("grader/explain/", 0) == 0) code += source;
  const std::string page = read_file(test::project_root() / "grader/explain/assets/explain.html");
  static const std::regex begin("\n<!-- fragment ([a-z_.]+) -->\n");
  unsigned seen = 0;
  for (std::sregex_iterator one(page.begin(), page.end(), begin), none; one != none;
       ++one, ++seen) {
    INFO((*one)[1].str());
    CHECK(code.find('"' + (*one)[1].str() + '"') != std::string::npos);
  }
  CHECK(seen > 60);
}

TEST_CASE("no message is left that nobody says", "[messages]") {
  // A key stands in the code as a whole, or in parts that end at its dots: "explain.shared" and
  // ".worst".
  std::set<std::string> literals;
  static const std::regex literal(R"re("((?:[^"\\\n]|\\.)*)")re");
  for (const auto& [name, source] : sources())
    for (std::sregex_iterator one(source.begin(), source.end(), literal), none; one != none; ++one)
      literals.insert((*one)[1]);
  const auto named = [&](const std::string& part) {
    const std::size_t dash = part.find('-');  // of A-TRANSPOSED only the matrix is a variable
    return literals.count(part) || literals.count(part + ".") || literals.count("." + part) ||
           literals.count("." + part + ".") || (dash == 1 && literals.count(part.substr(dash)));
  };
  for (const std::string_view key : messages::keys()) {
    std::vector<std::size_t> ends;  // of the parts, each behind its dot
    for (std::size_t at = 0; at != std::string::npos && at < key.size();
         at = key.find('.', at) == key.npos ? key.size() : key.find('.', at) + 1)
      ends.push_back(at);
    ends.push_back(key.size() + 1);
    std::vector<bool> reached(ends.size());
    reached[0] = true;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i)
      for (std::size_t j = i + 1; reached[i] && j < ends.size(); ++j)
        if (named(std::string(key.substr(ends[i], ends[j] - ends[i] - 1)))) reached[j] = true;
    INFO(std::string(key));
    CHECK(reached.back());
  }
}
