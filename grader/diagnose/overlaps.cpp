// What of C two threads store that meet at an element: whether their rows overlap, or their columns, and
// by how much each begins too early.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

using simgpu::Access;
using OwnLines = std::vector<std::int64_t>;  ///< rows, or columns, in the order of the program

/// The elements of C that a thread stores: each of these rows with each of these columns.
struct OwnPart {
  OwnLines rows, cols;
};

void add_own(OwnLines& places, std::int64_t place) {
  if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
}

std::uint64_t warps_of(const simgpu::LaunchReport& launch) {
  const simgpu::Dim3 &grid = launch.grid, &block = launch.block;
  const auto threads = std::uint64_t{block.x} * block.y * block.z;
  return (threads + 31) / 32 * grid.x * grid.y * grid.z;
}

/// Which elements of C a thread stores, in the order of the program; an element may come several times.
/// Empty if that cannot be seen.
std::optional<std::vector<std::int64_t>> stored_by(const Evidence& evidence, const Run& run,
                                                   const simgpu::LaunchReport& launch,
                                                   const Access& of) {
  const std::uint64_t thread = number_of(of, launch.block);
  const auto again = evidence.follow(run, {of.block, static_cast<unsigned>(thread / 32)});
  if (!again || again->c_before.ld < 1) return std::nullopt;
  const auto width = static_cast<std::uint64_t>(size_of(again->c_before.type));
  std::vector<std::int64_t> elements;
  // Of an instruction that a thread executes several times only the first is sampled.
  const std::uint64_t warps = warps_of(launch);
  for (const simgpu::LaunchReport& one : again->launches)
    for (const simgpu::AccessSample& s : one.samples) {
      if (one.kernel != launch.kernel || s.type != simgpu::AccessType::store || s.object != "C" ||
          ((s.mask >> thread % 32) & 1u) == 0)
        continue;
      if (s.requests > warps) return std::nullopt;
      for (std::uint64_t e = 0; e < s.bytes / width; ++e)
        elements.push_back(
            static_cast<std::int64_t>((s.address[thread % 32] - s.object_address) / width + e));
    }
  return elements;
}

/// Empty if that cannot be seen, or is no such part.
std::optional<OwnPart> part_of_thread(const Evidence& evidence, const Run& run,
                                      const simgpu::LaunchReport& launch, const Access& of) {
  const auto elements = stored_by(evidence, run, launch, of);
  if (!elements) return std::nullopt;
  const auto width = static_cast<std::uint64_t>(size_of(run.c_before.type)),
             ld = static_cast<std::uint64_t>(run.c_before.ld);
  OwnPart part;
  for (const std::int64_t element : *elements) {
    add_own(part.rows, element / static_cast<std::int64_t>(ld));
    add_own(part.cols, element % static_cast<std::int64_t>(ld));
  }
  const auto meeting = static_cast<std::uint64_t>(of.offset) / width;
  const auto has = [](const OwnLines& lines, std::uint64_t line) {
    return std::count(lines.begin(), lines.end(), static_cast<std::int64_t>(line)) > 0;
  };
  if (of.offset < 0 || elements->size() != part.rows.size() * part.cols.size() ||
      !has(part.rows, meeting / ld) || !has(part.cols, meeting % ld))
    return std::nullopt;
  return part;
}

/// How far each place lies from the one before; 0: not all are equally far.
std::int64_t step_of_own(const OwnLines& places) {
  if (places.size() < 2) return 0;
  const std::int64_t step = places[1] - places[0];
  for (std::size_t i = 2; i < places.size(); ++i)
    if (places[i] - places[i - 1] != step) return 0;
  return std::max<std::int64_t>(step, 0);
}

/// "rows 0..7", "columns 0, 16, 32, 48", "column 3".
std::string own_words(const char* what, const OwnLines& places) {
  constexpr std::size_t kMost = 8;
  if (places.size() == 1 || step_of_own(places) == 1)
    return from_to(what, places.front(), places.back());
  std::string list;
  for (std::size_t i = 0; i < std::min(kMost, places.size()); ++i)
    list += (i == 0 ? "" : ", ") + std::to_string(places[i]);
  return fmt::format("{}s {}{}", what, list, places.size() > kMost ? ", ..." : "");
}

/// The one that no edge has cut off, if either has not been.
const OwnLines& longer(const OwnLines& one, const OwnLines& other) {
  return one.size() < other.size() ? other : one;
}

