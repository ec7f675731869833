// The backend of `make run` and of ordinary programs: a Device in this process.
//
// Environment:
//   SIMGPU_REPORT=kernels  counts per kernel when the program ends, on stderr;
//                          =lines: and per source line; =json: all counts per launch, as JSON
//   SIMGPU_FINDINGS=file   when the program ends, the number of findings is written there
//   SIMGPU_CHECKS=0        no race, barrier and initialisation checks (bounds always are)
//   SIMGPU_QUIET=1         no findings and no explanations of errors on stderr; error codes remain
//   SIMGPU_THREADS=n       host threads for one launch (default: all)
//   SIMGPU_BUDGET=n        thread instructions after which a launch is stopped (default: 2^36)

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/simgpu/include/cuda_runtime_api.h"
#include "common/simgpu/runtime/backend.hpp"
#include "common/simgpu/runtime/error_texts.hpp"
#include "common/simgpu/runtime/local/causes.hpp"
#include "common/simgpu/runtime/local/kernel_report.hpp"
#include "common/simgpu/runtime/local/print.hpp"
#include "common/simgpu/runtime/status_code.hpp"

namespace simgpu::runtime {
namespace {

constexpr std::size_t kFindingsShown = 32;    ///< per process; the rest is counted
constexpr std::size_t kReportsKept = 100000;  ///< for SIMGPU_REPORT=json

bool environment_is(const char* name, const char* value) {
  const char* const set = std::getenv(name);
  return set && std::string(set) == value;
}

/// What SIMGPU_REPORT asks for.
enum class ReportStyle { none, kernels, lines, json };

ReportStyle report_style() {
  const char* const set = std::getenv("SIMGPU_REPORT");
  const std::string style = set ? set : "";
  if (style.empty() || style == "0" || style == "none") return ReportStyle::none;
  if (style == "lines") return ReportStyle::lines;
  if (style == "json") return ReportStyle::json;
  return ReportStyle::kernels;
}

struct Image {
  std::string_view ptx;
  std::optional<ModuleId> module;
  std::optional<cudaError_t> broken;  ///< the text is no PTX that we can use; reported once
};

class LocalBackend final : public Backend {
 public:
  LocalBackend() : style_(report_style()) {
    quiet_ = environment_is("SIMGPU_QUIET", "1");
    options_.checks.rewrites = false;
    if (environment_is("SIMGPU_CHECKS", "0")) options_.checks = {true, false, false, false, false};
    if (const char* const budget = std::getenv("SIMGPU_BUDGET"))
      if (const auto n = std::strtoull(budget, nullptr, 10); n != 0)
        options_.instruction_budget = n;
    if (const char* const threads = std::getenv("SIMGPU_THREADS")) {
      options_.host_threads = static_cast<unsigned>(std::max(0, std::atoi(threads)));
    }
    options_.count = style_ != ReportStyle::none;
    instance = this;
    catch_faults();
    std::atexit([] { instance->finish(); });
  }

  const DeviceModel& model() override { return device_.model(); }

  void add_image(ImageId image, std::string_view ptx) override { images_[image].ptx = ptx; }

