#include "common/simgpu/count/store_merging.hpp"

#include <algorithm>
#include <optional>

#include "common/simgpu/count/alignment.hpp"
#include "common/simgpu/count/math_code.hpp"
#include "common/simgpu/ptx/addresses.hpp"
#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::count {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using Kind = Operand::Kind;

constexpr std::uint32_t kNoGuard = UINT32_MAX;

/// Where a store goes: elements [first, first + count) of a window.
struct Store {
  std::uint32_t instruction = 0;
  ptx::Root root;
  std::int64_t window = 0;
  unsigned element = 0;  ///< bytes
  unsigned first = 0, count = 0;

  bool joins(const Store& other) const {
    return root == other.root && window == other.window && element == other.element &&
           count == other.count;
  }
};

/// Whether stores to `of` before and after it may not become one. Shared, local, global and parameter memory have nothing
/// to do with each other.
bool reaches(const Instruction& instruction, Space of) {
  const Space space = instruction.mod.space;
  const bool shared = of == Space::shared;
  switch (instruction.op) {
    case Opcode::ld:
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red: {
      const bool elsewhere =
          space == Space::global || space == Space::param || space == Space::constant ||
          (shared ? space == Space::local : space == Space::shared || space == Space::cluster);
      const bool orders = instruction.mod.ordering != ptx::Ordering::none &&
                          (shared || instruction.op != Opcode::ld);
      return !elsewhere || orders;
    }
    case Opcode::cp_async:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
      return true;
    case Opcode::cp_async_commit_group:
      return !shared;
    case Opcode::ldmatrix:
    case Opcode::stmatrix:
      return shared;
    case Opcode::wmma_load:
    case Opcode::wmma_store:
      return space != Space::global;
    default:
      return ptx::orders_memory(instruction.op);
  }
}

/// Divisions and roots that are rounded correctly: the machine code branches to what the approximation does not cover.
bool branches(const Instruction& instruction) {
  const ptx::Rounding rounding = instruction.mod.rounding;
  return (instruction.op == Opcode::div || instruction.op == Opcode::rcp ||
          instruction.op == Opcode::sqrt) &&
         (instruction.mod.type == ptx::Type::f32 || instruction.mod.type == ptx::Type::f64) &&
         rounding != ptx::Rounding::approx && rounding != ptx::Rounding::full;
}

class StoreMerger {
 public:
  /// `vectors`: of local memory; empty: each access is what PTX says.
  StoreMerger(const ptx::Module& module, const Function& function, Space space,
              const std::vector<Vector>& vectors)
      : module_(module),
        function_(function),
        space_(space),
        vectors_(vectors),
        alignment_(module, function),
        addresses_(function) {
    merged_.resize(function.body.size());
    for (std::uint32_t i = 0; i < merged_.size(); ++i) merged_[i].leader = i;
  }

  std::vector<MergedAccess> run() {
    for (const ptx::BasicBlock& block : ptx::build_control_flow(function_).blocks) {
      for (std::uint32_t i = block.begin; i < block.end; ++i) visit(i);
      flush();
    }
    return std::move(merged_);
  }

 private:
  void visit(std::uint32_t i) {
    const Instruction& instruction = function_.body[i];
    if (instruction.op == Opcode::st && instruction.mod.space == space_) {
      const Vector vector = vector_of(i);
      merged_[i] = {vector.leader, static_cast<std::uint8_t>(vector.element * vector.elements), 0};
      if (vector.elements == 0) return;
      const std::optional<Store> store = place_of(i);
      const bool again = store && std::any_of(run_.begin(), run_.end(), [&](const Store& other) {
                           return other.joins(*store) && other.first == store->first;
                         });
      if (!store || again || (!run_.empty() && !run_.front().joins(*store))) flush();
      if (store) run_.push_back(*store);
      return;
    }
    const bool parts = reaches(instruction, space_) && !stores_pass(module_, instruction);
    if (parts || branches(instruction)) flush();
    // A root that changes means another address from here on.
    ptx::for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
      if (is_write && !run_.empty() && !run_.front().root.is_symbol &&
          reg == run_.front().root.index)
        flush();
    });
  }

  Vector vector_of(std::uint32_t i) const {
    if (!vectors_.empty()) return vectors_[i];
    const ptx::Modifiers& mod = function_.body[i].mod;
    return {i, static_cast<std::uint8_t>(size_of(mod.type)),
            static_cast<std::uint8_t>(std::max<unsigned>(1, mod.vec)), 0, false};
  }

  /// Nothing, if the store merges with none.
  std::optional<Store> place_of(std::uint32_t i) const {
    const Instruction& instruction = function_.body[i];
    const Vector vector = vector_of(i);
    const unsigned element = vector.element, count = vector.elements;
    const Operand& memory = instruction.operands[0];
    if (instruction.guard != kNoGuard || instruction.mod.is_volatile ||
        instruction.mod.ordering != ptx::Ordering::none || element < 2 || count > 2 ||
        element * count > 8 || (memory.kind != Kind::address && memory.kind != Kind::symbol))
      return std::nullopt;
    const ptx::Address address = alignment_.placed(addresses_.find(memory));
    const Low low = alignment_.of(address.root);
    const auto [window, within] = in_window(address.offset + vector.shift + low.value, element);
    if (within % (element * count) != 0 || (1u << low.bits) < 2 * element * count)
      return std::nullopt;
    return Store{i, address.root, window, element, static_cast<unsigned>(within) / element, count};
  }

  void flush() {
    if (run_.size() > 1) {
      const unsigned element = run_.front().element, count = run_.front().count;
      const unsigned elements = static_cast<unsigned>(window_of(element)) / element;
      unsigned stored = 0;
      for (const Store& store : run_) stored |= ((1u << store.count) - 1) << store.first;
      const bool aligned = 1u << alignment_.of(run_.front().root).bits >= element * elements;
      if (aligned && stored == (1u << elements) - 1) {
        unite(0, elements);
      } else if (count == 1 && elements == 4) {
        for (unsigned half = 0; half < 4; half += 2)
          if ((stored >> half & 3u) == 3u) unite(half, 2);
      }
    }
    run_.clear();
  }

  /// Makes one store of those to the elements [first, first + count).
  void unite(unsigned first, unsigned count) {
    const Store* leader = nullptr;
    for (const Store& store : run_) {
      if (store.first < first || store.first >= first + count) continue;
      if (leader == nullptr) leader = &store;
      merged_[store.instruction] = {leader->instruction, 0, 0};
    }
    MergedAccess& lead = merged_[leader->instruction];
    lead.bytes = static_cast<std::uint8_t>(count * leader->element);
    lead.shift =
        static_cast<std::int16_t>((static_cast<int>(first) - static_cast<int>(leader->first)) *
                                  static_cast<int>(leader->element));
  }

  const ptx::Module& module_;
  const Function& function_;
  const Space space_;
  const std::vector<Vector>& vectors_;
  Alignment alignment_;
  ptx::Addresses addresses_;
  std::vector<MergedAccess> merged_;
  std::vector<Store> run_;  ///< all to one window, each element once
};

}  // namespace

std::vector<MergedAccess> merge_shared_stores(const ptx::Module& module, const Function& function) {
  return StoreMerger(module, function, Space::shared, {}).run();
}

std::vector<MergedAccess> merge_local_stores(const ptx::Module& module, const Function& function,
                                             const std::vector<Vector>& vectors) {
  return StoreMerger(module, function, Space::local, vectors).run();
}

}  // namespace simgpu::count
