// Two threads that store to one place: what they should have asked of their indices, and which of
// two findings is the cause of the other.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

using simgpu::AccessType;
using simgpu::Finding;
using simgpu::FindingKind;

bool both_store(const Finding& finding) {
  return finding.kind == FindingKind::global_race && finding.other &&
         finding.at.type == AccessType::store && finding.other->type == AccessType::store;
}

/// The same line read what nobody had stored yet.
bool reads_nothing(const simgpu::LaunchReport* launch, const simgpu::SourceLine& line) {
  return launch != nullptr &&
         std::any_of(launch->findings.begin(), launch->findings.end(), [&](const Finding& f) {
           return f.kind == FindingKind::uninitialised_read && f.at.where == line &&
                  f.at.space == simgpu::MemorySpace::shared;
         });
}

}  // namespace

simgpu::SourceLine place_of(const Finding& finding) {
  if (finding.at.actor == simgpu::Actor::launch) return {};  // no line of the kernel is to blame
  const auto own = [](const simgpu::SourceLine& line) {
    return line.line != 0 && header_of(line).empty();
  };
  return !own(finding.at.where) && finding.other && own(finding.other->where) ? finding.other->where
                                                                              : finding.at.where;
}

std::string variant_of_tile_race(const Finding& finding, const simgpu::LaunchReport* launch) {
  using simgpu::Actor;
  const bool at_reads = finding.at.type == AccessType::load;
  const simgpu::Access& reader = at_reads ? finding.at : *finding.other;
  const simgpu::Access& writer = at_reads ? *finding.other : finding.at;
  if (reader.actor == Actor::wgmma) return "wgmma";
  if (writer.actor == Actor::engine)
    return reads_nothing(launch, reader.where) ? "early" : "engine";
  if (writer.actor == Actor::async_copy) return "copy";
  const bool one_warp = reader.block == writer.block && reader.thread.y == 0 &&
                        writer.thread.y == 0 && reader.thread.x / 32 == writer.thread.x / 32;
  return at_reads && one_warp ? "warp" : "";
}

unsigned blocks_per_tile(const Evidence& evidence, const Run& run, const std::string& kernel) {
  const auto [rows, cols] = tile_of_c(evidence.operation, evidence.tile);
  const auto launch = std::find_if(run.launches.begin(), run.launches.end(),
                                   [&](const auto& one) { return one.kernel == kernel; });
  if (rows < 2 || cols < 2 || launch == run.launches.end() || launch->grid.y != 1 ||
      launch->grid.z != 1)
    return 0;
  const auto tiles =
      static_cast<unsigned>(tiles_of(run.c_before.rows, rows) * tiles_of(run.c_before.cols, cols));
  return tiles > 0 && launch->grid.x > tiles && launch->grid.x % tiles == 0 ? launch->grid.x / tiles
                                                                            : 0;
}

bool stored_twice(const Run& run) {
  for (const simgpu::LaunchReport& launch : run.launches)
    for (const Finding& finding : launch.findings)
      if (both_store(finding) && finding.at.object == "C") return true;
  return false;
}

const Finding* first_cause(const std::vector<simgpu::LaunchReport>& launches) {
  const Finding* const worst = worst_finding(launches);
  if (worst == nullptr || worst->kind != FindingKind::uninitialised_read) return worst;
  for (const simgpu::LaunchReport& launch : launches)
    for (const Finding& finding : launch.findings)
      if (both_store(finding) && finding.at.object == worst->at.object) return &finding;
  return worst;
}

