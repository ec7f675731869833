#include "grader/explain/explain.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "common/simgpu/count/shared_banks.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/report/text.hpp"

namespace grader::explain {

using messages::text;
using report::number;
using simgpu::AccessSample;
using simgpu::AccessType;
using simgpu::Counts;
using simgpu::MemorySpace;

namespace {

std::string digits(std::uint64_t value) {
  return number(static_cast<double>(value));
}

std::string percent(double share) {
  const double value = 100 * share;
  return fmt::format("{:.{}f} %", value, value > 0 && value < 1 ? 1 : 0);
}

/// 8 -> "8", 2.5 -> "2.5".
std::string average(std::uint64_t sum, std::uint64_t count) {
  return fmt::format("{:.{}f}", static_cast<double>(sum) / static_cast<double>(count),
                     sum % count == 0 ? 0 : 1);
}

/// "once", "16 times", "1.3 times".
std::string times(std::uint64_t sum, std::uint64_t count) {
  const std::string value = average(sum, count);
  return value == "1" ? "once" : value + " times";
}

bool possible(const AccessSample& s) {
  return s.mask != 0 && s.bytes >= 1 && s.bytes <= 32 && std::has_single_bit(s.bytes);
}

bool is(const AccessSample& s, unsigned lane) {
  return ((s.mask >> lane) & 1u) != 0;
}

}  // namespace

// ------------------------------------------------------------------------------------------------
// maps

BankMap bank_map(const AccessSample& s) {
  BankMap map;
  if (!possible(s)) return map;
  std::uint64_t address[32];
  std::copy(s.address.begin(), s.address.end(), address);
  const bool merges = s.type == AccessType::load && !s.matrix;
  const unsigned width = std::min(s.bytes, 16u);
  using Banks = std::array<std::vector<BankMap::Word>, 32>;
  // Accesses of 32 bytes count as two of 16.
  for (unsigned part = 0; part < s.bytes; part += width) {
    std::uint64_t start[32];
    for (unsigned i = 0; i < 32; ++i) start[i] = address[i] + part;
    const unsigned lanes =
        s.matrix ? 8 : simgpu::count::lanes_per_phase(start, s.mask, width, merges);
    for (unsigned first = 0; first < 32; first += lanes) {
      const std::uint32_t in_phase =
          s.mask & (lanes == 32 ? 0xffffffffu : ((1u << lanes) - 1) << first);
      if (in_phase == 0) continue;
      Banks banks;
      unsigned worst = 0, worst_bank = 0;
      for (std::uint32_t left = in_phase; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const std::uint64_t from = start[lane] & ~std::uint64_t{3};
        const unsigned words = std::max(1u, width / 4);
        for (unsigned k = 0; k < words; ++k) {
          const std::uint64_t word = from + 4 * k;
          const auto bank = static_cast<unsigned>(word / 4 % 32);
          auto& list = banks[bank];
          auto at = std::find_if(list.begin(), list.end(),
                                 [&](const auto& w) { return w.address == word; });
          if (at == list.end()) at = list.insert(list.end(), {word, 0});
          at->lanes |= 1u << lane;
          if (list.size() > worst) {
            worst = static_cast<unsigned>(list.size());
            worst_bank = bank;
          }
        }
      }
      if (map.phases.empty() || worst > map.phases[map.shown].wavefronts) {
        map.shown = static_cast<unsigned>(map.phases.size());
        map.banks = std::move(banks);
        map.worst_bank = worst_bank;
      }
      map.phases.push_back({in_phase, worst});
      map.wavefronts += worst;
      ++map.ideal;
    }
  }
  for (unsigned bank = 32; bank-- > 0;)
    if (map.banks[bank].size() >= map.banks[map.worst_bank].size()) map.worst_bank = bank;
  return map;
}

SectorMap sector_map(const AccessSample& s) {
  SectorMap map;
  if (!possible(s)) return map;
  std::map<std::uint64_t, SectorMap::Sector> sectors;
  std::optional<std::uint64_t> before;
  bool same = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!is(s, lane)) continue;
    for (unsigned k = 0; k < s.bytes; ++k) {
      const std::uint64_t byte = s.address[lane] + k;
      auto& sector = sectors[byte & ~std::uint64_t{31}];
      sector.lanes |= 1u << lane;
      sector.bytes |= 1u << (byte & 31);
    }
    if (before) {
      const auto step = static_cast<std::int64_t>(s.address[lane] - *before);
      if (map.stride && *map.stride != step) same = false;
      map.stride = step;
    }
    before = s.address[lane];
  }
  if (!same) map.stride.reset();
  for (auto& [address, sector] : sectors) {
    sector.address = address;
    map.sectors.push_back(sector);
  }
  return map;
}

