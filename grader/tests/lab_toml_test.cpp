// lab.toml and course.toml: what is not known is an error with its place, and nothing is guessed.
#include "common/catch2.hpp"
#include "grader/errors.hpp"
#include "grader/labs/lab.hpp"

using grader::Lab;
using grader::parse_lab;

namespace {

const std::string good = R"(id = 7
name = "lab7_x"
title = "X"
tile = { BM = 8, BN = 16, BK = 4 }
[[rung]]
name = "gemm_x"
types = ["int32", "float"]
[[stage]]
id = "7.0"
title = "Zero"
rung = "gemm_x"
points = 5
shapes = ["aligned", "k1"]
[[stage]]
id = "7.1"
title = "One"
rung = "gemm_x"
needs = ["7.0"]
points = 2.5
kind = "bonus"
untouched = "STORES"
shapes = ["tiny"]
[stage.answer]
function = "why"
hashes = ["00"]
)";

std::string message(const std::string& text) {
  try {
    parse_lab(text, "lab7_x/lab.toml");
  } catch (const grader::UserError& error) {
    CHECK(error.exit_code == grader::exit_usage);
    return error.what();
  }
  return "accepted";
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = good;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

grader::Goal goal_of(const std::string& stage) {
  grader::Goal goal;
  goal.stage = stage;
  goal.key = "sectors";
  goal.parameters = {{"slack", 1.05}, {"BM", 8}};
  return goal;
}

}  // namespace

TEST_CASE("a lab.toml is read as it says") {
  const Lab lab = parse_lab(good, "lab7_x/lab.toml");
  CHECK(lab.id == 7);
  CHECK(lab.tile.at("BN") == 16);
  CHECK(lab.rung("gemm_x").types == std::vector<std::string>{"int32", "float"});
  CHECK(lab.rung("gemm_x").operation == grader::Operation::product);
  CHECK(lab.rung("gemm_x").launch == grader::LaunchBy::lab);
  const Lab open = parse_lab(with("types = [\"int32\", \"float\"]\n",
                                  "types = [\"int32\", \"float\"]\nlaunch = \"open\"\n"),
                             "lab7_x/lab.toml");
  CHECK(open.rung("gemm_x").launch == grader::LaunchBy::student);
  REQUIRE(lab.stages.size() == 2);
  CHECK(lab.stages[1].needs == std::vector<std::string>{"7.0"});
  CHECK(lab.stages[1].points == 2.5);
  CHECK(lab.stages[1].kind == grader::Kind::bonus);
  REQUIRE(lab.stages[1].answer);
  CHECK(lab.stages[1].answer->function == "why");
  CHECK(lab.stages[0].untouched.empty());
  CHECK(lab.stages[1].untouched == "STORES");
}

TEST_CASE("a rung's tile differs from the lab's where it says so") {
  const Lab lab = parse_lab(with("types = [\"int32\", \"float\"]\n",
                                 "types = [\"int32\", \"float\"]\ntile = { BM = 5, WM = 3 }\n"),
                            "lab7_x/lab.toml");
  const grader::Rung& rung = lab.rung("gemm_x");
  CHECK(lab.tile_size(rung, "BM", 0) == 5);
  CHECK(lab.tile_size(rung, "WM", 0) == 3);
  CHECK(lab.tile_size(rung, "BN", 0) == lab.tile.at("BN"));
  CHECK(lab.tile_size(rung, "TM", 9) == 9);
}

TEST_CASE("a type's tile differs from its rung's where the rung says so") {
  const Lab lab = parse_lab(with("types = [\"int32\", \"float\"]\n",
                                 "types = [\"int32\", \"float\"]\ntile = { BM = 5, WM = 3 }\n"
                                 "tile_of = { float = { BM = 6 } }\n"),
                            "lab7_x/lab.toml");
  const grader::Rung& rung = lab.rung("gemm_x");
  CHECK(lab.tile_size(rung, "float", "BM", 0) == 6);
  CHECK(lab.tile_size(rung, "int32", "BM", 0) == 5);
  CHECK(lab.tile_size(rung, "float", "WM", 0) == 3);
  CHECK(lab.tile_size(rung, "float", "BN", 0) == lab.tile.at("BN"));
  CHECK(message(with("types = [\"int32\", \"float\"]\n",
                     "types = [\"int32\", \"float\"]\ntile_of = { half = { BM = 6 } }\n"))
            .find("\"half\" is none of this rung's types") != std::string::npos);
}

