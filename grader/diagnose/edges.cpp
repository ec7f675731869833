// Which index of a matrix goes too far.
//
// Where rows follow each other, the place right behind a row is the first one of the next row: an
// address beyond the end of a matrix is no evidence against its row or its column. The same call on
// matrices whose rows lie far apart is.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

using simgpu::Finding;
using simgpu::FindingKind;
using simgpu::MemorySpace;

/// Between one row and the next: more than a tile hangs over an edge. A multiple of 16 bytes in every
/// type, so that rows are aligned as they were.
constexpr int kApart = 512;

struct Element {
  std::int64_t row = 0, col = 0;
};

std::int64_t floor_div(std::int64_t n, std::int64_t d) {
  return n / d - (n % d < 0 ? 1 : 0);
}

/// The element at so many bytes from the start of m, whose rows lie far apart: what lies in the second
/// half of the gap is in front of the next row.
Element element_at(const Matrix& m, std::int64_t offset) {
  const std::int64_t index = floor_div(offset, static_cast<std::int64_t>(size_of(m.type)));
  Element e{floor_div(index, m.ld), 0};
  e.col = index - e.row * m.ld;
  if (e.col >= m.cols + (m.ld - m.cols) / 2) ++e.row, e.col -= m.ld;
  return e;
}

const Matrix* matrix_of(const Finding& finding, const Run& run) {
  if (finding.kind != FindingKind::out_of_bounds || finding.at.space != MemorySpace::global)
    return nullptr;
  const Matrix* const m = finding.at.object == "A"   ? &run.a
                          : finding.at.object == "B" ? &run.b
                          : finding.at.object == "C" ? &run.c_before
                                                     : nullptr;
  return m != nullptr && m->rows > 0 && m->cols > 0 ? m : nullptr;
}

/// The access out of bounds in the same line and of the same matrix.
const Finding* same_access(const Run& run, const Finding& wanted) {
  for (const simgpu::LaunchReport& launch : run.launches)
    for (const Finding& f : launch.findings)
      if (f.kind == wanted.kind && f.at.where == wanted.at.where && f.at.type == wanted.at.type &&
          f.at.object == wanted.at.object)
        return &f;
  return nullptr;
}

/// The same where nothing hangs over an edge of C: there are just as many blocks as whole tiles.
bool even_in_whole_tiles(const Evidence& evidence, const Finding& finding) {
  const Tile& t = evidence.tile;
  if (evidence.operation != Operation::product || t.bm < 1 || t.bn < 1) return false;
  const int m = 2 * t.bm, n = 2 * t.bn, k = 4 * std::max(t.bk, 8);
  const auto whole = probe_case(evidence, {m, n, k, 0, 0, 0}, 43);
  if (!whole || whole->run.launches.size() != 1) return false;
  const simgpu::LaunchReport& launch = whole->run.launches.front();
  const bool covers = launch.grid == simgpu::Dim3{2, 2, 1} || launch.grid == simgpu::Dim3{4, 1, 1};
  return covers && same_access(whole->run, finding) != nullptr;
}

/// If C, and not matrices of partial sums, was given, and a later block stores its tile into the n-th matrix
/// behind C: n; else 0. (Where a guard is missing, a block leaves its own tile.)
std::int64_t matrices_skipped(const Evidence& evidence, const Run& run, const Finding& found,
                              const Element& at) {
  const Matrix& c = run.c_before;
  const Tile& t = evidence.tile;
  const simgpu::Dim3& block = found.at.block;
  if (found.at.object != "C" || found.at.type != simgpu::AccessType::store || t.bm < 1 ||
      t.bn < 1 || (block.x == 0 && block.y == 0) || at.row < c.rows || at.col < 0 ||
      at.col >= c.cols)
    return 0;
  const std::int64_t across = tiles_of(c.cols, t.bn);
  const std::int64_t down = at.row % c.rows / t.bm, right = at.col / t.bn;
  const bool in_order = block.y == 0 && down == block.x / across && right == block.x % across;
  return in_order || (down == block.y && right == block.x) ? at.row / c.rows : 0;
}

/// "M", "N" or "K": how far the rows, or the columns, of a matrix go.
std::string extent_of(const std::string& matrix, Operation operation, bool row) {
  if (matrix == "A") return row ? "M" : "K";
  if (matrix == "B") return row ? "K" : "N";
  if (row) return operation == Operation::copy_b ? "K" : "M";
  return operation == Operation::copy_a ? "K" : "N";
}

}  // namespace

