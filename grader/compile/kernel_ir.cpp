#include "grader/compile/kernel_ir.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace grader {
namespace {

using Text = std::string_view;

/// What is found is not what this knows of LLVM's text.
struct NotUnderstood {};

// A place is its function's number and its line there: line / kLines and line % kLines. A function's own
// line is kFirst, since what is attributed to it may stand above it.
constexpr std::int64_t kLines = 1 << 16, kFirst = 1 << 12;

// A template's instances go into so many modules, in turns: one for each element type of a rung. With
// one, whoever edits a kernel waits for a single core; a module takes 0.06 s beside what is in it.
constexpr std::size_t kSideBySide = 3;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
         c == '$';
}

std::int64_t number_of(Text digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) throw NotUnderstood();
  return value;
}

/// A piece of LLVM's text: a name with its sign ("@f", "%struct.S", "!12", "#3"; quotes are part of it), a
/// word, a number, or anything else.
struct Token {
  enum class Kind { name, word, number, other } kind = Kind::other;
  Text text;
  char sign() const { return text.front(); }
  Text name() const { return text.substr(1); }
};

/// Calls with each token of a text in turn; together they are the text.
template <typename Each>
void each_token(Text text, const Each& each) {
  std::size_t at = 0;
  const auto run = [&](std::size_t from, const auto& in) {
    while (from < text.size() && in(text[from])) ++from;
    return from;
  };
  const auto string_end = [&](std::size_t quote) {
    const std::size_t end = text.find('"', quote + 1);
    if (end == text.npos) throw NotUnderstood();
    return end + 1;
  };
  while (at < text.size()) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    std::size_t end = at + 1;
    auto kind = Token::Kind::other;
    if (c == '"') {
      end = string_end(at);
    } else if ((c == '@' || c == '%' || c == '$') && next == '"') {
      end = string_end(at + 1), kind = Token::Kind::name;
    } else if ((c == '@' || c == '%' || c == '$' || c == '!') && is_name(next)) {
      end = run(at + 1, is_name), kind = Token::Kind::name;
    } else if (c == '#' && is_digit(next)) {
      end = run(at + 1, is_digit), kind = Token::Kind::name;
    } else if (is_digit(c)) {
      end = run(at, is_name), kind = Token::Kind::number;
    } else if (is_name(c)) {
      end = run(at, is_name), kind = Token::Kind::word;
    } else {
      end = run(at + 1, [](char other) {
        return !is_name(other) && Text("\"@%$!#").find(other) == Text::npos;
      });
    }
    each(Token{kind, text.substr(at, end - at)});
    at = end;
  }
}

/// What a module defines, by name. Texts are those of the module.
struct Module {
  struct Global {
    Text name, text;
    bool function = false, kernel = false;
  };
  std::vector<Text> head;  ///< data layout and triple
  std::vector<Global> globals;
  std::unordered_map<Text, std::size_t> by_name;  ///< into globals
  std::unordered_map<Text, Text> types, comdats;  ///< what stands behind "="
  std::unordered_map<std::int64_t, Text> attributes, nodes;
  std::vector<std::pair<Text, std::vector<std::int64_t>>> lists;  ///< named metadata: "llvm.ident"

  Text node(std::int64_t id) const {
    const auto found = nodes.find(id);
    if (found == nodes.end()) throw NotUnderstood();
    return found->second;
  }
  /// Behind "name: " of a node, up to the next comma or parenthesis; "" if there is no such field.
  static Text field(Text node, Text name) {
    for (std::size_t at = node.find(name); at != node.npos; at = node.find(name, at + 1)) {
      const char before = at == 0 ? ' ' : node[at - 1];
      if ((before != '(' && before != ' ') || node.substr(at + name.size(), 2) != ": ") continue;
      const std::size_t from = at + name.size() + 2;
      return node.substr(from, node.find_first_of(",)", from) - from);
    }
    return {};
  }
};

/// Splits "name = text".
std::pair<Text, Text> definition(Text line) {
  const std::size_t equals = line.find(" = ");
  if (equals == line.npos) throw NotUnderstood();
  return {line.substr(0, equals), line.substr(equals + 3)};
}