  cudaError_t allocate(std::size_t bytes, DevicePtr& ptr) override {
    return guarded([&] {
      ptr = device_.alloc(bytes, "allocation " + std::to_string(++allocations_));
      not_freed_[ptr] = bytes;
    });
  }
  cudaError_t release(DevicePtr ptr) override {
    return guarded([&] {
      device_.free(ptr);
      not_freed_.erase(ptr);
    });
  }
  cudaError_t copy_in(DevicePtr dst, const void* src, std::size_t bytes) override {
    return guarded([&] { device_.write(dst, {static_cast<const std::byte*>(src), bytes}); });
  }
  cudaError_t copy_out(void* dst, DevicePtr src, std::size_t bytes,
                       std::size_t element_align) override {
    return guarded([&] {
      device_.read({static_cast<std::byte*>(dst), bytes}, src);
      if (options_.checks.init && !device_.is_initialised(src, bytes))
        show_unwritten(src, bytes, element_align);
    });
  }
  cudaError_t copy(DevicePtr dst, DevicePtr src, std::size_t bytes) override {
    return guarded([&] { device_.copy(dst, src, bytes); });
  }
  cudaError_t fill(DevicePtr dst, std::uint8_t value, std::size_t bytes) override {
    return guarded([&] { device_.fill(dst, std::byte{value}, bytes); });
  }
  bool find(DevicePtr ptr, DevicePtr& base, std::uint64_t& bytes) override {
    const auto found = device_.find(ptr);
    if (!found) return false;
    base = found->base;
    bytes = found->bytes;
    return true;
  }
  cudaError_t memory_info(std::uint64_t& free_bytes, std::uint64_t& total_bytes) override {
    total_bytes = device_.model().global_bytes;
    free_bytes = total_bytes - std::min<std::uint64_t>(total_bytes, device_.bytes_in_use());
    return cudaSuccess;
  }

  cudaError_t kernel_info(const KernelName& kernel, KernelInfo& info) override {
    return with_module(kernel.image, [&](ModuleId module) {
      auto found = device_.kernel(module, kernel.mangled);
      if (!found) {
        throw DeviceError(Status::invalid_device_function,
                          "the program has no device code for " + kernel.mangled);
      }
      info = std::move(*found);
    });
  }
  cudaError_t variable(ImageId image, const std::string& mangled, DevicePtr& ptr,
                       std::uint64_t& bytes) override {
    const cudaError_t error = with_module(image, [&](ModuleId module) {
      std::size_t size = 0;
      ptr = device_.variable(module, mangled, &size);
      bytes = size;
    });
    if (error == cudaSuccess && ptr == 0) {
      // Seen with clang 14 to 16; 19 and later keep such variables.
      why_ = "the compiler left the variable " + mangled +
             " out: no kernel uses it, or it stands in an unnamed namespace (write static instead)";
      return cudaErrorInvalidSymbol;
    }
    return error;
  }
  cudaError_t set_max_dynamic_shared(const KernelName& kernel, unsigned bytes) override {
    return with_module(kernel.image, [&](ModuleId module) {
      device_.set_max_dynamic_shared(module, kernel.mangled, bytes);
    });
  }

  cudaError_t launch(const KernelName& kernel, Dim3 grid, Dim3 block, Dim3 cluster,
                     unsigned shared_bytes, std::span<const std::byte> args) override {
    // After a fault the device is lost, though the program has yet to hear of it.
    if (fault_ != cudaSuccess) return cudaSuccess;
    flush_output();
    return with_module(kernel.image, [&](ModuleId module) {
      LaunchOptions options = options_;
      options.cluster = cluster;
      options.earlier = std::exchange(options_.earlier, {});
      LaunchReport report =
          device_.launch(module, kernel.mangled, grid, block, shared_bytes, args, options);
      output_ += report.printf_output;
      touched_ = std::move(report.touched);
      grid_control_ = report.grid_control;
      put_causes_first(report.findings);
      show_new(report.findings);
      fault_ = static_cast<cudaError_t>(fault_of(report));
      if (style_ == ReportStyle::json) {
        if (reports_.size() < kReportsKept) reports_.push_back(std::move(report));
      } else if (style_ != ReportStyle::none) {
        totals_.add(report);
      }
    });
  }

  void begins_early(EarlierKernel earlier) override {
    options_.earlier.push_back(std::move(earlier));
  }
  void note_touched(bool wanted) override { options_.note_touched = wanted; }
  std::vector<TouchedBytes> touched() override { return std::exchange(touched_, {}); }
  GridControl grid_control() override { return std::exchange(grid_control_, {}); }

  cudaError_t synchronize() override {
    flush_output();
    return fault_;
  }

