// What students hand in: links, pipes, archives, names.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "common/catch2.hpp"
#include "grader/commands/hints.hpp"
#include "grader/course/grade/submission.hpp"
#include "grader/errors.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/scratch.hpp"
#include "grader/os/sha256.hpp"
#include "grader/os/zip.hpp"
#include "grader/tests/bench.hpp"

namespace fs = std::filesystem;
using grader::Refusal;

namespace {

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<grader::Lab> two_labs() {
  grader::Lab one, two;
  one.id = 1, one.name = "lab1_naive";
  two.id = 2, two.name = "lab2_register_tile";
  for (auto* lab : {&one, &two}) lab->rungs.emplace_back();  // each in gemm.cu: a lab's one file
  return {one, two};
}

bool mentions(const std::vector<std::string>& remarks, const std::string& text) {
  return std::any_of(remarks.begin(), remarks.end(),
                     [&](const std::string& r) { return r.find(text) != std::string::npos; });
}

bool everything(const std::string&) {
  return true;
}

}  // namespace

TEST_CASE("cells that a spreadsheet would run or misread") {
  using grader::csv_cell;
  CHECK(csv_cell("plain 1.5") == "plain 1.5");
  CHECK(csv_cell("=HYPERLINK(1)") == "\"'=HYPERLINK(1)\"");
  CHECK(csv_cell("+1") == "\"'+1\"");
  CHECK(csv_cell("-1") == "\"'-1\"");
  CHECK(csv_cell("@x") == "\"'@x\"");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("say \"hi\"") == "\"say \"\"hi\"\"\"");
  CHECK(csv_cell("two\nlines\t\x1b[31m") == "two lines [31m");
  CHECK(csv_cell("\xff\xfe") == "??");
  CHECK(csv_cell("\t=1") == " =1");
}

TEST_CASE("no link, pipe, device or giant is read") {
  const grader::Scratch scratch(grader::test::build_folder() / "tmp");
  const fs::path root = scratch.path() / "in";
  put(root / "lab1/gemm.cu", "mine");
  put(scratch.path() / "secret", "not yours");
  fs::create_symlink("../../secret", root / "lab1/link.cu");
  fs::create_directory_symlink(scratch.path(), root / "up");
  REQUIRE(::mkfifo((root / "pipe").c_str(), 0600) == 0);
  fs::create_hard_link(scratch.path() / "secret", root / "hard");
  put(root / "big", std::string(1001, 'x'));
  const auto refusal = [&](const fs::path& path) {
    return grader::read_untrusted(root, path, 1000).refusal;
  };
  CHECK(grader::read_untrusted(root, "lab1/gemm.cu", 1000).bytes == "mine");
  CHECK(refusal("lab1/link.cu") == Refusal::symlink);
  CHECK(refusal("up/secret") == Refusal::symlink);
  CHECK(refusal("../secret") == Refusal::bad_name);
  CHECK(refusal("lab1/../../secret") == Refusal::bad_name);
  CHECK(refusal("/etc/hostname") == Refusal::bad_name);
  CHECK(refusal("pipe") == Refusal::not_regular);  // and does not wait for a writer
  CHECK(refusal("hard") == Refusal::hard_link);
  CHECK(refusal("big") == Refusal::too_large);
  CHECK(refusal("lab1") == Refusal::not_regular);
  CHECK(refusal("nothing") == Refusal::missing);
  CHECK(grader::read_untrusted(root, "/dev/zero", 1000).bytes.empty());
}

