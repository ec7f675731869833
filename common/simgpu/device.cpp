#include "common/simgpu/device.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "common/simgpu/count/load_merging.hpp"
#include "common/simgpu/count/occupancy.hpp"
#include "common/simgpu/exec/fold.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/exec/program.hpp"
#include "common/simgpu/exec/sharing.hpp"
#include "common/simgpu/exec/workers.hpp"
#include "common/simgpu/launch_shape.hpp"
#include "common/simgpu/loaded.hpp"
#include "common/simgpu/memory/global_memory.hpp"
#include "common/simgpu/ptx/clusters.hpp"
#include "common/simgpu/ptx/liveness.hpp"
#include "common/simgpu/ptx/names.hpp"
#include "common/simgpu/ptx/parser.hpp"

namespace simgpu {
namespace {

using Region = memory::Allocation;  // Device has an Allocation of its own

std::string demangle(const std::string& name) {
  const std::string untagged = ptx::without_cluster_tag(name);
  if (auto text = ptx::written_out(untagged)) return std::move(*text);
  return ptx::demangle(untagged);
}

}  // namespace

using loaded::Kernel;
using LoadedModule = loaded::Module;

struct Device::Impl {
  explicit Impl(DeviceModel m) : model(std::move(m)), memory(model.global_bytes) {}

  DeviceModel model;
  memory::GlobalMemory memory;
  std::map<ModuleId, std::unique_ptr<LoadedModule>> modules;
  ModuleId next_module = 1;

