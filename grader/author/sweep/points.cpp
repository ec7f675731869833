#include "grader/author/sweep/points.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace grader::sweep {

using bench::Record;
using bench::Results;
using bench::Status;
using nlohmann::json;

std::string id_of(const Record& r) {
  return fmt::format("{}/{}/{}/{}/{}", r.swept->experiment, r.swept->variant, r.point.math(),
                     r.point.shape.n, r.swept->x);
}

Record planned(int lab, const json& line) {
  json whole = line;
  const std::string math = line.at("type");
  if (math == "tf32") whole["type"] = "float";
  whole["lab"] = lab;
  whole["math"] = math;
  whole["m"] = whole["k"] = line.at("n");
  whole["status"] = to_string(Status::unavailable);
  return bench::record_of(whole);
}

Record measured(const Record& point, const json& line) {
  json whole = to_json(point);
  whole.update(line);
  Record record = bench::record_of(whole);
  record.protocol = 0;  // not that of grader/gpu/timing.hpp
  return record;
}

bool done(const Record& record) {
  return record.status == Status::measured || record.status == Status::skipped;
}

std::string identity(const Results& results) {
  const auto word = [](const bench::Words& words, const char* name) {
    const auto found = words.find(name);
    return found == words.end() ? std::string("?") : found->second;
  };
  std::string all = word(results.provenance, "source_sha256");
  for (const char* name : {"gpu", "driver", "cuda", "nvcc", "arch"})
    all += '\n' + word(results.machine, name);
  return all;
}

std::vector<std::string> merge(std::vector<Record>& plan, const std::vector<Record>& known) {
  std::map<std::string, const Record*> by_id;
  for (const Record& record : known)
    if (done(record)) by_id[id_of(record)] = &record;
  std::vector<std::string> open;
  for (Record& record : plan) {
    if (const auto found = by_id.find(id_of(record)); found != by_id.end())
      record = *found->second;
    else
      open.push_back(id_of(record));
  }
  return open;
}

Results reached(const Results& results) {
  Results some = results;
  std::erase_if(some.records, [](const Record& r) { return r.status == Status::unavailable; });
  return some;
}

}  // namespace grader::sweep