std::string also_at(const simgpu::Access& access, const Matrix& m) {
  const auto width = static_cast<std::int64_t>(size_of(m.type));
  if (m.ld == 0 || access.offset % width != 0) return "";
  const std::int64_t index = access.offset / width, row = index / m.ld;
  if (access.offset < static_cast<std::int64_t>(access.object_bytes) || row != m.rows) return "";
  const std::int64_t last = std::int64_t{m.rows} - 1;
  return messages::text("detail.also_at",
                        {{"one", element(access.object, row, index % m.ld)},
                         {"other", element(access.object, last, m.ld + index % m.ld)}});
}

namespace {

/// With K = 1 the line runs, and stays inside its matrix: what goes too far there grows with k, or with K.
bool grows_with_k(const Evidence& evidence, const Run& run, const Finding& finding) {
  if (evidence.operation != Operation::product || run.a.cols < 2) return false;
  const auto one = probe_case(evidence, {run.a.rows, run.b.cols, 1, kApart, kApart, kApart}, 41);
  if (!one || same_access(one->run, finding) != nullptr) return false;
  bool loads = false;
  for (const simgpu::LaunchReport& launch : one->run.launches) {
    if (!launch.completed) return false;
    for (const simgpu::LineCounts& l : launch.lines)
      loads |= l.where == finding.at.where && l.counts.global_load.requests > 0;
  }
  return loads;
}

/// The kernel of this finding has run and multiplied nothing. (Indices are made by integer products as well.)
bool only_copies(const Run& run, const Finding& finding) {
  if (run.a.type == ElementType::int32) return false;
  return std::any_of(run.launches.begin(), run.launches.end(), [&](const auto& launch) {
    const simgpu::Counts& t = launch.total;
    return launch.kernel == finding.kernel && t.warp_instructions > 0 && t.tensor_ops.empty() &&
           t.fma_f16 + t.fma_f32 + t.fma_f64 + t.mul_f32 + t.mul_f64 == 0;
  });
}

}  // namespace

namespace {

/// An index that should stay below `extent` leaves its matrix only where another extent is larger than that:
/// "N", say. "" if there is no such.
std::string bounded_by(const Evidence& evidence, const Finding& finding,
                       const std::string& extent) {
  constexpr int kSide = 5, kMore = 2;  // of matrices that no tile fits into
  const auto leaves = [&](const std::string& larger) {
    const auto of = [&larger](const char* name) { return larger == name ? kSide + kMore : kSide; };
    const auto c = probe_case(evidence, {of("M"), of("N"), of("K"), kApart, kApart, kApart}, 47);
    return c ? std::optional(same_access(c->run, finding) != nullptr) : std::nullopt;
  };
  if (leaves("") != false || leaves(extent) != false) return "";
  std::string by;
  for (const char* const other : {"M", "N", "K"}) {
    if (other == extent || leaves(other) != true) continue;
    if (!by.empty()) return "";
    by = other;
  }
  return by;
}

/// What an extent counts.
std::string counted_by(const std::string& extent) {
  return messages::text(extent == "M"   ? "part.extent.m"
                        : extent == "N" ? "part.extent.n"
                                        : "part.extent.k");
}

}  // namespace