  cudaError_t reset() override {
    flush_output();
    fault_ = cudaSuccess;
    device_ = Device(device_.model());
    not_freed_.clear();
    for (auto& [id, image] : images_) image.module.reset();
    return cudaSuccess;
  }

  void note_unsupported(std::string_view call, std::string_view why) override {
    if (quiet_ || !told_.insert(std::string(call)).second) return;
    std::fprintf(stderr, "simgpu: %.*s is not available on the simulated GPU: %.*s\n",
                 static_cast<int>(call.size()), call.data(), static_cast<int>(why.size()),
                 why.data());
  }

  bool takes_findings() const override { return true; }
  void note_finding(std::string_view what) override {
    ++findings_;
    if (quiet_) return;
    std::fflush(stdout);
    std::fprintf(stderr, "simgpu: %.*s\n", static_cast<int>(what.size()), what.data());
  }

  void note_error(std::string_view call, cudaError_t error, std::string_view why,
                  ErrorCause) override {
    std::string reason = why.empty() ? std::exchange(why_, {}) : std::string(why);
    why_.clear();
    if (quiet_) return;
    std::string text = "simgpu: " + std::string(call) + " returns " + error_name(error) + " (" +
                       error_text(error) + ")";
    if (!reason.empty()) text += ": " + reason;
    text += '\n';
    if (!told_.insert(text).second) return;
    std::fputs(text.c_str(), stderr);
  }

 private:
  /// Runs `action`, turning what Device throws into an error code and the reason for `note_error`.
  template <typename Action>
  cudaError_t guarded(Action&& action) {
    try {
      action();
      return cudaSuccess;
    } catch (const DeviceError& error) {
      why_ = error.what();
      return code_of(error.status);
    } catch (const std::bad_alloc&) {
      why_ = "the host has not that much memory";
      return cudaErrorMemoryAllocation;
    }
  }

  /// simcc appends a second text to some files: the same code, with marks.
  ModuleId load(std::string_view ptx) {
    constexpr std::string_view kSecond = "\n//simgpu: once more, with marks\n";
    const std::size_t end = ptx.find(kSecond);
    const bool once = end == std::string_view::npos;
    return device_.load_module(
        std::string(ptx.substr(0, end)), false,
        once ? std::string() : std::string(ptx.substr(end + kSecond.size())));
  }

  template <typename Action>
  cudaError_t with_module(ImageId id, Action&& action) {
    Image& image = images_[id];
    if (image.broken) return *image.broken;
    if (!image.module) {
      if (image.ptx.empty()) {
        why_ = "the program was linked without its device code";
        return cudaErrorNoKernelImageForDevice;
      }
      try {
        image.module = load(image.ptx);
      } catch (const ptx::ParseError& error) {
        image.broken = error.unsupported ? cudaErrorNotSupported : cudaErrorInvalidPtx;
        why_ = error.what();
        return *image.broken;
      }
    }
    return guarded([&] { action(*image.module); });
  }

  /// Of a launch. What the same lines did in an earlier one has been told.
  void show_new(const std::vector<Finding>& findings) {
    const auto at = [](const Access& a) { return place(a.where) + '|' + a.object; };
    std::vector<std::string> keys;
    for (const Finding& f : findings) {
      keys.push_back(std::string(to_string(f.kind)) + '|' + f.kernel + '|' + at(f.at) + '|' +
                     (f.other ? at(*f.other) : std::string()));
      if (seen_.contains(keys.back()))
        ++repeated_;
      else
        show(f);
    }
    seen_.insert(keys.begin(), keys.end());
  }
  void show(const Finding& finding) {
    if (!is_estimate(finding.kind)) ++findings_;
    if (quiet_) return;
    if (shown_ == kFindingsShown) {
      ++hidden_;
      return;
    }
    ++shown_;
    std::fflush(stdout);
    std::fprintf(stderr, "simgpu: %s", describe(finding).c_str());
  }

