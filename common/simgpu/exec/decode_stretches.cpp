// Finds stretches (stretch.hpp) in a basic block that has been decoded.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/stretch.hpp"

namespace simgpu::exec {
namespace {

bool is_multiply_add_of_floats(const Op& op) {
  const auto handler = [](Alu alu) {
    return handlers().alu[static_cast<std::size_t>(alu)][static_cast<std::size_t>(Ty::f32)];
  };
  return op.fn == handler(Alu::fma) || op.fn == handler(Alu::mad);
}

/// Words of a lane, or 0: no load from shared memory that a stretch can hold.
unsigned words_loaded(const Op& op) {
  const auto& loads = handlers().shared[0][0];
  const bool known =
      op.fn != nullptr && std::find(std::begin(loads), std::end(loads), op.fn) != std::end(loads);
  const unsigned bytes = 4u * op.vec;
  constexpr std::int64_t kFar = std::int64_t{1} << 29;
  return known && op.imm > -kFar && op.imm < kFar && op.imm % bytes == 0 ? op.vec : 0;
}

/// Takes operations as long as they fit.
class Collector {
 public:
  explicit Collector(Stretch& s) : s_(s) {}

  bool take(const Op& op) {
    const unsigned words = words_loaded(op);
    if (words == 0 && !is_multiply_add_of_floats(op)) return false;
    if (words != 0 && !add_load(op, words)) return false;
    s_.ops.push_back(op);
    return true;
  }

  /// When all are there: s.ops does not move any more.
  void finish() {
    std::size_t load = 0;
    for (std::size_t k = 0; k < s_.ops.size(); ++k) {
      const Op& op = s_.ops[k];
      if (words_loaded(op) == 0) {
        s_.steps.push_back({&op, Stretch::Kind::multiply_add, 0});
        continue;
      }
      s_.loads[load].op = &op;
      const bool product = k + 2 < s_.ops.size() && multiplies(op, s_.ops[k + 1], s_.ops[k + 2]);
      s_.steps.push_back({product ? &s_.ops[k + 2] : &op,
                          product ? Stretch::Kind::product : Stretch::Kind::load,
                          static_cast<std::uint32_t>(load)});
      if (product) s_.loads[++load].op = &s_.ops[k + 1];
      if (product) k += 2;
      ++load;
    }
  }

 private:
  /// Whether `sum` multiplies what two loads have loaded, and adds something else.
  static bool multiplies(const Op& first, const Op& second, const Op& sum) {
    if (words_loaded(first) != 1 || words_loaded(second) != 1 || !is_multiply_add_of_floats(sum))
      return false;
    const Ref a = first.dst, b = second.dst;
    return a != b && sum.c != a && sum.c != b &&
           ((sum.a == a && sum.b == b) || (sum.a == b && sum.b == a));
  }

  bool add_load(const Op& op, unsigned words) {
    const auto offset = static_cast<std::int32_t>(op.imm);
    const std::int32_t end = offset + 4 * static_cast<std::int32_t>(words);
    auto window = std::find_if(s_.windows.begin(), s_.windows.end(),
                               [&](const Stretch::Window& v) { return v.slot == op.slot; });
    const bool looks = (op.z & kFollows) == 0;
    if (window == s_.windows.end()) {
      if (s_.windows.size() == Stretch::kWindows) return false;
      window = s_.windows.insert(window, {op.a, op.slot, looks, 4, 0, offset, end, op.b, op.c});
    } else if (looks || window->from != op.b || window->to != op.c) {
      return false;  // the register has another address by then
    }
    if (window->loads == std::numeric_limits<std::uint16_t>::max()) return false;
    ++window->loads;
    window->least = std::min(window->least, offset);
    window->end = std::max(window->end, end);
    window->align = std::max(window->align, static_cast<std::uint8_t>(4 * words));
    s_.loads.push_back({nullptr, offset, op.site,
                        static_cast<std::uint8_t>(window - s_.windows.begin()),
                        static_cast<std::uint8_t>(words == 4 ? 2 : words - 1)});
    return true;
  }

  Stretch& s_;
};

}  // namespace

/// Of ops_ from `first` on.
void FunctionDecoder::join_stretches(std::size_t first) {
  std::vector<Op> ops(ops_.begin() + static_cast<std::ptrdiff_t>(first), ops_.end());
  ops_.resize(first);
  for (std::size_t k = 0; k < ops.size();) {
    Stretch s;
    Collector collector(s);
    while (k < ops.size() && collector.take(ops[k])) ++k;
    if (s.ops.size() < Stretch::kLeast) {
      ops_.insert(ops_.end(), s.ops.begin(), s.ops.end());
      if (s.ops.empty()) ops_.push_back(ops[k++]);
      continue;
    }
    Stretch& kept = p_.stretches.emplace_back(std::move(s));
    kept.number = static_cast<std::uint32_t>(p_.stretches.size() - 1);
    Collector(kept).finish();
    Op& op = ops_.emplace_back();
    op.fn = handlers().stretch;
    op.pc = kept.ops.front().pc;
    op.imm = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&kept));
  }
}

}  // namespace simgpu::exec
