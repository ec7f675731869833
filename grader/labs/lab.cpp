#include "grader/labs/lab.hpp"

#include <algorithm>
#include <stdexcept>

namespace grader {

bool Rung::tensor(const std::string& type) const {
  return precision == Precision::tf32 || type == "half" || type == "bfloat16";
}

int Rung::from_arch(const std::string& type) const {
  const auto found = oldest_arch.find(type);
  return found == oldest_arch.end() ? 75 : found->second;
}

const std::string& Rung::main_type() const {
  const auto found = std::find(types.begin(), types.end(), "float");
  return found == types.end() ? types.front() : *found;
}

const Rung& Lab::rung(const std::string& rung_name) const {
  for (const auto& one : rungs)
    if (one.name == rung_name) return one;
  throw std::out_of_range("no rung " + rung_name);
}

const Stage* Lab::stage(const std::string& stage_id) const {
  for (const auto& one : stages)
    if (one.id == stage_id) return &one;
  return nullptr;
}

bool Lab::only_one_term(const Rung& rung) const {
  bool any = false;
  for (const auto& one : stages) {
    if (one.rung != rung.name) continue;
    for (const auto& shape : one.shapes) {
      if (shape != "k1") return false;
      any = true;
    }
  }
  return any;
}

std::vector<std::string> Lab::files() const {
  std::vector<std::string> list;
  for (const auto& one : rungs)
    if (std::find(list.begin(), list.end(), one.file) == list.end()) list.push_back(one.file);
  return list;
}

int Lab::tile_size(const std::string& key, int fallback) const {
  const auto found = tile.find(key);
  return found == tile.end() ? fallback : found->second;
}

int Lab::tile_size(const Rung& of, const std::string& key, int fallback) const {
  const auto found = of.tile.find(key);
  return found == of.tile.end() ? tile_size(key, fallback) : found->second;
}

int Lab::tile_size(const Rung& of, const std::string& type, const std::string& key,
                   int fallback) const {
  const auto own = of.tile_of.find(type);
  if (own != of.tile_of.end() && own->second.count(key)) return own->second.at(key);
  return tile_size(of, key, fallback);
}

std::string list_of_ids(const std::vector<Lab>& labs) {
  std::string list;
  for (const auto& lab : labs) list += (list.empty() ? "" : ", ") + std::to_string(lab.id);
  return list;
}

}  // namespace grader