/// Pieces of so many neighbours, and how far each begins after the one before.
struct Pieces {
  std::int64_t length = 0, step = 0;
};

/// If the places are two or more pieces, all alike.
std::optional<Pieces> pieces_of(const OwnLines& places) {
  const auto count = static_cast<std::int64_t>(places.size());
  Pieces p;
  while (p.length < count && places[static_cast<std::size_t>(p.length)] == places[0] + p.length)
    ++p.length;
  if (p.length < 2 || p.length == count || count % p.length != 0) return std::nullopt;
  p.step = places[static_cast<std::size_t>(p.length)] - places[0];
  for (std::int64_t i = 0; i < count; ++i)
    if (places[static_cast<std::size_t>(i)] != places[0] + i / p.length * p.step + i % p.length)
      return std::nullopt;
  return p;
}

/// Threads have pieces of neighbouring columns, with those of the others between them, but the first pieces of
/// neighbours do not lie side by side.
bool ask_of_pieces(const OwnLines& all, std::int64_t apart, std::int64_t across, Diagnosis& d) {
  const auto pieces = pieces_of(all);
  if (!pieces || apart <= pieces->length || pieces->step != across * pieces->length) return false;
  const bool twice = apart == pieces->length * pieces->length;
  d.next_step =
      messages::text(twice ? "RACE-WAW.columns.twice.next" : "RACE-WAW.columns.far.next",
                     {{"apart", apart}, {"piece", pieces->length}, {"step", pieces->step}});
  return true;
}

/// Two threads of one block whose columns overlap, in the same rows. `across`: threads side by side.
bool ask_of_columns(const Evidence& evidence, const Access& one, const Access& other,
                    const OwnPart& part, const OwnPart& beside, std::int64_t across, Diagnosis& d) {
  const auto x = std::int64_t{other.thread.x} - one.thread.x,
             far = beside.cols.front() - part.cols.front();
  const OwnLines& all = longer(part.cols, beside.cols);
  const std::int64_t step = step_of_own(all), apart = x == 0 ? 0 : far / x;
  if (one.thread.y != other.thread.y || x == 0 || far % x != 0 || apart < 1 || across < 2)
    return false;
  if (step < 1) return ask_of_pieces(all, apart, across, d);
  const auto count =
      std::max(static_cast<std::int64_t>(all.size()), std::int64_t{evidence.tile.tn});
  // Threads may have pieces of neighbours as well: then a piece is as long as threads are apart.
  const bool pieces = step == 1 && apart > 1 && apart < count && count % apart == 0;
  d.next_step =
      messages::text(pieces ? "RACE-WAW.columns.pieces.next" : "RACE-WAW.columns.lists.next",
                     {{"apart", counted(apart, "column")},
                      {"piece", apart},
                      {"step", step},
                      {"count", count},
                      {"across", across},
                      {"further", apart * across}});
  return true;
}

/// The same, unless a thread has one element of C: then no columns of its own lie anywhere.
bool ask_side_by_side(const Evidence& evidence, const simgpu::LaunchReport& launch,
                      const Access& one, const Access& other, const OwnPart& part,
                      const OwnPart& beside, Diagnosis& d) {
  const Tile& tile = evidence.tile;
  if (tile.tm < 2 && tile.tn < 2 && part.cols.size() > 1) {
    d.next_step = messages::text("RACE-WAW.several.next");
    return true;
  }
  const std::int64_t across = launch.block.y > 1 ? launch.block.x
                              : tile.tn > 0      ? tile.bn / tile.tn
                                                 : 0;
  return ask_of_columns(evidence, one, other, part, beside, across, d);
}

/// Threads of one block whose rows overlap, in the same columns.
bool ask_of_rows(const Evidence& evidence, const OwnPart& part, const OwnPart& below,
                 Diagnosis& d) {
  const std::int64_t far = below.rows.front() - part.rows.front();
  const OwnLines& all = longer(part.rows, below.rows);
  if (far == 0 || step_of_own(all) != 1) return false;
  const auto count =
      std::max(static_cast<std::int64_t>(all.size()), std::int64_t{evidence.tile.tm});
  d.next_step = messages::text("RACE-WAW.rows.lists.next",
                               {{"apart", far < 0 ? -far : far}, {"count", count}});
  return true;
}

std::uint32_t apart(std::uint32_t one, std::uint32_t other) {
  return one < other ? other - one : one - other;
}

