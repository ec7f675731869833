// Which of the sentences about an access out of bounds fit, and where in a ring of tiles an access lies.
#include <algorithm>
#include <string>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

using simgpu::Access;
using simgpu::AccessType;
using simgpu::Actor;
using simgpu::MemorySpace;

/// Which part of an array's size, or of the index, is to blame, in the first block.
const char* of_shared(const Access& at, const simgpu::LaunchReport* launch) {
  if (launch == nullptr || at.object_bytes != launch->dynamic_shared_bytes) return "shared";
  // An `extern __shared__` array is as large as the launch says. What is filled right behind its end is
  // no index that went too far: a whole part has no room.
  return at.type == simgpu::AccessType::store &&
                 at.offset == static_cast<std::int64_t>(at.object_bytes)
             ? "room"
             : "launch";
}

}  // namespace

void ask_of_other_matrix(const Run& run, const simgpu::Finding& finding, Diagnosis& d) {
  const bool of_a = finding.at.object == "A";
  if (finding.kind != simgpu::FindingKind::out_of_bounds || d.id != "OOB" ||
      !(of_a || finding.at.object == "B") || run.launches.size() != 1 ||
      finding.at.type != AccessType::load || !run.launches.front().completed)
    return;
  const char* const other = of_a ? "B" : "A";
  if ((of_a ? run.b : run.a).elements() == 0) return;
  bool read = false;  // what is in bounds of this one: then accesses have been counted
  for (const simgpu::BufferCounts& b : run.launches.front().buffers) {
    if (b.label == other && b.load.requests > 0) return;
    read = read || (b.label == finding.at.object && b.load.requests > 0);
  }
  if (!read) return;
  d.next_step = messages::text("OOB.other.next", {{"matrix", finding.at.object}, {"other", other}});
}

std::string variant_of_bounds(const Access& at, const simgpu::LaunchReport* launch,
                              std::int64_t width) {
  if (at.space == MemorySpace::shared && !at.object.empty() && at.object_bytes == 0)
    return "dynamic";  // the launch asked for nothing
  // Blocks are reported in order: the first one has not done this.
  const bool later_block = at.block.x != 0 || at.block.y != 0 || at.block.z != 0;
  const bool scratch = is_scratch(at);
  const bool shared = at.space == MemorySpace::shared;
  // What is asked for is there for every block that stores, and this is the place of one more.
  const bool behind = scratch && at.type == simgpu::AccessType::load &&
                      at.offset == static_cast<std::int64_t>(at.object_bytes);
  // What loads a fragment is given its first element and the distance between rows.
  const bool fragment = shared && at.actor == Actor::warp && at.type == AccessType::load;
  const char* const plain = at.offset < 0 && (scratch || shared) ? "negative"
                            : behind                             ? "behind"
                            : scratch                            ? "scratch"
                            : !shared                            ? ""
                            : fragment                           ? "fragment"
                            : later_block                        ? "later"
                                                                 : of_shared(at, launch);
  if (at.object.empty() || at.bytes <= width) return plain;
  if (at.bytes % width != 0) return "bytes";
  const bool begins_inside =
      at.offset >= 0 && static_cast<std::uint64_t>(at.offset) < at.object_bytes;
  if (begins_inside && at.actor == Actor::async_copy) return "copy";
  return begins_inside ? "partly" : plain;
}

void ask_of_packed_tile(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                        std::int64_t width, Diagnosis& d) {
  const Access& at = finding.at;
  if (finding.kind != simgpu::FindingKind::out_of_bounds || run == nullptr || at.offset < 0 ||
      !is_scratch(at) || tile.bm < 2 || tile.bn < 2 || tile.bk < 2 || tile.wm > 0)
    return;
  const auto up = [](int extent, int of) { return std::int64_t{extent + of - 1} / of; };
  const auto elements = static_cast<std::int64_t>(at.object_bytes) / width;
  const std::int64_t k_tiles = up(run->a.cols, tile.bk);
  std::int64_t size = 0;
  for (const bool a : {true, false}) {
    const std::int64_t of_one = std::int64_t{tile.bk} * (a ? tile.bm : tile.bn),
                       lines = a ? up(run->a.rows, tile.bm) : up(run->b.cols, tile.bn),
                       tiles = elements / of_one;
    // As many as there are, or with one step more, which is room for K = 0.
    if (tiles * of_one != elements || (tiles != lines * k_tiles && tiles != lines * (k_tiles + 1)))
      continue;
    if (size > 0 && size != of_one) return;  // it may be either
    size = of_one;
  }
  if (size == 0) return;
  const std::int64_t index = at.offset / width;
  // Blocks that store pack a tile each, and the first one's number is 0, whatever it is made of.
  const bool first = at.type == simgpu::AccessType::store && at.block == simgpu::Dim3{0, 0, 0};
  d.next_step = messages::text(first ? "OOB.packed.first.next" : "OOB.packed.next",
                               {{"size", size},
                                {"within", index % size},
                                {"number", index / size},
                                {"index", index},
                                {"last", size - 1},
                                {"count", elements / size}});
}

