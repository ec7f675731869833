// Reports as text, for the messages of failed checks and for comparing two of them.
#include <algorithm>
#include <sstream>

#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {

namespace {

std::string to_text(const Dim3& d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string to_text(const GlobalCounts& c) {
  return std::to_string(c.requests) + " requests " + std::to_string(c.sectors) + " sectors " +
         std::to_string(c.ideal_sectors) + " ideal " + std::to_string(c.bytes) + " bytes";
}

std::string to_text(const SharedCounts& c) {
  std::ostringstream s;
  s << c.requests << " requests " << c.wavefronts << " wavefronts " << c.ideal_wavefronts
    << " ideal; raw " << c.raw_requests << " " << c.raw_wavefronts << " " << c.raw_ideal_wavefronts
    << "; " << c.bytes << " bytes";
  return s.str();
}

void print(std::ostream& s, const Counts& c) {
  s << "  global load " << to_text(c.global_load) << "\n  global store " << to_text(c.global_store)
    << "\n  global atomic " << to_text(c.global_atomic) << "\n  shared load "
    << to_text(c.shared_load) << "\n  shared store " << to_text(c.shared_store)
    << "\n  shared atomic " << to_text(c.shared_atomic) << "\n  async copy "
    << to_text(c.async_copy) << "\n  async store " << to_text(c.async_store) << "\n  matrix load "
    << to_text(c.matrix_load) << "\n  matrix store " << to_text(c.matrix_store) << "\n  idle "
    << c.async_bytes_idle << " early " << c.async_early.bytes << " " << c.async_early.under_way
    << " " << c.async_early.stages << "\n  local " << c.local_load_requests << " "
    << c.local_store_requests << " constant " << c.constant_words << " instructions "
    << c.warp_instructions << " " << c.thread_instructions << " by class";
  for (const std::uint64_t n : c.thread_instructions_by_class) s << " " << n;
  s << "\n  fma " << c.fma_f32 << " " << c.fma_f64 << " " << c.fma_f16 << " mad " << c.mad_int
    << " mul " << c.mul_f32 << " " << c.mul_f64 << " barriers " << c.barriers << " "
    << c.block_barriers << " alone " << c.wgmma_alone << " " << c.wgmma_groups << "\n";
  for (const auto& [name, n] : c.tensor_ops) s << "  tensor " << name << " " << n << "\n";
}

}  // namespace

std::string to_text(const Access& a) {
  std::ostringstream s;
  s << a.where.file << ":" << a.where.line << " block " << to_text(a.block) << " thread "
    << to_text(a.thread) << " type " << static_cast<int>(a.type) << " space "
    << static_cast<int>(a.space) << " " << a.bytes << " bytes at 0x" << std::hex << a.address
    << std::dec << " '" << a.object << "' + " << a.offset << " of " << a.object_bytes;
  return s.str();
}

std::string to_text(const Finding& f) {
  std::ostringstream s;
  s << to_string(f.kind) << " in " << f.kernel << " at " << to_text(f.at);
  if (f.other) s << " other " << to_text(*f.other);
  s << " x" << f.occurrences << ": " << f.detail;
  return s.str();
}

std::string to_text(const std::vector<Finding>& findings) {
  std::string s;
  for (const Finding& f : findings) s += to_text(f) + "\n";
  return s;
}

std::string to_text(const LaunchReport& r) {
  std::ostringstream s;
  s << r.kernel << " " << r.mangled << " grid " << to_text(r.grid) << " block " << to_text(r.block)
    << " shared " << r.static_shared_bytes << " + " << r.dynamic_shared_bytes << " local "
    << r.local_bytes_per_thread << (r.completed ? " completed" : " stopped") << "\n"
    << to_text(r.findings);
  print(s, r.total);
  for (const LineCounts& line : r.lines) {
    s << line.where.file << ":" << line.where.line << "\n";
    print(s, line.counts);
  }
  for (const BufferCounts& b : r.buffers) {
    s << "buffer '" << b.label << "' 0x" << std::hex << b.base << std::dec << " " << b.bytes
      << " load " << to_text(b.load) << " store " << to_text(b.store) << " atomic "
      << to_text(b.atomic) << " fetched " << to_text(b.fetched) << "\n";
  }
  for (const AccessSample& k : r.samples) {
    s << "sample " << k.where.file << ":" << k.where.line << " type " << int(k.type) << " space "
      << int(k.space) << (k.matrix ? " matrix" : "") << " block " << to_text(k.block) << " warp "
      << k.warp << " bytes " << k.bytes << " mask " << k.mask << " '" << k.object << "' "
      << k.object_address << "+" << k.object_bytes << " cost " << k.cost << "/" << k.ideal << " of "
      << k.requests << " " << k.total_cost << "/" << k.total_ideal << ":";
    for (const std::uint64_t a : k.address) s << " " << a;
    s << "\n";
  }
  s << "registers " << r.registers.live_registers << " at " << r.registers.where.line << " blocks "
    << r.registers.blocks_per_multiprocessor << " occupancy " << r.registers.occupancy << " "
    << r.registers.limiter << "\n"
    << r.printf_output;
  return s.str();
}

const LineCounts* at_line(const LaunchReport& report, unsigned line) {
  for (const LineCounts& l : report.lines) {
    if (l.where.line == line) return &l;
  }
  return nullptr;
}

const BufferCounts* of_buffer(const LaunchReport& report, std::string_view label) {
  for (const BufferCounts& b : report.buffers) {
    if (b.label == label) return &b;
  }
  return nullptr;
}

}  // namespace simgpu::test
