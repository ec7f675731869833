#include "common/simgpu/exec/short_lived.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "common/simgpu/exec/decoder.hpp"

namespace simgpu::exec {
namespace {

using Ins = ptx::Instruction;
using Kind = ptx::Operand::Kind;
using ptx::Opcode;

constexpr std::size_t index_of(Opcode op) {
  return static_cast<std::size_t>(op);
}

/// Plain instructions: operand 0 is what they set, but of st.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
#define OPERATION(id, of, ...) plain[index_of(Opcode::of)] = true;
#include "common/simgpu/instructions.inc"
  for (const Opcode op : {Opcode::mov, Opcode::cvt, Opcode::cvta, Opcode::set, Opcode::setp,
                          Opcode::ld, Opcode::ldu, Opcode::st})
    plain[index_of(op)] = true;
  return plain;
}();

/// Calls f(register, whether it is set) for all registers of an instruction but its guard.
template <class F>
void each_register(const ptx::Function& function, const Ins& ins, F f) {
  for (std::size_t k = 0; k < ins.operands.size(); ++k) {
    const ptx::Operand& o = ins.operands[k];
    const bool sets = k == 0 && ins.op != Opcode::st;
    if (o.kind == Kind::reg || o.kind == Kind::address) f(o.index, sets && o.kind == Kind::reg);
    if (o.index2 != UINT32_MAX) f(o.index2, sets);
    for (std::uint32_t e = 0; o.kind == Kind::vector && e < o.count; ++e)
      if (const ptx::Operand& part = function.vector_operands[o.index + e]; part.kind == Kind::reg)
        f(part.index, sets);
  }
}

struct Life {
  std::uint32_t block = UINT32_MAX;  ///< UINT32_MAX = not seen yet
  std::uint32_t last = 0;            ///< instruction that uses it last
  bool is_short = true;
};

/// Where registers are used, and by whom.
std::vector<Life> lives_of(const ptx::Function& function,
                           const std::vector<std::pair<std::uint32_t, std::uint32_t>>& blocks) {
  std::vector<Life> lives(function.registers.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    for (std::uint32_t i = blocks[b].first; i < blocks[b].second; ++i) {
      const Ins& ins = function.body[i];
      const bool plain = kPlain[index_of(ins.op)];
      // Sources first: what reads its own result does not begin a life.
      for (const bool setting : {false, true})
        each_register(function, ins, [&](std::uint32_t r, bool sets) {
          if (sets != setting) return;
          Life& life = lives[r];
          const bool begins = life.block == UINT32_MAX;
          life.is_short &= plain && (begins ? sets && ins.guard == UINT32_MAX : life.block == b);
          life.block = b;
          life.last = i;
        });
    }
  return lives;
}

}  // namespace

SharedPlaces share_places(const ptx::Function& function,
                          const std::vector<std::pair<std::uint32_t, std::uint32_t>>& blocks) {
  const std::vector<Life> lives = lives_of(function, blocks);
  SharedPlaces places;
  places.of.assign(lives.size(), SharedPlaces::kOwn);
  std::map<std::uint32_t, std::vector<std::uint32_t>> free;  ///< by bytes
  for (const auto& [first, end] : blocks)
    for (std::uint32_t i = first; i < end; ++i) {
      const Ins& ins = function.body[i];
      std::vector<std::uint32_t> ended;
      each_register(function, ins, [&](std::uint32_t r, bool sets) {
        const std::uint32_t bytes = ptx::size_of(function.registers[r].type);
        if (!lives[r].is_short || bytes == 0) return;
        if (sets && places.of[r] == SharedPlaces::kOwn) {
          std::vector<std::uint32_t>& places_left = free[bytes];
          if (places_left.empty()) {
            places_left.push_back(static_cast<std::uint32_t>(places.bytes.size()));
            places.bytes.push_back(bytes);
          }
          places.of[r] = places_left.back();
          places_left.pop_back();
        }
        if (lives[r].last == i) ended.push_back(r);
      });
      // Only now, so that no instruction writes where it reads.
      std::sort(ended.begin(), ended.end());
      ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
      for (const std::uint32_t r : ended) free[places.bytes[places.of[r]]].push_back(places.of[r]);
    }
  return places;
}

void FunctionDecoder::lay_out_registers() {
  const SharedPlaces places = share_places(f_, ranges_);
  register_offset_.resize(f_.registers.size());
  for (std::size_t r = 0; r < f_.registers.size(); ++r)
    if (f_.registers[r].type == ptx::Type::pred) register_offset_[r] = allocate(4, 4);
  std::vector<std::uint32_t> offset;
  for (const std::uint32_t bytes : places.bytes) offset.push_back(allocate(kLanes * bytes));
  for (std::size_t r = 0; r < f_.registers.size(); ++r)
    if (f_.registers[r].type != ptx::Type::pred)
      register_offset_[r] = places.of[r] != SharedPlaces::kOwn
                                ? offset[places.of[r]]
                                : allocate(kLanes * ptx::size_of(f_.registers[r].type));
}

}  // namespace simgpu::exec
