// What the threads of a finding in shared memory access, one element after the other. Two places alone
// do not tell whether a thread begins at the wrong one or goes on by the wrong step; the list does.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
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
using simgpu::AccessSample;
using simgpu::AccessType;
using simgpu::FindingKind;

constexpr unsigned kWarpSize = 32;

/// Elements first .. first + count - 1 of an array, by one access.
struct Reach {
  std::int64_t first = 0, count = 1;
  bool holds(std::int64_t element) const { return element >= first && element < first + count; }
};

/// Of one thread, in the order of the program.
struct Reaches : std::vector<Reach> {
  bool all = true;  ///< false: an instruction is executed again, and only its first access is known
};

/// What the lanes of one warp access at the line of `of`, in the same array and in the same way.
class Warp {
 public:
  Warp(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
       const Access& of)
      : line_(of),
        width_(width_of(of, evidence.type)),
        warps_((count(launch.block) + kWarpSize - 1) / kWarpSize * count(launch.grid)) {
    const std::uint64_t thread = number_of(of, launch.block);
    const simgpu::WarpOf warp{of.block, static_cast<unsigned>(thread / kWarpSize)};
    const std::optional<Run> again = evidence.follow(run, warp);
    if (!again) return;
    for (const simgpu::LaunchReport& one : again->launches)
      if (one.kernel == launch.kernel)
        for (const AccessSample& s : one.samples) add(s);
  }

  Reaches of_lane(unsigned lane) const {
    Reaches list;
    list.all = all_;
    for (const AccessSample& s : samples_)
      if (((s.mask >> lane) & 1u) != 0) list.push_back(reach(s, lane));
    return list;
  }

 private:
  void add(const AccessSample& s) {
    const bool same = s.where == line_.where && s.type == line_.type && s.space == line_.space &&
                      !s.matrix && s.bytes % width_ == 0;
    if (!same || s.object != line_.object) return;
    samples_.push_back(s);
    all_ = all_ && s.requests <= warps_;
  }
  /// `line_` says where its object begins.
  Reach reach(const AccessSample& s, unsigned lane) const {
    const auto start = static_cast<std::int64_t>(line_.address) - line_.offset;
    const std::int64_t byte = static_cast<std::int64_t>(s.address[lane]) - start;
    return {byte >= 0 ? byte / width_ : -((width_ - 1 - byte) / width_), s.bytes / width_};
  }

  static std::uint64_t count(const simgpu::Dim3& d) { return std::uint64_t{d.x} * d.y * d.z; }

  Access line_;
  std::int64_t width_;
  std::uint64_t warps_;  ///< of the launch
  std::vector<AccessSample> samples_;
  bool all_ = true;
};

std::string text_of(const Reach& r) {
  return from_to(r.first, r.first + r.count - 1);
}

/// The first few, and all up to number `until`.
std::string text_of(const Reaches& list, std::size_t until) {
  constexpr std::size_t kFew = 6, kMany = 12;
  const std::size_t shown = std::min(list.size(), std::clamp(until, kFew, kMany));
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + text_of(list[i]);
  if (shown < list.size()) text += ", ...";
  return text;
}

/// Number, from 1, of the access that holds an element; 0: none does.
std::size_t number_in(const Reaches& list, std::int64_t element) {
  const auto at = std::find_if(list.begin(), list.end(),
                               [element](const Reach& r) { return r.holds(element); });
  return at == list.end() ? 0 : static_cast<std::size_t>(at - list.begin()) + 1;
}

void add_list(const Access& access, const std::string& name, const Reaches& list, std::size_t until,
              Diagnosis& d) {
  const bool one = list.size() == 1 && list.front().count == 1;
  d.details.push_back(
      messages::text(one ? "detail.accesses.one" : "detail.accesses",
                     {{"thread", coordinates(access.thread)},
                      {"verb", access.type == AccessType::load ? "reads" : "writes"},
                      {"list", text_of(list, until)},
                      {"name", name}}));
}

