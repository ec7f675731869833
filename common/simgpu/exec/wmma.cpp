// wmma.load and wmma.store (PTX ISA 9.7.15.4): fragments from and to memory. Where elements lie in
// a fragment is in fragments.hpp; wmma.mma is in mma.cpp.
//
// What an access costs. ptxas turns a fragment into ordinary accesses; these were seen in SASS and
// in the counters of an H200:
//   16-bit A or B, shared      ldmatrix of up to 4 matrices, .trans where columns are asked for:
//                              each matrix a phase of 8 rows of 16 bytes; so are 8-bit ones along K
//   16-bit A or B, global      accesses of 4 bytes along memory, transposed between lanes if need
//   be FP32 C or D                by rows 4 accesses of 8 bytes, by columns 8 of 4 bytes f16 C or D
//   by rows         4 accesses of 4 bytes tf32 A or B                4 accesses of 4 bytes f64 A or
//   B / C or D        1 access of 8 / of 16 bytes 8-bit B by rows            8 accesses of 1 byte
// Everything else follows the same rule (elements of a lane that follow each other in memory are
// one access of up to 16 bytes, others one access each) and was not compared with hardware: f16 C
// and D by columns, f64 C and D by columns, 8-bit A by columns and 8-bit shapes but m16n16k16.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "common/simgpu/count/shared_banks.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/sampling.hpp"
#include "common/simgpu/memory/address.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using ptx::Space;
using PT = ptx::Type;

namespace {

/// Where the elements of a fragment lie in memory: `major` counts rows (or columns) of `stride`
/// elements, `minor` elements within one.
WmmaPlan make_plan(Matrix matrix, unsigned m, unsigned n, unsigned k, unsigned bytes,
                   bool by_rows) {
  WmmaPlan plan;
  if (bytes == 0) {  // what is smaller than a byte moves in words of 32 bits
    plan.packed = k / 4;
    k = 4;
    bytes = 4;
  }
  plan.element_bytes = bytes;
  const unsigned bits = 8 * bytes;
  const Tiling tiles = tiling(m, n);
  const unsigned per = bits < 32 ? 32 / bits : 1;
  const unsigned count = matrix == Matrix::a   ? tiles.down
                         : matrix == Matrix::b ? tiles.across
                                               : tiles.down * tiles.across;
  const unsigned in_tile = matrix == Matrix::a   ? tiles.rows * k / kLanes
                           : matrix == Matrix::b ? 8 * k / kLanes
                                                 : tiles.rows * 8 / kLanes;
  plan.used = count * in_tile / per;
  plan.places.resize(std::size_t{count} * in_tile);
  for (unsigned tile = 0; tile < count; ++tile)
    for (unsigned e = 0; e < in_tile; ++e)
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        Place p = mma_place(matrix, tiles.rows, bits, lane, e);
        if (matrix == Matrix::a) p.row += tile * 16;
        if (matrix == Matrix::b) p.column += tile * 8;
        if (matrix == Matrix::c) {
          p.row += tile / tiles.across * 16;
          p.column += tile % tiles.across * 8;
        }
        WmmaPlan::Element& to = plan.places[tile * in_tile + e];
        to.major[lane] = static_cast<std::uint8_t>(by_rows ? p.row : p.column);
        to.minor[lane] = static_cast<std::uint8_t>(by_rows ? p.column : p.row);
      }
  const auto follows = [&](unsigned e) {
    const WmmaPlan::Element &x = plan.places[e - 1], &y = plan.places[e];
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (x.major[lane] != y.major[lane] || x.minor[lane] + 1 != y.minor[lane]) return false;
    return true;
  };
  const auto n_places = static_cast<unsigned>(plan.places.size());
  for (unsigned e = 0; e < n_places;) {
    unsigned run = 1;
    while (e + run < n_places && follows(e + run)) ++run;
    const unsigned take = std::bit_floor(std::min(run, 16 / bytes));
    plan.accesses.push_back({e, take});
    e += take;
  }
  // Along a register the elements of A run along its rows and those of B along its columns.
  plan.transposed = by_rows != (matrix == Matrix::a);
  plan.by_matrices = matrix != Matrix::c && (bytes == 2 || (bytes == 1 && !plan.transposed));
  return plan;
}

