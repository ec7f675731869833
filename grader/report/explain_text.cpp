#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

#include "grader/report/explain.hpp"
#include "grader/report/text.hpp"

namespace grader::explain {

using nlohmann::ordered_json;
using report::number;
using report::Style;
using report::styled;
using simgpu::MemorySpace;

namespace {

constexpr std::size_t columns_of_terminal = 80;

std::string digits(std::uint64_t value) {
  return number(static_cast<double>(value));
}

std::string dim(const simgpu::Dim3& d) {
  std::string out = std::to_string(d.x) + "×" + std::to_string(d.y);
  return d.z == 1 ? out : out + "×" + std::to_string(d.z);
}

class Page {
 public:
  explicit Page(bool colour) : colour_(colour) {}
  void line(const std::string& text = {}) { out_ << text << '\n'; }
  void block(const std::string& indent, const std::string& text, Style style = Style::plain) {
    bool first = true;
    for (const auto& part : report::wrap(visible(text), columns_of_terminal - indent.size() - 2)) {
      line(indent + (first ? "" : "  ") + styled(part, style, colour_));
      first = false;
    }
  }
  bool colour() const { return colour_; }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
  bool colour_;
};

Style style_of(State state) {
  switch (state) {
    case State::right:
      return Style::good;
    case State::not_started:
    case State::skipped:
      return Style::warn;
    default:
      return Style::bad;
  }
}

void rung(Page& page, const Rung& r) {
  const std::string name(to_string(r.state));
  page.line(styled(visible(r.name), Style::bold, page.colour()) + " · " +
            std::to_string(r.shape.m) + "×" + std::to_string(r.shape.n) + "×" +
            std::to_string(r.shape.k) + " " + visible(r.type) + " · " +
            styled(name, style_of(r.state), page.colour()));
  if (r.state != State::right) page.block("  ", r.headline);
  for (const auto& detail : r.details) page.block("    ", detail);
  if (r.state == State::not_started) return page.line();
  for (const auto& l : r.launches) {
    std::string facts = l.kernel + ": grid " + dim(l.grid) + ", block " + dim(l.block);
    if (const auto bytes = std::uint64_t{l.static_shared_bytes} + l.dynamic_shared_bytes)
      facts += ", " + digits(bytes) + " bytes of shared memory";
    facts += ", " + std::to_string(l.registers.live_registers) +
             " registers (estimate), occupancy " +
             number(static_cast<double>(static_cast<int>(100 * l.registers.occupancy + 0.5))) +
             " % (" + std::to_string(l.registers.blocks_per_multiprocessor) +
             (l.registers.blocks_per_multiprocessor == 1 ? " block" : " blocks") + ", limited by " +
             l.registers.limiter + ")";
    page.block("  ", facts);
    for (const auto& f : l.findings)
      page.block("  ", "finding: " + std::string(simgpu::to_string(f.kind)) +
                           (f.at.where.line ? " at line " + std::to_string(f.at.where.line) : "") +
                           ": " + f.detail);
  }
  for (const auto& sentence : r.summary) page.block("  ", sentence);
  for (const auto space : {MemorySpace::shared, MemorySpace::global}) {
    const Site* site = worst(r, space);
    if (!site || site->waste() == 0) continue;
    page.line();
    page.block("  ", "line " + std::to_string(site->line) + ", " + what(site->worst) + ":");
    for (const auto& part :
         space == MemorySpace::shared ? bank_text(site->worst) : sector_text(site->worst))
      page.line("    " + report::fit(part, columns_of_terminal - 4));
  }
  const auto hot = hot_lines(r, 5);
  if (!hot.empty()) {
    page.line();
    page.line("  hot lines   instructions   sectors   wavefronts");
    const auto share = [](double value, std::size_t width) {
      const std::string text =
          value > 0 ? number(static_cast<double>(static_cast<int>(100 * value + 0.5))) + " %" : "";
      return std::string(width - std::min(width, text.size()), ' ') + text;
    };
    for (const auto& line : hot) {
      const std::string where = line.number ? "line " + std::to_string(line.number) : "elsewhere";
      page.line("  " + report::pad(where, 11) + share(line.instructions, 13) +
                share(line.sectors, 10) + share(line.wavefronts, 13));
    }
  }
  page.line();
}

ordered_json counts(const Columns& c) {
  return {{"instructions", c.instructions},       {"multiply_adds", c.multiply_adds},
          {"global_requests", c.global_requests}, {"sectors", c.sectors},
          {"ideal_sectors", c.ideal_sectors},     {"shared_requests", c.shared_requests},
          {"wavefronts", c.wavefronts},           {"ideal_wavefronts", c.ideal_wavefronts},
          {"local_requests", c.local_requests},   {"barriers", c.barriers}};
}

ordered_json one_site(const Site& site) {
  const auto& s = site.worst;
  const bool shared = s.space == MemorySpace::shared;
  ordered_json lanes = ordered_json::array();
  for (unsigned i = 0; i < 32; ++i)
    if ((s.mask >> i) & 1u)
      lanes.push_back(
          {{"lane", i}, {"offset", static_cast<std::int64_t>(s.address[i] - s.object_address)}});
  return {{"line", site.line},
          {"space", shared ? "shared" : "global"},
          {"access", s.type == simgpu::AccessType::load    ? "load"
                     : s.type == simgpu::AccessType::store ? "store"
                                                           : "atomic"},
          {"matrix", s.matrix},
          {"object", s.object},
          {"bytes", s.bytes},
          {"requests", site.requests},
          {shared ? "wavefronts" : "sectors", site.cost},
          {"ideal", site.ideal},
          {"worst",
           {{"block", {s.block.x, s.block.y, s.block.z}},
            {"warp", s.warp},
            {shared ? "wavefronts" : "sectors", s.cost},
            {"ideal", s.ideal},
            {"lanes", lanes}}}};
}

}  // namespace

std::string text(const Document& document, bool colour) {
  Page page(colour);
  page.block("", "gemm-lab explain · " + document.file + " · sim" +
                     (document.compiler.empty() ? "" : " · " + document.compiler));
  page.line();
  if (!document.build_headline.empty()) {
    page.block("  ", document.build_headline, Style::bold);
    for (const auto& line : document.build_details) page.line("  " + visible(line));
    page.line();
  }
  for (const auto& one : document.rungs) rung(page, one);
  return page.text();
}

std::string json(const Document& document) {
  ordered_json rungs = ordered_json::array();
  for (const auto& r : document.rungs) {
    ordered_json launches = ordered_json::array(), lines = ordered_json::array(),
                 sites = ordered_json::array(), buffers = ordered_json::array();
    for (const auto& l : r.launches) {
      ordered_json findings = ordered_json::array();
      for (const auto& f : l.findings)
        findings.push_back({{"kind", std::string(simgpu::to_string(f.kind))},
                            {"line", f.at.where.line},
                            {"detail", f.detail},
                            {"occurrences", f.occurrences}});
      launches.push_back(
          {{"kernel", l.kernel},
           {"grid", {l.grid.x, l.grid.y, l.grid.z}},
           {"block", {l.block.x, l.block.y, l.block.z}},
           {"shared_bytes", std::uint64_t{l.static_shared_bytes} + l.dynamic_shared_bytes},
           {"live_registers", l.registers.live_registers},
           {"occupancy", l.registers.occupancy},
           {"limiter", l.registers.limiter},
           {"completed", l.completed},
           {"findings", findings}});
    }
    for (const auto& line : r.lines) {
      ordered_json one = {{"line", line.number}};
      one.update(counts(columns(line.counts, r.type)));
      lines.push_back(one);
    }
    for (const auto& site : r.sites) sites.push_back(one_site(site));
    for (const auto& b : r.buffers)
      buffers.push_back({{"label", b.label},
                         {"bytes", b.bytes},
                         {"load_sectors", b.load.sectors},
                         {"store_sectors", b.store.sectors},
                         {"atomic_sectors", b.atomic.sectors}});
    rungs.push_back({{"name", r.name},
                     {"title", r.title},
                     {"type", r.type},
                     {"shape", {r.shape.m, r.shape.n, r.shape.k}},
                     {"state", std::string(to_string(r.state))},
                     {"headline", r.headline},
                     {"details", r.details},
                     {"summary", r.summary},
                     {"total", counts(columns(r.total, r.type))},
                     {"launches", launches},
                     {"buffers", buffers},
                     {"lines", lines},
                     {"sites", sites}});
  }
  const ordered_json all = {{"schema", Document::schema},
                            {"lab", document.lab},
                            {"title", document.title},
                            {"file", document.file},
                            {"compiler", document.compiler},
                            {"build",
                             {{"ok", document.build_headline.empty()},
                              {"headline", document.build_headline},
                              {"details", document.build_details},
                              {"warnings", document.warnings}}},
                            {"rungs", rungs}};
  return all.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace grader::explain