/// How far apart the first threads of a warp begin, if as far from each to the next.
std::optional<std::int64_t> apart_in(const Warp& warp, unsigned lanes) {
  std::int64_t apart = 0, before = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const Reaches list = warp.of_lane(lane);
    if (list.empty()) return {};
    const std::int64_t step = list.front().first - before;
    if (lane > 1 && step != apart) return {};
    if (lane > 0) apart = step;
    before = list.front().first;
  }
  return apart;
}

/// In a loop that is not unrolled nobody sees but its first round: one of the two begins where they meet, and the other
/// one, which begins elsewhere, comes there later, by a step that is too short for all threads of the block.
bool ask_of_later_round(const simgpu::Finding& finding, const std::string& name,
                        const simgpu::Dim3& block, std::int64_t element, const Reaches& one,
                        const Reaches& other, Diagnosis& d) {
  const bool loop = finding.at.where == finding.other->where && one.size() == 1 &&
                    other.size() == 1 && !one.all && !other.all;
  if (!loop || one.front().first == other.front().first) return false;
  const bool here = one.front().holds(element), there = other.front().holds(element);
  if (here == there) return false;
  const Access &begins = here ? finding.at : *finding.other,
               &comes = here ? *finding.other : finding.at;
  const std::int64_t threads = std::int64_t{block.x} * block.y * block.z, count = one.front().count,
                     from = (here ? other : one).front().first;
  // So far it may go in one round, if it has not gone too far already.
  if (from >= element || element - from >= threads * count) return false;
  add_list(begins, name, here ? one : other, 0, d);
  d.next_step =
      messages::text("RACE-WAW.later.next", {{"element", element},
                                             {"first", coordinates(begins.thread)},
                                             {"later", coordinates(comes.thread)},
                                             {"from", from},
                                             {"threads", threads},
                                             {"span", threads * count},
                                             {"shape", fmt::format("{} x {}", block.x, block.y)}});
  return true;
}

/// The only one that two threads of a block differ in, if that is not the first; else "".
std::string one_coordinate(const simgpu::Dim3& one, const simgpu::Dim3& other) {
  const bool x = one.x != other.x, y = one.y != other.y, z = one.z != other.z;
  return x || y == z ? "" : y ? "threadIdx.y" : "threadIdx.z";
}

/// A thread's own elements lie as much too near to each other as those of `threads` threads are, which begin `far`
/// apart: then it is not the number of the thread that is wrong but what is made of it.
bool rounds_wrap(const Warp& warp, const simgpu::Dim3& block, std::int64_t far,
                 std::int64_t threads) {
  const Reaches own = warp.of_lane(0);
  if (own.size() < 2) return false;
  const std::int64_t step = own[1].first - own[0].first,
                     all = std::int64_t{block.x} * block.y * block.z;
  return step > 0 && step * threads == far * all;
}

/// In both warps neighbours take neighbouring elements, but from one warp to the other the elements have moved
/// on by less than the threads: a row has fewer elements than threads that are meant to fill it.
bool ask_of_wrapping(const simgpu::Finding& finding, const std::string& name,
                     const simgpu::Dim3& block, const Warp& warp, const Warp& other, Diagnosis& d) {
  const auto begin = [&](const Warp& of, const Access& access) -> std::optional<Reach> {
    const std::int64_t apart = apart_in(of, kWarpSize).value_or(0);
    const Reaches list = of.of_lane(0);
    if (list.empty() || apart != list.front().count) return {};
    return Reach{list.front().first,
                 static_cast<std::int64_t>(number_of(access, block) / kWarpSize * kWarpSize)};
  };
  const auto one = begin(warp, finding.at), two = begin(other, *finding.other);
  if (!one || !two || one->count == two->count) return false;
  const Reach& first = one->count < two->count ? *one : *two;  // `count`: its first thread
  const Reach& second = one->count < two->count ? *two : *one;
  const std::int64_t far = second.first - first.first, threads = second.count - first.count,
                     each = warp.of_lane(0).front().count;
  if (far <= 0 || far >= threads * each) return false;
  const std::int64_t plane = std::int64_t{block.x} * block.y;
  const bool next_z = threads == plane && block.z > 1, next_y = threads == block.x && block.y > 1;
  if (first.count % block.x == 0 && (next_y || next_z) && !rounds_wrap(warp, block, far, threads)) {
    const auto of_number = [&](std::int64_t n) {
      return simgpu::Dim3{0, static_cast<unsigned>(n % plane / block.x),
                          static_cast<unsigned>(n / plane)};
    };
    d.next_step =
        messages::text("RACE-WAW.numbered.next", {{"name", name},
                                                  {"first", coordinates(of_number(first.count))},
                                                  {"second", coordinates(of_number(second.count))},
                                                  {"far", far},
                                                  {"threads", threads},
                                                  {"elements", threads * each},
                                                  {"letter", next_y ? "y" : "z"}});
    return true;
  }
  d.next_step = messages::text(
      "RACE-WAW.wrapped.next",
      {{"name", name}, {"first", first.count}, {"second", second.count}, {"far", far}});
  return true;
}

