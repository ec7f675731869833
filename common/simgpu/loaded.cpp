#include "common/simgpu/loaded.hpp"

#include <algorithm>

namespace simgpu::loaded {

/// A second text must be of the same functions and variables, or it is left.
void Module::add_marked(std::string text) {
  std::unique_ptr<ptx::Source> other;
  try {
    other = std::make_unique<ptx::Source>(std::move(text));
  } catch (const ptx::ParseError&) {
    return;
  }
  const ptx::Module& second = other->module();
  const auto same_name = [](const ptx::Function& a, const ptx::Function& b) {
    return a.name == b.name;
  };
  if (!std::equal(second.functions.begin(), second.functions.end(), ptx.functions.begin(),
                  ptx.functions.end(), same_name))
    return;
  exec::Placement places;
  for (const ptx::Variable& v : second.variables) {
    const auto same = ptx.variable_index.find(v.name);
    const bool placed = same != ptx.variable_index.end();
    if (!placed && (v.space == ptx::Space::global || v.space == ptx::Space::constant)) return;
    places.variables.push_back(placed ? placement.variables[same->second] : 0);
  }
  marked = std::move(other);
  marked_placement = std::move(places);
}

namespace {

/// The kernel with marks for elements of arrays that nothing has set; null if it has none.
const exec::Program* marked_program(const Module& m, Kernel& k, bool clustered) {
  if (m.marked == nullptr || clustered) return nullptr;
  if (k.marked == nullptr)
    k.marked = exec::decode(m.marked->module(), k.function, m.marked_placement,
                            exec::SharedAddresses::constant, exec::Tracking::unset);
  return k.marked->unsupported.empty() && !k.marked->unset_origins.empty() ? k.marked.get()
                                                                           : nullptr;
}
/// The kernel with marks for what shuffles bring from lanes that do not take part.
const exec::Program* tracked_program(const Module& m, Kernel& k, bool clustered) {
  if (k.tracked == nullptr)
    k.tracked =
        exec::decode(m.ptx, k.function, m.placement,
                     clustered ? exec::SharedAddresses::ranked : exec::SharedAddresses::constant,
                     exec::Tracking::unset);
  return k.tracked->unsupported.empty() ? k.tracked.get() : nullptr;
}

/// The kernel with marks for what loads bring from memory that nobody has written.
const exec::Program* unwritten_program(const Module& m, Kernel& k, bool clustered) {
  if (clustered) return nullptr;
  if (k.unwritten == nullptr)
    k.unwritten = exec::decode(m.ptx, k.function, m.placement, exec::SharedAddresses::constant,
                               exec::Tracking::unwritten);
  return k.unwritten->unsupported.empty() ? k.unwritten.get() : nullptr;
}
bool is_unwritten_load(const exec::Program& program, const Finding& f, std::uint32_t pc) {
  if (f.kind != FindingKind::uninitialised_read || f.cause != FindingCause::unspecified ||
      (f.at.space != MemorySpace::shared && f.at.space != MemorySpace::local))
    return false;
  const ptx::Opcode op = program.instructions[pc].ptx->op;
  return op == ptx::Opcode::ld || op == ptx::Opcode::ldu || op == ptx::Opcode::ldmatrix;
}

/// Of a run with marks, what it is for.
void take_unset(std::vector<Finding> found, std::vector<Finding>& to) {
  for (Finding& f : found)
    if (f.cause == FindingCause::unset_value) to.push_back(std::move(f));
}

}  // namespace

std::unique_ptr<exec::LaunchRun> first_run(
    const Module& m, Kernel& k, bool clustered, const LaunchOptions& options,
    const exec::Program*& running, const std::vector<std::unique_ptr<exec::Worker>>& workers,
    std::vector<Finding>& unset, Unwritten& unwritten,
    const std::function<std::unique_ptr<exec::LaunchRun>()>& execute) {
  const auto look = [&](const exec::Program* with_marks) {
    if (with_marks == nullptr || !options.checks.init) return;
    const exec::Program* const plain = std::exchange(running, with_marks);
    execute();
    running = plain;
    for (const auto& w : workers)
      take_unset(w->findings.report(options.max_findings_per_kind), unset);
  };
  look(marked_program(m, k, clustered));
  std::unique_ptr<exec::LaunchRun> run = execute();
  if (!options.checks.init) return run;
  const exec::Program* const plain = running;
  const bool suspected = std::any_of(workers.begin(), workers.end(), [&](const auto& w) {
    return w->findings.any(
        [&](const Finding& f, std::uint32_t pc) { return is_unwritten_load(*plain, f, pc); });
  });
  const exec::Program* const strict = suspected ? unwritten_program(m, k, clustered) : nullptr;
  if (!run->reads_absent && strict == nullptr) return run;
  if (run->reads_absent) look(tracked_program(m, k, clustered));
  if (strict != nullptr) {
    running = strict;
    run = execute();
    running = plain;
    unwritten.known = !run->stop && !run->over_budget;
    for (const auto& w : workers)
      for (std::size_t n = 0; n < strict->unset_origins.size(); ++n)
        if (w->used_unwritten[n + 1])
          unwritten.used.insert(strict->line_of(strict->unset_origins[n]));
  }
  return execute();
}

void Unwritten::keep_used(const exec::Program& program, check::FindingLog& findings) const {
  if (!known) return;
  findings.drop([&](const Finding& f, std::uint32_t pc) {
    return is_unwritten_load(program, f, pc) && used.count(program.line_of(pc)) == 0;
  });
}

void add_once(std::vector<Finding> some, std::vector<Finding>& to) {
  for (Finding& f : some)
    if (std::none_of(to.begin(), to.end(), [&](const Finding& g) {
          return g.cause == f.cause && g.at.where == f.at.where;
        }))
      to.push_back(std::move(f));
}

}  // namespace simgpu::loaded
