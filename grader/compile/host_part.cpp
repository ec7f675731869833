#include "grader/compile/host_part.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace grader {
namespace {

using Text = std::string_view;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Behind a literal that begins at `quote`; npos if it does not end on its line.
std::size_t literal_end(Text text, std::size_t quote) {
  for (std::size_t i = quote + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[quote])
      return i + 1;
  }
  return Text::npos;
}

/// The same code with one blank where there were several, or a comment, and one line end where lines
/// were empty. Nothing if it has literals that this does not read.
std::optional<std::string> without_comments(Text source) {
  std::string code;
  const auto blank = [&code](char c) {
    if (!code.empty() && code.back() == ' ') code.pop_back();
    if (!code.empty() && code.back() != '\n') code += c;
  };
  for (std::size_t at = 0; at < source.size();) {
    const char c = source[at];
    const Text rest = source.substr(at);
    if (rest.starts_with("//")) {
      const std::size_t end = source.find('\n', at);
      if (source.substr(at, end - at).find('\\') != Text::npos) return {};  // may go on
      at = std::min(end, source.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = source.find("*/", at + 2);
      if (end == Text::npos) return {};
      blank(' ');
      at = end + 2;
    } else if (c == '"' || c == '\'') {
      // R"(...)", and 1'000.
      if (!code.empty() && (c == '"' ? code.back() == 'R' : is_word(code.back()))) return {};
      const std::size_t end = literal_end(source, at);
      if (end == Text::npos) return {};
      code += source.substr(at, end - at);
      at = end;
    } else {
      if (std::isspace(static_cast<unsigned char>(c)) != 0)
        blank(c == '\n' ? '\n' : ' ');
      else
        code += c;
      ++at;
    }
  }
  while (!code.empty() && (code.back() == ' ' || code.back() == '\n')) code.pop_back();
  return code;
}

/// Whether a word stands in a text, and not as a part of another.
bool has_word(Text text, Text word) {
  for (std::size_t at = text.find(word); at != Text::npos; at = text.find(word, at + 1))
    if ((at == 0 || !is_word(text[at - 1])) &&
        (at + word.size() == text.size() || !is_word(text[at + word.size()])))
      return true;
  return false;
}

/// A # line inside of a body. False: it may be about more than what stands between it and its #endif.
/// `open`: the depths of braces where conditions began; each branch must close what it opens.
bool stays_inside(Text line, int depth, std::vector<int>& open) {
  line.remove_prefix(std::min(line.find_first_not_of("# "), line.size()));
  const Text word = line.substr(0, line.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
  if (word == "pragma") return line.starts_with("pragma unroll");
  if (word == "if" || word == "ifdef" || word == "ifndef") {
    open.push_back(depth);
    return true;
  }
  if (open.empty() || open.back() != depth) return false;
  if (word == "endif") open.pop_back();
  return word == "endif" || word == "else" || word == "elif";
}

/// Behind the brace that closes the one at `open`. npos: that cannot be told.
std::size_t body_end(Text code, std::size_t open) {
  int depth = 0;
  std::vector<int> conditions;
  for (std::size_t i = open; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"' || c == '\'') i = literal_end(code, i) - 1;
    if (c == '#') {
      const std::size_t end = std::min(code.find('\n', i), code.size());
      if (!stays_inside(code.substr(i, end - i), depth, conditions)) return Text::npos;
      i = end;
    }
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return conditions.empty() ? i + 1 : Text::npos;
  }
  return Text::npos;
}

/// Whether a declaration may be a lambda's: a [ that stands behind no name and no closing bracket, as
/// that of an array does, T (&tile)[ROWS][COLS].
bool may_capture(Text declared) {
  for (std::size_t at = declared.find('['); at != Text::npos; at = declared.find('[', at + 1)) {
    const char before = at == 0 ? ' ' : declared[at - 1];
    if (!is_word(before) && before != ')' && before != ']') return true;
  }
  return has_word(declared, "return");
}

/// Whether what stands between the parameters of a function and its body leaves it one: `f() const {`. Else
/// the braces may be the value of a variable, as in `aligned(8) int n{1}` and in `int m(1), n{1}`.
bool ends_as_function(Text declared) {
  Text rest = declared.substr(declared.rfind(')') + 1);
  for (std::size_t at = 0; at < rest.size();) {
    if (!is_word(rest[at])) {
      if (rest[at] != ' ' && rest[at] != '\n' && rest[at] != '&') return false;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < rest.size() && is_word(rest[end])) ++end;
    const Text word = rest.substr(at, end - at);
    if (word != "const" && word != "noexcept" && word != "volatile" && word != "override" &&
        word != "final")
      return false;
    at = end;
  }
  return true;
}

struct Body {
  enum class Kind { none, found, unclear } kind = Kind::none;
  std::size_t begin = 0, end = 0;  ///< with its braces
};

/// The body of the function that is declared around `at`, where the word stands that makes it the
/// device's.
Body body_of_declaration(Text code, std::size_t at) {
  const std::size_t before = code.find_last_of(";{}", at);
  const std::size_t begin = before == Text::npos ? 0 : before + 1;
  int depth = 0;
  bool parameters = false;
  for (std::size_t i = at; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"' || c == '\'') i = literal_end(code, i) - 1;
    if (c == '#') return {Body::Kind::unclear, 0, 0};
    if (c == '(') ++depth, parameters = true;
    if (c == ')') --depth;
    if (depth > 0) continue;
    if (c == ';' || c == '=') return {};
    if (c != '{') continue;
    const Text declared = code.substr(begin, i - begin);
    // What the host evaluates, and what a lambda captures, follows from the body.
    constexpr std::array words = {Text("__host__"), Text("constexpr"), Text("consteval"),
                                  Text("auto"), Text("decltype")};
    const bool host = std::any_of(words.begin(), words.end(),
                                  [&](Text word) { return has_word(declared, word); });
    if (!parameters || host || may_capture(declared) || !ends_as_function(declared)) return {};
    const std::size_t end = body_end(code, i);
    if (end == Text::npos) return {Body::Kind::unclear, 0, 0};
    return {Body::Kind::found, i, end};
  }
  return {};
}

/// The line around `at`.
Text line_around(Text code, std::size_t at) {
  const std::size_t before = code.rfind('\n', at);
  const std::size_t begin = before == Text::npos ? 0 : before + 1;
  return code.substr(begin, code.find('\n', at) - begin);
}

/// host_part(), or nothing where that is the whole source.
std::optional<std::string> stripped(const std::string& source) {
  for (const char* word :
       {"__LINE__", "__COUNTER__", "__builtin_LINE", "source_location", "__TIME", "_Pragma",
        "%:", "<%", "<:"})  // the latter are other spellings of # and of brackets
    if (source.find(word) != source.npos) return {};
  const std::optional<std::string> plain = without_comments(source);
  // A macro may go on, and hold anything. Compilers join lines with blanks or a \r behind the \, too.
  if (!plain || plain->find("\\\n") != plain->npos) return {};
  const Text code = *plain;
  std::string part;
  std::size_t copied = 0;
  for (std::size_t at = code.find("__"); at != Text::npos; at = code.find("__", at)) {
    if (at > 0 && is_word(code[at - 1])) {
      at += 2;
      continue;
    }
    std::size_t end = at;
    while (end < code.size() && is_word(code[end])) ++end;
    const Text word = code.substr(at, end - at);
    at = end;
    if (word != "__global__" && word != "__device__") continue;
    if (line_around(code, end - 1).front() == '#') return {};  // a macro, for who knows what
    const Body body = body_of_declaration(code, end - word.size());
    if (body.kind == Body::Kind::unclear) return {};
    if (body.kind == Body::Kind::none) continue;
    part += code.substr(copied, body.begin - copied);
    part += "{}";
    copied = at = body.end;
  }
  part += code.substr(copied);
  return part;
}

/// Calls `with` for every word of a text.
template <typename With>
void for_words(Text text, With with) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_word(text[at])) continue;
    const std::size_t begin = at;
    while (at < text.size() && is_word(text[at])) ++at;
    with(text.substr(begin, at - begin));
  }
}