std::string lanes_in_words(std::uint32_t lanes) {
  std::vector<unsigned> list;
  for (unsigned i = 0; i < 32; ++i)
    if ((lanes >> i) & 1u) list.push_back(i);
  if (list.empty()) return "no lane";
  if (list.size() == 1) return fmt::format("lane {}", list[0]);
  const unsigned step = list[1] - list[0];
  bool even = true;
  for (std::size_t k = 1; k < list.size(); ++k) even = even && list[k] - list[k - 1] == step;
  if (even && step == 1 && list.size() > 2)
    return fmt::format("lanes {}–{}", list.front(), list.back());
  const std::size_t shown = list.size() <= 5 ? list.size() : even ? 3 : 5;
  std::string out = fmt::format("lanes {}", list[0]);
  for (std::size_t k = 1; k < shown; ++k) out += fmt::format(", {}", list[k]);
  if (shown < list.size()) out += fmt::format(", ... {}", list.back());
  if (shown < list.size() && !even) out += fmt::format(" ({} lanes)", list.size());
  return out;
}

std::string dim_text(const simgpu::Dim3& d) {
  return d.z == 1 ? fmt::format("{}×{}", d.x, d.y) : fmt::format("{}×{}×{}", d.x, d.y, d.z);
}

namespace {

/// Where an address lies, from the start of its object: "+64".
std::string place(const AccessSample& s, std::uint64_t address) {
  return fmt::format("{:+}", static_cast<std::int64_t>(address - s.object_address));
}

/// One lane for each word of the bank.
std::uint32_t rivals(const std::vector<BankMap::Word>& words) {
  std::uint32_t lanes = 0;
  for (const auto& word : words) lanes |= word.lanes & (0u - word.lanes);
  return lanes;
}

/// Why lanes without a common stride need so many sectors.
std::string apart(const SectorMap& map) {
  std::string groups;
  std::uint32_t seen = 0;
  bool disjoint = map.sectors.size() >= 2 && map.sectors.size() <= 3;
  unsigned wanted = 0;
  for (const auto& sector : map.sectors) {
    disjoint = disjoint && (seen & sector.lanes) == 0;
    seen |= sector.lanes;
    wanted += static_cast<unsigned>(std::popcount(sector.bytes));
    groups += (groups.empty() ? "" : " and ") + lanes_in_words(sector.lanes);
  }
  if (disjoint) return text("explain.groups", {{"groups", groups}});
  return text("explain.scattered", {{"wanted", std::to_string(wanted)},
                                    {"moved", std::to_string(32 * map.sectors.size())}});
}

std::string cut(std::string line) {
  return report::fit(line, 80);
}

}  // namespace

std::string what(const AccessSample& s) {
  std::string out = s.type == AccessType::load    ? "load"
                    : s.type == AccessType::store ? "store"
                                                  : "atomic";
  if (s.matrix) out = s.type == AccessType::load ? "ldmatrix" : "stmatrix";
  if (!s.object.empty())
    out += (s.type == AccessType::load    ? " of "
            : s.type == AccessType::store ? " to "
                                          : " on ") +
           visible(s.object);
  return fmt::format("{}, {} {} a {}", out, s.bytes, s.bytes == 1 ? "byte" : "bytes",
                     s.matrix ? "row" : "lane");
}

