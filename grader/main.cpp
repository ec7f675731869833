// The grader's command line. Every command lives in commands/; this file only reads options and
// maps errors to exit codes.
#include <iostream>
#include <thread>

#include <CLI/CLI.hpp>

#include "grader/commands/commands.hpp"
#include "grader/judge/catch_main.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/worker.hpp"
#include "grader/report/text.hpp"

namespace {

using namespace grader;

void complain(const std::string& message) {
  const bool colour = report::use_colour(2);
  std::cerr << report::styled("error:", report::Style::bad, colour) << ' ' << message << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  // Before anything else: the worker must not spend time on options, and needs nothing of them.
  if (argc == 2 && std::string_view(argv[1]) == "device-worker") return device_worker_main();

  use_catch_session(&run_catch_session);
  CLI::App app{"Grades the labs on a simulated GPU."};
  app.name("grader");
  app.require_subcommand(1);
  Place place;
  app.add_option("--root", place.root, "the project's folder")->capture_default_str();
  app.add_option("--build", place.build, "where generated files go")->envname("BUILD");

  CheckOptions checking;
  auto* check_command = app.add_subcommand("check", "build and grade labs");
  check_command->add_option("--lab", checking.labs, "numbers of labs; default: all");
  check_command->add_option("--stage", checking.stages, "one stage, and what it needs")
      ->expected(1);
  check_command->add_flag("--solution", checking.solution, "grade the solutions");
  check_command->add_option("--file", checking.file, "grade this file as the lab's gemm.cu");
  check_command->add_option("--sources", checking.sources, "grade the labs' files in this folder");
  check_command->add_option("--device", checking.device, "auto, sim or gpu")
      ->check(CLI::IsMember({"auto", "sim", "gpu"}));
  check_command->add_option("--goals", checking.goals, "an instructor's course.toml");
  check_command->add_option("--json", checking.json,
                            "write the result as JSON; - for standard output");
  check_command->add_option("--junit", checking.junit, "write the result as JUnit XML");
  check_command->add_option("--seed", checking.seed, "of the inputs");
  check_command->add_option("--jobs", checking.jobs, "sessions at a time; default: one per core");
  check_command->add_flag("--verbose,-v", checking.verbose,
                          "goals of passed stages, and the compilers' commands");
  check_command->add_flag("--hostile", checking.hostile, "treat the file as somebody else's");

  RunOptions running;
  auto* run_command = app.add_subcommand("run", "run one rung once and print what it did");
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

  ExplainOptions explaining;
  auto* explain_command = app.add_subcommand(
      "explain", "write a page that shows what each line of a lab did: build/explain/labN.html");
  explain_command->add_option("--lab", explaining.lab, "number of the lab")->required();
  explain_command->add_option("--rung", explaining.rung, "this rung alone; default: all");
  explain_command->add_option("--stage", explaining.stage, "the rung of this stage, such as 3.2");
  explain_command->add_option("--type", explaining.type,
                              "element type; default: float if there is");
  explain_command->add_option("-M,-m", explaining.m, "rows of C; default: as the goals, mostly 256")
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
                              "write the counts as JSON, too; - for standard output");
  explain_command->footer(
      "Every rung runs once; the page and the terminal show requests, sectors and wavefronts\n"
      "against their ideal for each line of the source, and the lanes of the worst accesses.\n"
      "Exit status: 0 all that is started is right and without findings; 1 not so, or nothing\n"
      "is started; 2 the file does not build; 3 the machine's fault; 4 wrong usage.\n"
      "The page is written in the cases 0, 1 and 2.");

  HintOptions hinting;
  auto* hint_command = app.add_subcommand("hint", "the next hint of a stage");
  hint_command->add_option("--stage", hinting.stage, "such as 4.1")->required();

  SubmitOptions submitting;
  auto* submit_command = app.add_subcommand("submit", "pack exactly the files that count");
  submit_command->add_option("--out", submitting.out,
                             "default: submission.zip in the build folder");

  GradeOptions grading;
  auto* grade_command = app.add_subcommand("grade", "grade a class: one folder or zip per student");
  grade_command->add_option("submissions", grading.submissions, "folder with the submissions")
      ->required();
  grade_command->add_option("--out", grading.out, "default: grades in the build folder");
  grade_command->add_option("--goals", grading.goals, "an instructor's course.toml");
  grade_command->add_option("--jobs", grading.jobs, "students at a time; default: one per core");

