// grader explain: every rung of a lab once on the simulated GPU, and a page that shows what each
// line of the source did. The page is written whatever happens to the student's code.
#include <algorithm>
#include <iostream>
#include <optional>

#include <fmt/core.h>

#include "grader/commands/commands.hpp"
#include "grader/commands/common.hpp"
#include "grader/commands/one_rung.hpp"
#include "grader/explain/explain.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/rung_check.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/report/text.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using explain::State;
using messages::text;

constexpr std::uint64_t explain_seed = 0x6578706c;
constexpr std::uint64_t explain_budget = 1ull << 36;

/// Where the lab itself judges the rung's counts, else 256 cubed; K = 1 for a rung that is meant
/// for nothing else.
Extents default_shape(const Lab& lab, const Rung& rung) {
  for (const auto& goal : lab.goals) {
    const Stage* stage = lab.stage(goal.stage);
    if (stage && stage->rung == rung.name && !goal.at.empty()) return goal.at.front();
  }
  return {256, 256, lab.only_one_term(rung) ? 1 : 256};
}

bool has_type(const Rung& rung, const std::string& type) {
  return std::find(rung.types.begin(), rung.types.end(), type) != rung.types.end();
}

/// The first TODO that is left in the source, of the stages of this rung.
std::string open_todo(const Lab& lab, const Rung& rung, const SourceUnit& unit) {
  for (const auto& stage : lab.stages)
    if (stage.rung == rung.name)
      if (const Todo todo = find_todo(unit.source, stage.id); todo.line)
        return fmt::format("{}:{}", unit.shown_path, todo.line);
  return {};
}

bool untouched(const CallOutcome& outcome) {
  return outcome.run.c_after.storage == outcome.run.c_before.storage &&
         without_findings(outcome.run.launches);
}

/// How the compiler names the student's file in its line table: that of most of the counted lines
/// whose path ends in what we show.
std::string student_file(const CallOutcome& outcome, const SourceUnit& unit) {
  for (const auto& launch : outcome.run.launches)
    for (const auto& line : launch.lines) {
      const std::string& file = line.where.file;
      if (file == unit.shown_path ||
          (file.size() > unit.shown_path.size() && file.ends_with("/" + unit.shown_path)))
        return file;
    }
  return unit.shown_path;
}

void explain_rung(explain::Rung& shown, Session* session, const Build& build,
                  const SourceUnit& unit, const Lab& lab, const Rung& rung) {
  const std::string entry = rung.name + "<" + shown.type + ">";
  if (auto lines = undefined(build, rung, shown.type); !lines.empty()) {
    shown.state = State::failed;
    shown.headline = lines.front();
    shown.details.assign(lines.begin() + 1, lines.end());
    return;
  }
  const diag::ElementType type = element_type(shown.type);
  const Inputs inputs = make_inputs(type, rung, Case{shown.shape, 0, 0, 0, false}, Fill::integers,
                                    Before::poison, explain_seed);
  CallSpec spec{entry, inputs.a, inputs.b, inputs.c, false, true, explain_budget, true};
  const CallOutcome outcome = session->call(spec);

  const Observed seen = observe(outcome, diag::size_of(type));
  shown.launches = outcome.run.launches;
  shown.buffers = {seen.a, seen.b, seen.c, seen.scratch};
  shown.buffers[0].bytes = inputs.a.storage.size();
  shown.buffers[1].bytes = inputs.b.storage.size();
  shown.buffers[2].bytes = inputs.c.storage.size();
  shown.buffers[3].bytes = 0;
  explain::fold(shown, student_file(outcome, unit));

  for (const auto& error : outcome.result.errors)
    shown.details.push_back(error.call + " returned " + error.name +
                            (error.message.empty() ? "" : ": " + error.message));
  for (const auto& refusal : outcome.result.refused)
    shown.details.push_back(refusal.call + ": " + refusal.reason);
  if (!outcome.said.empty()) shown.details.push_back("printed: " + outcome.said);
  if (outcome.end != CallEnd::returned) {
    shown.state = State::failed;
    shown.headline = not_returned(outcome, entry);
    return;
  }
  const bool clean = without_findings(shown.launches);
  const bool completed = std::all_of(shown.launches.begin(), shown.launches.end(),
                                     [](const auto& launch) { return launch.completed; });
  const bool right =
      verify(rung.operation, outcome.run.a, outcome.run.b, outcome.run.c_before,
             outcome.run.c_after, Fill::integers, allowed_units(rung, shown.type, Fill::integers))
          .right;
  const std::string todo = open_todo(lab, rung, unit), number = std::to_string(lab.id);
  if (!right && untouched(outcome) && (!todo.empty() || shown.launches.empty())) {
    shown.state = State::not_started;
    shown.headline = todo.empty()
                         ? text("explain.not_started.nowhere", {{"name", rung.name}})
                         : text("explain.not_started", {{"name", rung.name}, {"place", todo}});
  } else if (!completed) {
    shown.state = State::failed;
    shown.headline = text("explain.incomplete", {{"lab", number}});
  } else if (!right) {
    shown.state = State::wrong;
    shown.headline = text(clean ? "explain.wrong" : "explain.wrong.findings", {{"lab", number}});
  } else {
    shown.state = clean ? State::right : State::findings;
    shown.headline = text(clean ? "explain.right" : "explain.findings");
  }
}

