// The command line of what nobody needs to pass a lab. Every command has a file in a folder beside this one.
#include "grader/author/measure.hpp"
#include "grader/commands/command_line.hpp"

using namespace grader;

int main(int argc, char** argv) {
  CommandLine app("measure", "Measures the labs' kernels, the simulated GPU and the grader.");
  app.require_subcommand(1);

  MutantOptions mutating;
  auto* mutants_command =
      app.add_subcommand("mutants", "grade the labs' wrong kernels, and right ones that differ");
  mutants_command->add_option("--lab", mutating.labs, "numbers of labs; default: all");
  mutants_command->add_option("--only", mutating.only, "files whose path contains this");
  mutants_command->add_flag("--sample", mutating.sample,
                            "one wrong kernel per diagnosis, one right one per lab");
  mutants_command->add_flag("--all-types", mutating.all_types,
                            "all types also where the first has shown what was expected");
  mutants_command->add_option("--entire", mutating.entire, "with --sample: all of these labs");
  mutants_command->add_option("--jobs", mutating.jobs, "at a time; default: one per core");
  mutants_command->add_flag("--verbose,-v", mutating.verbose,
                            "also show headlines of what went right");

  CalibrateOptions calibrating;
  auto* calibrate_command =
      app.add_subcommand("calibrate", "set the speed goals for this GPU, from the solutions");
  calibrate_command->add_option("--lab", calibrating.labs, "numbers of labs; default: all");
  calibrate_command->add_option("--type", calibrating.type, "only goals of this type");
  calibrate_command->add_option("--runs", calibrating.runs, "runs of each kernel")
      ->check(CLI::Range(1, 100));
  calibrate_command->add_flag("!--dry-run", calibrating.write, "print only");
  calibrate_command->add_flag("--base", calibrating.base,
                              "change the goals for GPUs that have none of their own");

  ProveOptions proving;
  auto* prove_command = app.add_subcommand("prove-speed", "repeat speed verdicts many times");
  prove_command->add_option("--lab", proving.labs, "numbers of labs; default: all");
  prove_command->add_option("--stage", proving.stages, "only goals of these stages");
  prove_command->add_option("--type", proving.type, "only goals of this type");
  prove_command->add_option("--repeats", proving.repeats,
                            "verdicts of each kernel, those that --out has included");
  prove_command->add_option("--seconds", proving.seconds, "start no verdict after so many");
  prove_command->add_flag("--judge", proving.judge_only, "measure nothing; needs no GPU");
  prove_command->add_option("--add", proving.add,
                            "also take these results, of other GPUs of the same model");
  prove_command->add_option("--out", proving.out, "results as JSON; added to")->required();

  VerifyOptions verifying;
  auto* verify_command =
      app.add_subcommand("verify-counts", "compare simgpu's counts with the profiler's");
  verify_command->add_option("--measured", verifying.measured, "folder that profile.sh filled");
  verify_command->add_option("--out", verifying.out, "folder for counts.json");
  verify_command->add_flag("--sources", verifying.sources_only,
                           "only write the programs, to profile them elsewhere");

  SweepOptions sweeping;
  auto* sweep_command =
      app.add_subcommand("sweep", "time a kernel over a range of one parameter, on this GPU");
  sweep_command->add_option("--lab", sweeping.lab, "number of the lab")->required();
  sweep_command->add_option("--type", sweeping.type, "only this element type; default: all");
  sweep_command->add_flag("--quick", sweeping.quick, "small sizes, few samples");
  sweep_command->add_option("--out", sweeping.out,
                            "results as JSON, curves beside it; default: sweep/labN.json in the "
                            "build folder. With --measured: a folder for the curves");
  sweep_command->add_option("--measured", sweeping.measured,
                            "show this results file; needs no GPU");

  return app.run(argc, argv, [&] {
    mutating.place = calibrating.place = proving.place = verifying.place = sweeping.place =
        app.place();
    if (*calibrate_command) return calibrate(calibrating);
    if (*prove_command) return prove_speed(proving);
    if (*mutants_command) return mutants(mutating);
    if (*verify_command) return verify_counts(verifying);
    return sweep_lab(sweeping);
  });
}