/// Neighbours begin as far apart as a piece has rows in a transposed tile, but a thread's elements lie nearer.
bool ask_of_turned_piece(const Warp& warp, const Tile& tile, std::int64_t width,
                         const std::string& name, Diagnosis& d) {
  constexpr std::int64_t kMostPadding = 8;
  const Reaches own = warp.of_lane(0), next = warp.of_lane(1);
  const std::int64_t piece = 16 / width;
  if (piece < 2 || static_cast<std::int64_t>(own.size()) < piece || next.empty() || tile.bm < 2)
    return false;
  const std::int64_t far = next.front().first - own.front().first, row = far / piece,
                     step = own[1].first - own[0].first;
  if (far % piece != 0 || row < tile.bm || row > tile.bm + kMostPadding || step >= row ||
      own.front().count != 1)
    return false;
  d.next_step = messages::text(
      "RACE-WAW.turned.next",
      {{"name", name}, {"far", far}, {"piece", piece}, {"row", row}, {"step", step}});
  return true;
}

/// How many of a thread's first elements lie equally far from each other.
std::int64_t run_of(const Reaches& own) {
  const std::int64_t step = own[1].first - own[0].first;
  std::size_t run = 1;
  while (run < own.size() && own[run].first - own[run - 1].first == step) ++run;
  return static_cast<std::int64_t>(run);
}

/// Neighbours take neighbouring elements, but a thread's second one is nearer than all threads of the block reach.
void ask_of_stride(const Warp& warp, const Tile& tile, std::int64_t width,
                   const simgpu::Dim3& block, const std::string& name, Diagnosis& d) {
  if (ask_of_turned_piece(warp, tile, width, name, d)) return;
  const Reaches own = warp.of_lane(0);
  if (own.size() < 2 || apart_in(warp, kWarpSize) != own.front().count) return;
  const std::int64_t step = own[1].first - own[0].first,
                     span = std::int64_t{block.x} * block.y * block.z * own.front().count;
  if (step <= 0 || step >= span) return;
  const std::int64_t run = run_of(own), count = own.front().count, group = step / count;
  const bool rows = run > 1 && run < static_cast<std::int64_t>(own.size()) && step % count == 0 &&
                    group < std::int64_t{block.x} * block.y * block.z;
  d.next_step = messages::text(rows ? "RACE-WAW.stride.rows.next" : "RACE-WAW.stride.next",
                               {{"name", name},
                                {"span", span},
                                {"step", step},
                                {"run", run},
                                {"row", run * step},
                                {"group", group}});
}