TEST_CASE("what lab.toml must not hold is named with its line") {
  CHECK(message(with("points = 5\n", "points = 5\npionts = 6\n")) ==
        "lab7_x/lab.toml:13: unknown key \"pionts\" in [[stage]] (known: id, title, rung, needs, "
        "points, kind, shapes, answer, untouched)");
  CHECK(message(with("BK = 4", "BK = 4, BX = 1")).find("lab7_x/lab.toml:4: unknown key \"BX\"") ==
        0);
  CHECK(message(with("title = \"X\"", "titel = \"X\"")).find(":3: unknown key \"titel\"") !=
        std::string::npos);
  CHECK(message(with("\"k1\"", "\"square\"")).find(":13: unknown shape class \"square\"") !=
        std::string::npos);
  CHECK(message(with("\"int32\"", "\"quarter\"")).find(":7: unknown type \"quarter\"") !=
        std::string::npos);
  const auto rung = [](const std::string& lines) {
    return message(with("types = [\"int32\", \"float\"]\n", lines + "\n"));
  };
  CHECK(rung("types = [\"half\", \"bfloat16\"]") == "accepted");
  CHECK(rung("types = [\"half\"]\noperation = \"copy_a\"") == "accepted");
  CHECK(rung("types = [\"float\"]\nprecision = \"tf32\"") == "accepted");
  CHECK(rung("types = [\"float\", \"double\"]\nprecision = \"tf32\"")
            .find(":8: \"tf32\" needs types = [\"float\"]") != std::string::npos);
  CHECK(rung("types = [\"float\"]\nprecision = \"fp8\"").find(":8: unknown precision \"fp8\"") !=
        std::string::npos);
  CHECK(rung("types = [\"float\"]\nlaunch = \"open\"") == "accepted");
  CHECK(rung("types = [\"float\"]\nlaunch = \"given\"") == "accepted");
  CHECK(rung("types = [\"float\"]\nlaunch = \"mine\"")
            .find(":8: unknown launch \"mine\" (known: given, open)") != std::string::npos);
  CHECK(rung("types = [\"float\"]\nlaunch = true").find(":8: \"launch\" must be a string") !=
        std::string::npos);
  CHECK(rung("types = [\"float\"]\ntile = { BK = 64 }") == "accepted");
  CHECK(rung("types = [\"float\"]\ntile = { BX = 64 }").find(":8: unknown key \"BX\"") !=
        std::string::npos);
  CHECK(rung("types = [\"float\"]\ntile = { BK = 0 }").find(":8: \"BK\" must be at least 1") !=
        std::string::npos);
  const std::string hopper = "types = [\"bfloat16\"]\nneeds_arch = \"sm_90a\"\nfile = ";
  CHECK(rung(hopper + "\"wgmma.cu\"") == "accepted");
  CHECK(rung(hopper + "\"../wgmma.cu\"").find(":9: \"file\" must be a plain name") !=
        std::string::npos);
  CHECK(rung("types = [\"float\"]\nfile = \"wmma.cu\"") == "accepted");
  CHECK(rung(hopper + "\"wgmma.cu\"\n[[rung]]\nname = \"gemm_other\"\ntypes = [\"float\"]\n"
                      "file = \"wgmma.cu\"")
            .find("differ in \"needs_arch\"") != std::string::npos);
  CHECK(rung("types = [\"float\"]\nneeds_arch = \"sm_99\"").find("unknown architecture") !=
        std::string::npos);
  CHECK(message(with("rung = \"gemm_x\"\npoints = 5", "rung = \"gemm_y\"\npoints = 5"))
            .find(":11: no [[rung]] is named \"gemm_y\"") != std::string::npos);
  CHECK(message(with("needs = [\"7.0\"]", "needs = [\"7.9\"]"))
            .find("\"7.9\" is no stage before this one") != std::string::npos);
  CHECK(message(with("id = \"7.1\"", "id = \"7.0\"")).find("two stages have the id \"7.0\"") !=
        std::string::npos);
  CHECK(message(with("points = 5", "points = -5")).find("must not be negative") !=
        std::string::npos);
  CHECK(message(with("points = 5", "points = \"5\"")).find("\"points\" must be a number") !=
        std::string::npos);
  CHECK(message(with("kind = \"bonus\"", "kind = \"extra\"")).find("unknown kind \"extra\"") !=
        std::string::npos);
  CHECK(message(with("name = \"gemm_x\"", "name = \"gemm x; system()\""))
            .find("must be a C++ identifier") != std::string::npos);
  CHECK(message(with("id = 7", "id = ")).find("lab7_x/lab.toml:1: ") == 0);
  CHECK(message("id = 1\nname = \"n\"\ntitle = \"t\"\n").find("[[rung]] is missing") !=
        std::string::npos);
}

