// vprintf and __assertfail. Everything the kernel hands over is checked: format and arguments are
// simulated memory.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {
namespace {

constexpr std::size_t kMaxString = 4096;

/// A NUL-terminated string at a generic address; unreadable memory ends it.
std::string read_string(BlockRun& run, const Warp& w, unsigned lane, std::uint64_t address) {
  std::string s;
  while (s.size() < kMaxString) {
    const Target t = resolve(run, w, lane, ptx::Space::generic, address + s.size(), 1, false);
    if (t.fault != Target::Fault::none) return s.empty() ? "(unreadable)" : s;
    if (*t.data == std::byte{0}) break;
    s += static_cast<char>(*t.data);
  }
  return s;
}

std::uint64_t argument(const std::byte* area, std::uint32_t stride, const Call& call, unsigned lane,
                       std::size_t k, const Warp& w) {
  std::uint64_t v = 0;
  if (k >= call.arguments.size()) return 0;
  const Call::Copy& c = call.arguments[k];
  const std::byte* from = c.immediate != kNoRef ? address_of(w, c.immediate) + lane * c.bytes
                                                : area + lane * stride + c.from;
  std::memcpy(&v, from, std::min<std::size_t>(c.bytes, 8));
  return v;
}

/// Formats one conversion with the host's printf, from a specification rebuilt here: only known
/// letters pass.
class Formatter {
 public:
  Formatter(BlockRun& run, const Warp& w, unsigned lane, std::uint64_t arguments)
      : run_(run), w_(w), lane_(lane), at_(arguments) {}

  std::string format(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size() && out.size() < kMaxString; ++i) {
      if (text[i] != '%') {
        out += text[i];
        continue;
      }
      if (i + 1 < text.size() && text[i + 1] == '%') {
        out += '%';
        ++i;
        continue;
      }
      std::size_t k = i + 1;
      std::string spec = "%";
      while (k < text.size() && std::strchr("-+ #0", text[k]) != nullptr) spec += text[k++];
      auto number = [&](unsigned cap) {
        if (k < text.size() && text[k] == '*') {
          ++k;
          spec += std::to_string(std::clamp(static_cast<int>(next(4)), 0, static_cast<int>(cap)));
          return;
        }
        unsigned v = 0;
        bool any = false;
        while (k < text.size() && text[k] >= '0' && text[k] <= '9') {
          v = std::min(cap, v * 10 + static_cast<unsigned>(text[k++] - '0'));
          any = true;
        }
        if (any) spec += std::to_string(v);
      };
      number(256);
      if (k < text.size() && text[k] == '.') {
        spec += text[k++];
        number(256);
      }
      unsigned bytes = 4;
      while (k < text.size() && std::strchr("hljztL", text[k]) != nullptr) {
        if (text[k] == 'l' || text[k] == 'j' || text[k] == 'z' || text[k] == 't') bytes = 8;
        ++k;
      }
      const char letter = k < text.size() ? text[k] : '\0';
      out += convert(spec, letter, bytes);
      i = k;
    }
    return out;
  }

 private:
  std::string convert(std::string spec, char letter, unsigned bytes) {
    char buffer[1024];
    switch (letter) {
      case 'd':
      case 'i': {
        const std::uint64_t v = next(bytes);
        spec += "lld";
        std::snprintf(buffer, sizeof buffer, spec.c_str(),
                      bytes == 8 ? static_cast<long long>(v)
                                 : static_cast<long long>(static_cast<std::int32_t>(v)));
        return buffer;
      }
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        spec += std::string("ll") + letter;
        std::snprintf(buffer, sizeof buffer, spec.c_str(),
                      static_cast<unsigned long long>(next(bytes)));
        return buffer;
      case 'c':
        spec += 'c';
        std::snprintf(buffer, sizeof buffer, spec.c_str(), static_cast<int>(next(4) & 0xff));
        return buffer;
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        spec += letter;
        std::snprintf(buffer, sizeof buffer, spec.c_str(), std::bit_cast<double>(next(8)));
        return buffer;
      }
      case 'p': {
        const auto pointer = static_cast<unsigned long long>(next(8));
        if (pointer == 0) return "(nil)";  // as CUDA 13 prints it
        std::snprintf(buffer, sizeof buffer, "0x%llx", pointer);
        return buffer;
      }
      case 's': {
        const std::string s = read_string(run_, w_, lane_, next(8));
        spec += 's';
        std::snprintf(buffer, sizeof buffer, spec.c_str(), s.c_str());
        return buffer;
      }
      default:
        return letter == '\0'
                   ? "%"
                   : std::string("%") + letter;  // %n and the unknown are shown, not obeyed
    }
  }

  std::uint64_t next(unsigned bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    std::uint64_t v = 0;
    const Target t = resolve(run_, w_, lane_, ptx::Space::generic, at_, bytes, false);
    if (t.fault == Target::Fault::none) std::memcpy(&v, t.data, bytes);
    at_ += bytes;
    return v;
  }

  BlockRun& run_;
  const Warp& w_;
  unsigned lane_;
  std::uint64_t at_;
};

}  // namespace

