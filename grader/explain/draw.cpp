#include "grader/explain/draw.hpp"

#include <algorithm>
#include <bit>

#include <fmt/core.h>

namespace grader::explain {
namespace {

using simgpu::AccessSample;

constexpr unsigned cell = 26;  ///< width of a bank, lane or sector, in pixels like all lengths here

Markup rect(double x, double y, double w, double h, const char* css) {
  return fragment("svg.rect", {{"x", x}, {"y", y}, {"w", w}, {"h", h}, {"css", css}});
}

Markup label(double x, double y, const std::string& text, const char* css,
             const char* anchor = "middle") {
  return fragment("svg.text",
                  {{"x", x}, {"y", y}, {"text", text}, {"css", css}, {"anchor", anchor}});
}

std::string offset(const AccessSample& s, std::uint64_t address) {
  return fmt::format("{:+}", static_cast<std::int64_t>(address - s.object_address));
}

std::string in_one(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + ". ";
  return text;
}

/// The lanes that ask for one word: the first of them, and how many more.
Markup word_of_bank(const AccessSample& s, unsigned bank, const BankMap::Word& word, bool first,
                    double x, double y, unsigned high) {
  const int lanes = std::popcount(word.lanes);
  const int lane = std::countr_zero(word.lanes);
  const Markup title = fragment(
      "banks.word",
      {{"bank", bank}, {"offset", offset(s, word.address)}, {"lanes", lanes_in_words(word.lanes)}});
  Markup drawing = rect(x + 1, y + 1, cell - 2, high - 2, first ? "hit" : "bad");
  drawing += lanes == 1
                 ? label(x + cell / 2.0, y + 14, std::to_string(lane), first ? "b" : "badtext")
                 : label(x + cell / 2.0, y + 14, fmt::format("{}+{}", lane, lanes - 1),
                         first ? "b tiny" : "badtext tiny");
  return fragment("svg.told", {{"title", title}, {"drawing", drawing}});
}

/// A sector with what is wanted of it, and its offset below, turned.
Markup one_sector(const AccessSample& s, const SectorMap::Sector& sector, double x, double y) {
  const Markup title = fragment("sectors.sector", {{"offset", offset(s, sector.address)},
                                                   {"bytes", std::popcount(sector.bytes)},
                                                   {"lanes", lanes_in_words(sector.lanes)}});
  Markup drawing = rect(x + 1, y, cell - 2, 22, "grid");
  for (unsigned word = 0; word < 8; ++word)
    if ((sector.bytes >> (4 * word)) & 15u) drawing += rect(x + 1 + 3 * word, y + 2, 3, 18, "hit");
  drawing +=
      fragment("svg.turned", {{"x", x + cell / 2.0 + 4},
                              {"y", y + 28},
                              {"drawing", label(0, 0, offset(s, sector.address), "muted", "end")}});
  return fragment("svg.told", {{"title", title}, {"drawing", drawing}});
}

}  // namespace

Markup draw_banks(const AccessSample& s, unsigned line, const std::string& id) {
  const BankMap map = bank_map(s);
  if (map.phases.empty()) return {};
  std::size_t rows = 1;
  for (const auto& bank : map.banks) rows = std::max(rows, bank.size());
  constexpr unsigned left = 84, high = 20, top = 40;

  Markup drawing = label(4, 12, "bank", "muted", "start");
  if (map.phases.size() > 1)
    drawing += label(4, 28, lanes_in_words(map.phases[map.shown].lanes), "muted", "start");
  for (unsigned bank = 0; bank < 32; ++bank) {
    const std::size_t words = map.banks[bank].size();
    const double x = left + cell * (bank + 0.5);
    drawing += label(x, 12, std::to_string(bank), words > 1 ? "badtext" : "muted");
    if (words > 1) drawing += label(x, 28, fmt::format("{}×", words), "badtext");
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const double y = top + static_cast<double>(row * high);
    drawing +=
        label(4, y + 14, fmt::format("wavefront {}", row + 1), row ? "badtext" : "muted", "start");
    for (unsigned bank = 0; bank < 32; ++bank) {
      const double x = left + cell * bank;
      drawing += row < map.banks[bank].size()
                     ? word_of_bank(s, bank, map.banks[bank][row], row == 0, x, y, high)
                     : rect(x, y, cell, high, "grid");
    }
  }
  if (const std::size_t words = map.banks[map.worst_bank].size(); words > 1)
    drawing += rect(left + cell * map.worst_bank - 1, top - 1, cell + 2,
                    static_cast<double>(words * high + 2), "worst");
  return fragment(
      "svg", {{"id", id},
              {"width", left + 32 * cell + 4},
              {"height", top + rows * high + 10},
              {"title", fragment("banks.title",
                                 {{"line", line}, {"cost", map.wavefronts}, {"ideal", map.ideal}})},
              {"description", fragment("banks.description", {{"text", in_one(bank_text(s))}})},
              {"drawing", drawing}});
}

Markup draw_sectors(const AccessSample& s, unsigned line, const std::string& id) {
  SectorMap map = sector_map(s);
  if (map.sectors.empty()) return {};
  constexpr std::size_t most = 64, columns = 32;
  const std::size_t all = map.sectors.size();
  if (all > most) map.sectors.resize(most);
  constexpr unsigned left = 60, lane_top = 8, sector_top = 96, row_high = 96;
  const auto centre = [&](std::size_t column) {
    return left + cell * (static_cast<double>(column) + 0.5);
  };
  const auto row_top = [&](std::size_t k) {
    return sector_top + static_cast<double>(k / columns * row_high);
  };

  Markup drawing = label(4, lane_top + 14, "lane", "muted", "start");
  drawing += label(4, sector_top + 15, "sector", "muted", "start");
  for (std::size_t k = 0; k < map.sectors.size(); ++k)
    for (std::uint32_t lanes = map.sectors[k].lanes; lanes; lanes &= lanes - 1)
      drawing +=
          fragment("svg.line", {{"x1", centre(static_cast<std::size_t>(std::countr_zero(lanes)))},
                                {"y1", lane_top + 20},
                                {"x2", centre(k % columns)},
                                {"y2", row_top(k)}});
  for (unsigned lane = 0; lane < 32; ++lane) {
    const bool active = ((s.mask >> lane) & 1u) != 0;
    drawing += rect(left + cell * lane + 1, lane_top, cell - 2, 20, active ? "hit" : "grid");
    drawing += label(centre(lane), lane_top + 14, std::to_string(lane), active ? "b" : "muted");
  }
  for (std::size_t k = 0; k < map.sectors.size(); ++k)
    drawing +=
        one_sector(s, map.sectors[k], left + static_cast<double>(cell * (k % columns)), row_top(k));
  const std::size_t rows = (map.sectors.size() + columns - 1) / columns;
  Markup out = fragment(
      "svg",
      {{"id", id},
       {"width", left + columns * cell + 4},
       {"height", sector_top + rows * row_high},
       {"title", fragment("sectors.title", {{"line", line}, {"cost", s.cost}, {"ideal", s.ideal}})},
       {"description", fragment("sectors.description", {{"text", in_one(sector_text(s))}})},
       {"drawing", drawing}});
  if (all > most) out += fragment("sectors.more", {{"count", all - most}});
  return out;
}

}  // namespace grader::explain
