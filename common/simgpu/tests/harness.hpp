// What every test of the simulated GPU needs: PTX snippets with operands per lane, kernels compiled
// from .cu by every installed clang, and readable comparisons of reports.
//
// No Catch2 in here: harness.cpp records failures through `fail`, which the test program binds to
// it.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/simgpu/device.hpp"

namespace simgpu::test {

// ------------------------------------------------------------------------------------- random
// numbers

/// splitmix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }

 private:
  std::uint64_t state_;
};

// ------------------------------------------------------------------------- one instruction form,
// typed

/// How an operand is held in PTX. Values travel as 64-bit slots, zero-extended.
enum class Reg : std::uint8_t { pred, u16, s16, u32, s32, u64, s64, f32, f64 };

template <typename T>
constexpr Reg reg_of() {
  if constexpr (std::is_same_v<T, bool>) return Reg::pred;
  if constexpr (std::is_same_v<T, std::uint16_t>) return Reg::u16;
  if constexpr (std::is_same_v<T, std::int16_t>) return Reg::s16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return Reg::u32;
  if constexpr (std::is_same_v<T, std::int32_t>) return Reg::s32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return Reg::u64;
  if constexpr (std::is_same_v<T, std::int64_t>) return Reg::s64;
  if constexpr (std::is_same_v<T, float>) return Reg::f32;
  if constexpr (std::is_same_v<T, double>) return Reg::f64;
}

template <typename T>
T from_slot(std::uint64_t slot) {
  if constexpr (std::is_same_v<T, bool>) {
    return slot != 0;
  } else {
    T value;
    std::memcpy(&value, &slot, sizeof value);
    return value;
  }
}
template <typename T>
std::uint64_t to_slot(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else {
    std::uint64_t slot = 0;
    std::memcpy(&slot, &value, sizeof value);
    return slot;
  }
}

/// Reference and exceptions of one form.
struct Form {
  std::string text;  ///< "add.s32", or whole statements with %a %b %c %d in, %x %y out
  std::vector<Reg> in, out;
  std::function<void(const std::uint64_t* in, std::uint64_t* out)> reference;
};

struct FormOptions {
  /// allowed distance for floating results; 0 = same bits (any NaN equals any NaN)
  double ulps = 0;
  std::function<bool(const std::uint64_t* in)>
      accept;                     ///< which operand tuples are defined, empty = all
  bool division_by_zero = false;  ///< a division_by_zero finding is no failure
  unsigned random_tuples = 400;
};

/// Runs the form on edge values and random operands: all lanes, half of the lanes by branch, half
/// of the lanes by guard predicate on untyped registers. Lanes switched off must keep their old
/// results and a clean run must have no findings.
void check_form(const Form& form, const FormOptions& options);

namespace detail {
template <typename T>
struct Results {
  static std::vector<Reg> regs() { return {reg_of<T>()}; }
  static void store(const T& value, std::uint64_t* out) { out[0] = to_slot(value); }
};
template <typename T, typename U>
struct Results<std::pair<T, U>> {
  static std::vector<Reg> regs() { return {reg_of<T>(), reg_of<U>()}; }
  static void store(const std::pair<T, U>& value, std::uint64_t* out) {
    out[0] = to_slot(value.first);
    out[1] = to_slot(value.second);
  }
};
template <typename R, typename... A, std::size_t... I>
Form make_form(std::string text, R (*reference)(A...), std::index_sequence<I...>) {
  return {std::move(text),
          {reg_of<A>()...},
          Results<R>::regs(),
          [reference](const std::uint64_t* in, std::uint64_t* out) {
            Results<R>::store(reference(from_slot<A>(in[I])...), out);
          }};
}
template <typename R, typename... A>
void check_pointer(std::string text, R (*reference)(A...), const FormOptions& options) {
  check_form(make_form(std::move(text), reference, std::index_sequence_for<A...>{}), options);
}
}  // namespace detail

/// check("add.s32", [](int a, int b) { ... }): operand types are read off the lambda.
template <typename Reference>
void check(std::string text, Reference reference, const FormOptions& options = {}) {
  detail::check_pointer(std::move(text), +reference, options);
}

// --------------------------------------------------------------------------------------------
// launches

/// A Device with one module, and typed shorthand for what tests do with it.
class Gpu {
 public:
  explicit Gpu(std::string ptx, DeviceModel model = {}, std::string marked = {});

  template <typename T>
  DevicePtr upload(const std::vector<T>& values, std::string label) {
    const DevicePtr ptr = device.alloc(values.size() * sizeof(T), std::move(label));
    device.write(ptr, std::as_bytes(std::span<const T>(values)));
    return ptr;
  }
  template <typename T>
  std::vector<T> download(DevicePtr ptr, std::size_t count) const {
    std::vector<T> values(count);
    device.read(std::as_writable_bytes(std::span<T>(values)), ptr);
    return values;
  }
  template <typename... A>
  LaunchReport run(std::string_view kernel, Dim3 grid, Dim3 block, unsigned dynamic_shared,
                   const LaunchOptions& options, const A&... args) {
    std::vector<std::pair<const void*, std::size_t>> list;
    (list.emplace_back(&args, sizeof(A)), ...);
    return launch(kernel, grid, block, dynamic_shared, options, list);
  }
  template <typename... A>
  LaunchReport run(std::string_view kernel, Dim3 grid, Dim3 block, const A&... args) {
    return run(kernel, grid, block, 0u, LaunchOptions{}, args...);
  }

  Device device;
  ModuleId module = 0;

 private:
  LaunchReport launch(std::string_view kernel, Dim3 grid, Dim3 block, unsigned dynamic_shared,
                      const LaunchOptions& options,
                      const std::vector<std::pair<const void*, std::size_t>>& args);
};

/// ".version ... .address_size 64" before `body`.
std::string ptx_module(std::string_view body);

// ------------------------------------------------------------------------------------- compiled
// kernels

struct Clang {
  std::string command;  ///< "clang++-14"
  unsigned major = 0;
};
/// Installed compilers among clang++ 14, 16, 19, 22 and plain clang++ (when its version is
/// another).
const std::vector<Clang>& clangs();
/// Arguments with which it compiles device code; the project's root is the working folder.
std::vector<std::string> device_flags(const Clang& clang);
/// Those of the above versions that are not installed (reported by one test, never skipped
/// silently).
const std::vector<std::string>& missing_clangs();

/// PTX of common/simgpu/tests/kernels/`file`, with the project's flags; cached in the build folder.
/// Throws std::runtime_error with the compiler's output when it does not compile.
const std::string& compile(const std::string& file, const Clang& clang);
/// With the first installed compiler.
const std::string& compile(const std::string& file);

/// Line of kernels/`file` that ends in the comment "// @name".
unsigned marker(const std::string& file, std::string_view name);

std::string read_text(const std::string& path);  ///< path from the project root

// ----------------------------------------------------------------------------------------------
// reports

/// Everything in a report, one fact per line: equal text = equal report.
std::string to_text(const LaunchReport& report);
std::string to_text(const Finding& finding);
std::string to_text(const std::vector<Finding>& findings);
std::string to_text(const Access& access);

const LineCounts* at_line(const LaunchReport& report, unsigned line);
const BufferCounts* of_buffer(const LaunchReport& report, std::string_view label);

/// Called by harness.cpp for a mismatch; bound to the test framework in harness_test.cpp.
extern void (*fail)(const std::string& message);
/// Counts comparisons, so that a test without any is visible.
extern void (*passed)();

}  // namespace simgpu::test
