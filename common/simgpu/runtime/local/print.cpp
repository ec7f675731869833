#include "common/simgpu/runtime/local/print.hpp"

#include <algorithm>
#include <cinttypes>
#include <sstream>

#include "common/simgpu/include/driver_types.h"

namespace simgpu::runtime {
namespace {

std::string file_name(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string triple(const Dim3& d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string party(const Access& access) {
  return "thread " + triple(access.thread) + " of block " + triple(access.block);
}

std::string describe(const Access& access) {
  std::ostringstream text;
  text << party(access);
  if (access.bytes == 0) return text.str();  // a place in the program rather than a memory access
  text << ' ' << to_string(access.type) << ' ' << access.bytes
       << (access.bytes == 1 ? " byte" : " bytes") << " of " << to_string(access.space)
       << " memory at ";
  if (!access.object.empty()) {
    text << access.object << (access.offset < 0 ? "" : "+") << access.offset;
    if (access.object_bytes)
      text << " (" << access.object << " has " << access.object_bytes << " bytes)";
  } else {
    char address[24];
    std::snprintf(address, sizeof address, "0x%" PRIx64, access.address);
    text << address;
  }
  return text.str();
}

}  // namespace

std::string place(const SourceLine& where) {
  if (where.line == 0) return "(unknown line)";
  return file_name(where.file) + ":" + std::to_string(where.line);
}

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), " ");
  }
  return digits;
}

std::string describe(const Finding& finding) {
  std::ostringstream text;
  text << place(finding.at.where) << ": " << to_string(finding.kind) << ": " << finding.detail
       << '\n';
  text << "    kernel " << finding.kernel << ", " << party(finding.at) << '\n';
  // Without a line, it is no access but a block that may be gone, which the detail names.
  if (finding.other && finding.other->where.line != 0) {
    text << "    other: " << place(finding.other->where) << ", " << describe(*finding.other)
         << '\n';
  }
  if (finding.occurrences > 1) text << "    " << finding.occurrences << " times on this line\n";
  return text.str();
}

int fault_of(const LaunchReport& report) {
  // What is not here does not fault on hardware, or hangs there: a kernel that was stopped is seen to
  // below.
  constexpr std::pair<FindingKind, int> faults[] = {
      {FindingKind::out_of_bounds, cudaErrorIllegalAddress},
      {FindingKind::use_after_free, cudaErrorIllegalAddress},
      {FindingKind::null_pointer, cudaErrorIllegalAddress},
      {FindingKind::host_pointer, cudaErrorIllegalAddress},
      {FindingKind::write_to_constant, cudaErrorIllegalAddress},
      {FindingKind::misaligned, cudaErrorMisalignedAddress},
      {FindingKind::trap, cudaErrorLaunchFailure},
      {FindingKind::assertion, cudaErrorAssert},
      {FindingKind::stack_overflow, cudaErrorHardwareStackError},
      {FindingKind::unsupported, cudaErrorIllegalInstruction},
  };
  for (const Finding& finding : report.findings)
    for (const auto& [kind, error] : faults)
      if (finding.kind == kind) return error;
  return report.completed ? cudaSuccess : cudaErrorLaunchTimeout;
}

namespace {

/// As JSON; what is not plain ASCII becomes '?': kernel names are identifiers.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c < ' ' || c > '~' ? '?' : c;
  }
  return out + '"';
}

}  // namespace

void print_json(std::FILE* out, const std::vector<LaunchReport>& reports) {
  const auto field = [&](const char* name, std::uint64_t n) {
    std::fprintf(out, ", \"%s\": %" PRIu64, name, n);
  };
  const auto global = [&](const std::string& name, const GlobalCounts& c) {
    field((name + ".requests").c_str(), c.requests);
    field((name + ".sectors").c_str(), c.sectors);
    field((name + ".ideal_sectors").c_str(), c.ideal_sectors);
  };
  const auto shared = [&](const std::string& name, const SharedCounts& c) {
    field((name + ".requests").c_str(), c.requests);
    field((name + ".wavefronts").c_str(), c.wavefronts);
    field((name + ".ideal_wavefronts").c_str(), c.ideal_wavefronts);
    field((name + ".raw_requests").c_str(), c.raw_requests);
  };
  std::fputs("[", out);
  for (const LaunchReport& report : reports) {
    const Counts& c = report.total;
    std::fprintf(out, "%s\n{\"kernel\": %s, \"findings\": %zu", &report == &reports[0] ? "" : ",",
                 quoted(report.kernel).c_str(), report.findings.size());
    global("global_load", c.global_load);
    global("global_store", c.global_store);
    global("global_atomic", c.global_atomic);
    global("async_copy", c.async_copy);
    global("bulk_load", c.bulk_load);
    global("bulk_store", c.bulk_store);
    shared("shared_load", c.shared_load);
    shared("shared_store", c.shared_store);
    shared("shared_atomic", c.shared_atomic);
    shared("matrix_load", c.matrix_load);
    shared("matrix_store", c.matrix_store);
    field("local_load_requests", c.local_load_requests);
    field("local_store_requests", c.local_store_requests);
    field("printed_store_requests", c.printed_store_requests);
    field("constant_words", c.constant_words);
    field("cluster_load_requests", c.cluster_load_requests);
    field("cluster_store_requests", c.cluster_store_requests);
    field("cluster_atomic_requests", c.cluster_atomic_requests);
    field("fma_f32", c.fma_f32);
    field("fma_f64", c.fma_f64);
    for (const auto& [type, ops] : c.tensor_ops) field(("tensor_ops." + type).c_str(), ops);
    std::fputs("}", out);
  }
  std::fputs("\n]\n", out);
  std::fflush(out);
}

}  // namespace simgpu::runtime
