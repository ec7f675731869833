// The command line of `make grade`.
#include "grader/commands/command_line.hpp"
#include "grader/course/grade/cluster.hpp"
#include "grader/course/grade/grade.hpp"

using namespace grader;

int main(int argc, char** argv) {
  CommandLine app("grade", "Grades a class.");
  GradeOptions grading;
  app.add_option(
      "submissions", grading.submissions,
      "a folder or archive with the submissions, as they were downloaded; or a .txt with "
      "the addresses of repositories");
  app.add_option("--roster", grading.roster, "a table of ids, names and sections");
  app.add_option("--out", grading.out, "where results go; default: grades in the build folder");
  app.add_option("--course", grading.course, "an instructor's course.toml");
  app.add_option("--device", grading.device, "sim; or gpu: also on a real GPU, with speed goals")
      ->check(CLI::IsMember({"sim", "gpu"}));
  app.add_option("--engine", grading.engine, "local, or slurm: an array job on a cluster")
      ->check(CLI::IsMember({"local", "slurm"}));
  app.add_option("--partition", grading.partition, "with --engine slurm: the partition");
  app.add_option("--gres", grading.gres, "with --engine slurm: resources of each task");
  app.add_flag("--task", grading.task, "a task of the array job")->group("");
  app.add_flag("--collector", grading.collector, "make the tables of what tasks left")->group("");
  app.add_option("--jobs", grading.jobs, "students at a time; default: one per core");
  app.add_flag("--unsafe", grading.unsafe, "no box around the submissions, only limits");
  app.add_option("--weaken", grading.weaken, "walls of the box to leave out, for tests")->group("");
  app.add_option("--regrade", grading.regrade,
                 "grade only this student again; the old verdicts are kept beside the new ones");
  app.add_option("--stage", grading.stage, "with --regrade: only this stage");
  bool collecting = false;
  app.add_flag("--collect", collecting, "only write the files that count, and why others do not");
  return app.run(argc, argv, [&] {
    grading.place = app.place();
    if (grading.task) return run_task(grading);
    if (grading.engine == "slurm" && grading.partition.empty())
      throw UserError("--engine slurm needs --partition", exit_usage);
    if (grading.submissions.empty() && (collecting || grading.regrade.empty()))
      throw UserError("no submissions: name their folder or archive", exit_usage);
    if (!grading.stage.empty() && grading.regrade.empty())
      throw UserError("--stage needs --regrade", exit_usage);
    return collecting ? collect_class(grading) : grade(grading);
  });
}