  LoadedModule& module(ModuleId id) const {
    const auto it = modules.find(id);
    if (it == modules.end())
      throw DeviceError(Status::invalid_module, "there is no module " + std::to_string(id));
    return *it->second;
  }
  Kernel& kernel(ModuleId id, std::string_view mangled) const {
    LoadedModule& m = module(id);
    const auto it = m.kernels.find(mangled);
    if (it == m.kernels.end())
      throw DeviceError(Status::invalid_device_function,
                        "the module has no kernel '" + std::string(mangled) + "'");
    describe(m, it->second);
    return it->second;
  }
  Region& range(DevicePtr ptr, std::size_t bytes, const char* what) const {
    Region* a = memory.containing(ptr, bytes);
    if (a != nullptr) return *a;
    const Region* near = memory.nearest(ptr);
    std::string message = std::string(what) + " of " + std::to_string(bytes) + " bytes ";
    if (near == nullptr)
      message += "at an address that is no device memory";
    else if (!near->live())
      message += "in '" + near->label + "', which was freed";
    else
      message += "leaves '" + near->label + "' (" + std::to_string(near->size) +
                 " bytes) at offset " + std::to_string(static_cast<std::int64_t>(ptr - near->base));
    throw DeviceError(Status::invalid_value, message);
  }
  Region& allocation(DevicePtr base) const {
    Region* a = memory.owner(base);
    if (a == nullptr || !a->live() || a->base != base)
      throw DeviceError(Status::invalid_value, "the address is not the start of a live allocation");
    return *a;
  }
  void place_variables(LoadedModule& m);
  void describe(LoadedModule& m, Kernel& k) const;
};

// -------------------------------------------------------------------------------------------------
// memory

Device::Device(DeviceModel model) : impl_(std::make_unique<Impl>(std::move(model))) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

const DeviceModel& Device::model() const {
  return impl_->model;
}

DevicePtr Device::alloc(std::size_t bytes, std::string label) {
  if (bytes == 0) return 0;
  Region* a = impl_->memory.allocate(bytes, std::move(label));
  if (a == nullptr)
    throw DeviceError(Status::out_of_memory,
                      "cannot allocate " + std::to_string(bytes) +
                          " bytes: " + std::to_string(impl_->memory.bytes_in_use()) + " of " +
                          std::to_string(impl_->model.global_bytes) + " are in use");
  return a->base;
}

void Device::free(DevicePtr ptr) {
  if (!impl_->memory.release(ptr))
    throw DeviceError(Status::invalid_value,
                      "free of an address that is not the start of a live allocation");
}

void Device::set_read_only(DevicePtr base, bool read_only) {
  Region& a = impl_->allocation(base);
  a.read_only = read_only;
  a.checks_stores = read_only || a.lent != nullptr;
}

void Device::write(DevicePtr dst, std::span<const std::byte> src) {
  if (src.empty()) return;
  Region& a = impl_->range(dst, src.size(), "copy to the device");
  impl_->memory.write(a, dst - a.base, src);
}
void Device::read(std::span<std::byte> dst, DevicePtr src) const {
  if (dst.empty()) return;
  const Region& a = impl_->range(src, dst.size(), "copy to the host");
  std::memcpy(dst.data(), a.data.get() + (src - a.base), dst.size());
}
void Device::copy(DevicePtr dst, DevicePtr src, std::size_t bytes) {
  if (bytes == 0) return;
  Region& to = impl_->range(dst, bytes, "copy");
  const Region& from = impl_->range(src, bytes, "copy");
  impl_->memory.copy(to, dst - to.base, from, src - from.base, bytes);
}
void Device::fill(DevicePtr dst, std::byte value, std::size_t bytes) {
  if (bytes == 0) return;
  Region& a = impl_->range(dst, bytes, "memset");
  impl_->memory.fill(a, dst - a.base, value, bytes);
}
void Device::mark_uninitialised(DevicePtr ptr, std::size_t bytes) {
  if (bytes == 0) return;
  Region& a = impl_->range(ptr, bytes, "mark");
  impl_->memory.mark(a, ptr - a.base, bytes, false);
}
bool Device::is_initialised(DevicePtr ptr, std::size_t bytes) const {
  if (bytes == 0) return true;
  const Region& a = impl_->range(ptr, bytes, "question");
  return memory::GlobalMemory::is_initialised(a, ptr - a.base, bytes);
}
std::vector<std::uint8_t> Device::written_by(DevicePtr ptr, std::size_t bytes) const {
  if (bytes == 0) return {};
  const Region& a = impl_->range(ptr, bytes, "question");
  if (a.fully_initialised) return std::vector<std::uint8_t>(bytes, 1);
  const std::uint8_t* marks = a.initialised.get() + (ptr - a.base);
  return {marks, marks + bytes};
}
std::optional<Device::Allocation> Device::find(DevicePtr ptr) const {
  const Region* a = impl_->memory.containing(ptr, 1);
  if (a == nullptr) return std::nullopt;
  return Allocation{a->base, a->size, a->label};
}
std::size_t Device::bytes_in_use() const {
  return impl_->memory.bytes_in_use();
}

// ------------------------------------------------------------------------------------------------
// modules

void Device::Impl::place_variables(LoadedModule& m) {
  m.placement.variables.assign(m.ptx.variables.size(), 0);
  for (std::size_t k = 0; k < m.ptx.variables.size(); ++k) {
    const ptx::Variable& v = m.ptx.variables[k];
    if ((v.space != ptx::Space::global && v.space != ptx::Space::constant) || v.size == 0) continue;
    Region* a = memory.allocate(v.size, v.pretty.empty() ? v.name : v.pretty);
    if (a == nullptr)
      throw DeviceError(Status::out_of_memory, "no memory for the variable '" + v.name + "'");
    m.owned.push_back(a->base);
    m.placement.variables[k] = a->base;
    memory.fill(*a, 0, std::byte{0}, v.size);  // device variables without an initialiser are zero
    if (!v.init.empty())
      memory.write(
          *a, 0,
          std::as_bytes(std::span(v.init)).first(std::min<std::size_t>(v.init.size(), v.size)));
    if (v.name.find(memory::kHeapName) != std::string::npos) {
      memory.mark(*a, 0, v.size, false);
      a->lent = std::make_unique<std::uint8_t[]>(a->grains());
      a->checks_stores = true;
    }
    a->constant = v.space == ptx::Space::constant;
  }
  for (std::size_t k = 0; k < m.ptx.variables.size(); ++k)
    for (const auto& r : m.ptx.variables[k].relocations) {
      Region* a = memory.containing(m.placement.variables[k], 1);
      if (a == nullptr || r.variable >= m.placement.variables.size() ||
          std::uint64_t{r.offset} + 8 > a->size)
        continue;
      const std::uint64_t value =
          m.placement.variables[r.variable] + static_cast<std::uint64_t>(r.addend);
      std::memcpy(a->data.get() + r.offset, &value, 8);
    }
}

void Device::Impl::describe(LoadedModule& m, Kernel& k) const {
  if (k.known) return;
  m.source.complete(k.function);
  // Those of bodies are in no device memory.
  m.placement.variables.resize(m.ptx.variables.size(), 0);
  const ptx::Function& f = m.ptx.functions[k.function];
  k.program = exec::decode(m.ptx, k.function, m.placement, exec::SharedAddresses::constant);
  const exec::Program& p = *k.program;
  KernelInfo info;  // begins anew if an earlier attempt threw
  info.mangled = f.name;
  info.name = demangle(f.name);
  for (const ptx::Parameter& param : f.params) {
    info.params.push_back({param.offset, param.size, param.align});
    info.param_bytes = std::max(info.param_bytes, param.offset + param.size);
  }
  info.max_threads_per_block = model.max_threads_per_block;
  if (f.max_ntid[0] != 0) {
    std::uint64_t bound = 1;
    for (const std::uint32_t extent : f.max_ntid)
      bound = std::min<std::uint64_t>(bound * std::max(extent, 1u), model.max_threads_per_block);
    info.max_threads_per_block = static_cast<unsigned>(bound);
  }
  info.unsupported = p.unsupported;
  info.lets_next_begin = p.lets_next_begin;
  info.static_shared_bytes = p.static_shared_bytes;
  k.frame_bytes = 0;
  for (const exec::FunctionCode& code : p.functions) {
    info.local_bytes_per_thread += code.local_bytes;
    k.frame_bytes += code.frame_bytes;
  }
  for (const std::uint32_t v : f.variables)
    if (m.ptx.variables[v].space == ptx::Space::constant)
      info.const_bytes += static_cast<unsigned>(m.ptx.variables[v].size);
  if (p.unsupported.empty()) {
    k.pressure = ptx::estimate_registers(m.ptx, f);
    k.pressure_known = true;
    info.live_registers = k.pressure.estimate;
  }
  k.info = std::move(info);
  k.known = true;
}

ModuleId Device::load_module(std::string ptx, bool known, std::string marked) {
  auto m = std::make_unique<LoadedModule>(std::move(ptx), known);
  try {
    impl_->place_variables(*m);
    for (std::uint32_t f = 0; f < m->ptx.functions.size(); ++f)
      if (m->ptx.functions[f].is_entry) m->kernels[m->ptx.functions[f].name].function = f;
    for (auto& [name, kernel] : m->kernels)
      if (!known) impl_->describe(*m, kernel);
    if (!marked.empty()) m->add_marked(std::move(marked));
  } catch (...) {
    for (const DevicePtr p : m->owned) impl_->memory.release(p);
    throw;
  }
  const ModuleId id = impl_->next_module++;
  impl_->modules.emplace(id, std::move(m));
  return id;
}

void Device::unload_module(ModuleId module) {
  for (const DevicePtr p : impl_->module(module).owned) impl_->memory.release(p);
  impl_->modules.erase(module);
}

std::vector<KernelInfo> Device::kernels(ModuleId module) const {
  LoadedModule& m = impl_->module(module);
  std::vector<KernelInfo> out;
  for (auto& [name, k] : m.kernels) {
    impl_->describe(m, k);
    out.push_back(k.info);
  }
  return out;
}

std::optional<KernelInfo> Device::kernel(ModuleId module, std::string_view mangled) const {
  LoadedModule& m = impl_->module(module);
  const auto it = m.kernels.find(mangled);
  if (it == m.kernels.end()) return std::nullopt;
  impl_->describe(m, it->second);
  return it->second.info;
}

DevicePtr Device::variable(ModuleId module, std::string_view mangled, std::size_t* bytes) const {
  const LoadedModule& m = impl_->module(module);
  const auto it = m.ptx.variable_index.find(mangled);
  if (it == m.ptx.variable_index.end() || m.placement.variables[it->second] == 0) return 0;
  if (bytes != nullptr) *bytes = m.ptx.variables[it->second].size;
  return m.placement.variables[it->second];
}

void Device::set_max_dynamic_shared(ModuleId module, std::string_view mangled, unsigned bytes) {
  Kernel& k = impl_->kernel(module, mangled);
  if (std::uint64_t{bytes} + k.info.static_shared_bytes > impl_->model.shared_bytes_per_block_optin)
    throw DeviceError(Status::invalid_value,
                      "'" + k.info.name + "' asks for " + std::to_string(bytes) +
                          " bytes of dynamic shared memory beside " +
                          std::to_string(k.info.static_shared_bytes) +
                          " static ones: the limit is " +
                          std::to_string(impl_->model.shared_bytes_per_block_optin) + " together");
  k.max_dynamic_shared = bytes;
}

// ---- launches
namespace {
/// Host memory for the registers and local arrays of one running block: PTX may declare a million
/// registers, or 512 KiB of local memory for each of 1024 threads. A lab's largest kernel needs 10
/// MiB, a kernel that unrolls everything 100 MiB.
constexpr std::uint64_t kBlockBytes = 256u << 20;
/// The same for all blocks that run side by side.
constexpr std::uint64_t kLaunchBytes = 1u << 30;

std::uint64_t block_bytes(const Kernel& k, std::uint64_t threads) {
  // Local memory has a byte of "was it written" for every eight of its own.
  const std::uint64_t local = std::uint64_t{k.info.local_bytes_per_thread} * threads;
  return (threads + 31) / 32 * k.frame_bytes + local + local / 8;
}

using Fail = std::function<void(Status, const std::string&)>;

/// Grid and block against what the chip takes.
void check_shape(const DeviceModel& m, Dim3 grid, Dim3 block, const Fail& fail) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    fail(Status::invalid_configuration, "the grid " + text(grid) + " has no blocks");
  if (block.x == 0 || block.y == 0 || block.z == 0)
    fail(Status::invalid_configuration, "the block " + text(block) + " has no threads");
  if (grid.x > m.max_grid.x || grid.y > m.max_grid.y || grid.z > m.max_grid.z)
    fail(Status::invalid_configuration,
         "the grid " + text(grid) + " exceeds the limits " + text(m.max_grid));
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (block.x > m.max_block.x || block.y > m.max_block.y || block.z > m.max_block.z ||
      threads > m.max_threads_per_block)
    fail(Status::invalid_configuration, "a block of " + text(block) + " has " +
                                            std::to_string(threads) + " threads: the limit is " +
                                            std::to_string(m.max_threads_per_block) +
                                            " in all and " + text(m.max_block) + " each way");
}

void check_shared_memory(const DeviceModel& m, const Kernel& k, unsigned dynamic_shared_bytes,
                         const Fail& fail) {
  const std::uint64_t shared = std::uint64_t{k.info.static_shared_bytes} + dynamic_shared_bytes;
  const bool optin = k.max_dynamic_shared.has_value();
  if (optin ? dynamic_shared_bytes >
                      std::max(*k.max_dynamic_shared,
                               m.shared_bytes_per_block - std::min(m.shared_bytes_per_block,
                                                                   k.info.static_shared_bytes)) ||
                  shared > m.shared_bytes_per_block_optin
            : shared > m.shared_bytes_per_block)
    fail(Status::invalid_value,
         std::to_string(k.info.static_shared_bytes) + " static and " +
             std::to_string(dynamic_shared_bytes) +
             " dynamic bytes of shared memory: the limit is " +
             std::to_string(m.shared_bytes_per_block) + " (up to " +
             std::to_string(m.shared_bytes_per_block_optin) +
             " after cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...))");
}

}  // namespace

