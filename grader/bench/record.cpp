#include "grader/bench/record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <sstream>

#include <nlohmann/json.hpp>

#include "grader/errors.hpp"
#include "grader/messages.hpp"

namespace grader::bench {
namespace {

using messages::text;
using nlohmann::json;

constexpr std::array<std::pair<Status, const char*>, 6> kStatus = {{
    {Status::measured, "measured"},
    {Status::wrong, "wrong"},
    {Status::failed, "failed"},
    {Status::skipped, "skipped"},
    {Status::not_started, "not_started"},
    {Status::unavailable, "unavailable"},
}};

/// Six digits are more than any timing is worth.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

void set(json& object, const char* key, const std::optional<double>& value) {
  if (value) object[key] = rounded(*value);
}
void set(json& object, const char* key, const std::optional<unsigned>& value) {
  if (value) object[key] = *value;
}
void set(json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

template <typename T>
std::optional<T> maybe(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->get<T>();
}

void set_shape(json& object, const Shape& shape) {
  object["m"] = shape.m;
  object["n"] = shape.n;
  object["k"] = shape.k;
}
Shape shape_of(const json& object) {
  return {object.at("m").get<int>(), object.at("n").get<int>(), object.at("k").get<int>()};
}
Status status_of(const json& object) {
  const auto status = status_from(object.at("status").get<std::string>());
  if (!status) throw UserError("", exit_usage);
  return *status;
}

json to_json(const Record& r) {
  json o = {{"lab", r.point.lab},     {"lab_name", r.point.lab_name},
            {"rung", r.point.rung},   {"type", r.point.type},
            {"math", r.point.math()}, {"status", to_string(r.status)}};
  set_shape(o, r.point.shape);
  set(o, "title", r.point.title);
  set(o, "stage", r.point.stage);
  set(o, "note", r.note);
  set(o, "source", r.source);
  set(o, "source_sha256", r.source_sha256);
  set(o, "date", r.date);
  set(o, "first_measured", r.first_measured);
  if (r.status != Status::measured) return o;
  o["ms"] = rounded(r.ms);
  o["tflops"] = rounded(r.tflops);
  set(o, "percent_of_cublas", r.percent_of_cublas);
  if (r.percent_low && r.percent_high)
    o["interval"] = {rounded(*r.percent_low), rounded(*r.percent_high)};
  set(o, "ratio_over_naive", r.ratio_over_naive);
  if (r.ratio_low && r.ratio_high)
    o["ratio_interval"] = {rounded(*r.ratio_low), rounded(*r.ratio_high)};
  json clocks = json::object();
  set(clocks, "low", r.clock_low);
  set(clocks, "median", r.clock_median);
  set(clocks, "high", r.clock_high);
  if (!clocks.empty()) o["clocks"] = clocks;
  set(o, "throttle", r.throttle);
  o["rounds"] = r.rounds;
  o["launches"] = r.launches;
  if (r.attempts > 1) o["attempts"] = r.attempts;
  o["protocol"] = r.protocol;
  o["verified"] = r.verified;
  return o;
}

Record record_of(const json& o) {
  Record r;
  r.point.lab = o.at("lab").get<int>();
  r.point.lab_name = o.value("lab_name", "");
  r.point.rung = o.at("rung").get<std::string>();
  r.point.type = o.at("type").get<std::string>();
  r.point.tf32 = o.value("math", "") == "tf32";
  r.point.title = o.value("title", "");
  r.point.stage = o.value("stage", "");
  r.point.shape = shape_of(o);
  r.status = status_of(o);
  r.note = o.value("note", "");
  r.source = o.value("source", "");
  r.source_sha256 = o.value("source_sha256", "");
  r.date = o.value("date", "");
  r.first_measured = o.value("first_measured", "");
  r.ms = o.value("ms", 0.0);
  r.tflops = o.value("tflops", 0.0);
  r.percent_of_cublas = maybe<double>(o, "percent_of_cublas");
  r.ratio_over_naive = maybe<double>(o, "ratio_over_naive");
  if (o.contains("interval")) {
    r.percent_low = o["interval"].at(0).get<double>();
    r.percent_high = o["interval"].at(1).get<double>();
  }
  if (o.contains("ratio_interval")) {
    r.ratio_low = o["ratio_interval"].at(0).get<double>();
    r.ratio_high = o["ratio_interval"].at(1).get<double>();
  }
  if (o.contains("clocks")) {
    r.clock_low = maybe<unsigned>(o["clocks"], "low");
    r.clock_median = maybe<unsigned>(o["clocks"], "median");
    r.clock_high = maybe<unsigned>(o["clocks"], "high");
  }
  r.throttle = o.value("throttle", "");
  r.rounds = o.value("rounds", 0u);
  r.launches = o.value("launches", 0u);
  r.attempts = o.value("attempts", 1u);
  r.protocol = o.value("protocol", 0u);
  r.verified = o.value("verified", false);
  return r;
}

json to_json(const Yardsticks& y) {
  json o = {{"math", y.math}, {"status", to_string(y.status)}, {"rounds", y.rounds}};
  set_shape(o, y.shape);
  set(o, "note", y.note);
  set(o, "cublas_ms", y.cublas_ms);
  set(o, "naive_ms", y.naive_ms);
  if (y.cublas_ms) o["cublas_tflops"] = rounded(y.tflops(y.cublas_ms));
  if (y.naive_ms) o["naive_tflops"] = rounded(y.tflops(y.naive_ms));
  set(o, "clock", y.clock_median);
  o["protocol"] = y.protocol;
  set(o, "date", y.date);
  return o;
}

Yardsticks yardsticks_of(const json& o) {
  Yardsticks y;
  y.math = o.at("math").get<std::string>();
  y.shape = shape_of(o);
  y.status = status_of(o);
  y.note = o.value("note", "");
  y.rounds = o.value("rounds", 0u);
  y.cublas_ms = maybe<double>(o, "cublas_ms");
  y.naive_ms = maybe<double>(o, "naive_ms");
  y.clock_median = maybe<unsigned>(o, "clock");
  y.protocol = o.value("protocol", 0u);
  y.date = o.value("date", "");
  return y;
}

json to_json(const CpuRecord& c) {
  json o = {{"what", c.point.what}, {"type", c.point.type}, {"status", to_string(c.status)}};
  set_shape(o, c.point.shape);
  set(o, "note", c.note);
  if (c.status != Status::measured) return o;
  o["ms"] = rounded(c.ms);
  o["gflops"] = rounded(c.gflops);
  o["threads"] = c.threads;
  o["samples"] = c.samples;
  return o;
}

CpuRecord cpu_of(const json& o) {
  CpuRecord c;
  c.point.what = o.at("what").get<std::string>();
  c.point.type = o.at("type").get<std::string>();
  c.point.shape = shape_of(o);
  c.status = status_of(o);
  c.note = o.value("note", "");
  c.ms = o.value("ms", 0.0);
  c.gflops = o.value("gflops", 0.0);
  c.threads = o.value("threads", 0u);
  c.samples = o.value("samples", 0u);
  return c;
}

json to_json(const Prediction& p) {
  return {{"stage", p.key}, {"percent", p.percent}, {"seen", p.seen}};
}

template <typename List>
void write_list(std::ostringstream& out, const char* name, const List& list, bool last = false) {
  out << " \"" << name << "\": [";
  bool first = true;
  for (const auto& one : list) {
    out << (first ? "\n  " : ",\n  ") << to_json(one).dump();
    first = false;
  }
  out << (first ? "]" : "\n ]") << (last ? "\n" : ",\n");
}

}  // namespace

const char* to_string(Status status) {
  for (const auto& [known, name] : kStatus)
    if (known == status) return name;
  return "?";
}

std::optional<Status> status_from(const std::string& name) {
  for (const auto& [known, text] : kStatus)
    if (name == text) return known;
  return {};
}

bool Record::is(const Point& other) const {
  return point.lab == other.lab && point.rung == other.rung && point.type == other.type &&
         point.shape == other.shape;
}

double Record::spread() const {
  const auto of = [](const auto& low, const auto& middle, const auto& high) {
    return low && middle && high && *middle > 0 ? (*high - *low) / *middle : 0;
  };
  return percent_of_cublas ? of(percent_low, percent_of_cublas, percent_high)
                           : of(ratio_low, ratio_over_naive, ratio_high);
}

const Record* Results::find(const Point& point) const {
  const auto at =
      std::find_if(records.begin(), records.end(), [&](const Record& r) { return r.is(point); });
  return at == records.end() ? nullptr : &*at;
}

const Yardsticks* Results::find(const std::string& math, const Shape& shape) const {
  const auto at = std::find_if(yardsticks.begin(), yardsticks.end(), [&](const Yardsticks& y) {
    return y.math == math && y.shape == shape;
  });
  return at == yardsticks.end() ? nullptr : &*at;
}

const CpuRecord* Results::find(const CpuPoint& point) const {
  const auto at = std::find_if(cpu.begin(), cpu.end(), [&](const CpuRecord& c) {
    return c.point.what == point.what && c.point.type == point.type && c.point.shape == point.shape;
  });
  return at == cpu.end() ? nullptr : &*at;
}

void Results::put(Record record) {
  for (const Record& old : records)
    if (old.point.lab == record.point.lab && old.point.rung == record.point.rung &&
        !old.first_measured.empty() &&
        (record.first_measured.empty() || old.first_measured < record.first_measured))
      record.first_measured = old.first_measured;
  for (Record& old : records)
    if (old.is(record.point)) {
      old = std::move(record);
      return;
    }
  records.push_back(std::move(record));
}

void Results::put(Yardsticks one) {
  for (Yardsticks& old : yardsticks)
    if (old.math == one.math && old.shape == one.shape) {
      old = std::move(one);
      return;
    }
  yardsticks.push_back(std::move(one));
}

void Results::put(CpuRecord one) {
  for (CpuRecord& old : cpu)
    if (old.point.what == one.point.what && old.point.type == one.point.type &&
        old.point.shape == one.point.shape) {
      old = std::move(one);
      return;
    }
  cpu.push_back(std::move(one));
}

void Results::take_newer(const Results& other) {
  // Dates as utc_now() writes them sort as text; what has none is oldest.
  for (const Record& one : other.records)
    if (const Record* own = find(one.point); !own || own->date < one.date) put(one);
  for (const Yardsticks& one : other.yardsticks)
    if (const Yardsticks* own = find(one.math, one.shape); !own || own->date < one.date) put(one);
  const auto date = [](const Results& results) {
    const auto found = results.provenance.find("date");
    return found == results.provenance.end() ? std::string() : found->second;
  };
  const bool newer = date(*this) < date(other), its_cpu = cpu.empty();
  if (its_cpu) cpu = other.cpu;
  if (predictions.empty()) predictions = other.predictions;
  for (const auto& [key, value] : other.provenance)
    if (key == "cpu" || key == "compiler" || key == "openblas" ? its_cpu : newer)
      provenance[key] = value;
}

std::string to_text(const Results& results) {
  std::ostringstream out;
  out << "{\n \"schema\": 1,\n \"kind\": \"bench\",\n \"machine\": " << json(results.machine).dump()
      << ",\n \"provenance\": " << json(results.provenance).dump() << ",\n";
  write_list(out, "records", results.records);
  write_list(out, "yardsticks", results.yardsticks);
  write_list(out, "cpu", results.cpu);
  write_list(out, "predictions", results.predictions, true);
  out << "}\n";
  return out.str();
}

Results from_text(const std::string& content, const std::string& name) {
  Results results;
  try {
    const json document = json::parse(content);
    if (document.at("schema").get<int>() != 1 || document.at("kind").get<std::string>() != "bench")
      throw UserError("", exit_usage);
    results.machine = document.at("machine").get<std::map<std::string, std::string>>();
    results.provenance = document.at("provenance").get<std::map<std::string, std::string>>();
    for (const json& one : document.at("records")) results.records.push_back(record_of(one));
    for (const json& one : document.at("yardsticks"))
      results.yardsticks.push_back(yardsticks_of(one));
    for (const json& one : document.at("cpu")) results.cpu.push_back(cpu_of(one));
    for (const json& one : document.at("predictions"))
      results.predictions.push_back({one.at("stage").get<std::string>(),
                                     one.at("percent").get<double>(),
                                     one.at("seen").get<std::string>()});
  } catch (const json::exception&) {
    throw UserError(text("bench.bad_file", {{"file", name}}), exit_usage);
  } catch (const UserError&) {
    throw UserError(text("bench.bad_file", {{"file", name}}), exit_usage);
  }
  return results;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> shown{};
  std::strftime(shown.data(), shown.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return shown.data();
}

}  // namespace grader::bench
