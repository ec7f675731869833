#include "grader/bench/lines.hpp"

#include <nlohmann/json.hpp>

namespace grader::bench {

std::string by_lines(const nlohmann::ordered_json& document) {
  std::string text = "{";
  const char* comma = "\n";
  for (const auto& [name, value] : document.items()) {
    text += comma + nlohmann::json(name).dump() + ": ";
    comma = ",\n";
    if (!value.is_array() || value.empty() || !value.front().is_structured()) {
      text += value.dump();
      continue;
    }
    const char* next = "[\n";
    for (const auto& one : value) {
      text += next + one.dump();
      next = ",\n";
    }
    text += "\n]";
  }
  return text + "\n}\n";
}

}  // namespace grader::bench