/// The first @name.
Text global_name(Text line) {
  Text found;
  each_token(line.substr(0, line.find('\n')), [&](const Token& token) {
    if (found.empty() && token.kind == Token::Kind::name && token.sign() == '@') found = token.text;
  });
  if (found.empty()) throw NotUnderstood();
  return found;
}

std::vector<std::int64_t> node_list(Text text) {
  std::vector<std::int64_t> ids;
  each_token(text, [&](const Token& token) {
    if (token.kind == Token::Kind::name && token.sign() == '!')
      ids.push_back(number_of(token.name()));
  });
  return ids;
}

Module read_module(Text ir) {
  Module module;
  const auto add = [&](Text name, Text text, bool function) {
    module.by_name[name] = module.globals.size();
    module.globals.push_back({name, text, function, false});
  };
  for (std::size_t at = 0; at < ir.size();) {
    std::size_t end = std::min(ir.find('\n', at), ir.size());
    const Text line = ir.substr(at, end - at);
    if (line.starts_with("define ")) {
      end = ir.find("\n}\n", at);
      if (end == ir.npos) throw NotUnderstood();
      end += 2;
      add(global_name(line), ir.substr(at, end - at), true);
      module.globals.back().kernel = line.find(" ptx_kernel ") != line.npos;
    } else if (line.starts_with("declare ")) {
      add(global_name(line), line, true);
    } else if (line.starts_with("@")) {
      add(definition(line).first, line, false);
    } else if (line.starts_with("%")) {
      module.types.insert(definition(line));
    } else if (line.starts_with("$")) {
      module.comdats.insert(definition(line));
    } else if (line.starts_with("attributes #")) {
      const auto [name, text] = definition(line.substr(12));
      module.attributes[number_of(name)] = text;
    } else if (line.starts_with("!") && line.size() > 1 && is_digit(line[1])) {
      const auto [name, text] = definition(line.substr(1));
      module.nodes[number_of(name)] = text;
    } else if (line.starts_with("!")) {
      const auto [name, text] = definition(line.substr(1));
      module.lists.emplace_back(name, node_list(text));
    } else if (line.starts_with("target ")) {
      module.head.push_back(line);
    } else if (!line.empty() && !line.starts_with(";") && !line.starts_with("source_filename ")) {
      throw NotUnderstood();
    }
    at = end + 1;
  }
  // Before clang 20 a list says which functions are kernels.
  for (const auto& [name, ids] : module.lists)
    if (name == "nvvm.annotations")
      for (const std::int64_t id : ids)
        if (const Text node = module.node(id); node.find("!\"kernel\"") != node.npos)
          if (const auto found = module.by_name.find(global_name(node));
              found != module.by_name.end())
            module.globals[found->second].kernel = true;
  return module;
}

/// Memory that kernels of two modules must not have twice: all but shared memory, constants that the
/// compiler has made, and what is defined elsewhere (threadIdx).
bool is_state(const Module::Global& global) {
  if (global.function) return false;
  // Up to its kind: the value behind that may be a string, of any words.
  const Text text = global.text.substr(global.name.size());
  std::size_t end = text.npos;
  for (const Text kind : {" constant ", " global ", " alias ", " ifunc "})
    if (const std::size_t at = text.find(kind); at != text.npos)
      end = std::min(end, at + kind.size());
  if (end == text.npos) throw NotUnderstood();
  const auto has = [words = text.substr(0, end)](Text word) {
    return words.find(word) != Text::npos;
  };
  if (has(" alias ") || has(" ifunc ") || has("externally_initialized")) return true;
  return !has(" addrspace(3) ") && !has(" extern_weak ") &&
         !((has(" private ") || has(" internal ")) && has(" constant "));
}

/// "_Z13vector_kernel" of "_Z13vector_kernelILi128EfEv...", so that a template's instances go together;
/// the whole name where it is another kind.
std::string template_name(Text name) {
  if (!name.starts_with("@_Z")) return std::string(name.substr(1));
  const std::size_t end = name.find_first_not_of("0123456789", 3);
  if (end == 3 || end == name.npos) return std::string(name.substr(1));
  const auto length = static_cast<std::size_t>(number_of(name.substr(3, end - 3)));
  return std::string(name.substr(1, end - 1 + length));
}