namespace {

/// How many pairs of the lab's tiles an array holds, whose rows may have some padding; 0: it is no ring.
std::int64_t pairs_of_tiles(const Tile& tile, std::int64_t elements) {
  constexpr std::int64_t kMostPairs = 8, kMostPadding = 16;  // elements, of both tiles' rows
  const std::int64_t both = std::int64_t{tile.bk} * (tile.bm + tile.bn);
  for (std::int64_t pairs = 2; pairs <= kMostPairs; ++pairs) {
    const std::int64_t padding = elements / pairs - both;
    if (elements % pairs == 0 && padding % tile.bk == 0 && padding >= 0 &&
        padding / tile.bk <= kMostPadding)
      return pairs;
  }
  return 0;
}

/// A read from a place of the ring in front of all that have been filled.
void ask_of_empty_place(const simgpu::Finding& finding, std::int64_t places, Diagnosis& d) {
  const Access& at = finding.at;
  if (finding.kind != simgpu::FindingKind::uninitialised_read || places < 2 || at.offset < 0 ||
      finding.written.empty())
    return;
  const std::int64_t size = static_cast<std::int64_t>(at.object_bytes) / places,
                     place = at.offset / size,
                     first = static_cast<std::int64_t>(finding.written.front().begin) / size;
  if (first <= place) return;
  d.next_step = messages::text(
      "UNINIT.empty_place.next",
      {{"place", place}, {"first", first}, {"places", places}, {"last", places - 1}});
}

/// Whether one thread reads in shared memory what another one writes.
bool one_reads(const simgpu::Finding& finding) {
  return finding.kind == simgpu::FindingKind::shared_race && finding.other &&
         (finding.at.type == AccessType::load) != (finding.other->type == AccessType::load);
}

/// Every block meets a barrier in each round at least. Then two rounds that meet in one place follow each other.
bool barrier_in_each_round(const Tile& tile, const simgpu::LaunchReport* launch, const Run* run) {
  if (launch == nullptr || run == nullptr || tile.bk < 2) return false;
  const auto rounds = static_cast<std::uint64_t>(tiles_of(run->a.cols, tile.bk));
  const simgpu::Dim3& grid = launch->grid;
  return rounds > 1 &&
         launch->total.block_barriers >= rounds * grid.x * grid.y * std::uint64_t{grid.z};
}

/// Such a race where a square block has several tiles of an element per thread in one array: which of them it
/// is. Blocks of threads with tiles of their own are told by those.
bool ask_of_square_tiles(const Access& at, const simgpu::LaunchReport* launch, std::int64_t width,
                         Diagnosis& d) {
  constexpr std::int64_t kMostTiles = 4, kSmallestSide = 8;
  if (launch == nullptr || launch->block.x != launch->block.y || launch->block.z != 1 ||
      at.offset < 0 || at.object_bytes == launch->dynamic_shared_bytes)
    return false;
  const std::int64_t side = launch->block.x, one = side * side * width,
                     all = static_cast<std::int64_t>(at.object_bytes), tiles = all / one;
  if (side < kSmallestSide || tiles < 2 || tiles > kMostTiles || tiles * one != all) return false;
  d.next_step = messages::text("RACE-WAR.square.next", {{"name", short_name(at.object)},
                                                        {"tiles", tiles},
                                                        {"side", side},
                                                        {"tile", at.offset / one}});
  return true;
}

/// Such a race in an array that holds several tiles: they take turns, and it may be the wrong one's.
void ask_of_turns(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                  const simgpu::LaunchReport* launch, std::int64_t width, Diagnosis& d) {
  const std::int64_t of_a = std::int64_t{tile.bm} * tile.bk, of_b = std::int64_t{tile.bk} * tile.bn;
  const Access& at = finding.at;
  if (!one_reads(finding) || at.actor != Actor::thread || finding.other->actor != Actor::thread ||
      of_a < 1 || of_b < 1)
    return;
  if (at.block != finding.other->block)
    return;  // of a cluster: tiles that take turns are a block's own
  // Lanes of one warp meet where each warp has memory of its own.
  const simgpu::Dim3 &x = at.thread, &y = finding.other->thread;
  if (x.y == y.y && x.z == y.z && x.x / 32 == y.x / 32) return;
  if (ask_of_square_tiles(at, launch, width, d)) return;
  // Memory that the launch asks for holds the tiles of both matrices.
  const bool dynamic = launch != nullptr && at.object_bytes == launch->dynamic_shared_bytes;
  const std::int64_t once = dynamic ? of_a + of_b : std::max(of_a, of_b);
  if (static_cast<std::int64_t>(at.object_bytes) / width >= 2 * once)
    d.next_step =
        messages::text(at.type == AccessType::store && barrier_in_each_round(tile, launch, run)
                           ? "RACE-WAR.same_tile.next"
                           : "RACE-WAR.turns.next");
}

/// A race in a ring of such pairs: the place that is filled may be the one that is read.
void ask_of_ring(const simgpu::Finding& finding, const Tile& tile, std::int64_t width,
                 Diagnosis& d) {
  const Access& at = finding.at;
  const std::int64_t elements = static_cast<std::int64_t>(at.object_bytes) / width,
                     pairs = pairs_of_tiles(tile, elements);
  ask_of_empty_place(finding, pairs, d);
  if (!one_reads(finding) || at.offset < 0 || pairs == 0) return;
  const std::vector<messages::Gap> gaps = {{"name", short_name(at.object)},
                                           {"places", pairs},
                                           {"place", at.offset / width / (elements / pairs)}};
  d.details.push_back(messages::text("detail.pairs", gaps));
  d.next_step = messages::text("RACE-WAR.ring.next", gaps);
}

/// Rows of a tile have whole pieces, and lane 0 adds nothing: an access that is not aligned has a wrong column.
void ask_of_column(const Access& at, const char* matrix, std::int64_t width, Diagnosis& d) {
  const std::int64_t count = at.bytes / width;
  if (d.id != "MISALIGNED" || count < 2 || at.thread.y != 0 || at.thread.z != 0 ||
      at.thread.x % 32 != 0)
    return;
  d.next_step =
      messages::text("MISALIGNED.tile.next",
                     {{"matrix", matrix}, {"count", count}, {"rest", at.offset / width % count}});
}

}  // namespace

