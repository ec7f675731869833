// From an address to host memory, with every reason why not; and the findings that follow.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {
namespace {

using memory::Allocation;
using ptx::Space;

Target shared_target(BlockRun& run, std::uint64_t offset, unsigned bytes) {
  Target t;
  t.space = MemorySpace::shared;
  t.offset = offset;
  const std::uint64_t in = offset - memory::kSharedBase;
  if (offset < memory::kSharedBase || in > run.launch->shared_bytes ||
      bytes > run.launch->shared_bytes - in)
    t.fault = Target::Fault::bounds;
  else if (offset % bytes != 0)
    t.fault = Target::Fault::misaligned;
  else
    t.data = run.shared.data() + in;
  return t;
}

Target outside_of_cluster(std::uint64_t address) {
  Target t;
  t.space = MemorySpace::shared;
  t.offset = address;
  t.fault = Target::Fault::bounds;
  return t;
}

/// An address that must name the own block.
Target own_target(BlockRun& run, std::uint64_t address, unsigned bytes) {
  const std::uint64_t named = memory::rank_in(address);
  if (named == run.rank) return shared_target(run, memory::in_block(address), bytes);
  Target t = outside_of_cluster(address);
  if (named < run.launch->cluster_blocks) {
    t.offset = memory::in_block(address);
    t.fault = Target::Fault::other_block;
  }
  return t;
}

/// An address that may name another block of the cluster.
Target cluster_target(BlockRun& run, std::uint64_t address, unsigned bytes) {
  const std::uint64_t named = memory::rank_in(address);
  if (named == run.rank) return shared_target(run, memory::in_block(address), bytes);
  if (run.cluster == nullptr || named >= run.cluster->blocks.size())
    return outside_of_cluster(address);
  BlockRun& owner = *run.cluster->blocks[named];
  Target t = shared_target(owner, memory::in_block(address), bytes);
  t.peer = &owner;
  return t;
}

Target local_target(BlockRun& run, const Warp& w, unsigned lane, std::uint64_t offset,
                    unsigned bytes) {
  Target t;
  t.space = MemorySpace::local;
  t.offset = offset;
  const Frame& frame = w.frames[w.depth];
  const std::uint64_t size = frame.local_base + frame.code->local_bytes;
  if (offset > size || bytes > size - offset) {
    t.fault = Target::Fault::bounds;
  } else if (offset % bytes != 0) {
    t.fault = Target::Fault::misaligned;
  } else {
    const std::size_t at = (std::size_t{w.index} * kLanes + lane) * run.local_capacity + offset;
    t.data = run.local.data() + at;
    t.initialised = run.local_initialised.data() + at;
  }
  return t;
}

Target global_target(const BlockRun& run, std::uint64_t address, unsigned bytes, bool write) {
  Target t;
  if (address < memory::kSlotBytes) {
    t.fault = Target::Fault::null;
    return t;
  }
  const memory::GlobalMemory& m = *run.launch->memory;
  Allocation* a = m.owner(address);
  if (a == nullptr) {
    t.allocation = m.nearest(address);
    // Device addresses are handed out from below: what lies beyond all of them and in user space
    // comes from a host.
    t.fault = t.allocation == nullptr && m.never_used(address) && address >> 48 == 0
                  ? Target::Fault::host
                  : Target::Fault::bounds;
    if (t.allocation != nullptr) t.offset = address - t.allocation->base;
    return t;
  }
  t.allocation = a;
  t.offset = address - a->base;
  if (a->constant) t.space = MemorySpace::constant;
  if (!a->live())
    t.fault = Target::Fault::freed;
  else if (t.offset > a->size || bytes > a->size - t.offset)
    t.fault = Target::Fault::bounds;
  else if (address % bytes != 0)
    t.fault = Target::Fault::misaligned;
  else if (write && (a->read_only || a->constant))
    t.fault = Target::Fault::read_only;
  else if (write && a->lent != nullptr && !a->is_lent(t.offset, bytes))
    t.fault = Target::Fault::not_lent;
  if (t.fault == Target::Fault::none) {
    t.data = a->data.get() + t.offset;
    if (!a->fully_initialised) t.initialised = a->initialised.get() + t.offset;
  }
  return t;
}

Target param_target(BlockRun& run, std::uint64_t offset, unsigned bytes, bool write) {
  Target t;
  t.space = MemorySpace::param;
  t.offset = offset;
  const auto args = run.launch->args;
  if (offset > args.size() || bytes > args.size() - offset)
    t.fault = Target::Fault::bounds;
  else if (write)
    t.fault = Target::Fault::read_only;
  else
    t.data = const_cast<std::byte*>(args.data()) + offset;  // only read: see above
  return t;
}

/// "16 bytes past the end of B (16384 bytes)"
std::string place(const Access& a) {
  const std::string object =
      (a.object.empty() ? std::string(to_string(a.space)) + " memory" : a.object) + " (" +
      std::to_string(a.object_bytes) + " bytes)";
  const auto offset = static_cast<std::uint64_t>(a.offset);
  if (a.offset < 0) return std::to_string(0 - offset) + " bytes before the start of " + object;
  if (offset >= a.object_bytes)
    return (offset == a.object_bytes ? "directly"
                                     : std::to_string(offset - a.object_bytes) + " bytes") +
           std::string(" past the end of ") + object;
  if (offset + a.bytes > a.object_bytes)
    return "across the end of " + object + ", from byte " + std::to_string(offset);
  return "at byte " + std::to_string(offset) + " of " + object;
}

/// ", in Bs, which lies beside it"
std::string neighbour_text(const Target& t, const Access& at) {
  if (at.object == t.array->name) return {};
  return ", in " + at.object + ", which lies beside it";
}

LaneAccess lane_access(const Warp& w, unsigned lane, const Op& op, AccessType type, unsigned bytes,
                       std::uint64_t address, MemorySpace space) {
  return {op.pc, w.index, lane, type, space, bytes, address};
}

}  // namespace

