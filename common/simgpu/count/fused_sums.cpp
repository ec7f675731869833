#include "common/simgpu/count/fused_sums.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/simgpu/ptx/addresses.hpp"
#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::count {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using Kind = Operand::Kind;

constexpr std::uint32_t kNone = UINT32_MAX;
/// The text may be hostile: what would take longer than this to find out counts as it is written.
constexpr std::uint32_t kMostUses = 256, kMostBlocks = 256, kMostDistance = 2048;

/// Of floats, and without a rounding of its own, which is what __fmul_rn asks for.
bool may_be_joined(const Instruction& instruction) {
  return (instruction.mod.type == ptx::Type::f32 || instruction.mod.type == ptx::Type::f64) &&
         instruction.mod.rounding == ptx::Rounding::none && instruction.guard == kNone;
}
bool is_sum(const Instruction& instruction) {
  return (instruction.op == Opcode::add || instruction.op == Opcode::sub) &&
         may_be_joined(instruction);
}
bool is_register(const Operand& operand, std::uint32_t reg) {
  return operand.kind == Kind::reg && operand.index == reg;
}
bool is_same(const Operand& a, const Operand& b) {
  return a.kind == b.kind && (a.kind == Kind::reg   ? a.index == b.index
                              : a.kind == Kind::imm ? a.bits == b.bits
                                                    : false);
}

/// What is known of a product's uses.
struct Product {
  std::vector<std::uint32_t> sums;   ///< that could take it in
  std::vector<std::uint32_t> twins;  ///< multiply-adds of the same factors
  bool other = false;                ///< something needs the product itself
};

class Fusions {
 public:
  explicit Fusions(const ptx::Function& function)
      : function_(function),
        definition_(ptx::only_definitions(function)),
        found_(function.body.size(), Fusion::as_written) {}

