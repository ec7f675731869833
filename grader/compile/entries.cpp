#include "grader/compile/entries.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "common/simgpu/ptx/names.hpp"
#include "grader/compile/unit.hpp"

namespace grader {

std::vector<std::string> symbol_lister(const std::string& object) {
  return {"readelf", "--wide", "--symbols", object};
}

std::vector<Symbol> defined_symbols(const std::string& listed) {
  std::vector<Symbol> defined;
  std::istringstream stream(listed);
  for (std::string line; std::getline(stream, line);) {
    // "   66: 0000000000000000   203 FUNC    WEAK   DEFAULT    5 _Z10gemm_naive...": number, value, size,
    // type, binding, visibility, section, name.
    std::istringstream columns(line);
    std::vector<std::string> row;
    for (std::string word; row.size() <= 8 && columns >> word;) row.push_back(word);
    if (row.size() != 8 || row[4] == "LOCAL" || row[6] == "UND" || row[6] == "Ndx") continue;
    const std::string& symbol = row[7];
    // An object's symbol may be any text, and this one goes into generated code. No compiler makes
    // another.
    if (!std::all_of(symbol.begin(), symbol.end(), [](unsigned char c) {
          return std::isalnum(c) || c == '_' || c == '.' || c == '$';
        }))
      continue;
    defined.push_back({symbol, simgpu::ptx::written_out(symbol).value_or(symbol)});
  }
  std::sort(defined.begin(), defined.end(),
            [](const Symbol& x, const Symbol& y) { return x.mangled < y.mangled; });
  return defined;
}

std::vector<EntryPoint> match_entries(const Lab& lab, const std::string& file,
                                      const std::vector<Symbol>& defined) {
  std::vector<EntryPoint> entries;
  // A symbol belongs to the entry if it begins with `head` and ends with `tail`.
  const auto add = [&](const std::string& name, const std::string& function,
                       const std::string& type, const std::string& head, const std::string& tail,
                       const std::string& stem) {
    EntryPoint entry;
    entry.name = name;
    entry.function = function;
    entry.type = type;
    for (const auto& [mangled, symbol] : defined) {
      if (symbol.size() >= head.size() + tail.size() && symbol.rfind(head, 0) == 0 &&
          symbol.compare(symbol.size() - tail.size(), tail.size(), tail) == 0)
        entry.symbol = mangled;
      // Device stubs carry the kernel's name, not the launcher's.
      const auto at = symbol.find(stem);
      if (at != std::string::npos && (at == 0 || symbol[at - 1] == ' ') &&
          symbol.find("__device_stub__") == std::string::npos && entry.found.empty())
        entry.found = symbol.substr(0, 200);
    }
    entry.defined = !entry.symbol.empty();
    if (entry.defined) entry.found.clear();
    entries.push_back(std::move(entry));
  };
  for (const auto& rung : lab.rungs) {
    if (rung.file != file) continue;
    for (const auto& type : rung.types) {
      const std::string t = cpp_type(type), out = cpp_result_type(type);
      const std::string parameters = "(MatrixView<" + t + " const>, MatrixView<" + t +
                                     " const>, MatrixView<" + out + ">, CUstream_st*)";
      add(rung.name + "<" + type + ">", rung.name + "<" + t + ">", type, "void " + rung.name + "<",
          ">" + parameters, rung.name);
    }
  }
  for (const auto& stage : lab.stages) {
    if (!stage.answer || lab.rung(stage.rung).file != file) continue;
    const std::string& function = stage.answer->function;
    add(function, function, "", function + "()", "", function + "(");
  }
  return entries;
}

std::string entries_source(const Lab& lab, const std::vector<EntryPoint>& table,
                           const std::string& header, const std::string& main_function) {
  std::ostringstream out;
  out << "// Generated from " << lab.name
      << "/lab.toml: the functions of the lab's files that the judge may call.\n"
         "#include \"common/matrix.hpp\"\n#include \""
      << header << "\"\n\n";
  for (const auto& rung : lab.rungs)
    for (const auto& type : rung.types)
      if (type == "half" || type == "bfloat16") out << "struct " << cpp_type(type) << ";\n";
  // By their symbols: how many parameters a launcher's template has is its own business.
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table[i].defined || table[i].type.empty()) continue;
    const std::string in = "MatrixView<const " + cpp_type(table[i].type) + ">";
    out << "void launcher_" << i << "(" << in << ", " << in << ", MatrixView<"
        << cpp_result_type(table[i].type) << ">, CUstream_st*) __asm__(\"" << table[i].symbol
        << "\");\n";
  }
  for (const auto& stage : lab.stages) {
    if (!stage.answer) continue;
    const std::string& function = stage.answer->function;
    if (stage.answer->measured.empty())
      out << "const char* " << function << "();\n";
    else
      out << "#include <cstdio>\nint " << function << "();\nstatic const char* " << function
          << "_as_text() {\n  static char text[16];\n  const int value = " << function
          << "();\n  if (value == 0) return \"\";\n  std::snprintf(text, sizeof text, \"%d\", "
             "value);\n  return text;\n}\n";
  }
  const auto predicts = [&lab](const std::string& function) {
    return std::any_of(lab.stages.begin(), lab.stages.end(), [&](const Stage& s) {
      return s.answer && s.answer->function == function && !s.answer->measured.empty();
    });
  };
  out << "\nstatic const simgpu::runtime::Entry entries[] = {\n";
  std::size_t count = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const EntryPoint& entry = table[i];
    if (!entry.defined) continue;
    ++count;
    if (!entry.type.empty())
      out << "    simgpu::runtime::launcher<&launcher_" << i << ">(\"" << entry.name << "\"),\n";
    else
      out << "    simgpu::runtime::answer(\"" << entry.name << "\", &" << entry.function
          << (predicts(entry.function) ? "_as_text" : "") << "),\n";
  }
  out << "};\n\nconstexpr std::size_t count = " << count << ";\n" << main_function;
  return out.str();
}

}  // namespace grader
