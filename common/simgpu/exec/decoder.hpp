// Translates the functions of one kernel. Used by decode.cpp, decode_alu.cpp and decode_memory.cpp
// only.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/simgpu/exec/program.hpp"
#include "common/simgpu/exec/warp.hpp"
#include "common/simgpu/ptx/addresses.hpp"

namespace simgpu::exec {

/// Something the parser accepts and the engine cannot run.
struct Undecodable : std::runtime_error {
  Undecodable(const std::string& message, ptx::Location at)
      : std::runtime_error(message), where(at) {}
  ptx::Location where;
};

Ty lane_type(ptx::Type type);         ///< b types are u types
bool is_lanewise(ptx::Opcode op);     ///< there are rows for it in instructions.inc
unsigned log2_bytes(unsigned bytes);  ///< of 1, 2, 4, 8

/// State shared by the functions of one program.
struct ProgramBuilder {
  const ptx::Module& module;
  const Placement& placement;
  SharedAddresses addresses;
  bool tracks_unset;
  Program& program;
  std::map<std::pair<std::uint64_t, unsigned>, Ref> constants;
  std::map<std::uint32_t, std::uint32_t> function_numbers;  ///< module index -> Program::functions
  std::vector<std::uint32_t> pending;                       ///< module functions still to decode
  std::map<std::uint32_t, std::uint32_t> shared_offsets;    ///< module variable -> shared address

  Ref constant(std::uint64_t bits, unsigned bytes);
  Ref constant_mask(bool value);
  std::uint32_t function_number(std::uint32_t module_index);
  std::uint32_t shared_address(std::uint32_t variable);
};

class FunctionDecoder {
 public:
  FunctionDecoder(ProgramBuilder& builder, std::uint32_t number, const ptx::Function& function);
  void run();

 private:
  using Ins = ptx::Instruction;
  using Operand = ptx::Operand;

  // decode.cpp: layout, blocks, control flow
  void lay_out_registers();
  void lay_out_parameters();
  bool moves_params_to_local() const;
  void lay_out_locals();
  void find_blocks();
  void decode_block(std::uint32_t number);
  void join_stretches(std::size_t first);  ///< decode_stretches.cpp
  void decode_end(BasicBlock& block, const Ins& ins);
  void decode_call(BasicBlock& block, const Ins& ins);
  void check_math_call(const Call& call, const ptx::Function& target) const;
  void renumber();
  void describe_sites(std::size_t first);
  void decode(const Ins& ins);
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void unsupported() const;  ///< the instruction, as it is written

  // operands
  std::uint32_t allocate(std::uint32_t bytes, std::uint32_t align = 64);
  Ref temporary(unsigned lane_bytes);  ///< valid until the next PTX instruction
  Ref mask_temporary();
  Ref reg(std::uint32_t index) const;
  unsigned register_bytes(std::uint32_t index) const;
  Ref source(const Operand& o, unsigned bytes);  ///< lanes of `bytes`
  Ref predicate(const Operand& o);               ///< mask, negation applied
  Ref special(ptx::Special s, unsigned bytes);
  Ref address_constant(const Operand& o);
  Ref frame_base(const Operand& o, std::int64_t& offset);
  /// Where an instruction of `type` writes; finish_destination extends into a wider register.
  Ref destination(const Operand& o, ptx::Type type);
  void finish_destination(const Operand& o, ptx::Type type, Ref written);
  const Operand& at(const Ins& ins, std::size_t k) const;

  // emitting
  Op& emit(Handler handler);
  Op& emit_alu(Alu op, Ty type);
  void convert_width(Ref to, unsigned to_bytes, Ref from, unsigned from_bytes);

  // decode_alu.cpp
  bool lanewise(const Ins& ins);
  void operation(const Ins& ins, Alu op, std::string_view operands, Ty type);
  bool collective(const Ins& ins);
  bool carry_arithmetic(const Ins& ins);
  Ref flushed(Ref source, Ty type);
  void after_rounding(const Ins& ins, Ref dst, Ty type);
  bool table_to_predicate(const Ins& ins);
  bool packed_parts(const Ins& ins);
  void compare(const Ins& ins);
  void choose(ptx::Type result, Ref where, Ref high, const Operand& to);
  void move(const Ins& ins);
  const std::vector<Ref>& parts(const Operand& vector, unsigned bytes, bool is_destination);
  void convert(const Ins& ins);
  void convert_address(const Ins& ins);

  // mma.cpp
  std::vector<Ref> fragment(const Operand& o, unsigned count, unsigned bytes, bool is_destination);
  void multiply_matrices(const Ins& ins);

  // wmma.cpp
  void wmma_access(const Ins& ins);