  std::vector<Fusion> result() {
    const auto is_product = [](const Instruction& i) {
      return i.op == Opcode::mul && may_be_joined(i) && i.operands.size() == 3;
    };
    if (std::none_of(function_.body.begin(), function_.body.end(), is_product)) return found_;
    flow_ = ptx::build_control_flow(function_);
    list_uses();
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      const Instruction& product = function_.body[i];
      if (!is_product(product) || product.operands[0].kind != Kind::reg ||
          definition_[product.operands[0].index] != i)
        continue;
      decide(i);
    }
    return found_;
  }

 private:
  /// By register: the instructions that read it, each once.
  void list_uses() {
    uses_.resize(function_.registers.size());
    for (std::uint32_t i = 0; i < function_.body.size(); ++i)
      ptx::for_each_register(function_, function_.body[i], [&](std::uint32_t reg, bool is_write) {
        if (!is_write && (uses_[reg].empty() || uses_[reg].back() != i)) uses_[reg].push_back(i);
      });
  }

  void decide(std::uint32_t at) {
    const Product p = uses_of(at);
    if (p.sums.empty() && p.twins.empty()) return;
    if (!p.other && goes_into_sums(at, p)) {
      for (const std::uint32_t sum : p.sums) found_[sum] = Fusion::joined;
      found_[at] = Fusion::taken_in;
    } else {
      for (const std::uint32_t twin : p.twins) found_[twin] = Fusion::apart;
    }
  }

  Product uses_of(std::uint32_t at) const {
    const Instruction& product = function_.body[at];
    const std::uint32_t reg = product.operands[0].index;
    Product p;
    for (const std::uint32_t use : uses_[reg]) {
      const Instruction& sum = function_.body[use];
      const bool joins = is_sum(sum) && sum.mod.type == product.mod.type &&
                         is_register(sum.operands[1], reg) != is_register(sum.operands[2], reg) &&
                         found_[use] == Fusion::as_written;
      if (joins)
        p.sums.push_back(use);
      else
        p.other = true;
    }
    const Operand &a = product.operands[1], &b = product.operands[2];
    const Operand& listed = a.kind == Kind::reg ? a : b;
    if (listed.kind != Kind::reg || uses_[listed.index].size() > kMostUses) return p;
    for (const std::uint32_t use : uses_[listed.index]) {
      const Instruction& fma = function_.body[use];
      // a b + b a is a product and a multiply-add in nvcc, too.
      if (fma.op != Opcode::fma || fma.mod.type != product.mod.type || fma.guard != kNone ||
          is_register(fma.operands[3], reg))
        continue;
      const Operand &x = fma.operands[1], &y = fma.operands[2];
      const bool same_factors =
          (is_same(x, a) && is_same(y, b)) || (is_same(x, b) && is_same(y, a));
      if (same_factors && is_unchanged(a, at, use) && is_unchanged(b, at, use))
        p.twins.push_back(use);
    }
    return p;
  }

  /// Whether an operand has the same value in both places.
  bool is_unchanged(const Operand& operand, std::uint32_t i, std::uint32_t j) const {
    if (operand.kind != Kind::reg || definition_[operand.index] != kNone) return true;
    if (i > j) std::swap(i, j);
    if (j - i > kMostDistance) return false;
    const std::uint32_t from = flow_.block_of[i], to = flow_.block_of[j];
    const std::vector<std::uint32_t>& before = flow_.blocks[to].predecessors;
    if (from != to && (before.size() != 1 || before[0] != from)) return false;
    const auto writes = [&](std::uint32_t first, std::uint32_t end) {
      bool found = false;
      for (std::uint32_t k = first; k < end; ++k)
        ptx::for_each_register(function_, function_.body[k], [&](std::uint32_t reg, bool is_write) {
          found |= is_write && reg == operand.index;
        });
      return found;
    };
    return from == to ? !writes(i, j)
                      : !writes(i, flow_.blocks[from].end) && !writes(flow_.blocks[to].begin, j);
  }

  bool goes_into_sums(std::uint32_t at, const Product& p) const {
    const Operand &a = function_.body[at].operands[1], &b = function_.body[at].operands[2];
    // Registers that change would have to be copied.
    for (const Operand* factor : {&a, &b})
      if (factor->kind == Kind::reg && definition_[factor->index] == kNone) return false;
    if (is_constant(a) || is_constant(b)) return true;
    std::vector<std::uint32_t> blocks;
    for (const std::vector<std::uint32_t>* list : {&p.sums, &p.twins})
      for (const std::uint32_t use : *list) blocks.push_back(flow_.block_of[use]);
    const bool one = std::all_of(blocks.begin(), blocks.end(),
                                 [&](std::uint32_t block) { return block == blocks.front(); });
    return one && !is_in_loop_without(blocks.front(), flow_.block_of[at]);
  }

  /// An immediate value, or a parameter of the kernel: SASS reads both without a register.
  bool is_constant(const Operand& operand) const {
    if (operand.kind == Kind::imm) return true;
    if (operand.kind != Kind::reg || definition_[operand.index] == kNone) return false;
    const Instruction& from = function_.body[definition_[operand.index]];
    return function_.is_entry && from.op == Opcode::ld && from.mod.space == ptx::Space::param;
  }

  /// Whether `block` is repeated without passing `outside`.
  bool is_in_loop_without(std::uint32_t block, std::uint32_t outside) const {
    if (block == outside) return false;
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> open = flow_.blocks[block].successors;
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      if (next == block || seen.size() > kMostBlocks) return true;
      if (next == outside || !seen.insert(next).second) continue;
      open.insert(open.end(), flow_.blocks[next].successors.begin(),
                  flow_.blocks[next].successors.end());
    }
    return false;
  }

  const ptx::Function& function_;
  const std::vector<std::uint32_t> definition_;
  ptx::ControlFlow flow_;
  std::vector<std::vector<std::uint32_t>> uses_;
  std::vector<Fusion> found_;
};

}  // namespace

std::vector<Fusion> find_fusions(const ptx::Function& function) {
  return Fusions(function).result();
}

}  // namespace simgpu::count
