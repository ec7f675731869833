// wmma: every fragment, shape, type and layout through shared, global and generic memory; what
// accesses cost, compared with counters of an H200; checks; PTX that is wrong.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/half.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Form {
  unsigned m, n, k;
  std::string ab, c, d;
  unsigned a_registers, b_registers;

  std::string shape() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  }
  std::string types() const {
    return ab == "f16" ? "." + d + "." + c : "." + d + "." + ab + "." + ab + "." + c;
  }
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = [] {
    std::vector<Form> f;
    struct Size {
      unsigned m, n, k, a16, b16, a8, b8;
    };
    for (const Size& s :
         {Size{16, 16, 16, 4, 4, 2, 2}, Size{32, 8, 16, 8, 2, 4, 1}, Size{8, 32, 16, 2, 8, 1, 4}}) {
      for (const char* c : {"f16", "f32"})
        for (const char* d : {"f16", "f32"}) f.push_back({s.m, s.n, s.k, "f16", c, d, 8, 8});
      f.push_back({s.m, s.n, s.k, "bf16", "f32", "f32", s.a16, s.b16});
      f.push_back({s.m, s.n, s.k, "s8", "s32", "s32", s.a8, s.b8});
      f.push_back({s.m, s.n, s.k, "u8", "s32", "s32", s.a8, s.b8});
    }
    f.push_back({16, 16, 8, "tf32", "f32", "f32", 4, 4});
    f.push_back({8, 8, 4, "f64", "f64", "f64", 1, 1});
    return f;
  }();
  return all;
}

unsigned bytes_of(const std::string& type) {
  return type == "s8" || type == "u8"      ? 1
         : type == "f16" || type == "bf16" ? 2
         : type == "f64"                   ? 8
                                           : 4;
}
u64 encode(const std::string& type, int v) {
  if (type == "f16") return to_half(v);
  if (type == "bf16") return to_bfloat(v);
  if (type == "f64") return to_slot(static_cast<double>(v));
  if (type == "f32" || type == "tf32") return to_slot(static_cast<float>(v));
  return static_cast<u32>(v) & (bytes_of(type) == 1 ? 0xffu : 0xffffffffu);
}

/// A matrix in memory: element (r, c) at r * pitch + c or, by columns, at c * pitch + r.
struct Stored {
  unsigned rows, columns, pitch;
  bool by_rows;
  std::string type;

  unsigned index(unsigned r, unsigned c) const { return by_rows ? r * pitch + c : c * pitch + r; }
  unsigned bytes() const { return (by_rows ? rows : columns) * pitch * bytes_of(type); }
};

void put(std::vector<std::uint8_t>& to, const Stored& s, unsigned r, unsigned c, int v) {
  const u64 bits = encode(s.type, v);
  std::memcpy(&to[s.index(r, c) * bytes_of(s.type)], &bits, bytes_of(s.type));
}

std::string registers(const std::string& prefix, unsigned n) {
  std::string text = "{";
  for (unsigned i = 0; i < n; ++i) text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}
unsigned c_registers(const Form& f, const std::string& type) {
  return f.m * f.n / 32 / (type == "f16" ? 2 : 1);
}
std::string name(bool by_rows) {
  return by_rows ? "row" : "col";
}

/// Everything a kernel that copies `bytes` from global memory to shared memory needs: all lanes, a
/// byte at a time would be slow; sizes are multiples of 4.
std::string copy_to_shared(unsigned bytes) {
  return "mov.u32 %w0, %tid.x;\nCOPY:\n"
         "mul.lo.u32 %w1, %w0, 4;\ncvt.u64.u32 %q0, %w1;\n"
         "add.s64 %q1, %from, %q0;\nld.global.b32 %w2, [%q1];\n"
         "mov.u64 %q2, tile;\nadd.s64 %q1, %q2, %q0;\nst.shared.b32 [%q1], %w2;\n"
         "add.u32 %w0, %w0, 32;\nsetp.lt.u32 %p0, %w0, " +
         std::to_string(bytes / 4) + ";\n@%p0 bra COPY;\nbar.sync 0;\n";
}