void show_meeting(const simgpu::Finding& finding, const std::string& name, std::int64_t element,
                  const Reaches& one, const Reaches& other, Diagnosis& d) {
  const std::size_t number = number_in(one, element), other_number = number_in(other, element);
  if (number == 0 || other_number == 0) return;
  add_list(finding.at, name, one, number, d);
  add_list(*finding.other, name, other, other_number, d);
  if (d.id != "RACE-WAW") return;
  // All threads store all of it: it may have been meant to be each thread's own, which has been asked.
  if (finding.at.object_bytes <= kMostOfOneThread && text_of(one, 0) == text_of(other, 0)) return;
  const std::string difference = one_coordinate(finding.at.thread, finding.other->thread);
  const bool first = number == 1, begins = (first || other_number == 1) && number != other_number;
  const simgpu::Dim3 &one_thread = finding.at.thread, &other_thread = finding.other->thread;
  const std::size_t before = std::max(number, other_number) - 1;
  d.next_step = messages::text(begins && before > 1     ? "RACE-WAW.room.next"
                               : number != other_number ? "RACE-WAW.steps.next"
                               : difference.empty()     ? "RACE-WAW.same.next"
                                                        : "RACE-WAW.same.one.next",
                               {{"element", element},
                                {"thread", coordinates(one_thread)},
                                {"number", number},
                                {"other_thread", coordinates(other_thread)},
                                {"other_number", other_number},
                                {"first", coordinates(first ? one_thread : other_thread)},
                                {"later", coordinates(first ? other_thread : one_thread)},
                                {"before", before},
                                {"next", before + 1},
                                {"difference", difference}});
}

/// A thread meets itself: does it store everything to one place?
void show_repeating(const simgpu::Finding& finding, const std::string& name, const Reaches& list,
                    Diagnosis& d) {
  const auto same = [&list](const Reach& r) { return r.first == list.front().first; };
  if (list.size() < 2 || !std::all_of(list.begin(), list.end(), same)) return;
  add_list(finding.at, name, list, 0, d);
  if (d.id == "RACE-WAW")
    d.next_step = messages::text("RACE-WAW.stuck.next", {{"count", list.size()}});
}

struct Overlap {
  std::int64_t span = 0,
               step = 0;  ///< elements of all lanes at once; how far one of them goes on. 0: none
};

/// The lanes lie side by side, but a lane's second access is less far on than all of them reach.
Overlap show_overlap(const Warp& warp, Diagnosis& d) {
  const Reaches own = warp.of_lane(0), last = warp.of_lane(kWarpSize - 1);
  const Reaches next = warp.of_lane(1);
  if (own.size() < 2 || last.empty() || next.empty()) return {};
  const std::int64_t span = last.front().first + last.front().count - own.front().first,
                     step = own[1].first - own.front().first;
  if (next.front().first != own.front().first + own.front().count ||
      span != kWarpSize * own.front().count || step <= 0 || step >= span)
    return {};
  d.details.push_back(messages::text("detail.accesses.overlap", {{"span", span}, {"step", step}}));
  return {span, step};
}

/// Where the first threads of a warp begin.
std::string beginnings(const Warp& warp, unsigned lanes) {
  std::string text;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const Reaches list = warp.of_lane(lane);
    if (list.empty()) return "";
    text += (text.empty() ? "" : ", ") + text_of(list.front());
  }
  return text;
}

/// Neighbours begin a row and one access more from each other: what a row should turn back leads out of it.
bool leaves_row(const Tile& tile, std::int64_t apart, std::int64_t count) {
  const auto leaves = [&](int row) { return row > 1 && count > 1 && apart == row + count; };
  return leaves(tile.bk) || leaves(tile.bn);
}

/// The first elements of a warp's lanes are those of 0, 1, 2 ... xor one number: that; else 0.
std::int64_t swizzled_by(const Warp& warp) {
  std::array<std::int64_t, kWarpSize> first{};
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const Reaches list = warp.of_lane(lane);
    if (list.empty()) return 0;
    first[lane] = list.front().first / list.front().count;
  }
  const std::int64_t least = *std::min_element(first.begin(), first.end()), x = first[0] - least;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    if (first[lane] - least != (lane ^ x)) return 0;
  return x;
}

/// A later lane begins where lane 0 does: what lanes leave out between them is not for other warps.
bool begins_again(const Warp& warp) {
  const Reaches first = warp.of_lane(0);
  for (unsigned lane = 1; lane < kWarpSize; ++lane) {
    const Reaches list = warp.of_lane(lane);
    if (!first.empty() && !list.empty() && list.front().first == first.front().first) return true;
  }
  return false;
}

