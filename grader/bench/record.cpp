#include "grader/bench/record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "grader/bench/lines.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"

namespace grader::bench {
namespace {

using messages::text;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array<std::pair<Status, const char*>, 6> kStatus = {{
    {Status::measured, "measured"},
    {Status::wrong, "wrong"},
    {Status::failed, "failed"},
    {Status::skipped, "skipped"},
    {Status::not_started, "not_started"},
    {Status::unavailable, "unavailable"},
}};

/// Members of an object that are left out where they say nothing.
struct Writer {
  ordered_json object = ordered_json::object();
  void set(const char* key, const std::string& value) {
    if (!value.empty()) object[key] = value;
  }
  template <typename T>
  void set(const char* key, const std::optional<T>& value) {
    if (value) object[key] = *value;
  }
  void set(const char* key, const std::optional<Ratio>& ratio) {
    if (!ratio) return;
    if (const auto& known = ratio->interval)
      object[key] = {known->first, ratio->middle, known->second};
    else
      object[key] = ratio->middle;
  }
  void set(const char* key, const std::optional<Error>& error) {
    if (error) object[key] = {error->worst, error->mean};
  }
  void set(const char* key, unsigned value, unsigned usual) {
    if (value != usual) object[key] = value;
  }
  void set(const Shape& shape) {
    object["m"] = shape.m, object["n"] = shape.n, object["k"] = shape.k;
  }
};

template <typename T>
std::optional<T> maybe(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->get<T>();
}

std::optional<Ratio> ratio_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (found->is_number()) return Ratio{found->get<double>(), {}};
  return Ratio{found->at(1), {{found->at(0), found->at(2)}}};
}

std::optional<Error> error_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  return Error{found->at(0), found->at(1)};
}

Shape shape_of(const json& object) {
  return {object.at("m").get<int>(), object.at("n").get<int>(), object.at("k").get<int>()};
}
Status status_of(const json& object) {
  const auto status = status_from(object.at("status").get<std::string>());
  if (!status) throw UserError("", exit_usage);
  return *status;
}

void set_swept(ordered_json& o, const Swept& s) {
  if (s.threads == 0) return;  // it could not even be asked
  o["registers"] = s.registers, o["local_bytes"] = s.local_bytes;
  o["static_shared"] = s.static_shared, o["dynamic_shared"] = s.dynamic_shared;
  o["threads"] = s.threads, o["blocks"] = s.blocks;
  o["resident_blocks"] = s.resident_blocks, o["occupancy"] = s.occupancy;
  if (s.wavefronts > 0) o["wavefronts"] = s.wavefronts;
}

Swept swept_of(const json& o) {
  Swept s;
  s.experiment = o.at("experiment").get<std::string>();
  s.variant = o.at("variant").get<std::string>();
  s.label = o.value("label", "");
  s.x = o.at("x").get<int>();
  s.registers = o.value("registers", 0);
  s.local_bytes = o.value("local_bytes", 0LL);
  s.static_shared = o.value("static_shared", 0LL);
  s.dynamic_shared = o.value("dynamic_shared", 0LL);
  s.threads = o.value("threads", 0);
  s.blocks = o.value("blocks", 0LL);
  s.resident_blocks = o.value("resident_blocks", 0);
  s.occupancy = o.value("occupancy", 0.0);
  s.wavefronts = o.value("wavefronts", 0.0);
  return s;
}

ordered_json to_json(const Yardsticks& y) {
  Writer o;
  o.object["math"] = y.math;
  o.set(y.shape);
  o.object["status"] = to_string(y.status);
  o.set("note", y.note);
  o.set("cublas_ms", y.cublas_ms);
  o.set("naive_ms", y.naive_ms);
  o.set("mhz", y.mhz);
  o.object["rounds"] = y.rounds;
  o.object["protocol"] = y.protocol;
  o.set("date", y.date);
  return o.object;
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
  y.mhz = maybe<unsigned>(o, "mhz");
  y.protocol = o.value("protocol", 0u);
  y.date = o.value("date", "");
  return y;
}

ordered_json to_json(const CpuRecord& c) {
  Writer o;
  o.object["what"] = c.point.what;
  o.object["type"] = c.point.type;
  o.set(c.point.shape);
  o.object["status"] = to_string(c.status);
  o.set("note", c.note);
  if (c.status != Status::measured) return o.object;
  o.object["ms"] = c.ms;
  o.object["threads"] = c.threads;
  o.object["rounds"] = c.rounds;
  return o.object;
}

CpuRecord cpu_of(const json& o) {
  CpuRecord c;
  c.point.what = o.at("what").get<std::string>();
  c.point.type = o.at("type").get<std::string>();
  c.point.shape = shape_of(o);
  c.status = status_of(o);
  c.note = o.value("note", "");
  c.ms = o.value("ms", 0.0);
  c.threads = o.value("threads", 0u);
  c.rounds = o.value("rounds", 0u);
  return c;
}

ordered_json to_json(const Prediction& p) {
  return {{"stage", p.key}, {"percent", p.percent}, {"seen", p.seen}};
}

template <typename List>
ordered_json as_array(const List& list) {
  ordered_json all = ordered_json::array();
  for (const auto& one : list) all.push_back(to_json(one));
  return all;
}

}  // namespace

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

std::optional<Ratio> ratio_of(const std::optional<statistics::Interval>& measured) {
  if (!measured) return {};
  return Ratio{rounded(measured->middle), {{rounded(measured->low), rounded(measured->high)}}};
}

