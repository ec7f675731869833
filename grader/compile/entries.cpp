#include "grader/compile/entries.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>

namespace grader {

std::vector<std::string> defined_symbols(const std::string& nm_output) {
  std::vector<std::string> defined;
  std::istringstream stream(nm_output);
  for (std::string line; std::getline(stream, line);) {
    const auto space = line.rfind(' ');
    if (space == std::string::npos) continue;
    const std::string symbol = line.substr(space + 1);
    int failed = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed), &std::free);
    defined.push_back(failed == 0 ? name.get() : symbol);
  }
  return defined;
}

std::vector<EntryPoint> match_entries(const Lab& lab, const std::vector<std::string>& defined,
                                      const std::function<bool(const Rung&)>& wanted_rung,
                                      bool answers) {
  std::vector<EntryPoint> entries;
  const auto add = [&](const std::string& name, const std::string& function,
                       const std::string& wanted, const std::string& stem) {
    EntryPoint entry{name, function, false, {}};
    for (const auto& symbol : defined) {
      if (symbol == wanted) entry.defined = true;
      // Device stubs carry the kernel's name, not the launcher's.
      if (symbol.find(stem) != std::string::npos &&
          symbol.find("__device_stub__") == std::string::npos && entry.found.empty())
        entry.found = symbol.substr(0, 200);
    }
    if (entry.defined) entry.found.clear();
    entries.push_back(std::move(entry));
  };
  for (const auto& rung : lab.rungs) {
    if (!wanted_rung(rung)) continue;
    for (const auto& type : rung.types) {
      const std::string t = cpp_type(type), out = cpp_result_type(type),
                        function = instantiation(rung.name, type);
      add(rung.name + "<" + type + ">", function,
          "void " + function + "(MatrixView<" + t + " const>, MatrixView<" + t +
              " const>, MatrixView<" + out + ">, CUstream_st*)",
          function + "(");
    }
  }
  for (const auto& stage : lab.stages)
    if (answers && stage.answer)
      add(stage.answer->function, stage.answer->function, stage.answer->function + "()",
          stage.answer->function + "(");
  return entries;
}

std::string entries_source(const Lab& lab, const std::vector<EntryPoint>& table,
                           const std::string& header, const std::string& main_function) {
  std::ostringstream out;
  out << "// Generated from " << lab.name
      << "/lab.toml: the functions of gemm.cu that the judge may call.\n"
         "#include \"common/matrix.hpp\"\n#include \""
      << header << "\"\n\n";
  for (const auto& rung : lab.rungs)
    for (const auto& type : rung.types)
      if (type == "half" || type == "bfloat16") out << "struct " << cpp_type(type) << ";\n";
  for (const auto& rung : lab.rungs)
    out << "template <typename In, typename Out>\nvoid " << rung.name
        << "(MatrixView<const In>, MatrixView<const In>, MatrixView<Out>, CUstream_st*);\n";
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
  for (const auto& entry : table) {
    if (!entry.defined) continue;
    ++count;
    if (entry.function.find('<') != std::string::npos)
      out << "    simgpu::runtime::launcher<&" << entry.function << ">(\"" << entry.name
          << "\"),\n";
    else
      out << "    simgpu::runtime::answer(\"" << entry.name << "\", &" << entry.function
          << (predicts(entry.function) ? "_as_text" : "") << "),\n";
  }
  out << "};\n\nconstexpr std::size_t count = " << count << ";\n" << main_function;
  return out.str();
}

}  // namespace grader
