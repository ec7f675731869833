// Threads that are numbered through and take an array row by row: what / and % of their numbers have divided by.
#include <algorithm>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

/// What a number may have been divided by: sides of the lab's tiles and of the block.
std::vector<std::int64_t> lengths(const Tile& tile, const simgpu::Dim3& block) {
  std::vector<std::int64_t> list;
  for (const std::int64_t x : {std::int64_t{tile.bk}, std::int64_t{tile.bn}, std::int64_t{tile.bm},
                               std::int64_t{block.x}, std::int64_t{block.y}})
    if (x > 1 && std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
  return list;
}

}  // namespace

bool ask_of_rows_of_threads(const simgpu::Dim3& block, const simgpu::Dim3& thread,
                            const std::vector<std::int64_t>& first, std::int64_t count,
                            Diagnosis& d) {
  const auto lane = std::size_t{(thread.y * block.x + thread.x) % 32};
  if (block.y < 2 || block.z > 1 || thread.y == 0 || block.x % 32 != 0 || lane >= first.size() ||
      count < 1)
    return false;
  for (std::size_t i = 1; i < first.size(); ++i)
    if (first[i] != first[i - 1] + count) return false;
  // Where this row of threads begins, and how far from the one above it.
  const std::int64_t begin = first[lane] - std::int64_t{thread.x} * count, far = begin / thread.y,
                     right = std::int64_t{block.x} * count;
  if (begin <= 0 || begin % thread.y != 0 || far <= right) return false;
  d.next_step = messages::text(
      "OOB.rows_of_threads.next",
      {{"y", thread.y}, {"begin", begin}, {"far", far}, {"threads", block.x}, {"right", right}});
  return true;
}

bool ask_of_numbering(const Evidence& evidence, const simgpu::Dim3& block,
                      const std::vector<std::int64_t>& first, std::int64_t number,
                      std::int64_t count, std::int64_t elements, Diagnosis& d) {
  const std::vector<std::int64_t> sides = lengths(evidence.tile, block);
  // Thread t has piece t: row t / by of rows of `row` elements, and in it piece t % rest.
  const auto fits = [&](std::int64_t row, std::int64_t by, std::int64_t rest) {
    if (row % count != 0 || by % count != 0 || rest % count != 0) return false;
    for (std::size_t lane = 0; lane < first.size(); ++lane) {
      const std::int64_t t = number + static_cast<std::int64_t>(lane);
      if (first[lane] != t / (by / count) * row + t % (rest / count) * count) return false;
    }
    return true;
  };
  // Of threads that all lie in one row, nobody knows by what the row's number was divided.
  const auto in_several_rows = [&](std::int64_t by) {
    const auto last = number + static_cast<std::int64_t>(first.size()) - 1;
    return number / (by / count) != last / (by / count);
  };
  for (const std::int64_t row : sides) {
    if (elements % row != 0 || fits(row, row, row)) continue;
    for (const std::int64_t other : sides) {
      const bool rest = fits(row, row, other);
      if (other == row || (!rest && !fits(row, other, row))) continue;
      if (!in_several_rows(rest ? row : other)) continue;
      d.next_step = messages::text(
          "OOB.numbering.next",
          {{"row", row},
           {"by", (rest ? row : other) / count},
           {"rest", (rest ? other : row) / count},
           {"what", messages::text(count > 1 ? "part.row.pieces" : "part.row.elements")}});
      return true;
    }
  }
  return false;
}

namespace {

/// Elements in a row of a product's tile with bk rows, without padding, where warps have parts of its columns. 0: the array
/// is no such tile, or it is not a thread that accesses it.
std::int64_t row_of_parts(const Evidence& evidence, const simgpu::Access& at) {
  const Tile& tile = evidence.tile;
  if (evidence.operation != Operation::product || tile.wm < 1 || tile.wn < 1 || tile.bk < 2 ||
      at.actor != simgpu::Actor::thread || at.thread.y != 0 || at.thread.z != 0)
    return 0;
  const auto elements = static_cast<std::int64_t>(at.object_bytes) /
                        static_cast<std::int64_t>(size_of(evidence.type));
  const std::int64_t row = elements / tile.bk;
  constexpr std::int64_t kMostPadding = 8;
  const bool by_k = elements % tile.bk == 0 &&
                    (row == tile.bn || (row >= tile.bm && row <= tile.bm + kMostPadding));
  return !by_k ? 0 : row == tile.bn ? tile.bn : tile.bm;
}

}  // namespace

bool ask_of_lanes_apart(const Evidence& evidence, const std::vector<std::int64_t>& first,
                        const simgpu::Access& at, const std::string& name, Diagnosis& d) {
  if (first.empty() || at.type != simgpu::AccessType::load || row_of_parts(evidence, at) == 0)
    return false;
  const Tile& tile = evidence.tile;
  const auto [least, most] = std::minmax_element(first.begin(), first.end());
  if (*most - *least < std::max(tile.wm, tile.wn)) return false;
  d.next_step = messages::text("OOB.lanes_apart.next", {{"name", name},
                                                        {"far", *most - *least},
                                                        {"rows", tile.wm},
                                                        {"columns", tile.wn},
                                                        {"bm", tile.bm},
                                                        {"bn", tile.bn}});
  return true;
}

bool ask_of_warp(const Evidence& evidence, std::int64_t first, const simgpu::Access& at,
                 std::uint64_t warp, Diagnosis& d) {
  const Tile& tile = evidence.tile;
  const std::int64_t extent = row_of_parts(evidence, at);
  if (warp == 0 || extent == 0 || first < extent) return false;
  d.next_step = messages::text("OOB.warp.next", {{"warp", warp},
                                                 {"first", first},
                                                 {"rows", tile.wm},
                                                 {"columns", tile.wn},
                                                 {"bm", tile.bm},
                                                 {"bn", tile.bn}});
  return true;
}

}  // namespace grader::diag