Target resolve(BlockRun& run, const Warp& w, unsigned lane, Space space, std::uint64_t address,
               unsigned bytes, bool write) {
  switch (space) {
    case Space::shared:
      return own_target(run, address, bytes);
    case Space::cluster:
      return cluster_target(run, address, bytes);
    case Space::local:
      return local_target(run, w, lane, address, bytes);
    case Space::param:
      return param_target(run, address, bytes, write);
    case Space::generic: {
      const std::uint64_t window = address & ~(memory::kSlotBytes - 1);
      if (window == memory::kSharedWindow)
        return cluster_target(run, memory::offset_of(address), bytes);
      if (window == memory::kLocalWindow)
        return local_target(run, w, lane, memory::offset_of(address), bytes);
      if (window == memory::kParamWindow)
        return param_target(run, memory::offset_of(address), bytes, write);
      return global_target(run, address, bytes, write);
    }
    default:
      return global_target(run, address, bytes, write);
  }
}

Target resolve(BlockRun& run, const Warp& w, unsigned lane, const Op& op, Space space,
               std::uint64_t address, unsigned bytes, bool write) {
  Target t = resolve(run, w, lane, space, address, bytes, write);
  const Program& p = *run.launch->program;
  const std::uint32_t number = p.instructions[op.pc].array;
  if (number == UINT32_MAX || t.space != MemorySpace::shared || t.fault != Target::Fault::none)
    return t;
  const SharedArray& array = p.shared[number];
  const std::uint64_t end = array.variable == UINT32_MAX
                                ? memory::kSharedBase + run.launch->shared_bytes
                                : std::uint64_t{array.offset} + array.bytes;
  if (t.offset >= array.offset && t.offset + bytes <= end) return t;
  t.fault = Target::Fault::bounds;
  t.array = &array;
  return t;
}

