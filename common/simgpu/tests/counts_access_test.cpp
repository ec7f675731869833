// What one access costs, against hardware: the measured shared-memory table, and a second
// implementation of the counting rules on random patterns.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

LaunchOptions counts_only(unsigned threads = 0) {
  LaunchOptions options;
  options.checks = Checks::none();
  options.host_threads = threads;
  return options;
}

// ----------------------------------------------------------- the measured shared-memory access
// patterns

// The table's byte offsets: Python expressions in `lane`, with an optional condition for active
// lanes.
class Expression {
 public:
  explicit Expression(std::string text) : text_(std::move(text)) {}
  long evaluate(long lane) {
    lane_ = lane;
    at_ = 0;
    const long value = comparison();
    if (at_ != text_.size()) throw std::runtime_error("cannot read '" + text_ + "'");
    return value;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(const std::string& token) {
    blanks();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    blanks();
    return true;
  }
  // Python's precedence: comparison < | < & < shift < * // %
  long comparison() {
    const long left = either();
    if (take("==")) return left == either();
    if (take("<")) return left < either();
    return left;
  }
  long either() {
    long v = both();
    while (take("|")) v |= both();
    return v;
  }
  long both() {
    long v = shift();
    while (take("&")) v &= shift();
    return v;
  }
  long shift() {
    long v = product();
    for (;;) {
      if (take("<<"))
        v <<= product();
      else if (take(">>"))
        v >>= product();
      else
        return v;
    }
  }
  long product() {
    long v = atom();
    for (;;) {
      if (take("//"))
        v /= atom();
      else if (take("*"))
        v *= atom();
      else if (take("%"))
        v %= atom();
      else
        return v;
    }
  }
  long atom() {
    if (take("(")) {
      const long v = comparison();
      if (!take(")")) throw std::runtime_error("unbalanced: " + text_);
      return v;
    }
    if (take("lane")) return lane_;
    long v = 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
      v = v * 10 + (text_[at_++] - '0');
    if (at_ == start) throw std::runtime_error("cannot read '" + text_ + "'");
    blanks();
    return v;
  }
  std::string text_;
  std::size_t at_ = 0;
  long lane_ = 0;
};

constexpr u32 kInactive = 0xFFFFFFFF;

struct Row {
  std::string access, op, pattern;
  u64 wavefronts = 0;
};

std::vector<Row> measured_rows() {
  std::istringstream in(read_text("common/simgpu/tests/data/hopper_shared_wavefronts.csv"));
  std::vector<Row> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const std::size_t first = line.find(','), second = line.find(',', first + 1),
                      last = line.rfind(',');
    std::string pattern = line.substr(second + 1, last - second - 1);
    pattern.erase(std::remove(pattern.begin(), pattern.end(), '"'), pattern.end());
    rows.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1), pattern,
                    std::stoull(line.substr(last + 1))});
  }
  return rows;
}

std::vector<u32> lane_offsets(const std::string& pattern) {
  std::string offset = pattern, condition = "0 == 0";
  if (const std::size_t at = pattern.find(" if "); at != std::string::npos) {
    offset = pattern.substr(0, at);
    condition = pattern.substr(at + 4, pattern.find(" else ") - at - 4);
  }
  std::vector<u32> offsets(32, kInactive);
  for (long lane = 0; lane < 32; ++lane) {
    if (Expression(condition).evaluate(lane) != 0) {
      offsets[static_cast<std::size_t>(lane)] = static_cast<u32>(Expression(offset).evaluate(lane));
    }
  }
  return offsets;
}

