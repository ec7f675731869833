#include "common/simgpu/count/store_merging.hpp"

#include <algorithm>
#include <optional>

#include "common/simgpu/count/alignment.hpp"
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

/// Whether stores before and after it may not become one. Local and parameter memory have nothing to do with shared.
bool reaches_shared(const Instruction& instruction) {
  const Space space = instruction.mod.space;
  switch (instruction.op) {
    case Opcode::ld:
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
      return (space != Space::global && space != Space::local && space != Space::param &&
              space != Space::constant) ||
             instruction.mod.ordering != ptx::Ordering::none;
    case Opcode::cp_async:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
    case Opcode::ldmatrix:
    case Opcode::stmatrix:
      return true;
    case Opcode::wmma_load:
    case Opcode::wmma_store:
      return space != Space::global;
    default:
      return ptx::orders_memory(instruction.op);
  }
}

class StoreMerger {
 public:
  StoreMerger(const ptx::Module& module, const Function& function)
      : function_(function), alignment_(module, function), addresses_(function) {
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
    if (instruction.op == Opcode::st && instruction.mod.space == Space::shared) {
      const unsigned bytes =
          size_of(instruction.mod.type) * std::max<unsigned>(1, instruction.mod.vec);
      merged_[i].bytes = static_cast<std::uint8_t>(bytes);
      const std::optional<Store> store = place_of(i);
      const bool again = store && std::any_of(run_.begin(), run_.end(), [&](const Store& other) {
                           return other.joins(*store) && other.first == store->first;
                         });
      if (!store || again || (!run_.empty() && !run_.front().joins(*store))) flush();
      if (store) run_.push_back(*store);
      return;
    }
    if (reaches_shared(instruction)) flush();
    // A root that changes means another address from here on.
    ptx::for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
      if (is_write && !run_.empty() && !run_.front().root.is_symbol &&
          reg == run_.front().root.index)
        flush();
    });
  }

  /// Nothing, if the store merges with none.
  std::optional<Store> place_of(std::uint32_t i) const {
    const Instruction& instruction = function_.body[i];
    const unsigned element = size_of(instruction.mod.type),
                   count = std::max<unsigned>(1, instruction.mod.vec);
    const Operand& memory = instruction.operands[0];
    if (instruction.guard != kNoGuard || instruction.mod.is_volatile ||
        instruction.mod.ordering != ptx::Ordering::none || element < 2 || count > 2 ||
        element * count > 8 || (memory.kind != Kind::address && memory.kind != Kind::symbol))
      return std::nullopt;
    const ptx::Address address = addresses_.find(memory);
    const Low low = alignment_.of(address.root);
    const auto [window, within] = in_window(address.offset + low.value, element);
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

  const Function& function_;
  Alignment alignment_;
  ptx::Addresses addresses_;
  std::vector<MergedAccess> merged_;
  std::vector<Store> run_;  ///< all to one window, each element once
};

}  // namespace

std::vector<MergedAccess> merge_shared_stores(const ptx::Module& module, const Function& function) {
  return StoreMerger(module, function).run();
}

}  // namespace simgpu::count
