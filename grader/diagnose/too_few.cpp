// Elements of a whole tile that nobody stores: which threads, warps or blocks store too few.
#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {

std::string too_few_stores(const Evidence& evidence) {
  const auto [rows, cols] = tile_of_c(evidence.operation, evidence.tile);
  const Tile& t = evidence.tile;
  if (rows < 1 || cols < 1) return "";
  const auto whole =
      probe_case(evidence, {2 * t.bm, 2 * std::max(1, t.bn), 2 * std::max(1, t.bk), 0, 0, 0}, 51);
  if (!whole || whole->run.launches.size() != 1) return "";
  const simgpu::LaunchReport& launch = whole->run.launches.front();
  if (!(launch.grid == simgpu::Dim3{2, 2, 1})) return "";
  const int threads = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  const int elements = rows * cols;
  int stored = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) stored += whole->state_at(i, j) != State::untouched;
  if (stored == 0 || stored == elements || elements % threads != 0 || stored % threads != 0)
    return "";
  return messages::text("UNWRITTEN.passes.next", {{"threads", threads},
                                                  {"stored", stored},
                                                  {"elements", elements},
                                                  {"tile", fmt::format("{} x {}", rows, cols)},
                                                  {"each", stored / threads},
                                                  {"needed", elements / threads}});
}

void ask_of_fewer_blocks(const Tile& t, const Case& c, Diagnosis& d) {
  // Of how many threads there are along x and y has been asked.
  if (c.run.launches.size() != 1 || t.bm < 2 || t.bn < 2 ||
      d.next_step.key() == "UNWRITTEN.hint.few")
    return;
  const simgpu::Dim3& grid = c.run.launches.front().grid;
  const int across = tiles_of(c.n, t.bn), tiles = tiles_of(c.m, t.bm) * across;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  // Of a grid with rows and columns, each of its sides is asked for.
  if (grid.y != 1 || grid.z != 1 || blocks >= static_cast<std::uint64_t>(tiles)) return;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const bool has_block = static_cast<std::uint64_t>(i / t.bm * across + j / t.bn) < blocks;
      if (has_block != (c.state_at(i, j) != State::untouched)) return;
    }
  d.next_step = NextStep::of("UNWRITTEN.hint.tiles",
                             {{"tiles", tiles},
                              {"bm", t.bm},
                              {"bn", t.bn},
                              {"blocks", counted(static_cast<std::int64_t>(blocks), "block")}});
}

std::string shares_missing(const Evidence& evidence, const Case& c, int first) {
  const auto [rows, cols] = tile_of_c(evidence.operation, evidence.tile);
  const std::string kernel = c.run.launches.empty() ? "" : c.run.launches.back().kernel;
  const unsigned splits = blocks_per_tile(evidence, c.run, kernel);
  const auto row_missing = [&](int i) {
    for (int j = 0; j < c.n; ++j)
      if (c.state_at(i, j) != State::untouched) return false;
    return true;
  };
  if (splits == 0 || cols < 1 || !row_missing(first)) return "";
  const auto at = static_cast<unsigned>(first % rows), of_rows = static_cast<unsigned>(rows);
  return messages::text("UNWRITTEN.shares.next", {{"splits", splits},
                                                  {"rows", rows},
                                                  {"row", at},
                                                  {"rank", at * splits / of_rows},
                                                  {"each", (of_rows + splits - 1) / splits}});
}

namespace {

/// "warp 3 stores", "warps 0 and 1 store", "warps 2 to 7 store".
std::string warps_store(unsigned first, unsigned last) {
  return messages::text(first == last       ? "part.warp_stores"
                        : last == first + 1 ? "part.two_warps_store"
                                            : "part.warps_store",
                        {{"first", first}, {"last", last}});
}

}  // namespace

std::string later_warps_missing(const Evidence& evidence) {
  const auto [rows, cols] = tile_of_c(evidence.operation, evidence.tile);
  if (rows < 1 || cols < 1 || !evidence.follow) return "";
  const Tile& t = evidence.tile;
  const auto whole =
      probe_case(evidence, {2 * t.bm, 2 * std::max(1, t.bn), 2 * std::max(1, t.bk), 0, 0, 0}, 51);
  if (!whole || whole->run.launches.size() != 1) return "";
  const simgpu::LaunchReport& launch = whole->run.launches.front();
  if (launch.block.y * launch.block.z != 1) return "";
  const unsigned warps = (launch.block.x + 31) / 32;
  const auto stores = [&](unsigned warp) {
    const auto seen = evidence.follow(whole->run, {{0, 0, 0}, warp});
    if (!seen) return true;
    const auto to_c = [](const simgpu::AccessSample& s) {
      return s.type == simgpu::AccessType::store && s.object == "C" && s.mask != 0;
    };
    return std::any_of(seen->launches.begin(), seen->launches.end(), [&](const auto& l) {
      return std::any_of(l.samples.begin(), l.samples.end(), to_c);
    });
  };
  unsigned storing = 0;
  while (storing < warps && stores(storing)) ++storing;
  if (storing == 0 || storing >= warps) return "";
  for (unsigned warp = storing; warp < warps; ++warp)
    if (stores(warp)) return "";
  return messages::text("UNWRITTEN.warps.next", {{"stores", warps_store(0, storing - 1)},
                                                 {"rest", warps_store(storing, warps - 1)},
                                                 {"thread", storing * 32}});
}

}  // namespace grader::diag
