#include "common/simgpu/exec/sharing.hpp"

#include <algorithm>
#include <bit>

namespace simgpu::exec {

bool blocks_may_race(const std::vector<std::unique_ptr<Worker>>& workers,
                     const memory::GlobalMemory& memory) {
  for (const memory::Allocation* a : memory.live()) {
    if (a->launch.atomics && (a->launch.read || a->launch.stored)) return true;
    for (std::size_t j = 1; j < workers.size(); ++j)
      for (std::size_t i = 0; i < j; ++i) {
        const check::GlobalShadow *one = workers[i]->global_shadows[a->live_index].get(),
                                  *other = workers[j]->global_shadows[a->live_index].get();
        if (one != nullptr && other != nullptr && check::GlobalShadow::conflict(*one, *other))
          return true;
      }
  }
  return false;
}

bool missed_readers(memory::GlobalMemory& memory, bool all) {
  bool missed = false;
  for (const memory::Allocation* a : memory.live())
    missed |= a->launch.read && a->launch.stored && !a->launch.keeps_readers;
  for (memory::Allocation* a : memory.live())
    if (missed && (all || (a->launch.read && a->launch.stored))) a->launch.keeps_readers = true;
  return missed;
}

ExactShadows exact_shadows(const Program& program, const memory::GlobalMemory& memory) {
  ExactShadows shadows(memory.live().size());
  const auto shift = static_cast<unsigned>(std::countr_zero(program.global_granule));
  for (const memory::Allocation* a : memory.live())
    if (a->launch.stored || a->launch.atomics)
      shadows[a->live_index] = std::make_unique<check::ExactShadow>(a->size, shift);
  return shadows;
}

}  // namespace simgpu::exec
