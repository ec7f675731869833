#include <algorithm>
#include <cmath>
#include <iomanip>
#include <set>
#include <sstream>

#include "grader/report/render.hpp"
#include "grader/report/text.hpp"

namespace grader::report {
namespace {

constexpr std::size_t columns = 80;

struct Word {
  const char* text;
  Style style;
};

Word word_of(const StageResult& stage) {
  switch (stage.state) {
    case State::passed:
      return {"ok", Style::good};
    case State::failed:
      return {"FAIL", Style::bad};
    case State::not_started:
      return {"not started", Style::warn};
    case State::locked:
      return {"locked", Style::dim};
    case State::skipped:
      return {"skipped", Style::dim};
    case State::infra:
      return {"ERROR", Style::bad};
  }
  return {"?", Style::plain};
}

std::string label_of(const StageResult& stage) {
  return stage.id + " " + stage.title + (stage.bonus ? " (bonus)" : "");
}

/// What fits on the stage's own line.
std::string brief(const StageResult& stage) {
  switch (stage.state) {
    case State::not_started:
      return stage.file + ":" + std::to_string(stage.line);
    case State::locked: {
      // The word stands in the column before.
      const std::string prefix = "locked: ";
      return stage.headline.rfind(prefix, 0) == 0 ? stage.headline.substr(prefix.size())
                                                  : stage.headline;
    }
    case State::failed:
    case State::infra: {
      std::string text = stage.shape;
      if (!stage.diagnosis.empty()) text += (text.empty() ? "" : ": ") + stage.diagnosis;
      return text.empty() ? stage.headline : text;
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

void goals_table(Page& page, const StageResult& stage, const std::string& indent) {
  if (stage.goals.empty()) return;
  constexpr std::size_t what = 24, at = 20;
  page.line(indent + pad("goal", what) + pad("at", at) + "yours / at most");
  for (const auto& goal : stage.goals) {
    const std::string where = std::to_string(goal.at.m) + "×" + std::to_string(goal.at.n) + "×" +
                              std::to_string(goal.at.k) + " " + goal.type;
    const std::string numbers = number(goal.measured) + " / " + number(goal.bound) +
                                (goal.met      ? ""
                                 : goal.advice ? " (advice)"
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
    for (const auto& note : stage.notes) page.block(label, "note: " + note);
    if (verbose) goals_table(page, stage, indent);
    return;
  }
  page.line();
  page.block(label, stage.headline, stage.state == State::not_started ? Style::plain : Style::bold);
  if (stage.state == State::failed && !stage.shape.empty())
    page.block(indent,
               "at " + stage.shape + " in " + stage.type +
                   (stage.line ? ", " + stage.file + ":" + std::to_string(stage.line) : ""));
  for (const auto& detail : stage.details) page.block(indent, detail);
  if (!stage.next_step.empty()) page.block(indent, stage.next_step);
  if (stage.verdict == "GOAL_MISSED") goals_table(page, stage, indent);
  if (!stage.printed.empty()) {
    page.line(indent + "your code printed:");
    const auto lines = wrap(stage.printed, columns - label.size() - 2);
    for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 5); ++i)
      if (!lines[i].empty()) page.line(indent + "| " + lines[i]);
  }
  for (const auto& note : stage.notes) page.block(indent, "note: " + note);
}

// ---- the GPU's part of a lab

using Gpu = HardwareResult::State;

std::string decimals(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

Word right_word(const HardwareResult& gpu) {
  if (gpu.state == Gpu::skipped) return {"skipped", Style::dim};
  if (gpu.state == Gpu::infra && gpu.sanitizer.empty()) return {"ERROR", Style::bad};
  const bool wrong =
      gpu.state == Gpu::failed && gpu.verdict != "SANITIZER" && gpu.verdict != "TOO_SLOW";
  return wrong ? Word{"FAIL", Style::bad} : Word{"ok", Style::good};
}

Word sanitizer_word(const HardwareResult& gpu) {
  if (gpu.sanitizer.empty()) return {"-", Style::dim};
  for (const auto& one : gpu.sanitizer) {
    if (one.unreadable) return {"ERROR", Style::bad};
    if (!one.clean) return {"FAIL", Style::bad};
  }
  return {"clean", Style::good};
}

Word speed_word(const SpeedResult& speed) {
  return speed.verdict == "pass"           ? Word{"ok", Style::good}
         : speed.verdict == "fail"         ? Word{"FAIL", Style::bad}
         : speed.verdict == "inconclusive" ? Word{"noisy", Style::warn}
                                           : Word{"-", Style::dim};
}

/// "0.53 of cuBLAS (asked 0.45), 27.1 TFLOP/s": the yardstick that decided.
std::string speed_text(const SpeedResult& speed) {
  if (speed.verdict == "not_measured") return speed.reason;
  // WMMA is asked for a fortieth of cuBLAS: two digits that count, where two decimals are one.
  const int digits = speed.bar < 0.1 ? 3 : 2;
  std::string text =
      decimals(speed.ratio, digits) + (speed.by == "cublas" ? " of cuBLAS" : "x naive");
  text += " (asked " + decimals(speed.bar, digits) + ")";
  if (speed.tflops > 0) text += ", " + decimals(speed.tflops, 1) + " TFLOP/s";
  return text;
}

void hardware_table(Page& page, const Report& report, const LabResult& lab) {
  const bool any = std::any_of(lab.stages.begin(), lab.stages.end(),
                               [](const StageResult& stage) { return stage.gpu.has_value(); });
  if (!any || !report.gpu) return;
  constexpr std::size_t stage_column = 7, right_column = 10, clean_column = 11;
  page.line();
  for (const auto& part :
       wrap("on the GPU · " + report.gpu->name + " (" + report.gpu->arch + ")", columns))
    page.line(part);
  page.line(pad("stage", stage_column) + pad("right", right_column) +
            pad("sanitizer", clean_column) + "speed, against the bar");
  const auto cell = [&](const Word& word, std::size_t width_) {
    return styled(word.text, word.style, page.colour()) +
           std::string(width_ - width(word.text), ' ');
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
      std::string where = speed.type + " " + std::to_string(at.m);
      where += at.m == at.n && at.n == at.k
                   ? "³"
                   : "×" + std::to_string(at.n) + "×" + std::to_string(at.k);
      if (!speed.previous.empty())
        where += "; " + decimals(speed.over_previous, 2) + "x your " + speed.previous;
      page.line(std::string(indent + 6, ' ') + fit(where, columns - indent - 6));
    }
  }
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
      at = "at " + gpu.shape + " in " + gpu.type;
    else if (!gpu.type.empty())
      at = "in " + gpu.type;
    if (gpu.line != 0)
      at += (at.empty() ? "at " : ", ") + gpu.file + ":" + std::to_string(gpu.line);
    if (!at.empty()) page.block(indent, at);
    for (const auto& detail : gpu.details) page.block(indent, detail);
    if (!gpu.next_step.empty()) page.block(indent, gpu.next_step);
  }
  for (const auto& speed : gpu.speed) {
    if (speed.verdict == "inconclusive")
      page.block(label, speed.type + ": " + speed.reason, Style::warn);
    for (const auto& odd : speed.suspect) page.block(label, "note: " + odd);
    if (!verbose || speed.ms <= 0) continue;
    const auto interval = [](const double(&of)[3]) {
      return decimals(of[1], 3) + " [" + decimals(of[0], 3) + ", " + decimals(of[2], 3) + "]";
    };
    std::string all = speed.type + ": " + decimals(speed.ms, 4) +
                      " ms per launch by the wall clock, " + decimals(speed.events_ms, 4) +
                      " by events;";
    if (std::isfinite(speed.over_naive[1]))
      all += " over naive " + interval(speed.over_naive) + ",";
    if (std::isfinite(speed.over_cublas[1]))
      all += " over cuBLAS " + interval(speed.over_cublas) + ",";
    all += " " + std::to_string(speed.rounds) + " rounds of " + std::to_string(speed.launches) +
           " launches";
    if (speed.clock_median != 0)
      all += ", SM clock " + std::to_string(speed.clock_low) + "/" +
             std::to_string(speed.clock_median) + "/" + std::to_string(speed.clock_high) + " MHz";
    if (!speed.throttle.empty()) all += ", held back by: " + speed.throttle;
    page.block(label, all);
  }
  for (const auto& note : gpu.notes) page.block(label, "note: " + note);
}

std::string points(double value) {
  return number(value);
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
      right += gpu.state == Gpu::passed || gpu.verdict == "TOO_SLOW";
      for (const auto& speed : gpu.speed) {
        fast += speed.verdict == "pass";
        slow += speed.verdict == "fail";
        noisy += speed.verdict == "inconclusive";
      }
    }
  std::string text =
      "on the GPU: " + std::to_string(right) + " of " + std::to_string(tried) + " stages right";
  if (skipped) text += ", " + std::to_string(skipped) + " skipped";
  if (fast + slow + noisy) {
    text += "; speed: " + std::to_string(fast) + " ok";
    if (slow) text += ", " + std::to_string(slow) + " too slow";
    if (noisy) text += ", " + std::to_string(noisy) + " inconclusive (noisy, run it again)";
  }
  return text;
}

}  // namespace

std::string human(const Report& report, bool colour, bool verbose) {
  Page page(colour);
  if (report.gpu) {
    const GpuUsed& gpu = *report.gpu;
    page.block("", "GPU: " + gpu.name + " (" + gpu.arch + "), " + gpu.picked + "; driver " +
                       gpu.driver + ", CUDA " + gpu.toolkit +
                       (gpu.cublas.empty() ? "" : ", cuBLAS " + gpu.cublas) +
                       ". Points come from sim, as on every machine.");
    page.line();
  }
  for (const auto& lab : report.labs) {
    std::string head = "gemm-lab check · " + lab.name + " · " + report.device;
    if (!report.device_note.empty()) head += " (" + report.device_note + ")";
    head += " · " + report.compiler;
    for (const auto& part : wrap(head, columns)) page.line(part);
    page.line();
    if (lab.build != "ok") {
      page.block("  ", lab.build_headline, Style::bold);
      for (const auto& line : lab.build_details)
        page.line("  " + line);  // the compiler's own lines are not broken
      page.line();
    }
    for (const auto& line : lab.warnings) page.line("  " + line);
    if (!lab.warnings.empty()) page.line();

    // Room for the longest title, up to what leaves the details readable.
    std::size_t longest = 0;
    for (const auto& stage : lab.stages) longest = std::max(longest, width(label_of(stage)));
    const std::size_t stage_column = std::clamp<std::size_t>(longest + 1, 32, 36);
    const std::size_t result_column = stage_column > 32 ? 12 : 13;
    page.line(pad("stage", stage_column) + pad("result", result_column) + "detail");
    for (const auto& stage : lab.stages) {
      const Word word = word_of(stage);
      page.line(pad(fit(label_of(stage), stage_column - 1), stage_column) +
                styled(word.text, word.style, colour) +
                std::string(result_column - width(word.text), ' ') +
                fit(brief(stage), columns - stage_column - result_column));
    }
    if (lab.build == "ok")
      for (const auto& stage : lab.stages) explain(page, stage, verbose);
    hardware_table(page, report, lab);
    std::set<std::string> told;  // what holds for the whole file is told once
    for (const auto& stage : lab.stages) {
      const bool of_file =
          stage.gpu && (stage.gpu->verdict == "REFUSED" ||
                        (stage.gpu->verdict == "COMPILE_ERROR" && stage.gpu->diagnosis.empty()));
      if (!of_file || told.insert(stage.gpu->headline).second)
        hardware_explain(page, stage, verbose);
    }
    bool recorded = false;
    for (const auto& stage : lab.stages) {
      if (stage.recorded.empty()) continue;
      if (!recorded) page.line();
      recorded = true;
      page.block(pad(stage.id, 7), stage.recorded, Style::dim);
    }
    page.line();
  }
  for (const auto& note : report.notes) page.block("", note);
  if (!report.notes.empty()) page.line();

  const Score sum = score(report);
  std::string line = std::to_string(sum.passed) + " of " + std::to_string(sum.stages) +
                     " stages done · score " + points(sum.earned) + "/" + points(sum.possible) +
                     " points";
  if (sum.bonus_possible > 0)
    line += " + " + points(sum.bonus_earned) + "/" + points(sum.bonus_possible) + " bonus";
  page.line(line);
  if (report.gpu) page.block("", hardware_sum(report));
  page.line("next: " + styled(report.next, Style::bold, colour));
  return page.text();
}

}  // namespace grader::report
