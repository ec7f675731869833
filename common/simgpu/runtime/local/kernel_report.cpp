#include "common/simgpu/runtime/local/kernel_report.hpp"

#include <algorithm>
#include <cinttypes>

#include "common/simgpu/runtime/local/print.hpp"

namespace simgpu::runtime {
namespace {

/// "32×32", "8×8×4": without the extents of 1 behind the second.
std::string extent(const Dim3& d) {
  std::string text = std::to_string(d.x) + "×" + std::to_string(d.y);
  if (d.z != 1) text += "×" + std::to_string(d.z);
  return text;
}

/// One kind of access to memory, as a row of either table shows it: what the hardware would spend
/// on it, sectors of global or wavefronts of shared memory, beside the least for these bytes.
struct Traffic {
  const char* name;
  const char* unit;
  std::uint64_t requests, cost, ideal, raw_requests;
};

std::vector<Traffic> traffic_of(const Counts& c) {
  std::vector<Traffic> all;
  const auto global = [&](const char* name, const GlobalCounts& g) {
    if (g.requests) all.push_back({name, "sectors", g.requests, g.sectors, g.ideal_sectors, 0});
  };
  const auto shared = [&](const char* name, const SharedCounts& s) {
    if (!s.requests) return;
    const std::uint64_t raw = s.raw_requests != s.requests ? s.raw_requests : 0;
    all.push_back({name, "wavefronts", s.requests, s.wavefronts, s.ideal_wavefronts, raw});
  };
  global("global load", c.global_load);
  global("global store", c.global_store);
  global("global atomic", c.global_atomic);
  global("bulk load", c.bulk_load);
  global("bulk store", c.bulk_store);
  shared("shared load", c.shared_load);
  shared("shared store", c.shared_store);
  shared("shared atomic", c.shared_atomic);
  shared("cp.async store", c.async_store);
  return all;
}

void print_traffic(std::FILE* out, const Counts& c) {
  for (const Traffic& t : traffic_of(c)) {
    std::fprintf(
        out, "  %-14s %s requests, %s %s (ideal %s)%s\n", t.name, grouped(t.requests).c_str(),
        grouped(t.cost).c_str(), t.unit, grouped(t.ideal).c_str(),
        t.raw_requests ? (", " + grouped(t.raw_requests) + " before merging").c_str() : "");
  }
  if (c.cluster_load_requests + c.cluster_store_requests + c.cluster_atomic_requests) {
    std::fprintf(out, "  %-14s %s loads, %s stores, %s atomics in shared memory of other blocks\n",
                 "cluster", grouped(c.cluster_load_requests).c_str(),
                 grouped(c.cluster_store_requests).c_str(),
                 grouped(c.cluster_atomic_requests).c_str());
  }
  if (c.local_load_requests + c.local_store_requests) {
    // Of the PTX, which has arrays and variables with an address there; ptxas adds its spills.
    std::fprintf(out, "  %-14s %s loads, %s stores: arrays in slow memory (spills not counted)\n",
                 "local memory", grouped(c.local_load_requests).c_str(),
                 grouped(c.local_store_requests).c_str());
  }
  if (c.constant_words)
    std::fprintf(out, "  %-14s %s words read; different ones of a warp come one by one\n",
                 "constants", grouped(c.constant_words).c_str());
}

/// The counts that are not traffic, those that are not 0.
std::string arithmetic_of(const Counts& c) {
  std::string text;
  const auto item = [&](const char* name, std::uint64_t n) {
    if (n) text += (text.empty() ? "" : ", ") + (name + (" " + grouped(n)));
  };
  item("fma f32", c.fma_f32);
  item("fma f64", c.fma_f64);
  item("fma f16", c.fma_f16);
  item("mad int", c.mad_int);
  for (const auto& [type, ops] : c.tensor_ops) item(("tensor " + type).c_str(), ops);
  item("barriers", c.block_barriers);
  return text;
}

}  // namespace

KernelTotals::KernelTotals(const LaunchReport& first)
    : kernel_(first.kernel), grid_(first.grid), block_(first.block), registers_(first.registers) {}

void KernelTotals::add(const LaunchReport& launch) {
  ++launches_;
  one_shape_ = one_shape_ && launch.grid == grid_ && launch.block == block_;
  shared_bytes_ = std::max(shared_bytes_, launch.static_shared_bytes + launch.dynamic_shared_bytes);
  total_ += launch.total;
  for (const LineCounts& line : launch.lines) lines_[line.where] += line.counts;
}

void KernelTotals::print(std::FILE* out, bool by_line) const {
  std::fprintf(out, "%s\n", kernel_.c_str());
  std::fprintf(out, "  %" PRIu64 " launch%s, ", launches_, launches_ == 1 ? "" : "es");
  if (one_shape_) {
    std::fprintf(out, "grid %s blocks of %s threads", extent(grid_).c_str(),
                 extent(block_).c_str());
  } else {
    std::fprintf(out, "grids and blocks of several sizes");
  }
  if (shared_bytes_) std::fprintf(out, ", %u bytes of shared memory", shared_bytes_);
  std::fprintf(out, "\n  registers %u per thread (estimate), occupancy %.0f %%\n",
               registers_.allocated, 100 * registers_.occupancy);
  const std::string arithmetic = arithmetic_of(total_);
  std::fprintf(out, "  thread instructions %s%s%s\n", grouped(total_.thread_instructions).c_str(),
               arithmetic.empty() ? "" : ", ", arithmetic.c_str());
  print_traffic(out, total_);
  if (by_line) print_lines(out);
}

void KernelTotals::print_lines(std::FILE* out) const {
  std::fprintf(out, "  %-20s %-14s %13s %13s %13s\n", "line", "", "requests", "cost", "ideal");
  for (const auto& [where, counts] : lines_) {
    const std::string at = place(where);
    for (const Traffic& t : traffic_of(counts)) {
      std::fprintf(out, "  %-20s %-14s %13s %13s %13s\n", at.c_str(), t.name,
                   grouped(t.requests).c_str(), grouped(t.cost).c_str(), grouped(t.ideal).c_str());
    }
    const std::string arithmetic = arithmetic_of(counts);
    if (!arithmetic.empty()) std::fprintf(out, "  %-20s %s\n", at.c_str(), arithmetic.c_str());
  }
}

void ProgramReport::add(const LaunchReport& launch) {
  ++launches_;
  const auto known = std::find_if(kernels_.begin(), kernels_.end(),
                                  [&](const KernelTotals& k) { return k.name() == launch.kernel; });
  if (known != kernels_.end()) return known->add(launch);
  kernels_.emplace_back(launch).add(launch);
}

void ProgramReport::print(std::FILE* out, bool by_line) const {
  for (const KernelTotals& kernel : kernels_) kernel.print(out, by_line);
  std::fprintf(out, "simgpu: %zu kernel%s, %" PRIu64 " launch%s", kernels_.size(),
               kernels_.size() == 1 ? "" : "s", launches_, launches_ == 1 ? "" : "es");
  std::fputs(by_line ? "; cost: sectors or wavefronts\n" : "\n", out);
  std::fflush(out);
}

}  // namespace simgpu::runtime
