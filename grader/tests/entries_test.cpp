// What the table of a runner's functions is made from.
#include "grader/compile/entries.hpp"
#include "common/catch2.hpp"

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

TEST_CASE("symbols are not listed by what loads the plugins of all linkers") {
  CHECK(symbol_lister("a.o").front() == "readelf");
}