void prepare_write(LaunchRun& launch, memory::Allocation& a) {
  memory::Allocation::LaunchState& s = a.launch;
  if (s.saved.load(std::memory_order_acquire)) return;
  std::lock_guard lock(launch.mutex);
  if (s.saved.load(std::memory_order_relaxed)) return;
  s.saved_data = std::make_unique_for_overwrite<std::byte[]>(a.size);
  std::memcpy(s.saved_data.get(), a.data.get(), a.size);
  if (!a.fully_initialised) {
    s.saved_initialised = std::make_unique_for_overwrite<std::uint8_t[]>(a.size);
    std::memcpy(s.saved_initialised.get(), a.initialised.get(), a.size);
  }
  if (a.lent != nullptr) {
    s.saved_lent = std::make_unique_for_overwrite<std::uint8_t[]>(a.grains());
    std::memcpy(s.saved_lent.get(), a.lent.get(), a.grains());
  }
  s.written.store(true, std::memory_order_relaxed);
  s.saved.store(true, std::memory_order_release);
}

// -----------------------------------------------------------------------------------------
// descriptions

Dim3 thread_index(const Dim3& block, unsigned thread) {
  return {thread % block.x, thread / block.x % block.y, thread / (block.x * block.y)};
}

Dim3 block_index(const Dim3& grid, std::uint64_t number) {
  return {static_cast<std::uint32_t>(number % grid.x),
          static_cast<std::uint32_t>(number / grid.x % grid.y),
          static_cast<std::uint32_t>(number / grid.x / grid.y)};
}

std::string line_text(const Program& p, std::uint32_t pc) {
  const SourceLine at = p.line_of(pc);
  if (at.line == 0) return "an unknown line";
  const std::size_t slash = at.file.find_last_of('/');
  return (slash == std::string::npos ? at.file : at.file.substr(slash + 1)) + ":" +
         std::to_string(at.line);
}

namespace {

using ptx::Opcode;

/// Who acts by an instruction that is not a single thread's.
constexpr std::pair<Opcode, Actor> of_several[] = {
    {Opcode::bar_sync, Actor::block},
    {Opcode::bar_arrive, Actor::block},
    {Opcode::bar_red, Actor::block},
    {Opcode::bar_warp_sync, Actor::warp},
    {Opcode::shfl, Actor::warp},
    {Opcode::vote, Actor::warp},
    {Opcode::match, Actor::warp},
    {Opcode::ldmatrix, Actor::warp},
    {Opcode::mma, Actor::warp},
    {Opcode::wmma_load, Actor::warp},
    {Opcode::wmma_store, Actor::warp},
    {Opcode::wmma_mma, Actor::warp},
    {Opcode::cp_async, Actor::async_copy},
    {Opcode::mbarrier_init, Actor::engine},
    {Opcode::mbarrier_inval, Actor::engine},
    {Opcode::mbarrier_arrive, Actor::engine},
    {Opcode::mbarrier_arrive_expect, Actor::engine},
    {Opcode::mbarrier_drop, Actor::engine},
    {Opcode::mbarrier_drop_expect, Actor::engine},
    {Opcode::mbarrier_expect, Actor::engine},
    {Opcode::mbarrier_complete, Actor::engine},
    {Opcode::mbarrier_pending, Actor::engine},
    {Opcode::mbarrier_wait, Actor::engine},
    {Opcode::mbarrier_wait_parity, Actor::engine},
    {Opcode::bulk_load, Actor::engine},
    {Opcode::bulk_store, Actor::engine},
    {Opcode::tensor_load, Actor::engine},
    {Opcode::tensor_store, Actor::engine},
    {Opcode::tensor_reduce, Actor::engine},
    {Opcode::bulk_cluster, Actor::engine},
    {Opcode::st_async, Actor::engine},
    {Opcode::red_async, Actor::engine},
    {Opcode::reduce_cluster, Actor::engine},
    {Opcode::reduce_global, Actor::engine},
    {Opcode::cluster_arrive, Actor::block},
    {Opcode::cluster_wait, Actor::block},
    {Opcode::wgmma, Actor::wgmma},
    {Opcode::wgmma_fence, Actor::wgmma},
    {Opcode::wgmma_commit, Actor::wgmma},
    {Opcode::wgmma_wait, Actor::wgmma},
};

Actor actor_of(Opcode op) {
  const auto* const known = std::find_if(std::begin(of_several), std::end(of_several),
                                         [op](const auto& one) { return one.first == op; });
  return known == std::end(of_several) ? Actor::thread : known->second;
}

/// See Access::number_bytes.
unsigned number_bytes(const ptx::Instruction& i) {
  using ptx::Opcode;
  if ((i.op != Opcode::ld && i.op != Opcode::st) || i.mod.vec != 1) return 0;
  return i.mod.type == ptx::Type::f32 ? 4u : i.mod.type == ptx::Type::f64 ? 8u : 0u;
}

}  // namespace