/// The four matrices of a product, one behind the other in a buffer.
struct Product {
  const Form& f;
  Stored a, b, c, d;
  unsigned at_b() const { return a.bytes(); }
  unsigned at_c() const { return at_b() + b.bytes(); }
  unsigned at_d() const { return at_c() + c.bytes(); }
  unsigned all() const { return at_d() + d.bytes(); }
};

/// A kernel that computes D through `space` ("", ".shared", ".global", ...).
std::string product_ptx(const Product& p, const std::string& space) {
  const Form& f = p.f;
  const bool wide = f.ab == "f64";
  const std::string type = wide ? "b64" : "b32";
  const std::string suffix = ".sync.aligned.";
  const bool in_shared = space == ".shared" || space == ".generic_shared";
  const std::string named =
      space[0] == '.' && space.find("generic") == std::string::npos ? space : "";
  std::string t =
      ".visible .entry k(.param .u64 in) {\n.reg .b32 %w<16>;\n.reg .b64 %q<16>;\n"
      ".reg .b64 %from, %base;\n.reg .pred %p<2>;\n";
  for (const char* fragment : {"a", "b", "c", "d"})
    t += ".reg ." + type + " %" + fragment + "<16>;\n";
  if (in_shared) t += ".shared .align 32 .b8 tile[" + std::to_string(p.all()) + "];\n";
  t += "ld.param.u64 %from, [in];\nmov.u64 %base, %from;\n";
  if (in_shared) {
    t += copy_to_shared(p.all()) + "mov.u64 %base, tile;\n";
    if (named.empty()) t += "cvta.shared.u64 %base, %base;\n";
  }
  const auto load = [&](const std::string& which, unsigned n, const Stored& s, unsigned at) {
    t += "wmma.load." + which + suffix + name(s.by_rows) + "." + f.shape() + named + "." + s.type +
         " " + registers("%" + which, n) + ", [%base+" + std::to_string(at) + "], " +
         std::to_string(s.pitch) + ";\n";
  };
  load("a", f.a_registers, p.a, 0);
  load("b", f.b_registers, p.b, p.at_b());
  load("c", c_registers(f, f.c), p.c, p.at_c());
  t += "wmma.mma" + suffix + name(p.a.by_rows) + "." + name(p.b.by_rows) + "." + f.shape() +
       f.types() + " " + registers("%d", c_registers(f, f.d)) + ", " +
       registers("%a", f.a_registers) + ", " + registers("%b", f.b_registers) + ", " +
       registers("%c", c_registers(f, f.c)) + ";\n";
  t += "wmma.store.d" + suffix + name(p.d.by_rows) + "." + f.shape() + named + "." + f.d +
       " [%base+" + std::to_string(p.at_d()) + "], " + registers("%d", c_registers(f, f.d)) + ", " +
       std::to_string(p.d.pitch) + ";\n";
  if (in_shared)
    t += "bar.sync 0;\nmov.u32 %w0, %tid.x;\nBACK:\n"
         "mul.lo.u32 %w1, %w0, 4;\ncvt.u64.u32 %q0, %w1;\nmov.u64 %q2, tile;\n"
         "add.s64 %q1, %q2, %q0;\nld.shared.b32 %w2, [%q1];\n"
         "add.s64 %q1, %from, %q0;\nst.global.b32 [%q1], %w2;\n"
         "add.u32 %w0, %w0, 32;\nsetp.lt.u32 %p0, %w0, " +
         std::to_string(p.all() / 4) + ";\n@%p0 bra BACK;\n";
  return t + "ret;\n}\n";
}