template <std::size_t N>
bool has_any(Text text, const std::array<Text, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](Text word) { return has_word(text, word); });
}

/// What a function of that name does may be seen by who does not name it: the language calls it, or
/// what stands there is no name of a function.
bool called_unnamed(Text name) {
  constexpr std::array names = {Text("begin"), Text("end"),      Text("swap"), Text("get"),
                                Text("size"),  Text("data"),     Text("main"), Text("alignas"),
                                Text("catch"), Text("decltype"), Text("if"),   Text("for"),
                                Text("while"), Text("switch")};
  return name.empty() || name.starts_with("__") ||
         std::find(names.begin(), names.end(), name) != names.end();
}

/// What a body does may outlast the call: variables that stay, settings of kernels and of the device.
bool outlasts_calls(Text body) {
  if (has_any(body, std::array{Text("static"), Text("thread_local"), Text("extern")})) return true;
  bool set = false;
  for_words(body, [&](Text word) {
    set = set || (word.starts_with("cu") &&
                  (word.find("Set") != Text::npos || word.find("Symbol") != Text::npos));
  });
  return set;
}

/// The name that a function's declaration declares: the word before its first parenthesis; "" if that is
/// none by which all calls of it go.
Text declared_name(Text declared) {
  std::size_t at = 0;
  while (has_word(declared.substr(at, 9), "template")) {  // template <...>
    std::size_t i = declared.find('<', at);
    if (i == Text::npos) return {};
    for (int depth = 0; i < declared.size(); ++i) {
      if (declared[i] == '(') return {};
      if (declared[i] == '<') ++depth;
      if (declared[i] == '>' && --depth == 0) break;
    }
    at = std::min(declared.find_first_not_of(" \n", i + 1), declared.size());
  }
  at = std::min(declared.find_first_not_of(" \n", at), declared.size());
  const std::size_t open = declared.find('(', at);
  if (open == Text::npos || has_word(declared, "operator") || has_word(declared, "try")) return {};
  std::size_t begin = open;
  while (begin > at && is_word(declared[begin - 1])) --begin;
  if (begin == at)
    return {};  // no type before it: a macro, which may make any name of its arguments
  if (declared[begin - 1] == ':' || declared[begin - 1] == '~') return {};
  return declared.substr(begin, open - begin);
}