Access describe_thread(const LaunchRun& l, std::uint64_t block, unsigned thread,
                       const LaneAccess& a) {
  Access out;
  out.where = l.program->line_of(a.pc);
  if (a.pc < l.program->instructions.size() && l.program->instructions[a.pc].ptx != nullptr) {
    const ptx::Instruction& instruction = *l.program->instructions[a.pc].ptx;
    out.actor = actor_of(instruction.op);
    out.number_bytes = number_bytes(instruction);
  }
  out.block = block_index(l.grid, block);
  out.thread = thread_index(l.block, thread);
  out.type = a.type;
  out.space = a.space;
  out.bytes = a.bytes;
  out.address = a.address;
  if (a.bytes == 0) return out;  // not an access of memory
  switch (a.space) {
    case MemorySpace::global:
    case MemorySpace::constant: {
      const memory::Allocation* owner = l.memory->nearest(a.address);
      if (owner != nullptr) {
        out.object = owner->label;
        out.offset = static_cast<std::int64_t>(a.address - owner->base);
        out.object_bytes = owner->size;
      }
      break;
    }
    case MemorySpace::shared: {
      // The array that holds the address, else the last one that starts before it.
      const SharedArray* best = nullptr;
      for (const SharedArray& s : l.program->shared)
        if (best == nullptr ||
            (s.offset <= a.address && (best->offset > a.address || s.offset >= best->offset)))
          best = &s;
      if (best != nullptr) {
        out.object = best->name;
        out.offset = static_cast<std::int64_t>(a.address - best->offset);
        out.object_bytes = best->variable == UINT32_MAX ? l.dynamic_shared : best->bytes;
      } else {
        out.offset = static_cast<std::int64_t>(a.address - memory::kSharedBase);
        out.object_bytes = l.shared_bytes;
      }
      break;
    }
    case MemorySpace::local:
      out.offset = static_cast<std::int64_t>(a.address);
      out.object_bytes = l.program->functions[0].local_bytes;
      break;
    case MemorySpace::param:
      out.offset = static_cast<std::int64_t>(a.address);
      out.object_bytes = l.args.size();
      break;
  }
  return out;
}

Access describe(const BlockRun& run, const LaneAccess& a) {
  return describe_thread(*run.launch, run.number, a.warp * kLanes + a.lane, a);
}

void add_finding(BlockRun& run, FindingKind kind, std::uint32_t pc, std::uint32_t other_pc,
                 Access at, std::optional<Access> other, std::string detail, FindingCause cause) {
  run.worker->findings.add(kind, pc, other_pc, run.number, [&] {
    Finding f;
    f.cause = cause;
    f.kernel = run.launch->kernel_name;
    f.at = std::move(at);
    f.other = std::move(other);
    f.detail = std::move(detail);
    return f;
  });
}

std::string other_block_text(const BlockRun& run, std::uint64_t address) {
  return "at an address of block " + std::to_string(memory::rank_in(address)) +
         " of the cluster, by an instruction that reaches only the shared memory of its own block, " +
         std::to_string(run.rank) +
         ": a shared address carries the rank of its block from bit 24 on";
}