/// Runs D = A * B + C with everything in one buffer, through `space` ("", ".shared", ".global").
void check_product(const Form& f, unsigned layouts, const std::string& space) {
  const bool rows_a = layouts & 1, rows_b = layouts & 2, rows_c = layouts & 4, rows_d = layouts & 8;
  const auto stored = [](unsigned rows, unsigned columns, bool by_rows, const std::string& type) {
    // Pitches are multiples of 16 bytes, and longer than a row.
    const unsigned unit = 16 / bytes_of(type), length = by_rows ? columns : rows;
    return Stored{rows, columns, (length + unit - 1) / unit * unit + unit, by_rows, type};
  };
  const Product p{f, stored(f.m, f.k, rows_a, f.ab), stored(f.k, f.n, rows_b, f.ab),
                  stored(f.m, f.n, rows_c, f.c), stored(f.m, f.n, rows_d, f.d)};
  Random random(layouts + 17 * f.m);
  std::vector<std::uint8_t> memory(p.all());
  std::vector<int> va(f.m * f.k), vb(f.k * f.n), vc(f.m * f.n);
  const int low = f.ab == "u8" ? 0 : -4;
  const auto fill = [&](std::vector<int>& v, const Stored& s, unsigned at) {
    std::vector<std::uint8_t> part(s.bytes());
    for (unsigned r = 0; r < s.rows; ++r)
      for (unsigned k = 0; k < s.columns; ++k) {
        v[r * s.columns + k] = low + static_cast<int>(random.below(9));
        put(part, s, r, k, v[r * s.columns + k]);
      }
    std::copy(part.begin(), part.end(), memory.begin() + at);
  };
  fill(va, p.a, 0);
  fill(vb, p.b, p.at_b());
  fill(vc, p.c, p.at_c());
  std::vector<std::uint8_t> expected = memory;
  {
    std::vector<std::uint8_t> part(p.d.bytes());
    for (unsigned i = 0; i < f.m; ++i)
      for (unsigned j = 0; j < f.n; ++j) {
        int sum = vc[i * f.n + j];
        for (unsigned k = 0; k < f.k; ++k) sum += va[i * f.k + k] * vb[k * f.n + j];
        put(part, p.d, i, j, sum);
      }
    std::copy(part.begin(), part.end(), expected.begin() + p.at_d());
  }
  INFO(f.shape() << f.types() << " " << f.ab << " layouts " << layouts << " " << space);
  Gpu gpu(ptx_module(product_ptx(p, space)));
  const DevicePtr in = gpu.upload(memory, "in");
  const LaunchReport report = gpu.run("k", Dim3{1}, Dim3{32}, in);
  INFO(to_text(report.findings));
  CHECK(report.findings.empty());
  const bool same = gpu.download<std::uint8_t>(in, p.all()) == expected;
  CHECK(same);
  CHECK(report.total.tensor_ops.size() == 1);
  CHECK(report.total.tensor_ops.begin()->second == u64{2} * f.m * f.n * f.k);
}

TEST_CASE("wmma: products through every layout and kind of memory", "[wmma]") {
  for (const Form& f : forms())
    for (unsigned layouts = 0; layouts < 16; ++layouts)
      for (const char* space : {".shared", ".global", ".generic", ".generic_shared"})
        check_product(f, layouts, space);
}

// ---- what it costs

/// One warp, 4 KiB of initialised shared memory, one wmma instruction.
LaunchReport cost(const std::string& instruction, const std::string& space) {
  std::string t =
      ".visible .entry k(.param .u64 in) {\n.reg .b32 %w<16>;\n.reg .b64 %q<16>;\n"
      ".reg .b64 %from, %base;\n.reg .b32 %a<16>;\n.reg .b64 %d<16>;\n.reg .pred %p<2>;\n"
      ".shared .align 128 .b8 tile[16384];\nld.param.u64 %from, [in];\n";
  t += copy_to_shared(16384);
  t += space == ".shared" ? "mov.u64 %base, tile;\n" : "mov.u64 %base, %from;\n";
  for (unsigned i = 0; i < 16; ++i)
    t += "mov.b32 %a" + std::to_string(i) + ", 0;\nmov.b64 %d" + std::to_string(i) + ", 0;\n";
  t += instruction + "\nret;\n}\n";
  Gpu gpu(ptx_module(t));
  const DevicePtr in = gpu.upload(std::vector<u32>(4096), "in");
  LaunchReport report = gpu.run("k", Dim3{1}, Dim3{32}, in);
  INFO(instruction << "\n" << to_text(report.findings));
  CHECK(report.findings.empty());
  return report;
}

