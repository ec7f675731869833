#include <algorithm>
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

std::string points(double value) {
  return number(value);
}

}  // namespace

std::string human(const Report& report, bool colour, bool verbose) {
  Page page(colour);
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
  page.line("next: " + styled(report.next, Style::bold, colour));
  return page.text();
}

}  // namespace grader::report