namespace {

/// Where a block's tile ends, and what of it was left by one of two threads of different blocks that
/// store to one element of C: the other block owns it.
struct Left {
  const simgpu::Access* leaving = nullptr;
  simgpu::Dim3 owner;
  int rows = 0, cols = 0;               ///< of a tile
  std::int64_t row = 0, col = 0;        ///< of the element in C
  std::int64_t in_row = 0, in_col = 0;  ///< counted from where the tile that was left begins
};

std::optional<Left> left_tile(const Evidence& evidence, const Run& run, const Finding& finding) {
  const auto [rows, cols] = tile_of_c(evidence.operation, evidence.tile);
  const Matrix& c = run.c_before;
  const auto width = static_cast<std::int64_t>(size_of(c.type));
  if (rows < 2 || cols < 2 || c.ld < 1 || run.launches.size() != 1 || finding.at.offset < 0)
    return std::nullopt;
  const auto tiles = [](int extent, int tile) {
    return static_cast<std::uint32_t>(tiles_of(extent, tile));
  };
  // Blocks lie as tiles do: x counts them along a row of C.
  const simgpu::Dim3 grid{tiles(c.cols, cols), tiles(c.rows, rows), 1};
  if (!(run.launches.front().grid == grid)) return std::nullopt;
  Left left;
  left.rows = rows, left.cols = cols;
  left.row = finding.at.offset / width / c.ld, left.col = finding.at.offset / width % c.ld;
  left.owner = {static_cast<std::uint32_t>(left.col / cols),
                static_cast<std::uint32_t>(left.row / rows), 0};
  const bool one = finding.at.block == left.owner, other = finding.other->block == left.owner;
  if (one == other) return std::nullopt;
  left.leaving = one ? &*finding.other : &finding.at;
  left.in_row = left.row - std::int64_t{left.leaving->block.y} * rows;
  left.in_col = left.col - std::int64_t{left.leaving->block.x} * cols;
  return left;
}

/// "row 72, and the last one is 63": the index that leaves the tile.
std::string how_left(const Left& left) {
  const bool row = left.in_row < 0 || left.in_row >= left.rows;
  return messages::text("RACE-WAW.left.index", {{"what", row ? "row" : "column"},
                                                {"index", row ? left.in_row : left.in_col},
                                                {"last", (row ? left.rows : left.cols) - 1}});
}

/// Threads of two blocks of which only one stays in its tile: the other one's index is wrong, and not
/// where blocks begin.
bool ask_who_left(const Evidence& evidence, const Run& run, const Finding& finding, Diagnosis& d) {
  const simgpu::Access &one = finding.at, &other = *finding.other;
  if (one.block == other.block || one.thread == other.thread) return false;
  const std::optional<Left> left = left_tile(evidence, run, finding);
  if (!left) return false;
  if (left->in_row < 0 || left->in_col < 0) {
    const bool row = left->in_row < 0;
    const simgpu::Dim3& block = left->leaving->block;
    d.next_step = messages::text(
        "RACE-WAW.left.before.next",
        {{"thread", coordinates(left->leaving->thread)},
         {"block", coordinates(block)},
         {"element", element("C", left->row, left->col)},
         {"what", row ? "row" : "column"},
         {"begin", row ? std::int64_t{block.y} * left->rows : std::int64_t{block.x} * left->cols},
         {"index", row ? "y" : "x"},
         {"extent", row ? left->rows : left->cols}});
    return true;
  }
  d.next_step = messages::text(
      evidence.tile.wm > 0 || evidence.operation != Operation::product ? "RACE-WAW.left.lanes.next"
                                                                       : "RACE-WAW.left.next",
      {{"thread", coordinates(left->leaving->thread)},
       {"block", coordinates(left->leaving->block)},
       {"owner", coordinates(left->owner)},
       {"tile", std::to_string(left->rows) + " x " + std::to_string(left->cols)},
       {"element", element("C", left->row, left->col)},
       {"how", how_left(*left)}});
  return true;
}

/// Blocks that share a tile store the same element of it.
bool ask_of_shares(const Evidence& evidence, const Run& run, const Finding& finding, Diagnosis& d) {
  const simgpu::Access &one = finding.at, &other = *finding.other;
  const unsigned splits = blocks_per_tile(evidence, run, finding.kernel);
  if (splits == 0 || one.block == other.block || one.block.x / splits != other.block.x / splits)
    return false;
  d.next_step =
      messages::text("RACE-WAW.shared_tile.next", {{"one", std::min(one.block.x, other.block.x)},
                                                   {"other", std::max(one.block.x, other.block.x)},
                                                   {"splits", splits}});
  return true;
}

/// Threads of two blocks, or of two warps that are not the same lane: their parts overlap.
void ask_of_warps(const Evidence& evidence, const Run& run, const Finding& finding, Diagnosis& d) {
  if (ask_of_shares(evidence, run, finding, d)) return;
  const Tile& tile = evidence.tile;
  const simgpu::Access &one = finding.at, &other = *finding.other;
  if (one.block != other.block && one.thread != other.thread) {
    d.next_step =
        messages::text("RACE-WAW.tiles.next",
                       {{"rows", tile.wm}, {"columns", tile.wn}, {"bm", tile.bm}, {"bn", tile.bn}});
    return;
  }
  const bool by_x = one.thread.y == 0 && other.thread.y == 0;
  const std::uint32_t warp = one.thread.x / 32, beside = other.thread.x / 32;
  if (!by_x || one.block != other.block || warp == beside) return;
  // A warp more than the tile has parts does something else: it stores no part.
  const int parts = tile.wn > 0 ? tile.bm / tile.wm * (tile.bn / tile.wn) : 0;
  if (parts > 0 && std::max(warp, beside) >= static_cast<std::uint32_t>(parts)) return;
  if (ask_where_warps_begin(evidence, run, finding, d)) return;
  const bool same_lane = one.thread.x % 32 == other.thread.x % 32;
  const bool below = tile.wn > 0 && tile.wn == tile.bn;  // no two warps side by side
  d.next_step = messages::text(same_lane && below ? "RACE-WAW.same_rows.next"
                               : same_lane        ? "RACE-WAW.same_part.next"
                                                  : "RACE-WAW.overlapping.next",
                               {{"one", std::max(warp, beside)},
                                {"other", std::min(warp, beside)},
                                {"rows", tile.wm},
                                {"columns", tile.wn}});
}

std::uint64_t threads_started(const simgpu::LaunchReport& launch) {
  const simgpu::Dim3 &grid = launch.grid, &block = launch.block;
  return std::uint64_t{grid.x} * grid.y * grid.z * block.x * std::uint64_t{block.y} * block.z;
}

/// At a shape of a few elements every thread that was launched stores every one of them.
bool each_stores_all(const Evidence& evidence) {
  const auto few = probe_case(evidence, {2, 3, 4, 0, 0, 0}, 61);
  if (!few || few->run.launches.size() != 1) return false;
  const simgpu::LaunchReport& launch = few->run.launches.front();
  const std::uint64_t threads = threads_started(launch);
  const auto elements = static_cast<std::uint64_t>(few->size()) * size_of(few->run.c_after.type);
  return threads > 1 && launch.total.global_store.bytes == threads * elements;
}

/// More is stored than there are threads, so some of them store several elements: says so. Else empty.
std::optional<std::string> ask_of_visits(const Evidence& evidence) {
  const auto few = probe_case(evidence, {33, 17, 5, 0, 0, 0}, 61);
  if (!few || few->run.launches.size() != 1) return std::nullopt;
  const simgpu::LaunchReport& launch = few->run.launches.front();
  const std::uint64_t threads = threads_started(launch);
  const auto stores = launch.total.global_store.bytes / size_of(few->run.c_after.type);
  if (stores <= threads) return std::nullopt;
  return messages::text("RACE-WAW.visits.next",
                        {{"m", few->m}, {"n", few->n}, {"threads", threads}, {"stores", stores}});
}

/// Where each thread has one element.
std::string ask_of_element(const Evidence& evidence, const std::vector<messages::Gap>& gaps) {
  if (each_stores_all(evidence)) return messages::text("RACE-WAW.all.next");
  if (auto several = ask_of_visits(evidence)) return *std::move(several);
  return messages::text("RACE-WAW.element.next", gaps);
}

}  // namespace