namespace {

/// Where rows follow each other the line runs, stays inside, and C is right: what bounds the column is made of ld.
bool bounded_by_ld(const Evidence& evidence, const Run& run, const Finding& finding) {
  const auto dense = probe_case(evidence, {run.a.rows, run.b.cols, run.a.cols, 0, 0, 0}, 37);
  return dense && dense->wrong == 0 && !dense->out_of_bounds &&
         same_access(dense->run, finding) == nullptr;
}

/// How far behind the beginning of its block's tile of C a row, or column, lies that left its matrix, if a bound
/// that forgets where the tile begins would let it pass, and none is missing: a C in the first block's tile is
/// kept to. Else -1.
std::int64_t within_tile(const Evidence& evidence, const Finding& finding, bool row,
                         const Element& at, const Matrix& m) {
  constexpr int kSide = 5;
  const std::int64_t reached = row ? at.row : at.col, extent = row ? m.rows : m.cols;
  const auto [rows, cols] = tile_of_c(evidence.operation, evidence.tile);
  const std::int64_t tile = row ? rows : cols,
                     block = row ? finding.at.block.y : finding.at.block.x,
                     within = reached - block * tile;
  if (evidence.operation != Operation::product || tile <= kSide || block < 1 || within < 0 ||
      within >= tile || within >= extent)
    return -1;
  const auto first = probe_case(evidence, {kSide, kSide, kSide, kApart, kApart, kApart}, 47);
  const auto runs = [&](const simgpu::LaunchReport& launch) {
    return std::any_of(launch.lines.begin(), launch.lines.end(),
                       [&](const auto& l) { return l.where == finding.at.where; });
  };
  const bool kept = first && !first->out_of_bounds && !first->run.launches.empty() &&
                    runs(first->run.launches.front());
  return kept ? within : -1;
}

/// Which text fits an index that goes beyond the edge of its matrix, by what it does at other shapes; and
/// the extent that bounds it, if it is another one. `what`: the text that fits otherwise.
std::pair<const char*, std::string> at_the_edge(const Evidence& evidence, const Run& run,
                                                const Finding& finding, const char* what,
                                                bool row) {
  const std::string& object = finding.at.object;
  const bool edge = what == std::string_view("edge");
  if (!edge && what != std::string_view("k")) return {what, ""};
  if (!row && bounded_by_ld(evidence, run, finding)) return {"ld", ""};
  if (!edge) return {what, ""};
  const std::string extent = extent_of(object, evidence.operation, row);
  // First: a bound of K grows with K as well.
  if (std::string by = bounded_by(evidence, finding, extent); !by.empty()) {
    const bool of_result =
        object == "C" && by == "K" && finding.at.type == simgpu::AccessType::load;
    return {of_result ? "result" : "bound", std::move(by)};
  }
  if (object != "C" && grows_with_k(evidence, run, finding)) return {"along_k", ""};
  return {even_in_whole_tiles(evidence, finding) ? "whole" : "edge", ""};
}

}  // namespace

void name_index(const Evidence& evidence, const Run& run, const Finding& finding, Diagnosis& d) {
  const Matrix* const close = matrix_of(finding, run);
  if (close == nullptr) return;
  const auto pad = [](const Matrix& m) { return m.ld - m.cols + kApart; };
  const auto apart = probe_case(
      evidence, {run.a.rows, run.b.cols, run.a.cols, pad(run.a), pad(run.b), pad(run.c_before)},
      37);
  const Finding* const found = apart ? same_access(apart->run, finding) : nullptr;
  if (found == nullptr) return;
  const Matrix& m = *matrix_of(*found, apart->run);
  const Element at = element_at(m, found->at.offset);
  const bool row = at.row < 0 || at.row >= m.rows, col = at.col < 0 || at.col >= m.cols;
  if (!row && !col) return;  // 16 bytes that begin inside
  const std::string extent = extent_of(found->at.object, evidence.operation, row);
  // A kernel that only copies a matrix for another one walks along rows and columns.
  const bool of_k =
      evidence.operation == Operation::product && extent == "K" && !only_copies(apart->run, *found);
  const std::int64_t reached = row ? at.row : at.col;
  const std::int64_t skipped = matrices_skipped(evidence, apart->run, *found, at);
  const char* what = skipped > 0   ? "matrix"
                     : reached < 0 ? "before"
                     : row && col  ? "both"
                     : of_k        ? "k"
                                   : "edge";
  std::string by;
  std::tie(what, by) = at_the_edge(evidence, run, *found, what, row);
  std::int64_t within = -1;
  if (what == std::string_view("edge")) within = within_tile(evidence, *found, row, at, m);
  if (within >= 0) what = "tile_edge";
  const Diagnosis named = say("OOB", what,
                              {{"where", line_of(found->at.where)},
                               {"verb", found->at.type == simgpu::AccessType::load    ? "reads"
                                        : found->at.type == simgpu::AccessType::store ? "writes"
                                                                                      : "updates"},
                               {"object", element(found->at.object, at.row, at.col)},
                               {"matrix", found->at.object},
                               {"meant", element("C", at.row % m.rows, at.col)},
                               {"count", skipped},
                               {"m", m.rows},
                               {"n", m.cols},
                               {"index", row ? "row" : "column"},
                               {"other", row ? "column" : "row"},
                               {"reached", reached},
                               {"within", within},
                               {"block", coordinates(found->at.block)},
                               {"extent", extent},
                               {"by", by},
                               {"counts", counted_by(by)},
                               {"last", (row ? m.rows : m.cols) - 1}});
  d.headline = named.headline;
  d.next_step = named.next_step;
  d.details = explain(*found, evidence.tile, &apart->run, evidence.type).details;
  d.details.resize(1);  // what else they say is about rows that follow each other
}

}  // namespace grader::diag
