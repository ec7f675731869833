// The rows of instructions.inc: each runs with every type that it has lanes for, and each has a test
// of what it computes.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

struct Instruction {
  std::string_view id, text;
};
struct Operation {
  std::string_view id, of, when, second, operands, lanes;
};
constexpr Instruction kInstructions[] = {
#define INSTRUCTION(id, text, ...) {#id, text},
#include "common/simgpu/instructions.inc"
};
#define TEXT(...) #__VA_ARGS__
constexpr Operation kOperations[] = {
#define OPERATION(id, of, when, second, operands, category, lanes, ...) \
  {#id, #of, when, #second, operands, TEXT(lanes)},
#include "common/simgpu/instructions.inc"
};
constexpr std::string_view kComparisons[] = {
#define COMPARISON(id, ...) #id,
#include "common/simgpu/instructions.inc"
};

std::string text_of(std::string_view id) {
  for (const Instruction& i : kInstructions)
    if (i.id == id) return std::string(i.text);
  return "";
}
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  if (words.back().empty()) words.pop_back();
  return words;
}
/// "I32" of LANES(...) as PTX writes it; logic and selections work on untyped bits.
std::vector<std::string> types_of(const Operation& row) {
  std::vector<std::string> types;
  for (std::string lane : words_of(row.lanes)) {
    if (lane == "LANES") continue;
    if (lane == "P") lane = "pred";
    std::transform(lane.begin(), lane.end(), lane.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (lane[0] == 'i') lane[0] = 's';
    types.push_back(lane);
  }
  return types;
}

unsigned bits_of(const std::string& type) {
  if (type == "pred") return 1;
  if (type.ends_with("x2")) return 32;
  return static_cast<unsigned>(std::stoul(type.substr(type.find_first_of("0123456789"))));
}

/// One kernel that executes `opcode` with operands of the row's widths, of registers that hold 0, 1, ...
std::string kernel(const std::string& opcode, const Operation& row, const std::string& type) {
  std::string declared, prepared, operands;
  for (std::size_t k = 0; 3 * k < row.operands.size(); ++k) {
    const char width = row.operands[3 * k + 1];
    unsigned bits = width == 'T' ? bits_of(type) : width == 'W' ? 2 * bits_of(type) : 32;
    if (width == '1') bits = 1;
    const std::string name = "%v" + std::to_string(k);
    operands += k == 0 ? "" : ", ";
    if (row.operands[3 * k] == 'i') {
      operands += "150";
      continue;
    }
    operands += name;
    declared +=
        "  .reg ." + (bits == 1 ? "pred " : "b" + std::to_string(bits) + " ") + name + ";\n";
    prepared += bits == 1 ? "  setp.ne.u32 " + name + ", %tid.x, 3;\n"
                          : "  mov.b" + std::to_string(bits) + " " + name + ", " +
                                std::to_string(k + 1) + ";\n";
  }
  return ".visible .entry k()\n{\n" + declared + prepared + "  " + opcode + " " + operands +
         ";\n  ret;\n}\n";
}

std::string problem_of(const std::string& opcode, const Operation& row, const std::string& type) {
  try {
    Gpu gpu(ptx_module(kernel(opcode, row, type)));
    return to_text(gpu.run("k", {1, 1, 1}, {32, 1, 1}).findings);
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST_CASE("every row of instructions.inc runs with every type of its lanes", "[opcode][rows]") {
  std::size_t runs = 0;
  for (const Operation& row : kOperations) {
    for (const std::string& type : types_of(row)) {
      std::string suffixes, why = "no form";
      for (const std::string& word : words_of(row.when)) suffixes += "." + word;
      const std::string second = row.second == "none" ? "" : "." + std::string(row.second);
      // Some instructions need a rounding, some a half of the product, some are of untyped bits.
      for (const char* needs : {"", ".rn", ".approx", ".lo"})
        for (const std::string& spelled : {type, "b" + std::to_string(bits_of(type))})
          if (!why.empty())
            why =
                problem_of(text_of(row.of) + needs + suffixes + "." + spelled + second, row, type);
      CAPTURE(std::string(row.id), type, why);
      CHECK(why.empty());
      ++runs;
    }
  }
  CHECK(runs > 200);
}

/// Whether a string literal of the tests begins as an opcode with all of `words` does. Tests put some
/// together ("setp." + name), so a literal may end after a dot.
bool is_checked(const std::vector<std::string>& literals, const std::string& text,
                const std::vector<std::string>& words) {
  return std::any_of(literals.begin(), literals.end(), [&](const std::string& literal) {
    const auto at = literal.find(text);
    if (at == std::string::npos || (at != 0 && literal[at - 1] != ' ')) return false;
    const std::string rest = literal.substr(at + text.size());
    if (!rest.empty() && rest[0] != '.') return false;
    const std::vector<std::string> found = words_of(rest);
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(found.begin(), found.end(), word) != found.end();
    });
  });
}

TEST_CASE("every row of instructions.inc has a test of what it computes", "[opcode][rows]") {
  std::vector<std::string> literals;
  for (const auto& entry : std::filesystem::directory_iterator("common/simgpu/tests")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("opcode_") || !name.ends_with("_test.cpp")) continue;
    const std::string text = read_text(entry.path().string());
    for (std::size_t open = text.find('"'); open != std::string::npos;) {
      const std::size_t close = text.find('"', open + 1);
      if (close == std::string::npos) break;
      literals.push_back(text.substr(open + 1, close - open - 1));
      open = text.find('"', close + 1);
    }
  }
  REQUIRE(literals.size() > 300);
  for (const Operation& row : kOperations) {
    CAPTURE(std::string(row.id));
    CHECK(is_checked(literals, text_of(row.of), words_of(row.when)));
  }
  for (const std::string_view name : kComparisons) {
    CAPTURE(std::string(name));
    const bool by_name = std::find(literals.begin(), literals.end(), name) != literals.end();
    CHECK((by_name || is_checked(literals, "setp", {std::string(name)})));
  }
  CHECK_FALSE(is_checked(literals, "add", {"nosuchword"}));
}

}  // namespace
}  // namespace simgpu::test