std::int64_t places_in_ring(const Access& at, const Tile& tile, const simgpu::LaunchReport& launch,
                            std::int64_t width) {
  const std::int64_t both = std::int64_t{tile.bk} * (tile.bm + tile.bn),
                     elements = static_cast<std::int64_t>(at.object_bytes) / width;
  if (tile.wm < 1 || both < 1 || at.space != MemorySpace::shared || elements == 0) return 0;
  const bool exact = at.object_bytes == launch.dynamic_shared_bytes && elements % both == 0;
  return exact ? elements / both : pairs_of_tiles(tile, elements);
}

void add_place_in_ring(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                       const simgpu::LaunchReport* launch, std::int64_t width, Diagnosis& d) {
  const Access& at = finding.at;
  ask_of_turns(finding, tile, run, launch, width, d);
  const std::int64_t of_a = std::int64_t{tile.bm} * tile.bk,
                     both = of_a + std::int64_t{tile.bk} * tile.bn;
  // Where warps have tiles, a block's are as the lab gives them.
  if (tile.wm < 1 || of_a < 1 || both == of_a || at.space != MemorySpace::shared || at.offset < 0 ||
      launch == nullptr || at.object_bytes == 0)
    return;
  if (at.object_bytes != launch->dynamic_shared_bytes) return ask_of_ring(finding, tile, width, d);
  const std::int64_t places = static_cast<std::int64_t>(at.object_bytes) / (both * width);
  if (places * both * width != static_cast<std::int64_t>(at.object_bytes)) return;
  const std::int64_t index = at.offset / width;
  // Behind the end: behind the last tile of B.
  const std::int64_t place = std::min(index / both, places - 1), within = index - place * both;
  const bool a = within < of_a;
  const std::int64_t row = a ? within / tile.bk : (within - of_a) / tile.bn;
  const std::vector<messages::Gap> gaps = {{"bm", tile.bm},  {"bn", tile.bn},
                                           {"bk", tile.bk},  {"matrix", a ? "A" : "B"},
                                           {"row", row},     {"last", (a ? tile.bm : tile.bk) - 1},
                                           {"place", place}, {"places", places}};
  d.details.push_back(messages::text(places > 1 ? "detail.ring" : "detail.tiles", gaps));
  if (finding.kind == simgpu::FindingKind::out_of_bounds && at.type == simgpu::AccessType::load)
    d.next_step = NextStep::of("OOB.tile.next", gaps);
  ask_of_empty_place(finding, places, d);
  ask_of_column(at, a ? "A" : "B", width, d);
  if (one_reads(finding) && places > 1 && at.actor != Actor::wgmma &&
      finding.other->actor != Actor::wgmma)
    d.next_step = messages::text("RACE-WAR.ring.next", gaps);
}

}  // namespace grader::diag