  MutantOptions mutating;
  auto* mutants_command =
      app.add_subcommand("mutants", "grade the labs' wrong and other right kernels");
  mutants_command->group("");  // for the project's own tests
  mutants_command->add_option("--lab", mutating.labs, "numbers of labs; default: all");
  mutants_command->add_option("--only", mutating.only, "files whose path contains this");
  mutants_command->add_option("--jobs", mutating.jobs, "at a time; default: one per core");
  mutants_command->add_flag("--verbose,-v", mutating.verbose, "headlines of what went right, too");

  CalibrateOptions calibrating;
  auto* calibrate_command =
      app.add_subcommand("calibrate", "place the speed goals for this GPU, from the solutions");
  calibrate_command->add_option("--lab", calibrating.labs, "numbers of labs; default: all");
  calibrate_command->add_option("--runs", calibrating.runs, "of each kernel")
      ->check(CLI::Range(1, 100));
  calibrate_command->add_flag("!--dry-run", calibrating.write, "print only");
  calibrate_command->add_flag("--base", calibrating.base,
                              "change what holds on every GPU without bars of its own");

  ProveOptions proving;
  auto* prove_command = app.add_subcommand("prove-speed", "speed verdicts again and again");
  prove_command->group("");  // for the project's authors
  prove_command->add_option("--lab", proving.labs, "numbers of labs; default: all");
  prove_command->add_option("--stage", proving.stages, "these stages' goals alone");
  prove_command->add_option("--type", proving.type, "goals of this type alone");
  prove_command->add_option("--repeats", proving.repeats, "verdicts of each kernel");
  prove_command->add_option("--seconds", proving.seconds, "begin no verdict after that");
  prove_command->add_flag("--judge", proving.judge_only, "measure nothing; needs no GPU");
  prove_command->add_option("--out", proving.out, "results as JSON; added to")->required();

  BenchOptions benching;
  auto* bench_command =
      app.add_subcommand("bench", "every rung against cuBLAS, the naive kernel and the CPU");
  bench_command->add_option("--lab", benching.labs, "numbers of labs; default: all");
  bench_command->add_flag("--quick", benching.quick, "three shapes, three rounds");
  bench_command->add_flag("--solution", benching.solution, "measure the solutions");
  bench_command->add_flag("--no-cpu", benching.no_cpu, "without the CPU's baselines");
  bench_command->add_flag("--form", benching.form_only,
                          "only write predictions.toml if it is missing");
  bench_command->add_option("--limit", benching.limit_seconds,
                            "seconds after which no new point is begun; the next run goes on");
  bench_command->add_option("--out", benching.out, "folder; default: bench in the build folder");

  VerifyOptions verifying;
  auto* verify_command =
      app.add_subcommand("verify-counts", "simgpu's counts beside the profiler's");
  verify_command->group("");  // for the project's authors
  verify_command->add_option("--measured", verifying.measured, "folder that profile.sh filled");
  verify_command->add_option("--out", verifying.out, "folder for counts.json and counts.md");
  verify_command->add_flag("--sources", verifying.sources_only,
                           "only write the programs, to profile them elsewhere");

  SweepOptions sweeping;
  auto* sweep_command =
      app.add_subcommand("sweep", "time over one parameter of a kernel, on this GPU");
  sweep_command->add_option("--lab", sweeping.lab, "number of the lab")->required();
  sweep_command->add_option("--type", sweeping.type, "this element type alone; default: all");
  sweep_command->add_flag("--quick", sweeping.quick, "small sizes, few samples");
  sweep_command->add_option("--out", sweeping.out,
                            "results as JSON, .csv and .svg beside it; default: sweep/labN.json "
                            "in the build folder");
  sweep_command->add_option("--measured", sweeping.measured,
                            "show this results file (with --out: write it anew); needs no GPU");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    complain(error.what());
    return exit_usage;
  }

  try {
    checking.place = running.place = explaining.place = hinting.place = submitting.place =
        grading.place = mutating.place = benching.place = calibrating.place = proving.place =
            verifying.place = sweeping.place = place;
    if (*check_command) return check(checking);
    if (*run_command) return run(running);
    if (*explain_command) return explain_lab(explaining);
    if (*calibrate_command) return calibrate(calibrating);
    if (*prove_command) return prove_speed(proving);
    if (*hint_command) return hint(hinting);
    if (*submit_command) return submit(submitting);
    if (*mutants_command) return mutants(mutating);
    if (*bench_command) return bench_labs(benching);
    if (*verify_command) return verify_counts(verifying);
    if (*sweep_command) return sweep_lab(sweeping);
    return grade(grading);
  } catch (const UserError& error) {
    complain(error.what());
    return error.exit_code;
  } catch (const std::exception& error) {
    complain(std::string("the grader failed: ") + error.what());
    return exit_infrastructure;
  }
}