namespace {

/// Where in the heap of malloc() a store went wrong, and whether that was the memory of a block that has been freed.
std::pair<std::string, bool> heap_text(const Allocation& a, std::uint64_t offset, unsigned bytes) {
  std::uint64_t header = offset / memory::kHeapGrain;
  while (header > 0 && a.lent[header] != memory::kHeapHeader) --header;
  if (a.lent[header] != memory::kHeapHeader)
    return {"in the heap of malloc() and new, of which nobody was given anything", false};
  std::uint64_t size = 0;
  for (std::uint64_t grain = header + 1; grain < a.grains() && a.lent[grain] <= memory::kHeapGrain;
       ++grain) {
    size += a.lent[grain];
    if (a.lent[grain] < memory::kHeapGrain) break;
  }
  const std::uint64_t first = (header + 1) * memory::kHeapGrain;
  if (size == 0)
    return {"at byte " + std::to_string(offset - first) +
                " of what malloc() or new gave and free() or delete took back",
            true};
  const std::uint64_t within = offset - first;
  return {
      "at byte " + std::to_string(within) + " of what malloc() or new gave (" +
          std::to_string(size) + " bytes), " +
          (within < size ? std::to_string(within + bytes - size) + " too many" : "behind its end"),
      false};
}

FindingKind kind_of(Target::Fault fault) {
  using F = Target::Fault;
  switch (fault) {
    case F::null:
      return FindingKind::null_pointer;
    case F::host:
      return FindingKind::host_pointer;
    case F::freed:
      return FindingKind::use_after_free;
    case F::misaligned:
      return FindingKind::misaligned;
    case F::read_only:
      return FindingKind::write_to_constant;
    default:
      return FindingKind::out_of_bounds;
  }
}

}  // namespace

void report_fault(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                  unsigned bytes, std::uint64_t address, const Target& t) {
  if (!run.launch->options.checks.memory) return;
  if (run.faulted_at == 0) run.faulted_at = run.instructions + 1;
  using F = Target::Fault;
  const auto [in_heap, freed] = t.fault == F::not_lent ? heap_text(*t.allocation, t.offset, bytes)
                                                       : std::pair{std::string(), false};
  const FindingKind kind = freed ? FindingKind::use_after_free : kind_of(t.fault);
  run.worker->findings.add(kind, op.pc, UINT32_MAX, run.number, [&, &in_heap = in_heap] {
    const bool in_space = t.space == MemorySpace::shared || t.space == MemorySpace::local ||
                          t.space == MemorySpace::param;
    Finding f;
    f.kernel = run.launch->kernel_name;
    f.at = describe(run,
                    lane_access(w, lane, op, type, bytes, in_space ? t.offset : address, t.space));
    const std::string beside = t.array != nullptr ? neighbour_text(t, f.at) : std::string();
    if (t.array != nullptr) {
      f.at.object = t.array->name;
      f.at.offset = static_cast<std::int64_t>(t.offset) - t.array->offset;
      f.at.object_bytes =
          t.array->variable == UINT32_MAX ? run.launch->dynamic_shared : t.array->bytes;
    }
    if (t.space == MemorySpace::local)
      f.at.object_bytes = w.frames[w.depth].local_base + w.frames[w.depth].code->local_bytes;
    const std::string start =
        std::string(to_string(type)) + " " + std::to_string(bytes) + " bytes ";
    char hex[32];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(address));
    if (!in_heap.empty()) {
      f.detail = start + in_heap;
      return f;
    }
    switch (kind) {
      case FindingKind::null_pointer:
        f.detail = start + "through a null pointer (address " + hex + ")";
        break;
      case FindingKind::host_pointer:
        f.detail =
            start + "at " + hex + ", which is no device address: a host pointer given to a kernel?";
        break;
      case FindingKind::use_after_free:
        f.detail = start + place(f.at) + ", which was freed";
        break;
      case FindingKind::misaligned: {
        f.detail = std::to_string(bytes) + "-byte " +
                   (type == AccessType::store ? "store to" : "access to") + " an address that is " +
                   std::to_string(address % bytes) + " mod " + std::to_string(bytes) + ": " +
                   place(f.at);
        break;
      }
      case FindingKind::write_to_constant:
        f.detail = start + place(f.at) + ", which the kernel must not change";
        break;
      default:
        if (t.fault == F::other_block) {
          f.detail = start + other_block_text(run, address);
          break;
        }
        f.detail = f.at.object_bytes == 0 && f.at.object.empty()
                       ? start + "at " + hex + ", where nothing is allocated"
                       : start + place(f.at);
        f.detail += beside;
        if (const ptx::Instruction* const i = run.launch->program->instructions[op.pc].ptx;
            i != nullptr && i->op == ptx::Opcode::ldmatrix)
          f.cause = FindingCause::named_row;
    }
    return f;
  });
}

