// What students hand in: links, pipes, archives, names.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "common/catch2.hpp"
#include "grader/commands/hints.hpp"
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

}  // namespace

TEST_CASE("cells that a spreadsheet would run or misread") {
  using grader::csv_cell;
  CHECK(csv_cell("plain 1.5") == "plain 1.5");
  CHECK(csv_cell("=HYPERLINK(1)") == "\"'=HYPERLINK(1)\"");
  CHECK(csv_cell("+1") == "\"'+1\"");
  CHECK(csv_cell("-1") == "\"'-1\"");
  CHECK(csv_cell("@x") == "\"'@x\"");
  CHECK(csv_cell("\t =1") == "\"'  =1\"");
  CHECK(csv_cell("\xc2\xa0\xef\xbb\xbf=1") == "\"'\xc2\xa0\xef\xbb\xbf=1\"");
  CHECK(csv_cell("\xef\xbc\x9d"
                 "1") ==
        "\"'\xef\xbc\x9d"
        "1\"");
  CHECK(csv_cell(" a=1") == " a=1");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("say \"hi\"") == "\"say \"\"hi\"\"\"");
  CHECK(csv_cell("two\nlines\t\x1b[31m") == "two lines [31m");
  CHECK(csv_cell("\xff\xfe") == "??");
  CHECK(csv_cell("\t=1") == "\"' =1\"");
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

TEST_CASE("no link is followed to list a folder") {
  const grader::Scratch scratch(grader::test::build_folder() / "tmp");
  const fs::path root = scratch.path() / "in";
  put(root / "lab1/gemm.cu", "mine");
  put(scratch.path() / "others/lab1/gemm.cu", "not yours");
  fs::create_directory_symlink(scratch.path() / "others", root / "link");
  const auto listed = [&](const fs::path& path, std::size_t most = 10) {
    std::string names;
    const auto entries = grader::list_untrusted(root, path, most);
    if (!entries) return std::string("too many");
    for (const auto& entry : *entries) names += entry.name + " ";
    return names;
  };
  CHECK(listed(".") == "lab1 link ");
  CHECK(listed("") == "lab1 link ");
  CHECK(listed("lab1") == "gemm.cu ");
  CHECK(listed(".", 1) == "too many");
  CHECK(listed("link").empty());
  CHECK(listed("link/lab1").empty());  // the last part is no link
  CHECK(listed("../others").empty());
  CHECK(listed("nowhere").empty());
}

TEST_CASE("an archive of our own is the same for the same files") {
  using namespace grader::zip;
  const std::string packed = write({{"a/one.txt", "hello"}, {"run", "#!/bin/sh", 0755}});
  CHECK(packed == write({{"a/one.txt", "hello"}, {"run", "#!/bin/sh", 0755}}));
  CHECK(crc32("123456789") == 0xcbf43926u);  // the standard's check value
}

TEST_CASE("SHA-256 of the standard's examples") {
  const auto is = [](const std::string& text, const char* hash) {
    CHECK(grader::sha256(text) == hash);
    CHECK(grader::sha256_of_any_processor(text) == hash);
  };
  is("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  is("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  is(std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // Comments and blank lines may change; code, and a comment behind it, may not.
  CHECK(grader::code_sha256("int a;\n\n  /// A comment.\r\n\t// Another\nint b;  // beside") ==
        grader::sha256("int a;\nint b;  // beside\n"));
  CHECK(grader::code_sha256("int a;\n") != grader::code_sha256("int a; // c\n"));
  CHECK(grader::code_sha256("") == grader::sha256(""));
}

namespace {

/// Whether a line of C++ in a hint holds more than one line should: a statement behind another one, or code in a
/// comment. So it looks when code was filled up like a paragraph.
bool holds_several(const std::string& line) {
  const std::size_t comment = line.find("//");
  if (comment != std::string::npos && line.find(';', comment) != std::string::npos) return true;
  std::string code = line.substr(0, comment);
  if (code.find('{') != std::string::npos) return false;  // a function on one line
  if (const auto head = code.find("for ("); head != std::string::npos)
    code.erase(head, code.find(')', head) - head);
  const std::size_t end = code.find(';');
  return end != std::string::npos && code.find_first_not_of(" ", end + 1) != std::string::npos;
}

}  // namespace

TEST_CASE("code in hints keeps its lines") {
  CHECK(holds_several("    T acc[TM][TN] = ...; accumulate(acc, a, b, rows, cols); // store acc"));
  CHECK(holds_several("    a_tile[ty][tx] = ...;   // (C) b_tile[ty][tx] = ...;   // (D)"));
  CHECK_FALSE(holds_several("    for (int i = 0; i < TM; ++i) a_k[i] = a(...);  // and b_k"));
  unsigned labs = 0;
  for (const auto& folder : fs::directory_iterator(".")) {
    const fs::path hints = folder.path() / "hints.md";
    // The hints of lab 6 are in words, not in C++.
    const std::string name = folder.path().filename().string();
    if (!fs::exists(hints) || name.rfind("lab6", 0) == 0) continue;
    ++labs;
    std::ifstream file(hints);
    for (std::string line; std::getline(file, line);) {
      CAPTURE(hints, line);
      CHECK((line.rfind("    ", 0) != 0 || !holds_several(line)));
    }
  }
  CHECK(labs >= 5);
}

TEST_CASE("hints are found by stage and level") {
  const std::string text =
      "# Hints\n\n## 1.0\n\n### 1\nfirst\n\n### 2\nsecond\n    code\n\n## 1.1\n### 1\nother\n";
  CHECK(grader::hints_of(text, "1.0") == std::vector<std::string>{"first", "second\n    code"});
  CHECK(grader::hints_of(text, "1.1") == std::vector<std::string>{"other"});
  CHECK(grader::hints_of(text, "9.9").empty());
}