/// How far neighbouring threads begin from each other, and the elements of one thread lie apart.
std::string steps_text(const Warp& warp, std::int64_t apart, const Reaches& own) {
  if (own.size() < 2 || apart <= 0) return "";
  const std::int64_t count = own.front().count, step = own[1].first - own[0].first;
  const bool gaps = apart > count && step > apart && begins_again(warp);
  return " " + messages::text(
                   gaps ? "OOB.leaves.gaps" : "OOB.leaves.steps",
                   {{"count", count}, {"apart", apart}, {"step", step}, {"left", apart - count}});
}

/// How many rows of a tile without padding a step is, if it is whole rows of it. Or "".
std::string rows_text(const Evidence& evidence, std::int64_t elements, const Reaches& own) {
  const Tile& tile = evidence.tile;
  const std::int64_t step = own.size() < 2 ? 0 : own[1].first - own[0].first;
  std::int64_t row = 0;
  const bool of_a = elements == std::int64_t{tile.bm} * tile.bk,
             of_b = elements == std::int64_t{tile.bk} * tile.bn;
  if (of_a) row = tile.bk;
  if (of_b && evidence.operation == Operation::product)
    row = of_a && tile.bn != tile.bk ? 0 : tile.bn;
  if (row < 2 || step < row || step % row != 0) return "";
  return " " + messages::text(
                   "OOB.leaves.rows",
                   {{"step", step},
                    {"row", row},
                    {"rows", step == row ? messages::text("part.row.next")
                                         : messages::text("part.row.on", {{"rows", step / row}})}});
}

/// The same where several neighbours begin with one element, and the next ones further on; only if they leave
/// elements to nobody. Or "".
std::string group_text(const Warp& warp, const Reaches& own) {
  if (own.size() < 2) return "";
  std::array<std::int64_t, kWarpSize> first{};
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const Reaches list = warp.of_lane(lane);
    if (list.empty()) return "";
    first[lane] = list.front().first;
  }
  unsigned group = 1;
  while (group < kWarpSize && first[group] == first[0]) ++group;
  if (group < 2 || group >= kWarpSize) return "";
  const std::int64_t apart = first[group] - first[0], count = own.front().count,
                     step = own[1].first - own[0].first;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    if (first[lane] != first[0] + lane / group * apart) return "";
  if (apart <= count || step <= apart) return "";
  return " " + messages::text("OOB.leaves.groups", {{"group", group},
                                                    {"count", count},
                                                    {"apart", apart},
                                                    {"step", step},
                                                    {"left", apart - count}});
}

/// Pieces of several elements, and a step that counts the elements of each one where it should count pieces: with a
/// step shorter by so much the thread stays inside. Or "".
std::string step_of_elements(std::int64_t apart, const Reaches& own, std::int64_t element,
                             std::int64_t elements) {
  const std::int64_t count = own.front().count;
  if (own.size() < 2 || count < 2 || apart != count) return "";
  const std::int64_t first = own.front().first, step = own[1].first - first;
  for (std::size_t i = 2; i < own.size(); ++i)
    if (own[i].first - own[i - 1].first != step) return "";
  const bool left = step > 0 && (element - first) % step == 0;
  if (!left || step % (count * count) != 0 || first + (element - first) / count >= elements)
    return "";
  return messages::text("OOB.leaves.elements.next", {{"first", first},
                                                     {"reached", element},
                                                     {"step", step},
                                                     {"count", count},
                                                     {"right", step / count},
                                                     {"second", 2 * count}});
}

