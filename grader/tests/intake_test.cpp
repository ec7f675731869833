// What a class hands in, as each platform gives it out; rosters, twins and odd names. Archives that
// were made to harm: intake_archives.py.
#include <algorithm>
#include <fstream>

#include "common/catch2.hpp"
#include "common/tests/matchers.hpp"
#include "grader/course/intake/canonical.hpp"
#include "grader/course/intake/intake.hpp"
#include "grader/course/intake/kinds.hpp"
#include "grader/course/intake/roster.hpp"
#include "grader/errors.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/scratch.hpp"
#include "grader/os/zip.hpp"
#include "grader/tests/bench.hpp"

namespace fs = std::filesystem;
using namespace grader::intake;
using Catch::Matchers::ContainsSubstring;

namespace {

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// Two labs with gemm.cu each; its launchers say of which it is.
std::vector<grader::Lab> two_labs() {
  grader::Lab one, two;
  one.id = 1, one.name = "lab1_naive";
  two.id = 2, two.name = "lab2_register_tile";
  for (auto* lab : {&one, &two}) lab->rungs.emplace_back();
  one.rungs.front().name = "gemm_naive";
  two.rungs.front().name = "gemm_tile";
  return {one, two};
}

constexpr const char* lab1 = "lab1_naive";
constexpr const char* lab2 = "lab2_register_tile";
const std::string naive = "void gemm_naive(int);", tile = "void gemm_tile(int);";

bool mentions(const std::vector<std::string>& remarks, const std::string& text) {
  return std::any_of(remarks.begin(), remarks.end(),
                     [&](const std::string& r) { return r.find(text) != std::string::npos; });
}

class Desk {
 public:
  fs::path path() const { return scratch_.path() / "in"; }
  Intake intake(const std::string& roster = "", const fs::path& source = {}) const {
    if (!roster.empty()) put(scratch_.path() / "roster.csv", roster);
    return Intake(source.empty() ? path() : source,
                  roster.empty() ? fs::path() : scratch_.path() / "roster.csv",
                  scratch_.path() / "store", unpack_unboxed);
  }
  fs::path beside() const { return scratch_.path(); }
  /// The one clear line with which the class is refused.
  std::string refusal(const std::string& roster = "") const {
    try {
      intake(roster);
    } catch (const grader::UserError& error) {
      return error.what();
    }
    return "";
  }

 private:
  grader::Scratch scratch_{grader::test::build_folder() / "tmp"};
};

std::vector<std::string> ids(const Intake& intake) {
  std::vector<std::string> found;
  for (const auto& student : intake.students()) found.push_back(student.id);
  return found;
}

Collected take(const Intake& intake, const std::string& id) {
  for (const auto& student : intake.students())
    if (student.id == id) return intake.collect(student, two_labs());
  FAIL("no " << id);
  return {};
}

}  // namespace