namespace {

/// What of the object of `f.at` had been written by then, in pieces of `step` bytes.
template <typename WasWritten>
void add_written(Finding& f, std::uint64_t step, WasWritten was_written) {
  constexpr std::size_t kMostStretches = 4;
  constexpr std::uint64_t kMostBytes = 1u << 22;  // of an array that a text can say something about
  if (f.at.object_bytes > kMostBytes) return;
  for (std::uint64_t byte = 0; byte < f.at.object_bytes; byte += step) {
    if (!was_written(byte)) continue;
    const std::uint64_t end = std::min(f.at.object_bytes, byte + step);
    f.written_bytes += end - byte;
    if (!f.written.empty() && f.written.back().end == byte)
      f.written.back().end = end;
    else if (f.written.size() < kMostStretches)
      f.written.push_back({byte, end});
  }
}

}  // namespace

void add_written_shared(const BlockRun& owner, std::uint64_t place, Finding& f) {
  const auto& written = owner.shadow.written;
  const unsigned shift = owner.shadow.shift;
  const auto start = static_cast<std::uint64_t>(static_cast<std::int64_t>(place) - f.at.offset);
  add_written(f, std::uint64_t{1} << shift, [&](std::uint64_t byte) {
    const std::uint64_t granule = (start + byte) >> shift;
    return granule < written.size() && written[granule] != 0;
  });
}

void add_unlike(const LaunchRun& l, Finding& f) {
  const memory::Allocation* const owner = l.memory->containing(f.at.address, f.at.bytes);
  if (f.at.space != MemorySpace::global || f.at.bytes == 0 || owner == nullptr) return;
  const std::byte* const looked_at = owner->data.get() + f.at.offset;
  add_written(f, f.at.bytes, [&](std::uint64_t byte) {
    return byte + f.at.bytes <= owner->size &&
           std::memcmp(owner->data.get() + byte, looked_at, f.at.bytes) != 0;
  });
}

void report_uninitialised(BlockRun& run, const Warp& w, unsigned lane, const Op& op, unsigned bytes,
                          std::uint64_t address, const Target& t) {
  run.worker->findings.add(FindingKind::uninitialised_read, op.pc, UINT32_MAX, run.number, [&] {
    const bool in_space = t.space == MemorySpace::shared || t.space == MemorySpace::local ||
                          t.space == MemorySpace::param;
    Finding f;
    f.kernel = run.launch->kernel_name;
    f.at = describe(run, lane_access(w, lane, op, AccessType::load, bytes,
                                     in_space ? t.offset : address, t.space));
    f.detail =
        "reads " + std::to_string(bytes) + " bytes " + place(f.at) + " that nothing has written";
    if (t.space == MemorySpace::global && t.allocation != nullptr &&
        t.allocation->label.find(memory::kHeapName) != std::string::npos)
      f.detail += " since malloc() or new gave them, or after free() or delete";
    if (t.space == MemorySpace::shared && f.at.offset >= 0)
      add_written_shared(t.peer != nullptr ? *t.peer : run, t.offset - memory::kSharedBase, f);
    if (t.space == MemorySpace::global && t.allocation != nullptr && t.initialised != nullptr)
      add_written(f, 1, [&](std::uint64_t byte) { return t.allocation->initialised[byte] != 0; });
    return f;
  });
}

bool runs_on_after_fault(BlockRun& run) {
  constexpr std::uint64_t kRest = std::uint64_t{1} << 26;
  if (run.faulted_at == 0 || run.instructions < run.faulted_at + kRest) return false;
  abort_launch(run);
  return true;
}

}  // namespace simgpu::exec