// A kernel whose lane i accesses byte offsets[i] of shared (or of the global buffer `data`) with
// the given instruction; lanes with kInactive take no part.
std::string access_kernel(const std::string& instruction, bool store, unsigned bytes, bool global) {
  const bool wide = instruction.find("64") != std::string::npos;
  const unsigned count = bytes / (wide ? 8 : bytes < 4 ? bytes : 4);
  const std::string value = count == 1 ? "%v0" : count == 2 ? "{%v0, %v1}" : "{%v0, %v1, %v2, %v3}";
  return ptx_module(R"(
.visible .entry k(.param .u64 offsets, .param .u64 data)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .)" + std::string(wide ? "b64" : bytes < 4 ? "b16" : "b32") + R"( %v<4>; .reg .b64 %rd<8>;
  .shared .align 128 .b8 box[8192];
  ld.param.u64 %rd1, [offsets]; ld.param.u64 %rd2, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3;
  ld.global.u32 %r2, [%rd1];
  setp.eq.s32 %p, %r2, -1;
  @%p bra DONE;
  cvt.u64.u32 %rd4, %r2;
)" + std::string(global ? "" : "  mov.u64 %rd2, box;\n") + "  add.s64 %rd5, %rd2, %rd4;\n" +
                    (store ? [&] {
                      std::string moves;
                      for (unsigned i = 0; i < count; ++i) moves += std::string("  mov.") + (wide ? "b64" : bytes < 4 ? "b16" : "b32") + " %v" + std::to_string(i) + ", 0;\n";
                      return moves + "  " + instruction + " [%rd5], " + value + ";\n";
                    }()
                           : "  " + instruction + " " + value + ", [%rd5];\n") +
                    "DONE:\n  ret;\n}\n");
}

// The same for ldmatrix and stmatrix: lane i gives the row at offsets[i].
std::string matrix_kernel(const std::string& instruction) {
  return ptx_module(R"(
.visible .entry k(.param .u64 offsets, .param .u64 data)
{
  .reg .b32 %r<8>, %m<4>; .reg .b64 %rd<8>;
  .shared .align 128 .b8 box[8192];
  ld.param.u64 %rd1, [offsets];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3;
  ld.global.u32 %r2, [%rd1];
  cvt.u64.u32 %rd4, %r2;
  mov.u64 %rd2, box;
  add.s64 %rd5, %rd2, %rd4;
  )" + instruction + "\n  ret;\n}\n");
}

LaunchReport run_access(Gpu& gpu, const std::vector<u32>& offsets, DevicePtr data,
                        const LaunchOptions& options) {
  const DevicePtr d_offsets = gpu.upload(offsets, "offsets");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {static_cast<u32>(offsets.size()), 1, 1}, 0u,
                                      options, d_offsets, data);
  gpu.device.free(d_offsets);
  return report;
}

std::vector<std::string> spellings(unsigned bytes, bool store, const std::string& space) {
  const std::string op = std::string(store ? "st." : "ld.") + space + ".";
  if (bytes == 4) return {op + "f32", op + "b32"};
  if (bytes == 8) return {op + "f64", op + "v2.f32"};
  return {op + "v4.f32", op + "v2.b64"};
}

TEST_CASE("shared wavefronts: every measured load and store of the Hopper table", "[count]") {
  std::size_t tested = 0, matrix_rows = 0;
  for (const Row& row : measured_rows()) {
    if (row.access.rfind("ldmatrix", 0) == 0) {
      ++matrix_rows;
      const char count = row.access.back();
      const std::string registers = count == '1'   ? "{%m0}"
                                    : count == '2' ? "{%m0, %m1}"
                                                   : "{%m0, %m1, %m2, %m3}";
      // The profiler found the same with .trans, and for stmatrix.
      for (const std::string& instruction : {std::string("ldmatrix.sync.aligned.m8n8.x") + count +
                                                 ".shared.b16 " + registers + ", [%rd5];",
                                             std::string("ldmatrix.sync.aligned.m8n8.x") + count +
                                                 ".trans.shared.b16 " + registers + ", [%rd5];",
                                             std::string("stmatrix.sync.aligned.m8n8.x") + count +
                                                 ".shared.b16 [%rd5], " + registers + ";",
                                             std::string("stmatrix.sync.aligned.m8n8.x") + count +
                                                 ".trans.shared.b16 [%rd5], " + registers + ";"}) {
        INFO(instruction << "  " << row.pattern);
        const bool store = instruction[0] == 's';
        Gpu gpu(matrix_kernel(instruction));
        const LaunchReport report = run_access(gpu, lane_offsets(row.pattern), 0, counts_only());
        const SharedCounts& c = store ? report.total.matrix_store : report.total.matrix_load;
        const SharedCounts& all = store ? report.total.shared_store : report.total.shared_load;
        CHECK(c.wavefronts == row.wavefronts);
        CHECK(all.wavefronts == row.wavefronts);
        CHECK(c.requests == 1);
        CHECK(c.ideal_wavefronts == static_cast<u64>(count - '0'));
        CHECK(c.bytes == 128u * static_cast<u64>(count - '0'));
      }
      continue;
    }
    const auto bytes = static_cast<unsigned>(std::stoul(row.access));
    const bool store = row.op == "store";
    REQUIRE((store || row.op == "load"));
    const std::vector<u32> offsets = lane_offsets(row.pattern);
    for (const std::string& instruction : spellings(bytes, store, "shared")) {
      INFO(instruction << "  " << row.pattern);
      Gpu gpu(access_kernel(instruction, store, bytes, false));
      const LaunchReport report = run_access(gpu, offsets, 0, counts_only());
      const SharedCounts& c = store ? report.total.shared_store : report.total.shared_load;
      CHECK(c.wavefronts == row.wavefronts);
      CHECK(c.raw_wavefronts == row.wavefronts);
      CHECK(c.requests == 1);
      CHECK(c.raw_requests == 1);
      CHECK(c.ideal_wavefronts <= c.wavefronts);
    }
    ++tested;
  }
  CHECK(tested == 88);
  CHECK(matrix_rows == 18);
  CHECK(tested + matrix_rows == 106);
}

