// The page of `make explain`: one file without any reference to another. Its script shows one rung
// at a time; without it, and on paper, all of them follow each other.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>

#include "grader/os/sha256.hpp"
#include "grader/report/explain.hpp"
#include "grader/report/text.hpp"

namespace grader::explain {
namespace {

using report::number;
using simgpu::AccessSample;
using simgpu::MemorySpace;

const char* const style = R"css(
:root { color-scheme: light dark; --bg: #ffffff; --fg: #1b1f24; --muted: #57606a; --line: #d0d7de;
  --panel: #f6f8fa; --accent: #0550ae; --cell: #cfe3fb; --warn: #8a3700; --warn-bg: #fff1e5;
  --good: #116329; --bad: #a40e26; --target: #fff6c2; }
@media (prefers-color-scheme: dark) { :root { --bg: #0d1117; --fg: #e6edf3; --muted: #9da7b3;
  --line: #3d444d; --panel: #161b22; --accent: #79c0ff; --cell: #1c3d66; --warn: #ffb77c;
  --warn-bg: #3a2008; --good: #56d364; --bad: #ff9b9b; --target: #3a3410; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 4rem; }
body { margin: 0 auto; max-width: 84rem; padding: 0 1rem 3rem; background: var(--bg);
  color: var(--fg); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 1rem 0 .25rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 1.5rem 0 .5rem; overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
p, ul { margin: .5rem 0; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code, pre, .code, .mono { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
.sub, .note, figcaption, dt, th { color: var(--muted); }
.sub, .wrap { overflow-wrap: anywhere; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--bg); padding: .25rem .75rem; z-index: 2; }
nav { position: sticky; top: 0; z-index: 1; background: var(--bg); padding: .5rem 0;
  border-bottom: 1px solid var(--line); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem .5rem; margin: 0; padding: 0; list-style: none; }
nav a { display: block; padding: .15rem .6rem; border: 1px solid var(--line); border-radius: .4rem;
  text-decoration: none; font-size: .9rem; overflow-wrap: anywhere; }
nav a[aria-current] { background: var(--cell); border-color: var(--accent); color: var(--fg);
  font-weight: 600; }
.state { font-weight: 600; white-space: nowrap; }
.right { color: var(--good); } .wrong, .failed, .findings { color: var(--bad); }
.not-started, .skipped { color: var(--muted); }
.verdict { border-left: .3rem solid currentColor; padding: .25rem .75rem; background: var(--panel);
  overflow-wrap: anywhere; }
.summary li { margin: .35rem 0; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr));
  gap: 1rem; }
.card { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem 1rem; min-width: 0; }
.card h4 { margin: .25rem 0 .5rem; font-size: .9rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .15rem .75rem; margin: 0;
  font-size: .9rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.bar { display: block; height: .4rem; margin: .2rem 0; background: var(--line);
  border-radius: .2rem; overflow: hidden; max-width: 16rem; }
.bar i { display: block; height: 100%; background: var(--accent); }
.box { overflow-x: auto; max-width: 100%; }
pre { overflow-x: auto; background: var(--panel); padding: .5rem .75rem; border-radius: .4rem;
  font-size: .8rem; line-height: 1.35; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .85rem; }
th { text-align: left; font-weight: 600; vertical-align: bottom; }
th, td { padding: .2rem .6rem; }
thead th { border-bottom: 1px solid var(--line); }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.hot td, .hot th, .traffic td, .traffic th { border-bottom: 1px solid var(--line); }
.hot .code { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 34rem; }
.source { width: 100%; table-layout: fixed; font-size: .76rem; line-height: 1.4; }
.source td, .source th { padding: .05rem .35rem; vertical-align: top; }
.source th.n { white-space: normal; }
.hot tbody th { vertical-align: top; }
.source .no { width: 3.6rem; text-align: right; color: var(--muted); font-weight: 400;
  font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace;
  border-left: .3rem solid transparent; }
.source .code { white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
.source col.no { width: 3.6rem; } .source col.s { width: 3.1rem; } .source col.q { width: 4.2rem; }
.source col.w { width: 5.5rem; }
.source td.n { white-space: normal; overflow-wrap: anywhere; }
.source tbody:first-of-type tr:target, .source tr:target { background: var(--target); }
.source tr.waste { background: var(--warn-bg); } .source tr.waste .no { border-color: var(--warn); }
.source tr:has(:target) { background: var(--target); outline: 2px solid var(--accent); }
.source tr.waste:target { outline: 2px solid var(--accent); }
.source small { display: block; white-space: normal; color: var(--muted); font-size: .72rem; }
.source tr.waste small { color: inherit; }
.mark { display: inline-block; border: 1px solid var(--warn); color: var(--warn); border-radius: .3rem;
  padding: 0 .35rem; margin-left: .5rem; font: 600 .72rem/1.3 system-ui, sans-serif;
  white-space: nowrap; }
.mark.plain { border-color: var(--line); color: var(--muted); }
details > summary { cursor: pointer; color: var(--accent); padding: .2rem 0; font-size: .85rem; }
.fold { border-top: 1px dashed var(--line); border-bottom: 1px dashed var(--line); }
figure { margin: 1rem 0; border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem;
  min-width: 0; }
figcaption { margin-bottom: .5rem; font-size: .9rem; overflow-wrap: anywhere; }
figcaption b { color: var(--fg); }
svg { display: block; max-width: none; }
svg text { fill: var(--fg); font: 10px system-ui, sans-serif; }
svg .muted { fill: var(--muted); } svg .b { font-weight: 700; }
svg .grid { fill: none; stroke: var(--line); }
svg .hit { fill: var(--cell); stroke: var(--accent); }
svg .bad { fill: var(--warn-bg); stroke: var(--warn); stroke-width: 1.5; }
svg .badtext { fill: var(--warn); font-weight: 700; }
svg .wire { stroke: var(--accent); stroke-opacity: .7; fill: none; }
svg .tiny { font-size: 9px; letter-spacing: -.3px; }
svg .worst { fill: none; stroke: var(--warn); stroke-width: 2; stroke-dasharray: 4 2; }
@media screen { .off { display: none; } }
@media (max-width: 44rem) {
  body { padding: 0 .75rem 2rem; }
  html { scroll-padding-top: 1rem; }
  nav { position: static; }
  .source, .source tbody, .source tr { display: block; }
  .source thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .source colgroup { display: none; }
  .source tr { display: flex; flex-wrap: wrap; }
  .source tr { padding-left: 3rem; }
  .source .no { flex: 0 0 3rem; width: 3rem; margin-left: -3rem; }
  .source .code { flex: 1 1 100%; min-width: 0; }
  .source .n { padding: 0 .45rem .2rem; text-align: left; }
  .source .n:empty { display: none; }
  .source .n::before { content: attr(data-l) " "; color: var(--muted); font-size: .72rem; }
  .source small { display: inline; margin-left: .4em; }
  .source tr.waste { border-left: .3rem solid var(--warn); padding-left: 2.7rem; }
  .source tr.waste .no { margin-left: -2.7rem; flex-basis: 2.7rem; width: 2.7rem; border: 0; }
  .hot .code { display: none; }
  .hot th, .hot td { padding: .2rem .35rem; }
}
@media print {
  :root { --bg: #ffffff; --fg: #000000; --muted: #444444; --line: #999999; --panel: #ffffff;
    --accent: #003a80; --cell: #dde9f8; --warn: #702c00; --warn-bg: #fff1e5; --good: #004d1a;
    --bad: #8a0018; --target: #ffffff; }
  body { max-width: none; font-size: 10pt; padding: 0; }
  nav, .skip { display: none; }
  .rung { break-before: page; } .rung:first-of-type { break-before: auto; }
  figure, .card, .source tr, .hot tr { break-inside: avoid; }
  .source { font-size: 7pt; }
  svg { max-width: 100%; height: auto; }
}
)css";

const char* const script = R"js(
(function () {
  "use strict";
  var rungs = Array.prototype.slice.call(document.querySelectorAll("section.rung"));
  var links = Array.prototype.slice.call(document.querySelectorAll("nav a"));
  function show(section) {
    rungs.forEach(function (one) { one.classList.toggle("off", one !== section); });
    links.forEach(function (link) {
      if (link.hash === "#" + section.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }
  function go() {
    var target = document.getElementById(location.hash.slice(1));
    var section = target && target.closest("section.rung");
    if (!section && location.hash && document.querySelector("section.rung.off")) return;
    show(section || document.querySelector("section.rung[data-first]") || rungs[0]);
    if (!section) return;
    for (var up = target.parentElement; up; up = up.parentElement)
      if (up.tagName === "DETAILS") up.open = true;
    var nav = document.querySelector("nav");
    if (nav && getComputedStyle(nav).position === "sticky")
      document.documentElement.style.scrollPaddingTop = nav.offsetHeight + 12 + "px";
    target.scrollIntoView({ block: target === section ? "start" : "center" });
  }
  if (rungs.length) { window.addEventListener("hashchange", go); go(); }
})();
)js";

/// Of the script between its tags, for the page's own policy: nothing else may run.
std::string script_hash() {
  const std::string hex = sha256(script);
  const auto value = [](char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0, held = 0;
  for (const char c : hex) {
    bits = (bits << 4) | value(c);
    held += 4;
    if (held >= 6) {
      held -= 6;
      out += letters[(bits >> held) & 63];
    }
  }
  if (held) out += letters[(bits << (6 - held)) & 63];
  while (out.size() % 4) out += '=';
  return out;
}

std::string digits(std::uint64_t value) {
  // Thin blanks that do not break: U+202F.
  std::string out;
  for (const char c : number(static_cast<double>(value))) {
    if (c == ' ')
      out += "\xe2\x80\xaf";
    else
      out += c;
  }
  return out;
}

std::string percent(double share) {
  if (share > 0 && share < 0.0005) return "&lt; 0.1\xe2\x80\xaf%";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, share > 0 && share < 0.01 ? "%.1f" : "%.0f", 100 * share);
  return std::string(buffer) + "\xe2\x80\xaf%";
}

std::string dim(const simgpu::Dim3& d) {
  std::string out = std::to_string(d.x) + "×" + std::to_string(d.y);
  return d.z == 1 ? out : out + "×" + std::to_string(d.z);
}

std::string ratio(std::uint64_t cost, std::uint64_t ideal) {
  char buffer[32];
  const double value = ideal ? static_cast<double>(cost) / static_cast<double>(ideal) : 0;
  std::snprintf(buffer, sizeof buffer, value >= 9.95 ? "%.0f×" : "%.1f×", value);
  return buffer;
}

std::string offset(const AccessSample& s, std::uint64_t address) {
  const auto value = static_cast<std::int64_t>(address - s.object_address);
  return (value < 0 ? "" : "+") + std::to_string(value);
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

class Page {
 public:
  explicit Page(const Document& document) : d_(document), lines_(source_lines(document.source)) {}

  std::string render() {
    head();
    if (!d_.build_headline.empty()) build_failure();
    main_part();
    foot();
    return std::move(out_);
  }

 private:
  void put(std::string_view text) { out_ += text; }
  template <typename... Ts>
  void put(std::string_view first, const Ts&... rest) {
    out_ += first;
    (out_.append(rest), ...);
  }

  std::string id(std::size_t rung) const { return "r" + std::to_string(rung); }
  std::string line_id(std::size_t rung, unsigned line) const {
    return id(rung) + "-L" + std::to_string(line);
  }

  void head() {
    const std::string title = "Lab " + std::to_string(d_.lab) + ": " + escape_html(d_.title);
    put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'sha256-",
        script_hash(), "'; img-src data:; base-uri 'none'; form-action 'none'\">\n");
    put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
        "<title>",
        title, ", explained</title>\n<style>", style, "</style>\n</head>\n<body>\n");
    put("<a class=\"skip\" href=\"#main\">Skip to the counters</a>\n<header>\n<h1>", title,
        "</h1>\n<p class=\"sub\"><code>", escape_html(d_.file), "</code> on the simulated GPU");
    if (!d_.compiler.empty()) put(" · ", escape_html(d_.compiler));
    put(" · counts of warp-level work, never times</p>\n</header>\n");
    if (d_.rungs.size() > 1) {
      put("<nav aria-label=\"Rungs\"><ul>\n");
      for (std::size_t k = 0; k < d_.rungs.size(); ++k) {
        const Rung& r = d_.rungs[k];
        put("<li><a href=\"#", id(k), "\">", escape_html(r.name), " <span class=\"state ",
            kind(r.state), "\"><span aria-hidden=\"true\">", sign(r.state), "</span> ",
            to_string(r.state), "</span></a></li>\n");
      }
      put("</ul></nav>\n");
    }
  }

  void build_failure() {
    put("<section aria-labelledby=\"build\"><h2 id=\"build\">It does not build</h2>\n"
        "<p class=\"verdict failed\">",
        escape_html(d_.build_headline), "</p>\n");
    pre(d_.build_details, "What the compiler said");
    put("</section>\n");
  }

  void pre(const std::vector<std::string>& lines, std::string_view label) {
    if (lines.empty()) return;
    put("<pre tabindex=\"0\" role=\"region\" aria-label=\"", label, "\">");
    for (const auto& line : lines) put(escape_html(line), "\n");
    put("</pre>\n");
  }

  void main_part() {
    put("<main id=\"main\" tabindex=\"-1\">\n");
    pre(d_.warnings, "Warnings of the compiler");
    // The line ids #L57 belong to the first rung that runs the line.
    std::size_t first = d_.rungs.size();
    for (std::size_t k = 0; k < d_.rungs.size(); ++k)
      if (first == d_.rungs.size() && d_.rungs[k].counted()) first = k;
    if (first == d_.rungs.size()) first = 0;
    for (std::size_t k = 0; k < d_.rungs.size(); ++k)
      for (const auto& line : d_.rungs[k].lines) owner_.insert({line.number, k});
    first_ = first;
    for (std::size_t k = 0; k < d_.rungs.size(); ++k) rung(k, k == first);
    if (d_.rungs.empty()) {
      put("<section class=\"rung\" id=\"r0\"><h2>The source</h2>\n");
      source(0, nullptr);
      put("</section>\n");
    }
    put("</main>\n");
  }

  void foot() {
    put("<footer><p class=\"note\">A request is one memory instruction of one warp. A sector is 32 "
        "bytes of global memory, a wavefront one pass over the 32 banks of shared memory; ideal is "
        "what the wanted bytes would need. Scalar shared loads are counted as the compiler for "
        "hardware merges them. Registers are an estimate.</p></footer>\n<script>",
        script, "</script>\n</body>\n</html>\n");
  }

  void rung(std::size_t k, bool first) {
    const Rung& r = d_.rungs[k];
    put("<section class=\"rung\" id=\"", id(k), "\" aria-labelledby=\"", id(k), "-h\"",
        first ? " data-first" : "", ">\n<h2 id=\"", id(k), "-h\"><code>", escape_html(r.name),
        "</code>: ", escape_html(r.title), "</h2>\n");
    put("<p class=\"verdict ", kind(r.state),
        "\"><span class=\"state\"><span aria-hidden=\"true\">", sign(r.state), "</span> ",
        to_string(r.state), "</span> <span class=\"sub\">", std::to_string(r.shape.m), "×",
        std::to_string(r.shape.n), "×", std::to_string(r.shape.k), " ", escape_html(r.type),
        "</span><br>");
    put(escape_html(r.headline), "</p>\n");
    pre(r.details, "What happened");
    if (!r.summary.empty()) {
      put("<h3>In words</h3>\n<ul class=\"summary\">\n");
      for (const auto& sentence : r.summary) put("<li>", with_link(k, sentence), "</li>\n");
      put("</ul>\n");
    }
    findings(k, r);
    if (!r.launches.empty() && r.state != State::not_started) launches(r);
    if (r.counted() && r.state != State::not_started) {
      hot(k, r);
      pictures(k, r);
    }
    put("<h3 id=\"", id(k), "-source\">Source</h3>\n");
    source(k, &r);
    put("</section>\n");
  }

  /// A sentence that begins with "line 57" leads there.
  std::string with_link(std::size_t k, const std::string& sentence) const {
    unsigned line = 0;
    int used = 0;
    if (std::sscanf(sentence.c_str(), "line %u%n", &line, &used) == 1 && line >= 1 &&
        line <= lines_.size())
      return "<a href=\"#" + line_id(k, line) + "\">line " + std::to_string(line) + "</a>" +
             escape_html(std::string_view(sentence).substr(static_cast<std::size_t>(used)));
    return escape_html(sentence);
  }

  void findings(std::size_t k, const Rung& r) {
    bool any = false;
    for (const auto& launch : r.launches)
      for (const auto& f : launch.findings) {
        if (!any) put("<h3>Findings</h3>\n<ul class=\"summary\">\n");
        any = true;
        const unsigned line = f.at.where.line;
        put("<li><b>", escape_html(simgpu::to_string(f.kind)), "</b>");
        if (line >= 1 && line <= lines_.size())
          put(" at <a href=\"#", line_id(k, line), "\">line ", std::to_string(line), "</a>");
        put(" (", digits(f.occurrences), f.occurrences == 1 ? " time" : " times",
            "): ", escape_html(f.detail), "</li>\n");
      }
    if (any) put("</ul>\n");
  }

  void launches(const Rung& r) {
    put("<h3>", r.launches.size() == 1 ? "Launch" : "Launches", "</h3>\n<div class=\"cards\">\n");
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < std::min(r.launches.size(), most); ++i) {
      const auto& l = r.launches[i];
      const auto& reg = l.registers;
      put("<div class=\"card\"><h4><code>", escape_html(l.kernel), "</code></h4>\n<dl>");
      row("grid", dim(l.grid) + " blocks");
      row("block", dim(l.block) + " = " +
                       std::to_string(std::uint64_t{l.block.x} * l.block.y * l.block.z) +
                       " threads");
      if (const auto bytes = std::uint64_t{l.static_shared_bytes} + l.dynamic_shared_bytes)
        row("shared memory",
            digits(bytes) + " bytes a block" +
                (l.dynamic_shared_bytes ? " (" + digits(l.dynamic_shared_bytes) + " dynamic)"
                                        : ""));
      std::string live = std::to_string(reg.live_registers) + " live at once, a thread (estimate)";
      if (reg.where.line) live += ", most at line " + std::to_string(reg.where.line);
      row("registers", live);
      char width[32];
      const double share = std::clamp(reg.occupancy, 0.0, 1.0);
      std::snprintf(width, sizeof width, "%.0f", 100 * share);
      put("<dt>occupancy</dt><dd>", width, " %: ", std::to_string(reg.blocks_per_multiprocessor),
          reg.blocks_per_multiprocessor == 1 ? " block" : " blocks",
          " fit on a multiprocessor, limited by ", escape_html(reg.limiter),
          "<span class=\"bar\" aria-hidden=\"true\"><i style=\"width:", width,
          "%\"></i></span></dd>");
      if (l.local_bytes_per_thread)
        row("local memory", digits(l.local_bytes_per_thread) + " bytes a thread");
      const Columns c = columns(l.total, r.type);
      if (c.multiply_adds) row("multiply-adds", digits(c.multiply_adds));
      if (c.barriers) row("barriers", digits(c.barriers) + ", all blocks together");
      put("</dl></div>\n");
    }
    if (r.launches.size() > most)
      put("<p class=\"note\">and ", std::to_string(r.launches.size() - most), " more launches</p>");
    put("</div>\n");
    traffic(r);
  }

  void row(std::string_view name, const std::string& value) {
    put("<dt>", name, "</dt><dd>", escape_html(value), "</dd>");
  }

  void traffic(const Rung& r) {
    bool any = false;
    for (const auto& b : r.buffers) {
      const auto line = [&](const char* way, const simgpu::GlobalCounts& c) {
        if (c.sectors == 0) return;
        if (!any)
          put("<h3>Global memory, by matrix</h3>\n<div class=\"box\" tabindex=\"0\" "
              "role=\"region\" "
              "aria-label=\"Global memory, by matrix\"><table class=\"traffic\"><thead><tr>"
              "<th scope=\"col\">matrix</th><th scope=\"col\">access</th><th scope=\"col\" "
              "class=\"n\">"
              "requests</th><th scope=\"col\" class=\"n\">sectors</th><th scope=\"col\" "
              "class=\"n\">ideal</th><th scope=\"col\" class=\"n\">times its size</th></tr></thead>"
              "<tbody>\n");
        any = true;
        put("<tr><th scope=\"row\">", escape_html(b.label), "</th><td>", way,
            "</td><td class=\"n\">", digits(c.requests), "</td><td class=\"n\">", digits(c.sectors),
            "</td><td class=\"n\">", digits(c.ideal_sectors), "</td><td class=\"n\">",
            b.bytes ? ratio(c.sectors * 32, b.bytes) : "", "</td></tr>\n");
      };
      line("load", b.load);
      line("store", b.store);
      line("atomic", b.atomic);
    }
    if (any) put("</tbody></table></div>\n");
  }

  std::string_view code(unsigned line) const {
    return line >= 1 && line <= lines_.size() ? lines_[line - 1] : std::string_view();
  }

  /// Cut where a line is absurdly long: the page must stay usable.
  std::string shown(std::string_view text, std::size_t most) const {
    if (text.size() <= most) return escape_html(text);
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return escape_html(text.substr(0, end)) + "<span class=\"mark plain\">… " +
           digits(text.size() - end) + " more bytes</span>";
  }

  static std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
  }

  void hot(std::size_t k, const Rung& r) {
    const auto hot = hot_lines(r);
    if (hot.empty()) return;
    const bool shared = columns(r.total, r.type).shared_requests != 0;
    put("<h3>Hot lines</h3>\n<div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"Hot "
        "lines\"><table class=\"hot\"><thead><tr><th scope=\"col\" class=\"n\">line</th>"
        "<th scope=\"col\" class=\"n\">instructions</th><th scope=\"col\" class=\"n\">sectors</th>",
        shared ? "<th scope=\"col\" class=\"n\">wavefronts</th>" : "",
        "<th scope=\"col\" class=\"code\">source</th></tr></thead><tbody>\n");
    for (const auto& line : hot) {
      put("<tr><th scope=\"row\" class=\"n\">");
      if (line.number == 0)
        put("other");
      else
        put("<a href=\"#", line_id(k, line.number), "\">", std::to_string(line.number), "</a>");
      put("</th>");
      share(line.instructions);
      share(line.sectors);
      if (shared) share(line.wavefronts);
      put("<td class=\"code\">", line.number ? shown(trimmed(code(line.number)), 160) : "",
          "</td></tr>\n");
    }
    put("</tbody></table></div>\n<p class=\"note\">Shares of the rung's PTX instructions (of "
        "warps), "
        "global sectors",
        shared ? " and shared wavefronts" : "", "; sorted by the largest.</p>\n");
  }

  void share(double value) { put("<td class=\"n\">", value > 0 ? percent(value) : "", "</td>"); }

  // ---- drawings

  void pictures(std::size_t k, const Rung& r) {
    const Site* shared = worst(r, MemorySpace::shared);
    const Site* global = worst(r, MemorySpace::global);
    if (!shared && !global) return;
    put("<h3>What the worst accesses look like</h3>\n");
    if (shared) figure(k, r, *shared);
    if (global) figure(k, r, *global);
    // More of the wasteful ones, folded.
    unsigned more = 0;
    for (const auto& site : r.sites) {
      if (site.waste() == 0 || site.line == 0 || &site == shared || &site == global) continue;
      if (++more > 4) break;
      put("<details><summary>Line ", std::to_string(site.line), ": ", escape_html(what(site.worst)),
          ", ", site.worst.space == MemorySpace::shared ? "wavefronts " : "sectors ",
          digits(site.cost), ", ideal ", digits(site.ideal), "</summary>\n");
      figure(k, r, site);
      put("</details>\n");
    }
  }

  void figure(std::size_t k, const Rung& r, const Site& site) {
    const AccessSample& s = site.worst;
    const bool shared = s.space == MemorySpace::shared;
    put("<figure>\n<figcaption><b>", shared ? "Shared memory" : "Global memory", "</b>, ",
        with_link(k, sentence(site, r)), ". Drawn: warp ", std::to_string(s.warp), " of block (",
        std::to_string(s.block.x), ", ", std::to_string(s.block.y),
        s.block.z ? ", " + std::to_string(s.block.z) : "", ").</figcaption>\n");
    put("<div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"Drawing for line ",
        std::to_string(site.line), ", ", shared ? "banks" : "sectors", "\">");
    if (shared)
      banks(s, site.line);
    else
      sectors(s, site.line);
    put("</div>\n<details><summary>The same as text</summary>\n");
    pre(shared ? bank_text(s) : sector_text(s), shared ? "Banks as text" : "Sectors as text");
    put("</details>\n</figure>\n");
  }

  std::string svg_begin(unsigned width, unsigned height, const std::string& title,
                        const std::string& description) {
    const std::string name = "d" + std::to_string(++drawings_);
    return "<svg role=\"img\" width=\"" + std::to_string(width) + "\" height=\"" +
           std::to_string(height) + "\" viewBox=\"0 0 " + std::to_string(width) + " " +
           std::to_string(height) + "\" aria-labelledby=\"" + name + "t " + name +
           "d\"><title id=\"" + name + "t\">" + escape_html(title) + "</title><desc id=\"" + name +
           "d\">" + escape_html(description) + "</desc>";
  }
  static std::string box(double x, double y, double w, double h, const char* css) {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer,
                  "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>", x, y,
                  w, h, css);
    return buffer;
  }
  static std::string label(double x, double y, const std::string& text, const char* css,
                           const char* anchor = "middle") {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer,
                  "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
                  css);
    return buffer + escape_html(text) + "</text>";
  }

  void banks(const AccessSample& s, unsigned line) {
    const BankMap map = bank_map(s);
    if (map.phases.empty()) return;
    std::size_t rows = 1;
    for (const auto& bank : map.banks) rows = std::max(rows, bank.size());
    const auto& phase = map.phases[map.shown];
    constexpr unsigned left = 84, cell = 26, high = 20, top = 40;
    const unsigned width = left + 32 * cell + 4;
    const auto height = static_cast<unsigned>(top + rows * high + 10);
    std::string text;
    for (const auto& part : bank_text(s)) text += part + ". ";
    put(svg_begin(
        width, height,
        "Banks of shared memory for line " + std::to_string(line) + ": " +
            std::to_string(map.wavefronts) + " wavefronts, ideal " + std::to_string(map.ideal),
        "Columns are the 32 banks, each row is one more wavefront; the numbers are lanes. " +
            text));
    put(label(4, 12, "bank", "muted", "start"));
    if (map.phases.size() > 1) put(label(4, 28, lanes_in_words(phase.lanes), "muted", "start"));
    for (unsigned bank = 0; bank < 32; ++bank) {
      const bool bad = map.banks[bank].size() > 1;
      put(label(left + cell * (bank + 0.5), 12, std::to_string(bank), bad ? "badtext" : "muted"));
      const std::size_t n = map.banks[bank].size();
      if (n > 1) put(label(left + cell * (bank + 0.5), 28, std::to_string(n) + "×", "badtext"));
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const double y = top + static_cast<double>(row * high);
      put(label(4, y + 14, "wavefront " + std::to_string(row + 1), row ? "badtext" : "muted",
                "start"));
      for (unsigned bank = 0; bank < 32; ++bank) {
        const double x = left + cell * bank;
        if (row >= map.banks[bank].size()) {
          put(box(x, y, cell, high, "grid"));
          continue;
        }
        const auto& word = map.banks[bank][row];
        const int lanes = std::popcount(word.lanes);
        const std::string first = std::to_string(std::countr_zero(word.lanes));
        put("<g><title>",
            escape_html("bank " + std::to_string(bank) + ", word " + offset(s, word.address) +
                        ": " + lanes_in_words(word.lanes)),
            "</title>", box(x + 1, y + 1, cell - 2, high - 2, row ? "bad" : "hit"));
        put(label(x + cell / 2.0, y + 14,
                  lanes == 1 ? first : first + "+" + std::to_string(lanes - 1),
                  lanes == 1 ? (row ? "badtext" : "b") : (row ? "badtext tiny" : "b tiny")),
            "</g>");
      }
    }
    if (map.banks[map.worst_bank].size() > 1)
      put(box(left + cell * map.worst_bank - 1, top - 1, cell + 2,
              static_cast<double>(map.banks[map.worst_bank].size() * high + 2), "worst"));
    put("</svg>");
  }

  void sectors(const AccessSample& s, unsigned line) {
    SectorMap map = sector_map(s);
    if (map.sectors.empty()) return;
    constexpr std::size_t most = 64, columns = 32;
    const std::size_t all = map.sectors.size();
    if (all > most) map.sectors.resize(most);
    constexpr unsigned left = 60, cell = 26, lane_top = 8, sector_top = 96, row_high = 96;
    const std::size_t rows = (map.sectors.size() + columns - 1) / columns;
    const unsigned width = left + columns * cell + 4;
    const auto height = static_cast<unsigned>(sector_top + rows * row_high);
    std::string text;
    for (const auto& part : sector_text(s)) text += part + ". ";
    put(svg_begin(
        width, height,
        "Sectors of global memory for line " + std::to_string(line) + ": " +
            std::to_string(s.cost) + ", ideal " + std::to_string(s.ideal),
        "The upper row are the 32 lanes, the lower boxes the sectors of 32 bytes that they "
        "touch; what is filled is wanted. " +
            text));
    put(label(4, lane_top + 14, "lane", "muted", "start"),
        label(4, sector_top + 15, "sector", "muted", "start"));
    const auto centre = [&](std::size_t column) {
      return left + cell * (static_cast<double>(column) + 0.5);
    };
    for (std::size_t k = 0; k < map.sectors.size(); ++k)
      for (std::uint32_t lanes = map.sectors[k].lanes; lanes; lanes &= lanes - 1) {
        char buffer[160];
        std::snprintf(buffer, sizeof buffer,
                      "<line x1=\"%.1f\" y1=\"%u\" x2=\"%.1f\" y2=\"%.1f\" class=\"wire\"/>",
                      centre(static_cast<std::size_t>(std::countr_zero(lanes))), lane_top + 20,
                      centre(k % columns),
                      sector_top + static_cast<double>(k / columns * row_high));
        put(buffer);
      }
    for (unsigned lane = 0; lane < 32; ++lane) {
      const bool active = ((s.mask >> lane) & 1u) != 0;
      put(box(left + cell * lane + 1, lane_top, cell - 2, 20, active ? "hit" : "grid"),
          label(centre(lane), lane_top + 14, std::to_string(lane), active ? "b" : "muted"));
    }
    for (std::size_t k = 0; k < map.sectors.size(); ++k) {
      const auto& sector = map.sectors[k];
      const double x = left + static_cast<double>(cell * (k % columns)),
                   y = sector_top + static_cast<double>(k / columns * row_high);
      put("<g><title>",
          escape_html("sector " + offset(s, sector.address) + ": " +
                      std::to_string(std::popcount(sector.bytes)) + " of 32 bytes, " +
                      lanes_in_words(sector.lanes)),
          "</title>", box(x + 1, y, cell - 2, 22, "grid"));
      for (unsigned word = 0; word < 8; ++word)
        if ((sector.bytes >> (4 * word)) & 15u) put(box(x + 1 + 3 * word, y + 2, 3, 18, "hit"));
      char at[64];
      std::snprintf(at, sizeof at, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">",
                    x + cell / 2.0 + 4, y + 28);
      put(at, label(0, 0, offset(s, sector.address), "muted", "end"), "</g></g>");
    }
    put("</svg>");
    if (all > most) put("<p class=\"note\">and ", std::to_string(all - most), " more sectors</p>");
  }

  // ---- the source

  void source(std::size_t k, const Rung* r) {
    const bool shared = r && columns(r->total, r->type).shared_requests != 0;
    const std::uint64_t instructions = r ? r->total.warp_instructions : 0;
    // What the rung runs, and a few lines around it; the rest is folded.
    constexpr unsigned around = 4;
    const auto n = static_cast<unsigned>(lines_.size());
    std::vector<bool> open(n + 2, r == nullptr || !r->counted());
    if (r)
      for (const auto& line : r->lines)
        if (line.number >= 1 && line.number <= n)
          for (unsigned at = line.number > around ? line.number - around : 1;
               at <= std::min(n, line.number + around); ++at)
            open[at] = true;
    unsigned begin = 1, tables = 0;
    constexpr unsigned most = 4000;  // lines shown of one fold
    while (begin <= n) {
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
      if (!open[begin])
        put("<details class=\"fold\"><summary>Lines ", std::to_string(begin), "–",
            std::to_string(end - 1), ": nothing of this rung runs here</summary>\n");
      put("<div><table class=\"source\" role=\"table\"><caption "
          "class=\"skip\">Lines ",
          std::to_string(begin), " to ", std::to_string(end - 1),
          "</caption><colgroup><col class=\"no\"><col>");
      if (r && r->counted())
        put("<col class=\"s\"><col class=\"w\"><col class=\"q\"><col class=\"w\">",
            shared ? "<col class=\"q\"><col class=\"w\">" : "");
      put("</colgroup>");
      if (r && r->counted())
        put("<thead", tables++ && !open[begin] ? " class=\"later\"" : "",
            "><tr><th scope=\"col\" class=\"no\">line</th><th scope=\"col\">source</th><th "
            "scope=\"col\" class=\"n\">instr.</th><th scope=\"col\" class=\"n\">multiply-adds</th>"
            "<th scope=\"col\" class=\"n\">global requests</th><th scope=\"col\" class=\"n\">"
            "sectors</th>",
            shared ? "<th scope=\"col\" class=\"n\">shared requests</th><th scope=\"col\" "
                     "class=\"n\">wavefronts</th>"
                   : "",
            "</tr></thead>");
      put("<tbody>\n");
      for (unsigned at = begin; at < std::min(end, begin + most); ++at)
        source_line(k, r, at, shared, instructions);
      put("</tbody></table></div>\n");
      if (end - begin > most)
        put("<p class=\"note\">and ", digits(end - begin - most), " more lines</p>\n");
      if (!open[begin]) put("</details>\n");
      begin = end;
    }
    if (r)
      if (const Line* other = r->line(0)) {
        const Columns c = columns(other->counts, r->type);
        put("<p class=\"note\">At no line of this file (included headers, and what the compiler "
            "adds): ",
            digits(c.instructions), " instructions of warps, ", digits(c.sectors), " sectors, ",
            digits(c.wavefronts), " wavefronts.</p>\n");
      }
  }

  void amount(std::string_view name, std::uint64_t value, std::uint64_t ideal, bool against) {
    put("<td class=\"n\" data-l=\"", name, "\">");
    if (value) {
      put(digits(value));
      if (against)
        put("<small>", value == ideal ? "= ideal" : "ideal " + digits(ideal), "</small>");
    }
    put("</td>");
  }

  void source_line(std::size_t k, const Rung* r, unsigned number, bool shared,
                   std::uint64_t instructions) {
    const Line* line = r ? r->line(number) : nullptr;
    const Columns c = line ? columns(line->counts, r->type) : Columns();
    const bool wasted_sectors = c.sectors > c.ideal_sectors,
               wasted_wavefronts = c.wavefronts > c.ideal_wavefronts;
    const bool waste = wasted_sectors || wasted_wavefronts || c.local_requests != 0;
    const auto owner = owner_.find(number);
    const bool owns = owner != owner_.end() ? owner->second == k : k == first_;
    put("<tr id=\"", line_id(k, number), "\"", waste ? " class=\"waste\"" : "",
        "><th scope=\"row\" "
        "class=\"no\"");
    if (owns) put(" id=\"L", std::to_string(number), "\"");
    put(">", std::to_string(number), "</th><td class=\"code\">", shown(code(number), 12000));
    if (wasted_wavefronts)
      put("<span class=\"mark\">▲ ", ratio(c.wavefronts, c.ideal_wavefronts),
          " the wavefronts</span>");
    if (wasted_sectors)
      put("<span class=\"mark\">▲ ", ratio(c.sectors, c.ideal_sectors), " the sectors</span>");
    if (c.local_requests)
      put("<span class=\"mark\">▲ local memory: ", digits(c.local_requests), "</span>");
    if (c.barriers) put("<span class=\"mark plain\">", digits(c.barriers), " barriers</span>");
    put("</td>");
    if (r && r->counted()) {
      if (line) {
        put("<td class=\"n\" data-l=\"instructions\">",
            c.instructions ? percent(instructions ? static_cast<double>(c.instructions) /
                                                        static_cast<double>(instructions)
                                                  : 0)
                           : "",
            "</td>");
        amount("multiply-adds", c.multiply_adds, 0, false);
        amount("global requests", c.global_requests, 0, false);
        amount("sectors", c.sectors, c.ideal_sectors, true);
        if (shared) {
          amount("shared requests", c.shared_requests, 0, false);
          amount("wavefronts", c.wavefronts, c.ideal_wavefronts, true);
        }
      } else {
        put(shared
                ? "<td class=\"n\"></td><td class=\"n\"></td><td class=\"n\"></td><td class=\"n\">"
                  "</td><td class=\"n\"></td><td class=\"n\"></td>"
                : "<td class=\"n\"></td><td class=\"n\"></td><td class=\"n\"></td><td class=\"n\">"
                  "</td>");
      }
    }
    put("</tr>\n");
  }

  const Document& d_;
  std::vector<std::string_view> lines_;
  std::map<unsigned, std::size_t> owner_;  ///< line -> first rung that runs it
  std::size_t first_ = 0;
  unsigned drawings_ = 0;
  std::string out_;
};

}  // namespace

std::string html(const Document& document) {
  return Page(document).render();
}

}  // namespace grader::explain
