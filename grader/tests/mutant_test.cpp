// The format of mutants: what is wrong with a file must be said, and an edit must never apply by
// accident.
#include "grader/author/mutants/mutant.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "common/catch2.hpp"
#include "grader/messages.hpp"

using namespace grader::staff;

namespace {

std::string error_of(const std::string& text, bool must_pass = false) {
  try {
    parse_mutant(text, must_pass);
  } catch (const MutantError& error) {
    return error.what();
  }
  return "";
}

const std::string kHeader =
    "# id: L1-02\n# stage: 1.1\n# expect: B-TRANSPOSED | WRONG-LD\n# note: why\n";

}  // namespace

TEST_CASE("a mutant is read and applied") {
  const Mutant m = parse_mutant(
      kHeader + "<<<<<<<\none\n=======\n1\n>>>>>>>\n<<<<<<<\n1\ntwo\n=======\n>>>>>>>\n", false);
  CHECK(m.id == "L1-02");
  CHECK(m.stages == std::vector<std::string>{"1.1"});
  CHECK(m.expect == std::vector<std::string>{"B-TRANSPOSED", "WRONG-LD"});
  CHECK(m.note == "why");
  REQUIRE(m.edits.size() == 2);
  CHECK(applied(m, "zero\none\ntwo\nthree\n") == "zero\nthree\n");
  CHECK(
      parse_mutant(
          "# id: x\r\n# stage: 1.1\r\n# expect: OOB\r\n<<<<<<<\r\na\r\n=======\r\nb\r\n>>>>>>>\r\n",
          false)
          .edits[0]
          .from == "a\n");
}

TEST_CASE("a mutant may say which words its message has, and an alternative may not") {
  const std::string edit = "<<<<<<<\none\n=======\n1\n>>>>>>>\n";
  CHECK(parse_mutant(kHeader + edit, false).says.empty());
  CHECK(parse_mutant(kHeader + "# says: the row of B\n" + edit, false).says == "the row of B");
  CHECK_THROWS_AS(parse_mutant("# id: x\n# stage: all\n# says: one\n" + edit, true), MutantError);
  // Nothing would look at it there.
  CHECK_THROWS_AS(
      parse_mutant("# id: x\n# stage: 1.1\n# advice: LOADS\n# says: one\n" + edit, false),
      MutantError);
}

TEST_CASE("an edit that does not apply exactly once is an error with its line") {
  const Mutant m = parse_mutant(kHeader + "<<<<<<<\none\n=======\n1\n>>>>>>>\n", false);
  CHECK_THROWS_AS(applied(m, "two\n"), MutantError);
  CHECK_THROWS_AS(applied(m, "one\none\n"), MutantError);
  try {
    applied(m, "two\n");
  } catch (const MutantError& error) {
    CHECK(std::string(error.what()).find("line 5: this edit no longer applies") == 0);
  }
}

TEST_CASE("broken mutants are told so") {
  const std::string edit = "<<<<<<<\na\n=======\nb\n>>>>>>>\n";
  CHECK(error_of(kHeader) == "line 1: no edit");
  CHECK(error_of("# stage: 1.1\n# expect: OOB\n" + edit) == "line 1: `# id:` is missing");
  CHECK(error_of("# id: x\n# expect: OOB\n" + edit) == "line 1: `# stage:` is missing");
  CHECK(error_of("# id: x\n# stage: 1.1\n" + edit) ==
        "line 1: a mutant has `# expect:` or `# advice:`");
  CHECK(error_of(kHeader + "# advice: BARRIERS\n" + edit) ==
        "line 1: a mutant has `# expect:` or `# advice:`");
  CHECK(error_of("# id: x\n# stage: 1.1\n# advice: BARRIERS\n" + edit).empty());
  CHECK(error_of("# id: x\n# stage: 1.1 1.2\n# expect: OOB\n" + edit) ==
        "line 1: a mutant names one stage");
  CHECK(error_of("# id: x\n# stage: 1.1\n# expect: OOB\n" + edit, true)
            .find("an alternative passes") != std::string::npos);
  CHECK(error_of(kHeader + "# expects: OOB\n" + edit) == "line 5: unknown header `expects`");
  CHECK(error_of(kHeader + "some text\n" + edit).find("line 5: expected") == 0);
  CHECK(error_of(kHeader + "<<<<<<<\na\n=======\nb\n") == "line 5: this edit is not closed");
  CHECK(error_of(kHeader + "<<<<<<<\na\n>>>>>>>\n") == "line 7: an edit without =======");
  CHECK(error_of(kHeader + "<<<<<<<\na\n=======\nb\n<<<<<<<\n") ==
        "line 9: an edit without >>>>>>>");
  CHECK(error_of(kHeader + "<<<<<<<\n=======\nb\n>>>>>>>\n") ==
        "line 5: an edit that replaces nothing");
  CHECK(error_of(kHeader + "<<<<<<<\na\n=======\na\n>>>>>>>\n") ==
        "line 5: an edit that changes nothing");
}

TEST_CASE("alternatives name their stages") {
  CHECK(stages_of_alternative("// stages: all\n").empty());
  CHECK(stages_of_alternative("// stages: 3.1 3.2\ncode").size() == 2);
  CHECK_THROWS_AS(stages_of_alternative("// stages:\n"), MutantError);
  CHECK_THROWS_AS(stages_of_alternative("#include <x>\n"), MutantError);
  CHECK(parse_mutant("# id: x\n# stage: all\n<<<<<<<\na\n=======\nb\n>>>>>>>\n", true)
            .stages.empty());
}

TEST_CASE("every mutant and alternative of the labs can be read and applied") {
  namespace fs = std::filesystem;
  const auto text_of = [](const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::set<std::string> ids;
  std::size_t mutants = 0, alternatives = 0;
  for (const auto& lab : fs::directory_iterator(".")) {
    if (lab.path().filename().string().rfind("lab", 0) != 0) continue;
    for (const bool must_pass : {false, true}) {
      const fs::path folder = lab.path() / (must_pass ? "alternatives" : "mutants");
      if (!fs::is_directory(folder)) continue;
      for (const auto& entry : fs::directory_iterator(folder)) {
        INFO(entry.path().string());
        ++(must_pass ? alternatives : mutants);
        if (entry.path().extension() == ".cu") {
          CHECK_NOTHROW(stages_of_alternative(text_of(entry.path())));
          continue;
        }
        Mutant m;
        REQUIRE_NOTHROW(m = parse_mutant(text_of(entry.path()), must_pass));
        const std::string file = m.file.empty() ? "gemm.cu" : m.file;
        CHECK_NOTHROW(applied(m, text_of(lab.path() / "solution" / file)));
        CHECK(ids.insert(lab.path().string() + m.id).second);
        // A diagnosis that the grader has no words for would never be given.
        m.expect.insert(m.expect.end(), m.advice.begin(), m.advice.end());
        for (const std::string& id : m.expect) {
          INFO(id);
          const auto keys = grader::messages::keys();
          CHECK(std::any_of(keys.begin(), keys.end(),
                            [&](std::string_view key) { return key.rfind(id + ".", 0) == 0; }));
        }
      }
    }
  }
  CHECK(mutants >= 16);
  CHECK(alternatives >= 10);
}