// A second implementation of the rules: phases, merging of equal pairs, distinct words.
struct Wavefronts {
  u64 actual = 0, ideal = 0;
};
Wavefronts shared_rule(const std::vector<u32>& offsets, unsigned bytes, bool store) {
  const u32 base = 0;  // bank of the array's first byte: arrays of the test are aligned to 128
  unsigned phases = bytes <= 4 ? 1 : bytes / 4;
  if (!store && phases > 1) {
    for (const unsigned distance : {1u, 2u}) {
      bool equal = true;
      for (unsigned i = 0; i < 32; ++i) {
        const u32 a = offsets[i], b = offsets[i ^ distance];
        if (a != kInactive && b != kInactive && a != b) equal = false;
      }
      if (equal) {
        phases /= 2;
        break;
      }
    }
  }
  Wavefronts w;
  for (unsigned phase = 0; phase < phases; ++phase) {
    std::map<u32, std::set<u32>> words_of_bank;
    for (unsigned lane = phase * 32 / phases; lane < (phase + 1) * 32 / phases; ++lane) {
      if (offsets[lane] == kInactive) continue;
      for (u32 byte = 0; byte < bytes; ++byte) {
        const u32 word = (base + offsets[lane] + byte) / 4;
        words_of_bank[word % 32].insert(word);
      }
    }
    std::size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    w.actual += most;
    w.ideal += most != 0;
  }
  return w;
}

std::vector<u32> random_offsets(Random& random, unsigned bytes) {
  std::vector<u32> offsets(32);
  const u32 kind = random.below(6), limit = 8192 / bytes;
  const u32 stride = random.below(20), few = 1 + random.below(4), shift = random.below(5);
  for (u32 i = 0; i < 32; ++i) {
    u32 element = 0;
    switch (kind) {
      case 0:
        element = random.below(limit);
        break;
      case 1:
        element = i * stride;
        break;
      case 2:
        element = random.below(few);
        break;
      case 3:
        element = (i >> shift) * (stride + 1);
        break;
      case 4:
        element = (i & ((1u << shift) - 1)) * stride;
        break;
      default:
        element = ((i & 1) | ((i >> 2) << 1)) * stride;
        break;
    }
    offsets[i] = element % limit * bytes;
  }
  if (random.below(2) == 0) {
    const u32 active = static_cast<u32>(random.next()) | (1u << random.below(32));
    for (u32 i = 0; i < 32; ++i) {
      if (((active >> i) & 1) == 0) offsets[i] = kInactive;
    }
  }
  return offsets;
}

TEST_CASE("shared wavefronts: random patterns against a second implementation", "[count]") {
  Random random(77);
  for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (const bool store : {false, true}) {
      const std::string op = store ? "st.shared." : "ld.shared.";
      const std::string instruction = bytes == 1   ? op + "u8"
                                      : bytes == 2 ? op + "u16"
                                                   : spellings(bytes, store, "shared")[1];
      Gpu gpu(access_kernel(instruction, store, bytes, false));
      for (int round = 0; round < 120; ++round) {
        const std::vector<u32> offsets = random_offsets(random, bytes);
        const LaunchReport report = run_access(gpu, offsets, 0, counts_only(1));
        const SharedCounts& c = store ? report.total.shared_store : report.total.shared_load;
        const Wavefronts w = shared_rule(offsets, bytes, store);
        if (c.wavefronts == w.actual && c.ideal_wavefronts == w.ideal &&
            c.raw_wavefronts == w.actual)
          continue;
        std::ostringstream text;
        for (const u32 o : offsets)
          text << (o == kInactive ? std::string("-") : std::to_string(o)) << " ";
        INFO(instruction << ": " << text.str());
        CHECK(c.wavefronts == w.actual);
        CHECK(c.raw_wavefronts == w.actual);
        CHECK(c.ideal_wavefronts == w.ideal);
      }
    }
  }
}

