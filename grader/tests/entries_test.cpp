// What the table of a runner's functions is made from, and how a runner is linked.
#include "grader/compile/entries.hpp"
#include "common/catch2.hpp"
#include "grader/labs/lab.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;

TEST_CASE("the symbols of an object are those that it defines for others, by name") {
  const std::vector<Symbol> symbols = defined_symbols(
      "\nSymbol table '.symtab' contains 6 entries:\n"
      "   Num:    Value          Size Type    Bind   Vis      Ndx Name\n"
      "     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND \n"
      "     1: 0000000000000000     0 FILE    LOCAL  DEFAULT  ABS gemm.cu\n"
      "     2: 0000000000000000    24 FUNC    LOCAL  DEFAULT    2 _ZL5localv\n"
      "     3: 0000000000000010    24 FUNC    GLOBAL DEFAULT    2 suspects\n"
      "     4: 0000000000000000     0 NOTYPE  GLOBAL DEFAULT  UND cudaLaunchKernel\n"
      "     5: 0000000000000000   203 FUNC    WEAK   DEFAULT    5 _Z1fIiEvT_\n"
      "     6: 0000000000000000     3 FUNC    GLOBAL DEFAULT    5 two words\n"
      "     7: 0000000000000000     3 FUNC    GLOBAL DEFAULT    5 odd;name\n"
      "     8: 0000000000000000     0 FUNC    GLOBAL DEFAULT    5 \n");
  REQUIRE(symbols.size() == 2);
  CHECK(symbols[0].mangled == "_Z1fIiEvT_");
  CHECK(symbols[0].demangled == "void f<int>(int)");
  CHECK(symbols[1].mangled == "suspects");
}

TEST_CASE("a symbol that would fill the memory is listed as it is") {
  // Each type is the one before it twice: written out, the name has 2^34 characters.
  std::string doubles = "_Z1fI4pairIiiE";
  for (const char c : std::string("123456789ABCDEFGHIJKLMNOPQRSTUV"))
    doubles += std::string("S0_IS") + c + "_S" + c + "_E";
  doubles += "Evv";
  const std::vector<Symbol> symbols = defined_symbols(
      "     3: 0000000000000010    24 FUNC    GLOBAL DEFAULT    2 " + doubles + "\n");
  REQUIRE(symbols.size() == 1);
  CHECK(symbols[0].demangled == doubles);
}

TEST_CASE("symbols are not listed by what loads the plugins of all linkers") {
  CHECK(symbol_lister("a.o").front() == "readelf");
}

TEST_CASE("a runner is linked by the quick linker if there is one, and else as well") {
  const test::FixtureProject project;
  const Workplace place{project.root(), project.root() / "build",
                        project.root() / "build/lib/libsimgpu_cudart_remote.a"};
  const Lab lab = discover_labs(place.root).front();
  Toolchain toolchain = probe_clang();
  CHECK(toolchain.quick_linker.empty() == find_program("ld.gold").empty());
  BuildOptions building;
  const auto runner = [&] {
    const Build build = build_lab(
        place, toolchain, lab,
        [](const std::string& file) { return std::filesystem::path("lab6_fixture") / file; },
        building);
    REQUIRE_FALSE(build.runner.empty());
    return read_file(build.runner.path, 64u << 20);
  };
  const auto made_by_gold = [](const std::string& program) {
    return program.find(".note.gnu.gold-version") != std::string::npos;
  };
  CHECK(made_by_gold(runner()) == !toolchain.quick_linker.empty());
  building.hostile = true;
  CHECK_FALSE(made_by_gold(runner()));
  building.hostile = false;
  toolchain.quick_linker = "-fuse-ld=no-such-linker";
  CHECK_FALSE(made_by_gold(runner()));
}
