#include "grader/author/skeleton/skeleton.hpp"

#include <string>

#include "common/catch2.hpp"

using grader::make_skeleton;
using grader::Skeleton;
using grader::SkeletonError;
using grader::with_open_stage;

namespace {

/// Line of the error that `master` gives, 0 if it gives none.
std::size_t error_line(const std::string& master, const std::string& words) {
  try {
    make_skeleton(master);
  } catch (const SkeletonError& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).find(words) != std::string::npos);
    return error.line;
  }
  return 0;
}

const std::string kTodo = "// TODO(1.1) Fill in.\n";

}  // namespace

TEST_CASE("a solution region is taken out and everything else is kept", "[skeleton]") {
  const Skeleton made = make_skeleton(
      "int before;\n"
      "  // TODO(1.1) Walk K.\n"
      "  // >>> solution\n"
      "  int secret = 1;\n"
      "  // <<< solution\n"
      "int after;\n");
  CHECK(made.skeleton == "int before;\n  // TODO(1.1) Walk K.\nint after;\n");
  CHECK(made.solved == "int before;\n  // TODO(1.1) Walk K.\n  int secret = 1;\nint after;\n");
  REQUIRE(made.regions.size() == 1);
  CHECK(made.regions[0].stage == "1.1");
  CHECK(made.regions[0].first_line == 3);
  CHECK(made.regions[0].lines == std::vector<std::string>{"  int secret = 1;"});
}

TEST_CASE("a skeleton block takes the solution's place, uncommented", "[skeleton]") {
  const Skeleton made = make_skeleton(
      "  // TODO(1.0) Which row?\n"
      "  // >>> skeleton\n"
      "  // const int row = -1;\n"
      "  //\n"
      "  //   // a remark stays a remark\n"
      "  // <<< skeleton\n"
      "  // >>> solution\n"
      "  const int row = threadIdx.y;\n"
      "  // <<< solution\n");
  CHECK(made.skeleton ==
        "  // TODO(1.0) Which row?\n"
        "  const int row = -1;\n"
        "\n"
        "    // a remark stays a remark\n");
  CHECK(made.solved == "  // TODO(1.0) Which row?\n  const int row = threadIdx.y;\n");
  CHECK(made.regions.at(0).stage == "1.0");
  CHECK(made.regions.at(0).replacement.size() == 3);
}

TEST_CASE("one stage is opened, the others stay solved", "[skeleton]") {
  const std::string master =
      "// TODO(1.1) Walk K.\n// >>> skeleton\n// int k = -1;\n// <<< skeleton\n"
      "// >>> solution\nint k = 0;\n// <<< solution\n"
      "// TODO(1.2) Guard.\n// >>> solution\nif (k < 1)\n// <<< solution\nend";
  CHECK(with_open_stage(master, "1.1") ==
        "// TODO(1.1) Walk K.\nint k = -1;\n// TODO(1.2) Guard.\nif (k < 1)\nend");
  CHECK(with_open_stage(master, "1.2") ==
        "// TODO(1.1) Walk K.\nint k = 0;\n// TODO(1.2) Guard.\nend");
  CHECK(with_open_stage(master, "1.3") == make_skeleton(master).solved);
}

TEST_CASE("a text without markers is its own skeleton", "[skeleton]") {
  for (const std::string text : {"", "\n", "int a;", "int a;\n\n\n", "// >> not ours\n"}) {
    const Skeleton made = make_skeleton(text);
    CHECK(made.skeleton == text);
    CHECK(made.solved == text);
    CHECK(made.regions.empty());
  }
}

TEST_CASE("several regions, the TODO's stage goes to the region below it", "[skeleton]") {
  const Skeleton made = make_skeleton(
      "// TODO(1.0) One.\n// >>> solution\na\n// <<< solution\n"
      "// TODO(1.1) Two,\n// on two lines.\n// >>> solution\nb\nc\n// <<< solution\n");
  REQUIRE(made.regions.size() == 2);
  CHECK(made.regions[0].stage == "1.0");
  CHECK(made.regions[1].stage == "1.1");
  CHECK(made.regions[1].lines == std::vector<std::string>{"b", "c"});
  CHECK(made.skeleton == "// TODO(1.0) One.\n// TODO(1.1) Two,\n// on two lines.\n");
}