std::uint64_t address_of_element(const WmmaPlan& plan, const std::uint64_t* base,
                                 std::int64_t offset, const std::uint32_t* stride, unsigned lane,
                                 unsigned element, unsigned place_lane) {
  const WmmaPlan::Element& e = plan.places[element];
  return base[lane] + static_cast<std::uint64_t>(offset) +
         (std::uint64_t{e.major[place_lane]} * (stride[lane] / plan.packed) + e.minor[place_lane]) *
             plan.element_bytes;
}

/// An access of the lanes through `words`, which are temporaries; counts and checks as usual.
struct Temporaries {
  alignas(64) std::byte lanes[4][kLanes * 8];
  Ref refs[4];
};

void count_accesses(BlockRun& run, const Op& op, AccessType type, const Reached& reached,
                    const std::uint64_t (&address)[kLanes], unsigned bytes, bool by_matrices) {
  if (!run.launch->options.count) return;
  SiteCount& site = run.worker->counters.sites[op.site];
  if (reached.global != 0) count_global(run, op, type, address, reached.global, bytes);
  if (reached.shared != 0) {
    // ldmatrix does not profit from rows that are the same.
    const count::Wavefronts w = count::shared_wavefronts(reached.offset, reached.shared, bytes,
                                                         type == AccessType::load && !by_matrices);
    SharedCounts s;
    s.requests = s.raw_requests = 1;
    s.wavefronts = s.raw_wavefronts = w.actual;
    s.ideal_wavefronts = s.raw_ideal_wavefronts = w.ideal;
    s.bytes = std::uint64_t{bytes} * static_cast<unsigned>(std::popcount(reached.shared));
    site.shared += s;
    sample_access(run, op, type, MemorySpace::shared, reached.offset, reached.shared, bytes,
                  w.actual, w.ideal, by_matrices);
  }
  if (reached.local != 0) ++site.local_requests;
}

bool is_shared(const Warp& w, const Op& op, const std::uint64_t* base) {
  if (static_cast<Space>(op.x) == Space::shared) return true;
  if (static_cast<Space>(op.x) != Space::generic) return false;
  const std::uint64_t first = base[std::countr_zero(w.mask)];
  return (first & ~(memory::kSlotBytes - 1)) == memory::kSharedWindow;
}

/// 16-bit A or B from shared memory: ldmatrix of 4 matrices at a time.
void load_matrices(Warp& w, const Op& op, const WmmaPlan& plan) {
  const std::uint64_t* base = lanes_of<std::uint64_t>(w, op.a);
  const std::uint32_t* stride = lanes_of<std::uint32_t>(w, op.b);
  const std::uint32_t mask = w.mask;
  Temporaries t;
  Op access = op;
  access.list = t.refs;
  access.vec = 4;
  access.width = 4;
  for (unsigned k = 0; k < 4; ++k)
    t.refs[k] = static_cast<Ref>(reinterpret_cast<std::uintptr_t>(t.lanes[k]));
  for (unsigned first = 0; first < plan.used; first += 4) {
    const unsigned n = std::min(4u, plan.used - first);
    std::uint64_t address[kLanes] = {};
    for (unsigned lane = 0; lane < 8 * n; ++lane) {
      const unsigned r = first + lane / 8, j = lane % 8;
      // Row j of the memory's matrix begins with the element that has index 0 along the other way.
      address[lane] = plan.transposed ? address_of_element(plan, base, op.imm, stride, lane,
                                                           2 * r + j % 2, j / 2)
                                      : address_of_element(plan, base, op.imm, stride, lane,
                                                           4 / plan.element_bytes * r, 4 * j);
    }
    std::memset(t.lanes, 0, sizeof t.lanes);
    if (n < 4) w.mask = mask & ((1u << (8 * n)) - 1);
    if (w.mask != 0) {
      const Reached reached = move_lanes(w, access, address);
      count_accesses(*w.run, op, AccessType::load, reached, address, 16, true);
    }
    w.mask = mask;
    const auto half = [&](unsigned row_lane, unsigned index) {
      std::uint16_t v;
      std::memcpy(&v, t.lanes[index / 2] + row_lane * 4 + index % 2 * 2, 2);
      return std::uint32_t{v};
    };
    for (unsigned k = 0; k < n; ++k) {
      std::uint32_t* to = lanes_of<std::uint32_t>(w, op.list[first + k]);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (((mask >> lane) & 1u) == 0) continue;
        const unsigned g = lane / 4, c = 2 * (lane % 4);
        to[lane] = plan.transposed ? half(8 * k + c, g) | (half(8 * k + c + 1, g) << 16)
                                   : half(8 * k + g, c) | (half(8 * k + g, c + 1) << 16);
      }
    }
  }
}

