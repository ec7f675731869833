#include "grader/messages.hpp"

#include <algorithm>
#include <stdexcept>

#include "grader/os/embed.hpp"
#include "grader/report/text.hpp"

namespace grader::messages {
namespace {

GRADER_EMBED(catalogue_file, "grader/messages.toml")

struct Entry {
  std::string key, text;
};

[[noreturn]] void broken(std::string_view line, const char* why) {
  throw std::logic_error("a catalogue of messages: " + std::string(why) + ": " + std::string(line));
}

/// The string that begins at line[at], which moves behind it.
std::string quoted(std::string_view line, std::size_t& at) {
  std::string out;
  if (at >= line.size() || line[at] != '"') broken(line, "a quotation mark is missing");
  // In pieces: the catalogue is read whenever a grader starts.
  for (++at; at < line.size() && line[at] != '"';) {
    const std::size_t end = std::min(line.find_first_of("\\\"", at), line.size());
    out += line.substr(at, end - at);
    at = end;
    if (at == line.size() || line[at] == '"') break;
    const char escaped = ++at < line.size() ? line[at++] : '\0';
    if (escaped != '"' && escaped != '\\' && escaped != 'n') broken(line, "an unknown escape");
    out += escaped == 'n' ? '\n' : escaped;
  }
  if (at++ >= line.size()) broken(line, "the text does not end");
  return out;
}

void read_catalogue(std::string_view file, std::vector<Entry>& entries) {
  while (!file.empty()) {
    const std::string_view line = file.substr(0, file.find('\n'));
    file.remove_prefix(std::min(file.size(), line.size() + 1));
    if (line.empty() || line.front() == '#') continue;
    constexpr std::string_view between = " = ";
    std::size_t at = 0;
    Entry entry;
    entry.key = quoted(line, at);
    if (line.substr(at, between.size()) != between)
      broken(line, "not of the form \"key\" = \"text\"");
    at += between.size();
    entry.text = quoted(line, at);
    if (at != line.size()) broken(line, "something follows the text");
    entries.push_back(std::move(entry));
  }
}

std::vector<Entry>& catalogue() {
  static std::vector<Entry> entries = [] {
    std::vector<Entry> own;
    read_catalogue(catalogue_file(), own);
    return own;
  }();
  return entries;
}

const Entry* find(std::string_view key) {
  for (const Entry& entry : catalogue())
    if (entry.key == key) return &entry;
  return nullptr;
}

}  // namespace

Addition::Addition(std::string_view file) {
  read_catalogue(file, catalogue());
}

bool exists(std::string_view key) {
  return find(key) != nullptr;
}

std::vector<std::string_view> keys() {
  std::vector<std::string_view> all;
  for (const Entry& entry : catalogue()) all.push_back(entry.key);
  return all;
}

std::string_view raw(std::string_view key) {
  const Entry* entry = find(key);
  if (entry == nullptr) throw std::out_of_range("no message " + std::string(key));
  return entry->text;
}

std::string text(std::string_view key, const std::vector<Gap>& gaps) {
  std::vector<std::pair<std::string_view, std::string>> values;
  for (const Gap& gap : gaps) values.emplace_back(gap.name, gap.value);
  try {
    return report::fill(raw(key), values);
  } catch (const std::out_of_range& error) {
    throw std::out_of_range("message " + std::string(key) + ": " + error.what());
  }
}

}  // namespace grader::messages