void Device::validate_launch(ModuleId module, std::string_view mangled, Dim3 grid, Dim3 block,
                             unsigned dynamic_shared_bytes, std::size_t arg_bytes) const {
  const Kernel& k = impl_->kernel(module, mangled);
  const DeviceModel& m = impl_->model;
  const std::string name = "'" + k.info.name + "': ";
  const Fail fail = [&](Status s, const std::string& message) {
    throw DeviceError(s, name + message);
  };
  check_shape(m, grid, block, fail);
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads > k.info.max_threads_per_block)
    fail(Status::invalid_value, "a block of " + std::to_string(threads) +
                                    " threads is more than its __launch_bounds__ of " +
                                    std::to_string(k.info.max_threads_per_block));
  const ptx::Function& f = impl_->module(module).ptx.functions[k.function];
  if (f.req_ntid[0] != 0) {
    const Dim3 need{f.req_ntid[0], std::max(f.req_ntid[1], 1u), std::max(f.req_ntid[2], 1u)};
    if (!(block == need))
      fail(Status::invalid_value,
           "the block " + text(block) + " is not the " + text(need) + " it requires");
  }
  const std::uint64_t host_bytes = block_bytes(k, threads);
  if (host_bytes > kBlockBytes)
    fail(Status::launch_out_of_resources,
         "a block of " + std::to_string(threads) + " threads needs " +
             std::to_string(host_bytes >> 20) +
             " MiB for registers and local memory; the simulated GPU gives a block " +
             std::to_string(kBlockBytes >> 20) + " MiB");
  check_shared_memory(m, k, dynamic_shared_bytes, fail);
  if (arg_bytes < k.info.param_bytes)
    fail(Status::invalid_value, std::to_string(arg_bytes) +
                                    " bytes of arguments, the kernel takes " +
                                    std::to_string(k.info.param_bytes));
}

