#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include <fmt/core.h>

#include "grader/messages.hpp"
#include "grader/report/render.hpp"
#include "grader/report/text.hpp"

namespace grader::report {
namespace {

using messages::text;

constexpr std::size_t columns = 80;

struct Word {
  std::string text;
  Style style;
};

Word word(std::string_view key, Style style) {
  return {text(key), style};
}

Word word_of(const StageResult& stage) {
  switch (stage.state) {
    case State::passed:
      return word("check.word.ok", Style::good);
    case State::failed:
      return word("check.word.failed", Style::bad);
    case State::not_started:
      return word("check.word.not_started", Style::warn);
    case State::locked:
      return word("check.word.locked", Style::dim);
    case State::skipped:
      return word("check.word.skipped", Style::dim);
    case State::infra:
      return word("check.word.error", Style::bad);
  }
  return {"?", Style::plain};
}

std::string label_of(const StageResult& stage) {
  return stage.id + " " + stage.title + (stage.bonus ? text("check.bonus") : "");
}

std::string place_of(const std::string& file, unsigned line) {
  return fmt::format("{}:{}", file, line);
}

/// What fits on the stage's own line.
std::string brief(const StageResult& stage) {
  switch (stage.state) {
    case State::not_started:
      return place_of(stage.file, stage.line);
    case State::locked: {
      // The word stands in the column before.
      const std::string prefix = text("check.word.locked") + ": ";
      return stage.headline.starts_with(prefix) ? stage.headline.substr(prefix.size())
                                                : stage.headline;
    }
    case State::failed:
    case State::infra: {
      return stage.diagnosis.empty() ? stage.headline : stage.diagnosis;
    }
    case State::passed:
    case State::skipped:
      break;
  }
  return stage.headline;
}

class Page {
 public:
  explicit Page(bool colour) : colour_(colour) {}
  void line(const std::string& text = {}) { out_ << text << '\n'; }
  /// Wrapped text behind a label: "  3.2  " on the first line, blanks on the others.
  void block(const std::string& label, const std::string& text, Style style = Style::plain) {
    bool first = true;
    for (const auto& part : wrap(text, columns - label.size())) {
      line((first ? label : std::string(label.size(), ' ')) + styled(part, style, colour_));
      first = false;
    }
  }
  bool colour() const { return colour_; }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
  bool colour_;
};

/// All goals, or those that are not met.
void goals_table(Page& page, const StageResult& stage, const std::string& indent, bool all) {
  if (std::all_of(stage.goals.begin(), stage.goals.end(),
                  [all](const GoalResult& goal) { return goal.met && !all; }))
    return;
  constexpr std::size_t what = 24, at = 20;
  page.line(indent + pad(text("check.goals.goal"), what) + pad(text("check.goals.at"), at) +
            text("check.goals.counts"));
  for (const auto& goal : stage.goals) {
    if (goal.met && !all) continue;
    const std::string where =
        fmt::format("{}×{}×{} {}", goal.at.m, goal.at.n, goal.at.k, goal.type);
    const std::string numbers = fmt::format("{} / {}{}", number(goal.measured), number(goal.bound),
                                            goal.met      ? ""
                                            : goal.advice ? text("check.goals.advice")
                                                          : " *");
    const Style style = goal.met ? Style::plain : goal.advice ? Style::warn : Style::bad;
    page.line(indent + styled(pad(fit(goal.what, what - 1), what), style, page.colour()) +
              pad(where, at - 1) + " " + fit(numbers, columns - indent.size() - what - at));
  }
}

void explain(Page& page, const StageResult& stage, bool verbose) {
  const bool problem = stage.state == State::failed || stage.state == State::infra ||
                       stage.state == State::not_started;
  const std::string label = "  " + stage.id + "  ";
  const std::string indent(label.size(), ' ');
  if (!problem) {
    for (const auto& note : stage.notes) page.block(label, text("check.note", {{"note", note}}));
    if (verbose) goals_table(page, stage, indent, true);
    return;
  }
  page.line();
  page.block(label, stage.headline, stage.state == State::not_started ? Style::plain : Style::bold);
  if (stage.state == State::failed && !stage.shape.empty())
    page.block(indent, text("check.at_in", {{"shape", stage.shape}, {"type", stage.type}}) +
                           (stage.line ? ", " + place_of(stage.file, stage.line) : ""));
  for (const auto& detail : stage.details) page.block(indent, detail);
  if (!stage.next_step.empty()) page.block(indent, stage.next_step);
  if (stage.verdict == Verdict::goal_missed) goals_table(page, stage, indent, verbose);
  if (!stage.printed.empty()) {
    page.line(indent + text("check.printed"));
    const auto lines = wrap(stage.printed, columns - label.size() - 2);
    for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 5); ++i)
      if (!lines[i].empty()) page.line(indent + "| " + lines[i]);
  }
  for (const auto& note : stage.notes) page.block(indent, text("check.note", {{"note", note}}));
}

