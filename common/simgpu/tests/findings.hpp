// For the tests of findings: kernels of kernels/findings.cu, and the one finding of a report.
#pragma once

#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test::findings {

using u32 = std::uint32_t;

inline const std::string kFile = "findings.cu";

inline std::vector<Clang> oldest_and_newest() {
  if (clangs().size() <= 2) return clangs();
  return {clangs().front(), clangs().back()};
}

inline bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

inline std::vector<Finding> of_kind(const LaunchReport& report, FindingKind kind) {
  std::vector<Finding> some;
  for (const Finding& f : report.findings) {
    if (f.kind == kind) some.push_back(f);
  }
  return some;
}

// The only finding of the report; a default one (after a failed check) otherwise.
inline Finding only(const LaunchReport& report, FindingKind kind) {
  INFO(to_text(report.findings));
  CHECK(report.findings.size() == 1);
  if (report.findings.empty()) return {};
  const Finding& f = report.findings.front();
  CHECK(to_string(f.kind) == to_string(kind));
  CHECK_FALSE(f.detail.empty());
  CHECK(f.kernel.find(report.kernel) != std::string::npos);
  return f;
}

inline void at(const Access& access, const std::string& name, const std::string& file = kFile) {
  INFO(to_text(access));
  CHECK(access.where.line == marker(file, name));
  CHECK(ends_with(access.where.file, file));
}

/// What one block of `threads` threads of `kernel` does wrong: one thing, at the line that is
/// marked with the kernel's name.
template <typename... A>
Finding found(Gpu& gpu, FindingKind kind, const std::string& kernel, unsigned threads,
              const A&... args) {
  const Finding f = only(gpu.run(kernel, {1, 1, 1}, {threads, 1, 1}, args...), kind);
  at(f.at, kernel);
  return f;
}

#define FOR_EACH_CLANG(gpu)                      \
  for (const Clang& clang : oldest_and_newest()) \
    for (Gpu gpu(compile(kFile, clang)), *once = &gpu; once != nullptr; once = nullptr)

}  // namespace simgpu::test::findings