namespace {

RegisterEstimate register_estimate(const DeviceModel& model, const ptx::RegisterPressure& pressure,
                                   const ptx::Module& ptx, unsigned threads_per_block,
                                   unsigned shared_bytes) {
  RegisterEstimate out;
  out.live_registers = pressure.estimate;
  out.allocated = pressure.allocated();
  if (pressure.where.file < ptx.files.size())
    out.where = {ptx.files[pressure.where.file].path, pressure.where.line};
  const count::Occupancy occupancy =
      count::occupancy(model, threads_per_block, pressure.allocated(), shared_bytes);
  out.blocks_per_multiprocessor = occupancy.blocks;
  out.occupancy = occupancy.fraction;
  out.limiter = occupancy.limiter;
  return out;
}

LaunchReport unsupported_report(LaunchReport report, const exec::Program& program,
                                const ptx::Module& ptx) {
  Finding f;
  f.kind = FindingKind::unsupported;
  f.kernel = report.kernel;
  const ptx::Location& where = program.unsupported_where;
  if (where.file < ptx.files.size()) f.at.where = {ptx.files[where.file].path, where.line};
  f.detail = program.unsupported;
  report.findings.push_back(std::move(f));
  report.completed = false;
  return report;
}

/// As many as asked for, as there are blocks (clusters), and as there is memory for.
unsigned host_threads_for(const LaunchOptions& options, const exec::Program& program,
                          std::uint64_t blocks, std::uint64_t bytes_per_block) {
  if (program.uses_global_atomics || program.watches_global) return 1;
  const std::uint64_t wanted = options.host_threads != 0
                                   ? options.host_threads
                                   : std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(kLaunchBytes / bytes_per_block, 1, std::min(wanted, blocks)));
}

