// What of an array had been stored when an element was read that had not.
#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/core.h>

#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

/// What one access or one copy moves at most.
constexpr std::int64_t kPieceBytes = 16;

/// The first `count` rows of an array, of which the first `stored` elements had been stored; 0: they show
/// no rows.
struct Rows {
  std::int64_t length = 0, stored = 0, count = 0;
};

/// Stretches of one length at one distance: the rest of each row is padding, or was forgotten.
Rows rows_of(const simgpu::Finding& finding, std::int64_t width) {
  constexpr std::size_t kEnough = 3;
  const std::vector<simgpu::ByteRange>& written = finding.written;
  if (written.size() < kEnough || written.front().begin != 0) return {};
  const auto length = written[1].begin, stored = written.front().end;
  for (std::size_t r = 0; r < written.size(); ++r)
    if (written[r].begin != r * length || written[r].end - written[r].begin != stored) return {};
  const auto bytes = static_cast<std::uint64_t>(width);
  if (length % bytes != 0 || stored % bytes != 0) return {};
  // Only the first few are listed: of the others no more is known than how much they hold.
  const std::uint64_t rows = (finding.at.object_bytes + length - 1) / length,
                      count = finding.written_bytes / stored;
  if (finding.written_bytes % stored != 0 || count > rows) return {};
  return {static_cast<std::int64_t>(length / bytes), static_cast<std::int64_t>(stored / bytes),
          static_cast<std::int64_t>(count)};
}

/// As far as they are listed, stretches of one length begin pieces of 16 bytes, and what is read lies in one of those
/// pieces behind such a stretch: how long they are; 0: it is not so. Other pieces may be filled in another way.
std::int64_t begun_of_pieces(const simgpu::Finding& finding) {
  constexpr std::size_t kEnough = 3;
  const std::vector<simgpu::ByteRange>& written = finding.written;
  if (written.size() < kEnough || finding.at.offset < 0) return 0;
  const std::uint64_t stored = written.front().end - written.front().begin,
                      first = written.front().begin;
  for (std::size_t r = 0; r < written.size(); ++r)
    if (written[r].begin != first + r * kPieceBytes || written[r].end - written[r].begin != stored)
      return 0;
  const auto at = static_cast<std::uint64_t>(finding.at.offset);
  const bool in_piece = first % kPieceBytes == 0 && at % kPieceBytes >= stored && at >= first &&
                        at < written.back().begin + kPieceBytes;
  return in_piece ? static_cast<std::int64_t>(stored) : 0;
}

/// Of the element that is read only the first bytes had been stored: how many; 0: it is not so.
std::int64_t stored_of_element(const simgpu::Finding& finding, std::int64_t width) {
  const std::int64_t begin = finding.at.offset / width * width, end = begin + width;
  for (const simgpu::ByteRange& r : finding.written) {
    const auto first = static_cast<std::int64_t>(r.begin), last = static_cast<std::int64_t>(r.end);
    if (first <= begin && last > begin && last < end) return last - begin;
  }
  return 0;
}

/// What is stored of an array in shared memory is one stretch from its beginning, but for a little at its end
/// (barriers), and the element that is read lies behind it: by how many elements; else 0.
std::int64_t past_first_stretch(const simgpu::Finding& finding, std::int64_t width) {
  const std::vector<simgpu::ByteRange>& written = finding.written;
  const auto at = static_cast<std::uint64_t>(std::max<std::int64_t>(finding.at.offset, 0));
  const simgpu::ByteRange& first = written.front();
  const std::uint64_t beside = finding.written_bytes - (first.end - first.begin);
  if (finding.at.space != simgpu::MemorySpace::shared || first.begin != 0 || at < first.end ||
      first.end - first.begin < 16 * beside || (written.size() > 1 && written[1].begin <= at))
    return 0;
  return static_cast<std::int64_t>(at - first.end) / width + 1;
}