TEST_CASE("wmma: shared wavefronts as on an H200", "[wmma][counts]") {
  // l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st} of one instruction by one warp, ncu
  // 2025.3, pitches of 16, 24 and 64 elements. Requests: ldmatrix counts as one.
  struct Row {
    std::string text;  // PITCH stands for the pitch
    bool load;
    unsigned requests, wavefronts[3];
  };
  const std::string a8 = registers("%a", 8), a4 = registers("%a", 4);
  const u64 base_loads = 0, base_stores = 128;  // copy_to_shared: 16 KiB by words
  for (const Row& row : std::vector<Row>{
           {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + a8 + ", [%base], PITCH;",
            true,
            1,
            {8, 4, 32}},
           {"wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 " + a8 + ", [%base], PITCH;",
            true,
            1,
            {8, 4, 32}},
           {"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 " + a8 + ", [%base], PITCH;",
            true,
            4,
            {16, 8, 32}},
           {"wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 " + a4 + ", [%base], PITCH;",
            true,
            4,
            {16, 8, 32}},
           {"wmma.load.b.sync.aligned.row.m16n16k8.shared.tf32 " + a4 + ", [%base], PITCH;",
            true,
            4,
            {8, 4, 16}},
           {"wmma.load.a.sync.aligned.row.m8n8k4.shared.f64 {%d0}, [%base], PITCH;",
            true,
            1,
            {8, 4, 8}},
           {"wmma.load.b.sync.aligned.row.m8n8k4.shared.f64 {%d0}, [%base], PITCH;",
            true,
            1,
            {8, 4, 8}},
           {"wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%base], " + a8 + ", PITCH;",
            false,
            4,
            {16, 8, 32}},
           {"wmma.store.d.sync.aligned.row.m8n8k4.shared.f64 [%base], {%d0, %d1}, PITCH;",
            false,
            1,
            {8, 4, 8}}}) {
    const char* pitches[] = {"16", "24", "64"};
    for (unsigned p = 0; p < 3; ++p) {
      std::string text = row.text;
      text.replace(text.find("PITCH"), 5, pitches[p]);
      INFO(text);
      const LaunchReport report = cost(text, ".shared");
      const SharedCounts& s = row.load ? report.total.shared_load : report.total.shared_store;
      const u64 base = row.load ? base_loads : base_stores;
      CHECK(s.wavefronts - base == row.wavefronts[p]);
      CHECK(s.requests - base == row.requests);
      CHECK(s.raw_wavefronts == s.wavefronts);
      const bool matrices = text.find(".f16") != std::string::npos;
      CHECK(report.total.matrix_load.wavefronts == (matrices ? row.wavefronts[p] : 0));
    }
  }
}

TEST_CASE("wmma: global sectors as on an H200", "[wmma][counts]") {
  for (const char* pitch : {"16", "24", "64"}) {
    INFO(pitch);
    const LaunchReport a = cost("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " +
                                    registers("%a", 8) + ", [%base], " + pitch + ";",
                                ".global");
    const LaunchReport none = cost("", ".global");
    CHECK(a.total.global_load.requests - none.total.global_load.requests == 4);
    CHECK(a.total.global_load.sectors - none.total.global_load.sectors == 32);
    const LaunchReport c = cost("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%base], " +
                                    registers("%a", 8) + ", " + pitch + ";",
                                ".global");
    CHECK(c.total.global_store.requests == 4);
    CHECK(c.total.global_store.sectors == 32);
    const LaunchReport d =
        cost(std::string("wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%base], {%d0, %d1}, ") +
                 pitch + ";",
             ".global");
    CHECK(d.total.global_store.requests == 1);
    CHECK(d.total.global_store.sectors == 16);
  }
}