TEST_CASE("which files of a submission count") {
  const Desk desk;
  const fs::path in = desk.path();
  put(in / "ann/lab1/gemm.cu", "one");
  put(in / "ann/lab2_anything/gemm.cu", "two");
  put(in / "ann/notes.txt", "");
  put(in / "bob/cuda-lab-main/lab1_naive/gemm.cu", "wrapped");
  put(in / "cleo/readme", "nothing");
  fs::create_directories(in / "dan/lab1");
  fs::create_symlink("/etc/passwd", in / "dan/lab1/gemm.cu");
  put(in / "eve.zip", grader::zip::write({{"lab1/gemm.cu", "zipped"}, {"../lab2/gemm.cu", "out"}}));
  put(in / "fay.zip", "this is no archive");
  put(in / "gil/work.zip", grader::zip::write({{"Lab1/Gemm.cu", "inside"}}));
  put(in / "hal/lab1/gemm.cu", "near");
  put(in / "hal/old/lab1/gemm.cu", "far");
  put(in / "ida/.hidden/gemm.cu", naive);
  put(in / "jon/a/b/c/d/e/f/g/h/i/lab1/gemm.cu", naive);
  put(in / "kim/gemm.cu", tile);
  put(in / "kim/lab1_gemm.cu", naive);
  put(in / "liz/gemm.cu", "int nothing;");
  put(in / "mia/lab1_naive/gemm (1).cu", "a second upload");
  put(in / "mia/gemm - Copy (2).cu", tile);
  put(in / "ned/lab1/gemm-2.cu", "before");
  put(in / "ned/lab1/gemm.cu", "plain");
  put(in / "grades.txt", "");
  const Intake intake = desk.intake();
  CHECK(intake.kind() == "folders");
  CHECK(mentions(intake.ignored(), "grades.txt: neither a folder nor an archive"));

  const auto ann = take(intake, "ann");
  CHECK(ann.sources.at(lab1).at("gemm.cu") == "one");
  CHECK(ann.sources.at(lab2).at("gemm.cu") == "two");
  CHECK(ann.origins.at("lab2_register_tile/gemm.cu") == "lab2_anything/gemm.cu");
  CHECK(mentions(ann.remarks, "extra: notes.txt"));
  const auto bob = take(intake, "bob");
  CHECK(bob.sources.at(lab1).at("gemm.cu") == "wrapped");
  CHECK(mentions(bob.remarks, "missing: lab2"));
  const auto cleo = take(intake, "cleo");
  CHECK(cleo.sources.empty());
  CHECK(mentions(cleo.remarks, "no submission"));
  CHECK_FALSE(mentions(cleo.remarks, "missing"));
  const auto dan = take(intake, "dan");
  CHECK(dan.sources.empty());
  CHECK(mentions(dan.remarks, "lab1/gemm.cu: a symbolic link"));
  const auto eve = take(intake, "eve");
  CHECK(eve.sources.at(lab1).at("gemm.cu") == "zipped");
  CHECK(eve.sources.count(lab2) == 0);
  CHECK(mentions(eve.remarks, "../lab2/gemm.cu: a path that leaves its folder"));
  CHECK(mentions(take(intake, "fay").remarks, "not a zip or tar archive"));
  CHECK(take(intake, "gil").sources.at(lab1).at("gemm.cu") == "inside");
  CHECK(take(intake, "gil").origins.at("lab1_naive/gemm.cu") == "work.zip/Lab1/Gemm.cu");
  const auto hal = take(intake, "hal");
  CHECK(hal.sources.at(lab1).at("gemm.cu") == "near");
  CHECK(mentions(hal.remarks, "lab1 is there twice: lab1/gemm.cu is taken, old/lab1/gemm.cu"));
  CHECK(mentions(take(intake, "ida").remarks, ".hidden: hidden"));
  CHECK(mentions(take(intake, "jon").remarks, "deeper than 8 folders"));
  const auto kim = take(intake, "kim");
  CHECK(kim.sources.at(lab1).at("gemm.cu") == naive);
  CHECK(kim.sources.at(lab2).at("gemm.cu") == tile);
  CHECK(mentions(take(intake, "liz").remarks, "no submission"));
  const auto mia = take(intake, "mia");
  CHECK(mia.sources.at(lab1).at("gemm.cu") == "a second upload");
  CHECK(mia.sources.at(lab2).at("gemm.cu") == tile);
  const auto ned = take(intake, "ned");
  CHECK(ned.sources.at(lab1).at("gemm.cu") == "plain");
  CHECK(mentions(ned.remarks, "lab1/gemm.cu is taken, lab1/gemm-2.cu is not"));
  CHECK(take(intake, "ann").sha256 == ann.sha256);
  CHECK(ann.sha256 != bob.sha256);
}

TEST_CASE("of a file that counts nowhere a remark says what was meant, if it shows") {
  const Desk desk;
  const fs::path in = desk.path();
  put(in / "ann/my gemm final.cu", naive);
  put(in / "bob/gemm.cu", "");
  put(in / "cy/gemm.cu", std::string("\xff\xfev\0o\0i\0d\0", 10));
  put(in / "di/work.rar", "Rar!");
  put(in / "ed/gemm.cu", std::string(naive) + tile);
  put(in / "flo/lab1/gemm.cu", naive);
  put(in / "flo/lab1/before.cu", naive);
  for (const char* name : {"1.txt", "2.txt", "3.txt", "4.txt"}) put(in / "ann" / name, "");
  put(in / "gus.7z", "7z");
  const Intake intake = desk.intake();
  for (const auto& [id, words] : std::map<std::string, std::string>{
           {"ann", "extra: my gemm final.cu (has functions of lab1/gemm.cu, and nothing else"},
           {"bob", "extra: gemm.cu (an empty file)"},
           {"cy", "extra: gemm.cu (not in UTF-8, so nobody"},
           {"di", "extra: work.rar (an archive of another kind than zip and tar: not opened)"},
           {"ed", "extra: gemm.cu (has functions of lab1/gemm.cu and lab2/gemm.cu, and nothing"}}) {
    INFO(id);
    CHECK(mentions(take(intake, id).remarks, words));
    CHECK(mentions(take(intake, id).remarks, "no submission"));
  }
  CHECK_FALSE(mentions(take(intake, "flo").remarks, "before.cu ("));
  const auto uncounted = [&](const char* id) { return take(intake, id).uncounted; };
  REQUIRE(uncounted("bob").size() == 1);
  CHECK(uncounted("bob").front().file == "gemm.cu");
  CHECK(uncounted("bob").front().why == "an empty file");
  CHECK(uncounted("ann").size() == 1);  // not what nobody meant as work
  CHECK(uncounted("flo").empty());
  CHECK(mentions(intake.ignored(), "gus.7z: an archive of another kind than zip and tar"));
}