/// Some elements of this array have been stored to more than once: what is missing may have gone there. Either two
/// threads met, or as much was stored as the array holds, where a block has no other.
bool stores_meet(const simgpu::Finding& finding, const simgpu::LaunchReport& launch) {
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  if (launch.static_shared_bytes == finding.at.object_bytes && launch.dynamic_shared_bytes == 0 &&
      launch.total.shared_store.bytes >= blocks * finding.at.object_bytes)
    return true;
  return std::any_of(launch.findings.begin(), launch.findings.end(), [&](const auto& f) {
    return f.kind == simgpu::FindingKind::shared_race && f.at.object == finding.at.object &&
           f.other && f.at.type != simgpu::AccessType::load &&
           f.other->type != simgpu::AccessType::load;
  });
}

/// An array of its own, not a ring, of which each thread has stored as much as every other one: from its
/// beginning, and only a part of what would be its share.
bool ask_of_share(const simgpu::Finding& finding, const std::string& name, std::int64_t width,
                  const simgpu::LaunchReport* launch, Diagnosis& d) {
  if (launch == nullptr || finding.written.size() != 1 ||
      finding.at.object_bytes == launch->dynamic_shared_bytes)
    return false;
  const auto threads =
                 static_cast<std::int64_t>(launch->block.x) * launch->block.y * launch->block.z,
             stored = static_cast<std::int64_t>(finding.written_bytes) / width,
             total = static_cast<std::int64_t>(finding.at.object_bytes) / width;
  if (threads < 2 || stored % threads != 0 || total % threads != 0) return false;
  constexpr std::int64_t kMostTiles = 4;  // one behind the other, of which the first is filled
  const std::int64_t tiles = stored > 0 && total % stored == 0 ? total / stored : 0;
  const bool several = stored > threads && tiles > 1 && tiles <= kMostTiles;
  d.next_step =
      messages::text(stores_meet(finding, *launch) ? "UNINIT.share.met.next"
                     : several                     ? "UNINIT.share.several.next"
                                                   : "UNINIT.share.next",
                     {{"name", name},
                      {"total", total},
                      {"threads", threads},
                      {"share", total / threads},
                      {"stored", stored},
                      {"each", stored / threads},
                      {"tiles", tiles},
                      {"number", finding.at.offset / std::max<std::int64_t>(1, stored * width)}});
  return true;
}

/// The parts of one length that an array has, and how much of each is filled, in one stretch from its beginning;
/// 0: it has none, or not all of them are.
Rows parts_of(const simgpu::Finding& finding, std::int64_t width) {
  const std::vector<simgpu::ByteRange>& written = finding.written;
  if (written.size() < 2) return {};
  const std::uint64_t stored = written.front().end - written.front().begin;
  std::uint64_t length = finding.at.object_bytes;
  for (const simgpu::ByteRange& r : written) {
    if (r.end - r.begin != stored) return {};
    length = std::gcd(length, r.begin);
  }
  const auto bytes = static_cast<std::uint64_t>(width);
  constexpr std::uint64_t kLeast = 64;  // elements: less is a row
  if (stored < kLeast * static_cast<std::uint64_t>(width) || length <= stored ||
      length > 2 * stored || length % bytes != 0 || stored % bytes != 0)
    return {};
  return {static_cast<std::int64_t>(length / bytes), static_cast<std::int64_t>(stored / bytes),
          static_cast<std::int64_t>(written.size())};
}

void ask_of_parts_filled(const simgpu::Finding& finding, const std::string& name,
                         std::int64_t width, Diagnosis& d) {
  if (const std::int64_t bytes = begun_of_pieces(finding); bytes > 0)
    d.next_step = messages::text("UNINIT.begun.next", {{"bytes", bytes}});
  const Rows parts = parts_of(finding, width);
  if (parts.length == 0 || finding.at.offset < 0) return;
  const std::int64_t number = finding.at.offset / width % parts.length;
  if (number >= parts.stored)
    d.next_step = messages::text(
        "UNINIT.parts.next",
        {{"name", name}, {"length", parts.length}, {"stored", parts.stored}, {"number", number}});
}

}  // namespace