// ---- checks

TEST_CASE("wmma: accesses are checked like others", "[wmma]") {
  const auto findings = [](const std::string& instruction, unsigned bytes,
                           const std::string& space = ".global") {
    std::string t =
        ".visible .entry k(.param .u64 in) {\n.reg .b32 %a<16>;\n.reg .b64 %base;\n"
        ".reg .pred %p<2>;\n.reg .b32 %lane;\n.shared .align 128 .b8 tile[1024];\n"
        "ld.param.u64 %base, [in];\nmov.u32 %lane, %tid.x;\n";
    if (space == ".shared") t += "mov.u64 %base, tile;\n";
    for (unsigned i = 0; i < 16; ++i) t += "mov.b32 %a" + std::to_string(i) + ", 0;\n";
    t += instruction + "\nSKIP:\nret;\n}\n";
    Gpu gpu(ptx_module(t));
    const DevicePtr in = gpu.upload(std::vector<std::uint8_t>(bytes), "A");
    return gpu.run("k", Dim3{1}, Dim3{32}, in).findings;
  };
  const std::string a8 = registers("%a", 8);
  const std::string load = "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + a8;
  CHECK(findings(load + ", [%base], 16;", 512).empty());
  const auto out = findings(load + ", [%base], 16;", 510);
  REQUIRE(!out.empty());
  CHECK(out[0].kind == FindingKind::out_of_bounds);
  CHECK(out[0].at.bytes == 4);
  const auto odd = findings(load + ", [%base], 17;", 1024);
  REQUIRE(!odd.empty());
  CHECK(odd[0].kind == FindingKind::misaligned);
  const auto store =
      findings("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%base], " + a8 + ", 16;", 1000);
  REQUIRE(!store.empty());
  CHECK(store[0].kind == FindingKind::out_of_bounds);

  const std::string shared = "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 " + a8;
  const auto never = findings(shared + ", [%base], 16;", 4, ".shared");
  REQUIRE(!never.empty());
  CHECK(never[0].kind == FindingKind::uninitialised_read);
  const auto row = findings(shared + ", [%base], 20;", 4, ".shared");
  CHECK(std::any_of(row.begin(), row.end(),
                    [](const Finding& f) { return f.kind == FindingKind::misaligned; }));
  const auto beyond = findings(shared + ", [%base], 64;", 4, ".shared");
  CHECK(std::any_of(beyond.begin(), beyond.end(),
                    [](const Finding& f) { return f.kind == FindingKind::out_of_bounds; }));
  const auto huge = findings(load + ", [%base], 0xffffffff;", 512);
  REQUIRE(!huge.empty());
  const auto apart =
      findings("setp.gt.u32 %p0, %lane, 15;\n@%p0 bra SKIP;\n" + load + ", [%base], 16;", 512);
  REQUIRE(apart.size() == 1);
  CHECK(apart[0].kind == FindingKind::divergent_barrier);
  CHECK(apart[0].detail.find("wmma.load.a.sync needs all 32 lanes") == 0);

  const auto disagree = [&](const std::string& before, const std::string& pitch) {
    const auto found = findings(before + load + ", [%base], " + pitch + ";", 8192);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == FindingKind::trap);
    CHECK(found[0].at.thread.x == 1);
    return found[0].detail;
  };
  const std::string own = disagree("mad.wide.u32 %base, %lane, 32, %base;\n", "16");
  CHECK(own.find("must pass the same address") != std::string::npos);
  const std::string pitch = disagree("shl.b32 %a0, %lane, 3;\nadd.u32 %a0, %a0, 16;\n", "%a0");
  CHECK(pitch.find("must pass the same distance") != std::string::npos);
}

