// Marks of values that nothing has set, where the lanes of a warp work on matrices: ldmatrix, stmatrix and movmatrix move
// them element by element, and a product brings those of a row of A to that row of D, of a column of B to that column.
#include <array>
#include <vector>

#include "common/simgpu/exec/carried.hpp"
#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/unset_marks.hpp"

namespace simgpu::exec {
namespace {

/// Where the marks of A and B get to in D.
class MarkedLines {
 public:
  MarkedLines(const Warp& w, const UnsetForm& f)
      : tiles_(f.tiles),
        per_tile_(f.to.size() / (std::size_t{tiles_.down} * tiles_.across)),
        of_halves_(per_tile_ == registers_of_c(tiles_.rows, 16)) {
    const std::size_t a = f.per_tile[0], b = f.per_tile[1];
    for (unsigned i = 0; i < kLanes; ++i) {
      for (std::size_t k = 0; k < tiles_.down * a; ++k) {
        const std::size_t below = tiles_.rows == 16 ? 8 * (k % a % 2) : 0;
        add(rows_[k / a * tiles_.rows + below + i / 4], mark_at(w, f.from[k], i));
      }
      for (std::size_t k = 0; k < tiles_.across * b; ++k)
        add(columns_[k / b * 8 + i / 4], mark_at(w, f.from[f.inputs[0] + k], i));
    }
  }

  /// Of register `k` of D.
  Mark of(std::size_t k, unsigned lane) const {
    const std::size_t tile = k / per_tile_, r = k % per_tile_;
    const std::size_t row = tile / tiles_.across * tiles_.rows, column = tile % tiles_.across * 8;
    Mark mark;
    for (std::size_t part = 0; part < (of_halves_ ? 2 : 1); ++part) {
      const Place p = mma_place(Matrix::c, tiles_.rows, 32, lane,
                                static_cast<unsigned>(of_halves_ ? 2 * r + part : r));
      Mark one = together(rows_[row + p.row], columns_[column + p.column]);
      if (of_halves_ && one) one.bits = std::uint64_t{0xffff} << (16 * part);
      mark = together(mark, one);
    }
    return mark;
  }

 private:
  static void add(Mark& to, Mark m) { to = together(to, computed(m)); }

  Tiling tiles_;
  std::size_t per_tile_;
  bool of_halves_;
  std::array<Mark, 32> rows_{}, columns_{};
};

/// Of an 8x8 matrix of 16-bit elements, whose fragments are those of matrix_moves.cpp.
struct MarkedMatrix {
  Mark at[8][8];

  Mark& element(unsigned lane, unsigned half, bool transposed) {
    const unsigned r = lane / 4, c = 2 * (lane % 4) + half;
    return transposed ? at[c][r] : at[r][c];
  }
  Mark fragment(unsigned lane, bool transposed) {
    Mark high = element(lane, 1, transposed);
    high.bits <<= 16;
    return together(element(lane, 0, transposed), high);
  }
  void set_fragment(unsigned lane, bool transposed, Mark m) {
    element(lane, 0, transposed) = {m.origin, m.bits & 0xffff};
    element(lane, 1, transposed) = {m.origin, m.bits >> 16 & 0xffff};
  }
};

MarkedMatrix of_register(const Warp& w, Ref from, bool transposed) {
  MarkedMatrix m;
  for (unsigned i = 0; i < kLanes; ++i)
    if ((w.mask >> i & 1u) != 0) m.set_fragment(i, transposed, mark_at(w, from, i));
  return m;
}
void to_register(const Warp& w, MarkedMatrix& m, bool transposed, Ref to) {
  Mark out[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) out[i] = m.fragment(i, transposed);
  set_marks(w, to, out);
}

}  // namespace

/// With rows that nothing has set, and whose results are thrown away, a product is right.
void product_marks(const Warp& w, const UnsetForm& f) {
  if (!any_marks(w, f.from)) return clear_marks(w, f.to);
  const std::size_t before_c = f.inputs[0] + f.inputs[1], c = f.from.size() - before_c;
  const MarkedLines lines(w, f);
  std::vector<std::array<Mark, kLanes>> out(f.to.size());
  for (std::size_t k = 0; k < f.to.size(); ++k)
    for (unsigned i = 0; i < kLanes; ++i) {
      const Mark sum = c == 0 ? Mark{} : mark_at(w, f.from[before_c + k * c / f.to.size()], i);
      const bool by_halves = f.halves && c == f.to.size();
      out[k][i] =
          together(lines.of(k, i), computed(sum, by_halves ? whole_halves(sum.bits) : kAllBits));
    }
  for (std::size_t k = 0; k < f.to.size(); ++k)
    for (unsigned i = 0; f.to[k] != kNoRef && i < kLanes; ++i)
      if (((w.mask >> i) & 1u) != 0) lanes_of<LaneMarks>(w, f.to[k])->set(i, out[k][i]);
}

/// What nobody has written counts as computed: who stores a fragment as it is stores elements of different rows.
void fetch_matrices(const Warp& w, const UnsetForm& f) {
  const BlockRun& run = *w.run;
  const bool strict = run.launch->program->tracks_unwritten;
  if (!strict && run.marked_shared.marks.empty()) return clear_marks(w, f.to);
  for (std::size_t m = 0; m < f.to.size(); ++m) {
    MarkedMatrix matrix;
    for (unsigned r = 0; r < 8; ++r) {
      const auto lane = static_cast<unsigned>(8 * m + r);
      if ((w.mask >> lane & 1u) == 0) continue;
      const MarkedPlace p = marked_place(w, f, lane, 8, false);
      if (p.bytes == nullptr) continue;
      const std::uint32_t missing = strict ? unwritten_bytes(run, p.target, 16) : 0;
      for (unsigned k = 0; k < 8; ++k)
        matrix.at[r][k] = (missing >> (2 * k) & 3u) != 0
                              ? computed({f.origin, 0xffff}, 0xffff)
                              : p.bytes->get(p.at + 2 * k, 2, p.target.data + 2 * k);
    }
    to_register(w, matrix, f.transposed, f.to[m]);
  }
}

void save_matrices(const Warp& w, const UnsetForm& f) {
  if (w.run->marked_shared.marks.empty() && !any_marks(w, f.from)) return;
  for (std::size_t m = 0; m < f.from.size(); ++m) {
    const MarkedMatrix matrix = of_register(w, f.from[m], f.transposed);
    for (unsigned r = 0; r < 8; ++r) {
      const auto lane = static_cast<unsigned>(8 * m + r);
      if ((w.mask >> lane & 1u) == 0) continue;
      const MarkedPlace p = marked_place(w, f, lane, 8, true);
      if (p.bytes == nullptr) continue;
      p.bytes->make(p.size);
      for (unsigned k = 0; k < 8; ++k)
        p.bytes->put(p.at + 2 * k, matrix.at[r][k], 2, p.target.data + 2 * k);
    }
  }
}

void transpose_marks(const Warp& w, const UnsetForm& f) {
  if (!any_marks(w, f.from)) return clear_marks(w, f.to);
  MarkedMatrix matrix = of_register(w, f.from[0], false);
  to_register(w, matrix, true, f.to[0]);
}

}  // namespace simgpu::exec