TEST_CASE("a course changes single values and nothing else") {
  std::vector<Lab> labs = {parse_lab(good, "lab7_x/lab.toml")};
  labs[0].goals = {goal_of("7.1")};
  grader::apply_course(labs, "[points]\n\"7.0\" = 40\n[goals.\"7.1\".sectors]\nslack = 2\n",
                       "course.toml");
  CHECK(labs[0].stages[0].points == 40);
  CHECK(labs[0].stages[1].points == 2.5);
  CHECK(labs[0].goals[0].parameters.at("slack") == 2);
  CHECK(labs[0].goals[0].parameters.at("BM") == 8);

  const auto refused = [&](const std::string& text) {
    try {
      grader::apply_course(labs, text, "course.toml");
    } catch (const grader::UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(
      refused("[points]\n\"7.7\" = 1\n") ==
      "course.toml:2: unknown key \"7.7\" in [points]: no stage has this id, or \"drop\" leaves it out");
  CHECK(refused("[point]\n").find("course.toml:1: unknown key \"point\"") == 0);
  std::string deep = "[a";
  for (int i = 0; i < 50'000; ++i) deep += ".a";
  CHECK(refused("\n" + deep + "]\n") == "course.toml: a line is longer than 4096 bytes");
  CHECK(refused("[goals.\"7.1\".sektors]\nslack = 1\n")
            .find("unknown key \"sektors\" in [goals.\"7.1\"]") != std::string::npos);
  CHECK(refused("[goals.\"7.1\".sectors]\nslak = 1\n") ==
        "course.toml:2: unknown key \"slak\": the goal \"sectors\" has the parameters BM, slack");
  CHECK(refused("[points]\n\"7.0\" = -1\n") == "course.toml:2: \"7.0\" must be from 0 to 10000");
  CHECK(refused("[points]\n\"7.0\" = nan\n") == "course.toml:2: \"7.0\" must be a number");
  CHECK(
      refused("[points]\n7.0 = 5\n") ==
      "course.toml:2: \"7\" must be a number; a stage's id stands in quotation marks, as in \"1.2\" = 15");
  CHECK(refused("points = 3\n") == "course.toml:1: \"points\" must be a table");
  CHECK(refused("extra_seeds = 9\n") == "course.toml:1: \"extra_seeds\" must be from 0 to 8");
  CHECK(refused("extra_seeds = 0.5\n").find("must be a whole number") != std::string::npos);
  CHECK(refused("drop = [\"7.7\"]\n") ==
        "course.toml:1: unknown stage \"7.7\" in \"drop\": no stage has this id");
  CHECK(refused("drop = \"7.1\"\n").find("must be a list of strings") != std::string::npos);
  CHECK(refused("labs = [8]\n") == "course.toml:1: no lab 8 in \"labs\": there are 7");
  CHECK(refused("labs = []\n") == "course.toml:1: \"labs\" names no lab to grade");
  CHECK(refused("labs = [7]\n") == "accepted");
}

TEST_CASE("only labs that have been handed out count, whatever else a course says") {
  std::string other = good;
  for (auto at = other.find('7'); at != std::string::npos; at = other.find('7', at + 1))
    other[at] = '8';
  std::vector<Lab> labs = {parse_lab(good, "lab7_x/lab.toml"), parse_lab(other, "lab8_x/lab.toml")};
  grader::apply_course(labs, "labs = [7]\n[points]\n\"7.0\" = 3\n\"8.0\" = 5\n", "course.toml");
  REQUIRE(labs.size() == 1);
  CHECK(labs[0].id == 7);
  CHECK(labs[0].stages[0].points == 3);
}

TEST_CASE("a course says what speed and lateness cost, and which stages it leaves out") {
  const std::string speed = "[[speed]]\nstage = \"7.0\"\nshape = [64, 64, 64]\nnaive = 1.5\n";
  const std::vector<Lab> fresh = {parse_lab(good + speed, "lab7_x/lab.toml")};
  std::vector<Lab> labs = fresh;
  const auto read = [&](const std::string& text) {
    labs = fresh;
    labs[0].goals = {goal_of("7.1")};
    return grader::apply_course(labs, text, "course.toml");
  };
  const auto refused = [&](const std::string& text) {
    try {
      read(text);
    } catch (const grader::UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const grader::Course none = read("");
  CHECK(none.speed == grader::SpeedCounts::shown);
  CHECK(none.extra_seeds == 0);
  CHECK(none.cost_percent == 0);

  const grader::Course course = read(
      "speed = \"points\"\nextra_seeds = 2\n[speed_points]\n\"7.0\" = 4\n[late]\n"
      "due = 2026-11-30T23:59:00+01:00\nfree_days = 1\ncost_percent = 12.5\nmost_days = 3\n");
  CHECK(course.speed == grader::SpeedCounts::points);
  CHECK(course.speed_points.at("7.0") == 4);
  CHECK(course.extra_seeds == 2);
  CHECK(course.due == 1796079540);  // date -d 2026-11-30T23:59:00+01:00 +%s
  CHECK(course.free_days == 1);
  CHECK(course.cost_percent == 12.5);
  CHECK(course.most_days == 3);

  read("drop = [\"7.0\"]\n");
  REQUIRE(labs[0].stages.size() == 1);
  CHECK(labs[0].stages[0].id == "7.1");
  CHECK(labs[0].stages[0].needs.empty());
  CHECK(labs[0].speed.empty());
  read("drop = [\"7.1\"]\n");
  CHECK(labs[0].goals.empty());

  CHECK(refused("drop = [\"7.0\", \"7.1\"]\n") ==
        "course.toml:1: \"drop\" leaves no stage to grade");
  CHECK(
      refused("drop = [\"7.0\"]\n[points]\n\"7.0\" = 1\n") ==
      "course.toml:3: unknown key \"7.0\" in [points]: no stage has this id, or \"drop\" leaves it "
      "out");
  CHECK(refused("speed = \"yes\"\n") ==
        "course.toml:1: \"speed\" must be \"points\", \"bonus\" or \"shown\"");
  CHECK(refused("speed = \"bonus\"\n").find("course.toml:1: \"speed\" is \"bonus\", and no") == 0);
  CHECK(refused("[speed_points]\n\"7.0\" = 1\n").find("count for nothing") != std::string::npos);
  CHECK(refused("speed = \"bonus\"\n[speed_points]\n\"7.1\" = 1\n")
            .find("course.toml:3: stage 7.1 has no goal of speed") == 0);
  CHECK(refused("[late]\n") == "course.toml:1: \"cost_percent\" is missing in [late]");
  CHECK(refused("[late]\ncost_percent = 101\n") ==
        "course.toml:2: \"cost_percent\" must be from 0 to 100");
  CHECK(refused("[late]\ncost_percent = 1\ndue = 2026-11-30T23:59:00\n")
            .find("course.toml:3: \"due\" must be a date and a time with an offset") == 0);
  CHECK(refused("[late]\ncost_percent = 1\ndue = \"tomorrow\"\n").find("with an offset") !=
        std::string::npos);
  CHECK(refused("[late]\ncost_percent = 1\nfree_days = 3\nmost_days = 2\n")
            .find("must not be less than \"free_days\"") != std::string::npos);
  CHECK(refused("[late]\ncost = 1\n").find("unknown key \"cost\" in [late]") != std::string::npos);
}

TEST_CASE("sectors of coalesced rows") {
  CHECK(grader::coalesced_row_sectors(1, 32, 32, 4) == 4);
  CHECK(grader::coalesced_row_sectors(256, 256, 256, 4) == 256 * 32);
  CHECK(grader::coalesced_row_sectors(256, 256, 256, 8) == 256 * 64);
  CHECK(grader::coalesced_row_sectors(2, 5, 5, 4) ==
        1 + 2);  // the second row starts in the first sector's rest
  CHECK(grader::coalesced_row_sectors(0, 5, 5, 4) == 0);
}

TEST_CASE("[[speed]]: bars, shapes, architectures; everything else is an error with its line") {
  const std::string speed = R"([[speed]]
stage = "7.1"
type = "int32"
shape = [4096, 2048, 1024]
naive = 1.5
cublas = 0.5
previous = "lab6_w:gemm_w"
[speed.arch.sm_75]
naive = 1.2
)";
  const Lab lab = parse_lab(good + speed, "x");
  REQUIRE(lab.speed.size() == 1);
  const grader::SpeedGoal& goal = lab.speed[0];
  CHECK(goal.stage == "7.1");
  CHECK(goal.type == "int32");
  CHECK(goal.m == 4096);
  CHECK(goal.n == 2048);
  CHECK(goal.k == 1024);
  CHECK(goal.bars.naive == 1.5);
  CHECK(goal.bars.cublas == 0.5);
  CHECK(goal.arch.at("sm_75").naive == 1.2);
  CHECK_FALSE(goal.arch.at("sm_75").cublas);
  CHECK(goal.previous == "lab6_w:gemm_w");

  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = speed;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    return message(good + text);
  };
  CHECK(changed("\"7.1\"", "\"7.9\"").find(":27: no [[stage]] has the id \"7.9\"") !=
        std::string::npos);
  CHECK(changed("int32", "half").find("has no type \"half\"") != std::string::npos);
  CHECK(changed("[4096, 2048, 1024]", "[4096, 2048]").find("must be [M, N, K]") !=
        std::string::npos);
  CHECK(changed("[4096, 2048, 1024]", "[4096, 0, 1024]").find("must be [M, N, K]") !=
        std::string::npos);
  CHECK(changed("1.5", "-1").find("\"naive\" must be above 0") != std::string::npos);
  CHECK(changed("naive = 1.5", "naiv = 1.5").find("unknown key \"naiv\"") != std::string::npos);
  CHECK(changed("naive = 1.5\n", "").find("cuBLAS has no int32") != std::string::npos);
  CHECK(changed("sm_75", "sm75").find("is no architecture") != std::string::npos);
  for (const char* wrong : {"gemm_w", "a@b:c", "lab6_w:", "lab6_w:gemm_w@", "lab6_w:gemm_w@../x"})
    CHECK(changed("lab6_w:gemm_w", wrong).find("labN_name:rung") != std::string::npos);
  const auto technique = grader::parse_technique("lab1_naive:gemm_naive@L1-01-x-along-rows");
  REQUIRE(technique);
  CHECK(technique->lab == "lab1_naive");
  CHECK(technique->rung == "gemm_naive");
  CHECK(technique->mutant == "L1-01-x-along-rows");
  CHECK(message(good + speed + speed).find("two [[speed]] goals") != std::string::npos);
  CHECK(message(good + "[gpu]\nx = 1\n").find("unknown key \"gpu\"") != std::string::npos);
}