  // decode_memory.cpp
  void load(const Ins& ins);
  Op& emit_access(const Ins& ins, AccessType type, ptx::Space space, Ref base, std::int64_t offset,
                  const std::vector<Ref>& list);
  bool starts_swap_loop(const Ins& load);
  void store(const Ins& ins);
  bool holds_tensor_map(const Operand& value);
  void find_tensor_map_values();
  void atomic(const Ins& ins);
  bool uses_result(const Ins& ins);
  void parameter_access(const Ins& ins, bool is_load);
  Ref memory_base(const Operand& o, std::int64_t& offset);

  // decode_moves.cpp
  void async_copy(const Ins& ins);
  void async_wait(const Ins& ins);
  void matrix_move(const Ins& ins);
  // decode_proxy.cpp
  void mbarrier(const Ins& ins);
  void mbarrier_wait(BasicBlock& block, const Ins& ins);
  std::vector<bool> find_looked_at() const;
  void bulk_copy(const Ins& ins);
  void proxy_wait(const Ins& ins);
  bool tensor_map(const Ins& ins);
  void map_replace(const Ins& ins);
  void map_copy(const Ins& ins);
  void map_access(AccessType type, ptx::Space space, ptx::Type as, Ref base, std::int64_t offset,
                  Ref value);
  check::Reduction reduction(const Ins& ins) const;
  std::uint8_t tensor_operation(const Ins& ins) const;
  void check_vector_atomic(const Ins& ins, const Operand* to, const Operand& from) const;
  std::size_t without_hint(const Ins& ins) const;
  /// Fails unless there are that many operands, and a cache policy if the suffixes announce one.
  void check_hint(const Ins& ins, std::size_t operands) const;
  void asynchronous_store(const Ins& ins);
  void cluster_address(const Ins& ins);
  bool asynchronous_proxy(const Ins& ins);
  void registers_of_warps(const Ins& ins);
  bool warp_matrices(const Ins& ins);
  const struct WgmmaType& product_type(const ptx::Modifiers& m, Wgmma& w) const;
  // product_registers.cpp
  void find_product_registers();
  void watch_product_registers(const Ins& ins);
  void product(BasicBlock& block, const Ins& ins);
  // unset.cpp
  bool shares_memory() const;
  bool loads_from_call(const Ins& ins) const;
  void find_unset();
  void begin_marks();
  void track_unset(const Ins& ins);
  void track_unset_access(const Ins& ins);
  bool lose_marks(const Ins& ins);
  void save_marks(const Ins& ins);
  UnsetForm in_memory(UnsetForm::Kind kind, const Ins& ins, const Operand& address);
  void carry_marks(const Ins& ins, UnsetForm form);
  void of_product(const ptx::Instruction& ins, UnsetForm& form);
  void of_bits(const Ins& ins, UnsetForm& form);
  void of_parts(const Ins& ins, UnsetForm& form);
  void parameter_marks(const Ins& ins, bool is_load, UnsetForm form);
  Ref mark_of(const Operand& o) const;
  void add_marks(std::vector<Ref>& to, const Operand& o) const;  ///< of an operand, or of its parts
  void track_shuffle(const Ins& ins, UnsetForm form);
  Op& emit_unset(UnsetForm form, bool guarded);
  std::uint8_t new_origin(bool stray = false);
  std::uint32_t new_site();
  void choose_quick_path(Op& op, const Operand& address);
  void keep_within_array(Op& op);
  const SharedArray* find_array();
  void forget_addresses(const Ins& ins);

  ProgramBuilder& b_;
  Program& p_;
  std::uint32_t number_;
  const ptx::Function& f_;
  FunctionCode code_;

  std::vector<std::uint32_t> register_offset_;
  std::map<std::uint32_t, std::uint32_t>
      local_offset_;  ///< module variable -> bytes in the frame's locals
  std::map<std::pair<ptx::Special, unsigned>, Ref> specials_;
  std::vector<std::uint32_t> param_offset_;  ///< by parameter number, within its area
  std::vector<std::uint32_t>
      origins_;                 ///< of shared addresses, by instruction; see ptx/shared_origins.hpp
  std::vector<bool> from_map_;  ///< by register; empty = not looked yet
  std::vector<bool> looked_at_;                  ///< likewise
  std::vector<std::uint32_t> product_register_;  ///< by register: its number; empty: no products
  /// addresses of compare and swap; empty = not looked yet
  std::optional<std::set<ptx::Address>> swapped_;
  std::optional<ptx::Addresses> addresses_;
  std::vector<Ref>
      unset_;  ///< marks by register, kNoRef = it needs none; empty: no register needs any
  UnsetForm first_unset_;  ///< clears them all
  Ref carry_ = kNoRef;
  std::uint32_t frame_ = 0;
  std::vector<Ref> temporaries_[4];
  std::size_t temporaries_used_[4] = {};
  std::vector<Ref> mask_temporaries_;
  std::size_t mask_temporaries_used_ = 0;