/// How the grid is cut into clusters. `grid` becomes one of blocks if the kernel takes clusters.
Cluster shape_of(const DeviceModel& model, const std::string& name, const ptx::Function& f,
                 const LaunchOptions& options, Dim3 block, Dim3* grid) {
  const Dim3 required{f.req_cluster[0], f.req_cluster[1], f.req_cluster[2]};
  if (f.grid_in_clusters) {
    *grid = grid_in_blocks(*grid, required);
    check_shape(model, *grid, block, [&](Status s, const std::string& message) {
      throw DeviceError(s, "'" + name + "': " + message);
    });
  }
  Cluster cluster = cluster_of(model, required, options, *grid);
  if (!cluster.problem.empty())
    throw DeviceError(Status::invalid_cluster, "'" + name + "': " + cluster.problem);
  return cluster;
}

const exec::Program& program_for(const LoadedModule& m, Kernel& k, const Cluster& cluster) {
  if (cluster.count <= 1) return *k.program;
  if (k.in_clusters == nullptr)
    k.in_clusters = exec::decode(m.ptx, k.function, m.placement, exec::SharedAddresses::ranked);
  return *k.in_clusters;
}

/// What a launch gives its kernel.
struct Arguments {
  std::span<const std::byte> bytes;
  std::uint32_t dynamic_shared, shared;
};

/// A launch, but for how many blocks are resident.
void set_up(exec::LaunchRun& r, const LaunchReport& report, const Cluster& cluster,
            const Arguments& given, unsigned threads) {
  r.grid = report.grid;
  r.block = report.block;
  r.cluster = cluster.blocks;
  r.cluster_blocks = cluster.count;
  r.explicit_cluster = cluster.is_explicit;
  r.args = given.bytes;
  r.dynamic_shared = given.dynamic_shared;
  r.shared_bytes = given.shared;
  r.threads = r.block.x * r.block.y * r.block.z;
  r.warps = (r.threads + exec::kLanes - 1) / exec::kLanes;
  r.blocks = std::uint64_t{r.grid.x} * r.grid.y * r.grid.z;
  r.kernel_name = report.kernel;
  r.running_blocks.assign(threads, UINT64_MAX);
}

