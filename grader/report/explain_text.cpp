#include <algorithm>
#include <sstream>

#include "grader/report/explain.hpp"
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