  /// Host code that follows a device pointer ends the program: what is known by then is told, and
  /// the instruction faults once more, now without us.
  static void catch_faults() {
    struct sigaction before = {}, ours = {};
    sigaction(SIGSEGV, nullptr, &before);
    if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) return;
    ours.sa_sigaction = [](int, siginfo_t* info, void*) {
      // What was interrupted may hold a lock that the report needs, of malloc() or stdio: then the
      // program ends without one.
      alarm(2);
      instance->tell_fault(reinterpret_cast<std::uintptr_t>(info->si_addr));
    };
    ours.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
    sigaction(SIGSEGV, &ours, nullptr);
  }
  void tell_fault(std::uintptr_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%" PRIxPTR, address);
    if (const auto memory = device_.find(address))
      note_finding("host code follows a pointer to " + memory->label + "+" +
                   std::to_string(address - memory->base) +
                   ", which is memory of the device: copy it with cudaMemcpy first");
    else if (!quiet_)
      std::fprintf(stderr, "simgpu: the program ends by a fault: it touches address %s\n", text);
    finish();
  }

  /// A copy to the host of bytes that neither a kernel nor a copy has written: each allocation once.
  void show_unwritten(DevicePtr src, std::size_t bytes, std::size_t element_align) {
    const auto allocation = device_.find(src);
    if (!allocation || !unwritten_told_.insert(allocation->base).second) return;
    const Unwritten u = find_unwritten(src, bytes, element_align);
    if (u.is_padding) return;
    ++findings_;
    if (quiet_) return;
    std::fflush(stdout);
    std::fprintf(
        stderr,
        "simgpu: cudaMemcpy to the host: uninitialised read: %s of %s bytes copied from %s "
        "were never written, the first at byte %s\n",
        grouped(u.count).c_str(), grouped(bytes).c_str(), allocation->label.c_str(),
        grouped(src - allocation->base + u.first).c_str());
  }

  struct Unwritten {
    std::size_t count = 0, first = 0;
    /// Gaps that come back every few bytes, as between a struct's members, or that are too small for the
    /// elements stored beside them: 4 bytes behind an int, in a place for the double of another member.
    bool is_padding = false;
  };
  Unwritten find_unwritten(DevicePtr src, std::size_t bytes, std::size_t element_align) const {
    constexpr std::size_t kLongestStruct = 256;
    const std::vector<std::uint8_t> by = device_.written_by(src, bytes);
    const std::size_t widest = *std::max_element(by.begin(), by.end());
    Unwritten u;
    std::size_t gaps = 0, gap = 0, written = 0, longest_gap = 0, longest_written = 0;
    bool within_places = true;
    for (std::size_t i = 0; i < bytes; ++i) {
      const bool is = by[i] != 0;
      if (!is && u.count++ == 0) u.first = i;
      gaps += !is && gap == 0;
      gap = is ? 0 : gap + 1;
      written = is ? written + 1 : 0;
      longest_gap = std::max(longest_gap, gap);
      longest_written = std::max(longest_written, written);
      within_places = within_places && (is || has_neighbour(by, src, i, widest));
    }
    u.is_padding = ends_elements(by, src, element_align) ||
                   (gaps > 1 && longest_gap < 16 && longest_written < kLongestStruct) ||
                   (widest > 1 && within_places);
    return u;
  }
  /// Whether every gap is shorter than the alignment of an element and ends where an element may begin: it is
  /// then the tail of a struct that is aligned to more than its members need.
  static bool ends_elements(const std::vector<std::uint8_t>& by, DevicePtr src,
                            std::size_t element_align) {
    std::size_t gap = 0;
    for (std::size_t i = 0; i <= by.size(); ++i) {
      const bool end = i == by.size() || by[i] != 0;
      if (end && gap != 0 && (gap >= element_align || (src + i) % element_align != 0)) return false;
      gap = end ? 0 : gap + 1;
    }
    return element_align > 1;
  }
  /// Byte `i` lies in a place for an element of `widest` bytes: whether any byte of that place is written.
  static bool has_neighbour(const std::vector<std::uint8_t>& by, DevicePtr src, std::size_t i,
                            std::size_t widest) {
    const std::size_t in = (src + i) % std::max<std::size_t>(widest, 1);
    const std::size_t first = i - std::min(i, in), end = std::min(i - in + widest, by.size());
    return std::any_of(by.begin() + static_cast<std::ptrdiff_t>(first),
                       by.begin() + static_cast<std::ptrdiff_t>(end),
                       [](std::uint8_t b) { return b != 0; });
  }