TEST_CASE("a name that gets shorter in lower case is a name like any other") {
  const Desk desk;
  const fs::path in = desk.path();
  // The Turkish capital I with a dot takes two bytes, and its lower case one.
  put(in / "ann/\u0130\u0130\u0130\u0130\u0130.cu", naive);
  put(in / "ann/lab1/gemm.cu", "mine");
  put(in / "bob/\u0130.cu", naive);
  const Intake intake = desk.intake();
  CHECK(take(intake, "ann").sources.at(lab1).at("gemm.cu") == "mine");
  CHECK(mentions(take(intake, "bob").remarks, ".cu (has functions of lab1/gemm.cu"));
}

TEST_CASE("a name of any length in an archive is no trouble") {
  const Desk desk;
  for (const std::size_t length : {1000u, 60000u}) {
    const std::string name = std::string(length, 'a') + ".cu", low = "lab1/" + name;
    put(desk.path() / ("s" + std::to_string(length) + ".zip"),
        grader::zip::write({{name, naive}, {low, naive}, {"lab2/gemm.cu", "mine"}}));
  }
  const Intake intake = desk.intake();
  for (const char* who : {"s1000", "s60000"}) {
    const Collected found = take(intake, who);
    CHECK(found.sources.at(lab2).at("gemm.cu") == "mine");
    CHECK(found.sources.count(lab1) == 0);
  }
}

TEST_CASE("accents may be left out, vowels of other scripts may not") {
  CHECK(without_accents("Zo\u00eb S\u00f8rensen-\u0141ukasz") == "zoe sorensen-lukasz");
  CHECK(without_accents("\u0419") == without_accents("\u0438"));
  CHECK(without_accents("\u0930\u093e\u092e") != without_accents("\u0930\u092e"));
  CHECK(without_accents("\u304c") != without_accents("\u304b"));
  CHECK(canonical("a\xff"
                  "B") ==
        "a\xff"
        "B");  // not UTF-8
}

