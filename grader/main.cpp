// The grader's command line. Every command lives in commands/; this file only says which options it
// has.
#include "grader/commands/command_line.hpp"
#include "grader/commands/commands.hpp"
#include "grader/gpu/probe.hpp"
#include "grader/judge/catch_main.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/worker.hpp"

using namespace grader;

namespace {

CLI::App* add_check(CLI::App& app, CheckOptions& checking) {
  CLI::App* check_command = app.add_subcommand("check", "build and grade labs");
  check_command->add_option("--lab", checking.labs, "numbers of labs; default: all");
  check_command->add_option("--stage", checking.stages, "one stage, and the stages that it needs")
      ->expected(1);
  check_command->add_option("--rungs", checking.rungs, "compile only these rungs")->delimiter(',');
  check_command->add_option("--types", checking.types, "judge rungs in these types only")
      ->delimiter(',');
  check_command->add_flag("--again", checking.again,
                          "run all stages, also those that passed and have not changed since");
  check_command->add_flag("--alone", checking.alone, "only that stage, not those that it needs")
      ->needs("--stage");
  check_command->add_flag("--solution", checking.solution, "grade the solutions");
  check_command->add_option("--file", checking.file, "grade this file as the lab's gemm.cu");
  check_command->add_option("--sources", checking.sources, "grade the labs' files in this folder");
  check_command->add_option("--device", checking.device, "auto, sim or gpu")
      ->check(CLI::IsMember({"auto", "sim", "gpu"}));
  check_command->add_option("--course", checking.course, "an instructor's course.toml");
  check_command->add_option("--json", checking.json,
                            "write the result as JSON; - for standard output");
  check_command->add_option("--junit", checking.junit, "write the result as JUnit XML");
  check_command->add_option("--seed", checking.seed, "seed of the inputs");
  check_command->add_option("--jobs", checking.jobs, "sessions at a time; default: one per core");
  check_command->add_flag("--verbose,-v", checking.verbose,
                          "also show goals of passed stages, and compiler commands");
  check_command->add_flag("--hostile", checking.hostile, "treat the file as untrusted");
  check_command->add_option("--key", checking.key_descriptor,
                            "file descriptor with the 32 bytes that seed all inputs");
  check_command
      ->add_option("--box", checking.box, "with --hostile: the box that `grade` has set up")
      ->needs("--hostile");
  return check_command;
}

CLI::App* add_run(CLI::App& app, RunOptions& running) {
  CLI::App* run_command = app.add_subcommand("run", "run one rung once and print what it did");
  run_command->add_option("--lab", running.lab, "number of the lab")->required();
  run_command->add_option("--rung", running.rung,
                          "name of the rung; default: that of the last core stage");
  run_command->add_option("-M,-m", running.m, "rows of C")->check(CLI::Range(0, 16384));
  run_command->add_option("-N,-n", running.n, "columns of C")->check(CLI::Range(0, 16384));
  run_command->add_option("-K,-k", running.k, "length of the sums")->check(CLI::Range(0, 16384));
  run_command->add_option("--type", running.type, "int32, float, double, half or bfloat16");
  run_command->add_option("--device", running.device, "auto, sim or gpu")
      ->check(CLI::IsMember({"auto", "sim", "gpu"}));
  run_command->add_flag("--solution", running.solution, "run the solution");
  run_command->add_option("--file", running.file, "run this file as the lab's gemm.cu");
  return run_command;
}

CLI::App* add_explain(CLI::App& app, ExplainOptions& explaining) {
  CLI::App* explain_command = app.add_subcommand(
      "explain", "write a page that shows what each line of a lab did: build/explain/labN.html");
  explain_command->add_option("--lab", explaining.lab, "number of the lab")->required();
  explain_command->add_option("--rung", explaining.rung, "only this rung; default: all");
  explain_command->add_option("--stage", explaining.stage, "the rung of this stage, such as 3.2");
  explain_command->add_option("--type", explaining.type,
                              "element type; default: float, if the rung has it");
  explain_command
      ->add_option("-M,-m", explaining.m, "rows of C; default: as in the goals, mostly 256")
      ->check(CLI::Range(0, 4096));
  explain_command->add_option("-N,-n", explaining.n, "columns of C")->check(CLI::Range(0, 4096));
  explain_command->add_option("-K,-k", explaining.k, "length of the sums")
      ->check(CLI::Range(0, 4096));
  explain_command->add_flag("--solution", explaining.solution, "explain the solution");
  explain_command->add_option("--file", explaining.file, "explain this file as the lab's gemm.cu");
  explain_command->add_option("--out", explaining.out,
                              "the page; default: explain/labN.html in "
                              "the build folder");
  explain_command->add_option("--json", explaining.json,
                              "also write the counts as JSON; - for standard output");
  explain_command->footer(
      "Every rung runs once; the page and the terminal show requests, sectors and wavefronts\n"
      "against their ideal for each line of the source, and the lanes of the worst accesses.\n"
      "Exit status: 0 all that you have started is right, without findings; 1 otherwise, or if\n"
      "nothing is started; 2 the file does not build; 3 the machine's fault; 4 wrong usage.\n"
      "The page is written if the status is 0, 1 or 2.");
  return explain_command;
}

}  // namespace

int main(int argc, char** argv) {
  // Before anything else: the worker must not spend time on options, and needs nothing of them.
  if (argc == 2 && std::string_view(argv[1]) == "device-worker") return device_worker_main();
  if (argc == 2 && std::string_view(argv[1]) == "gpu-probe") return gpu::probe_main();

  use_catch_session(&run_catch_session);
  CommandLine app("grader", "Grades the labs on a simulated GPU.");
  app.require_subcommand(1);

  CheckOptions checking;
  const CLI::App* const check_command = add_check(app, checking);

  RunOptions running;
  const CLI::App* const run_command = add_run(app, running);

  UnitOptions unit;
  auto* unit_command = app.add_subcommand(
      "unit", "print the code that is compiled for a lab's file, with its rungs instantiated");
  auto* const unit_file =
      unit_command->add_option("file", unit.file, "labN_name/gemm.cu, or in its solution/");
  auto* const unit_lab = unit_command->add_option("--lab", unit.lab, "one rung of this lab");
  unit_command->add_option("--rung", unit.rung, "its name")->needs(unit_lab);
  unit_command->add_option("--type", unit.type,
                           "its element type; default: float, if the rung has it");
  unit_command->add_flag("--solution", unit.solution, "take it from the solution");
  unit_lab->excludes(unit_file);
  unit_command->require_option(1, 0);

  ExplainOptions explaining;
  const CLI::App* const explain_command = add_explain(app, explaining);

  HintOptions hinting;
  auto* hint_command = app.add_subcommand("hint", "print the next hint of a stage");
  hint_command->add_option("--stage", hinting.stage, "the stage, such as 4.1")->required();

  SubmitOptions submitting;
  auto* submit_command = app.add_subcommand("submit", "pack exactly the files that count");
  submit_command->add_option("--out", submitting.out,
                             "where to write it; default: submission.zip in the build folder");

  return app.run(argc, argv, [&] {
    checking.place = running.place = unit.place = explaining.place = hinting.place =
        submitting.place = app.place();
    if (*check_command) return check(checking);
    if (*run_command) return run(running);
    if (*unit_command) return print_unit(unit);
    if (*explain_command) return explain_lab(explaining);
    if (*hint_command) return hint(hinting);
    return submit(submitting);
  });
}