  /// Kernel output appears when the program waits for the device or launches again, as on hardware.
  void flush_output() {
    if (output_.empty()) return;
    std::fwrite(output_.data(), 1, output_.size(), stdout);
    output_.clear();
  }

  void finish() {
    std::fflush(stdout);  // what the program printed comes before what is said about it
    if (!quiet_ && !output_.empty()) {
      std::fprintf(stderr,
                   "simgpu: output of kernels was lost: the program ended without waiting for them "
                   "(cudaDeviceSynchronize)\n");
    }
    if (!quiet_ && fault_ != cudaSuccess && !told_fault()) {
      std::fprintf(stderr,
                   "simgpu: a kernel failed with %s (%s) and the program ended without noticing\n",
                   error_name(fault_), error_text(fault_));
    }
    if (!quiet_ && hidden_) {
      std::fprintf(stderr, "simgpu: %" PRIu64 " more findings not shown\n", hidden_);
    }
    if (!quiet_ && repeated_)
      std::fprintf(stderr,
                   "simgpu: later launches had the same findings, %" PRIu64 " times in all\n",
                   repeated_);
    if (style_ == ReportStyle::json) {
      print_json(stderr, reports_);
    } else if (style_ != ReportStyle::none) {
      totals_.print(stderr, style_ == ReportStyle::lines);
      show_not_freed();
    }
    write_findings();
  }

  /// No finding: the system takes the memory back when a program ends.
  void show_not_freed() const {
    if (quiet_ || not_freed_.empty()) return;
    std::uint64_t bytes = 0;
    for (const auto& [ptr, size] : not_freed_) bytes += size;
    const std::size_t n = not_freed_.size();
    std::fprintf(stderr, "simgpu: %zu allocation%s of %s bytes %s never freed\n", n,
                 n == 1 ? "" : "s", grouped(bytes).c_str(), n == 1 ? "was" : "were");
  }

  void write_findings() const {
    const char* const path = std::getenv("SIMGPU_FINDINGS");
    if (!path) return;
    if (std::FILE* const file = std::fopen(path, "w")) {
      std::fprintf(file, "%" PRIu64 "\n", findings_);
      std::fclose(file);
    }
  }

  bool told_fault() const {
    const std::string name = error_name(fault_);
    return std::any_of(told_.begin(), told_.end(), [&](const std::string& text) {
      return text.find(name) != std::string::npos;
    });
  }

  static inline LocalBackend* instance = nullptr;

  Device device_;
  std::map<ImageId, Image> images_;
  LaunchOptions options_;
  ReportStyle style_;
  bool quiet_ = false;
  cudaError_t fault_ = cudaSuccess;    ///< what the device died of
  std::string why_;                    ///< reason of the last failure
  std::string output_;                 ///< of kernels, not yet written
  std::vector<TouchedBytes> touched_;  ///< by the last launch
  GridControl grid_control_;           ///< the same
  std::vector<LaunchReport> reports_;  ///< ReportStyle::json
  ProgramReport totals_;               ///< the other styles
  std::set<std::string> told_, seen_;
  std::set<DevicePtr> unwritten_told_;
  std::map<DevicePtr, std::size_t> not_freed_;
  std::uint64_t allocations_ = 0, hidden_ = 0, findings_ = 0, repeated_ = 0;
  std::size_t shown_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_backend() {
  return std::make_unique<LocalBackend>();
}

}  // namespace simgpu::runtime