std::int64_t stored_row_length(const simgpu::Finding& finding, std::int64_t width) {
  return rows_of(finding, width).length;
}

void add_stored(const simgpu::Finding& finding, const std::string& name, std::int64_t width,
                std::int64_t row, const simgpu::LaunchReport* launch, Diagnosis& d) {
  if (finding.written.empty()) {
    d.details.push_back(messages::text("detail.stored.none", {{"name", name}}));
    return;
  }
  if (const Rows rows = rows_of(finding, width); row == 0 && rows.length > 0) {
    const std::int64_t index = finding.at.offset / width, col = index % rows.length;
    const bool in_row = col < rows.stored;
    const std::vector<messages::Gap> gaps = {
        {"name", name},        {"length", rows.length},      {"stored", rows.stored},
        {"count", rows.count}, {"row", index / rows.length}, {"col", col}};
    d.details.push_back(messages::text(in_row ? "detail.stored.few" : "detail.stored.rows", gaps));
    const bool piece = rows.length * width == kPieceBytes;
    if (in_row && index / rows.length >= rows.count)
      d.next_step = messages::text("UNINIT.rows.next", gaps);
    if (in_row) return;
    d.next_step = piece ? messages::text("UNINIT.piece.next", {{"bytes", rows.stored * width}})
                  : finding.at.actor == simgpu::Actor::warp
                      ? messages::text("UNINIT.fragment.next", gaps)
                      : messages::text("UNINIT.behind.next", gaps);
    return;
  }
  if (const std::int64_t bytes = stored_of_element(finding, width); bytes > 0) {
    const std::vector<messages::Gap> gaps = {{"bytes", bytes}, {"width", width}};
    d.details.push_back(messages::text("detail.stored.part", gaps));
    d.next_step = messages::text("UNINIT.part.next", gaps);
    return;
  }
  if (const std::uint64_t first = finding.written.front().begin;
      finding.at.offset >= 0 && static_cast<std::uint64_t>(finding.at.offset) < first)
    d.next_step =
        messages::text("UNINIT.before.next",
                       {{"name", name}, {"first", static_cast<std::int64_t>(first) / width}});
  if (const simgpu::ByteRange& all = finding.written.front();
      finding.at.space == simgpu::MemorySpace::global && finding.written.size() == 1 &&
      all.begin == 0 && finding.at.offset >= static_cast<std::int64_t>(all.end))
    d.next_step = messages::text("UNINIT.scratch.behind.next");
  if (const std::int64_t past = past_first_stretch(finding, width); past > 0) {
    const std::int64_t last = static_cast<std::int64_t>(finding.written.front().end) / width - 1;
    // A wgmma goes where its descriptor says: that has been asked.
    if (!ask_of_share(finding, name, width, launch, d) && finding.at.actor != simgpu::Actor::wgmma)
      d.next_step =
          messages::text("UNINIT.too_far.next", {{"name", name}, {"last", last}, {"past", past}});
  }
  ask_of_parts_filled(finding, name, width, d);
  const auto place = [&](std::uint64_t byte) {
    const std::int64_t index = static_cast<std::int64_t>(byte) / width;
    return row > 0 ? element(name, index / row, index % row) : std::to_string(index);
  };
  std::string list;
  std::uint64_t listed = 0;
  for (const simgpu::ByteRange& r : finding.written) {
    list += (list.empty() ? "" : ", ") + place(r.begin);
    if (const auto bytes = static_cast<std::uint64_t>(width); r.end - r.begin > bytes)
      list += ".." + place(r.end - bytes);
    listed += r.end - r.begin;
  }
  if (listed < finding.written_bytes) list += ", ...";
  d.details.push_back(messages::text(
      "detail.stored", {{"name", name},
                        {"total", static_cast<std::int64_t>(finding.at.object_bytes) / width},
                        {"count", static_cast<std::int64_t>(finding.written_bytes) / width},
                        {"list", list}}));
}