std::vector<std::string> bank_text(const AccessSample& s) {
  const BankMap map = bank_map(s);
  std::vector<std::string> out;
  if (map.phases.empty()) return out;
  const auto& phase = map.phases[map.shown];
  if (map.phases.size() > 1) {
    std::string costs;
    for (const auto& one : map.phases)
      costs += fmt::format("{}{}", costs.empty() ? "" : " + ", one.wavefronts);
    out.push_back(cut(fmt::format("{} phases: {} wavefronts; shown: {}", map.phases.size(), costs,
                                  lanes_in_words(phase.lanes))));
  }
  std::string tens = "bank   ", ones = "       ", depth = "words  ";
  for (unsigned bank = 0; bank < 32; ++bank) {
    tens += bank % 10 == 0 ? fmt::format("{} ", bank / 10) : "  ";
    ones += fmt::format("{} ", bank % 10);
    const std::size_t n = map.banks[bank].size();
    depth += n == 0 ? ". " : fmt::format("{:<2}", n);
  }
  for (auto* line : {&tens, &ones, &depth}) line->erase(line->find_last_not_of(' ') + 1);
  out.push_back(tens);
  out.push_back(ones);
  out.push_back(depth);
  const auto& words = map.banks[map.worst_bank];
  std::string line = fmt::format("bank {}:", map.worst_bank);
  constexpr std::size_t most = 8;
  for (std::size_t k = 0; k < std::min(words.size(), most); ++k)
    line += fmt::format("{} {} {}", k ? ";" : "", place(s, words[k].address),
                        lanes_in_words(words[k].lanes));
  if (words.size() > most) line += fmt::format("; and {} more words", words.size() - most);
  for (const auto& part : report::wrap(line, 74)) out.push_back(part);
  return out;
}

std::vector<std::string> sector_text(const AccessSample& s) {
  const SectorMap map = sector_map(s);
  std::vector<std::string> out;
  constexpr std::size_t most = 6;
  for (std::size_t k = 0; k < map.sectors.size(); ++k) {
    if (k == most && map.sectors.size() > most + 2) {
      const std::size_t last = map.sectors.size() - 1;
      if (k < last) out.push_back(fmt::format("... {} more sectors", last - k));
      k = last;
    }
    const auto& sector = map.sectors[k];
    out.push_back(
        cut(fmt::format("sector {:<9} {:<2} of 32 bytes wanted by {}", place(s, sector.address),
                        std::popcount(sector.bytes), lanes_in_words(sector.lanes))));
  }
  return out;
}

// ------------------------------------------------------------------------------------------------
// folding

std::string_view to_string(State state) {
  switch (state) {
    case State::right:
      return "right";
    case State::wrong:
      return "wrong";
    case State::findings:
      return "findings";
    case State::failed:
      return "failed";
    case State::not_started:
      return "not started";
    case State::skipped:
      return "skipped";
  }
  return "?";
}

const Line* Rung::line(unsigned wanted) const {
  for (const auto& one : lines)
    if (one.number == wanted) return &one;
  return nullptr;
}

Columns columns(const Counts& c, const std::string& type) {
  Columns out;
  out.instructions = c.warp_instructions;
  out.multiply_adds = c.fma_f32 + c.fma_f64 + (type == "int32" ? c.mad_int : 0);
  for (const auto& [kind, operations] : c.tensor_ops) out.multiply_adds += operations / 2;
  out.global_requests = c.global_load.requests + c.global_store.requests + c.global_atomic.requests;
  out.sectors = c.global_load.sectors + c.global_store.sectors + c.global_atomic.sectors;
  out.ideal_sectors =
      c.global_load.ideal_sectors + c.global_store.ideal_sectors + c.global_atomic.ideal_sectors;
  for (const auto* part : {&c.shared_load, &c.shared_store, &c.shared_atomic, &c.async_store}) {
    out.shared_requests += part->requests;
    out.wavefronts += part->wavefronts;
    out.ideal_wavefronts += part->ideal_wavefronts;
  }
  out.local_requests = c.local_load_requests + c.local_store_requests;
  out.barriers = c.block_barriers;
  return out;
}