TEST_CASE("line ends and tabs are kept", "[skeleton]") {
  const Skeleton crlf = make_skeleton(
      "a;\r\n\t// TODO(1.1) x\r\n\t// >>> skeleton\r\n\t// b;\r\n\t// <<< skeleton\r\n\t// >>> "
      "solution\r\n\tsecret;\r\n"
      "\t// <<< solution\r\nc;\r\n");
  CHECK(crlf.skeleton == "a;\r\n\t// TODO(1.1) x\r\n\tb;\r\nc;\r\n");
  CHECK(crlf.regions.at(0).lines.at(0) == "\tsecret;");

  CHECK(
      make_skeleton(kTodo + "\t  // >>> solution \t\nsecret;\n // <<< solution\t\nend").skeleton ==
      kTodo + "end");
  CHECK(make_skeleton(kTodo + "// >>> solution\nsecret;\n// <<< solution").skeleton == kTodo);
  CHECK(make_skeleton(
            kTodo +
            "// >>> skeleton\n// a;\n// <<< skeleton\n// >>> solution\nsecret;\n// <<< solution")
            .skeleton == kTodo + "a;\n");
}

TEST_CASE("a marker inside a string or a launch in a comment is text", "[skeleton]") {
  for (const std::string line :
       {"const char* s = \"// >>> solution\";\n", "const char* s = \"\\\"// <<< solution\";\n",
        "kernel<<<grid, block>>>(a);\n", "// <<<grid, block>>> starts the threads\n",
        "int n = 100'000; char q = '\"'; const char* t = \"// >>> skeleton\";\n",
        "x = y >> 2; // see the solution of 1.1\n"}) {
    CHECK(make_skeleton(line).skeleton == line);
  }
}

TEST_CASE("broken markers are errors with their line", "[skeleton]") {
  const std::string open = "// >>> solution\n", close = "// <<< solution\n";
  const std::string open_skeleton = "// >>> skeleton\n", close_skeleton = "// <<< skeleton\n";

  CHECK(error_line(kTodo + open + "x\n", "never closed") == 2);
  CHECK(error_line(kTodo + open_skeleton + "// x\n", "never closed") == 2);
  CHECK(error_line(kTodo + open, "never closed") == 2);
  CHECK(error_line("x\n" + close, "never opened") == 2);
  CHECK(error_line("x\n" + close_skeleton, "never opened") == 2);
  CHECK(error_line(kTodo + open + "x\n" + open + close + close, "inside the solution of line 2") ==
        4);
  CHECK(error_line(kTodo + open + open_skeleton, "inside the solution of line 2") == 3);
  CHECK(error_line(kTodo + open + "x\n" + close_skeleton, "inside the solution of line 2") == 4);
  CHECK(error_line(kTodo + open_skeleton + open + close, "inside the skeleton block of line 2") ==
        3);
  CHECK(error_line(kTodo + open_skeleton + "x\n" + close_skeleton, "not commented out") == 3);
  CHECK(error_line(kTodo + open_skeleton + close_skeleton + "x\n" + open + close,
                   "directly before") == 4);
  CHECK(error_line(kTodo + open_skeleton + close_skeleton, "directly before") == 2);
  CHECK(error_line(kTodo + open_skeleton + close_skeleton + close, "never opened") == 4);
}

TEST_CASE("a region needs a TODO directly above", "[skeleton]") {
  CHECK(error_line("// >>> solution\nx\n// <<< solution\n", "TODO(stage)") == 1);
  CHECK(error_line("// TODO(1.1) x\n\n// >>> solution\nx\n// <<< solution\n", "TODO(stage)") == 3);
  CHECK(error_line("// TODO: x\n// >>> solution\nx\n// <<< solution\n", "TODO(stage)") == 2);
}

TEST_CASE("what was meant as a marker never lets the solution through", "[skeleton]") {
  for (const std::string line :
       {"//>>> solution", "// >>> Solution", "// >>>solution", "// >> solution", "// <<< solutoin",
        "// >>> skeletn", "// >>> solution 1.1", "int a;  // >>> solution", "// # >>> solution"}) {
    INFO(line);
    CHECK(error_line(kTodo + line + "\n", "looks like a marker") == 2);
  }
}
