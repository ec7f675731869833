// The typed form of one PTX module: what the parser makes and what every later layer reads.
//
// Nothing here executes. Names are resolved (a register operand is an index, a label is an
// instruction index, a symbol is an index into its table), types and modifiers are enums, and each
// instruction knows its source line. Reference: PTX ISA 7.0 - 9.0, chapters 5, 7, 8 and 9.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/simgpu/ptx/modifiers.hpp"

namespace simgpu::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  s4,
  u4,
  b1,
};

/// Size in bytes of one element of `type`; 0 of pred, none and what is smaller than a byte.
constexpr unsigned size_of(Type type) {
  switch (type) {
    case Type::b8:
    case Type::u8:
    case Type::s8:
    case Type::e4m3:
    case Type::e5m2:
      return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2:
      return 2;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::tf32:
    case Type::f32:
      return 4;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return 8;
    case Type::b128:
      return 16;
    default:  // pred, none, s4, u4, b1
      return 0;
  }
}

/// State spaces. `generic` is what an ld/st/atom without a space suffix uses.
/// `cluster` is .shared::cluster: shared memory of any block of the cluster.
enum class Space : std::uint8_t {
  none,
  reg,
  generic,
  global,
  shared,
  cluster,
  local,
  constant,
  param
};

enum class Opcode : std::uint8_t {
#define INSTRUCTION(id, ...) id,
#include "common/simgpu/instructions.inc"
};

/// Everything behind the dots of an instruction. Fields that do not apply keep their defaults.
struct Modifiers {
  Type type = Type::none;  ///< the result's (or the only) type
  /// second type suffix: cvt source, setp/set source, slct selector, mma B ...
  Type type2 = Type::none;
  Type type3 = Type::none;    ///< third (mma, wmma: a, b; dp4a has two)
  Type type4 = Type::none;    ///< fourth (mma: c)
  Space space = Space::none;  ///< ld/st/atom/red/cvta/isspacep/cp.async
  Rounding rounding = Rounding::none;
  MulMode mul = MulMode::none;
  Compare compare = Compare::none;
  BoolOp combine = BoolOp::none;  ///< setp.lt.and.f32 p, a, b, c
  AtomOp atom = AtomOp::none;
  ShflMode shfl = ShflMode::none;
  VoteMode vote = VoteMode::none;
  std::uint8_t vec = 1;  ///< 1, 2, 4 (and 8 for the newest ld/st): elements moved per lane
  bool ftz = false, sat = false, non_coherent = false, is_volatile = false, uni = false;
  bool sync = false;       ///< ".sync" forms: the last operand is the member mask
  bool carry_out = false;  ///< add.cc and friends
  bool to = false;         ///< cvta.to.SPACE
  bool relu = false;
  bool trans = false;                  ///< ldmatrix.trans
  Ordering ordering = Ordering::none;  ///< .relaxed .acquire .release .acq_rel .sc
  std::uint16_t m = 0, n = 0, k = 0;   ///< mma/wmma/ldmatrix shapes
  std::uint8_t num = 0;                ///< ldmatrix .x1 .x2 .x4
  bool aligned = true;  ///< false: barrier.sync without .aligned (lanes may arrive apart)
  char fragment = 0;    ///< wmma.load.{a,b,c}, wmma.store.d: which matrix
  bool row_a = true, row_b = false;  ///< mma/wmma layouts
  bool popc = false;                 ///< mma/wmma of single bits: .and.popc, .xor.popc
  std::string_view text;  ///< the whole opcode as written, e.g. "ld.global.v4.f32" (for messages)
};

struct Operand {
  enum class Kind : std::uint8_t {
    none,
    reg,       ///< index = register
    imm,       ///< bits = value as a bit pattern, sign-extended to 64 bits for integers
    special,   ///< index = Special
    symbol,    ///< address of a variable: index into Module::variables or Function-local table, +
               ///< bits
    param,     ///< address of a parameter, + bits; index counts through params, then results, then
               ///< call_params
    address,   ///< [reg + imm]: index = register, bits = byte offset
    label,     ///< index = instruction index of the target
    vector,    ///< {a, b, ...}: elements [index, index + count) of Function::vector_operands
    function,  ///< index into Module::functions
    sink,      ///< "_", a result nobody wants
  };
  Kind kind = Kind::none;
  bool negated = false;  ///< "!%p1"
  /// the operand stood in [ ]: symbol, param and imm may, address always does
  bool is_memory = false;
  std::uint32_t index = 0;
  std::uint32_t count = 0;  ///< vector only
  std::int64_t bits = 0;    ///< immediate, or byte offset of symbol/param/address
  /// shfl/setp second destination "a|b": register, else UINT32_MAX
  std::uint32_t index2 = UINT32_MAX;
};

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  is_explicit_cluster,  ///< a predicate
  warp_size,
  unset,        ///< %simgpu_unset: what a variable holds that nothing has set (flags/unset.awk)
  unset_part,   ///< %simgpu_unset_part: the same of a struct, or of an array of structs
  unset_whole,  ///< %simgpu_unset_whole: the same of a variable that is neither
};
inline bool is_unset(Special s) {
  return s == Special::unset || s == Special::unset_part || s == Special::unset_whole;
}