TEST_CASE("wmma: a fragment stored without a barrier is a race for other warps", "[wmma]") {
  const auto launch = [](const std::string& between) {
    Gpu gpu(ptx_module(
        ".visible .entry k() {\n.reg .b32 %a<16>;\n.reg .b64 %base;\n.reg .pred %p<2>;\n.reg .b32 "
        "%t;\n.shared .align 128 .b8 tile[1024];\nmov.u64 %base, tile;\nmov.u32 %t, %tid.x;\n"
        "setp.gt.u32 %p0, %t, 31;\n"
        "mov.b32 %a0, 0;\n@%p0 bra READ;\n"
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%base], {%a0, %a0, %a0, %a0, %a0, "
        "%a0, "
        "%a0, %a0}, 16;\nREAD:\n" +
        between +
        "@!%p0 bra END;\nwmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%a0, %a1, %a2, %a3, "
        "%a4, %a5, %a6, %a7}, [%base], 16;\nEND:\nret;\n}\n"));
    return gpu.run("k", Dim3{1}, Dim3{64}).findings;
  };
  CHECK(launch("bar.sync 0;\n").empty());
  const auto race = launch("");
  REQUIRE(!race.empty());
  CHECK(race[0].kind == FindingKind::shared_race);
}

TEST_CASE("wmma: a fragment of an asynchronous copy that was not waited for", "[wmma][async]") {
  // 32 lanes copy 16 bytes each; then the warp loads all of it as one fragment.
  struct Load {
    const char* instruction;
    unsigned results;
    const char* stride;
  };
  for (const Load& form : {Load{"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", 8, "16"},
                           Load{"wmma.load.b.sync.aligned.col.m16n16k16.shared.bf16", 4, "16"},
                           Load{"wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32", 4, "8"}}) {
    std::vector<u32> values;
    const auto launch = [&](const std::string& between) {
      Gpu gpu(
          ptx_module(".visible .entry k(.param .u64 in, .param .u64 out) {\n"
                     ".reg .b32 %a<8>, %t;\n.reg .b64 %base, %from, %to, %out, %o;\n"
                     ".shared .align 128 .b8 tile[512];\n"
                     "ld.param.u64 %from, [in];\nld.param.u64 %out, [out];\n"
                     "mov.u64 %base, tile;\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 16;\n"
                     "add.s64 %from, %from, %o;\nadd.s64 %to, %base, %o;\n"
                     "cp.async.cg.shared.global [%to], [%from], 16;\n"
                     "cp.async.commit_group;\n" +
                     between + form.instruction + " " + registers("%a", form.results) +
                     ", [%base], " + form.stride +
                     ";\nmul.wide.u32 %o, %t, 4;\nadd.s64 %out, %out, %o;\n"
                     "st.global.b32 [%out], %a0;\nret;\n}\n"));
      std::vector<u32> in(128);
      for (u32 i = 0; i < 128; ++i) in[i] = 0x3c003c00u + i;
      const DevicePtr d_in = gpu.upload(in, "in"), out = gpu.device.alloc(128, "out");
      std::vector<Finding> findings = gpu.run("k", Dim3{1}, Dim3{32}, d_in, out).findings;
      values = gpu.download<u32>(out, 32);
      return findings;
    };
    INFO(form.instruction);
    const auto is_early = [](const std::vector<Finding>& findings) {
      INFO(to_text(findings));
      REQUIRE(findings.size() == 1);
      CHECK(findings[0].kind == FindingKind::async_not_waited);
      CHECK(findings[0].at.object == "tile");
      CHECK(findings[0].at.type == AccessType::load);
      REQUIRE(findings[0].other);
      CHECK(findings[0].other->type == AccessType::store);
    };
    is_early(launch(""));
    CHECK(values == std::vector<u32>(32, 0xffffffffu));  // poison, not what will arrive
    is_early(launch("cp.async.wait_group 1;\n"));        // the only group may still be under way
    is_early(launch("bar.sync 0;\n"));                   // a barrier waits for no copy
    is_early(launch("cp.async.wait_group 0;\n"));        // each lane waited for its own only
    for (const char* right :
         {"cp.async.wait_group 0;\nbar.sync 0;\n", "cp.async.wait_all;\nbar.warp.sync -1;\n"}) {
      CHECK(to_text(launch(right)).empty());
      CHECK(std::all_of(values.begin(), values.end(),
                        [](u32 x) { return x >= 0x3c003c00u && x < 0x3c003c80u; }));
    }
  }
}

