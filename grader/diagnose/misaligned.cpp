// An access of several elements that does not begin at a multiple of its size: which part of its place is
// to blame.
#include <algorithm>
#include <bit>
#include <string>

#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// What of an element's place is no multiple of what moves at once: where its row begins, or its column.
const char* to_blame(std::int64_t row_begin, std::int64_t col, std::int64_t count) {
  const bool rows = row_begin % count != 0, column = col % count != 0;
  return rows && column ? "place" : rows ? "rows" : column ? "column" : "";
}

/// An element behind the end of its row, where nobody is meant to go, that is an aligned one if rows follow
/// each other: the row has been multiplied by the number of columns.
bool as_if_dense(const Matrix& m, std::int64_t index, std::int64_t count) {
  return m.ld > m.cols && m.cols > 0 && index % m.ld >= m.cols && index / m.cols < m.rows &&
         index % m.cols % count == 0;
}

/// The first lane of a warp that is not aligned tells what the index is made of: where only lane 4 and
/// its likes are, lane / 4 counts single elements. Threads are numbered by x alone.
void name_lane(const simgpu::Access& at, std::int64_t rest, std::int64_t count,
               Misaligned& result) {
  const std::uint32_t lane = at.thread.x % 32, warp = at.thread.x / 32;
  if (at.thread.y == 0 && at.thread.z == 0 && lane == 0) {
    if (warp > 0) result.variant = "warp";
    // A number of threads that has only been divided, or not been multiplied again.
    const auto index = count > 0 ? at.offset / (at.bytes / count) : 0;
    if (warp > 0 && index > 1 && at.thread.x % index == 0 && at.thread.x / index > 1 &&
        at.thread.x / index <= 32) {
      result.variant = "divided";
      result.gaps.push_back({"number", at.thread.x});
      result.gaps.push_back({"by", at.thread.x / index});
    }
    result.gaps.push_back({"warp", warp});
    if (count > 2 && rest == count - 1 && result.variant != "divided") result.variant = "early";
  }
  if (at.thread.y != 0 || at.thread.z != 0 || !std::has_single_bit(lane)) return;
  result.variant = "lane";
  result.gaps.insert(result.gaps.end(), {{"lane", lane},
                                         {"off", rest},
                                         {"part", lane == 1 ? messages::text("part.of_lane")
                                                            : "lane / " + std::to_string(lane)}});
}

}  // namespace

Misaligned misaligned(const simgpu::Access& at, const Matrix* matrix, const std::string& array,
                      std::int64_t width) {
  const auto bytes = std::max<std::int64_t>(1, at.bytes);
  Misaligned result;
  result.gaps = {{"where", line_of(at.where)},
                 {"width", bytes},
                 {"verb", at.type == simgpu::AccessType::load    ? "load"
                          : at.type == simgpu::AccessType::store ? "store"
                                                                 : "atomic"},
                 {"rest", at.address % static_cast<std::uint64_t>(bytes)}};
  const bool shared = at.space == simgpu::MemorySpace::shared;
  result.variant = shared ? "shared" : "";
  // An object that begins elsewhere moves all of its elements.
  const auto begin = static_cast<std::int64_t>(at.address) - at.offset;
  const std::int64_t count = bytes / width, index = at.offset / width;
  if (array.empty() || at.offset < 0 || at.offset % width != 0 || bytes % width != 0 || count < 2)
    return result;
  result.gaps.insert(result.gaps.end(),
                     {{"array", array}, {"count", count}, {"begin", begin % bytes}});
  if (begin % bytes != 0) {
    if (shared) result.variant = "array";
    return result;
  }
  if (shared) {
    // Beside operands of 16 bits, sums are floats: which of them these are, no access says.
    constexpr std::int64_t kHalf = 2, kFloat = 4;
    const bool in_bytes = width == kHalf && at.offset % kFloat == 0;
    result.variant = in_bytes ? "bytes" : "element";
    result.gaps.push_back({"offset", at.offset});
    result.gaps.push_back({"index", index});
    name_lane(at, in_bytes ? at.offset % bytes : index % count, in_bytes ? 0 : count, result);
    if (in_bytes && result.variant == "lane") result.variant = "lane_bytes";
    if (in_bytes && result.variant == "warp") result.variant = "warp_bytes";
    return result;
  }
  if (matrix == nullptr || matrix->ld < 1) return result;
  const std::int64_t row = index / matrix->ld, col = index % matrix->ld;
  const bool dense = as_if_dense(*matrix, index, count);
  result.variant = dense ? "dense" : to_blame(row * matrix->ld, col, count);
  const std::int64_t off = row * matrix->ld % count, first = (count - off) % count;
  result.gaps.insert(result.gaps.end(),
                     {{"element", element(array, row, col)},
                      {"column", col},
                      {"cols", matrix->cols},
                      {"meant", dense ? element(array, index / matrix->cols, index % matrix->cols)
                                      : std::string()},
                      {"ld", matrix->ld},
                      {"off", off * width},
                      {"first", first},
                      {"second", first + count}});
  return result;
}

}  // namespace grader::diag