/// 16-bit A or B from global memory, asked for across the way it lies: each matrix of 8 rows by 16
/// bytes is fetched as it lies, 4 bytes a lane, and transposed between the lanes.
void load_transposed(Warp& w, const Op& op, const WmmaPlan& plan) {
  const std::uint64_t* base = lanes_of<std::uint64_t>(w, op.a);
  const std::uint32_t* stride = lanes_of<std::uint32_t>(w, op.b);
  Temporaries t;
  t.refs[0] = static_cast<Ref>(reinterpret_cast<std::uintptr_t>(t.lanes[0]));
  Op access = op;
  access.list = t.refs;
  access.vec = 1;
  access.width = 4;
  for (unsigned r = 0; r < plan.used; ++r) {
    std::uint64_t address[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned row = lane / 4;
      address[lane] =
          address_of_element(plan, base, op.imm, stride, lane, 2 * r + row % 2, row / 2) +
          4 * (lane % 4);
    }
    std::memset(t.lanes, 0, sizeof t.lanes);
    const Reached reached = move_lanes(w, access, address);
    count_accesses(*w.run, op, AccessType::load, reached, address, 4, false);
    const auto half = [&](unsigned row, unsigned index) {
      std::uint16_t v;
      std::memcpy(&v, t.lanes[0] + (4 * row + index / 2) * 4 + index % 2 * 2, 2);
      return std::uint32_t{v};
    };
    std::uint32_t* to = lanes_of<std::uint32_t>(w, op.list[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned g = lane / 4, c = 2 * (lane % 4);
      if ((w.mask >> lane) & 1u) to[lane] = half(c, g) | (half(c + 1, g) << 16);
    }
  }
}

/// Bytes of element `e` of a lane within the fragment's registers.
std::byte* element_of(const Warp& w, const Op& op, const WmmaPlan& plan, unsigned lane,
                      unsigned e) {
  const unsigned register_bytes = plan.element_bytes == 8 ? 8 : 4;
  const unsigned per = register_bytes / plan.element_bytes;
  return address_of(w, op.list[e / per]) + lane * register_bytes + e % per * plan.element_bytes;
}

/// A fragment belongs to a warp: all lanes name its first element and the distance of its rows, and the
/// instruction itself shares out the elements (CUDA C++ Programming Guide, "Warp Matrix Functions").
/// The first lane that says something else than lane 0; kLanes: none.
unsigned disagreeing_lane(const Warp& w, const std::uint64_t* base, const std::uint32_t* stride) {
  const auto first = static_cast<unsigned>(std::countr_zero(w.mask));
  for (unsigned lane = first; lane < kLanes; ++lane)
    if (((w.mask >> lane) & 1u) != 0 &&
        (base[lane] != base[first] || stride[lane] != stride[first]))
      return lane;
  return kLanes;
}

void report_disagreement(Warp& w, const Op& op, unsigned lane, bool of_base) {
  BlockRun& run = *w.run;
  const std::string_view what = run.launch->program->instructions[op.pc].ptx->mod.text;
  const Access at =
      describe(run, {op.pc, w.index, lane, AccessType::load, MemorySpace::shared, 0, 0});
  add_finding(run, FindingKind::trap, op.pc, UINT32_MAX, at, std::nullopt,
              std::string(what.substr(0, what.find(".sync"))) +
                  " takes one whole fragment for a warp: all lanes must pass the same " +
                  (of_base ? "address, that of its first element" : "distance from row to row") +
                  ", but lane " + std::to_string(lane) + " of warp " + std::to_string(w.index) +
                  " passes another one than lane " + std::to_string(std::countr_zero(w.mask)));
}

}  // namespace