double HotLine::largest() const {
  return std::max({instructions, sectors, wavefronts});
}

std::vector<HotLine> hot_lines(const Rung& rung, std::size_t most) {
  const Columns all = columns(rung.total, rung.type);
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  std::vector<HotLine> out;
  for (const auto& line : rung.lines) {
    HotLine hot;
    hot.number = line.number;
    hot.columns = columns(line.counts, rung.type);
    hot.instructions = share(hot.columns.instructions, all.instructions);
    hot.sectors = share(hot.columns.sectors, all.sectors);
    hot.wavefronts = share(hot.columns.wavefronts, all.wavefronts);
    if (hot.largest() >= 0.01) out.push_back(hot);
  }
  std::stable_sort(out.begin(), out.end(), [](const HotLine& x, const HotLine& y) {
    return x.largest() != y.largest() ? x.largest() > y.largest() : x.instructions > y.instructions;
  });
  if (out.size() > most) out.resize(most);
  return out;
}

const Site* worst(const Rung& rung, MemorySpace space) {
  const Site* best = nullptr;
  for (const auto& site : rung.sites) {
    if (site.worst.space != space || site.line == 0) continue;
    if (!best || site.waste() > best->waste() ||
        (best->waste() == 0 && site.waste() == 0 && site.cost > best->cost))
      best = &site;
  }
  return best;
}

std::string sentence(const Site& site, const Rung& rung) {
  const AccessSample& s = site.worst;
  const bool shared = s.space == MemorySpace::shared;
  const Columns all = columns(rung.total, rung.type);
  const std::uint64_t whole = shared ? all.wavefronts : all.sectors;
  const std::string where =
      site.line ? fmt::format("line {}", site.line) : text("explain.elsewhere");
  std::string reason;
  if (shared) {
    const BankMap map = bank_map(s);
    if (s.type == AccessType::atomic && s.cost > map.wavefronts)
      reason = text("explain.atomic");
    else if (!map.phases.empty() && map.banks[map.worst_bank].size() > 1)
      reason = text("explain.bank", {{"lanes", lanes_in_words(rivals(map.banks[map.worst_bank]))},
                                     {"bank", std::to_string(map.worst_bank)}});
  } else {
    const SectorMap map = sector_map(s);
    if (s.type == AccessType::atomic && s.cost > map.sectors.size())
      reason = text("explain.atomic");
    else if (map.stride && *map.stride == static_cast<std::int64_t>(s.bytes))
      reason = text("explain.misaligned");
    else if (map.stride)
      reason =
          text("explain.stride", {{"bytes", digits(static_cast<std::uint64_t>(
                                                *map.stride < 0 ? -*map.stride : *map.stride))}});
    else
      reason = apart(map);
  }
  if (site.waste() == 0) reason.clear();
  const std::string key =
      std::string(shared ? "explain.shared" : "explain.global") + (site.waste() == 0 ? ".fine"
                                                                   : site.uniform    ? ""
                                                                                     : ".worst");
  return text(
      key, {{"where", where},
            {"cost", std::to_string(s.cost)},
            {"unit",
             s.cost == 1 ? (shared ? "wavefront" : "sector") : (shared ? "wavefronts" : "sectors")},
            {"ideal", std::to_string(s.ideal)},
            {"average", average(site.cost, std::max<std::uint64_t>(site.requests, 1))},
            {"reason", reason.empty() ? "" : "; " + reason},
            {"what", what(s)},
            {"share",
             percent(whole ? static_cast<double>(site.cost) / static_cast<double>(whole) : 0)}});
}

