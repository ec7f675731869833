// The model behind `make explain`, its text and its page. The page in a browser:
// explain_browser_test.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "common/simgpu/count/coalescing.hpp"
#include "common/simgpu/count/shared_banks.hpp"
#include "grader/explain/explain.hpp"
#include "grader/judge/protocol.hpp"
#include "grader/os/escape.hpp"
#include "grader/report/text.hpp"

using namespace grader;
using namespace grader::explain;
using simgpu::AccessSample;
using simgpu::AccessType;
using simgpu::MemorySpace;

namespace {

AccessSample sample(MemorySpace space, AccessType type, unsigned bytes, std::uint64_t base,
                    std::int64_t stride, std::uint32_t mask = 0xffffffffu) {
  AccessSample s;
  s.where = {"/root/lab3/gemm.cu", 3};
  s.space = space;
  s.type = type;
  s.bytes = bytes;
  s.mask = mask;
  for (unsigned i = 0; i < 32; ++i)
    s.address[i] =
        ((mask >> i) & 1u) ? base + static_cast<std::uint64_t>(stride * std::int64_t{i}) : 0;
  s.object = space == MemorySpace::shared ? "tile" : "A";
  s.object_address = base;
  s.object_bytes = 4096;
  std::uint64_t address[32];
  std::copy(s.address.begin(), s.address.end(), address);
  if (space == MemorySpace::shared) {
    const auto w = simgpu::count::shared_wavefronts(address, mask, bytes, type == AccessType::load);
    s.cost = w.actual;
    s.ideal = w.ideal;
  } else {
    s.cost = simgpu::count::sectors(address, mask, bytes);
    s.ideal = simgpu::count::ideal_sectors(simgpu::count::distinct_bytes(address, mask, bytes));
  }
  s.requests = 10;
  s.total_cost = std::uint64_t{10} * s.cost;
  s.total_ideal = std::uint64_t{10} * s.ideal;
  return s;
}

simgpu::LaunchReport launch_with(const std::vector<AccessSample>& samples) {
  simgpu::LaunchReport launch;
  launch.kernel = "k<float>";
  launch.grid = {2, 1, 1};
  launch.block = {32, 1, 1};
  launch.registers = {20, 20, {"/root/lab3/gemm.cu", 3}, 8, 0.5, "registers"};
  std::map<simgpu::SourceLine, simgpu::Counts> lines;
  for (const auto& s : samples) {
    auto& c = lines[s.where];
    c.warp_instructions += s.requests;
    if (s.space == MemorySpace::shared) {
      auto& part = s.type == AccessType::load ? c.shared_load : c.shared_store;
      part.requests += s.requests;
      part.wavefronts += s.total_cost;
      part.ideal_wavefronts += s.total_ideal;
    } else {
      auto& part = s.type == AccessType::load ? c.global_load : c.global_store;
      part.requests += s.requests;
      part.sectors += s.total_cost;
      part.ideal_sectors += s.total_ideal;
    }
  }
  for (auto& [where, counts] : lines) {
    launch.total += counts;
    launch.lines.push_back({where, counts});
  }
  launch.samples = samples;
  return launch;
}

Rung rung_with(const std::vector<AccessSample>& samples) {
  Rung rung;
  rung.name = "gemm_tiled";
  rung.title = "a shared tile";
  rung.type = "float";
  rung.shape = {64, 64, 64};
  rung.state = State::right;
  rung.headline = "C is right";
  rung.launches = {launch_with(samples)};
  fold(rung, "/root/lab3/gemm.cu");
  return rung;
}

Document document_with(const std::string& source, const std::vector<AccessSample>& samples) {
  Document document;
  document.lab = 3;
  document.title = "Tiles";
  document.file = "lab3/gemm.cu";
  document.compiler = "clang 14";
  document.source = source;
  document.rungs = {rung_with(samples)};
  return document;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Every < of the page that opens a tag opens one of ours.
std::set<std::string> tags_of(const std::string& page) {
  std::set<std::string> tags;
  // The text of style and script is ours and constant.
  const std::size_t body = page.find("<body>"), script = page.find("<script>");
  for (std::size_t at = body; (at = page.find('<', at)) < script; ++at) {
    std::size_t end = at + 1;
    if (page[end] == '/') ++end;
    std::string name;
    while (std::isalnum(static_cast<unsigned char>(page[end])) || page[end] == '!')
      name += page[end++];
    tags.insert(name);
  }
  return tags;
}

}  // namespace

TEST_CASE("explain: the bank map is the counter's own model", "[explain]") {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    AccessSample s;
    s.space = MemorySpace::shared;
    s.type = below(2) ? AccessType::load : AccessType::store;
    s.bytes = 1u << below(6);
    s.mask = below(3) ? 0xffffffffu : static_cast<std::uint32_t>(random());
    if (s.mask == 0) continue;
    const unsigned stride = below(40), spread = 1 + below(64), kind = below(3);
    std::uint64_t address[32];
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned step = kind == 0 ? i * stride : kind == 1 ? below(spread) : i / 2 * stride;
      s.address[i] = address[i] = 1024 + std::uint64_t{s.bytes} * step;
    }
    const auto w =
        simgpu::count::shared_wavefronts(address, s.mask, s.bytes, s.type == AccessType::load);
    const BankMap map = bank_map(s);
    INFO("round " << round << " bytes " << s.bytes << " mask " << s.mask);
    CHECK(map.wavefronts == w.actual);
    CHECK(map.ideal == w.ideal);
    std::size_t most = 0;
    for (const auto& bank : map.banks) most = std::max(most, bank.size());
    CHECK(most == map.phases[map.shown].wavefronts);
    CHECK(map.banks[map.worst_bank].size() == most);
    for (const auto& line : bank_text(s)) CHECK(report::width(line) <= 80);
  }
}