/// Two threads of one block, in different columns of threads, have the very same elements of C.
bool ask_of_same(const Evidence& evidence, const Access& one, const Access& other,
                 const OwnPart& part, const OwnPart& beside, Diagnosis& d) {
  const bool x = one.thread.x != other.thread.x, y = one.thread.y != other.thread.y;
  if (x == y || one.thread.z != other.thread.z || part.rows != beside.rows ||
      part.cols != beside.cols || (evidence.tile.tm < 2 && evidence.tile.tn < 2))
    return false;
  d.next_step = messages::text(
      "RACE-WAW.same_elements.next",
      {{"one", coordinates(one.thread)},
       {"other", coordinates(other.thread)},
       {"rows", own_words("row", part.rows)},
       {"columns", own_words("column", part.cols)},
       {"difference", x ? "threadIdx.x" : "threadIdx.y"},
       {"steps", x ? apart(one.thread.x, other.thread.x) : apart(one.thread.y, other.thread.y)}});
  return true;
}

/// The same thread of two blocks: by how much does each block begin after the one before?
bool ask_of_blocks(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
                   const Access& one, const Access& other, bool by_row, std::int64_t far,
                   Diagnosis& d) {
  const auto [rows, cols] = tile_of_c(evidence.operation, evidence.tile);
  const auto blocks = [](int extent, int tile) {
    return static_cast<std::uint32_t>(tiles_of(extent, tile));
  };
  const Matrix& c = run.c_before;
  if (rows < 2 || cols < 2 ||
      !(launch.grid == simgpu::Dim3{blocks(c.cols, cols), blocks(c.rows, rows), 1}))
    return false;
  const auto steps = by_row ? std::int64_t{other.block.y} - one.block.y
                            : std::int64_t{other.block.x} - one.block.x;
  const bool only = by_row ? one.block.x == other.block.x : one.block.y == other.block.y;
  const std::int64_t extent = by_row ? rows : cols;
  if (!only || steps == 0 || far % steps != 0 || far / steps < 1 || far / steps >= extent)
    return false;
  d.next_step = messages::text("RACE-WAW.origin.next",
                               {{"thread", coordinates(one.thread)},
                                {"apart", counted(far / steps, by_row ? "row" : "column")},
                                {"index", by_row ? "y" : "x"},
                                {"extent", extent}});
  return true;
}

/// Where each thread has one element of C: one of a block and one of the next block meet there, in threads
/// that differ along the same axis. So a block moves on by as much as that many threads do.
bool ask_of_single(const Evidence& evidence, const simgpu::LaunchReport& launch, const Access& one,
                   const Access& other, Diagnosis& d) {
  if (evidence.tile.tm > 1 || evidence.tile.tn > 1 || evidence.tile.wm > 0) return false;
  const auto differ = [](const simgpu::Dim3& p, const simgpu::Dim3& q) {
    return std::pair{p.x != q.x, p.y != q.y};
  };
  const auto axis = differ(one.block, other.block);
  if (axis.first == axis.second || axis != differ(one.thread, other.thread) ||
      one.block.z != other.block.z || one.thread.z != other.thread.z)
    return false;
  const auto along = [&axis](const simgpu::Dim3& p) -> std::int64_t {
    return axis.first ? p.x : p.y;
  };
  const std::int64_t blocks = along(other.block) - along(one.block),
                     threads = along(one.thread) - along(other.thread),
                     extent = along(launch.block), count = along(launch.grid);
  if (threads % blocks != 0 || threads / blocks < 1 || threads / blocks >= extent) return false;
  const std::int64_t apart = threads / blocks;
  d.next_step = messages::text(apart == count ? "RACE-WAW.single.grid.next" : "RACE-WAW.apart.next",
                               {{"index", axis.first ? "x" : "y"},
                                {"apart", counted(apart, "thread")},
                                {"count", count},
                                {"extent", extent}});
  return true;
}

/// The first element of C that a thread stores, and whether it comes back to that line for more.
struct FirstStore {
  std::int64_t element = 0;
  bool again = false;
};
std::optional<FirstStore> first_store(const Evidence& evidence, const Run& run,
                                      const simgpu::LaunchReport& launch, const Access& of) {
  const std::uint64_t thread = number_of(of, launch.block);
  const auto seen = evidence.follow(run, {of.block, static_cast<unsigned>(thread / 32)});
  if (!seen) return std::nullopt;
  const std::uint64_t warps = warps_of(launch);
  for (const simgpu::LaunchReport& one : seen->launches)
    for (const simgpu::AccessSample& s : one.samples)
      if (one.kernel == launch.kernel && s.type == simgpu::AccessType::store && s.object == "C" &&
          s.where == of.where && ((s.mask >> thread % 32) & 1u) != 0)
        return FirstStore{static_cast<std::int64_t>((s.address[thread % 32] - s.object_address) /
                                                    size_of(seen->c_before.type)),
                          s.requests > warps};
  return std::nullopt;
}