struct Location {
  std::uint32_t file = 0;  ///< index into Module::files; 0 = no line information
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Instruction {
  Opcode op{};
  Modifiers mod;
  std::uint32_t guard = UINT32_MAX;  ///< predicate register, UINT32_MAX = none
  bool guard_negated = false;
  bool stays_rolled = false;  ///< `.pragma "nounroll"` stands in front of it
  /// Destination(s) first, as written, with three fixed forms:
  ///   call      {function, vector of results (param), vector of arguments (param or imm)}
  ///   brx_idx   {index register, vector of labels}
  ///   bra       {label}
  std::vector<Operand> operands;
  Location where;              ///< the author's line: see Module::files
  std::uint32_t ptx_line = 0;  ///< line in the PTX text, for parser and engine messages
};

struct Register {
  std::string name;  ///< "%rd12"
  Type type = Type::none;
};

struct Parameter {
  std::string name;
  Type type = Type::none;    ///< b8 for byte arrays
  std::uint32_t align = 1;   ///< bytes
  std::uint32_t offset = 0;  ///< bytes from the start of the parameter block, naturally aligned
  std::uint32_t size = 0;    ///< bytes
};

/// A .shared, .global, .const or .local variable.
struct Variable {
  std::string name;    ///< as in PTX (mangled)
  std::string pretty;  ///< the author's name ("As"), as far as it can be read off the mangled one
  Space space = Space::none;
  Type type = Type::none;
  std::uint32_t align = 1;
  std::uint64_t size = 0;  ///< bytes; 0 for .extern .shared x[] (dynamic)
  bool is_extern = false;
  std::uint32_t position = 0;      ///< in the text, where it is declared first
  std::vector<std::uint8_t> init;  ///< initial bytes, empty = zero (global, const) or none
  struct Relocation {
    std::uint32_t offset;
    std::uint32_t variable;
    std::int64_t addend;
  };
  std::vector<Relocation> relocations;  ///< 8-byte addresses of other variables inside `init`
};

/// Where function `index` of a module stands for who takes its address: in no memory.
constexpr std::uint64_t function_address(std::uint32_t index) {
  return 0x0f00'0000'0000'0000 + 256 * (std::uint64_t{index} + 1);
}
/// The text of the trap that ends a call through a pointer which names no function of its type.
inline constexpr std::string_view kPointerCall = "call through a pointer";

struct Function {
  std::string name;  ///< mangled
  bool is_entry = false;
  bool is_declaration = false;  ///< .extern .func (vprintf, __assertfail, malloc, free)
  std::vector<Parameter> params;
  std::vector<Parameter> results;  ///< .func return parameters
  /// .param variables declared in bodies for calls (call_seq scopes)
  std::vector<Parameter> call_params;
  std::uint32_t max_ntid[3] = {0, 0, 0};  ///< .maxntid, 0 = not given
  /// .reqntid: the block must have exactly this shape, 0 = not given
  std::uint32_t req_ntid[3] = {0, 0, 0};
  /// .reqnctapercluster: blocks of a cluster, 0 = not given
  std::uint32_t req_cluster[3] = {0, 0, 0};
  /// .blocksareclusters: a launch gives its grid in clusters, not in blocks
  bool grid_in_clusters = false;
  std::uint32_t min_nctapersm = 0;  ///< .minnctapersm
  std::uint32_t max_nreg = 0;       ///< .maxnreg
  std::vector<Register> registers;
  std::vector<Instruction> body;  ///< never empty for a definition; ends in ret, exit, trap or bra
  std::vector<Operand> vector_operands;
  std::vector<std::uint32_t>
      variables;   ///< module variables referenced, directly (incl. body-scope .shared/.local)
  Location where;  ///< first line of the function
  /// Non-empty if the body uses something simgpu cannot run: the message, `body` is then empty.
  std::string unsupported;
  Location unsupported_where;
};

struct SourceFile {
  std::string path;         ///< exactly as the .file directive has it; never opened by simgpu
  bool is_builtin = false;  ///< compiler's or simgpu's own headers
};

/// Movable only: Modifiers::text points into `text`.
struct Module {
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;

  std::string version;            ///< "7.0"
  std::string target;             ///< "sm_80"
  std::vector<SourceFile> files;  ///< [0] is "" (unknown)
  std::vector<Variable> variables;
  std::vector<Function> functions;
  // Ordered maps: the names come from hostile text, and hash collisions can be made on purpose.
  std::map<std::string, std::uint32_t, std::less<>> function_index;
  std::map<std::string, std::uint32_t, std::less<>> variable_index;  ///< module scope only
  std::string text;  ///< the PTX itself; Modifiers::text points into it
};

}  // namespace simgpu::ptx