/// The next step for a thread that begins inside, as `list` shows, and leaves its array of `elements` at
/// `element`.
std::string ask_of_leaving(const Evidence& evidence, const Warp& warp, const Reaches& list,
                           std::int64_t element, std::int64_t elements) {
  constexpr unsigned kFew = 4, kNeighbours = 6;
  constexpr std::int64_t kFar = 16;  // for neighbours in a row
  const std::int64_t first = list.front().first, apart = apart_in(warp, kFew).value_or(0);
  if (leaves_row(evidence.tile, apart, list.front().count))
    return messages::text(
        "OOB.leaves.turned.next",
        {{"first", first}, {"reached", element}, {"apart", apart}, {"count", list.front().count}});
  if (const std::int64_t x = swizzled_by(warp); x > 0)
    return messages::text("OOB.leaves.swizzled.next",
                          {{"first", first}, {"reached", element}, {"x", x}});
  if (apart >= kFar && apart_in(warp, kNeighbours))
    return messages::text("OOB.leaves.apart.next",
                          {{"first", first}, {"reached", element}, {"apart", apart}});
  if (std::string text = step_of_elements(apart, list, element, elements); !text.empty())
    return text;
  std::string steps = steps_text(warp, apart, list);
  if (!steps.empty() && apart == list.front().count) steps += rows_text(evidence, elements, list);
  if (steps.empty()) steps = group_text(warp, list);
  return messages::text("OOB.leaves.next",
                        {{"first", first}, {"reached", element}, {"steps", steps}});
}

/// Reads from a tile of B: a thread's first one lies behind row 0, where the first k is, so its column is too
/// large; or it has the column of all of its neighbours.
bool ask_of_column(const Evidence& evidence, const Warp& warp, const Reaches& list,
                   const Access& at, std::int64_t element, Diagnosis& d) {
  const Tile& tile = evidence.tile;
  const auto elements = static_cast<std::int64_t>(at.object_bytes) / width_of(at, evidence.type);
  const std::string name = short_name(at.object);
  if (evidence.operation != Operation::product || tile.wm > 0 || tile.bk < 2 || tile.bn < 2 ||
      at.type != AccessType::load || list.empty() || (name[0] != 'b' && name[0] != 'B') ||
      elements != std::int64_t{tile.bk} * tile.bn)
    return false;
  constexpr unsigned kNeighbours = 6;
  const std::int64_t first = list.front().first;
  const bool behind = first >= tile.bn, together = apart_in(warp, kNeighbours) == 0;
  if (!behind && !together) return false;
  d.next_step = messages::text(behind ? "OOB.column.next" : "OOB.together.next",
                               {{"thread", coordinates(at.thread)},
                                {"name", name},
                                {"first", first},
                                {"reached", element},
                                {"bn", tile.bn},
                                {"last", tile.bn - 1}});
  return true;
}

/// Reads from a tile of A or B by a warp whose lanes lie in rows and columns of pieces: in this tile they begin
/// at as many places as they should in the other one.
bool ask_of_lanes(const Evidence& evidence, const Warp& warp, const Access& at,
                  const std::string& name, Diagnosis& d) {
  const Tile& tile = evidence.tile;
  if (evidence.operation != Operation::product || at.type != AccessType::load || tile.tm < 1 ||
      tile.tn < 1 || tile.wm < tile.tm || tile.wn < tile.tn)
    return false;
  const int down = tile.wm / tile.tm, across = tile.wn / tile.tn;
  const char letter = name.empty() ? ' ' : name[0];
  const bool of_a = letter == 'a' || letter == 'A', of_b = letter == 'b' || letter == 'B';
  if (down == across || down * across != static_cast<int>(kWarpSize) || !(of_a || of_b))
    return false;
  std::set<std::int64_t> first;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const Reaches list = warp.of_lane(lane);
    if (list.empty()) return false;
    first.insert(list.front().first);
  }
  if (static_cast<int>(first.size()) != (of_a ? across : down)) return false;
  d.next_step = messages::text("OOB.lanes.next", {{"name", name},
                                                  {"seen", first.size()},
                                                  {"wanted", of_a ? down : across},
                                                  {"down", down},
                                                  {"across", across},
                                                  {"what", of_a ? "rows" : "columns"}});
  return true;
}

