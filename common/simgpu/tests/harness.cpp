#include "common/simgpu/tests/harness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

namespace simgpu::test {

namespace fs = std::filesystem;

void (*fail)(const std::string&) = [](const std::string& message) {
  throw std::runtime_error(message);
};
void (*passed)() = [] {};

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// -----------------------------------------------------------------------------------------
// operands

namespace {

struct RegInfo {
  const char* name;     // register and memory type
  const char* untyped;  // the same as clang 22 declares it
  unsigned bits;
  bool is_signed, is_float;
};

const RegInfo& info(Reg reg) {
  static const RegInfo table[] = {
      {"pred", "pred", 1, false, false}, {"u16", "b16", 16, false, false},
      {"s16", "b16", 16, true, false},   {"u32", "b32", 32, false, false},
      {"s32", "b32", 32, true, false},   {"u64", "b64", 64, false, false},
      {"s64", "b64", 64, true, false},   {"f32", "b32", 32, false, true},
      {"f64", "b64", 64, false, true},
  };
  return table[static_cast<unsigned>(reg)];
}

std::uint64_t mask_bits(unsigned bits) {
  return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

constexpr float kEdgesF32[] = {0.0f,
                               1.0f,
                               0.5f,
                               1.5f,
                               2.5f,
                               0.99999994f,
                               1.0000001f,
                               3.4028235e38f,
                               1.17549435e-38f,
                               1.17549421e-38f,
                               1.4e-45f,
                               8388607.5f,
                               8388608.0f,
                               127.5f,
                               255.5f,
                               32767.5f,
                               65535.5f,
                               2147483520.0f,
                               2147483648.0f,
                               4294967040.0f,
                               4294967296.0f,
                               9223371487098961920.0f,
                               9223372036854775808.0f,
                               18446744073709551616.0f,
                               1e20f,
                               3.0f,
                               1e-20f,
                               std::numeric_limits<float>::infinity()};
constexpr double kEdgesF64[] = {0.0,
                                1.0,
                                0.5,
                                1.5,
                                2.5,
                                0.99999999999999989,
                                1.0000000000000002,
                                1.7976931348623157e308,
                                2.2250738585072014e-308,
                                4.9e-324,
                                2147483647.0,
                                2147483647.5,
                                2147483648.0,
                                4294967295.0,
                                4294967295.5,
                                4294967296.0,
                                9223372036854774784.0,
                                9223372036854775808.0,
                                18446744073709549568.0,
                                18446744073709551616.0,
                                3.4028234663852886e38,
                                3.4028235677973366e38,
                                3.5e38,
                                1.1754943508222875e-38,
                                7.0e-46,
                                1.0e-40,
                                127.5,
                                255.5,
                                32767.5,
                                65535.5,
                                1e300,
                                16777217.0,
                                16777219.0,
                                std::numeric_limits<double>::infinity()};

std::vector<std::uint64_t> integer_edges(const RegInfo& r) {
  const std::uint64_t m = mask_bits(r.bits), top = 1ull << (r.bits - 1);
  std::vector<std::uint64_t> values = {
      0,   1,   2,   3,   7,    8,      15,     16,     24, 31,    32,  33,      63,      64,    65,
      127, 128, 255, 256, 1000, 0x7FFF, 0x8000, 0xFFFF, m,  m - 1, top, top + 1, top - 1, m >> 8};
  if (r.bits >= 32) values.insert(values.end(), {0x10000, 0x7F80FF01, 0xFFFFFF, 0x1000000});
  if (r.bits == 64) {
    values.insert(values.end(), {0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000,
                                 0xFFFFFFFF80000000, 0xFFFFFFFF7FFFFFFF, 0x123456789ABCDEF0});
  }
  for (std::uint64_t& v : values) v &= m;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::uint64_t> edges(Reg reg) {
  if (reg == Reg::pred) return {0, 1};
  if (!info(reg).is_float) return integer_edges(info(reg));
  std::vector<std::uint64_t> values;
  const auto both = [&](auto v) {
    values.push_back(to_slot(v));
    values.push_back(to_slot(-v));
  };
  if (reg == Reg::f32) {
    for (const float v : kEdgesF32) both(v);
    values.push_back(to_slot(std::numeric_limits<float>::quiet_NaN()));
    values.push_back(0xFFC12345u);
  } else {
    for (const double v : kEdgesF64) both(v);
    values.push_back(to_slot(std::numeric_limits<double>::quiet_NaN()));
    values.push_back(0xFFF8000000012345u);
  }
  return values;
}

std::uint64_t random_value(Reg reg, Random& random) {
  const RegInfo& r = info(reg);
  if (reg == Reg::pred) return random.next() & 1;
  if (reg == Reg::f32 && random.below(4) != 0) {
    const double unit = static_cast<double>(random.next() >> 11) * 0x1p-53;
    return to_slot(
        static_cast<float>(std::ldexp(unit * 2 - 1, static_cast<int>(random.below(40)) - 20)));
  }
  if (reg == Reg::f64 && random.below(4) != 0) {
    const double unit = static_cast<double>(random.next() >> 11) * 0x1p-53;
    return to_slot(std::ldexp(unit * 2 - 1, static_cast<int>(random.below(80)) - 40));
  }
  // Integers of every magnitude; bit patterns for floats.
  const std::uint64_t bits = random.next();
  if (r.is_float) return bits & mask_bits(r.bits);
  const std::uint64_t small = bits & mask_bits(1 + random.below(r.bits));
  return (random.below(3) == 0 ? ~small + 1 : small) & mask_bits(r.bits);
}

std::vector<std::uint64_t> operand_tuples(const Form& form, const FormOptions& options) {
  const std::size_t arity = form.in.size();
  std::vector<std::vector<std::uint64_t>> edge(arity);
  for (std::size_t i = 0; i < arity; ++i) edge[i] = edges(form.in[i]);
  Random random(0x5EED + form.text.size());
  std::vector<std::uint64_t> tuples;
  const auto add = [&](const std::vector<std::uint64_t>& tuple) {
    if (!options.accept || options.accept(tuple.data())) {
      tuples.insert(tuples.end(), tuple.begin(), tuple.end());
    }
  };
  if (arity == 1) {
    for (const std::uint64_t a : edge[0]) add({a});
  } else if (arity == 2) {
    for (const std::uint64_t a : edge[0]) {
      for (const std::uint64_t b : edge[1]) add({a, b});
    }
  } else {
    for (unsigned n = 0; n < 1500; ++n) {
      std::vector<std::uint64_t> tuple(arity);
      for (std::size_t i = 0; i < arity; ++i) {
        tuple[i] = edge[i][random.below(static_cast<std::uint32_t>(edge[i].size()))];
      }
      add(tuple);
    }
  }
  for (unsigned n = 0; n < options.random_tuples; ++n) {
    std::vector<std::uint64_t> tuple(arity);
    for (std::size_t i = 0; i < arity; ++i) {
      // An edge value beside a random one is where sign and carry mistakes show.
      tuple[i] = random.below(5) == 0
                     ? edge[i][random.below(static_cast<std::uint32_t>(edge[i].size()))]
                     : random_value(form.in[i], random);
    }
    add(tuple);
  }
  return tuples;
}

// ------------------------------------------------------------------------------------ generated
// PTX

const char* const kIn[] = {"%a", "%b", "%c", "%d", "%e", "%f"};
const char* const kOut[] = {"%x", "%y"};

std::string statements(const Form& form, const std::string& guard) {
  if (form.text.find(';') != std::string::npos) return form.text;
  std::string s = guard + form.text + " ";
  for (std::size_t i = 0; i < form.out.size(); ++i) {
    if (i != 0) s += "|";
    s += kOut[i];
  }
  for (std::size_t i = 0; i < form.in.size(); ++i) s += std::string(", ") + kIn[i];
  return s + ";";
}

enum class Masking { all, branch, guard };

// out[slot * count + i] of thread i, in the same way for the inputs; lanes whose bit in `mask` is 0
// do not run the form.
std::string snippet_ptx(const Form& form, Masking masking) {
  std::ostringstream s;
  const bool untyped = masking == Masking::guard;
  s << ".visible .entry snippet(.param .u64 in, .param .u64 out, .param .u32 count, .param .u32 "
       "mask)\n{\n"
    << "  .reg .pred %go, %outside;\n  .reg .b32 %i, %n, %m, %lane, %t;\n  .reg .b64 %in, %out, "
       "%at;\n";
  const auto declare = [&](Reg reg, const char* name) {
    s << "  .reg ." << (untyped ? info(reg).untyped : info(reg).name) << " " << name << ";\n";
  };
  for (std::size_t i = 0; i < form.in.size(); ++i) declare(form.in[i], kIn[i]);
  for (std::size_t i = 0; i < form.out.size(); ++i) declare(form.out[i], kOut[i]);
  s << "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  ld.param.u32 %n, [count];\n"
    << "  ld.param.u32 %m, [mask];\n  cvta.to.global.u64 %in, %in;\n  cvta.to.global.u64 %out, "
       "%out;\n"
    << "  mov.u32 %i, %ctaid.x;\n  mov.u32 %t, %ntid.x;\n  mov.u32 %lane, %tid.x;\n"
    << "  mad.lo.s32 %i, %i, %t, %lane;\n  setp.ge.u32 %outside, %i, %n;\n  @%outside ret;\n"
    << "  and.b32 %lane, %lane, 31;\n  shr.u32 %m, %m, %lane;\n  and.b32 %m, %m, 1;\n"
    << "  setp.ne.u32 %go, %m, 0;\n";
  const auto address = [&](const char* base, std::size_t slot) {
    s << "  mad.lo.s32 %t, %n, " << slot
      << ", %i;\n  mul.wide.u32 %at, %t, 8;\n  add.s64 %at, %at, " << base << ";\n";
  };
  const auto load = [&](const char* base, std::size_t slot, Reg reg, const char* name) {
    address(base, slot);
    if (reg == Reg::pred) {
      s << "  ld.global.u32 %t, [%at];\n  setp.ne.u32 " << name << ", %t, 0;\n";
    } else {
      s << "  ld.global." << info(reg).name << " " << name << ", [%at];\n";
    }
  };
  for (std::size_t i = 0; i < form.in.size(); ++i) load("%in", i, form.in[i], kIn[i]);
  for (std::size_t i = 0; i < form.out.size(); ++i) load("%out", i, form.out[i], kOut[i]);
  if (masking == Masking::branch) s << "  @!%go bra SKIP;\n";
  s << "  " << statements(form, masking == Masking::guard ? "@%go " : "") << "\n";
  if (masking == Masking::branch) s << "SKIP:\n";
  for (std::size_t i = 0; i < form.out.size(); ++i) {
    address("%out", i);
    if (form.out[i] == Reg::pred) {
      s << "  selp.u32 %t, 1, 0, " << kOut[i] << ";\n  st.global.u32 [%at], %t;\n";
    } else {
      s << "  st.global." << info(form.out[i]).name << " [%at], " << kOut[i] << ";\n";
    }
  }
  s << "  ret;\n}\n";
  return ptx_module(s.str());
}

std::string show(Reg reg, std::uint64_t slot) {
  char text[96];
  if (reg == Reg::f32) {
    std::snprintf(text, sizeof text, "%.9g (0x%08x)", static_cast<double>(from_slot<float>(slot)),
                  static_cast<unsigned>(slot));
  } else if (reg == Reg::f64) {
    std::snprintf(text, sizeof text, "%.17g (0x%016llx)", from_slot<double>(slot),
                  static_cast<unsigned long long>(slot));
  } else {
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(slot));
  }
  return text;
}

// Distance in representable values, with -0 next to +0.
double ulp_distance(Reg reg, std::uint64_t a, std::uint64_t b) {
  const auto ordered = [reg](std::uint64_t v) {
    const std::uint64_t top = reg == Reg::f32 ? 0x80000000u : 0x8000000000000000u;
    const auto magnitude = static_cast<std::int64_t>(v & (top - 1));
    return static_cast<double>((v & top) != 0 ? -magnitude : magnitude);
  };
  return std::fabs(ordered(a) - ordered(b));
}

bool same(Reg reg, std::uint64_t expected, std::uint64_t got, double ulps) {
  if (expected == got) return true;
  if (!info(reg).is_float) return false;
  const bool nan_expected = reg == Reg::f32 ? std::isnan(from_slot<float>(expected))
                                            : std::isnan(from_slot<double>(expected));
  const bool nan_got =
      reg == Reg::f32 ? std::isnan(from_slot<float>(got)) : std::isnan(from_slot<double>(got));
  if (nan_expected || nan_got) return nan_expected && nan_got;
  return ulps > 0 && ulp_distance(reg, expected, got) <= ulps;
}

Device& snippet_device() {
  static Device device;
  return device;
}

// SIMGPU_DUMP=folder writes every form with operands and expected results instead of running it:
// the references themselves can then be checked on hardware.
bool dump(const Form& form, const std::string& ptx, const std::vector<std::uint64_t>& in,
          const std::vector<std::uint64_t>& expected, std::size_t count, double ulps) {
  const char* folder = std::getenv("SIMGPU_DUMP");
  if (folder == nullptr) return false;
  static unsigned number = 0;
  const std::string base = std::string(folder) + "/" + std::to_string(number++);
  std::ofstream(base + ".ptx") << ptx;
  std::ofstream meta(base + ".txt");
  meta << count << " " << form.in.size() << " " << form.out.size() << " " << ulps;
  for (const Reg reg : form.out) meta << " " << info(reg).name;
  std::string one_line = form.text;
  std::replace(one_line.begin(), one_line.end(), '\n', ' ');
  meta << "\n" << one_line << "\n";
  std::ofstream data(base + ".bin", std::ios::binary);
  data.write(reinterpret_cast<const char*>(in.data()), static_cast<std::streamsize>(in.size() * 8));
  data.write(reinterpret_cast<const char*>(expected.data()),
             static_cast<std::streamsize>(expected.size() * 8));
  return true;
}

}  // namespace

std::string ptx_module(std::string_view body) {
  return ".version 7.6\n.target sm_80\n.address_size 64\n" + std::string(body);
}

namespace {

/// Operands and results of one form: value k of tuple i at k * count + i.
struct Table {
  std::size_t count, arity, results;
  std::vector<std::uint64_t> tuples, in, expected;
};

Table make_table(const Form& form, const FormOptions& options) {
  Table t{0, form.in.size(), form.out.size(), operand_tuples(form, options), {}, {}};
  t.count = t.arity == 0 ? 64 : t.tuples.size() / t.arity;
  t.in.resize(t.count * t.arity);
  t.expected.resize(t.count * t.results);
  for (std::size_t i = 0; i < t.count; ++i) {
    std::uint64_t out[2] = {0, 0};
    for (std::size_t k = 0; k < t.arity; ++k) t.in[k * t.count + i] = t.tuples[i * t.arity + k];
    form.reference(&t.tuples[i * t.arity], out);
    for (std::size_t k = 0; k < t.results; ++k) t.expected[k * t.count + i] = out[k];
  }
  return t;
}

/// Runs the form; `out` holds what was there before, then the results.
void run_form(const Form& form, const FormOptions& options, const Table& t, Masking masking,
              std::uint32_t mask, std::vector<std::uint64_t>& out) {
  Device& device = snippet_device();
  const ModuleId module = device.load_module(snippet_ptx(form, masking));
  const DevicePtr d_in = t.in.empty() ? 0 : device.alloc(t.in.size() * 8, "in");
  const DevicePtr d_out = device.alloc(out.size() * 8, "out");
  if (!t.in.empty()) device.write(d_in, std::as_bytes(std::span<const std::uint64_t>(t.in)));
  device.write(d_out, std::as_bytes(std::span<const std::uint64_t>(out)));
  std::byte args[24];
  const auto count32 = static_cast<std::uint32_t>(t.count);
  std::memcpy(args, &d_in, 8);
  std::memcpy(args + 8, &d_out, 8);
  std::memcpy(args + 16, &count32, 4);
  std::memcpy(args + 20, &mask, 4);
  LaunchOptions launch;
  launch.host_threads = 1;
  const LaunchReport report =
      device.launch(module, "snippet", Dim3{static_cast<unsigned>((t.count + 63) / 64), 1, 1},
                    Dim3{64, 1, 1}, 0, args, launch);
  device.read(std::as_writable_bytes(std::span<std::uint64_t>(out)), d_out);
  if (d_in != 0) device.free(d_in);
  device.free(d_out);
  device.unload_module(module);
  for (const Finding& finding : report.findings) {
    if (options.division_by_zero && finding.kind == FindingKind::division_by_zero) continue;
    fail(form.text + ": unexpected finding " + to_text(finding));
    break;
  }
}

/// The first wrong results, empty if there are none.
std::string differences(const Form& form, const FormOptions& options, const Table& t,
                        std::uint32_t mask, const std::vector<std::uint64_t>& before,
                        const std::vector<std::uint64_t>& out) {
  unsigned wrong = 0;
  std::string message;
  for (std::size_t i = 0; i < t.count; ++i) {
    const bool active = ((mask >> (i % 32)) & 1) != 0;
    for (std::size_t k = 0; k < t.results; ++k) {
      const std::size_t at = k * t.count + i;
      const std::uint64_t want = active ? t.expected[at] : before[at];
      const std::uint64_t got =
          out[at] & mask_bits(form.out[k] == Reg::pred ? 32 : info(form.out[k]).bits);
      if (active ? same(form.out[k], want, got, options.ulps) : want == got) continue;
      if (++wrong > 3) continue;
      message += active ? "\n  (" : "\n  inactive lane changed: (";
      for (std::size_t a = 0; a < t.arity; ++a)
        message += (a != 0 ? ", " : "") + show(form.in[a], t.tuples[i * t.arity + a]);
      message += ") -> result " + std::to_string(k) + ": expected " + show(form.out[k], want) +
                 ", got " + show(form.out[k], got);
    }
  }
  if (wrong == 0) return {};
  return std::to_string(wrong) + " of " + std::to_string(t.count) + " wrong" + message;
}

}  // namespace

void check_form(const Form& form, const FormOptions& options) {
  const Table table = make_table(form, options);
  if (table.count == 0) return fail(form.text + ": no operands to test with");
  if (dump(form, snippet_ptx(form, Masking::all), table.in, table.expected, table.count,
           options.ulps))
    return;
  struct Run {
    Masking masking;
    std::uint32_t mask;
    const char* name;
  };
  constexpr std::uint64_t kOld = 0xA5A5'5A5A'C3C3'3C3Cull;
  const bool one_instruction = form.text.find(';') == std::string::npos;
  for (const Run& run : {Run{Masking::all, 0xFFFFFFFFu, "all lanes"},
                         Run{Masking::branch, 0x9C3F5A71u, "masked by branch"},
                         Run{Masking::guard, 0x63C0A58Eu, "masked by guard"}}) {
    if (run.masking == Masking::guard && !one_instruction) continue;
    std::vector<std::uint64_t> before;
    for (const Reg reg : form.out)
      before.insert(before.end(), table.count,
                    reg == Reg::pred ? 1 : kOld & mask_bits(info(reg).bits));
    std::vector<std::uint64_t> out = before;
    try {
      run_form(form, options, table, run.masking, run.mask, out);
    } catch (const std::exception& error) {
      return fail(form.text + ": " + error.what());
    }
    if (const auto wrong = differences(form, options, table, run.mask, before, out); !wrong.empty())
      return fail(form.text + ", " + run.name + ": " + wrong);
    passed();
  }
}

// --------------------------------------------------------------------------------------------
// launches

Gpu::Gpu(std::string ptx, DeviceModel model, std::string marked) : device(std::move(model)) {
  module = device.load_module(std::move(ptx), false, std::move(marked));
}

LaunchReport Gpu::launch(std::string_view kernel, Dim3 grid, Dim3 block, unsigned dynamic_shared,
                         const LaunchOptions& options,
                         const std::vector<std::pair<const void*, std::size_t>>& args) {
  const std::optional<KernelInfo> info = device.kernel(module, kernel);
  if (!info) throw std::runtime_error("no kernel named " + std::string(kernel));
  if (info->params.size() != args.size()) {
    throw std::runtime_error(std::string(kernel) + " has " + std::to_string(info->params.size()) +
                             " parameters, the test passes " + std::to_string(args.size()));
  }
  std::vector<std::byte> block_of_args(info->param_bytes);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].second != info->params[i].size) {
      throw std::runtime_error(std::string(kernel) + ": parameter " + std::to_string(i) + " has " +
                               std::to_string(info->params[i].size) + " bytes, the test passes " +
                               std::to_string(args[i].second));
    }
    std::memcpy(block_of_args.data() + info->params[i].offset, args[i].first, args[i].second);
  }
  return device.launch(module, kernel, grid, block, dynamic_shared, block_of_args, options);
}

