// Where `make calibrate` places bars, and how it writes them into lab.toml.
#include <cmath>
#include <string>

#include "common/catch2.hpp"
#include "common/inputs.hpp"
#include "grader/author/speed/calibration.hpp"
#include "grader/labs/lab.hpp"

using namespace grader;
using namespace grader::gpu;

TEST_CASE("calibration: a bar lies in the gap between techniques, or there is none") {
  // Far apart: the geometric middle.
  CHECK(std::abs(*place_bar(1.0, 0.084).bar - 0.28) < 1e-12);
  // Closer: 0.85 of the solution's worst.
  CHECK(std::abs(*place_bar(5.3, 4.0).bar - 4.5) < 1e-12);
  // Too close for any: 0.85 of the solution less the grace does not clear what was before.
  const Placed none = place_bar(1.0, 0.8);
  CHECK_FALSE(none.bar);
  CHECK(none.reason == "calibrate.no_gap");
  CHECK(place_bar(0, 1).reason == "calibrate.unmeasured");
  inputs::SplitMix64 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const double solution = 0.01 + 20 * static_cast<double>(random() >> 11) * 0x1p-53;
    const double previous = solution * static_cast<double>(random() >> 11) * 0x1p-53 + 1e-6;
    const Placed placed = place_bar(solution, previous);
    if (!placed.bar) continue;
    CHECK(*placed.bar <= 0.85 * solution);
    CHECK(0.97 * *placed.bar > previous);
    CHECK(holds(*placed.bar, solution, previous));
  }
  CHECK_FALSE(holds(0.9, 1.0, 0.1));  // the solution does not clear it with margin
  CHECK_FALSE(holds(0.5, 1.0, 0.5));  // nor does the technique before miss it
}

TEST_CASE("calibration: bars are written into lab.toml, and nothing else changes") {
  const std::string before = R"(# a comment that stays
id = 7
name = "lab7_x"
title = "X"
[[rung]]
name = "gemm_x"
types = ["float"]
[[stage]]
id = "7.0"
title = "Zero"
rung = "gemm_x"
points = 5
shapes = ["tiny"]

[[speed]]   # the first
stage = "7.0"
shape = [4096, 4096, 4096]
naive = 1.5   # provisional

[[speed]]
stage = "7.0"
shape = [1024, 1024, 1024]
naive = 1.1
[speed.arch.sm_75]
naive = 0.9
cublas = 0.2
)";
  Lab lab = parse_lab(before, "x");
  SpeedBars bars;
  bars.naive = 2.25;
  bars.cublas = 0.5;
  const std::string base = with_bars(before, lab.speed[0], "", bars);
  CHECK(base.find("naive = 2.25   # provisional\ncublas = 0.5\n\n[[speed]]") != std::string::npos);
  CHECK(base.find("# a comment that stays") == 0);
  CHECK(parse_lab(base, "x").speed[1].bars.naive == 1.1);

  const std::string added = with_bars(before, lab.speed[0], "sm_86", bars);
  lab = parse_lab(added, "x");
  CHECK(lab.speed[0].bars.naive == 1.5);
  CHECK(lab.speed[0].arch.at("sm_86").cublas == 0.5);
  CHECK(added.find("\n\n[[speed]]\nstage") != std::string::npos);
  // Again, with other numbers: replaced, not added.
  bars.naive = 3;
  const std::string again = with_bars(added, lab.speed[0], "sm_86", bars);
  CHECK(again.size() == added.size() - 1);
  CHECK(parse_lab(again, "x").speed[0].arch.at("sm_86").naive == 3);

  lab = parse_lab(before, "x");
  const std::string second = with_bars(before, lab.speed[1], "sm_75", bars);
  CHECK(parse_lab(second, "x").speed[1].arch.at("sm_75").naive == 3);
  CHECK(parse_lab(second, "x").speed[1].arch.at("sm_75").cublas == 0.5);
  CHECK(parse_lab(second, "x").speed[1].bars.naive == 1.1);
  SpeedGoal other = lab.speed[0];
  other.line = 3;
  CHECK_THROWS_AS(with_bars(before, other, "", bars), std::invalid_argument);
}