/// A loop takes each thread over several elements of C, and one of the two comes in a later round to where the
/// other begins: its step is less than the number of threads.
bool ask_of_loop(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
                 const Access& one, const Access& other, Diagnosis& d) {
  if (evidence.tile.tm > 1 || evidence.tile.tn > 1 || evidence.tile.wm > 0 || !evidence.follow ||
      !(one.where == other.where) || one.offset < 0)
    return false;
  const auto mine = first_store(evidence, run, launch, one),
             theirs = first_store(evidence, run, launch, other);
  const std::int64_t met = one.offset / static_cast<std::int64_t>(size_of(run.c_before.type));
  if (!mine || !theirs || !mine->again || mine->element == theirs->element ||
      (mine->element == met) == (theirs->element == met))
    return false;
  const bool first = mine->element == met;
  const simgpu::Dim3 &g = launch.grid, &b = launch.block;
  const std::int64_t ld = run.c_before.ld, begin = first ? theirs->element : mine->element;
  d.next_step = messages::text(
      "RACE-WAW.loop.next",
      {{"met", element("C", met / ld, met % ld)},
       {"begin", element("C", begin / ld, begin % ld)},
       {"first", coordinates(first ? one.thread : other.thread)},
       {"later", coordinates(first ? other.thread : one.thread)},
       {"threads", std::uint64_t{b.x} * b.y * b.z * g.x * g.y * g.z},
       {"shape", messages::text("part.launch_shape", {{"grid", dims(g)}, {"block", dims(b)}})}});
  return true;
}

/// The same thread of two blocks that lie one behind the other, along z.
bool ask_of_depth(const simgpu::LaunchReport& launch, const Access& one, const Access& other,
                  Diagnosis& d) {
  if (!(one.thread == other.thread) || one.block.z == other.block.z ||
      one.block.x != other.block.x || one.block.y != other.block.y)
    return false;
  d.next_step = NextStep::of("RACE-WAW.deep.next", {{"count", launch.grid.z}});
  return true;
}

/// One of the two has part of its elements beyond the last row or column of C, and stores them too: to an
/// element that C has, several times.
bool ask_of_moved(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
                  const Access& one, const Access& other, Diagnosis& d) {
  const Matrix& c = run.c_before;
  if (!evidence.follow || c.ld < 1 || one.offset < 0 || evidence.tile.tm * evidence.tile.tn < 2)
    return false;
  const std::int64_t met = one.offset / static_cast<std::int64_t>(size_of(c.type));
  const auto mine = stored_by(evidence, run, launch, one),
             theirs = stored_by(evidence, run, launch, other);
  if (!mine || !theirs) return false;
  const auto times = [met](const std::vector<std::int64_t>& list) {
    return std::count(list.begin(), list.end(), met);
  };
  const auto at_edge = [&c](const std::vector<std::int64_t>& list) {
    return std::any_of(list.begin(), list.end(), [&c](std::int64_t element) {
      return element / c.ld == c.rows - 1 || element % c.ld == c.cols - 1;
    });
  };
  if (times(*mine) > 1 && times(*theirs) > 1 && at_edge({met})) {
    d.next_step = messages::text("RACE-WAW.moved.both.next",
                                 {{"thread", coordinates(one.thread)},
                                  {"other_thread", coordinates(other.thread)},
                                  {"element", element("C", met / c.ld, met % c.ld)},
                                  {"times", times(*mine)},
                                  {"other_times", times(*theirs)}});
    return true;
  }
  // Who stores it once has it as its own.
  if ((times(*mine) > 1) == (times(*theirs) > 1)) return false;
  const bool first = times(*mine) > 1;
  if (times(first ? *theirs : *mine) != 1 || !at_edge(first ? *mine : *theirs)) return false;
  d.next_step = messages::text("RACE-WAW.moved.next",
                               {{"thread", coordinates(first ? one.thread : other.thread)},
                                {"element", element("C", met / c.ld, met % c.ld)},
                                {"times", times(first ? *mine : *theirs)}});
  return true;
}