// ------------------------------------------------------------------------------------- compiled
// kernels

namespace {

const fs::path& project_root() {
  static const fs::path root = [] {
    for (fs::path at = fs::current_path();; at = at.parent_path()) {
      if (fs::exists(at / "common/simgpu/device.hpp")) return at;
      if (at == at.parent_path()) throw std::runtime_error("run the tests inside the project");
    }
  }();
  return root;
}

const fs::path& cache_folder() {
  static const fs::path folder = [] {
    const fs::path program = fs::read_symlink("/proc/self/exe");
    const fs::path made = program.parent_path() / "simgpu_ptx";
    fs::create_directories(made);
    return made;
  }();
  return folder;
}

std::string quoted(const std::string& word) {
  std::string s = "'";
  for (const char c : word) s += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return s + "'";
}

// Standard output and error of a shell command; `status` as from system().
std::string capture(const std::string& command, int& status) {
  const fs::path log = cache_folder() / "command.log";
  status = std::system((command + " >" + quoted(log.string()) + " 2>&1").c_str());
  std::ifstream in(log);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::uint64_t fnv(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

unsigned major_version(const std::string& command) {
  int status = 0;
  const std::string output = capture(command + " --version", status);
  const std::size_t at = output.find("clang version ");
  if (status != 0 || at == std::string::npos) return 0;
  return static_cast<unsigned>(std::strtoul(output.c_str() + at + 14, nullptr, 10));
}

struct Compilers {
  std::vector<Clang> found;
  std::vector<std::string> missing;
};

const Compilers& compilers() {
  static const Compilers all = [] {
    Compilers c;
    for (const unsigned version : {14u, 16u, 19u, 22u}) {
      const std::string command = "clang++-" + std::to_string(version);
      if (major_version(command) == version) {
        c.found.push_back({command, version});
      } else {
        c.missing.push_back(command);
      }
    }
    const unsigned plain = major_version("clang++");
    if (plain >= 14 && std::none_of(c.found.begin(), c.found.end(),
                                    [plain](const Clang& k) { return k.major == plain; })) {
      c.found.push_back({"clang++", plain});
    }
    return c;
  }();
  return all;
}

// Of everything a compiled kernel can depend on besides itself and the compiler.
std::uint64_t environment_hash() {
  static const std::uint64_t hash = [] {
    std::uint64_t h = 0xCBF29CE484222325u;
    std::vector<fs::path> files;
    for (const char* folder : {"common/simgpu/flags", "common/simgpu/include"}) {
      for (const auto& entry : fs::recursive_directory_iterator(project_root() / folder)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      h = fnv(file.filename().string(), h);
      h = fnv(read_text(fs::relative(file, project_root()).string()), h);
    }
    return h;
  }();
  return hash;
}

}  // namespace

const std::vector<Clang>& clangs() {
  return compilers().found;
}
std::vector<std::string> device_flags(const Clang& clang) {
  return {"@common/simgpu/flags/device.rsp",
          clang.major < 15 ? "@common/simgpu/flags/device-14.rsp"
                           : "@common/simgpu/flags/device-15.rsp",
          "-I."};
}
const std::vector<std::string>& missing_clangs() {
  return compilers().missing;
}

std::string read_text(const std::string& path) {
  std::ifstream in(project_root() / path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string& compile(const std::string& file, const Clang& clang) {
  static std::map<std::string, std::string> compiled;
  const std::string key = clang.command + " " + file;
  if (const auto it = compiled.find(key); it != compiled.end()) return it->second;

  const std::string source = "common/simgpu/tests/kernels/" + file;
  std::uint64_t hash = fnv(read_text(source), environment_hash());
  hash = fnv(key, hash);
  std::ostringstream name;
  name << fs::path(file).stem().string() << "-clang" << clang.major << "-" << std::hex << hash
       << ".ptx";
  const fs::path ptx = cache_folder() / name.str();
  if (!fs::exists(ptx)) {
    const fs::path unfinished = ptx.string() + ".part";
    int status = 0;
    std::string command = "cd " + quoted(project_root().string()) + " && " + clang.command;
    for (const std::string& flag : device_flags(clang)) command += " " + flag;
    const std::string output =
        capture(command + " " + source + " -o " + quoted(unfinished.string()), status);
    if (status != 0 || !output.empty()) {
      throw std::runtime_error(clang.command + " on " + source + ":\n" + output);
    }
    fs::rename(unfinished, ptx);
  }
  std::ifstream in(ptx, std::ios::binary);
  return compiled[key] = std::string(std::istreambuf_iterator<char>(in), {});
}

const std::string& compile(const std::string& file) {
  if (clangs().empty()) throw std::runtime_error("no clang++ (14 or later) is installed");
  return compile(file, clangs().front());
}

unsigned marker(const std::string& file, std::string_view name) {
  std::istringstream in(read_text("common/simgpu/tests/kernels/" + file));
  const std::string wanted = "// @" + std::string(name);
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    if (line.size() >= wanted.size() &&
        line.compare(line.size() - wanted.size(), wanted.size(), wanted) == 0) {
      return number;
    }
  }
  throw std::runtime_error(file + " has no line marked " + wanted);
}

}  // namespace simgpu::test
