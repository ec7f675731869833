// grader explain: every rung of a lab once on the simulated GPU, and a page that shows what each
// line of the source did. The page is written whatever happens to the student's code.
#include <algorithm>
#include <iostream>

#include "grader/commands/commands.hpp"
#include "grader/commands/common.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/rung_check.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/report/explain.hpp"
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
  bool any_k = true;
  for (const auto& stage : lab.stages)
    if (stage.rung == rung.name)
      any_k = std::any_of(stage.shapes.begin(), stage.shapes.end(), [](const std::string& shape) {
        return shape != "k1" && shape != "empty";
      });
  return {256, 256, any_k ? 256 : 1};
}

/// The first TODO that is left in the source, of the stages of this rung.
std::string open_todo(const Lab& lab, const Rung& rung, const Build& build) {
  for (const auto& stage : lab.stages)
    if (stage.rung == rung.name)
      if (const Todo todo = find_todo(build.source, stage.id); todo.line)
        return build.shown_path + ":" + std::to_string(todo.line);
  return {};
}

bool untouched(const CallOutcome& outcome) {
  return outcome.run.c_after.storage == outcome.run.c_before.storage &&
         std::all_of(outcome.run.launches.begin(), outcome.run.launches.end(),
                     [](const auto& launch) { return launch.findings.empty(); });
}

std::string ending(const CallOutcome& outcome, const std::string& entry) {
  switch (outcome.end) {
    case End::crashed:
      return text("verdict.crash", {{"entry", entry}, {"signal", signal_name(outcome.signal)}});
    case End::exited:
      return text("verdict.exit",
                  {{"entry", entry}, {"status", std::to_string(outcome.exit_status)}});
    case End::threw:
      return text("verdict.threw", {{"entry", entry}}) + ": " + outcome.message;
    case End::hung:
      return text("verdict.hang", {{"entry", entry}});
    case End::memory:
      return text("verdict.memory", {{"entry", entry}});
    case End::protocol:
      return text("verdict.protocol", {{"entry", entry}});
    case End::infra:
      throw InfraError(outcome.message);
    case End::returned:
      break;
  }
  return {};
}

/// How the compiler names the student's file in its line table: that of most of the counted lines
/// whose path ends in what we show.
std::string student_file(const CallOutcome& outcome, const Build& build) {
  for (const auto& launch : outcome.run.launches)
    for (const auto& line : launch.lines) {
      const std::string& file = line.where.file;
      if (file == build.shown_path ||
          (file.size() > build.shown_path.size() && file.ends_with("/" + build.shown_path)))
        return file;
    }
  return build.shown_path;
}

void explain_rung(explain::Rung& shown, Session& session, const Build& build, const Lab& lab,
                  const Rung& rung) {
  if (!rung.needs_arch.empty()) {
    shown.state = State::skipped;
    shown.headline = text("stage.needs_arch", {{"arch", rung.needs_arch}});
    return;
  }
  const std::string entry = rung.name + "<" + shown.type + ">";
  for (const auto& one : build.entries)
    if (one.name == entry && !one.defined) {
      shown.state = State::failed;
      shown.headline = text("stage.signature", {{"function", one.function}});
      shown.details = {
          text("stage.signature.wanted", {{"signature", signature(rung.name, shown.type)}})};
      if (!one.found.empty())
        shown.details.push_back(text("stage.signature.found", {{"signature", one.found}}));
      return;
    }
  const diag::ElementType type = element_type(shown.type);
  const Inputs inputs = make_inputs(type, rung, Case{shown.shape, 0, 0, 0, false}, Fill::integers,
                                    Before::poison, explain_seed);
  CallSpec spec{entry, inputs.a, inputs.b, inputs.c, false, true, explain_budget, true};
  const CallOutcome outcome = session.call(spec);

  const Observed seen = observe(outcome, diag::size_of(type));
  shown.launches = outcome.run.launches;
  shown.buffers = {seen.a, seen.b, seen.c, seen.scratch};
  shown.buffers[0].bytes = inputs.a.storage.size();
  shown.buffers[1].bytes = inputs.b.storage.size();
  shown.buffers[2].bytes = inputs.c.storage.size();
  shown.buffers[3].bytes = 0;
  explain::fold(shown, student_file(outcome, build));

  for (const auto& error : outcome.result.errors)
    shown.details.push_back(error.call + " returned " + error.name +
                            (error.message.empty() ? "" : ": " + error.message));
  for (const auto& refusal : outcome.result.refused)
    shown.details.push_back(refusal.call + ": " + refusal.reason);
  if (!outcome.said.empty()) shown.details.push_back("printed: " + outcome.said);
  if (outcome.end != End::returned) {
    shown.state = State::failed;
    shown.headline = ending(outcome, entry);
    return;
  }
  bool clean = true, completed = true;
  for (const auto& launch : shown.launches) {
    completed = completed && launch.completed;
    for (const auto& finding : launch.findings)
      clean = clean && finding.kind == simgpu::FindingKind::will_spill;
  }
  const bool right =
      verify(rung.oracle, outcome.run.a, outcome.run.b, outcome.run.c_before, outcome.run.c_after,
             Fill::integers, allowed_units(rung, shown.type, Fill::integers))
          .right;
  const std::string todo = open_todo(lab, rung, build), number = std::to_string(lab.id);
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

const Rung& rung_named(const Lab& lab, const std::string& name) {
  std::string all;
  for (const auto& one : lab.rungs) {
    if (one.name == name) return one;
    all += (all.empty() ? "" : ", ") + one.name;
  }
  throw UserError(
      text("usage.no_rung", {{"lab", lab.name}, {"rung", printable(name)}, {"rungs", all}}),
      exit_usage);
}

/// "build/explain/lab3.html", if it lies below the current folder.
std::string shown_path(const fs::path& path) {
  std::error_code error;
  const fs::path relative = fs::relative(path, fs::current_path(error), error);
  const std::string name = relative.string();
  return error || name.empty() || name.starts_with("..") ? path.string() : name;
}

}  // namespace

