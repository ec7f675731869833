// What Device keeps of a loaded module and its kernels, and the extra runs of a launch that look for uses of values that
// nothing has set.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/simgpu/check/finding_log.hpp"
#include "common/simgpu/device.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/exec/program.hpp"
#include "common/simgpu/ptx/liveness.hpp"
#include "common/simgpu/ptx/parser.hpp"

namespace simgpu::loaded {

/// A kernel, which is parsed and decoded when it is first used.
struct Kernel {
  std::uint32_t function = 0;
  bool known = false;  ///< what follows has been filled in
  KernelInfo info;
  std::unique_ptr<exec::Program> program;
  std::unique_ptr<exec::Program> in_clusters;  ///< of several blocks; decoded at the first launch
  /// Variants with marks, decoded when they are first needed. `marked`: the module's second text, for variables and
  /// elements of arrays; `tracked`: for what shuffles bring from lanes that take no part; `unwritten`: for what loads
  /// bring from memory that nobody wrote.
  std::unique_ptr<exec::Program> marked, tracked, unwritten;
  ptx::RegisterPressure pressure;
  bool pressure_known = false;
  std::uint64_t frame_bytes = 0;  ///< host memory of one warp's registers, one frame per function
  std::optional<unsigned> max_dynamic_shared;
};

struct Module {
  Module(std::string text, bool known)
      : source(std::move(text), known ? ptx::Bodies::on_demand : ptx::Bodies::now),
        ptx(source.module()) {}

  ptx::Source source;
  const ptx::Module& ptx;
  exec::Placement placement;
  std::vector<DevicePtr> owned;
  std::map<std::string, Kernel, std::less<>> kernels;

  /// The second text: the same code with marks (flags/unset.awk), or null.
  std::unique_ptr<ptx::Source> marked;
  exec::Placement marked_placement;
  void add_marked(std::string text);
};

/// The lines of loads whose bytes nobody had written and whose values were used (Tracking::unwritten). A value that is
/// thrown away does no harm.
struct Unwritten {
  bool known = false;
  std::set<SourceLine> used;
  /// Removes findings of loads whose values turned out to be unused.
  void keep_used(const exec::Program& program, check::FindingLog& findings) const;
};

/// Runs a launch of `*running` through `execute`; before that, where a value that nothing has set may be used, variants
/// of it with marks, whose findings go to `unset`.
std::unique_ptr<exec::LaunchRun> first_run(
    const Module& m, Kernel& k, bool clustered, const LaunchOptions& options,
    const exec::Program*& running, const std::vector<std::unique_ptr<exec::Worker>>& workers,
    std::vector<Finding>& unset, Unwritten& unwritten,
    const std::function<std::unique_ptr<exec::LaunchRun>()>& execute);

/// Appends findings, but one for each cause and source line: several workers see the same.
void add_once(std::vector<Finding> some, std::vector<Finding>& to);

}  // namespace simgpu::loaded