/// How many may wait for each other: as many as the chip holds, and as there is memory for.
std::uint64_t resident_blocks_for(const DeviceModel& model, const RegisterEstimate& use,
                                  std::uint64_t bytes_per_block) {
  return std::clamp<std::uint64_t>(
      std::uint64_t{use.blocks_per_multiprocessor} * model.multiprocessors, 1,
      std::max<std::uint64_t>(kLaunchBytes / bytes_per_block, 1));
}

/// Of a launch that used its budget up: what else was found depends on which blocks ran.
void keep_budget_finding(LaunchReport& report, const exec::Program& program, std::uint64_t blocks,
                         std::uint64_t budget) {
  std::erase_if(report.findings,
                [](const Finding& f) { return f.kind != FindingKind::budget_exceeded; });
  if (report.findings.empty()) {
    Finding f;
    f.kind = FindingKind::budget_exceeded;
    f.kernel = report.kernel;
    f.at.where = program.line_of(0);
    f.at.actor = Actor::launch;
    f.detail = "the grid of " + std::to_string(blocks) + " blocks needs more than " +
               std::to_string(budget) + " thread instructions in all";
    report.findings.push_back(std::move(f));
  }
}

void add_spill_finding(LaunchReport& report, const DeviceModel& model,
                       const ptx::RegisterPressure& pressure) {
  // Under launch bounds ptxas finds ways to need less, and spills a few bytes at most: 28 to 92 of lab 5's
  // 5.2, where 186 to 210 are counted for 128. Told is what no thread can have.
  if (pressure.needed <= model.registers_per_thread) return;
  Finding f;
  f.kind = FindingKind::will_spill;
  f.kernel = report.kernel;
  f.at.where = report.registers.where;
  f.detail = "about " + std::to_string(pressure.needed) +
             " registers are live at once in any order, a thread can have " +
             std::to_string(model.registers_per_thread) +
             ": on a GPU the rest is spilled to local memory";
  report.findings.push_back(std::move(f));
}

/// An estimate never refuses a launch: ptxas may well need half of it. It is worth a note where
/// nothing tells ptxas how many threads there will be.
void add_register_findings(LaunchReport& report, const DeviceModel& model, const Kernel& k,
                           const ptx::Function& f, unsigned threads) {
  add_spill_finding(report, model, k.pressure);
  if (!k.pressure_known || k.pressure.spills || f.max_ntid[0] != 0 || f.max_nreg != 0 ||
      k.pressure.estimate > model.registers_per_thread ||
      count::registers_per_block(model, threads, k.pressure.estimate * 4 / 5) <=
          model.registers_per_multiprocessor)
    return;
  Finding finding;
  finding.kind = FindingKind::will_spill;
  finding.kernel = report.kernel;
  finding.at.where = report.registers.where;
  finding.detail = std::to_string(threads) + " threads of about " +
                   std::to_string(k.pressure.estimate) +
                   " registers, by a rough estimate, may be more than the " +
                   std::to_string(model.registers_per_multiprocessor) +
                   " registers of a multiprocessor: __launch_bounds__ tells the compiler how many "
                   "threads there will be";
  report.findings.push_back(std::move(finding));
}

LaunchReport empty_report(const KernelInfo& info, Dim3 grid, Dim3 block,
                          unsigned dynamic_shared_bytes) {
  LaunchReport report;
  report.kernel = info.name;
  report.mangled = info.mangled;
  report.grid = grid;
  report.block = block;
  report.static_shared_bytes = info.static_shared_bytes;
  report.dynamic_shared_bytes = dynamic_shared_bytes;
  report.local_bytes_per_thread = info.local_bytes_per_thread;
  return report;
}

}  // namespace

namespace {

/// A launch that does not come to its end, since an exception leaves it, has not changed memory.
struct Undo {
  memory::GlobalMemory& memory;
  bool needed = true;
  ~Undo() {
    if (!needed) return;
    memory.roll_back();
    memory.commit();
  }
};

}  // namespace

/// What only shows once all blocks have ended.
static void settle(const std::vector<std::unique_ptr<exec::Worker>>& workers, GridControl& control,
                   check::FindingLog& findings) {
  for (const auto& worker : workers) {
    control.add(worker->grid_control);
    findings.drop_by_other([&](const Finding& f, std::uint32_t other) {
      return f.cause == FindingCause::missing_fence && worker->order.raisers.contains(other);
    });
  }
}

