// What a device keeps of a module that it has loaded, and of its kernels; and the runs of a launch that look for values
// which nothing has set.
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

/// A kernel of a module, which is read and decoded at its first use.
struct Kernel {
  std::uint32_t function = 0;
  bool known = false;  ///< what follows has been filled in
  KernelInfo info;
  std::unique_ptr<exec::Program> program;
  std::unique_ptr<exec::Program> in_clusters;  ///< of several blocks; decoded at the first launch
  /// With marks for what nothing has set; of the module's second text, with arrays' elements, or of its first.
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

  /// The same code with elements of arrays marked that nothing has set (flags/unset.awk); null = there is none.
  std::unique_ptr<ptx::Source> marked;
  exec::Placement marked_placement;
  void add_marked(std::string text);
};

/// Of the loads that brought bytes which nobody had written: on which lines that mattered (Tracking::unwritten).
struct Unwritten {
  bool known = false;
  std::set<SourceLine> used;
  /// Leaves out findings of which it is known that they did not.
  void keep_used(const exec::Program& program, check::FindingLog& findings) const;
};

/// Runs a launch, by `execute`, of the program `*running`. Before that with marks, where something may be used that
/// nothing has set: what is found then goes to `unset`.
std::unique_ptr<exec::LaunchRun> first_run(
    const Module& m, Kernel& k, bool clustered, const LaunchOptions& options,
    const exec::Program*& running, const std::vector<std::unique_ptr<exec::Worker>>& workers,
    std::vector<Finding>& unset, Unwritten& unwritten,
    const std::function<std::unique_ptr<exec::LaunchRun>()>& execute);

/// The same place is named once, by whichever worker saw it.
void add_once(std::vector<Finding> some, std::vector<Finding>& to);

}  // namespace simgpu::loaded