TEST_CASE("which files of a submission count") {
  const grader::Scratch scratch(grader::test::build_folder() / "tmp");
  const fs::path in = scratch.path();
  put(in / "ann/lab1/gemm.cu", "one");
  put(in / "ann/lab2_anything/gemm.cu", "two");
  put(in / "ann/notes.txt", "");
  put(in / "bob/cuda-lab-main/lab1_naive/gemm.cu", "wrapped");
  put(in / "cleo/readme", "nothing");
  fs::create_directories(in / "dan/lab1");
  fs::create_symlink("/etc/passwd", in / "dan/lab1/gemm.cu");
  put(in / "eve.zip",
      grader::zip::write({{"lab1/gemm.cu", "zipped", {}}, {"../lab2/gemm.cu", "escaped", {}}}));
  put(in / "fay.zip", "this is no archive");
  put(in / "grades.txt", "");
  const auto found = grader::find_submissions(in);
  REQUIRE(found.students.size() == 6);
  CHECK(mentions(found.ignored, "grades.txt: neither a folder nor a zip"));
  const auto take = [&](std::size_t i) {
    return grader::collect(in, found.students[i], two_labs());
  };

  const auto ann = take(0);
  CHECK(ann.sources.at("lab1_naive").at("gemm.cu") == "one");
  CHECK(ann.sources.at("lab2_register_tile").at("gemm.cu") == "two");
  CHECK(mentions(ann.remarks, "extra: notes.txt"));
  const auto bob = take(1);
  CHECK(bob.sources.at("lab1_naive").at("gemm.cu") == "wrapped");
  CHECK(mentions(bob.remarks, "missing: lab2/gemm.cu"));
  const auto cleo = take(2);
  CHECK(cleo.sources.empty());
  CHECK(mentions(cleo.remarks, "no submission"));
  const auto dan = take(3);
  CHECK(dan.sources.empty());
  CHECK(mentions(dan.remarks, "symbolic link"));
  const auto eve = take(4);
  CHECK(eve.sources.at("lab1_naive").at("gemm.cu") == "zipped");
  CHECK(eve.sources.count("lab2_register_tile") == 0);
  CHECK(mentions(eve.remarks, "extra: ../lab2/gemm.cu"));
  CHECK(mentions(take(5).remarks, "not a zip archive"));
  CHECK(take(0).sha256 == ann.sha256);
  CHECK(ann.sha256 != bob.sha256);
}

TEST_CASE("two entries for one student stop everything") {
  const grader::Scratch scratch(grader::test::build_folder() / "tmp");
  fs::create_directories(scratch.path() / "ann");
  put(scratch.path() / "Ann.zip", "");
  CHECK_THROWS_AS(grader::find_submissions(scratch.path()), grader::UserError);
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
  const grader::Scratch scratch(grader::test::build_folder() / "tmp");
  for (const char* name : {"$(touch x)", "-rf", "a\nb", "=1+1", "\xff"})
    fs::create_directories(scratch.path() / name);
  for (const auto& student : grader::find_submissions(scratch.path()).students)
    CHECK(is_plain_name(student.key));
}

TEST_CASE("zip archives") {
  using namespace grader::zip;
  const std::string packed =
      write({{"a/one.txt", "hello", {}}, {"two.bin", std::string(70000, '\x01'), {}}});
  const Archive back = read(packed, everything);
  REQUIRE(back.problem.empty());
  REQUIRE(back.files.size() == 2);
  CHECK(back.files[0].bytes == "hello");
  CHECK(back.files[1].bytes == std::string(70000, '\x01'));
  CHECK(crc32("123456789") == 0xcbf43926u);  // the standard's check value

  SECTION("damage is noticed") {
    std::string bad = packed;
    bad[bad.find("hello")] = 'j';
    CHECK(read(bad, everything).files.at(0).problem == "damaged");
    for (std::size_t size = 0; size < packed.size(); size += 997) {
      const Archive cut = read(std::string_view(packed).substr(0, size), everything);
      CHECK_FALSE(cut.problem.empty());
    }
  }
  SECTION("caps hold") {
    Limits limits;
    limits.entry_bytes = 1000;
    CHECK(read(packed, everything, limits).files.at(1).problem == "too large");
    limits.entries = 1;
    CHECK_FALSE(read(packed, everything, limits).problem.empty());
  }
  SECTION("every mutated byte ends in an answer") {
    const std::string small = write({{"lab1/gemm.cu", "text of a file", {}}});
    for (std::size_t i = 0; i < small.size(); ++i)
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string bad = small;
        bad[i] = static_cast<char>(bad[i] ^ flip);
        for (const auto& file : read(bad, everything).files) CHECK(file.bytes.size() <= (1u << 20));
      }
  }
}