/// Whether a declaration gives a value: a default argument, of a template or in parentheses, does not.
bool gives_value(Text declared) {
  int depth = 0;
  for (const char c : declared) {
    if (c == '(' || c == '<') ++depth;
    if (c == ')' || c == '>') --depth;
    if (c == '=' && depth == 0) return true;
  }
  return false;
}

/// Cuts code that stripped() gave into pieces.
class Pieces {
 public:
  explicit Pieces(Text code) : code_(code) {}

  /// Nothing if that cannot be told, or if functions share variables.
  std::optional<std::vector<HostCode::Piece>> cut() {
    if (code_.find("##") != Text::npos || has_any(code_, kOtherNames)) return {};
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const char c = code_[i];
      if (c == '"' || c == '\'') i = literal_end(code_, i) - 1;
      if (c == '#' && parentheses_ == 0) {
        const std::size_t line = i;
        i = std::min(code_.find('\n', i), code_.size());
        if (opens_or_closes(code_.substr(line, i - line))) return {};
        add(begin_, i, {});
      }
      if (c == '(') ++parentheses_;
      if (c == ')') --parentheses_;
      if (c == '{' && (parentheses_ > 0 || !at_brace(i))) return {};
      if (c == '{') i = begin_ - 1;
      if (c == '}' && (parentheses_ > 0 || namespaces_-- == 0)) return {};
      if (c == '}') add(begin_, i + 1, {});
      if (c == ';' && parentheses_ == 0 && !at_semicolon(i)) return {};
    }
    if (namespaces_ != 0 || parentheses_ != 0 || !all_have_bodies()) return {};
    add(begin_, code_.size(), {});
    return std::move(pieces_);
  }

 private:
  /// By these a function is called under a name that is not its own, or by nobody who names it.
  static constexpr std::array kOtherNames = {
      Text("asm"),        Text("__asm"),           Text("__asm__"), Text("alias"),
      Text("ifunc"),      Text("weakref"),         Text("weak"),    Text("constructor"),
      Text("destructor"), Text("redefine_extname")};

  /// Whether a macro holds one bracket of a pair, so that code is other than it looks.
  static bool opens_or_closes(Text line) {
    const auto count = [line](char c) { return std::count(line.begin(), line.end(), c); };
    return count('{') != count('}') || count('(') != count(')');
  }
  /// Whether parameters stand in the first parentheses, not values: their first word is a type's.
  static bool has_parameters(Text declared) {
    constexpr std::array types = {Text("const"),  Text("int"),      Text("float"),
                                  Text("double"), Text("bool"),     Text("char"),
                                  Text("long"),   Text("unsigned"), Text("short")};
    declared.remove_prefix(std::min(declared.find('(') + 1, declared.size()));
    const Text first = declared.substr(0, declared.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
    const char behind = first.size() < declared.size() ? declared[first.size()] : ' ';
    return std::find(types.begin(), types.end(), first) != types.end() && behind != '(' &&
           behind != '{';
  }
  /// What is declared and has no body may be a variable: `Counter calls(1);`.
  bool all_have_bodies() const {
    return std::all_of(pieces_.begin(), pieces_.end(), [this](const HostCode::Piece& one) {
      return one.name.empty() || has_parameters(one.text) ||
             std::any_of(pieces_.begin(), pieces_.end(), [&](const HostCode::Piece& other) {
               return other.body && other.name == one.name;
             });
    });
  }

  /// From where the last piece ended. `name`: of the function that it declares, to which it does not refer.
  void add(std::size_t begin, std::size_t end, Text name, bool body = false) {
    end = std::min(end, code_.size());
    pieces_.push_back({std::string(code_.substr(begin, end - begin)), std::string(name), body});
    begin_ = end;
  }
  static bool is_constant(Text declared) {
    return has_word(declared, "constexpr") ||
           (has_word(declared, "const") && declared.find('*') == Text::npos);
  }
  /// Whether a class has static members that change.
  static bool has_variables(Text members) {
    for (std::size_t at = members.find("static"); at != Text::npos;
         at = members.find("static", at + 1)) {
      const Text declared = members.substr(at, members.find_first_of(";{", at) - at);
      if (has_word(declared.substr(0, 7), "static") && declared.find('(') == Text::npos &&
          !is_constant(declared))
        return true;
    }
    return false;
  }
  bool at_brace(std::size_t brace) {
    const Text declared = code_.substr(begin_, brace - begin_);
    const bool call = declared.find('(') != Text::npos;
    if (has_word(declared, "namespace") || (has_word(declared, "extern") && !call)) {
      ++namespaces_;
      add(begin_, brace + 1, {});
      return true;
    }
    const std::size_t end = body_end(code_, brace);
    if (end == Text::npos) return false;
    constexpr std::array types = {Text("struct"), Text("class"), Text("union"), Text("enum")};
    const bool function = call && !gives_value(declared);
    const Text name = declared_name(declared);
    const bool type = has_any(declared, types);
    if (type && has_variables(code_.substr(brace, end - brace))) return false;
    if (!function && !type && !is_constant(declared)) return false;
    if (!function || type || called_unnamed(name) ||
        outlasts_calls(code_.substr(brace, end - brace)))
      add(begin_, end, {});
    else
      add(begin_, brace, name), add(brace, end, name, true);
    return true;
  }
  bool at_semicolon(std::size_t at) {
    const Text declared = code_.substr(begin_, at - begin_);
    constexpr std::array others = {Text("using"), Text("typedef"), Text("struct"),   Text("class"),
                                   Text("enum"),  Text("union"),   Text("namespace")};
    const bool blank = declared.find_first_not_of(" \n") == Text::npos;
    const bool function =
        declared.find('(') != Text::npos && !gives_value(declared) && !has_word(declared, "extern");
    if (!blank && !function && !has_any(declared, others) && !is_constant(declared)) return false;
    const Text name = function ? declared_name(declared) : Text();
    add(begin_, at + 1, called_unnamed(name) || name == "static_assert" ? Text() : name);
    return true;
  }

  Text code_;
  std::vector<HostCode::Piece> pieces_;
  std::size_t begin_ = 0;  ///< of what is in no piece yet
  int parentheses_ = 0, namespaces_ = 0;
};

}  // namespace