/// Writes the module of some kernels.
class Writer {
 public:
  Writer(const Module& module, const std::vector<Text>& kernels) : module_(module) {
    for (const Text kernel : kernels) reach(kernel);
    kernels_.insert(kernels.begin(), kernels.end());
  }

  KernelIr write() {
    std::string globals;
    std::map<Text, Text> elsewhere;  // declared where the file first calls them
    for (const auto& global : module_.globals) {
      if (reached_.count(global.name) == 0) continue;
      if (global.text.starts_with("declare "))
        elsewhere[global.name] = global.text;
      else
        globals += rewritten(global.text) + '\n';
    }
    for (const auto& [name, text] : elsewhere) globals += rewritten(text) + '\n';
    std::string lists;
    for (const auto& [name, ids] : module_.lists) lists += list(name, ids);
    // These lists grow while they are written.
    std::string nodes;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      nodes += fmt::format("!{} = {}\n", i, node(nodes_[i]));
    std::string types;
    for (std::size_t i = 0; i < types_.size(); ++i)
      types += fmt::format("%t{} = {}\n", i, rewritten(module_.types.at(types_[i])));
    std::string attributes;
    for (std::size_t i = 0; i < attributes_.size(); ++i)
      attributes += fmt::format("attributes #{} = {}\n", i, module_.attributes.at(attributes_[i]));
    std::string comdats;
    for (const Text name : comdats_)
      comdats += std::string(name) + " = " + std::string(module_.comdats.at(name)) + '\n';
    KernelIr ir;
    for (const Text line : module_.head) ir.text += std::string(line) + '\n';
    ir.text += types + comdats + globals + attributes + lists + nodes;
    ir.places = std::move(places_);
    return ir;
  }

 private:
  template <typename Key>
  static std::size_t index_of(std::vector<Key>& list, std::unordered_map<Key, std::size_t>& known,
                              const Key& key) {
    const auto [found, added] = known.emplace(key, list.size());
    if (added) list.push_back(key);
    return found->second;
  }

  void reach(Text name) {
    std::vector<Text> open = {name};
    while (!open.empty()) {
      const Text next = open.back();
      open.pop_back();
      const auto found = module_.by_name.find(next);
      if (found == module_.by_name.end()) throw NotUnderstood();
      if (!reached_.insert(next).second) continue;
      each_token(module_.globals[found->second].text, [&](const Token& token) {
        if (token.kind != Token::Kind::name) return;
        if (token.sign() == '@') open.push_back(token.text);
        if (token.sign() == '$' && module_.comdats.count(token.text) != 0)
          comdats_.insert(token.text);
        // `comdat` alone means that of the global's own name.
      });
      if (const std::string own = '$' + std::string(next.substr(1));
          module_.comdats.count(own) != 0)
        comdats_.insert(module_.comdats.find(own)->first);
    }
  }

  std::string renamed(const Token& token) {
    switch (token.sign()) {
      case '!':
        if (!is_digit(token.text[1])) break;
        return fmt::format("!{}", index_of(nodes_, node_numbers_, number_of(token.name())));
      case '#':
        return fmt::format("#{}",
                           index_of(attributes_, attribute_numbers_, number_of(token.name())));
      case '%':
        if (module_.types.count(token.text) == 0) break;
        return fmt::format("%t{}", index_of(types_, type_numbers_, token.text));
      case '@':
        // Strings are numbered through the file.
        if (!token.text.starts_with("@.str")) break;
        return fmt::format("@.str.{}", index_of(strings_, string_numbers_, token.text));
      default:
        break;
    }
    return std::string(token.text);
  }

  /// Of the globals: where an assembler's text stands in the file is of no use to anybody.
  std::string rewritten(Text text) {
    std::string out;
    bool offset = false;
    each_token(text, [&](const Token& token) {
      if (token.kind != Token::Kind::name) {
        out += token.text;
        return;
      }
      if (offset && token.sign() == '!') offsets_.insert(number_of(token.name()));
      offset = token.text == "!srcloc";
      out += renamed(token);
    });
    return out;
  }

  std::string list(Text name, const std::vector<std::int64_t>& ids) {
    std::string items;
    for (const std::int64_t id : ids) {
      if (name == "nvvm.annotations" && kernels_.count(global_name(module_.node(id))) == 0)
        continue;
      items += (items.empty() ? "!" : ", !") + std::to_string(index_of(nodes_, node_numbers_, id));
    }
    return fmt::format("!{} = !{{{}}}\n", name, items);
  }