/// "build/explain/lab3.html", if it lies below the current folder.
std::string shown_path(const fs::path& path) {
  std::error_code error;
  const fs::path relative = fs::relative(path, fs::current_path(error), error);
  const std::string name = relative.string();
  return error || name.empty() || name.starts_with("..") ? path.string() : name;
}

/// The rungs that are asked for: one by its name or its stage, else all.
std::vector<const Rung*> chosen_rungs(const Lab& lab, const ExplainOptions& options) {
  std::vector<const Rung*> rungs;
  if (!options.rung.empty()) rungs.push_back(&rung_named(lab, options.rung));
  if (!options.stage.empty()) {
    const Stage* stage = lab.stage(options.stage);
    if (!stage) {
      std::string all;
      for (const auto& one : lab.stages) all += (all.empty() ? "" : ", ") + one.id;
      throw UserError(
          text("usage.no_stage", {{"stage", printable(options.stage)}, {"stages", all}}),
          exit_usage);
    }
    if (!rungs.empty() && rungs.front()->name != stage->rung)
      throw UserError(text("usage.other_rung",
                           {{"stage", stage->id}, {"rung", stage->rung}, {"other", options.rung}}),
                      exit_usage);
    rungs = {&lab.rung(stage->rung)};
  }
  const bool all = rungs.empty();
  if (all)
    for (const auto& one : lab.rungs) rungs.push_back(&one);
  if (!options.type.empty() && std::none_of(rungs.begin(), rungs.end(), [&](const Rung* rung) {
        return has_type(*rung, options.type);
      }))
    no_such_type(all ? lab.name : rungs.front()->name, options.type, rungs.front()->types);
  return rungs;
}

/// Runs all of them, in a session or (what no simulated GPU runs) without.
ExitCode run_rungs(explain::Document& document, Session* session, const Build& build,
                   const SourceUnit& unit, const Lab& lab, const std::vector<const Rung*>& rungs,
                   const ExplainOptions& options) {
  const bool progress = report::use_colour(2);
  bool any = false, good = true;
  for (const Rung* rung : rungs) {
    explain::Rung shown;
    shown.name = rung->name;
    shown.title = rung->title;
    shown.type = has_type(*rung, options.type) ? options.type : rung->main_type();
    shown.shape = default_shape(lab, *rung);
    if (options.m) shown.shape.m = *options.m;
    if (options.n) shown.shape.n = *options.n;
    // Where one rung was asked for, its own K is no surprise; among all of a lab, it is left alone.
    if (options.k && (rungs.size() == 1 || !lab.only_one_term(*rung)))
      shown.shape.k = k_for(lab, *rung, options.k, shown.shape.k);
    if (progress) std::cerr << "\r\x1b[K" << rung->name << std::flush;
    explain_rung(shown, session, build, unit, lab, *rung);
    good = good && (shown.state == State::right || shown.state == State::not_started ||
                    shown.state == State::skipped);
    any = any || shown.state != State::not_started;
    document.rungs.push_back(std::move(shown));
  }
  if (progress) std::cerr << "\r\x1b[K" << std::flush;
  return any && good ? exit_ok : exit_failed;
}