ExitCode explain_lab(const ExplainOptions& options) {
  const Workplace place = workplace(options.place);
  const std::vector<Lab> labs = load_labs(place.root, {});
  const Lab& lab = lab_with_id(labs, options.lab);
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
      throw UserError("stage " + stage->id + " is about " + stage->rung + ", not " + options.rung +
                          "; name one of the two",
                      exit_usage);
    rungs = {&lab.rung(stage->rung)};
  }
  const bool all = rungs.empty();
  if (all)
    for (const auto& one : lab.rungs) rungs.push_back(&one);
  const auto has_type = [&](const Rung* rung) {
    return std::find(rung->types.begin(), rung->types.end(), options.type) != rung->types.end();
  };
  if (!options.type.empty() && std::none_of(rungs.begin(), rungs.end(), has_type)) {
    std::string types;
    for (const auto& type : rungs.front()->types) types += (types.empty() ? "" : ", ") + type;
    throw UserError((all ? lab.name : rungs.front()->name) + " has no type " +
                        printable(options.type) + "; it has: " + types,
                    exit_usage);
  }
  const fs::path source = options.file.empty() ? source_of(lab, place.root, options.solution)
                                               : fs::absolute(options.file);
  const fs::path out = fs::absolute(
      options.out.empty() ? place.build / "explain" / ("lab" + std::to_string(lab.id) + ".html")
                          : options.out);
  // Before minutes of work: can the page be written at all?
  make_folder(out.parent_path());
  if (fs::is_directory(out))
    throw UserError("cannot write " + out.string() + ": it is a folder", exit_infrastructure);

  const Toolchain toolchain = probe_clang();
  const Build build = build_lab(place, toolchain, lab, source);
  explain::Document document;
  document.lab = lab.id;
  document.title = lab.title;
  document.file = build.shown_path;
  document.compiler = "clang " + toolchain.clang_version;
  document.source = build.source;
  document.warnings = build.warnings;

  ExitCode result = exit_ok;
  if (build.status != BuildStatus::built) {
    document.build_headline = build.headline;
    document.build_details = build.details;
    result = exit_build;
  } else {
    SessionConfig config;
    config.grader_program = own_program();
    config.host_threads = 2;
    config.patience = std::chrono::seconds(20);
    Session session(build, config);
    if (const wire::LoadReply& loaded = session.load(); !loaded.loaded) {
      document.build_headline =
          text("build.ptx",
               {{"file", build.shown_path},
                {"line", loaded.source_line ? ":" + std::to_string(loaded.source_line) : ""},
                {"what", printable(loaded.error)}});
      result = exit_build;
    } else {
      const bool progress = report::use_colour(2);
      bool any = false;
      for (const Rung* rung : rungs) {
        explain::Rung shown;
        shown.name = rung->name;
        shown.title = rung->title;
        shown.type = has_type(rung) ? options.type : rung->main_type();
        shown.shape = default_shape(lab, *rung);
        if (options.m) shown.shape.m = *options.m;
        if (options.n) shown.shape.n = *options.n;
        if (options.k) shown.shape.k = *options.k;
        if (progress) std::cerr << "\r\x1b[K" << rung->name << std::flush;
        explain_rung(shown, session, build, lab, *rung);
        if (shown.state != State::right && shown.state != State::not_started &&
            shown.state != State::skipped)
          result = exit_failed;
        any = any || shown.state != State::not_started;
        document.rungs.push_back(std::move(shown));
      }
      if (progress) std::cerr << "\r\x1b[K" << std::flush;
      if (!any) result = exit_failed;
    }
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

}  // namespace grader
