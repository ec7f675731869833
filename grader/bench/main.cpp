// The command line of `make bench`.
#include "grader/bench/bench.hpp"
#include "grader/commands/command_line.hpp"

using namespace grader;

int main(int argc, char** argv) {
  CommandLine app("bench", "Compares every rung with cuBLAS, the naive kernel and the CPU.");
  BenchOptions options;
  app.add_option("--lab", options.labs, "numbers of labs; default: all");
  app.add_flag("--quick", options.quick, "three shapes, three rounds");
  app.add_flag("--solution", options.solution, "measure the solutions");
  app.add_flag("--no-cpu", options.no_cpu, "leave out the CPU's times");
  app.add_flag("--form", options.form_only, "only write predictions.toml if it is missing");
  app.add_option("--limit", options.limit_seconds,
                 "seconds after which no new point is started; the next run continues");
  app.add_option(
      "--add", options.add,
      "measure nothing; merge newer results from bench.json files of other GPUs of the same "
      "model");
  app.add_option("--out", options.out, "folder; default: bench in the build folder");
  return app.run(argc, argv, [&] {
    options.place = app.place();
    return bench_labs(options);
  });
}