void ask_of_missing_parts(const simgpu::Finding& finding, const Run* run, std::int64_t width,
                          Diagnosis& d) {
  if (finding.kind != simgpu::FindingKind::uninitialised_read || run == nullptr ||
      !is_scratch(finding.at) || finding.at.offset < 0 || run->launches.size() < 2)
    return;
  const std::int64_t m = run->c_before.rows, n = run->c_before.cols,
                     elements = static_cast<std::int64_t>(finding.at.object_bytes) / width,
                     stored = static_cast<std::int64_t>(finding.written_bytes) / width;
  const Rows rows = rows_of(finding, width);
  // Matrices like C, one after the other, whose rows may have some padding.
  const std::int64_t length = rows.length > 0 ? rows.length : n, part = m * length;
  if (part < 1 || length < n || elements % part != 0 || elements / part < 2 ||
      stored % (m * n) != 0)
    return;
  const std::int64_t there = stored / (m * n), missing = finding.at.offset / width / part;
  // The first ones are there, and nothing of the one that is read.
  if (there < 1 || there != missing || (rows.length > 0 && rows.count != there * m)) return;
  const simgpu::LaunchReport& storing = run->launches.front();
  d.next_step = NextStep::of("UNINIT.splits.next", {{"parts", elements / part},
                                                    {"m", m},
                                                    {"n", n},
                                                    {"there", there},
                                                    {"grid", dims(storing.grid)}});
}

void ask_of_edge(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                 std::int64_t width, Diagnosis& d) {
  const bool shared = finding.at.space == simgpu::MemorySpace::shared;
  if (finding.kind != simgpu::FindingKind::uninitialised_read || run == nullptr ||
      (!shared && !is_scratch(finding.at)))
    return;
  const auto stored = static_cast<std::int64_t>(finding.written_bytes) / width,
             elements = static_cast<std::int64_t>(finding.at.object_bytes) / width;
  const auto ask = [&](const char* matrix, const Matrix& m, int high, int wide) {
    const std::int64_t exists = std::int64_t{m.rows} * m.cols;
    if (exists < 1 || m.rows > high || m.cols > wide || exists == std::int64_t{high} * wide ||
        stored != exists || elements <= exists)
      return false;
    // Memory of the launcher may be anything: here it has room for one packed tile, or two.
    if (!shared && elements != std::int64_t{high} * wide &&
        elements != std::int64_t{2} * high * wide)
      return false;
    d.next_step =
        NextStep::of("UNINIT.edge.next", {{"matrix", matrix}, {"rows", m.rows}, {"cols", m.cols}});
    return true;
  };
  if (ask("A", run->a, tile.bm, tile.bk) || ask("B", run->b, tile.bk, tile.bn)) return;
  if (!shared) return;
  // A tile of A by itself: this element lies beyond A's edge, by rows as well as turned.
  const std::int64_t index = finding.at.offset / width;
  const simgpu::Dim3& block = finding.at.block;
  const auto beyond = [&](std::int64_t row, std::int64_t col) {
    return row >= run->a.rows || col >= run->a.cols;
  };
  if (tile.bm < 2 || tile.bk < 2 || index < 0 || (block.x | block.y | block.z) != 0 ||
      static_cast<std::int64_t>(finding.at.object_bytes) / width != std::int64_t{tile.bm} * tile.bk)
    return;
  if (beyond(index / tile.bk, index % tile.bk) && beyond(index % tile.bm, index / tile.bm))
    d.next_step =
        messages::text("UNINIT.outside.next", {{"rows", run->a.rows}, {"cols", run->a.cols}});
}

}  // namespace grader::diag