// ------------------------------------------------------------------------------------- global
// sectors

TEST_CASE("global sectors: known patterns", "[count]") {
  struct Pattern {
    std::string name;
    unsigned bytes;
    u32 (*offset)(u32 lane);
    u64 sectors, ideal;
  };
  const std::vector<Pattern> patterns = {
      {"adjacent floats", 4, [](u32 i) { return 4 * i; }, 4, 4},
      {"adjacent floats, off by one", 4, [](u32 i) { return 4 * i + 4; }, 5, 4},
      {"broadcast", 4, [](u32) { return 64u; }, 1, 1},
      {"a line each", 4, [](u32 i) { return 128 * i; }, 32, 4},
      {"every second float", 4, [](u32 i) { return 8 * i; }, 8, 4},
      {"backwards", 4, [](u32 i) { return 4 * (31 - i); }, 4, 4},
      {"half of the lanes share", 4, [](u32 i) { return 4 * (i / 2); }, 2, 2},
      {"adjacent float4", 16, [](u32 i) { return 16 * i; }, 16, 16},
      {"float4 broadcast", 16, [](u32) { return 32u; }, 1, 1},
      {"float4 a line each", 16, [](u32 i) { return 128 * i; }, 32, 16},
      {"adjacent doubles", 8, [](u32 i) { return 8 * i; }, 8, 8},
      {"adjacent doubles, off by one", 8, [](u32 i) { return 8 * i + 8; }, 9, 8},
      {"bytes", 1, [](u32 i) { return i; }, 1, 1},
      {"bytes across a border", 1, [](u32 i) { return i + 20; }, 2, 1},
      {"halves", 2, [](u32 i) { return 2 * i; }, 2, 2},
      {"first half of the warp", 4, [](u32 i) { return i < 16 ? 4 * i : kInactive; }, 2, 2},
      {"one lane", 4, [](u32 i) { return i == 9 ? 4 * i : kInactive; }, 1, 1},
      {"no lane", 4, [](u32) { return kInactive; }, 0, 0},
  };
  for (const Pattern& p : patterns) {
    for (const bool store : {false, true}) {
      INFO(p.name << (store ? ", stored" : ", loaded"));
      const std::string op = store ? "st.global." : "ld.global.";
      Gpu gpu(access_kernel(p.bytes == 1   ? op + "u8"
                            : p.bytes == 2 ? op + "u16"
                                           : spellings(p.bytes, store, "global")[1],
                            store, p.bytes, true));
      const DevicePtr data = gpu.upload(std::vector<std::uint8_t>(8192, 0), "data");
      std::vector<u32> offsets(32);
      u64 active = 0;
      for (u32 i = 0; i < 32; ++i) offsets[i] = p.offset(i), active += offsets[i] != kInactive;
      const LaunchReport report = run_access(gpu, offsets, data, counts_only());
      const BufferCounts* buffer = of_buffer(report, "data");
      if (active == 0) {  // predicated off entirely: no request, the buffer was not touched
        CHECK((buffer == nullptr || (buffer->load.requests == 0 && buffer->store.requests == 0)));
        continue;
      }
      REQUIRE(buffer != nullptr);
      const GlobalCounts& c = store ? buffer->store : buffer->load;
      CHECK(c.requests == 1);
      CHECK(c.sectors == p.sectors);
      CHECK(c.ideal_sectors == p.ideal);
      CHECK(c.bytes == active * p.bytes);
      CHECK(buffer->base == data);
      CHECK(buffer->bytes == 8192);
    }
  }
}

