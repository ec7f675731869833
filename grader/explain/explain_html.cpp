// The page of `make explain`: one file without any reference to another. Its script shows one rung
// at a time; without it, and on paper, all of them follow each other.
#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/core.h>

#include "grader/explain/draw.hpp"
#include "grader/explain/explain.hpp"
#include "grader/explain/fragments.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/sha256.hpp"
#include "grader/report/text.hpp"
#include "grader/version.hpp"

namespace grader::explain {
namespace {

using simgpu::MemorySpace;

/// SHA-256 in base64, as a page's policy names the one script that may run.
std::string policy_hash(std::string_view text) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0, held = 0;
  for (const char c : sha256(text)) {
    bits = (bits << 4) | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    held += 4;
    if (held < 6) continue;
    held -= 6;
    out += letters[(bits >> held) & 63];
  }
  if (held) out += letters[(bits << (6 - held)) & 63];
  while (out.size() % 4) out += '=';
  return out;
}

/// Groups of three digits, between them thin blanks that do not break: U+202F.
Markup digits(std::uint64_t value) {
  std::string out;
  for (const char c : report::number(static_cast<double>(value)))
    out += c == ' ' ? "\xe2\x80\xaf" : std::string(1, c);
  return {out};
}

Markup percent(double share) {
  if (share > 0 && share < 0.0005) return fragment("percent.less");
  return fragment(
      "percent",
      {{"value", fmt::format("{:.{}f}", 100 * share, share > 0 && share < 0.01 ? 1 : 0)}});
}

std::string ratio(std::uint64_t cost, std::uint64_t ideal) {
  const double value = ideal ? static_cast<double>(cost) / static_cast<double>(ideal) : 0;
  return fmt::format("{:.{}f}×", value, value >= 9.95 ? 0 : 1);
}

std::string kind(State state) {
  std::string out(to_string(state));
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

const char* sign(State state) {
  switch (state) {
    case State::right:
      return "✓";
    case State::not_started:
      return "○";
    case State::skipped:
      return "–";
    default:
      return "✗";
  }
}

/// `name` if `wanted`, else nothing.
Markup if_so(bool wanted, std::string_view name,
             const std::vector<std::pair<std::string_view, Value>>& values = {}) {
  return wanted ? fragment(name, values) : Markup();
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// Cut where a line is absurdly long: the page must stay usable.
Markup shown(std::string_view text, std::size_t most) {
  if (text.size() <= most) return {escape_html(text)};
  std::size_t end = most;
  while (end > 0 && inside_character(text[end])) --end;
  Markup out{escape_html(text.substr(0, end))};
  out += fragment("cut", {{"count", digits(text.size() - end)}});
  return out;
}

Markup preformatted(const std::vector<std::string>& lines, std::string_view label) {
  if (lines.empty()) return {};
  std::string all;
  for (const auto& line : lines) all += escape_html(line) + "\n";
  Markup out = fragment("pre", {{"label", fragment(label)}, {"lines", Markup{all}}});
  return out += {"\n"};
}

/// The columns of a line of the source.
Markup amount(std::string_view name, std::uint64_t value) {
  return fragment("amount",
                  {{"name", name}, {"value", value ? digits(value) : Markup()}, {"against", ""}});
}

Markup amount_against(std::string_view name, std::uint64_t value, std::uint64_t ideal) {
  if (value == 0) return amount(name, 0);
  const Markup against = value == ideal ? fragment("amount.ideal")
                                        : fragment("amount.above", {{"ideal", digits(ideal)}});
  return fragment("amount", {{"name", name}, {"value", digits(value)}, {"against", against}});
}

Markup amounts(const Columns& c, bool shared, std::uint64_t instructions) {
  const double share =
      instructions ? static_cast<double>(c.instructions) / static_cast<double>(instructions) : 0;
  Markup out = fragment("amount", {{"name", "instructions"},
                                   {"value", c.instructions ? percent(share) : Markup()},
                                   {"against", ""}});
  out += amount("multiply-adds", c.multiply_adds);
  out += amount("global requests", c.global_requests);
  out += amount_against("sectors", c.sectors, c.ideal_sectors);
  if (shared) {
    out += amount("shared requests", c.shared_requests);
    out += amount_against("wavefronts", c.wavefronts, c.ideal_wavefronts);
  }
  return out;
}

Markup marks(const Columns& c) {
  Markup out;
  if (c.wavefronts > c.ideal_wavefronts)
    out += fragment("mark.wavefronts", {{"ratio", ratio(c.wavefronts, c.ideal_wavefronts)}});
  if (c.sectors > c.ideal_sectors)
    out += fragment("mark.sectors", {{"ratio", ratio(c.sectors, c.ideal_sectors)}});
  if (c.local_requests) out += fragment("mark.local", {{"count", digits(c.local_requests)}});
  if (c.barriers) out += fragment("mark.barriers", {{"count", digits(c.barriers)}});
  return out;
}

Markup launch_card(const simgpu::LaunchReport& l, const std::string& type) {
  const auto& reg = l.registers;
  const auto bytes = std::uint64_t{l.static_shared_bytes} + l.dynamic_shared_bytes;
  const Columns c = columns(l.total, type);
  return fragment(
      "card",
      {{"kernel", l.kernel},
       {"grid", dim_text(l.grid)},
       {"block", dim_text(l.block)},
       {"threads", std::uint64_t{l.block.x} * l.block.y * l.block.z},
       {"shared", if_so(bytes != 0, "card.shared",
                        {{"bytes", digits(bytes)},
                         {"dynamic", if_so(l.dynamic_shared_bytes != 0, "card.dynamic",
                                           {{"bytes", digits(l.dynamic_shared_bytes)}})}})},
       {"registers", reg.live_registers},
       {"most", if_so(reg.where.line != 0, "card.most", {{"line", reg.where.line}})},
       {"percent", fmt::format("{:.0f}", 100 * std::clamp(reg.occupancy, 0.0, 1.0))},
       {"blocks", fragment(reg.blocks_per_multiprocessor == 1 ? "card.blocks.one" : "card.blocks",
                           {{"count", reg.blocks_per_multiprocessor}})},
       {"limiter", reg.limiter},
       {"local", if_so(l.local_bytes_per_thread != 0, "card.local",
                       {{"bytes", digits(l.local_bytes_per_thread)}})},
       {"multiply_adds",
        if_so(c.multiply_adds != 0, "card.multiply_adds", {{"count", digits(c.multiply_adds)}})},
       {"barriers", if_so(c.barriers != 0, "card.barriers", {{"count", digits(c.barriers)}})}});
}

Markup traffic_row(const simgpu::BufferCounts& b, const char* way, const simgpu::GlobalCounts& c) {
  if (c.sectors == 0) return {};
  Markup row = fragment("traffic.row", {{"matrix", b.label},
                                        {"access", way},
                                        {"requests", digits(c.requests)},
                                        {"sectors", digits(c.sectors)},
                                        {"ideal", digits(c.ideal_sectors)},
                                        {"times", b.bytes ? ratio(c.sectors * 32, b.bytes) : ""}});
  return row += {"\n"};
}

class Page {
 public:
  explicit Page(const Document& document) : d_(document), lines_(source_lines(document.source)) {}

  std::string render() {
    head();
    if (!d_.build_headline.empty())
      put("build", {{"headline", d_.build_headline},
                    {"details", preformatted(d_.build_details, "pre.compiler")}});
    put("main");
    out_ += preformatted(d_.warnings, "pre.warnings");
    rungs();
    put("foot", {{"script", Markup{"\n" + std::string(script())}}});
    return std::move(out_.text);
  }

 private:
  using Values = std::vector<std::pair<std::string_view, Value>>;

  /// One fragment, and the end of its last line.
  void put(std::string_view name, const Values& values = {}) {
    out_ += fragment(name, values);
    out_ += {"\n"};
  }

  static std::string id(std::size_t rung) { return fmt::format("r{}", rung); }
  static std::string line_id(std::size_t rung, unsigned line) {
    return fmt::format("r{}-L{}", rung, line);
  }
  Markup link(std::size_t k, unsigned line) const {
    return fragment("link", {{"id", line_id(k, line)}, {"line", line}});
  }
  std::string_view code(unsigned line) const {
    return line >= 1 && line <= lines_.size() ? lines_[line - 1] : std::string_view();
  }

  void head() {
    put("head",
        {{"hash", policy_hash("\n" + std::string(script()))},
         {"version", version()},
         {"title", fragment("title", {{"lab", d_.lab}, {"title", d_.title}})},
         {"style", Markup{std::string(style())}},
         {"file", d_.file},
         {"compiler", if_so(!d_.compiler.empty(), "compiler", {{"compiler", d_.compiler}})}});
    if (d_.rungs.size() <= 1) return;
    Markup links;
    for (std::size_t k = 0; k < d_.rungs.size(); ++k) {
      const Rung& r = d_.rungs[k];
      links += fragment("nav.link", {{"id", id(k)},
                                     {"name", r.name},
                                     {"kind", kind(r.state)},
                                     {"sign", sign(r.state)},
                                     {"state", to_string(r.state)}});
      links += {"\n"};
    }
    put("nav", {{"links", links}});
  }

  void rungs() {
    // The line ids #L57 belong to the first rung that runs the line.
    const auto counted =
        std::find_if(d_.rungs.begin(), d_.rungs.end(), [](const Rung& r) { return r.counted(); });
    first_ = counted == d_.rungs.end() ? 0 : static_cast<std::size_t>(counted - d_.rungs.begin());
    for (std::size_t k = 0; k < d_.rungs.size(); ++k)
      for (const auto& line : d_.rungs[k].lines) owner_.insert({line.number, k});
    for (std::size_t k = 0; k < d_.rungs.size(); ++k) rung(k, k == first_);
    if (!d_.rungs.empty()) return;
    put("main.source");
    source(0, nullptr);
    put("section.end");
  }

  void rung(std::size_t k, bool first) {
    const Rung& r = d_.rungs[k];
    put("rung", {{"id", id(k)},
                 {"first", if_so(first, "rung.first")},
                 {"name", r.name},
                 {"title", r.title},
                 {"kind", kind(r.state)},
                 {"sign", sign(r.state)},
                 {"state", to_string(r.state)},
                 {"m", r.shape.m},
                 {"n", r.shape.n},
                 {"k", r.shape.k},
                 {"type", r.type},
                 {"headline", r.headline}});
    out_ += preformatted(r.details, "pre.happened");
    if (!r.summary.empty()) {
      put("words");
      for (const auto& sentence : r.summary)
        put("words.sentence", {{"sentence", with_link(k, sentence)}});
      put("list.end");
    }
    findings(k, r);
    if (!r.launches.empty() && r.state != State::not_started) launches(r);
    if (r.counted() && r.state != State::not_started) {
      hot(k, r);
      pictures(k, r);
    }
    put("source", {{"id", id(k)}});
    source(k, &r);
    put("section.end");
  }

  /// A sentence that begins with "line 57" leads there.
  Markup with_link(std::size_t k, const std::string& sentence) const {
    unsigned line = 0;
    int used = 0;
    if (std::sscanf(sentence.c_str(), "line %u%n", &line, &used) != 1 || line < 1 ||
        line > lines_.size())
      return {escape_html(sentence)};
    Markup out = link(k, line);
    return out += {escape_html(std::string_view(sentence).substr(static_cast<std::size_t>(used)))};
  }

  void findings(std::size_t k, const Rung& r) {
    bool any = false;
    for (const auto& launch : r.launches)
      for (const auto& f : launch.findings) {
        if (!any) put("findings");
        any = true;
        const unsigned line = f.at.where.line;
        const bool here = line >= 1 && line <= lines_.size();
        put("finding", {{"kind", simgpu::to_string(f.kind)},
                        {"at", here ? fragment("finding.at", {{"link", link(k, line)}}) : Markup()},
                        {"count", fragment(f.occurrences == 1 ? "finding.once" : "finding.often",
                                           {{"count", digits(f.occurrences)}})},
                        {"detail", f.detail}});
      }
    if (any) put("list.end");
  }

  void launches(const Rung& r) {
    put(r.launches.size() == 1 ? "launch" : "launches");
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < std::min(r.launches.size(), most); ++i) {
      out_ += launch_card(r.launches[i], r.type);
      out_ += {"\n"};
    }
    if (r.launches.size() > most)
      out_ += fragment("launches.more", {{"count", r.launches.size() - most}});
    put("launches.end");
    Markup rows;
    for (const auto& b : r.buffers) {
      rows += traffic_row(b, "load", b.load);
      rows += traffic_row(b, "store", b.store);
      rows += traffic_row(b, "atomic", b.atomic);
    }
    if (!rows.text.empty()) put("traffic", {{"rows", rows}});
  }

  void hot(std::size_t k, const Rung& r) {
    const auto hot = hot_lines(r);
    if (hot.empty()) return;
    const bool shared = columns(r.total, r.type).shared_requests != 0;
    const auto share = [](double value) {
      return fragment("hot.share", {{"share", value > 0 ? percent(value) : Markup()}});
    };
    Markup rows;
    for (const auto& line : hot) {
      Markup shares = share(line.instructions);
      shares += share(line.sectors);
      if (shared) shares += share(line.wavefronts);
      rows += fragment(
          "hot.row",
          {{"line", line.number == 0 ? fragment("hot.other")
                                     : fragment("hot.line", {{"id", line_id(k, line.number)},
                                                             {"line", line.number}})},
           {"shares", shares},
           {"code", line.number ? shown(trimmed(code(line.number)), 160) : Markup()}});
      rows += {"\n"};
    }
    put("hot", {{"wavefronts", if_so(shared, "hot.wavefronts")},
                {"rows", rows},
                {"note", fragment(shared ? "hot.note.shared" : "hot.note")}});
  }

  void pictures(std::size_t k, const Rung& r) {
    const Site* shared = worst(r, MemorySpace::shared);
    const Site* global = worst(r, MemorySpace::global);
    if (!shared && !global) return;
    put("pictures");
    if (shared) figure(k, r, *shared);
    if (global) figure(k, r, *global);
    // More of the wasteful ones, folded.
    unsigned more = 0;
    for (const auto& site : r.sites) {
      if (site.waste() == 0 || site.line == 0 || &site == shared || &site == global) continue;
      if (++more > 4) break;
      put("pictures.more",
          {{"line", site.line},
           {"what", what(site.worst)},
           {"unit", site.worst.space == MemorySpace::shared ? "wavefronts" : "sectors"},
           {"cost", digits(site.cost)},
           {"ideal", digits(site.ideal)}});
      figure(k, r, site);
      put("details.end");
    }
  }

  void figure(std::size_t k, const Rung& r, const Site& site) {
    const auto& s = site.worst;
    const bool shared = s.space == MemorySpace::shared;
    const std::string drawing = fmt::format("d{}", ++drawings_);
    put("figure", {{"memory", fragment(shared ? "figure.shared" : "figure.global")},
                   {"sentence", with_link(k, sentence(site, r))},
                   {"warp", s.warp},
                   {"x", s.block.x},
                   {"y", s.block.y},
                   {"z", if_so(s.block.z != 0, "figure.z", {{"z", s.block.z}})},
                   {"line", site.line},
                   {"places", shared ? "banks" : "sectors"},
                   {"drawing", shared ? draw_banks(s, site.line, drawing)
                                      : draw_sectors(s, site.line, drawing)},
                   {"text", shared ? preformatted(bank_text(s), "pre.banks")
                                   : preformatted(sector_text(s), "pre.sectors")}});
  }

  // ---- the source

  /// What the rung runs, and a few lines around it, is open; the rest is folded.
  std::vector<bool> open_lines(const Rung* r) const {
    constexpr unsigned around = 4;
    const auto n = static_cast<unsigned>(lines_.size());
    std::vector<bool> open(n + 2, r == nullptr || !r->counted());
    if (r == nullptr) return open;
    for (const auto& line : r->lines)
      if (line.number >= 1 && line.number <= n)
        for (unsigned at = line.number > around ? line.number - around : 1;
             at <= std::min(n, line.number + around); ++at)
          open[at] = true;
    return open;
  }

  void source(std::size_t k, const Rung* r) {
    std::vector<bool> open = open_lines(r);
    const auto n = static_cast<unsigned>(lines_.size());
    bool any = false;
    for (unsigned begin = 1; begin <= n;) {
      unsigned end = begin;
      while (end <= n && open[end] == open[begin]) ++end;
      if (!open[begin] && end - begin <= 2) {  // not worth a fold
        for (unsigned at = begin; at < end; ++at) open[at] = true;
        continue;
      }
      if (open[begin])
        while (end <= n &&
               (open[end] || (end + 1 <= n && open[end + 1]) || (end + 2 <= n && open[end + 2])))
          ++end;
      if (!open[begin]) put("fold", {{"begin", begin}, {"end", end - 1}});
      table(k, r, begin, end, any && !open[begin]);
      if (!open[begin]) put("details.end");
      any = true;
      begin = end;
    }
    const Line* const other = r ? r->line(0) : nullptr;
    if (other == nullptr) return;
    const Columns c = columns(other->counts, r->type);
    put("elsewhere", {{"instructions", digits(c.instructions)},
                      {"sectors", digits(c.sectors)},
                      {"wavefronts", digits(c.wavefronts)}});
  }

  /// Lines begin to end - 1. `later`: behind the first table, folded.
  void table(std::size_t k, const Rung* r, unsigned begin, unsigned end, bool later) {
    constexpr unsigned most = 4000;  // lines shown of one fold
    const bool counted = r && r->counted();
    const bool shared = r && columns(r->total, r->type).shared_requests != 0;
    Markup rows;
    for (unsigned at = begin; at < std::min(end, begin + most); ++at) {
      rows += source_line(k, r, at, shared);
      rows += {"\n"};
    }
    put("table",
        {{"begin", begin},
         {"end", end - 1},
         {"columns", if_so(counted, shared ? "table.columns.shared" : "table.columns")},
         {"head", counted ? fragment("table.head", {{"later", if_so(later, "table.head.later")},
                                                    {"shared", if_so(shared, "table.head.shared")}})
                          : Markup()},
         {"rows", rows}});
    if (end - begin > most) put("table.more", {{"count", digits(end - begin - most)}});
  }

  Markup source_line(std::size_t k, const Rung* r, unsigned number, bool shared) const {
    const Line* line = r ? r->line(number) : nullptr;
    const Columns c = line ? columns(line->counts, r->type) : Columns();
    const bool waste =
        c.wavefronts > c.ideal_wavefronts || c.sectors > c.ideal_sectors || c.local_requests != 0;
    const auto owner = owner_.find(number);
    const bool owns = owner != owner_.end() ? owner->second == k : k == first_;
    Markup cells;
    if (line && r->counted())
      cells = amounts(c, shared, r->total.warp_instructions);
    else if (r && r->counted())
      for (int i = 0; i < (shared ? 6 : 4); ++i) cells += fragment("amount.none");
    return fragment("row", {{"id", line_id(k, number)},
                            {"waste", if_so(waste, "row.waste")},
                            {"anchor", if_so(owns, "row.anchor", {{"line", number}})},
                            {"line", number},
                            {"code", shown(code(number), 12000)},
                            {"marks", marks(c)},
                            {"amounts", cells}});
  }

  const Document& d_;
  std::vector<std::string_view> lines_;
  std::map<unsigned, std::size_t> owner_;  ///< line -> first rung that runs it
  std::size_t first_ = 0;
  unsigned drawings_ = 0;
  Markup out_;
};

}  // namespace

std::string html(const Document& document) {
  return Page(document).render();
}

}  // namespace grader::explain
