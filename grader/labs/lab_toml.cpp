#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
// Header-only toml++ is slow to compile: this file and nothing else includes it.
#include <toml++/toml.h>

#include "grader/errors.hpp"
#include "grader/labs/lab.hpp"
#include "grader/os/files.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

/// One TOML table with the path it came from, so that every complaint has file and line.
class Table {
 public:
  Table(const toml::table& table, const std::string& path, std::string name)
      : table_(table), path_(path), name_(std::move(name)) {}

  [[noreturn]] void fail(const toml::node* at, const std::string& what) const {
    const auto line = at ? at->source().begin.line : table_.source().begin.line;
    throw UserError(path_ + ":" + std::to_string(line) + ": " + what, exit_usage);
  }

  void only(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, node] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      std::string all;
      for (const auto name : known) all += (all.empty() ? "" : ", ") + std::string(name);
      throw UserError(path_ + ":" + std::to_string(key.source().begin.line) + ": unknown key \"" +
                          std::string(key.str()) + "\" in " + name_ + " (known: " + all + ")",
                      exit_usage);
    }
  }

  bool has(std::string_view key) const { return table_.contains(key); }

  std::vector<int> integers(std::string_view key) const {
    const auto* array = required(key)->as_array();
    if (!array) fail(required(key), quoted(key) + " must be a list of whole numbers");
    std::vector<int> result;
    for (const auto& item : *array) {
      if (!item.is_integer() || item.as_integer()->get() < 0 || item.as_integer()->get() > 1000000)
        fail(&item, quoted(key) + " must be a list of whole numbers");
      result.push_back(static_cast<int>(item.as_integer()->get()));
    }
    return result;
  }
  unsigned line() const { return table_.source().begin.line; }

  std::string string(std::string_view key) const {
    const auto* node = required(key);
    if (!node->is_string()) fail(node, quoted(key) + " must be a string");
    return node->as_string()->get();
  }
  std::string string(std::string_view key, std::string fallback) const {
    return has(key) ? string(key) : fallback;
  }

  int integer(std::string_view key) const {
    const auto* node = required(key);
    if (!node->is_integer()) fail(node, quoted(key) + " must be a whole number");
    const auto value = node->as_integer()->get();
    if (value < 0 || value > 1000000) fail(node, quoted(key) + " is out of range");
    return static_cast<int>(value);
  }

  double number(std::string_view key) const {
    const auto* node = required(key);
    if (node->is_integer()) return static_cast<double>(node->as_integer()->get());
    // 1.2 = 15 is a table 1 with a key 2.
    if (node->is_table())
      fail(node, quoted(key) +
                     " must be a number; a stage's id stands in quotation marks, as in "
                     "\"1.2\" = 15");
    if (!node->is_floating_point() || !std::isfinite(node->as_floating_point()->get()))
      fail(node, quoted(key) + " must be a number");
    return node->as_floating_point()->get();
  }
  /// From 0 to `most`, and the message says so.
  double number(std::string_view key, double most) const {
    const double value = number(key);
    if (value < 0 || value > most) {
      std::ostringstream range;
      range << quoted(key) << " must be from 0 to " << most;
      fail(required(key), range.str());
    }
    return value;
  }

  std::vector<std::string> strings(std::string_view key) const {
    std::vector<std::string> result;
    if (!has(key)) return result;
    const auto* array = required(key)->as_array();
    if (!array) fail(required(key), quoted(key) + " must be a list of strings");
    for (const auto& item : *array) {
      if (!item.is_string()) fail(&item, quoted(key) + " must be a list of strings");
      result.push_back(item.as_string()->get());
    }
    return result;
  }

  std::vector<Table> tables(std::string_view key) const {
    std::vector<Table> result;
    const auto* array = has(key) ? required(key)->as_array() : nullptr;
    if (!array || array->empty())
      fail(nullptr, "[[" + std::string(key) + "]] is missing in " + name_);
    for (const auto& item : *array) {
      if (!item.is_table()) fail(&item, quoted(key) + " must be a list of tables");
      result.emplace_back(*item.as_table(), path_, "[[" + std::string(key) + "]]");
    }
    return result;
  }

  Table table(std::string_view key) const {
    const auto* node = required(key);
    if (!node->is_table()) fail(node, quoted(key) + " must be a table");
    return {*node->as_table(), path_, "[" + std::string(key) + "]"};
  }

  /// Seconds since 1970.
  std::int64_t moment(std::string_view key) const {
    const auto* node = required(key);
    const auto* value = node->as_date_time();
    if (!value || !value->get().offset)
      fail(node, quoted(key) +
                     " must be a date and a time with an offset, without quotes: "
                     "2026-11-30T23:59:00+01:00");
    namespace chr = std::chrono;
    const toml::date_time& when = value->get();
    const chr::sys_days day = chr::year(when.date.year) / when.date.month / when.date.day;
    return chr::duration_cast<chr::seconds>(day.time_since_epoch() + chr::hours(when.time.hour) +
                                            chr::minutes(when.time.minute - when.offset->minutes) +
                                            chr::seconds(when.time.second))
        .count();
  }

  const std::string& name() const { return name_; }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [key, node] : table_) result.emplace_back(key.str());
    return result;
  }

  const toml::node* required(std::string_view key) const {
    const auto* node = table_.get(key);
    if (!node) fail(nullptr, quoted(key) + " is missing in " + name_);
    return node;
  }

 private:
  static std::string quoted(std::string_view key) { return "\"" + std::string(key) + "\""; }
  const toml::table& table_;
  std::string path_, name_;
};