  std::string node(std::int64_t id) {
    const Text text = module_.node(id);
    if (offsets_.count(id) != 0) return "!{i64 0}";
    if (text.starts_with("!DIFile(")) return file(text);
    const bool function = text.starts_with("distinct !DISubprogram(");
    const bool in_function = function || text.find("!DILocation(") != text.npos ||
                             text.find("!DILexicalBlock") != text.npos;
    if (!in_function) return rewritten(text);
    const std::int64_t owner = function ? id : function_around(text);
    std::string out;
    bool line = false;
    each_token(text, [&](const Token& token) {
      if (token.kind == Token::Kind::number && line)
        out += std::to_string(place(owner, number_of(token.text)));
      else
        out += token.kind == Token::Kind::name ? renamed(token) : std::string(token.text);
      if (token.kind == Token::Kind::word) line = token.text == "line" || token.text == "scopeLine";
      if (token.kind == Token::Kind::number) line = false;
    });
    return out;
  }

  std::int64_t function_around(Text text) const {
    for (int depth = 0; depth < 1000; ++depth) {
      const Text scope = Module::field(text, "scope");
      if (!scope.starts_with("!")) break;
      const std::int64_t id = number_of(scope.substr(1));
      text = module_.node(id);
      if (text.starts_with("distinct !DISubprogram(")) return id;
    }
    throw NotUnderstood();
  }

  std::int64_t place(std::int64_t function, std::int64_t line) {
    if (line == 0) return 0;  // nowhere
    const std::size_t number = index_of(functions_, function_numbers_, function);
    if (number == places_.functions.size()) {
      const Text node = module_.node(function);
      const Text own = Module::field(node, "line"), file = Module::field(node, "file");
      if (!file.starts_with("!")) throw NotUnderstood();
      places_.functions.push_back({(own.empty() ? 0 : number_of(own)) - kFirst,
                                   file_name(module_.node(number_of(file.substr(1))))});
    }
    const std::int64_t inside = line - places_.functions[number].origin;
    // 2^14 functions of 2^16 lines still fit into 31 bits.
    if (inside <= 0 || inside >= kLines || number >= kLines / 4) throw NotUnderstood();
    return static_cast<std::int64_t>(number) * kLines + inside;
  }

  /// The text of a field, up to its quotation mark; LLVM writes what is not plain ASCII as \C3.
  static std::string quoted(Text node, Text field) {
    const std::size_t at = node.find(field);
    if (at == node.npos) throw NotUnderstood();
    const Text rest = node.substr(at + field.size());
    std::string value;
    for (std::size_t i = 0; i < rest.size() && rest[i] != '"'; ++i) {
      if (rest[i] != '\\') {
        value += rest[i];
        continue;
      }
      unsigned byte = 0;
      const Text digits = rest.substr(std::min(i + 1, rest.size()), 2);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2)
        throw NotUnderstood();
      value += static_cast<char>(byte);
      i += 2;
    }
    return value;
  }

  static std::string file_name(Text text) {
    const std::string name = quoted(text, "filename: \""), folder = quoted(text, "directory: \"");
    return name.starts_with('/') || folder.empty() ? name : folder + '/' + name;
  }

  std::string file(Text text) {
    places_.files.push_back(file_name(text));
    return fmt::format("!DIFile(filename: \"/{}\", directory: \"/\")", places_.files.size() - 1);
  }

  const Module& module_;
  std::set<Text> reached_, kernels_, comdats_;
  std::vector<std::int64_t> nodes_, attributes_, functions_;
  std::unordered_map<std::int64_t, std::size_t> node_numbers_, attribute_numbers_,
      function_numbers_;
  std::vector<Text> types_, strings_;
  std::unordered_map<Text, std::size_t> type_numbers_, string_numbers_;
  std::set<std::int64_t> offsets_;
  Places places_;
};

}  // namespace