/// Two threads of one block, or the same thread of two: whose parts of C can be listed.
bool has_parts(const Evidence& evidence, const Access& one, const Access& other) {
  const bool same_thread = one.thread == other.thread, same_block = one.block == other.block;
  return evidence.follow && same_thread != same_block && one.actor == simgpu::Actor::thread &&
         other.actor == simgpu::Actor::thread && !(same_block && evidence.tile.wm > 0);
}

}  // namespace

bool ask_of_overlap(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                    Diagnosis& d) {
  const Access &one = finding.at, &other = *finding.other;
  const auto launch = std::find_if(run.launches.begin(), run.launches.end(),
                                   [&](const auto& l) { return l.kernel == finding.kernel; });
  const bool same_block = one.block == other.block;
  if (launch != run.launches.end() && ask_of_depth(*launch, one, other, d)) return true;
  if (launch != run.launches.end() && ask_of_loop(evidence, run, *launch, one, other, d))
    return true;
  if (launch != run.launches.end() && !same_block &&
      ask_of_single(evidence, *launch, one, other, d))
    return true;
  if (launch != run.launches.end() && ask_of_moved(evidence, run, *launch, one, other, d))
    return true;
  if (launch == run.launches.end() || !has_parts(evidence, one, other)) return false;
  const auto part = part_of_thread(evidence, run, *launch, one),
             beside = part_of_thread(evidence, run, *launch, other);
  if (!part || !beside) return false;
  if (same_block && ask_of_same(evidence, one, other, *part, *beside, d)) return true;
  if ((part->rows == beside->rows) == (part->cols == beside->cols)) return false;
  const bool by_row = part->cols == beside->cols;
  const char* const what = by_row ? "row" : "column";
  const auto places = [by_row](const OwnPart& p) { return by_row ? p.rows : p.cols; };
  bool asked = false;
  if (!same_block)
    asked = ask_of_blocks(evidence, run, *launch, one, other, by_row,
                          places(*beside).front() - places(*part).front(), d);
  else if (by_row)
    asked = ask_of_rows(evidence, *part, *beside, d);
  else
    asked = ask_side_by_side(evidence, *launch, one, other, *part, *beside, d);
  if (!asked) return false;
  for (const auto& [access, p] : {std::pair{&one, &*part}, std::pair{&other, &*beside}})
    d.details.push_back(messages::text("detail.overlap", {{"thread", coordinates(access->thread)},
                                                          {"block", coordinates(access->block)},
                                                          {"list", own_words(what, places(*p))}}));
  return true;
}

bool ask_where_warps_begin(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                           Diagnosis& d) {
  const auto launch = std::find_if(run.launches.begin(), run.launches.end(),
                                   [&](const auto& l) { return l.kernel == finding.kernel; });
  const Matrix& c = run.c_before;
  const Tile& tile = evidence.tile;
  if (!evidence.follow || launch == run.launches.end() || c.ld < 1 ||
      !(finding.at.where == finding.other->where) || tile.wm < 1 || tile.wn < 1)
    return false;
  Access one = finding.at, other = *finding.other;
  if (other.thread.x < one.thread.x) std::swap(one, other);
  for (Access* const access : {&one, &other}) access->thread.x -= access->thread.x % 32;
  const auto begin = first_store(evidence, run, *launch, one),
             beside = first_store(evidence, run, *launch, other);
  if (!begin || !beside) return false;
  const std::int64_t row = begin->element / c.ld, col = begin->element % c.ld,
                     down = beside->element / c.ld - row, right = beside->element % c.ld - col;
  const bool by_row = down != 0;
  const std::int64_t far = by_row ? down : right;
  if ((down == 0) == (right == 0) || far < 0 || far >= (by_row ? tile.wm : tile.wn)) return false;
  // As wide as its block's tile, a warp has none beside it.
  const bool turned = !by_row && tile.wn == tile.bn && far == tile.wm;
  d.next_step = messages::text(turned ? "RACE-WAW.begins.turned.next" : "RACE-WAW.begins.next",
                               {{"one", one.thread.x / 32},
                                {"other", other.thread.x / 32},
                                {"begin", element("C", row, col)},
                                {"beside", element("C", row + down, col + right)},
                                {"apart", counted(far, by_row ? "row" : "column")},
                                {"rows", tile.wm},
                                {"columns", tile.wn},
                                {"what", by_row ? "row" : "column"},
                                {"extent", by_row ? tile.wm : tile.wn}});
  return true;
}

}  // namespace grader::diag