namespace {

void summarise(Rung& rung) {
  auto& out = rung.summary;
  constexpr std::size_t most = 6;
  std::size_t wasteful = 0;
  for (const auto& site : rung.sites) {
    if (site.waste() == 0) continue;
    if (++wasteful <= most) out.push_back(sentence(site, rung));
  }
  if (wasteful > most)
    out.push_back(text("explain.more", {{"count", std::to_string(wasteful - most)}}));
  const Columns all = columns(rung.total, rung.type);
  if (wasteful == 0 && all.shared_requests + all.global_requests != 0)
    out.push_back(text(all.shared_requests ? "explain.no_waste" : "explain.no_waste.global"));
  std::string traffic;
  for (const auto& buffer : rung.buffers) {
    if (buffer.load.sectors == 0 || buffer.bytes == 0) continue;
    traffic += (traffic.empty() ? "" : ", ") + visible(buffer.label) + " " +
               times(buffer.load.sectors * 32, buffer.bytes);
  }
  if (!traffic.empty()) out.push_back(text("explain.traffic", {{"traffic", traffic}}));
  for (const auto& buffer : rung.buffers)  // one sector more per row where rows are not aligned
    if (buffer.label == "C" && buffer.bytes &&
        buffer.store.ideal_sectors * 32 > 3 * buffer.bytes / 2)
      out.push_back(text("explain.traffic.written",
                         {{"traffic", "C " + times(buffer.store.sectors * 32, buffer.bytes)}}));
  if (const auto& copies = rung.total.async_copy; copies.requests)
    out.push_back(text("explain.copies", {{"requests", digits(copies.requests)},
                                          {"bytes", digits(copies.bytes)},
                                          {"idle", digits(rung.total.async_bytes_idle)}}));
  if (all.local_requests)
    for (const auto& line : rung.lines)
      if (const Columns c = columns(line.counts, rung.type); c.local_requests && line.number) {
        out.push_back(text("explain.local", {{"line", std::to_string(line.number)},
                                             {"requests", digits(c.local_requests)}}));
        break;
      }
}

}  // namespace

void fold(Rung& rung, const std::string& student_file) {
  std::map<unsigned, Counts> lines;
  using Key = std::tuple<std::size_t, unsigned, MemorySpace, AccessType, std::string, bool>;
  std::map<Key, Site> sites;
  const auto own = [&](const simgpu::SourceLine& where) {
    return where.file == student_file ? where.line : 0;
  };
  for (std::size_t k = 0; k < rung.launches.size(); ++k) {
    auto& launch = rung.launches[k];
    rung.total += launch.total;
    for (const auto& line : launch.lines) lines[own(line.where)] += line.counts;
    for (const auto& s : launch.samples) {
      Site& site = sites[{k, own(s.where), s.space, s.type, s.object, s.matrix}];
      const auto excess = [](const AccessSample& one) {
        return one.cost > one.ideal ? one.cost - one.ideal : 0u;
      };
      if (site.requests == 0 || excess(s) > excess(site.worst)) {
        if (site.requests != 0 && (site.worst.cost != s.cost || site.worst.ideal != s.ideal))
          site.uniform = false;
        site.worst = s;
      } else if (site.worst.cost != s.cost || site.worst.ideal != s.ideal) {
        site.uniform = false;
      }
      site.line = own(s.where);
      site.requests += s.requests;
      site.cost += s.total_cost;
      site.ideal += s.total_ideal;
      if (s.total_cost != s.requests * s.cost) site.uniform = false;
    }
    launch.lines.clear();
    launch.samples.clear();
  }
  for (auto& [line, counts] : lines) rung.lines.push_back({line, std::move(counts)});
  for (auto& [key, site] : sites) rung.sites.push_back(std::move(site));
  std::stable_sort(rung.sites.begin(), rung.sites.end(),
                   [](const Site& x, const Site& y) { return x.waste() > y.waste(); });
  summarise(rung);
}

// ------------------------------------------------------------------------------------------------
// text that others wrote

std::vector<std::string_view> source_lines(std::string_view source) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  while (begin < source.size()) {
    std::size_t end = source.find_first_of("\r\n", begin);
    if (end == std::string_view::npos) end = source.size();
    out.push_back(source.substr(begin, end - begin));
    begin = end + (source.substr(end, 2) == "\r\n" ? 2 : 1);
  }
  return out;
}

}  // namespace grader::explain