std::optional<std::vector<KernelIr>> split_kernels(const std::string& ir) {
  try {
    const Module module = read_module(ir);
    if (std::any_of(module.globals.begin(), module.globals.end(), is_state)) return {};
    std::vector<std::string> names;  // in the order of the file
    std::map<std::string, std::vector<Text>> kernels;
    for (const auto& global : module.globals) {
      if (!global.kernel) continue;
      const std::string name = template_name(global.name);
      if (kernels.count(name) == 0) names.push_back(name);
      kernels[name].push_back(global.name);
    }
    std::vector<KernelIr> split;
    for (const std::string& name : names) {
      const std::vector<Text>& all = kernels.at(name);
      for (std::size_t part = 0; part < std::min(all.size(), kSideBySide); ++part) {
        std::vector<Text> some;
        for (std::size_t i = part; i < all.size(); i += kSideBySide) some.push_back(all[i]);
        split.push_back(Writer(module, some).write());
        split.back().name = name;
      }
    }
    return split;
  } catch (const NotUnderstood&) {
    return {};
  } catch (const std::out_of_range&) {  // a type or an attribute that nobody defines
    return {};
  }
}

namespace {

/// "\t.loc\t1 65540 5": the file's number stays, the line is put back. Behind "inlined_at " once more.
bool put_line(std::string& line, std::size_t from, const Places& places) {
  const std::size_t file_end = line.find_first_not_of("0123456789", from);
  if (file_end == line.npos || line[file_end] != ' ') return false;
  const std::size_t end = line.find_first_not_of("0123456789", file_end + 1);
  const std::int64_t value = number_of(Text(line).substr(file_end + 1, end - file_end - 1));
  if (value == 0) return true;
  const auto function = static_cast<std::size_t>(value / kLines);
  if (function >= places.functions.size()) return false;
  line.replace(file_end + 1, end - file_end - 1,
               std::to_string(places.functions[function].origin + value % kLines));
  return true;
}

/// "\t.file\t1 \"/0\"": the file's name is put back.
bool put_file(std::string& line, const Places& places) {
  const std::size_t quote = line.find("\"/");
  const std::size_t end = line.find('"', quote + 1);
  if (quote == line.npos || end == line.npos) return false;
  const auto number =
      static_cast<std::size_t>(number_of(Text(line).substr(quote + 2, end - quote - 2)));
  // PTX has no way to write these in a string.
  if (number >= places.files.size() || places.files[number].find_first_of("\"\\") != Text::npos)
    return false;
  line.replace(quote + 1, end - quote - 1, places.files[number]);
  return true;
}

}  // namespace

std::optional<std::string> placed(const std::string& ptx, const Places& places) {
  std::string out;
  out.reserve(ptx.size());
  try {
    for (std::size_t at = 0; at < ptx.size();) {
      const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
      std::string line = ptx.substr(at, end - at);
      at = end + 1;
      constexpr Text kInlined = "inlined_at ";
      if (line.starts_with("\t.loc\t")) {
        const std::size_t inlined = line.find(kInlined);
        if ((inlined != line.npos && !put_line(line, inlined + kInlined.size(), places)) ||
            !put_line(line, 6, places))
          return {};
      } else if (line.starts_with("\t.file\t") && !put_file(line, places)) {
        return {};
      }
      out += line + '\n';
    }
  } catch (const NotUnderstood&) {
    return {};
  }
  return out;
}

namespace {
constexpr Text kMadeOf = "// Made of ", kFunctions = ", functions at";
}

std::string made_of_line(const std::string& text, const Places& places, const std::string& file) {
  std::string line = std::string(kMadeOf) + text + std::string(kFunctions);
  for (const Places::Function& function : places.functions)
    if (function.file == file || function.file.ends_with('/' + file))
      line += fmt::format(" {}", function.origin + kFirst);
  return line + '\n';
}

MadeOf made_of(std::string_view ptx) {
  MadeOf made;
  const Text line = ptx.substr(0, ptx.find('\n'));
  const std::size_t functions = line.find(kFunctions);
  if (!line.starts_with(kMadeOf) || functions == line.npos) return made;
  each_token(line.substr(functions + kFunctions.size()), [&](const Token& token) {
    if (token.kind == Token::Kind::number)
      made.functions.push_back(static_cast<unsigned>(number_of(token.text)));
  });
  made.text = line.substr(kMadeOf.size(), functions - kMadeOf.size());
  return made;
}

}  // namespace grader