std::string host_part(const std::string& source) {
  return stripped(source).value_or(source);
}

HostCode::HostCode(const std::vector<std::string>& sources) {
  for (const std::string& source : sources) {
    const std::optional<std::string> code = stripped(source);
    std::optional<std::vector<Piece>> pieces = code ? Pieces(*code).cut() : std::nullopt;
    if (!pieces) {
      pieces_.clear();
      return;
    }
    pieces_.insert(pieces_.end(), std::make_move_iterator(pieces->begin()),
                   std::make_move_iterator(pieces->end()));
    pieces_.push_back({std::string(1, '\0'), {}, false});
  }
}

std::string HostCode::part_of(std::set<std::string> names) const {
  const auto refer = [&](const Piece& piece) {
    for_words(piece.text, [&](Text word) {
      if (word != piece.name || piece.body) names.emplace(word);
    });
  };
  std::vector<bool> taken;
  for (const Piece& piece : pieces_) {
    taken.push_back(!piece.body);
    if (!piece.body) refer(piece);
  }
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (taken[i] || !names.count(pieces_[i].name)) continue;
      refer(pieces_[i]);
      taken[i] = more = true;
    }
  }
  std::string part;
  for (std::size_t i = 0; i < pieces_.size(); ++i) part += taken[i] ? pieces_[i].text : "{}";
  return part;
}

}  // namespace grader