TEST_CASE("wmma: an accumulator that was never written is no zero", "[wmma]") {
  Gpu gpu(ptx_module(
      ".visible .entry k(.param .u64 out) {\n.reg .b32 %a<8>, %c<8>, %t;\n.reg .b64 %out, %o;\n"
      "ld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\n"
      "add.s64 %out, %out, %o;\n"
      "mov.b32 %a0, 0;\n"
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, "
      "{%a0, %a0, %a0, %a0, %a0, %a0, %a0, %a0}, {%a0, %a0, %a0, %a0, %a0, %a0, %a0, %a0}, "
      "{%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};\n"
      "st.global.b32 [%out], %c3;\nret;\n}\n"));
  const DevicePtr out = gpu.device.alloc(128, "out");
  CHECK(gpu.run("k", Dim3{1}, Dim3{32}, out).findings.empty());
  for (const float x : gpu.download<float>(out, 32)) CHECK(std::isnan(x));
}

TEST_CASE("wmma: what does not exist is one clear error", "[wmma]") {
  const auto error_of = [](const std::string& instruction) {
    try {
      Gpu gpu(ptx_module(".visible .entry k() {\n.reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n" +
                         instruction + "\nret;\n}\n"));
      const auto info = gpu.device.kernel(gpu.module, "k");
      return info ? info->unsupported : std::string("no kernel");
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
  };
  const std::string r8 = registers("%r", 8), r4 = registers("%r", 4);
  CHECK(error_of("wmma.load.a.sync.aligned.row.m16n16k16.f16 " + r8 + ", [%rd0], 16;").empty());
  CHECK(error_of("wmma.load.a.sync.aligned.row.m16n16k16.f16 " + r8 + ", [%rd0];").empty());
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"wmma.load.a.sync.aligned.row.m16n16k16.f16 " + r4 + ", [%rd0], 16;", "8 registers"},
           {"wmma.load.a.sync.aligned.row.m16n16k16.bf16 " + r8 + ", [%rd0], 16;", "4 registers"},
           {"wmma.load.a.sync.aligned.row.m16n16k32.f16 " + r8 + ", [%rd0], 16;", "m16n16k32"},
           {"wmma.load.a.sync.aligned.row.m16n16k16.f32 " + r8 + ", [%rd0], 16;", "type"},
           {"wmma.load.c.sync.aligned.row.m16n16k16.bf16 " + r8 + ", [%rd0], 16;", "type"},
           {"wmma.load.a.sync.aligned.row.m16n16k16.local.f16 " + r8 + ", [%rd0], 16;", "memory"},
           {"wmma.load.a.sync.aligned.row.m0n0k0.f16 " + r8 + ", [%rd0], 16;", "m0n0k0"},
           {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " + r8 + ", " + r4 + ", " + r8 + ", " +
                r8 + ";",
            "8 registers"},
           {"wmma.mma.sync.aligned.row.col.m16n16k16.f64.f64 " + r8 + ", " + r8 + ", " + r8 + ", " +
                r8 + ";",
            "types"},
           {"wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64 {%rd0, %rd1}, {%rd2}, {%rd3}, "
            "{%rd0, %rd1};",
            "rounding"}}) {
    const std::string error = error_of(text);
    INFO(text << "\n" << error);
    CHECK(!error.empty());
    CHECK(error.find(part) != std::string::npos);
  }
}

}  // namespace
}  // namespace simgpu::test
