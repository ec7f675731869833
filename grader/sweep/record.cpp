#include "grader/sweep/record.hpp"

#include <sstream>

#include <nlohmann/json.hpp>

#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/sweep/sentences.hpp"

namespace grader::sweep {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <typename T>
void read(const json& object, const char* name, T& value) {
  if (const auto found = object.find(name); found != object.end()) found->get_to(value);
}

void read(const json& object, const char* name, std::optional<double>& value) {
  if (const auto found = object.find(name); found != object.end()) value = found->get<double>();
}

/// 1.130000001 -> 1.13: five digits are more than a timing has.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return std::strtod(text, nullptr);
}

ordered_json ordered(const Point& p) {
  ordered_json o = {{"id", p.id},
                    {"experiment", p.experiment},
                    {"variant", p.variant},
                    {"type", p.type},
                    {"n", p.n},
                    {"x", p.x}};
  if (!p.label.empty()) o["label"] = p.label;
  if (p.ms) {
    o["ms"] = rounded(*p.ms), o["low"] = rounded(p.low), o["high"] = rounded(p.high);
    o["samples"] = p.samples, o["launches"] = p.launches;
    if (p.naive_ms > 0) o["naive_ms"] = rounded(p.naive_ms);
    if (p.cublas_ms) o["cublas_ms"] = rounded(*p.cublas_ms);
  }
  if (p.threads > 0) {
    o["registers"] = p.registers, o["local_bytes"] = p.local_bytes;
    o["static_shared"] = p.static_shared, o["dynamic_shared"] = p.dynamic_shared;
    o["threads"] = p.threads, o["blocks"] = p.blocks;
    o["resident_blocks"] = p.resident_blocks, o["occupancy"] = rounded(p.occupancy);
  }
  if (p.wavefronts > 0) o["wavefronts"] = p.wavefronts;
  if (p.mhz > 0) o["mhz"] = p.mhz;
  if (!p.error.empty()) o["error"] = p.error;
  if (!p.skipped.empty()) o["skipped"] = p.skipped;
  return o;
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

double Point::gflops() const {
  const double side = n;
  return ms && *ms > 0 ? 2 * side * side * side / *ms * 1e-6 : 0;
}

std::string Results::identity() const {
  std::string all = std::to_string(lab);
  for (const char* name : {"gpu", "driver", "cuda", "nvcc", "sources", "arch"}) {
    const auto found = provenance.find(name);
    all += '\n' + (found == provenance.end() ? std::string("?") : found->second);
  }
  return all;
}

Point point_from(const json& o) {
  Point p;
  p.id = o.at("id");
  read(o, "experiment", p.experiment), read(o, "variant", p.variant), read(o, "type", p.type);
  read(o, "label", p.label), read(o, "n", p.n), read(o, "x", p.x);
  read(o, "ms", p.ms), read(o, "low", p.low), read(o, "high", p.high);
  read(o, "samples", p.samples), read(o, "launches", p.launches);
  read(o, "naive_ms", p.naive_ms), read(o, "cublas_ms", p.cublas_ms);
  read(o, "registers", p.registers), read(o, "local_bytes", p.local_bytes);
  read(o, "static_shared", p.static_shared), read(o, "dynamic_shared", p.dynamic_shared);
  read(o, "threads", p.threads), read(o, "blocks", p.blocks);
  read(o, "resident_blocks", p.resident_blocks), read(o, "occupancy", p.occupancy);
  read(o, "wavefronts", p.wavefronts), read(o, "mhz", p.mhz);
  read(o, "error", p.error), read(o, "skipped", p.skipped);
  if (!p.error.empty()) p.ms.reset();  // wrong code has no time, whatever a file says
  return p;
}

json to_json(const Point& point) {
  return json::parse(ordered(point).dump());
}

std::string to_json_text(const Results& results) {
  std::ostringstream out;
  ordered_json provenance = ordered_json::object();
  for (const auto& [name, value] : results.provenance) provenance[name] = value;
  out << "{\n\"schema\": 1,\n\"lab\": " << results.lab
      << ",\n\"multiprocessors\": " << results.multiprocessors
      << ",\n\"provenance\": " << provenance.dump(1) << ",\n\"sentences\": [";
  const char* comma = "\n";
  for (const Sentences& s : sentences(results)) {
    const ordered_json o = {{"experiment", s.experiment},
                            {"variant", s.variant},
                            {"type", s.type},
                            {"minimum", s.minimum},
                            {"turn", s.turn}};
    out << comma << o.dump();
    comma = ",\n";
  }
  out << "\n],\n\"points\": [";
  comma = "\n";
  for (const Point& point : results.points) {
    if (!point.done() && point.error.empty()) continue;  // not reached yet
    out << comma << ordered(point).dump();
    comma = ",\n";
  }
  out << "\n]\n}\n";
  return out.str();
}

Results results_from(const std::string& text, const std::string& name) {
  try {
    const json all = json::parse(text);
    if (all.at("schema") != 1) throw std::runtime_error("schema");
    Results results;
    all.at("lab").get_to(results.lab);
    all.at("multiprocessors").get_to(results.multiprocessors);
    all.at("provenance").get_to(results.provenance);
    for (const json& one : all.at("points")) results.points.push_back(point_from(one));
    return results;
  } catch (const std::exception&) {
    throw UserError(messages::text("sweep.unreadable", {{"file", name}}), exit_usage);
  }
}

Results read_results(const std::filesystem::path& file) {
  return results_from(read_file(file), file.string());
}

std::string to_csv(const Results& results) {
  std::ostringstream out;
  out << "experiment,variant,type,n,x,label,ms,low,high,samples,launches,gflops,naive_ms,cublas_ms,"
         "registers,local_bytes,static_shared,dynamic_shared,threads,blocks,resident_blocks,"
         "occupancy,wavefronts,mhz,error,skipped\n";
  for (const Point& p : results.points) {
    if (!p.done() && p.error.empty()) continue;
    out << quoted(p.experiment) << ',' << quoted(p.variant) << ',' << p.type << ',' << p.n << ','
        << p.x << ',' << quoted(p.label) << ',';
    if (p.ms)
      out << rounded(*p.ms) << ',' << rounded(p.low) << ',' << rounded(p.high) << ',' << p.samples
          << ',' << p.launches << ',' << rounded(p.gflops()) << ',' << rounded(p.naive_ms) << ',';
    else
      out << ",,,,,,,";
    if (p.cublas_ms) out << rounded(*p.cublas_ms);
    out << ',' << p.registers << ',' << p.local_bytes << ',' << p.static_shared << ','
        << p.dynamic_shared << ',' << p.threads << ',' << p.blocks << ',' << p.resident_blocks
        << ',' << rounded(p.occupancy) << ',' << p.wavefronts << ',' << p.mhz << ','
        << quoted(p.error) << ',' << quoted(p.skipped) << '\n';
  }
  return out.str();
}

std::vector<std::string> merge(std::vector<Point>& plan, const std::vector<Point>& known) {
  std::map<std::string, const Point*> by_id;
  for (const Point& point : known)
    if (point.done()) by_id[point.id] = &point;
  std::vector<std::string> open;
  for (Point& point : plan) {
    if (const auto found = by_id.find(point.id); found != by_id.end())
      point = *found->second;
    else
      open.push_back(point.id);
  }
  return open;
}

}  // namespace grader::sweep