TEST_CASE("explain: each matrix of ldmatrix is a phase", "[explain]") {
  for (const std::int64_t pitch : {0, 16, 32, 64, 128, 144}) {
    AccessSample s = sample(MemorySpace::shared, AccessType::load, 16, 1024, pitch);
    s.matrix = true;
    const BankMap map = bank_map(s);
    std::uint64_t rows[32];
    std::copy(s.address.begin(), s.address.end(), rows);
    const auto expected = simgpu::count::matrix_wavefronts(rows, 4);
    INFO("pitch " << pitch);
    CHECK(map.phases.size() == 4);
    CHECK(map.ideal == expected.ideal);
    CHECK(map.wavefronts == expected.actual);
  }
}

TEST_CASE("explain: the sector map is the counter's own model", "[explain]") {
  std::mt19937 random(11);
  for (int round = 0; round < 1000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const auto stride = static_cast<std::int64_t>(random() % 300) * bytes;
    const AccessSample s = sample(MemorySpace::global, AccessType::load, bytes,
                                  (16ull << 32) + random() % 64 * bytes, stride, random() | 1u);
    const SectorMap map = sector_map(s);
    CHECK(map.sectors.size() == s.cost);
    if (s.mask == 0xffffffffu) {
      REQUIRE(map.stride.has_value());
      CHECK(*map.stride == stride);
    }
    for (const auto& line : sector_text(s)) CHECK(report::width(line) <= 80);
  }
}