void op_wmma(Warp& w, const Op& op) {
  meet_aligned(w);
  if (w.mask != kFullMask) report_part_of_warp(w, op);
  const WmmaPlan& plan = w.run->launch->program->wmma[op.slot];
  const std::uint64_t* base = lanes_of<std::uint64_t>(w, op.a);
  const std::uint32_t* stride = lanes_of<std::uint32_t>(w, op.b);
  if (const unsigned lane = disagreeing_lane(w, base, stride); lane < kLanes) {
    report_disagreement(w, op, lane, base[lane] != base[std::countr_zero(w.mask)]);
    return;  // where elements go is not defined
  }
  const auto type = static_cast<AccessType>(op.y);
  const bool load = type == AccessType::load;
  if (plan.by_matrices && is_shared(w, op, base)) {
    load_matrices(w, op, plan);
  } else if (plan.by_matrices && plan.transposed) {
    load_transposed(w, op, plan);
  } else {
    Temporaries t;
    for (unsigned k = 0; k < 4; ++k)
      t.refs[k] = static_cast<Ref>(reinterpret_cast<std::uintptr_t>(t.lanes[k]));
    for (const WmmaPlan::Access& a : plan.accesses) {
      const unsigned bytes = a.count * plan.element_bytes;
      Op access = op;
      access.list = t.refs;
      access.width = static_cast<std::uint8_t>(std::min(bytes, 8u));
      access.vec = static_cast<std::uint8_t>(bytes / access.width);
      std::uint64_t address[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        address[lane] = address_of_element(plan, base, op.imm, stride, lane, a.first, lane);
      const auto temporary = [&](unsigned lane, unsigned k) {
        const unsigned at = k * plan.element_bytes;
        return t.lanes[at / access.width] + lane * access.width + at % access.width;
      };
      if (!load)
        for (unsigned k = 0; k < a.count; ++k)
          for (unsigned lane = 0; lane < kLanes; ++lane)
            copy_element(temporary(lane, k), element_of(w, op, plan, lane, a.first + k),
                         plan.element_bytes);
      const Reached reached = move_lanes(w, access, address);
      count_accesses(*w.run, op, type, reached, address, bytes, false);
      if (load)
        for (unsigned k = 0; k < a.count; ++k)
          for (unsigned lane = 0; lane < kLanes; ++lane)
            if ((w.mask >> lane) & 1u)
              copy_element(element_of(w, op, plan, lane, a.first + k), temporary(lane, k),
                           plan.element_bytes);
    }
  }
  // f16 fragments: the registers that no tile needs repeat those before.
  for (unsigned r = plan.used; load && r < op.d; ++r) {  // Op::d: registers of the fragment
    const std::uint32_t* from = lanes_of<std::uint32_t>(w, op.list[r - plan.used]);
    std::uint32_t* to = lanes_of<std::uint32_t>(w, op.list[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if ((w.mask >> lane) & 1u) to[lane] = from[lane];
  }
}

namespace {

/// Whether there are fragments of elements smaller than a byte: rows of A, columns of B.
bool has_packed_fragment(const ptx::Modifiers& mod, Matrix matrix) {
  return matrix != Matrix::c && mod.row_a == (matrix == Matrix::a) && mod.m == 8 && mod.n == 8 &&
         mod.k == (mod.type == PT::b1 ? 128 : 32);
}

/// Whether there are fragments of this type and shape.
bool has_fragment(const ptx::Modifiers& mod, Matrix matrix) {
  const auto is = [&](unsigned m, unsigned n, unsigned k) {
    return mod.m == m && mod.n == n && mod.k == k;
  };
  const bool wide = is(16, 16, 16) || is(32, 8, 16) || is(8, 32, 16);
  switch (mod.type) {
    case PT::f16:
      return wide;
    case PT::f64:
      return is(8, 8, 4);
    case PT::s32:
      return matrix == Matrix::c && (wide || is(8, 8, 32) || is(8, 8, 128));
    case PT::s4:
    case PT::u4:
    case PT::b1:
      return has_packed_fragment(mod, matrix);
    case PT::f32:
      return matrix == Matrix::c && (wide || is(16, 16, 8));
    case PT::bf16:
    case PT::s8:
    case PT::u8:
      return matrix != Matrix::c && wide;
    case PT::tf32:
      return matrix != Matrix::c && is(16, 16, 8);
    default:
      return false;
  }
}

}  // namespace

void FunctionDecoder::wmma_access(const Ins& ins) {
  const ptx::Modifiers& mod = ins.mod;
  const std::string text(mod.text);
  const bool load = ins.op == Opcode::wmma_load;
  const Matrix matrix = mod.fragment == 'a'   ? Matrix::a
                        : mod.fragment == 'b' ? Matrix::b
                                              : Matrix::c;
  const PT type = mod.type;
  const unsigned m = mod.m, n = mod.n, k = mod.k;
  if (!has_fragment(mod, matrix))
    fail(text + " is a shape or a type that the simulated GPU does not have");
  const Space space = mod.space == Space::none ? Space::generic : mod.space;
  if (space != Space::generic && space != Space::shared && space != Space::global)
    fail(text + " reaches generic, shared and global memory only");

  InstructionInfo& info = p_.instructions[code_.first_pc + current_index_];
  info.klass =
      space == Space::shared ? InstructionClass::memory_shared : InstructionClass::memory_global;
  const unsigned bytes = ptx::size_of(type);
  const auto number = static_cast<std::uint32_t>(p_.wmma.size());
  const WmmaPlan& plan = p_.wmma.emplace_back(make_plan(matrix, m, n, k, bytes, mod.row_a));
  const unsigned registers = type == PT::f16 && matrix != Matrix::c ? 8 : plan.used;
  const unsigned register_bytes = type == PT::f64 ? 8 : 4;

  const Operand &memory = at(ins, load ? 1 : 0), &data = at(ins, load ? 0 : 1);
  std::int64_t offset;
  const Ref base = memory_base(memory, offset);
  // Without a stride rows (or columns) follow each other.
  const unsigned rows = matrix == Matrix::b ? k : m, columns = matrix == Matrix::a ? k : n;
  const Ref stride =
      ins.operands.size() > 2 ? source(at(ins, 2), 4) : b_.constant(mod.row_a ? columns : rows, 4);
  std::vector<Ref>& list = p_.lists.emplace_back(fragment(data, registers, register_bytes, load));
  Op& o = emit(op_wmma);
  o.a = base;
  o.b = stride;
  o.imm = offset;
  o.list = list.data();
  o.x = static_cast<std::uint8_t>(space);
  o.y = static_cast<std::uint8_t>(load ? AccessType::load : AccessType::store);
  o.z = 0;
  o.d = registers;
  o.slot = number;
  o.site = new_site();
}

}  // namespace simgpu::exec