void call_vprintf(Warp& w, const std::byte* arguments, std::uint32_t stride, const Call& call,
                  std::uint32_t mask, std::uint32_t) {
  BlockRun& run = *w.run;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((mask >> i) & 1u) == 0) continue;
    if (run.worker->printed_bytes >= kPrintfCap) return;
    const std::string format = read_string(run, w, i, argument(arguments, stride, call, i, 0, w));
    const std::string text =
        Formatter(run, w, i, argument(arguments, stride, call, i, 1, w)).format(format);
    run.worker->printed_bytes += text.size();
    run.printed += text;
  }
}

void call_assertfail(Warp& w, const std::byte* arguments, std::uint32_t stride, const Call& call,
                     std::uint32_t mask, std::uint32_t pc) {
  BlockRun& run = *w.run;
  const unsigned lane = static_cast<unsigned>(std::countr_zero(mask));
  const std::string message =
      read_string(run, w, lane, argument(arguments, stride, call, lane, 0, w));
  const std::string file = read_string(run, w, lane, argument(arguments, stride, call, lane, 1, w));
  const auto line = static_cast<std::uint32_t>(argument(arguments, stride, call, lane, 2, w));
  Access at = describe(run, {pc, w.index, lane, AccessType::load, MemorySpace::global, 0, 0});
  if (at.where.line == 0) at.where = {file, line};
  add_finding(run, FindingKind::assertion, pc, UINT32_MAX, at, std::nullopt,
              message + " (" + file + ":" + std::to_string(line) + ")");
  abort_launch(run);
}

void call_forget(Warp& w, std::byte* arguments, std::uint32_t stride, const Call& call,
                 std::uint32_t mask) {
  BlockRun& run = *w.run;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((mask >> i) & 1u) == 0) continue;
    const std::uint64_t at = argument(arguments, stride, call, i, 0, w);
    const std::uint64_t bytes = argument(arguments, stride, call, i, 1, w);
    const Target t = resolve(run, w, i, ptx::Space::generic, at, 1, false);
    if (t.fault != Target::Fault::none || t.allocation == nullptr || t.initialised == nullptr)
      continue;
    memory::Allocation& a = *t.allocation;
    // A program may call these with any numbers. malloc's bytes begin behind its header.
    const std::uint64_t header = call.function == kLend ? memory::kHeapGrain : 0;
    const std::uint64_t room = a.size - t.offset;
    if (a.lent == nullptr || room < header || bytes > room - header) continue;
    prepare_write(*run.launch, a);
    std::uint8_t* grain = a.lent.get() + t.offset / memory::kHeapGrain;
    if (call.function == kForget) {
      std::memset(t.initialised, 0, bytes);
      std::memset(grain, 0, bytes / memory::kHeapGrain);
      continue;
    }
    *grain++ = memory::kHeapHeader;
    for (std::uint64_t left = bytes; left > 0; left -= std::min(left, memory::kHeapGrain))
      *grain++ = static_cast<std::uint8_t>(std::min(left, memory::kHeapGrain));
  }
}

void call_math(Warp& w, std::byte* area, std::uint32_t stride, const Call& call,
               std::uint32_t mask) {
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((mask >> i) & 1u) == 0) continue;
    const auto operand = [&](std::size_t k) {
      return std::bit_cast<double>(argument(area, stride, call, i, k, w));
    };
    const double result = call.math->parameters == 1 ? call.math->one(operand(0))
                                                     : call.math->two(operand(0), operand(1));
    std::memcpy(area + i * stride + call.results[0].to, &result, sizeof result);
  }
}

}  // namespace simgpu::exec