TEST_CASE("two entries for one student stop everything") {
  const Desk desk;
  fs::create_directories(desk.path() / "ann");
  SECTION("a folder and an archive") {
    put(desk.path() / "Ann.zip", "");
    CHECK_THAT(desk.refusal(), ContainsSubstring("two submissions for one student (Ann): ") ||
                                   ContainsSubstring("two submissions for one student (ann): "));
    CHECK_THAT(desk.refusal(), ContainsSubstring("nobody was graded"));
  }
  SECTION("beyond ASCII") {
    fs::create_directories(desk.path() / "\xc3\x84nne");
    fs::create_directories(desk.path() / "\xc3\xa4nne");
    CHECK_THAT(desk.refusal(), ContainsSubstring("two submissions for one student"));
  }
  SECTION("what nobody sees makes no difference") {
    fs::create_directories(desk.path() / "an\xe2\x80\xaen");
    CHECK_THAT(desk.refusal(), ContainsSubstring("\\u202e"));
  }
  SECTION("neither do characters that have no width") {
    // A joiner, a selector of variants, a letter of a hidden tag, a filler.
    for (const std::string unseen :
         {"\xe2\x80\x8d", "\xef\xb8\x8f", "\xf3\xa0\x81\x81", "\xe3\x85\xa4"}) {
      fs::create_directories(desk.path() / ("ann" + unseen));
      CHECK_THAT(desk.refusal(), ContainsSubstring("two submissions for one student"));
      fs::remove(desk.path() / ("ann" + unseen));
    }
  }
  SECTION("a letter with its mark, and beside it") {
    const std::pair<std::string, std::string> twins[] = {
        {"Zo\u00e9", "Zoe\u0301"},
        {"nguy\u1ec5n", "NGUYE\u0302\u0303N"},
        {"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
        {"\u0439", "\u0418\u0306"},
        {"\u304c", "\u304b\u3099"}};
    for (const auto& [one, other] : twins) {
      INFO(one);
      fs::create_directories(desk.path() / one);
      fs::create_directories(desk.path() / other);
      CHECK_THAT(desk.refusal(), ContainsSubstring("two submissions for one student"));
      fs::remove(desk.path() / one), fs::remove(desk.path() / other);
    }
  }
  SECTION("but other letters do") {
    fs::create_directories(desk.path() / "zoe");
    fs::create_directories(desk.path() / "zo\u00e9");
    CHECK(desk.refusal().empty());
  }
  SECTION("one person under two ids") {
    fs::create_directories(desk.path() / "a.lee");
    CHECK_THAT(desk.refusal("ID,Email,Name\nann,a.lee,Ann Lee\n"),
               ContainsSubstring("two submissions for one student (ann)"));
  }
}

namespace {

/// May stand in a command line, a path or a report: [A-Za-z0-9._-]{1,64}, not starting with '-' or
/// '.'.
bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || name.front() == '-' || name.front() == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace

TEST_CASE("odd names become safe keys") {
  const Desk desk;
  for (const char* name : {"$(touch x)", "-rf", "a\nb", "=1+1", "\xff", "\xe2\x80\xae"})
    fs::create_directories(desk.path() / name);
  const Intake intake = desk.intake();
  CHECK(intake.students().size() == 6);
  for (const auto& student : intake.students()) CHECK(is_plain_name(student.key));
  CHECK(shown("a\xe2\x80\xae"
              "b\n") == "a\\u202eb ");
  CHECK(grader::csv_cell("a\xe2\x80\xae"
                         "b") == "ab");
}

TEST_CASE("a download from Canvas") {
  const Desk desk;
  const fs::path in = desk.path();
  put(in / "leejane_101_9001_gemm-1.cu", naive);
  put(in / "leejane_101_9002_notes.pdf", "");
  put(in / "m\xc3\xbcllerj\xc3\xb6rg_LATE_102_9003_submission.zip",
      grader::zip::write({{"lab1/gemm.cu", "late"}}));
  put(in / "o_brien_103_9004_lab2_gemm.cu", tile);
  put(in / "o_brien_103_9005_lab2_gemm-2.cu", tile + " // newer");
  put(in / "quiet_104_text.html", "<p>I pasted it");
  put(in / "twolabs_105_9008_gemm.cu", naive);
  put(in / "twolabs_105_9007_gemm-1.cu", tile);
  put(in / "anon_LATE_Xa7_9006_gemm.cu", naive);
  put(in / "readme.txt", "");
  const auto check = [&](const Intake& intake) {
    CHECK(intake.kind() == "canvas");
    CHECK(ids(intake) == std::vector<std::string>{"101", "102", "103", "104", "105", "Xa7"});
    CHECK(take(intake, "101").sources.at(lab1).at("gemm.cu") == naive);
    CHECK(intake.students()[0].name == "leejane");
    CHECK_FALSE(intake.students()[0].late);
    CHECK(intake.students()[1].late);
    CHECK(intake.students()[1].name == "m\xc3\xbcllerj\xc3\xb6rg");
    CHECK(take(intake, "102").sources.at(lab1).at("gemm.cu") == "late");
    CHECK(take(intake, "103").sources.at(lab2).at("gemm.cu") == tile + " // newer");
    CHECK(mentions(take(intake, "103").remarks,
                   "lab2 is there twice: lab2_gemm-2.cu is taken, lab2_gemm.cu is not"));
    CHECK(take(intake, "105").sources.at(lab1).at("gemm.cu") == naive);
    CHECK(take(intake, "105").sources.at(lab2).at("gemm.cu") == tile);
    CHECK(mentions(take(intake, "104").remarks, "typed into the page"));
    CHECK(intake.students()[5].late);
    CHECK(mentions(intake.ignored(), "readme.txt: not called as Canvas calls submissions"));
  };
  check(desk.intake());
  // The download as it is, not unpacked.
  std::vector<grader::zip::File> files;
  for (const auto& entry : fs::directory_iterator(in))
    files.push_back({entry.path().filename().string(), grader::read_file(entry.path())});
  const fs::path zip = desk.beside() / "submissions.zip";
  put(zip, grader::zip::write(files));
  check(desk.intake("", zip));
}

TEST_CASE("a file's own name says nothing about somebody else") {
  const Desk desk;
  const fs::path in = desk.path();
  SECTION("Canvas") {
    put(in / "leejane_101_9001_gemm.cu", naive);
    put(in / "eve_105_9007_x_LATE_101_text.html", "");
    put(in / "eve_105_9008_y_LATE_101_9009_gemm.cu", "forged");
    const Intake intake = desk.intake();
    CHECK(ids(intake) == std::vector<std::string>{"101", "105"});
    CHECK(intake.students()[0].name == "leejane");
    CHECK_FALSE(intake.students()[0].late);
    CHECK(intake.students()[0].problems.empty());
    CHECK(take(intake, "101").sources.at(lab1).at("gemm.cu") == naive);
  }
  SECTION("Moodle") {
    put(in / "Ann Lee_1201_assignsubmission_file_gemm.cu", naive);
    put(in / "Eve_1205_assignsubmission_file_x_1201_assignsubmission_file_gemm.cu", "forged");
    const Intake intake = desk.intake();
    CHECK(ids(intake) == std::vector<std::string>{"1201", "1205"});
    CHECK(intake.students()[0].name == "Ann Lee");
    CHECK(intake.students()[0].problems.empty());
    CHECK(take(intake, "1201").sources.at(lab1).at("gemm.cu") == naive);
  }
}

TEST_CASE("a download from Moodle") {
  const Desk desk;
  const fs::path in = desk.path();
  put(in / "Ann Lee_1201_assignsubmission_file_/lab1/gemm.cu", "folders");
  put(in / "Ann Lee_1201_assignsubmission_onlinetext/onlinetext.html", "<p>");
  put(in / "Group 3-Bo_1202_assignsubmission_file/answer/lab1_naive/gemm.cu", "deep");
  put(in / "Cy_1203_assignsubmission_onlinetext_/Onlinetext.html", "<p>code");
  put(in / "Di_1204_assignsubmission_file_gemm.cu", naive);
  const std::string sheet =
      "Identifier,Full name,Email address,Status\n\"Participant 1201\",Ann Lee,ann@x,Submitted\n"
      "Participant 1299,Zoe,zoe@x,No submission\n";
  const Intake intake = desk.intake();
  CHECK(intake.kind() == "moodle");
  CHECK(ids(intake) == std::vector<std::string>{"1201", "1202", "1203", "1204"});
  CHECK(take(intake, "1201").sources.at(lab1).at("gemm.cu") == "folders");
  CHECK(take(intake, "1202").sources.at(lab1).at("gemm.cu") == "deep");
  CHECK(mentions(take(intake, "1203").remarks, "typed into the page"));
  CHECK(take(intake, "1204").sources.at(lab1).at("gemm.cu") == naive);
  const Intake known = desk.intake(sheet);
  CHECK(known.missing() == std::vector<std::string>{"Participant 1299"});
  CHECK(known.unknown() == std::vector<std::string>{"1202", "1203", "1204"});
  CHECK(mentions(take(known, "Participant 1299").remarks, "nothing was handed in"));
  CHECK(take(known, "Participant 1201").sources.count(lab1) == 1);
}

TEST_CASE("an export from Gradescope") {
  const Desk desk;
  const fs::path in = desk.path() / "assignment_77_export";
  put(in / "submission_1/gemm.cu", naive);
  put(in / "submission_2/lab1/gemm.cu", "two people");
  put(in / "submission_9/lab1/gemm.cu", "whose?");
  const std::string list =
      "submission_1:\n  :submitters:\n  - :name: 'Ann: \"A\" Lee'\n    :sid: '007'\n"
      "    :email: ann@x\n  :created_at: 2026-01-01 10:00:00.0 Z\n  :score: 3.0\n"
      "  :results:\n    :output: |\n      submission_9:\n        :submitters: []\n"
      "submission_2:\n  :submitters:\n  - :name: Bo\n    :sid:\n    :email: bo@x\n"
      "  - :name: Cy\n    :sid: '9'\n    :email: cy@x\n";
  put(in / "submission_metadata.yml", list);
  const Intake intake = desk.intake();
  CHECK(intake.kind() == "gradescope");
  CHECK(ids(intake) == std::vector<std::string>{"007", "9", "bo@x"});
  CHECK(intake.students()[0].name == "Ann: \"A\" Lee");
  CHECK(intake.students()[0].submitted == 1767261600);  // date -d 2026-01-01T10:00:00Z +%s
  CHECK_FALSE(intake.students()[1].submitted);
  for (const auto& [written, seconds] :
       std::map<std::string, std::int64_t>{{"2026-01-01 11:30:00 +01:30", 1767261600},
                                           {"2026-01-01 05:00:00.5 -0500", 1767261600},
                                           {"2026-02-30 10:00:00 Z", 0},
                                           {"yesterday", 0}}) {
    put(in / "submission_metadata.yml",
        "submission_1:\n  :submitters:\n  - :name: Ann\n  :created_at: " + written + "\n");
    CHECK(desk.intake().students()[0].submitted.value_or(0) == seconds);
  }
  put(in / "submission_metadata.yml", list);
  CHECK(take(intake, "007").sources.at(lab1).at("gemm.cu") == naive);
  CHECK(take(intake, "9").sources.at(lab1).at("gemm.cu") == "two people");
  CHECK(take(intake, "bo@x").sources.at(lab1).at("gemm.cu") == "two people");
  CHECK(mentions(intake.ignored(), "submission_9: not in submission_metadata.yml"));
  put(in / "submission_metadata.yml", "a: [");
  CHECK_THAT(desk.refusal(),
             ContainsSubstring("submission_metadata.yml") && ContainsSubstring("Export"));
}

TEST_CASE("rosters") {
  const Desk desk;
  fs::create_directories(desk.path() / "A.Lee");
  fs::create_directories(desk.path() / "stranger");
  const std::string canvas =
      "\xef\xbb\xbfStudent,ID,SIS User ID,SIS Login ID,Section,GEMM (5)\r\n"
      "    Points Possible,,,,,10\r\n\"Lee, Ann\",11,s11,a.lee,\"Mo; \"\"1\"\"\",\r\n"
      "\"Kim, Bo\",12,s12,b.kim,Tu,\r\n\"Student, Test\",13,,x,Tu,\r\n";
  const Intake intake = desk.intake(canvas);
  CHECK(ids(intake) == std::vector<std::string>{"a.lee", "b.kim", "stranger"});
  CHECK(intake.students()[0].name == "Lee, Ann");
  CHECK(intake.students()[0].section == "Mo; \"1\"");
  CHECK(intake.students()[0].roster.at("ID") == "11");
  CHECK(intake.unknown() == std::vector<std::string>{"stranger"});
  CHECK(intake.missing() == std::vector<std::string>{"b.kim"});
  CHECK(mentions(take(intake, "stranger").remarks, "not in the roster"));
  CHECK_THAT(desk.refusal("ID;Name\nann;A\nAnn;B\n"),
             ContainsSubstring("roster.csv:3: Ann is in line 2"));
  CHECK_THAT(desk.refusal("Colour,Name\nred,A\n"),
             ContainsSubstring("roster.csv:1: no column of ids"));
  CHECK_THAT(desk.refusal("ID,Name\n,Nobody\n"),
             ContainsSubstring("roster.csv:2: Nobody has no id"));
  CHECK_THAT(desk.refusal("ID,Name\nann," + std::string(3'000'000, 'A') + "\n"),
             ContainsSubstring("roster.csv:2: a cell of 3000000 bytes, at most 2000"));
  std::string many = "ID,Name\n";
  for (int i = 0; i < 30'000; ++i) many += std::to_string(i) + ",N\n";
  CHECK_THAT(desk.refusal(many), ContainsSubstring("30001 lines, at most 20000"));
  CHECK(parse_csv("a\tb\n\"x\ny\"\t\"\"\n").rows ==
        std::vector<std::vector<std::string>>{{"a", "b"}, {"x\ny", ""}});
}

TEST_CASE("a platform's number is nobody's but its own") {
  const auto who = [](const Intake& intake, const std::string& id) {
    for (const auto& student : intake.students())
      if (student.id == id) return student.parts.empty() ? "" : student.parts[0].entry;
    return std::string("nobody");
  };
  const std::string of_ann = "Ann Lee_123_assignsubmission_file",
                    of_bob = "Bob Ray_456_assignsubmission_file";
  const Desk desk;
  SECTION("Moodle: the number of one is the student id of the other") {
    for (const auto& folder : {of_ann, of_bob}) put(desk.path() / folder / "gemm.cu", naive);
    const Intake sheet = desk.intake(
        "Identifier,Full name,Email address,ID number\n"
        "Participant 123,Ann Lee,ann@x,456\nParticipant 456,Bob Ray,bob@x,123\n");
    CHECK(who(sheet, "456") == of_ann);
    CHECK(who(sheet, "123") == of_bob);
    const Intake own = desk.intake("id,name\n456,Ann Lee\n123,Bob Ray\n");
    CHECK(who(own, "456") == of_ann);
    CHECK(who(own, "123") == of_bob);
    const Intake other = desk.intake("id,name\n456,Cy Fox\n123,Di Orr\n");
    CHECK(other.missing() == std::vector<std::string>{"456", "123"});
    CHECK(other.unknown() == std::vector<std::string>{"Ann Lee (123)", "Bob Ray (456)"});
    const Intake nameless = desk.intake("id\n123\n456\n");
    CHECK(who(nameless, "123") == of_ann);
  }
  SECTION("Canvas: in another system's column") {
    put(desk.path() / "leeann_11_900_gemm.cu", naive);
    put(desk.path() / "raybob_LATE_12_901_gemm.cu", naive);
    const Intake intake = desk.intake(
        "Student,ID,SIS User ID,SIS Login ID\n"
        "\"Lee, Ann\",11,12,ann\n\"Ray, Bob\",12,11,bob\n");
    CHECK(who(intake, "ann") == "leeann_11_900_gemm.cu");
    CHECK(who(intake, "bob") == "raybob_LATE_12_901_gemm.cu");
    const Intake own = desk.intake("id,name\n11,\"Lee, Ann\"\n12,Cy Fox\n");
    CHECK(who(own, "11") == "leeann_11_900_gemm.cu");
    CHECK(own.unknown() == std::vector<std::string>{"raybob (12)"});
  }
  SECTION("accents: in one character, in two, or left out") {
    put(desk.path() /
            "Jose\xcc\x81 Garc\xc3\xad"
            "a_7_assignsubmission_file/gemm.cu",
        naive);
    const Intake intake =
        desk.intake("sep=;\r\nFull name;Email\r\nJos\xc3\xa9 Garcia;j@x\r\nJose Gar;k@x\r\n");
    CHECK(who(intake, "j@x") != "");
    CHECK(intake.unknown().empty());
    const Intake both = desk.intake("Full name,Email\nJos\xc3\xa9 Garcia,j@x\nJose Garcia,k@x\n");
    CHECK(both.unknown() == std::vector<std::string>{"7"});
  }
  SECTION("two people of one name") {
    put(desk.path() / "Ann Lee_7_assignsubmission_file/gemm.cu", naive);
    const Intake intake = desk.intake("Full name,Email\nAnn Lee,a@x\nann lee,b@x\n");
    CHECK(mentions(take(intake, "7").remarks, "and several people there have this name"));
  }
  SECTION("zeros that a spreadsheet took away") {
    put(desk.path() / "0012/lab1/gemm.cu", naive);
    CHECK(mentions(take(desk.intake("id\n12\n34\n"), "0012").remarks,
                   "not in the roster; 12 is: did a spreadsheet take the zeros"));
    CHECK(mentions(take(desk.intake("id\n34\n"), "0012").remarks, "not in the roster"));
  }
  SECTION("a name that is somebody else's id") {
    put(desk.path() / "bob@x_77_assignsubmission_file/gemm.cu", naive);
    const Intake intake = desk.intake(
        "Identifier,Full name,Email address\nParticipant 1,Ann Lee,ann@x\nParticipant 2,Bob "
        "Ray,bob@x\n");
    CHECK(intake.unknown() == std::vector<std::string>{"77"});
    CHECK(intake.missing() == std::vector<std::string>{"Participant 1", "Participant 2"});
  }
}

TEST_CASE("a roster is read as it is meant, or refused with its line") {
  const auto ids_in = [](const std::string& text) {
    std::string list;
    for (const auto& person : parse_roster(text, "roster.csv")) list += person.id + ";";
    return list;
  };
  // Line ends of each kind, Excel's own first line, blanks that nobody sees, columns that agree.
  for (const char* text :
       {"ID,Name\r\nann,A\r\nbob,B\r\n", "ID,Name\rann,A\rbob,B", "ID;Name\nann;A\n\nbob;B\n",
        "\xef\xbb\xbfsep=;\r\nID;Name\r\nann;A\r\nbob;B\r\n", "sep=,\nID,Name\nann,A\nbob,B\n",
        "ID\xc2\xa0,Name\nann\xc2\xa0,A\n \xe2\x80\x8b"
        "bob,B\n",
        "ID,id,x\nann,ann,1\nbob,bob\n", "ID,Name,\nann,A,,,\nbob,B,,\n"}) {
    INFO(text);
    CHECK(ids_in(text) == "ann;bob;");
  }
  CHECK(parse_roster("ID,Name\n\"a\",\"A\n\nB\"\nbob,B\n", "")[1].line == 5);
  struct Row {
    std::string text;
    const char* refusal;
  };
  for (const auto& [text, refusal] : std::vector<Row>{
           {"", "roster.csv:1: the roster is empty; it needs a line with the names"},
           {"ID,Name\n", "roster.csv:1: nobody is in the roster; below the names"},
           {std::string("\xff\xfeI\0D\0\n\0", 8),
            "roster.csv:1: not a table in UTF-8; in the spread"},
           {"ID,Name\nann,A\njos\xe9,J\n", "roster.csv:3: not a table in UTF-8; in the spread"},
           {std::string("ID,Name\nann\0,A\n", 15), "roster.csv:1: not a table in UTF-8"},
           {"ID,Name\nann,A\n\"bob,B\ncy,C\n", "roster.csv:3: a quotation mark without a second"},
           {"ID,Name\nann,Lee, Ann\n",
            "roster.csv:2: 3 cells below 2 columns; a cell with a comma"},
           {"ID,Name,id\nann,A,17\n", "roster.csv:2: two columns id with ann and 17; keep one"},
           {"ID,Late days,late days\nann,,\nbob,1,2\n",
            "roster.csv:3: two columns late days with 1"},
           {"sep=;\nID;late days\nann;1,5\n",
            "roster.csv:3: late days are a number from 0 to 1000"}}) {
    INFO(text);
    CHECK_THROWS_WITH(ids_in(text), ContainsSubstring(refusal));
  }
}

TEST_CASE("clones of a classroom") {
  const Desk desk;
  put(desk.path() / "gemm-lab-ann-lee/lab1_naive/gemm.cu", "hers");
  put(desk.path() / "gemm-lab-ann-lee/.git/HEAD", "");
  put(desk.path() / "gemm-lab-lee/lab1_naive/gemm.cu", "his");
  put(desk.path() / "gemm-lab-lee/.git/HEAD", "");
  put(desk.path() / "classroom.txt", "");
  const Intake intake = desk.intake("identifier,github_username,name\nL,lee,Lee\nA,ann-lee,Ann\n");
  CHECK(intake.kind() == "clones");
  CHECK(ids(intake) == std::vector<std::string>{"A", "L"});
  CHECK(take(intake, "A").sources.at(lab1).at("gemm.cu") == "hers");
  CHECK(take(intake, "L").sources.at(lab1).at("gemm.cu") == "his");
  CHECK(mentions(intake.ignored(), "classroom.txt: not a clone"));
}

TEST_CASE("archives: every mutated byte ends in an answer") {
  const std::string small = grader::zip::write({{"lab1/gemm.cu", "text of a file"}});
  CHECK(tree_of_archive(small, unpack_unboxed).files.at(0).bytes == "text of a file");
  // Of the start, the headers and the directory; a process for each.
  for (std::size_t i = 0; i < small.size(); i += 3) {
    std::string bad = small;
    bad[i] = static_cast<char>(bad[i] ^ (i % 2 ? 0x80 : 0xff));
    for (const auto& file : tree_of_archive(bad, unpack_unboxed).files)
      CHECK(file.bytes.size() <= (1u << 20));
  }
  for (std::size_t size = 0; size < small.size(); size += 17) {
    const Tree cut = tree_of_archive(std::string_view(small).substr(0, size), unpack_unboxed);
    CHECK(cut.files.empty());
    CHECK_FALSE(cut.remarks.empty());
  }
}
