// Binds the harness to Catch2, and tests what the other tests lean on.
#include "common/simgpu/tests/harness.hpp"
#include "common/catch2.hpp"

namespace simgpu::test {
namespace {

const bool bound = [] {
  fail = [](const std::string& message) { FAIL_CHECK(message); };
  passed = [] { SUCCEED(); };
  return true;
}();

TEST_CASE("a form with a wrong reference fails", "[harness]") {
  std::string message;
  static std::string* sink = &message;
  const auto bound_fail = fail;
  sink = &message;
  fail = [](const std::string& text) { *sink = text; };
  check("add.u32", [](std::uint32_t a, std::uint32_t b) { return b == 7 ? a : a + b; });
  fail = bound_fail;
  CHECK(message.find("add.u32") == 0);
  CHECK(message.find("expected") != std::string::npos);
}

TEST_CASE("compilers of all tested versions", "[harness]") {
  for (const std::string& name : missing_clangs())
    WARN(name << " is not installed: not tested with");
  INFO("install at least one of clang 14, 16, 19, 22");
  REQUIRE_FALSE(clangs().empty());
  CHECK(clangs().size() + missing_clangs().size() >= 4);
}

}  // namespace
}  // namespace simgpu::test