// ---- the GPU's part of a lab

using Gpu = HardwareResult::State;

std::string decimals(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

Word right_word(const HardwareResult& gpu) {
  if (gpu.state == Gpu::skipped) return word("check.word.skipped", Style::dim);
  if (gpu.state == Gpu::infra && gpu.sanitizer.empty()) return word("check.word.error", Style::bad);
  const bool wrong = gpu.state == Gpu::failed && gpu.verdict != Verdict::sanitizer &&
                     gpu.verdict != Verdict::too_slow;
  return wrong ? word("check.word.failed", Style::bad) : word("check.word.ok", Style::good);
}

Word sanitizer_word(const HardwareResult& gpu) {
  if (gpu.sanitizer.empty()) return {"-", Style::dim};
  for (const auto& one : gpu.sanitizer) {
    if (one.unreadable) return word("check.word.error", Style::bad);
    if (!one.clean) return word("check.word.failed", Style::bad);
  }
  return word("check.word.clean", Style::good);
}

Word speed_word(const SpeedResult& speed) {
  switch (speed.verdict) {
    case SpeedVerdict::pass:
      return word("check.word.ok", Style::good);
    case SpeedVerdict::fail:
      return word("check.word.failed", Style::bad);
    case SpeedVerdict::inconclusive:
      return word("check.word.noisy", Style::warn);
    case SpeedVerdict::not_measured:
      break;
  }
  return {"-", Style::dim};
}

/// "0.53 of cuBLAS (asked 0.45), 27.1 TFLOP/s": the yardstick that decided.
std::string speed_text(const SpeedResult& speed) {
  if (speed.verdict == SpeedVerdict::not_measured) return speed.reason;
  // WMMA is asked for a fortieth of cuBLAS: two digits that count, where two decimals are one.
  const int digits = speed.bar < 0.1 ? 3 : 2;
  std::string line =
      text(speed.by == "cublas" ? "check.speed.cublas" : "check.speed.naive",
           {{"ratio", decimals(speed.ratio, digits)}, {"bar", decimals(speed.bar, digits)}});
  if (speed.tflops > 0) line += text("check.speed.rate", {{"tflops", decimals(speed.tflops, 1)}});
  return line;
}

void hardware_table(Page& page, const Report& report, const LabResult& lab) {
  const bool any = std::any_of(lab.stages.begin(), lab.stages.end(),
                               [](const StageResult& stage) { return stage.gpu.has_value(); });
  if (!any || !report.gpu) return;
  constexpr std::size_t stage_column = 7, right_column = 10, clean_column = 11;
  page.line();
  for (const auto& part :
       wrap(text("check.gpu", {{"gpu", report.gpu->name}, {"arch", report.gpu->arch}}), columns))
    page.line(part);
  page.line(pad(text("check.column.stage"), stage_column) +
            pad(text("check.column.right"), right_column) +
            pad(text("check.column.sanitizer"), clean_column) + text("check.column.speed"));
  const auto cell = [&](const Word& said, std::size_t columns_of_cell) {
    return styled(said.text, said.style, page.colour()) +
           std::string(columns_of_cell - width(said.text), ' ');
  };
  for (const auto& stage : lab.stages) {
    if (!stage.gpu) continue;
    const HardwareResult& gpu = *stage.gpu;
    const std::string head = pad(stage.id, stage_column) + cell(right_word(gpu), right_column) +
                             cell(sanitizer_word(gpu), clean_column);
    constexpr std::size_t indent = stage_column + right_column + clean_column;
    if (gpu.speed.empty()) {
      page.line(head + (gpu.state == Gpu::skipped ? fit(gpu.headline, columns - indent)
                                                  : styled("-", Style::dim, page.colour())));
      continue;
    }
    bool first = true;
    for (const auto& speed : gpu.speed) {
      const std::string begin = first ? head : std::string(indent, ' ');
      first = false;
      page.line(begin + cell(speed_word(speed), 6) + fit(speed_text(speed), columns - indent - 6));
      const auto& at = speed.at;
      std::string where = at.m == at.n && at.n == at.k
                              ? fmt::format("{} {}³", speed.type, at.m)
                              : fmt::format("{} {}×{}×{}", speed.type, at.m, at.n, at.k);
      if (!speed.previous.empty())
        where += text("check.speed.previous",
                      {{"ratio", decimals(speed.over_previous, 2)}, {"rung", speed.previous}});
      page.line(std::string(indent + 6, ' ') + fit(where, columns - indent - 6));
    }
  }
}

/// All that was measured of one type, for --verbose.
std::string measured(const SpeedResult& speed) {
  const auto interval = [](const double(&of)[3]) {
    return fmt::format("{:.3f} [{:.3f}, {:.3f}]", of[1], of[0], of[2]);
  };
  std::string all = text("check.measured", {{"type", speed.type},
                                            {"ms", decimals(speed.ms, 4)},
                                            {"events", decimals(speed.events_ms, 4)}});
  if (std::isfinite(speed.over_naive[1]))
    all += text("check.measured.naive", {{"interval", interval(speed.over_naive)}});
  if (std::isfinite(speed.over_cublas[1]))
    all += text("check.measured.cublas", {{"interval", interval(speed.over_cublas)}});
  all += text("check.measured.rounds", {{"rounds", std::to_string(speed.rounds)},
                                        {"launches", std::to_string(speed.launches)}});
  if (speed.clock_median != 0)
    all += text("check.measured.clock",
                {{"clocks",
                  fmt::format("{}/{}/{}", speed.clock_low, speed.clock_median, speed.clock_high)}});
  if (!speed.throttle.empty())
    all += text("check.measured.throttle", {{"reasons", speed.throttle}});
  return all;
}

void hardware_explain(Page& page, const StageResult& stage, bool verbose) {
  if (!stage.gpu) return;
  const HardwareResult& gpu = *stage.gpu;
  const std::string label = "  " + stage.id + "  ";
  const std::string indent(label.size(), ' ');
  if (gpu.state == Gpu::failed || gpu.state == Gpu::infra) {
    page.line();
    page.block(label, gpu.headline, Style::bold);
    std::string at;
    if (!gpu.shape.empty())
      at = text("check.at_in", {{"shape", gpu.shape}, {"type", gpu.type}});
    else if (!gpu.type.empty())
      at = text("check.in", {{"type", gpu.type}});
    if (gpu.line != 0) {
      const std::string place = place_of(gpu.file, gpu.line);
      at += at.empty() ? text("check.at", {{"place", place}}) : ", " + place;
    }
    if (!at.empty()) page.block(indent, at);
    for (const auto& detail : gpu.details) page.block(indent, detail);
    if (!gpu.next_step.empty()) page.block(indent, gpu.next_step);
  }
  for (const auto& speed : gpu.speed) {
    if (speed.verdict == SpeedVerdict::inconclusive)
      page.block(label, speed.type + ": " + speed.reason, Style::warn);
    for (const auto& odd : speed.suspect) page.block(label, text("check.note", {{"note", odd}}));
    if (!verbose || speed.ms <= 0) continue;
    page.block(label, measured(speed));
  }
  for (const auto& note : gpu.notes) page.block(label, text("check.note", {{"note", note}}));
}

/// "on the GPU: 18 of 18 stages right, 1 skipped; speed: 12 ok, 1 too slow, 1 noisy"
std::string hardware_sum(const Report& report) {
  unsigned right = 0, tried = 0, skipped = 0, fast = 0, slow = 0, noisy = 0;
  for (const auto& lab : report.labs)
    for (const auto& stage : lab.stages) {
      if (!stage.gpu) continue;
      const HardwareResult& gpu = *stage.gpu;
      if (gpu.state == Gpu::skipped) {
        ++skipped;
        continue;
      }
      ++tried;
      right += gpu.state == Gpu::passed || gpu.verdict == Verdict::too_slow;
      for (const auto& speed : gpu.speed) {
        fast += speed.verdict == SpeedVerdict::pass;
        slow += speed.verdict == SpeedVerdict::fail;
        noisy += speed.verdict == SpeedVerdict::inconclusive;
      }
    }
  const auto part = [](std::string_view key, unsigned count) {
    return count ? text(key, {{"count", std::to_string(count)}}) : "";
  };
  std::string line =
      text("check.gpu.sum", {{"right", std::to_string(right)}, {"tried", std::to_string(tried)}});
  line += part("check.gpu.skipped", skipped);
  if (fast + slow + noisy) {
    line += text("check.gpu.fast", {{"count", std::to_string(fast)}});
    line += part("check.gpu.slow", slow);
    line += part("check.gpu.noisy", noisy);
  }
  return line;
}

void used_gpu(Page& page, const GpuUsed& gpu) {
  const std::string cublas =
      gpu.cublas.empty() ? "" : text("check.gpu.cublas", {{"version", gpu.cublas}});
  page.block("", text("check.gpu.used", {{"gpu", gpu.name},
                                         {"arch", gpu.arch},
                                         {"picked", gpu.picked},
                                         {"driver", gpu.driver},
                                         {"toolkit", gpu.toolkit},
                                         {"cublas", cublas}}));
  page.line();
}

void head_of(Page& page, const Report& report, const LabResult& lab) {
  const std::string& note = report.device_note;
  const std::string head =
      text("check.head",
           {{"lab", lab.name},
            {"device", note.empty() ? report.device : fmt::format("{} ({})", report.device, note)},
            {"compiler", report.compiler}});
  for (const auto& part : wrap(head, columns)) page.line(part);
  page.line();
  if (lab.build != BuildStatus::built) {
    page.block("  ", lab.build_headline, Style::bold);
    for (const auto& line : lab.build_details)
      page.line("  " + line);  // the compiler's own lines are not broken
    page.line();
  }
  for (const auto& line : lab.warnings) page.line("  " + line);
  if (!lab.warnings.empty()) page.line();
}

/// Nothing of it could be run: its file does not build.
bool unbuilt(const LabResult& lab) {
  return lab.build != BuildStatus::built && lab.build != BuildStatus::infra &&
         std::all_of(lab.stages.begin(), lab.stages.end(), [](const StageResult& stage) {
           return stage.state == State::skipped || stage.verdict == Verdict::compile_error ||
                  stage.verdict == Verdict::compile_limit;
         });
}

void stages_table(Page& page, const LabResult& lab) {
  // Room for the longest title, up to what leaves the details readable.
  std::size_t longest = 0;
  for (const auto& stage : lab.stages) longest = std::max(longest, width(label_of(stage)));
  const std::size_t stage_column = std::clamp<std::size_t>(longest + 1, 32, 36);
  const std::size_t result_column = stage_column > 32 ? 12 : 13;
  page.line(pad(text("check.column.stage"), stage_column) +
            pad(text("check.column.result"), result_column) + text("check.column.detail"));
  for (const auto& stage : lab.stages) {
    const Word result = word_of(stage);
    page.line(pad(fit(label_of(stage), stage_column - 1), stage_column) +
              styled(result.text, result.style, page.colour()) +
              std::string(result_column - width(result.text), ' ') +
              fit(brief(stage), columns - stage_column - result_column));
  }
}

void lab_on_gpu(Page& page, const Report& report, const LabResult& lab, bool verbose) {
  hardware_table(page, report, lab);
  std::set<std::string> told;  // what holds for the whole file is told once
  for (const auto& stage : lab.stages) {
    const bool of_file =
        stage.gpu &&
        (stage.gpu->verdict == Verdict::refused ||
         (stage.gpu->verdict == Verdict::compile_error && stage.gpu->diagnosis.empty()));
    if (!of_file || told.insert(stage.gpu->headline).second) hardware_explain(page, stage, verbose);
  }
  bool recorded = false;
  for (const auto& stage : lab.stages) {
    if (stage.recorded.empty()) continue;
    if (!recorded) page.line();
    recorded = true;
    page.block(pad(stage.id, 7), stage.recorded, Style::dim);
  }
}

}  // namespace