  std::vector<std::uint32_t> leader_block_;  ///< instruction -> text-order block, or kNoBlock
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;  ///< instructions of a block
  std::vector<BasicBlock> blocks_;                               ///< in text order
  std::vector<Op> ops_;  ///< of the block being decoded, then of all
  const Ins* current_ = nullptr;
  std::uint32_t multiply_adds_ = 0;  ///< of the block, so far
  std::uint32_t current_index_ = 0;
  std::vector<count::PartOfCopy> parts_;       ///< by instruction
  std::vector<count::NarrowedLoad> narrowed_;  ///< by instruction
  std::vector<bool> read_;  ///< by register: some instruction reads it; see uses_result()
  bool counted_ = false;    ///< the guarded instruction's first op was emitted
  std::map<std::pair<Ref, std::uint8_t>, std::uint32_t>
      block_slots_;  ///< address register and space -> pattern slot, within the block
};

// Handlers that are not per instruction set (wrappers.cpp, collective.cpp, memory_ops.cpp,
// param_ops.cpp, async_copy.cpp, matrix_moves.cpp).
void run_guarded(Warp&, const Op&);
void run_rounded(Warp&, const Op&);
void op_clock(Warp&, const Op&);
void op_activemask(Warp&, const Op&);
void op_shfl(Warp&, const Op&);
void op_vote(Warp&, const Op&);
void op_match(Warp&, const Op&);
void op_redux(Warp&, const Op&);
void op_elect(Warp&, const Op&);
void op_warp_sync(Warp&, const Op&);
void op_fence(Warp&, const Op&);
void op_bar_arrive(Warp&, const Op&);
void op_isspacep(Warp&, const Op&);
void op_nothing(Warp&, const Op&);
void op_policy(Warp&, const Op&);
void op_check_divisor(Warp&, const Op&);
void op_kernel_param(Warp&, const Op&);
void op_kernel_param_indexed(Warp&, const Op&);
void op_area_load(Warp&, const Op&);
void op_area_store(Warp&, const Op&);
void op_memory(Warp&, const Op&);
void op_atomic(Warp&, const Op&);
void op_async_copy(Warp&, const Op&);
void op_async_commit(Warp&, const Op&);
void op_async_wait(Warp&, const Op&);
void op_ldmatrix(Warp&, const Op&);
void op_stmatrix(Warp&, const Op&);
void op_movmatrix(Warp&, const Op&);

void op_mbarrier_init(Warp&, const Op&);
void op_mbarrier_inval(Warp&, const Op&);
void op_mbarrier_arrive(Warp&, const Op&);
void op_mbarrier_pending(Warp&, const Op&);
void op_fence_proxy(Warp&, const Op&);
void op_fence_mbarrier(Warp&, const Op&);
void op_bulk_load(Warp&, const Op&);
void op_bulk_store(Warp&, const Op&);
void op_bulk_commit(Warp&, const Op&);
void op_bulk_wait(Warp&, const Op&);
void op_bulk_cluster(Warp&, const Op&);
void op_async_store(Warp&, const Op&);
void op_cluster_arrive(Warp&, const Op&);
void op_map_address(Warp&, const Op&);
void op_rank_of_address(Warp&, const Op&);
void op_wgmma_fence(Warp&, const Op&);
void op_set_registers(Warp&, const Op&);
void op_grid_wait(Warp&, const Op&);
void op_let_next_begin(Warp&, const Op&);
void op_explicit_cluster(Warp&, const Op&);
void op_map_changed(Warp&, const Op&);
void op_map_acquire(Warp&, const Op&);
void op_fence_map(Warp&, const Op&);
void op_wgmma_commit(Warp&, const Op&);
void op_wgmma_wait(Warp&, const Op&);
void op_product_registers(Warp&, const Op&);
void op_product_register_copy(Warp&, const Op&);
/// Op::z of an access on the quick path: an earlier one of its basic block has looked at the register.
inline constexpr std::uint8_t kFollows = 2;
/// Op::z of an access of local memory that no counter shall see.
inline constexpr std::uint8_t kUncounted = 4;
/// Op::y of op_mbarrier_arrive.
inline constexpr std::uint8_t kArrives = 1, kExpects = 2, kCompletes = 4, kDrops = 8;
/// Op::x of op_cluster_arrive.
inline constexpr std::uint8_t kWholeWarp = 1, kRelaxed = 2;

void op_wmma(Warp&, const Op&);
/// Finding: an instruction for whole warps met only some lanes (mma.cpp).
void report_part_of_warp(Warp&, const Op&);

/// See InstructionInfo. A division is MUFU.RCP and five FFMAs (measured: grader/author/counts), a
/// reciprocal and a square root have two; their ways for numbers at the ends of the range have more.
std::uint8_t hidden_multiply_adds(const ptx::Module& module, const ptx::Instruction& ins);

}  // namespace simgpu::exec