TEST_CASE("global sectors: random patterns against a second implementation", "[count]") {
  Random random(99);
  for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (const bool store : {false, true}) {
      const std::string op = store ? "st.global." : "ld.global.";
      Gpu gpu(access_kernel(bytes == 1   ? op + "u8"
                            : bytes == 2 ? op + "u16"
                                         : spellings(bytes, store, "global")[1],
                            store, bytes, true));
      const DevicePtr data = gpu.upload(std::vector<std::uint8_t>(8192, 0), "data");
      for (int round = 0; round < 120; ++round) {
        const std::vector<u32> offsets = random_offsets(random, bytes);
        std::set<u32> sectors, distinct;
        u64 active = 0;
        for (const u32 o : offsets) {
          if (o == kInactive) continue;
          ++active;
          for (u32 b = 0; b < bytes; ++b) sectors.insert((o + b) / 32), distinct.insert(o + b);
        }
        const LaunchReport report = run_access(gpu, offsets, data, counts_only(1));
        const BufferCounts* buffer = of_buffer(report, "data");
        REQUIRE(buffer != nullptr);
        const GlobalCounts& c = store ? buffer->store : buffer->load;
        const u64 ideal = (distinct.size() + 31) / 32;
        if (c.requests == 1 && c.sectors == sectors.size() && c.ideal_sectors == ideal &&
            c.bytes == active * bytes)
          continue;
        CHECK(c.requests == 1);
        CHECK(c.sectors == sectors.size());
        CHECK(c.ideal_sectors == ideal);
        CHECK(c.bytes == active * bytes);
      }
    }
  }
}

// Shared memory has no sums of floats: each lane of a location needs a turn of its own.
TEST_CASE("atomics of floats in shared memory count as loops that swap", "[count]") {
  struct Case {
    const char *type, *index;
    unsigned turns;
  };
  const Case cases[] = {{"f32", "mov.u32 %r2, %r1", 1},      {"f32", "mov.u32 %r2, 0", 32},
                        {"f32", "and.b32 %r2, %r1, 7", 4},   {"f64", "shr.u32 %r2, %r1, 1", 2},
                        {"u32", "mov.u32 %r2, 0", 0},        {"u64", "and.b32 %r2, %r1, 7", 0},
                        {"f16x2", "and.b32 %r2, %r1, 1", 16}};
  for (const auto& [type, index, turns] : cases) {
    CAPTURE(type, index);
    const std::string name = type, noftz = name == "f16x2" ? ".noftz." : ".";
    const std::string bits = name.find("64") != std::string::npos ? "%rd2" : "%r3";
    Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 a)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  .shared .align 8 .b8 sums[256];
  mov.u32 %r1, %tid.x; mov.u64 %rd1, sums; mov.u64 %rd2, 0; mov.u32 %r3, 0;
  mul.wide.u32 %rd3, %r1, 8; add.s64 %rd3, %rd1, %rd3; st.shared.u64 [%rd3], %rd2;
  bar.warp.sync -1;
  )" + std::string(index) +
                       R"(; mul.wide.u32 %rd3, %r2, 8; add.s64 %rd3, %rd1, %rd3;
  red.shared.add)" + noftz +
                       name + " [%rd3], " + bits + R"(;
  ret;
})"));
    const DevicePtr a = gpu.upload(std::vector<u32>(32, 0), "a");
    const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1}, a);
    CHECK(report.total.shared_load.requests == turns);
    CHECK(report.total.shared_atomic.requests == std::max(1u, turns));
  }
}

// One load whose lanes read from two buffers: each buffer gets its own sectors.
TEST_CASE("traffic of one instruction is split between the buffers it touches", "[count]") {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 a, .param .u64 b)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
  and.b32 %r2, %r1, 16; setp.eq.s32 %p, %r2, 0;
  selp.b64 %rd4, %rd1, %rd2, %p;
  add.s64 %rd4, %rd4, %rd3;
  ld.global.u32 %r3, [%rd4];
  ret;
})"));
  const DevicePtr a = gpu.upload(std::vector<u32>(32, 0), "a"),
                  b = gpu.upload(std::vector<u32>(32, 0), "b");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1}, a, b);
  CHECK(report.total.global_load.requests == 1);
  CHECK(report.total.global_load.sectors == 4);
  REQUIRE(of_buffer(report, "a") != nullptr);
  REQUIRE(of_buffer(report, "b") != nullptr);
  CHECK(of_buffer(report, "a")->load.sectors == 2);
  CHECK(of_buffer(report, "b")->load.sectors == 2);
  CHECK(of_buffer(report, "a")->load.bytes == 64);
  CHECK(of_buffer(report, "b")->load.bytes == 64);
}

}  // namespace
}  // namespace simgpu::test