std::string human(const Report& report, bool colour, bool verbose) {
  Page page(colour);
  if (report.gpu) used_gpu(page, *report.gpu);
  for (const auto& lab : report.labs) {
    head_of(page, report, lab);
    if (!unbuilt(lab)) stages_table(page, lab);
    if (lab.build == BuildStatus::built)
      for (const auto& stage : lab.stages) explain(page, stage, verbose);
    lab_on_gpu(page, report, lab, verbose);
    page.line();
  }
  for (const auto& note : report.notes) page.block("", note);
  if (!report.notes.empty()) page.line();

  if (std::all_of(report.labs.begin(), report.labs.end(), unbuilt)) {
    page.line(text("check.unbuilt"));
    page.line(text("check.next", {{"command", styled(report.next, Style::bold, colour)}}));
    return page.text();
  }
  const Score sum = score(report);
  std::string line = text("check.score", {{"passed", std::to_string(sum.passed)},
                                          {"stages", std::to_string(sum.stages)},
                                          {"earned", number(sum.earned)},
                                          {"possible", number(sum.possible)}});
  if (sum.bonus_possible > 0)
    line += text("check.score.bonus",
                 {{"earned", number(sum.bonus_earned)}, {"possible", number(sum.bonus_possible)}});
  page.line(line);
  if (report.gpu) page.block("", hardware_sum(report));
  page.line(text("check.next", {{"command", styled(report.next, Style::bold, colour)}}));
  return page.text();
}

}  // namespace grader::report
