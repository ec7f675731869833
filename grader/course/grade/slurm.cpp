#include "grader/course/grade/slurm.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"

extern char** environ;

namespace grader::slurm {
namespace {

using messages::text;

// A controller that is busy may take its time, and squeue waits for it.
constexpr std::chrono::seconds patience{90};

RunResult ask(const std::vector<std::string>& argv) {
  ProcessSpec spec;
  spec.argv = argv;
  // Where Slurm is and who asks stand in the environment.
  for (char** variable = environ; *variable; ++variable) spec.environment.push_back(*variable);
  spec.output_bytes = 4u << 20;
  return run_process(spec, patience);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

/// Slurm's own words, on one line: "sbatch: error: Invalid ..." without what is not news.
std::string complaint(const RunResult& result) {
  const auto lines = lines_of(result.errors);
  if (lines.empty()) return "no answer";
  const auto colon = lines.back().find(": error: ");
  return printable(colon == std::string::npos ? lines.back() : lines.back().substr(colon + 9));
}

std::string succeeded(const std::vector<std::string>& argv) {
  const RunResult result = ask(argv);
  if (!result.ok())
    throw UserError(text("slurm.refused", {{"program", argv.front()}, {"why", complaint(result)}}),
                    exit_infrastructure);
  return result.output;
}

/// "30:00", "1-12:00:00", "infinite", in minutes; 0 = no limit.
unsigned minutes_in(std::string limit) {
  unsigned days = 0;
  if (const auto dash = limit.find('-'); dash != std::string::npos) {
    days = static_cast<unsigned>(std::strtoul(limit.c_str(), nullptr, 10));
    limit = limit.substr(dash + 1);
  }
  std::vector<unsigned> parts;
  std::istringstream in(limit);
  for (std::string part; std::getline(in, part, ':');)
    parts.push_back(static_cast<unsigned>(std::strtoul(part.c_str(), nullptr, 10)));
  if (parts.size() == 2) return days * 1440 + parts[0];
  if (parts.size() == 3) return days * 1440 + parts[0] * 60 + parts[1];
  return days * 1440;
}

std::filesystem::path write_script(const Submission& job, const char* name,
                                   const std::string& commands) {
  const std::filesystem::path path = job.folder / name;
  write_file_atomically(path, "#!/bin/sh\n" + commands);
  return path;
}

}  // namespace

bool installed() {
  return !find_program("sbatch").empty() && !find_program("squeue").empty();
}

void check_partition(const std::string& partition) {
  if (!installed()) throw UserError(text("slurm.none"), exit_infrastructure);
  const auto states = lines_of(succeeded({"sinfo", "-h", "-p", partition, "-o", "%T"}));
  if (states.empty()) {
    std::string known;
    std::set<std::string> names;
    for (const auto& name : lines_of(succeeded({"sinfo", "-h", "-o", "%R"}))) names.insert(name);
    for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
    throw UserError(
        text("slurm.partition", {{"partition", printable(partition)}, {"known", printable(known)}}),
        exit_usage);
  }
  const auto up = [](const std::string& state) {
    // "idle*": the controller has no word from the node.
    return state.back() != '*' &&
           (state.starts_with("idle") || state.starts_with("mix") || state.starts_with("alloc") ||
            state.starts_with("comp") || state.starts_with("powe") || state.starts_with("res"));
  };
  if (std::none_of(states.begin(), states.end(), up))
    throw UserError(text("slurm.down", {{"partition", printable(partition)},
                                        {"state", printable(states.front())}}),
                    exit_infrastructure);
}

std::string submit(const Submission& job) {
  unsigned minutes = job.minutes;
  for (const auto& line : lines_of(succeeded({"sinfo", "-h", "-p", job.partition, "-o", "%l"})))
    if (const unsigned most = minutes_in(line); most > 0) minutes = std::min(minutes, most);
  const auto command = [&](const char* log) {
    return std::vector<std::string>{"sbatch",
                                    "--parsable",
                                    "--job-name=" + job.name,
                                    "--partition=" + job.partition,
                                    "--nodes=1",
                                    "--ntasks=1",
                                    "--time=" + std::to_string(minutes),
                                    "--output=" + (job.folder / log).string(),
                                    "--open-mode=append"};
  };
  std::vector<std::string> array = command("task-%a.log");
  array.insert(array.end(),
               {"--requeue", "--mem=2G", "--array=0-" + std::to_string(job.tasks - 1)});
  if (!job.gres.empty()) array.push_back("--gres=" + job.gres);
  array.push_back(write_script(job, "task.sh", job.task).string());
  // "12", or "12;cluster".
  std::string id = succeeded(array);
  id = id.substr(0, id.find_first_not_of("0123456789"));
  std::vector<std::string> collector = command("collector.log");
  collector.insert(collector.end(), {"--requeue", "--dependency=afterany:" + id,
                                     write_script(job, "collector.sh", job.collector).string()});
  succeeded(collector);
  return id;
}

std::vector<Waiting> waiting(const std::string& name) {
  const RunResult said =
      ask({"squeue", "-h", "-r", "-u", std::to_string(::geteuid()), "-n", name, "-o", "%i %T %r"});
  if (!said.ok()) throw InfraError(complaint(said));
  std::vector<Waiting> all;
  for (const auto& line : lines_of(said.output)) {
    std::istringstream in(line);
    Waiting one;
    in >> one.id >> one.state;
    std::getline(in >> std::ws, one.reason);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace grader::slurm
