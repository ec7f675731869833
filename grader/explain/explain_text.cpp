#include <algorithm>
#include <sstream>

#include <fmt/core.h>

#include "grader/explain/explain.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/report/text.hpp"

namespace grader::explain {

using report::number;
using report::Style;
using report::styled;
using simgpu::MemorySpace;

namespace {

constexpr std::size_t columns_of_terminal = 80;

std::string digits(std::uint64_t value) {
  return number(static_cast<double>(value));
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
  page.line(fmt::format(
      "{} · {}×{}×{} {} · {}", styled(visible(r.name), Style::bold, page.colour()), r.shape.m,
      r.shape.n, r.shape.k, visible(r.type), styled(name, style_of(r.state), page.colour())));
  if (r.state != State::right) page.block("  ", r.headline);
  for (const auto& detail : r.details) page.block("    ", detail);
  if (r.state == State::not_started) return page.line();
  for (const auto& l : r.launches) {
    const auto bytes = std::uint64_t{l.static_shared_bytes} + l.dynamic_shared_bytes;
    const auto& reg = l.registers;
    std::string facts =
        fmt::format("{}: grid {}, block {}", l.kernel, dim_text(l.grid), dim_text(l.block));
    if (bytes) facts += messages::text("run.grid.shared", {{"bytes", digits(bytes)}});
    facts += fmt::format(", {} registers (estimate), occupancy {} % ({} {}, limited by {})",
                         reg.live_registers, static_cast<int>(100 * reg.occupancy + 0.5),
                         reg.blocks_per_multiprocessor,
                         reg.blocks_per_multiprocessor == 1 ? "block" : "blocks", reg.limiter);
    page.block("  ", facts);
    for (const auto& f : l.findings)
      page.block("  ",
                 fmt::format("finding: {}{}: {}", simgpu::to_string(f.kind),
                             f.at.where.line ? fmt::format(" at line {}", f.at.where.line) : "",
                             f.detail));
  }
  for (const auto& sentence : r.summary) page.block("  ", sentence);
  for (const auto space : {MemorySpace::shared, MemorySpace::global}) {
    const Site* site = worst(r, space);
    if (!site || site->waste() == 0) continue;
    page.line();
    page.block("  ", fmt::format("line {}, {}:", site->line, what(site->worst)));
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
          value > 0 ? fmt::format("{} %", static_cast<int>(100 * value + 0.5)) : "";
      return fmt::format("{:>{}}", text, width);
    };
    for (const auto& line : hot) {
      const std::string where = line.number ? fmt::format("line {}", line.number) : "elsewhere";
      page.line("  " + report::pad(where, 11) + share(line.instructions, 13) +
                share(line.sectors, 10) + share(line.wavefronts, 13));
    }
  }
  page.line();
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

}  // namespace grader::explain