/// The threads of a block fill an array side by side from its first element on, and each goes on by less than
/// all of them take at a time: as if the block had fewer threads.
bool ask_of_threads(const Warp& warp, const Access& at, std::uint64_t first_thread,
                    const simgpu::Dim3& block, const std::string& name, Diagnosis& d) {
  const Reaches own = warp.of_lane(0);
  if (at.type != AccessType::store || own.size() < 2) return false;
  const std::int64_t count = own.front().count, step = own[1].first - own[0].first,
                     threads = std::int64_t{block.x} * block.y * block.z;
  if (apart_in(warp, kWarpSize) != count || step < kWarpSize * count || step % count != 0 ||
      step > threads * count ||
      own.front().first != static_cast<std::int64_t>(first_thread) * count)
    return false;
  if (step == threads * count)
    return ask_of_rounds(name, step, static_cast<std::int64_t>(own.size()),
                         static_cast<std::int64_t>(at.object_bytes / at.bytes) * count, d);
  d.next_step = messages::text("OOB.threads.next", {{"name", name},
                                                    {"step", step},
                                                    {"told", step / count},
                                                    {"threads", threads},
                                                    {"span", threads * count}});
  return true;
}

std::vector<std::int64_t> firsts_of(const Reaches& list) {
  std::vector<std::int64_t> firsts;
  for (const Reach& r : list) firsts.push_back(r.first);
  return firsts;
}

/// Where all lanes of a warp begin; empty if one of them does not.
std::vector<std::int64_t> firsts_of(const Warp& warp) {
  std::vector<std::int64_t> firsts;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    if (const Reaches list = warp.of_lane(lane); !list.empty())
      firsts.push_back(list.front().first);
  return firsts.size() == kWarpSize ? firsts : std::vector<std::int64_t>{};
}

/// What the numbers of a warp's threads were multiplied or divided by, to give the element where each begins.
bool ask_of_threads_numbers(const Evidence& evidence, const Warp& warp, const Access& at,
                            std::uint64_t first_thread, const simgpu::Dim3& block,
                            const Reaches& list, std::int64_t elements, Diagnosis& d) {
  const auto firsts = firsts_of(warp);
  if (firsts.empty()) return false;
  const std::int64_t count = list.empty() ? 1 : list.front().count;
  return ask_of_rows_of_threads(block, at.thread, firsts, count, d) ||
         ask_of_numbering(evidence, block, firsts, static_cast<std::int64_t>(first_thread), count,
                          elements, d);
}

/// An access outside was never made, so it is in no list: `list` has what the thread did inside.
void show_leaving(const simgpu::Finding& finding, const std::string& name, std::int64_t element,
                  const Warp& warp, unsigned lane, std::uint64_t first_thread,
                  const simgpu::LaunchReport& launch, const Evidence& evidence, Diagnosis& d) {
  const simgpu::Dim3& threads = launch.block;
  const Reaches list = warp.of_lane(lane);
  if (!list.empty()) add_list(finding.at, name, list, number_in(list, element), d);
  constexpr unsigned kNeighbours = 6;
  if (const std::string text = beginnings(warp, kNeighbours);
      !text.empty() && finding.at.thread.y == 0 && finding.at.thread.z == 0)
    d.details.push_back(messages::text(
        "detail.accesses.lanes",
        {{"first", first_thread}, {"last", first_thread + kNeighbours - 1}, {"list", text}}));
  const Overlap overlap = show_overlap(warp, d);
  if (d.id == "OOB" &&
      ask_of_place_behind(evidence, finding.at, launch, firsts_of(list), element, d))
    return;
  if (ask_of_lanes_apart(evidence, firsts_of(warp), finding.at, name, d)) return;
  if (const Reaches own = warp.of_lane(0);
      !own.empty() &&
      ask_of_warp(evidence, own.front().first, finding.at, first_thread / kWarpSize, d))
    return;
  if (d.id == "OOB" && ask_of_column(evidence, warp, list, finding.at, element, d)) return;
  const simgpu::Dim3& block = finding.at.block;
  if (d.id != "OOB" || (block.x | block.y | block.z) != 0) return;
  if (ask_of_threads(warp, finding.at, first_thread, threads, name, d) ||
      ask_of_lanes(evidence, warp, finding.at, name, d))
    return;
  const std::int64_t elements =
      static_cast<std::int64_t>(finding.at.object_bytes) / width_of(finding.at, evidence.type);
  // The second element of a thread lies as far away as if the number of threads were in the step twice.
  const auto count = std::int64_t{threads.x} * threads.y * threads.z;
  if (list.size() == 1 && count > 1 && element - list.front().first == count * count) {
    d.next_step = messages::text("OOB.squared.next", {{"first", list.front().first},
                                                      {"reached", element},
                                                      {"step", count * count},
                                                      {"threads", count}});
    return;
  }
  if (ask_of_threads_numbers(evidence, warp, finding.at, first_thread, threads, list, elements, d))
    return;
  // Whole rows say more.
  if (!list.empty() && overlap.step > 0 && finding.at.type == AccessType::store &&
      rows_text(evidence, elements, list).empty()) {
    d.next_step = messages::text("OOB.leaves.overlap.next", {{"first", list.front().first},
                                                             {"reached", element},
                                                             {"span", overlap.span},
                                                             {"step", overlap.step}});
    return;
  }
  d.next_step = list.empty() ? messages::text("OOB.begins.next")
                             : ask_of_leaving(evidence, warp, list, element, elements);
}

