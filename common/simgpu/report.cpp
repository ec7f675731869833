// Names of the enumerations of report.hpp, and sums of counts.
#include "common/simgpu/report.hpp"

namespace simgpu {

std::string_view to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds:
      return "out-of-bounds";
    case FindingKind::misaligned:
      return "misaligned access";
    case FindingKind::use_after_free:
      return "use after free";
    case FindingKind::null_pointer:
      return "null pointer";
    case FindingKind::host_pointer:
      return "host pointer";
    case FindingKind::write_to_constant:
      return "write to read-only memory";
    case FindingKind::uninitialised_read:
      return "uninitialised read";
    case FindingKind::shared_race:
      return "shared-memory race";
    case FindingKind::global_race:
      return "global-memory race";
    case FindingKind::proxy_fence_missing:
      return "missing fence between proxies";
    case FindingKind::swizzle_mismatch:
      return "tile read with another swizzle";
    case FindingKind::async_not_waited:
      return "read of an asynchronous copy that was not waited for";
    case FindingKind::product_registers:
      return "registers of wgmma touched too early";
    case FindingKind::divergent_barrier:
      return "divergent barrier";
    case FindingKind::exited_before_barrier:
      return "exit before a barrier";
    case FindingKind::mismatched_barrier:
      return "mismatched barriers";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::budget_exceeded:
      return "instruction budget exceeded";
    case FindingKind::unsupported:
      return "unsupported instruction";
    case FindingKind::trap:
      return "trap";
    case FindingKind::assertion:
      return "assertion failed";
    case FindingKind::stack_overflow:
      return "stack overflow";
    case FindingKind::division_by_zero:
      return "division by zero";
    case FindingKind::will_spill:
      return "registers will spill";
  }
  return "unknown finding";
}

std::string_view to_string(MemorySpace space) {
  switch (space) {
    case MemorySpace::global:
      return "global";
    case MemorySpace::shared:
      return "shared";
    case MemorySpace::local:
      return "local";
    case MemorySpace::constant:
      return "constant";
    case MemorySpace::param:
      return "parameter";
  }
  return "device";
}

std::string_view to_string(AccessType type) {
  switch (type) {
    case AccessType::load:
      return "reads";
    case AccessType::store:
      return "writes";
    case AccessType::atomic:
      return "updates";
  }
  return "uses";
}

std::string_view to_string(InstructionClass c) {
  switch (c) {
    case InstructionClass::fp32:
      return "fp32";
    case InstructionClass::fp64:
      return "fp64";
    case InstructionClass::integer:
      return "integer";
    case InstructionClass::logic:
      return "logic";
    case InstructionClass::compare:
      return "compare";
    case InstructionClass::convert:
      return "convert";
    case InstructionClass::move:
      return "move";
    case InstructionClass::control:
      return "control";
    case InstructionClass::memory_global:
      return "global memory";
    case InstructionClass::memory_shared:
      return "shared memory";
    case InstructionClass::memory_local:
      return "local memory";
    case InstructionClass::memory_other:
      return "other memory";
    case InstructionClass::synchronisation:
      return "synchronisation";
    case InstructionClass::tensor:
      return "tensor";
    case InstructionClass::other:
      return "other";
    case InstructionClass::count_:
      break;
  }
  return "unknown class";
}

GlobalCounts& GlobalCounts::operator+=(const GlobalCounts& o) {
  requests += o.requests;
  sectors += o.sectors;
  ideal_sectors += o.ideal_sectors;
  bytes += o.bytes;
  return *this;
}

SharedCounts& SharedCounts::operator+=(const SharedCounts& o) {
  requests += o.requests;
  wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts;
  raw_requests += o.raw_requests;
  raw_wavefronts += o.raw_wavefronts;
  raw_ideal_wavefronts += o.raw_ideal_wavefronts;
  bytes += o.bytes;
  return *this;
}

EarlyWait& EarlyWait::operator+=(const EarlyWait& o) {
  bytes += o.bytes;
  under_way += o.under_way;
  stages += o.stages;
  return *this;
}

Counts& Counts::operator+=(const Counts& o) {
  global_load += o.global_load;
  global_store += o.global_store;
  global_atomic += o.global_atomic;
  shared_load += o.shared_load;
  shared_store += o.shared_store;
  shared_atomic += o.shared_atomic;
  async_copy += o.async_copy;
  bulk_load += o.bulk_load;
  bulk_store += o.bulk_store;
  async_store += o.async_store;
  matrix_load += o.matrix_load;
  matrix_store += o.matrix_store;
  async_bytes_idle += o.async_bytes_idle;
  wgmma_alone += o.wgmma_alone;
  wgmma_groups += o.wgmma_groups;
  async_early += o.async_early;
  cluster_load_requests += o.cluster_load_requests;
  cluster_store_requests += o.cluster_store_requests;
  cluster_atomic_requests += o.cluster_atomic_requests;
  local_load_requests += o.local_load_requests;
  local_store_requests += o.local_store_requests;
  printed_store_requests += o.printed_store_requests;
  constant_words += o.constant_words;
  warp_instructions += o.warp_instructions;
  thread_instructions += o.thread_instructions;
  for (std::size_t k = 0; k < thread_instructions_by_class.size(); ++k)
    thread_instructions_by_class[k] += o.thread_instructions_by_class[k];
  fma_f32 += o.fma_f32;
  fma_f64 += o.fma_f64;
  fma_f16 += o.fma_f16;
  mad_int += o.mad_int;
  mul_f32 += o.mul_f32;
  mul_f64 += o.mul_f64;
  products_int += o.products_int;
  barriers += o.barriers;
  block_barriers += o.block_barriers;
  for (const auto& [type, n] : o.tensor_ops) tensor_ops[type] += n;
  return *this;
}

}  // namespace simgpu