LaunchReport Device::launch(ModuleId module, std::string_view mangled, Dim3 grid, Dim3 block,
                            unsigned dynamic_shared_bytes, std::span<const std::byte> args,
                            const LaunchOptions& options) {
  validate_launch(module, mangled, grid, block, dynamic_shared_bytes, args.size());
  LoadedModule& m = impl_->module(module);
  Kernel& k = impl_->kernel(module, mangled);
  const ptx::Function& f = m.ptx.functions[k.function];
  const Cluster cluster = shape_of(impl_->model, k.info.name, f, options, block, &grid);
  const exec::Program& program = program_for(m, k, cluster);
  LaunchReport report = empty_report(k.info, grid, block, dynamic_shared_bytes);
  if (!program.unsupported.empty()) return unsupported_report(report, program, m.ptx);
  const unsigned threads_per_block = block.x * block.y * block.z;
  const unsigned shared_bytes = dynamic_shared_bytes != 0
                                    ? program.dynamic_shared_offset + dynamic_shared_bytes
                                    : k.info.static_shared_bytes;
  report.registers =
      register_estimate(impl_->model, k.pressure, m.ptx, threads_per_block, shared_bytes);
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  const std::uint64_t bytes = block_bytes(k, threads_per_block) + shared_bytes + 1;
  unsigned hosts = host_threads_for(options, program, parallel_parts(options, cluster, grid),
                                    bytes * cluster.count);
  std::vector<std::unique_ptr<exec::Worker>> workers;
  const exec::Program* running = &program;
  const auto execute = [&](unsigned threads, bool exact) {
    return exec::run_launch(impl_->memory, threads, workers, [&](exec::LaunchRun& r) {
      r.program = running;
      r.memory = &impl_->memory;
      r.options = options;
      r.resident_blocks = resident_blocks_for(impl_->model, report.registers, bytes);
      r.exact = exact;
      set_up(r, report, cluster,
             {args.first(k.info.param_bytes), dynamic_shared_bytes, shared_bytes}, threads);
    });
  };
  Undo undo{impl_->memory};
  if (options.note_touched)
    for (Region* a : impl_->memory.live()) a->launch.keeps_readers = true;
  std::vector<Finding> unset;
  loaded::Unwritten unwritten;
  auto run = loaded::first_run(m, k, cluster.count > 1, options, running, workers, unset, unwritten,
                               [&] { return execute(hosts, false); });
  if (options.note_touched && options.checks.race)
    report.touched = exec::touched_bytes(workers, impl_->memory, program.global_granule);
  const bool clustered = cluster.count > 1 || program.uses_cluster;
  if (clustered && hosts > 1 && (run->stop || run->over_budget)) {
    // What the clusters beside it had done by then is chance: once more, in order.
    run = execute(hosts = 1, false);
  }

  // A race is only suspected so far, and a launch that stopped may have run other blocks than the
  // ones before: once more from the same memory, in order on one thread, where everything is
  // recorded exactly.
  const bool race =
      options.checks.race && (run->suspicious || exec::blocks_may_race(workers, impl_->memory));
  const bool over_budget = run->over_budget, stopped = run->stop || over_budget;
  if (over_budget) {
    impl_->memory.roll_back();
  } else if (race || (stopped && hosts > 1)) {
    run = execute(1, race);
  }

  exec::Collected all = exec::collect(workers, program, impl_->memory.live().size(),
                                      options.count && options.sample_accesses);
  settle(workers, report.grid_control, all.findings);
  report.printf_output = std::move(all.printed);
  report.completed = !run->stop && !run->over_budget;
  if (over_budget) {  // which blocks ran is chance
    all.counters = exec::make_counters(program, impl_->memory.live().size());
    report.printf_output.clear();
  }
  impl_->memory.commit();
  undo.needed = false;
  unwritten.keep_used(program, all.findings);
  if (options.count) exec::fold(*run, all.counters, report);
  report.findings = all.findings.report(options.max_findings_per_kind);
  loaded::add_once(std::move(unset), report.findings);
  if (over_budget) keep_budget_finding(report, program, blocks, options.instruction_budget);
  add_register_findings(report, impl_->model, k, f, threads_per_block);
  return report;
}

}  // namespace simgpu