bool by_thread(const Access& a) {
  return a.actor == simgpu::Actor::thread || a.actor == simgpu::Actor::async_copy;
}

/// Two stores of one block to one place of an array.
bool is_meeting(const simgpu::Finding& finding) {
  const Access& at = finding.at;
  return finding.kind == FindingKind::shared_race && finding.other &&
         at.type == AccessType::store && finding.other->type == AccessType::store &&
         by_thread(*finding.other) && at.block == finding.other->block &&
         at.object_bytes > at.bytes;
}

}  // namespace

void show_accesses(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                   Diagnosis& d) {
  ask_of_left_tile(evidence, run, finding, d);
  const Access& at = finding.at;
  if (!evidence.follow || at.space != simgpu::MemorySpace::shared || at.object.empty() ||
      at.where.line == 0 || at.object_bytes == 0)
    return;
  const auto launch = std::find_if(run.launches.begin(), run.launches.end(),
                                   [&](const auto& one) { return one.kernel == finding.kernel; });
  if (launch == run.launches.end()) return;
  if (at.actor == simgpu::Actor::warp && finding.kind == FindingKind::uninitialised_read)
    ask_of_fragment_begin(evidence, run, *launch, finding, d);
  if (!by_thread(at)) return;
  const std::int64_t width = width_of(at, evidence.type);
  const std::int64_t element = at.offset >= 0 ? at.offset / width : -1;
  const std::string name = short_name(at.object);
  const auto lane_of = [&](const Access& a) {
    return static_cast<unsigned>(number_of(a, launch->block) % kWarpSize);
  };
  const bool meets = is_meeting(finding);
  if (!meets && finding.kind != FindingKind::out_of_bounds &&
      finding.kind != FindingKind::uninitialised_read)
    return;
  const Warp warp(evidence, run, *launch, at);
  if (meets && ask_of_arms(evidence, run, *launch, finding, d)) return;
  if (meets && at.thread == finding.other->thread) {
    show_repeating(finding, name, warp.of_lane(lane_of(at)), d);
  } else if (meets) {
    const Warp other(evidence, run, *launch, *finding.other);
    if (d.id == "RACE-WAW" &&
        ask_of_later_round(finding, name, launch->block, element, warp.of_lane(lane_of(at)),
                           other.of_lane(lane_of(*finding.other)), d))
      return;
    show_meeting(finding, name, element, warp.of_lane(lane_of(at)),
                 other.of_lane(lane_of(*finding.other)), d);
    if (d.id == "RACE-WAW" && !ask_of_wrapping(finding, name, launch->block, warp, other, d))
      ask_of_stride(warp, evidence.tile, width, launch->block, name, d);
  } else {
    const std::uint64_t first = number_of(at, launch->block) / kWarpSize * kWarpSize;
    show_leaving(finding, name, element, warp, lane_of(at), first, *launch, evidence, d);
    if (finding.kind == FindingKind::uninitialised_read)
      ask_who_stores(evidence, run, *launch, finding, d);
  }
}

}  // namespace grader::diag