TEST_CASE("deflate streams made by zlib") {
  using grader::zip::inflate;
  std::string out;
  // zlib.compressobj(9, DEFLATED, -15) of b"abcabcabcabc": fixed codes, one match.
  const std::string fixed("\x4b\x4c\x4a\x4e\x84\x21\x00", 7);
  REQUIRE(inflate(fixed, 100, out));
  CHECK(out == "abcabcabcabc");
  REQUIRE(inflate(fixed, 12, out));      // exactly
  CHECK_FALSE(inflate(fixed, 11, out));  // the cap
  CHECK(out.empty());
  REQUIRE(inflate(std::string_view("\x03\x00", 2), 0, out));  // an empty file
  CHECK(out.empty());
  CHECK_FALSE(inflate({}, 0, out));
  CHECK_FALSE(inflate(fixed.substr(0, 4), 100, out));
  // 60 lines "row <i*i mod 97> of <i>": dynamic codes.
  const std::string hex =
      "4d91b911c3300c047357a112443c7c1a72ea19276edfe62d678cec2880d805f57e7daefb7a3daffbf1fec5b663"
      "538c1d4d71ede834f49d43d972e754767defdc54ff50ee1a3395a7a62ffa05026aea69073b74003c4c07d064d0"
      "8e28ec4e05f8925483ee60c00fedd9e037dd3104526d86c0d2268640f00a082c410d83e00e068b360c521cc360"
      "2a23d0a5660898f67404a6da1c81d43047c0e4e9084c7e04025d367e9e5fa31d8146e508681d3f061c30084103"
      "03172730685430e0879f17d0d281c014331018520b040615040677663dacd296771990ad8c4e2bd0f4bf4d46d1"
      "cc2c0b642fabe5284be72ccf91ebf105";
  std::string dynamic, text;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    dynamic += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  for (int i = 0; i < 60; ++i)
    text += "row " + std::to_string(i * i % 97) + " of " + std::to_string(i) + "\n";
  REQUIRE(inflate(dynamic, 5000, out));
  CHECK(out == text);
  for (std::size_t size = 0; size + 1 < dynamic.size(); ++size)
    CHECK_FALSE(inflate(dynamic.substr(0, size), 5000, out));
  // A match that reaches before the beginning, a stored block whose length check fails, a reserved
  // block type.
  CHECK_FALSE(inflate(std::string("\x4b\x04\x52\x00", 4), 100, out));
  CHECK_FALSE(inflate(std::string("\x01\x05\x00\x00\x00hello", 10), 100, out));
  CHECK_FALSE(inflate(std::string("\x07", 1), 100, out));
}

TEST_CASE("SHA-256 of the standard's examples") {
  CHECK(grader::sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(grader::sha256("abc") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(grader::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(grader::sha256(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // Comments and blank lines may change; code, and a comment behind it, may not.
  CHECK(grader::code_sha256("int a;\n\n  /// A comment.\r\n\t// Another\nint b;  // beside") ==
        grader::sha256("int a;\nint b;  // beside\n"));
  CHECK(grader::code_sha256("int a;\n") != grader::code_sha256("int a; // c\n"));
  CHECK(grader::code_sha256("") == grader::sha256(""));
}

TEST_CASE("hints are found by stage and level") {
  const std::string text =
      "# Hints\n\n## 1.0\n\n### 1\nfirst\n\n### 2\nsecond\n    code\n\n## 1.1\n### 1\nother\n";
  CHECK(grader::hints_of(text, "1.0") == std::vector<std::string>{"first", "second\n    code"});
  CHECK(grader::hints_of(text, "1.1") == std::vector<std::string>{"other"});
  CHECK(grader::hints_of(text, "9.9").empty());
}
