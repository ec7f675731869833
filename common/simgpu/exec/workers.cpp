#include "common/simgpu/exec/workers.hpp"

#include <exception>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "common/simgpu/exec/sharing.hpp"

namespace simgpu::exec {

namespace {

/// An exception stops the other workers, too, and is handed on: it must not end the process, as it
/// would if it left a thread.
void run_or_stop(Worker& worker, std::exception_ptr& thrown) noexcept {
  try {
    run_blocks(worker);
  } catch (...) {
    thrown = std::current_exception();
    LaunchRun& l = *worker.launch;
    {
      const std::lock_guard lock(l.mutex);
      l.stop = true;
      l.running_blocks[worker.number] = UINT64_MAX;  // nobody waits for its block
    }
    l.lowest_changed.notify_all();
  }
}

}  // namespace

void run_on_threads(std::vector<std::unique_ptr<Worker>>& workers) {
  std::vector<std::exception_ptr> thrown(workers.size());
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
  try {
    for (std::size_t k = 1; k < workers.size(); ++k)
      threads.emplace_back([&, k] { run_or_stop(*workers[k], thrown[k]); });
  } catch (const std::system_error&) {  // no more threads: those that run take all blocks
  }
  run_or_stop(*workers[0], thrown[0]);
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
}

std::vector<std::unique_ptr<Worker>> make_workers(LaunchRun& run, unsigned threads) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned t = 0; t < threads; ++t) {
    auto w = std::make_unique<Worker>();
    w->launch = &run;
    w->number = t;
    w->counters = make_counters(*run.program, run.memory->live().size(),
                                run.options.count && run.options.sample_accesses);
    w->patterns.patterns.resize(run.program->slots);
    w->stretches.resize(run.program->stretches.size());
    w->global_shadows.resize(run.memory->live().size());
    workers.push_back(std::move(w));
  }
  return workers;
}

std::unique_ptr<LaunchRun> run_launch(memory::GlobalMemory& memory, unsigned threads,
                                      std::vector<std::unique_ptr<Worker>>& workers,
                                      const std::function<void(LaunchRun&)>& begin) {
  for (bool again = false;; again = true) {
    auto run = std::make_unique<LaunchRun>();
    begin(*run);
    if (run->exact) run->global_shadows = exact_shadows(*run->program, memory);
    memory.roll_back();
    workers = make_workers(*run, threads);
    run_on_threads(workers);
    // An allocation was read before the first store to it: usually by the first block.
    if (run->exact || !run->options.checks.race || !missed_readers(memory, again)) return run;
  }
}

Collected collect(const std::vector<std::unique_ptr<Worker>>& workers, const Program& program,
                  std::size_t allocations, bool samples) {
  Collected all;
  all.counters = make_counters(program, allocations, samples);
  std::map<std::uint64_t, std::string> printed;
  for (const auto& w : workers) {
    all.findings.merge(std::move(w->findings));
    for (const Stretch& s : program.stretches) settle_stretch(*w, s);
    settle_all(program, w->counters);
    add(all.counters, w->counters);
    printed.merge(w->printed);
  }
  for (const auto& [number, part] : printed)
    if (all.printed.size() < kPrintfCap)
      all.printed += part.substr(0, kPrintfCap - all.printed.size());
  return all;
}

}  // namespace simgpu::exec