/// The page of one of a lab's files.
ExitCode explain_file(const ExplainOptions& options, const Workplace& place, const Lab& lab,
                      const std::vector<const Rung*>& rungs, const fs::path& out) {
  // Before minutes of work: can the page be written at all?
  make_folder(out.parent_path());
  if (fs::is_directory(out))
    throw UserError(text("usage.out_is_folder", {{"file", out.string()}}), exit_infrastructure);

  const Toolchain toolchain = probe_clang();
  BuildOptions building;
  building.optimisers = usable_cores();
  for (const Rung* rung : rungs) building.rungs.insert(rung->name);
  const SourceOf source = sources_of(lab, place.root, options.solution, options.file);
  const Build build = build_lab(place, toolchain, lab, source, building);
  explain::Document document;
  document.lab = lab.id;
  document.title = lab.title;
  document.file = source(rungs.front()->file).generic_string();
  document.compiler = "clang " + toolchain.clang_version;

  std::optional<Session> session;
  SourceUnit unit;
  if (!build.units.empty()) {  // else nothing here can run on the simulated GPU
    unit = build.units.front();
    if (unit.built() && !build.runner.empty()) {
      SessionConfig config;
      config.grader_program = own_program();
      config.host_threads = 2;
      config.patience = std::chrono::seconds(20);
      session.emplace(build, config);
      unit = session->load().front();
    }
    document.file = unit.shown_path;
    document.source = unit.source;
    document.warnings = unit.warnings;
  }
  ExitCode result = exit_build;
  if (unit.built()) {
    result = run_rungs(document, session ? &*session : nullptr, build, unit, lab, rungs, options);
  } else {
    document.build_headline = unit.headline;
    document.build_details = unit.details;
  }

  write_file_atomically(out, explain::html(document));
  const bool to_stdout = options.json == "-";
  if (!options.json.empty()) {
    const std::string json = explain::json(document);
    if (to_stdout)
      std::cout << json;
    else
      write_file_atomically(fs::absolute(options.json), json);
  }
  if (!to_stdout)
    std::cout << explain::text(document, report::use_colour(1))
              << text("explain.next", {{"file", shown_path(out)}}) << '\n';
  return result;
}

}  // namespace

ExitCode explain_lab(const ExplainOptions& options) {
  const Workplace place = workplace(options.place);
  const std::vector<Lab> labs = load_labs(place.root, {});
  const Lab& lab = lab_with_id(labs, options.lab);
  const std::vector<const Rung*> rungs = chosen_rungs(lab, options);
  // One page per file of the lab, with the rungs that are in it.
  std::vector<std::string> files;
  for (const Rung* rung : rungs)
    if (std::find(files.begin(), files.end(), rung->file) == files.end())
      files.push_back(rung->file);
  if (files.size() > 1 && !(options.out.empty() && options.json.empty()))
    throw UserError(text("usage.several_pages", {{"lab", std::to_string(lab.id)}}), exit_usage);
  const bool several = std::any_of(lab.rungs.begin(), lab.rungs.end(), [&](const Rung& rung) {
    return rung.file != lab.rungs.front().file;
  });
  ExitCode result = exit_ok;
  for (const auto& file : files) {
    std::vector<const Rung*> of_file;
    for (const Rung* rung : rungs)
      if (rung->file == file) of_file.push_back(rung);
    const std::string name =
        fmt::format("lab{}{}", lab.id, several ? "-" + fs::path(file).stem().string() : "");
    const fs::path out =
        options.out.empty() ? place.build / "explain" / (name + ".html") : options.out;
    const ExitCode of_page = explain_file(options, place, lab, of_file, fs::absolute(out));
    if (result == exit_ok) result = of_page;
  }
  return result;
}

}  // namespace grader