toml::table parse(const std::string& text, const std::string& path) {
  // The library goes as deep into a.a.a... as it is written.
  for (std::size_t at = 0, end; at < text.size(); at = end + 1)
    if ((end = std::min(text.find('\n', at), text.size())) - at > 4096)
      throw UserError(path + ": a line is longer than 4096 bytes", exit_usage);
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw UserError(path + ":" + std::to_string(error.source().begin.line) + ": " +
                        std::string(error.description()),
                    exit_usage);
  }
}

bool is_identifier(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// "sm_80" -> 80.
int parse_from_arch(const Table& table, const std::string& key) {
  const std::string name = table.string(key);
  static const std::set<std::string> known = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90"};
  if (!known.count(name))
    table.fail(table.required(key),
               "unknown architecture \"" + name + "\" (known: sm_75, sm_80, sm_86, sm_89, sm_90)");
  return std::stoi(name.substr(3));
}

TileSizes parse_tile(const Table& tile) {
  TileSizes sizes;
  for (const auto& key : tile.names()) {
    sizes[key] = tile.integer(key);
    if (sizes[key] < 1) tile.fail(tile.required(key), "\"" + key + "\" must be at least 1");
  }
  tile.only({"BM", "BN", "BK", "TM", "TN", "WM", "WN"});
  return sizes;
}

/// What a table says by type, whose names must be types of the rung.
template <typename Take>
void for_each_type(const Table& by_type, const Rung& rung, Take take) {
  for (const auto& type : by_type.names()) {
    if (std::find(rung.types.begin(), rung.types.end(), type) == rung.types.end())
      by_type.fail(by_type.required(type), "\"" + type + "\" is none of this rung's types");
    take(by_type, type);
  }
}

Rung parse_rung(const Table& table) {
  table.only({"name", "title", "types", "operation", "precision", "launch", "tile", "tile_of",
              "file", "needs_arch", "from_arch"});
  Rung rung;
  if (table.has("tile")) rung.tile = parse_tile(table.table("tile"));
  rung.name = table.string("name");
  // These names go into generated source.
  if (!is_identifier(rung.name))
    table.fail(table.required("name"), "\"name\" must be a C++ identifier");
  rung.title = table.string("title", rung.name);
  rung.types = table.strings("types");
  if (rung.types.empty()) table.fail(nullptr, "\"types\" is missing or empty in [[rung]]");
  static const std::set<std::string> types = {"int32", "float", "double", "half", "bfloat16"};
  for (const auto& type : rung.types)
    if (!types.count(type))
      table.fail(table.required("types"),
                 "unknown type \"" + type + "\" (known: int32, float, double, half, bfloat16)");
  if (table.has("tile_of"))
    for_each_type(table.table("tile_of"), rung, [&](const Table& by_type, const std::string& type) {
      rung.tile_of[type] = parse_tile(by_type.table(type));
    });
  const std::string operation = table.string("operation", "product");
  if (operation == "copy_a")
    rung.operation = Operation::copy_a;
  else if (operation == "copy_b")
    rung.operation = Operation::copy_b;
  else if (operation != "product")
    table.fail(table.required("operation"),
               "unknown operation \"" + operation + "\" (known: product, copy_a, copy_b)");
  if (table.has("precision")) {
    if (table.string("precision") != "tf32")
      table.fail(table.required("precision"),
                 "unknown precision \"" + table.string("precision") + "\" (known: tf32)");
    if (rung.types != std::vector<std::string>{"float"} || rung.operation != Operation::product)
      table.fail(table.required("precision"), "\"tf32\" needs types = [\"float\"] and a product");
    rung.precision = Precision::tf32;
  }
  const std::string launch = table.string("launch", "given");
  if (launch == "open")
    rung.launch = LaunchBy::student;
  else if (launch != "given")
    table.fail(table.required("launch"), "unknown launch \"" + launch + "\" (known: given, open)");
  rung.file = table.string("file", rung.file);
  rung.needs_arch = table.string("needs_arch", "");
  if (table.has("needs_arch") && rung.needs_arch != "sm_90a")
    table.fail(table.required("needs_arch"),
               "unknown architecture \"" + rung.needs_arch + "\" (known: sm_90a)");
  if (table.has("from_arch") && table.required("from_arch")->is_table()) {
    for_each_type(table.table("from_arch"), rung,
                  [&](const Table& by_type, const std::string& type) {
                    rung.oldest_arch[type] = parse_from_arch(by_type, type);
                  });
  } else if (table.has("from_arch")) {
    for (const auto& type : rung.types)
      rung.oldest_arch[type] = parse_from_arch(table, "from_arch");
  }
  // The name goes into paths, archives and generated source.
  const std::string stem = rung.file.substr(0, rung.file.rfind('.'));
  if (!is_identifier(stem) || rung.file != stem + ".cu")
    table.fail(table.required("file"), "\"file\" must be a plain name that ends in .cu");
  return rung;
}

Stage parse_stage(const Table& table) {
  table.only({"id", "title", "rung", "needs", "points", "kind", "shapes", "answer", "untouched"});
  Stage stage;
  stage.line = table.line();
  stage.id = table.string("id");
  stage.title = table.string("title");
  stage.rung = table.string("rung");
  stage.needs = table.strings("needs");
  stage.points = table.number("points");
  if (stage.points < 0) table.fail(table.required("points"), "\"points\" must not be negative");
  const std::string kind = table.string("kind", "core");
  if (kind == "bonus")
    stage.kind = Kind::bonus;
  else if (kind != "core")
    table.fail(table.required("kind"), "unknown kind \"" + kind + "\" (known: core, bonus)");
  stage.shapes = table.strings("shapes");
  static const std::set<std::string> classes = {"aligned", "deep",  "long",     "many",  "ragged",
                                                "tiny",    "thin",  "strided",  "empty", "k1",
                                                "wide",    "odd_k", "extremes", "turns"};
  for (const auto& shape : stage.shapes)
    if (!classes.count(shape))
      table.fail(table.required("shapes"), fmt::format("unknown shape class \"{}\" (known: {})",
                                                       shape, fmt::join(classes, ", ")));
  if (stage.shapes.empty())
    table.fail(nullptr, "\"shapes\" is missing or empty in [[stage]] " + stage.id);
  stage.untouched = table.string("untouched", "");
  if (table.has("answer")) {
    const Table answer = table.table("answer");
    answer.only({"function", "hashes", "measured", "rung"});
    stage.answer = Answer{answer.string("function"), answer.strings("hashes"),
                          answer.string("measured", ""), answer.string("rung", stage.rung)};
    if (!is_identifier(stage.answer->function))
      answer.fail(answer.required("function"), "\"function\" must be a C++ identifier");
    const std::string& measured = stage.answer->measured;
    if (!measured.empty() && measured != "load_wavefronts" && measured != "store_wavefronts")
      answer.fail(answer.required("measured"), "unknown quantity \"" + measured +
                                                   "\" (known: load_wavefronts, store_wavefronts)");
    if (stage.answer->hashes.empty() == measured.empty())
      answer.fail(nullptr, "[stage.answer] needs \"hashes\" or \"measured\", one of the two");
  }
  return stage;
}

SpeedBars parse_bars(const Table& table) {
  SpeedBars bars;
  const auto read = [&](std::string_view key, std::optional<double>& bar) {
    if (!table.has(key)) return;
    bar = table.number(key);
    if (!(*bar > 0 && *bar < 1000))
      table.fail(table.required(key), "\"" + std::string(key) + "\" must be above 0");
  };
  read("naive", bars.naive);
  read("cublas", bars.cublas);
  return bars;
}

/// "sm_90": what follows must be digits alone.
bool is_architecture(const std::string& name) {
  if (name.size() < 5 || name.compare(0, 3, "sm_") != 0) return false;
  return std::all_of(name.begin() + 3, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

SpeedGoal parse_speed(const Table& table, const Lab& lab) {
  table.only({"stage", "type", "shape", "naive", "cublas", "previous", "arch"});
  SpeedGoal goal;
  goal.line = table.line();
  goal.stage = table.string("stage");
  const Stage* const stage = lab.stage(goal.stage);
  if (!stage) table.fail(table.required("stage"), "no [[stage]] has the id \"" + goal.stage + "\"");
  const Rung& rung = lab.rung(stage->rung);
  goal.type = table.string("type", rung.main_type());
  if (std::find(rung.types.begin(), rung.types.end(), goal.type) == rung.types.end())
    table.fail(table.required("type"),
               "the rung " + rung.name + " has no type \"" + goal.type + "\"");
  if (rung.operation != Operation::product)
    table.fail(table.required("stage"), "the rung " + rung.name + " is no product");
  const std::vector<int> shape = table.integers("shape");
  if (shape.size() != 3 || std::any_of(shape.begin(), shape.end(),
                                       [](int extent) { return extent < 1 || extent > 32768; }))
    table.fail(table.required("shape"), "\"shape\" must be [M, N, K], each from 1 to 32768");
  goal.m = shape[0];
  goal.n = shape[1];
  goal.k = shape[2];
  goal.bars = parse_bars(table);
  if (!goal.bars.naive && !goal.bars.cublas)
    table.fail(nullptr, "\"naive\" or \"cublas\" is missing in [[speed]]");
  if (!goal.bars.naive && goal.type == "int32")
    table.fail(nullptr, "\"naive\" is missing in [[speed]]: cuBLAS has no int32 product");
  goal.previous = table.string("previous", "");
  if (table.has("previous")) {
    if (!parse_technique(goal.previous))
      table.fail(table.required("previous"),
                 "\"previous\" must be \"labN_name:rung\", or \"labN_name:rung@mutant\"");
  }
  if (table.has("arch")) {
    const Table archs = table.table("arch");
    for (const auto& name : archs.names()) {
      if (!is_architecture(name))
        archs.fail(archs.required(name), "\"" + name + "\" is no architecture (as: sm_75)");
      const Table one = archs.table(name);
      one.only({"naive", "cublas"});
      goal.arch[name] = parse_bars(one);
    }
  }
  return goal;
}

// ---- course.toml

constexpr double most_points = 10000;
constexpr unsigned most_seeds = 8;  // each is a further run of everything

Stage& stage_of(std::vector<Lab>& labs, const Table& table, const std::string& id) {
  for (auto& lab : labs)
    for (auto& stage : lab.stages)
      if (stage.id == id) return stage;
  table.fail(table.required(id), "unknown key \"" + id + "\" in " + table.name() +
                                     ": no stage has this id, or \"drop\" leaves it out");
}

/// Whoever needs the stage needs from now on what it needed.
void remove_stage(Lab& lab, const std::string& id) {
  const std::vector<std::string> needed = lab.stage(id)->needs;
  const auto of_it = [&](const auto& goal) { return goal.stage == id; };
  std::erase_if(lab.stages, [&](const Stage& stage) { return stage.id == id; });
  std::erase_if(lab.goals, of_it);
  std::erase_if(lab.speed, of_it);
  for (auto& stage : lab.stages) {
    if (std::erase(stage.needs, id) == 0) continue;
    for (const auto& other : needed)
      if (std::find(stage.needs.begin(), stage.needs.end(), other) == stage.needs.end())
        stage.needs.push_back(other);
  }
}

void drop_stages(std::vector<Lab>& labs, const Table& root) {
  for (const auto& id : root.strings("drop")) {
    const auto lab = std::find_if(labs.begin(), labs.end(),
                                  [&](const Lab& one) { return one.stage(id) != nullptr; });
    if (lab == labs.end())
      root.fail(root.required("drop"),
                "unknown stage \"" + id + "\" in \"drop\": no stage has this id");
    remove_stage(*lab, id);
    if (lab->stages.empty()) labs.erase(lab);
  }
  if (labs.empty()) root.fail(root.required("drop"), "\"drop\" leaves no stage to grade");
}

/// Those that have been handed out. The rest of the file may speak of all.
void keep_labs(std::vector<Lab>& labs, const Table& root) {
  const std::vector<int> kept = root.integers("labs");
  const std::string known = list_of_ids(labs);
  if (kept.empty()) root.fail(root.required("labs"), "\"labs\" names no lab to grade");
  for (const int id : kept)
    if (std::none_of(labs.begin(), labs.end(), [id](const Lab& lab) { return lab.id == id; }))
      root.fail(root.required("labs"),
                "no lab " + std::to_string(id) + " in \"labs\": there are " + known);
  std::erase_if(labs, [&](const Lab& lab) {
    return std::find(kept.begin(), kept.end(), lab.id) == kept.end();
  });
}

void override_goals(std::vector<Lab>& labs, const Table& goals) {
  for (const auto& id : goals.names()) {
    const Table of_stage = goals.table(id);
    for (const auto& key : of_stage.names()) {
      const Table values = of_stage.table(key);
      Goal* target = nullptr;
      for (auto& lab : labs)
        for (auto& goal : lab.goals)
          if (goal.stage == id && goal.key == key) target = &goal;
      if (!target)
        values.fail(nullptr, "unknown key \"" + key + "\" in [goals.\"" + id +
                                 "\"]: no such goal in goals.cpp of that lab");
      for (const auto& name : values.names()) {
        const auto parameter = target->parameters.find(name);
        if (parameter == target->parameters.end()) {
          std::string known;
          for (const auto& [other, value] : target->parameters)
            known += (known.empty() ? "" : ", ") + other;
          values.fail(values.required(name), "unknown key \"" + name + "\": the goal \"" + key +
                                                 "\" has the parameters " +
                                                 (known.empty() ? "(none)" : known));
        }
        parameter->second = values.number(name);
      }
    }
  }
}

void parse_speed_points(std::vector<Lab>& labs, const Table& root, Course& course) {
  const std::string counts = root.string("speed", "shown");
  if (counts == "points")
    course.speed = SpeedCounts::points;
  else if (counts == "bonus")
    course.speed = SpeedCounts::bonus;
  else if (counts != "shown")
    root.fail(root.required("speed"), "\"speed\" must be \"points\", \"bonus\" or \"shown\"");
  if (!root.has("speed_points")) {
    if (course.speed != SpeedCounts::shown)
      root.fail(root.required("speed"), "\"speed\" is \"" + counts +
                                            "\", and no [speed_points] say how many for which "
                                            "stage");
    return;
  }
  const Table points = root.table("speed_points");
  if (course.speed == SpeedCounts::shown)
    points.fail(nullptr,
                "[speed_points] count for nothing while \"speed\" is \"shown\": choose "
                "\"points\" or \"bonus\"");
  for (const auto& id : points.names()) {
    stage_of(labs, points, id);
    if (std::none_of(labs.begin(), labs.end(), [&](const Lab& lab) {
          return std::any_of(lab.speed.begin(), lab.speed.end(),
                             [&](const SpeedGoal& goal) { return goal.stage == id; });
        }))
      points.fail(points.required(id), "stage " + id +
                                           " has no goal of speed: no [[speed]] in its "
                                           "lab.toml names it");
    course.speed_points[id] = points.number(id, most_points);
  }
}

void parse_late(const Table& late, Course& course) {
  late.only({"due", "free_days", "cost_percent", "most_days"});
  constexpr double most_days = 1000;
  if (late.has("due")) course.due = late.moment("due");
  if (late.has("free_days")) course.free_days = late.number("free_days", most_days);
  course.cost_percent = late.number("cost_percent", 100);
  if (late.has("most_days")) course.most_days = late.number("most_days", most_days);
  if (course.most_days && *course.most_days < course.free_days)
    late.fail(late.required("most_days"), "\"most_days\" must not be less than \"free_days\"");
}

}  // namespace

std::optional<Technique> parse_technique(const std::string& text) {
  const auto colon = text.find(':'), at = text.find('@');
  if (colon == std::string::npos || (at != std::string::npos && at < colon)) return {};
  Technique technique;
  technique.lab = text.substr(0, colon);
  technique.rung = text.substr(colon + 1, at == std::string::npos ? at : at - colon - 1);
  if (at != std::string::npos) technique.mutant = text.substr(at + 1);
  const bool plain = std::all_of(technique.mutant.begin(), technique.mutant.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!is_identifier(technique.lab) || !is_identifier(technique.rung) || !plain ||
      (at != std::string::npos && technique.mutant.empty()))
    return {};
  return technique;
}

Lab parse_lab(const std::string& text, const std::string& path) {
  const toml::table parsed = parse(text, path);
  const Table root(parsed, path, "the lab");
  root.only({"id", "name", "title", "tile", "rung", "stage", "speed"});
  Lab lab;
  lab.id = root.integer("id");
  lab.name = root.string("name");
  lab.title = root.string("title");
  if (root.has("tile")) lab.tile = parse_tile(root.table("tile"));
  for (const auto& table : root.tables("rung")) {
    const Rung rung = parse_rung(table);
    for (const auto& other : lab.rungs)
      if (other.name == rung.name)
        table.fail(nullptr, "two rungs are named \"" + rung.name + "\"");
      else if (other.file == rung.file && other.needs_arch != rung.needs_arch)
        table.fail(nullptr, "the rungs of " + rung.file +
                                " differ in \"needs_arch\": a file is compiled for one "
                                "architecture");
    lab.rungs.push_back(rung);
  }
  for (const auto& table : root.tables("stage")) {
    const Stage stage = parse_stage(table);
    if (lab.stage(stage.id)) table.fail(nullptr, "two stages have the id \"" + stage.id + "\"");
    const bool known = std::any_of(lab.rungs.begin(), lab.rungs.end(),
                                   [&](const Rung& r) { return r.name == stage.rung; });
    if (!known) table.fail(table.required("rung"), "no [[rung]] is named \"" + stage.rung + "\"");
    if (stage.answer && std::none_of(lab.rungs.begin(), lab.rungs.end(),
                                     [&](const Rung& r) { return r.name == stage.answer->rung; }))
      table.fail(table.required("answer"), "no [[rung]] is named \"" + stage.answer->rung + "\"");
    for (const auto& needed : stage.needs)
      if (!lab.stage(needed))
        table.fail(table.required("needs"), "\"" + needed + "\" is no stage before this one");
    lab.stages.push_back(stage);
  }
  if (root.has("speed")) {
    for (const auto& table : root.tables("speed")) {
      const SpeedGoal goal = parse_speed(table, lab);
      for (const auto& other : lab.speed)
        if (other.stage == goal.stage && other.type == goal.type && other.m == goal.m &&
            other.n == goal.n && other.k == goal.k)
          table.fail(nullptr, "two [[speed]] goals for stage " + goal.stage +
                                  " with one type and one shape");
      lab.speed.push_back(goal);
    }
  }
  return lab;
}

std::vector<Lab> discover_labs(const fs::path& root) {
  std::vector<Lab> labs;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (name.size() < 5 || name.compare(0, 3, "lab") != 0 || name[3] < '0' || name[3] > '9')
      continue;
    if (!entry.is_directory() || !fs::exists(entry.path() / "lab.toml")) continue;
    Lab lab = parse_lab(read_file(entry.path() / "lab.toml", 1u << 20), name + "/lab.toml");
    if (lab.name != name)
      throw UserError(
          name + "/lab.toml: \"name\" is \"" + lab.name + "\", but the folder is " + name,
          exit_usage);
    lab.folder = name;
    lab.goals = goals_of(lab.name);
    for (const auto& goal : lab.goals)
      if (!lab.stage(goal.stage))
        throw UserError(name + "/goals.cpp: the goal \"" + goal.key + "\" belongs to stage " +
                            goal.stage + ", which lab.toml does not have",
                        exit_usage);
    labs.push_back(std::move(lab));
  }
  std::sort(labs.begin(), labs.end(), [](const Lab& a, const Lab& b) { return a.id < b.id; });
  for (std::size_t i = 1; i < labs.size(); ++i)
    if (labs[i].id == labs[i - 1].id)
      throw UserError(
          labs[i - 1].name + " and " + labs[i].name + " both have id " + std::to_string(labs[i].id),
          exit_usage);
  if (labs.empty())
    throw UserError("no lab found: expected folders labN_name with a lab.toml in " +
                        fs::absolute(root).string(),
                    exit_usage);
  return labs;
}

Course apply_course(std::vector<Lab>& labs, const std::string& text, const std::string& path) {
  const toml::table parsed = parse(text, path);
  const Table root(parsed, path, "the course file");
  root.only({"labs", "speed", "drop", "extra_seeds", "points", "speed_points", "late", "goals"});
  Course course;
  drop_stages(labs, root);
  if (root.has("points")) {
    const Table points = root.table("points");
    for (const auto& id : points.names())
      stage_of(labs, points, id).points = points.number(id, most_points);
  }
  if (root.has("goals")) override_goals(labs, root.table("goals"));
  if (root.has("extra_seeds")) {
    course.extra_seeds = static_cast<unsigned>(root.integer("extra_seeds"));
    if (course.extra_seeds > most_seeds)
      root.fail(root.required("extra_seeds"),
                "\"extra_seeds\" must be from 0 to " + std::to_string(most_seeds));
  }
  parse_speed_points(labs, root, course);
  if (root.has("late")) parse_late(root.table("late"), course);
  if (root.has("labs")) keep_labs(labs, root);
  return course;
}

}  // namespace grader