void ask_of_parts(const Evidence& evidence, const Run& run, const Finding& finding, Diagnosis& d) {
  const Tile& tile = evidence.tile;
  if (both_store(finding) && finding.at.object.starts_with("scratch "))
    d.next_step = messages::text(finding.at.block == finding.other->block ? "RACE-WAW.scratch.next"
                                                                          : "RACE-WAW.parts.next");
  // With tensor cores a thread has no rectangle of its own.
  if (!both_store(finding) || finding.at.object != "C") return;
  if (ask_who_left(evidence, run, finding, d) || ask_of_overlap(evidence, run, finding, d)) return;
  if (tile.wm > 0) return ask_of_warps(evidence, run, finding, d);
  const simgpu::Access &one = finding.at, &other = *finding.other;
  if (one.block != other.block) return;
  const auto apart = [](std::uint32_t x, std::uint32_t y) { return x < y ? y - x : x - y; };
  const std::uint32_t x = apart(one.thread.x, other.thread.x),
                      y = apart(one.thread.y, other.thread.y);
  if ((x == 0) == (y == 0) || one.thread.z != other.thread.z) return;
  const std::vector<messages::Gap> gaps = {{"difference", y > 0 ? "threadIdx.y" : "threadIdx.x"},
                                           {"steps", y > 0 ? y : x}};
  if (tile.tm < 2 && tile.tn < 2) {
    d.next_step = ask_of_element(evidence, gaps);
    return;
  }
  if (tile.tn < 1) return;
  // Blocks of a single row of threads: so many of them share a row of the tile.
  const auto across = static_cast<std::uint32_t>(tile.bn / tile.tn);
  const bool beyond_row = std::max(one.thread.x, other.thread.x) >= across && across > 0;
  if (beyond_row && one.thread.x / across != other.thread.x / across && x % across != 0) return;
  const bool rows = y > 0 || (beyond_row && x % across == 0);
  d.next_step = messages::text(rows ? "RACE-WAW.rows.next" : "RACE-WAW.columns.next", gaps);
}

}  // namespace grader::diag