TEST_CASE("explain: samples that cannot be are drawn as nothing", "[explain]") {
  for (const unsigned bytes : {0u, 3u, 33u, 64u, 4294967295u}) {
    AccessSample s = sample(MemorySpace::shared, AccessType::load, 4, 1024, 4);
    s.bytes = bytes;
    CHECK(bank_map(s).phases.empty());
    CHECK(sector_map(s).sectors.empty());
    CHECK(bank_text(s).empty());
  }
  AccessSample s = sample(MemorySpace::global, AccessType::load, 16, ~std::uint64_t{0} - 7, 0);
  CHECK(sector_map(s).sectors.size() <= 2);
  s.mask = 0;
  CHECK(sector_map(s).sectors.empty());
  // A worker's reply is hostile: all of this must render.
  for (const std::uint64_t address :
       {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    AccessSample odd = sample(MemorySpace::shared, AccessType::atomic, 32, address, 1);
    odd.object_address = 1;
    odd.object = "</title><script>alert(1)</script>";
    odd.where.line = 4000000000u;
    const std::string page = html(document_with("one\n", {odd}));
    CHECK(contains(page, "</html>"));
    CHECK_FALSE(contains(page, "<script>alert"));
  }
}

TEST_CASE("explain: lanes in words", "[explain]") {
  CHECK(lanes_in_words(0) == "no lane");
  CHECK(lanes_in_words(8) == "lane 3");
  CHECK(lanes_in_words(0xff) == "lanes 0–7");
  CHECK(lanes_in_words(0xffffffff) == "lanes 0–31");
  CHECK(lanes_in_words(0x11111111) == "lanes 0, 4, 8, ... 28");
  CHECK(lanes_in_words(0x5) == "lanes 0, 2");
  CHECK(lanes_in_words(0x1111) == "lanes 0, 4, 8, 12");
  CHECK(lanes_in_words(0x80000001) == "lanes 0, 31");
  CHECK(lanes_in_words(0xf00f0f0f) == "lanes 0, 1, 2, 3, 8, ... 31 (16 lanes)");
}

TEST_CASE("explain: the sentences name cause and place", "[explain]") {
  const Rung rung =
      rung_with({sample(MemorySpace::shared, AccessType::load, 4, 1024, 32),
                 sample(MemorySpace::global, AccessType::load, 4, 16ull << 32, 1024)});
  REQUIRE(rung.summary.size() >= 2);
  CHECK(std::any_of(rung.summary.begin(), rung.summary.end(), [](const std::string& one) {
    return one ==
           "line 3: each request takes 8 wavefronts, 1 would do; lanes 0, 4, 8, ... 28 hit "
           "different words of bank 0 (load of tile, 4 bytes a lane; 100 % of all wavefronts)";
  }));
  CHECK(std::any_of(rung.summary.begin(), rung.summary.end(), [](const std::string& one) {
    return one ==
           "line 3: each request touches 32 sectors, 4 would hold its bytes; neighbouring "
           "lanes are 1 024 bytes apart (load of A, 4 bytes a lane; 100 % of all sectors)";
  }));
  const Rung misaligned =
      rung_with({sample(MemorySpace::global, AccessType::load, 4, (16ull << 32) + 4, 4)});
  CHECK(contains(misaligned.summary.at(0), "5 sectors, 4 would hold its bytes; the row begins"));
  AccessSample halves = sample(MemorySpace::global, AccessType::load, 4, 16ull << 32, 0);
  for (unsigned i = 16; i < 32; ++i) halves.address[i] += 1024;
  halves.cost = 2;
  halves.total_cost = 20;
  CHECK(contains(rung_with({halves}).summary.at(0),
                 "2 sectors, 1 would hold its bytes; lanes 0–15 and lanes 16–31 lie in sectors of "
                 "their own"));
  for (unsigned i = 0; i < 32; ++i) halves.address[i] = (16ull << 32) + 16 * (i % 16);
  halves.cost = 8;
  halves.ideal = 2;
  halves.total_cost = 80;
  halves.total_ideal = 20;
  CHECK(contains(rung_with({halves}).summary.at(0),
                 "8 sectors, 2 would hold its bytes; of the 256 bytes moved, 64 are wanted"));
  AccessSample counter = sample(MemorySpace::shared, AccessType::atomic, 4, 1024, 0);
  counter.cost = 32;
  counter.total_cost = 320;
  CHECK(contains(rung_with({counter}).summary.at(0),
                 "each request takes 32 wavefronts, 1 would do; lanes that update one word"));
  const Rung fine = rung_with({sample(MemorySpace::shared, AccessType::load, 4, 1024, 4)});
  CHECK(contains(fine.summary.at(0), "No line wastes anything"));
}

TEST_CASE("explain: accesses of one line and object are one site, other files none of the lines",
          "[explain]") {
  AccessSample good = sample(MemorySpace::shared, AccessType::load, 4, 1024, 4),
               bad = sample(MemorySpace::shared, AccessType::load, 4, 1024, 8),
               other = sample(MemorySpace::shared, AccessType::store, 4, 1024, 128);
  other.where = {"/root/common/matrix.hpp", 3};
  const Rung rung = rung_with({good, bad, other});
  REQUIRE(rung.sites.size() == 2);
  CHECK(rung.sites[0].line == 0);  // 32 wavefronts each
  CHECK(contains(sentence(rung.sites[0], rung), "at no line of your file"));
  CHECK(rung.sites[1].line == 3);
  CHECK(rung.sites[1].worst.cost == 2);
  CHECK_FALSE(rung.sites[1].uniform);
  CHECK(rung.sites[1].cost == 30);
  CHECK(contains(sentence(rung.sites[1], rung), "the worst request takes 2 wavefronts"));
  CHECK(contains(sentence(rung.sites[1], rung), "on average 1.5"));
  REQUIRE(worst(rung, MemorySpace::shared) != nullptr);
  CHECK(worst(rung, MemorySpace::shared)->line == 3);
  CHECK(worst(rung, MemorySpace::global) == nullptr);
  CHECK(rung.line(0) != nullptr);
  CHECK(rung.line(3)->counts.shared_load.requests == 20);
}

TEST_CASE("explain: lines as the compiler counts them", "[explain]") {
  const auto lines = source_lines("one\r\ntwo\rthree\n\nfive");
  REQUIRE(lines.size() == 5);
  CHECK(lines[1] == "two");
  CHECK(lines[3].empty());
  CHECK(lines[4] == "five");
  CHECK(source_lines("").empty());
  CHECK(source_lines("\n").size() == 1);
  CHECK(source_lines("a\n").size() == 1);
}

TEST_CASE("explain: hostile text is shown, never obeyed", "[explain]") {
  CHECK(escape_html("</script><b a='\"'>&amp;") ==
        "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;amp;");
  CHECK(escape_html(std::string("a\0b\x1b[31m\x7f", 9)) == "a\\x00b\\x1b[31m\\x7f");
  CHECK(escape_html("\xff\xc0\xaf\xed\xa0\x80\xf5") == "\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xf5");
  CHECK(escape_html("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xef\xbb\xbf\xc2\x85") ==
        "\\u202e\\u2066\\u200b\\ufeff\\u0085");
  CHECK(escape_html("\xe2\x80") == "\\xe2\\x80");
  CHECK(escape_html("\xf0\x9f\x98\x80 \xe5\x86\xb2\xe7\xaa\x81 ×\t") ==
        "\xf0\x9f\x98\x80 \xe5\x86\xb2\xe7\xaa\x81 ×\t");
  CHECK(escape_html("\xf3\xa0\x81\x81") == "\\U000e0041");  // a tag character: invisible
  CHECK(visible("<\x1b>") == "<\\x1b>");

  const std::string source =
      "</script><script>alert(1)</script>\n<img src=x onerror=alert(2)>\n--><!-- "
      "\xe2\x80\xae evil\n\x01\x02\xff\n" +
      std::string(10000, 'x') + "\n" + std::string(40000, '\xff') + "\n]]></style><style>";
  AccessSample s = sample(MemorySpace::shared, AccessType::load, 4, 1024, 32);
  s.object = "\"><script>alert(3)</script>";
  Document document = document_with(source, {s});
  document.rungs[0].headline = "<script>alert(4)</script>";
  document.rungs[0].details = {"<iframe src='http://example.com/'>", "\x1b]0;title\x07"};
  document.rungs[0].launches[0].kernel = "<svg onload=alert(5)>";
  document.rungs[0].buffers.push_back({});
  document.rungs[0].buffers[0].label = "<a href=javascript:alert(6)>";
  document.rungs[0].buffers[0].load.sectors = 1;
  simgpu::Finding finding;
  finding.detail = "<script>alert(7)</script>";
  finding.at.where = {"x", 2};
  document.rungs[0].launches[0].findings = {finding};
  document.warnings = {"<base href='//example.com'>"};
  const std::string page = html(document);
  const std::set<std::string> known = {
      "a",     "b",   "br",   "caption", "code",   "col",        "colgroup", "dd",   "desc",
      "div",   "dl",  "dt",   "details", "figure", "figcaption", "footer",   "g",    "h1",
      "h2",    "h3",  "h4",   "header",  "i",      "li",         "line",     "main", "nav",
      "p",     "pre", "rect", "section", "small",  "span",       "summary",  "svg",  "table",
      "tbody", "td",  "text", "th",      "thead",  "title",      "tr",       "ul",   "body"};
  for (const auto& tag : tags_of(page)) {
    INFO(tag);
    CHECK(known.count(tag) == 1);
  }
  CHECK(page.find("<script>") == page.rfind("<script>"));
  CHECK(page.find("</script>") == page.rfind("</script>"));
  CHECK_FALSE(contains(page, "onerror=alert(2)>\n"));
  CHECK_FALSE(contains(page, "\xe2\x80\xae"));
  CHECK_FALSE(contains(page, "\x1b"));
  CHECK_FALSE(contains(page, "\xff"));
  CHECK(contains(page, "\\u202e evil"));
  CHECK(contains(page, "more bytes"));
  CHECK(contains(page, std::string(10000, 'x')));
  const std::string terminal = text(document, false);
  CHECK_FALSE(contains(terminal, "\x1b"));
  CHECK_FALSE(contains(terminal, "\x07"));
  CHECK(nlohmann::json::accept(json(document)));
}

TEST_CASE("explain: nothing of the page comes from elsewhere", "[explain]") {
  const std::string page =
      html(document_with("a\nb\nc\n", {sample(MemorySpace::shared, AccessType::load, 4, 1024, 8),
                                       sample(MemorySpace::global, AccessType::store, 8, 0, 64)}));
  for (const char* part :
       {"http:", "https:", "src=", "@import", "url(", "<link rel=\"stylesheet\""})
    CHECK_FALSE(contains(page, part));
  CHECK(contains(page, "default-src 'none'"));
  CHECK(contains(page, "id=\"L3\""));
  CHECK(contains(page, "href=\"#r0-L3\""));
  CHECK(contains(page, "the wavefronts</span>"));  // waste is marked in words
  CHECK(contains(page, "aria-labelledby=\"d1t d1d\""));
}

TEST_CASE("explain: hot lines are sorted by their largest share", "[explain]") {
  AccessSample a = sample(MemorySpace::shared, AccessType::load, 4, 1024, 4);
  AccessSample b = sample(MemorySpace::global, AccessType::load, 4, 16ull << 32, 4);
  AccessSample c = sample(MemorySpace::shared, AccessType::load, 4, 1024, 32);
  b.where.line = 7;
  c.where.line = 9;
  const Rung rung = rung_with({a, b, c});
  const auto hot = hot_lines(rung);
  REQUIRE(hot.size() == 3);
  CHECK(hot[0].number == 7);  // all sectors
  CHECK(hot[1].number == 9);  // eight of nine wavefronts
  CHECK(hot[1].wavefronts == 8.0 / 9.0);
  CHECK(hot[2].number == 3);
}

TEST_CASE("explain: multiply-adds by type, tensor operations in pairs", "[explain]") {
  simgpu::Counts counts;
  counts.fma_f32 = 5;
  counts.mad_int = 100;
  counts.tensor_ops["f16"] = 4096;
  CHECK(columns(counts, "float").multiply_adds == 5 + 2048);
  CHECK(columns(counts, "int32").multiply_adds == 105 + 2048);
  counts.shared_store = {1, 4, 1, 1, 4, 1, 128};
  counts.async_store = {2, 6, 2, 2, 6, 2, 256};  // not part of the stores
  CHECK(columns(counts, "float").shared_requests == 3);
  CHECK(columns(counts, "float").wavefronts == 10);
  CHECK(columns(counts, "float").ideal_wavefronts == 3);
}

TEST_CASE("explain: a wrong result is said first", "[explain]") {
  Document document =
      document_with("a\nb\nc\n", {sample(MemorySpace::shared, AccessType::load, 4, 1024, 8)});
  document.rungs[0].state = State::wrong;
  document.rungs[0].headline = "C is WRONG: these counts are of a wrong result.";
  const std::string page = html(document), terminal = text(document, false);
  CHECK(page.find("of a wrong result") < page.find("In words"));
  CHECK(page.find("wrong</span>") < page.find("In words"));
  CHECK(terminal.find("of a wrong result") < terminal.find("wavefronts"));
  document.build_headline = "gemm.cu does not compile";
  document.build_details = {"gemm.cu:1:2: error: <x>"};
  document.rungs.clear();
  const std::string broken = html(document);
  CHECK(contains(broken, "does not compile"));
  CHECK(contains(broken, "error: &lt;x&gt;"));
  CHECK(contains(broken, "id=\"L2\""));
}

TEST_CASE("explain: samples survive the wire", "[explain]") {
  const simgpu::LaunchReport sent =
      launch_with({sample(MemorySpace::global, AccessType::store, 8, 16ull << 32, 64, 0xf0f0)});
  const auto got = wire::decode<simgpu::LaunchReport>(wire::encode(sent));
  REQUIRE(got.samples.size() == 1);
  const AccessSample &x = sent.samples[0], &y = got.samples[0];
  CHECK(x.address == y.address);
  CHECK(x.mask == y.mask);
  CHECK(x.where == y.where);
  CHECK(x.object == y.object);
  CHECK(x.cost == y.cost);
  CHECK(x.total_ideal == y.total_ideal);
  CHECK(x.bytes == y.bytes);
  CHECK((x.space == y.space && x.type == y.type));
}