std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string cublas_version(int number) {
  if (number == 0) return "none";
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

ordered_json to_json(const Record& r) {
  Writer o;
  o.object["lab"] = r.point.lab;
  o.set("lab_name", r.point.lab_name);
  o.set("mutant", r.mutant);
  o.set("rung", r.point.rung);
  if (r.swept) {
    o.object["experiment"] = r.swept->experiment;
    o.object["variant"] = r.swept->variant;
    o.object["x"] = r.swept->x;
    o.set("label", r.swept->label);
  }
  o.object["type"] = r.point.type;
  o.object["math"] = r.point.math();
  o.set(r.point.shape);
  o.object["status"] = to_string(r.status);
  o.set("note", r.note);
  if (r.status == Status::measured) {
    o.object["ms"] = r.ms;
    if (r.ms_interval) o.object["ms_interval"] = {r.ms_interval->first, r.ms_interval->second};
    o.set("over_cublas", r.over_cublas);
    o.set("over_naive", r.over_naive);
    o.set("cublas_ms", r.cublas_ms);
    o.set("naive_ms", r.naive_ms);
    o.set("errors", r.errors);
    o.set("cublas_errors", r.cublas_errors);
    o.set("mhz", r.mhz);
    if (r.mhz_low && r.mhz_high) o.object["mhz_range"] = {*r.mhz_low, *r.mhz_high};
    o.set("throttle", r.throttle);
    o.object["rounds"] = r.rounds;
    o.set("launches", r.launches, 0);
    o.set("attempts", r.attempts, 1);
    o.set("others", r.others, 0);
    o.set("protocol", r.protocol, 0);
    if (r.verified) o.object["verified"] = true;
  }
  o.set("run", r.run);
  if (r.swept) set_swept(o.object, *r.swept);
  o.set("stage", r.point.stage);
  o.set("title", r.point.title);
  o.set("source", r.source);
  o.set("source_sha256", r.source_sha256);
  o.set("date", r.date);
  o.set("first_measured", r.first_measured);
  return o.object;
}

Record record_of(const json& o) {
  Record r;
  r.point.lab = o.at("lab").get<int>();
  r.point.lab_name = o.value("lab_name", "");
  r.mutant = o.value("mutant", "");
  if (o.contains("experiment"))
    r.swept = swept_of(o);
  else
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
  r.run = maybe<unsigned>(o, "run");
  r.protocol = o.value("protocol", 0u);
  if (r.status != Status::measured) return r;  // wrong code has no time, whatever a file says
  r.ms = o.at("ms").get<double>();
  if (o.contains("ms_interval")) r.ms_interval = {o["ms_interval"].at(0), o["ms_interval"].at(1)};
  r.over_cublas = ratio_in(o, "over_cublas");
  r.over_naive = ratio_in(o, "over_naive");
  r.cublas_ms = maybe<double>(o, "cublas_ms");
  r.naive_ms = maybe<double>(o, "naive_ms");
  r.errors = error_in(o, "errors");
  r.cublas_errors = error_in(o, "cublas_errors");
  r.mhz = maybe<unsigned>(o, "mhz");
  if (o.contains("mhz_range")) r.mhz_low = o["mhz_range"].at(0), r.mhz_high = o["mhz_range"].at(1);
  r.throttle = o.value("throttle", "");
  r.rounds = o.value("rounds", 0u);
  r.launches = o.value("launches", 0u);
  r.attempts = o.value("attempts", 1u);
  r.others = o.value("others", 0u);
  r.verified = o.value("verified", false);
  return r;
}

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
  const std::optional<Ratio>& ratio = over_cublas ? over_cublas : over_naive;
  if (!ratio || !ratio->interval || ratio->middle <= 0) return 0;
  return (ratio->interval->second - ratio->interval->first) / ratio->middle;
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
  ordered_json all = {{"schema", kSchema},
                      {"kind", results.kind},
                      {"machine", results.machine},
                      {"provenance", results.provenance}};
  if (results.kind == "speed-proof") {
    all["runs"] = results.runs;
    all["goals"] = ordered_json::array();
    for (const std::string& goal : results.goals) all["goals"].push_back(ordered_json::parse(goal));
  }
  all["records"] = as_array(results.records);
  if (results.kind == "bench") {
    all["yardsticks"] = as_array(results.yardsticks);
    all["cpu"] = as_array(results.cpu);
    all["predictions"] = as_array(results.predictions);
  }
  return by_lines(all);
}

Results from_text(const std::string& content, const std::string& name, const std::string& kind) {
  Results results;
  const UserError bad(text("bench.bad_file", {{"file", name}, {"kind", kind}}), exit_usage);
  try {
    const json document = json::parse(content);
    if (document.at("schema").get<int>() != kSchema ||
        document.at("kind").get<std::string>() != kind)
      throw bad;
    results.kind = kind;
    results.machine = document.at("machine").get<Words>();
    results.provenance = document.at("provenance").get<Words>();
    const auto list = [&](const char* key) { return document.value(key, json::array()); };
    results.runs = list("runs").get<std::vector<Words>>();
    for (const json& one : list("goals")) results.goals.push_back(one.dump());
    for (const json& one : document.at("records")) {
      results.records.push_back(record_of(one));
      if (const auto run = results.records.back().run; run && *run >= results.runs.size())
        throw bad;
    }
    for (const json& one : list("yardsticks")) results.yardsticks.push_back(yardsticks_of(one));
    for (const json& one : list("cpu")) results.cpu.push_back(cpu_of(one));
    for (const json& one : list("predictions"))
      results.predictions.push_back({one.at("stage").get<std::string>(),
                                     one.at("percent").get<double>(),
                                     one.at("seen").get<std::string>()});
  } catch (const json::exception&) {
    throw bad;
  } catch (const UserError&) {
    throw bad;
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
