#include "grader/course/grade/tables.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "grader/course/grade/measurements.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/report/text.hpp"
#include "grader/version.hpp"

namespace grader {
namespace {

std::string remarks_of(const Record& record) {
  std::string all;
  const auto add = [&](const Record& remark) {
    all += (all.empty() ? "" : "; ") + remark.get<std::string>();
  };
  for (const auto& remark : record.at("remarks")) add(remark);
  if (record.contains("cause")) add(record.at("cause"));
  for (const auto& lab : record.at("labs"))
    if (const Record& build = lab.at("build");
        build.at("status") != "ok" && build.at("status") != "missing")
      add(build.at("headline"));
  return all;
}

/// None: not judged, or nobody may lose points by what was.
std::optional<double> points_in(const std::map<std::string, std::optional<double>>& stages,
                                const std::string& stage, GradeStatus status) {
  if (const auto found = stages.find(stage); found != stages.end()) return found->second;
  return status == GradeStatus::no_submission ? std::optional(0.0) : std::nullopt;
}

std::string cell(const std::optional<double>& points) {
  return points ? plain(*points) : "";
}

std::string csv_head(const ClassTable& table) {
  std::string head = "student,status,score,bonus";
  for (const auto& lab : table.labs)
    for (const auto& stage : lab.stages) head += "," + csv_cell(stage.id);
  if (table.measured)
    for (const auto& [stage, points] : table.course.speed_points)
      head += "," + csv_cell(stage + " speed");
  return head + ",late,late_days,late_cost,name,section,remarks,protection\n";
}

std::string csv_row(const ClassTable& table, std::size_t index) {
  const intake::Submission& student = table.intake.students()[index];
  const Graded& entry = table.entries[index];
  const Standing& standing = entry.standing;
  const GradeStatus status = entry.status;
  const bool graded = has_score(status);
  std::string row = csv_cell(student.id) + "," + name_of(status) + "," +
                    (graded ? plain(standing.score) : "") + "," +
                    (graded ? plain(standing.bonus) : "");
  for (const auto& lab : table.labs)
    for (const auto& stage : lab.stages)
      row += "," + cell(points_in(standing.stages, stage.id, status));
  for (const auto& [stage, points] : standing.speed) row += "," + cell(points);
  if (table.measured && standing.speed.empty()) row.append(table.course.speed_points.size(), ',');
  const bool late = student.late || standing.late.days.value_or(0) > 0;
  row += std::string(late ? ",late," : ",,") + cell(standing.late.days) + "," +
         (standing.late_cost > 0 ? plain(standing.late_cost) : "") + "," + csv_cell(student.name) +
         "," + csv_cell(student.section) + "," + csv_cell(entry.remarks) + "," +
         csv_cell(table.protection) + "\n";
  return row;
}

Record json_entry(const ClassTable& table, std::size_t index) {
  const intake::Submission& student = table.intake.students()[index];
  const Graded& entry = table.entries[index];
  const Standing& standing = entry.standing;
  const GradeStatus status = entry.status;
  Record points = Record::object();
  for (const auto& lab : table.labs)
    for (const auto& stage : lab.stages)
      if (const auto earned = points_in(standing.stages, stage.id, status))
        points[stage.id] = *earned;
  Record one = {{"student", student.id}, {"status", name_of(status)}};
  if (!student.name.empty()) one["name"] = student.name;
  if (!student.section.empty()) one["section"] = student.section;
  if (student.late || standing.late.days.value_or(0) > 0) one["late"] = true;
  if (standing.late.days) one["late_days"] = *standing.late.days;
  if (standing.late.open) one["late_open"] = true;
  if (standing.late_cost > 0) one["late_cost"] = standing.late_cost;
  if (!student.roster.empty()) one["roster"] = student.roster;
  if (has_score(status)) {
    one["score"] = standing.score;
    one["bonus"] = standing.bonus;
  }
  one["stages"] = points;
  if (table.measured) {
    Record open = Record::array();
    for (const auto& stage : entry.undecided) open.push_back(stage.stage);
    one["undecided"] = open;
  }
  if (!standing.speed.empty()) one["speed"] = speed_in(standing);
  one["remarks"] = entry.remarks;
  one["result"] = "results/" + student.key + ".json";
  return one;
}

void print_list(const char* what, const std::vector<std::string>& ids) {
  for (const auto& id : ids) std::cout << what << ": " << intake::shown(id) << '\n';
}

void print_undecided(const ClassTable& table) {
  bool any = false;
  for (std::size_t i = 0; i < table.entries.size(); ++i)
    for (const auto& open : table.entries[i].undecided) {
      if (!any) std::cout << messages::text("grade.undecided") << '\n';
      any = true;
      std::cout << "    " << intake::shown(table.intake.students()[i].id) << ", stage "
                << open.stage << ": " << printable(open.why) << '\n';
    }
}

}  // namespace

Graded::Graded(const Record& record, const std::vector<Lab>& labs, Standing worth)
    : status(status_of(record)),
      remarks(remarks_of(record)),
      undecided(grader::undecided(record, labs)),
      standing(std::move(worth)) {}

std::string plain(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

void ClassTable::write(const std::filesystem::path& out) const {
  std::string csv = csv_head(*this);
  Record students = Record::array();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    csv += csv_row(*this, i);
    students.push_back(json_entry(*this, i));
  }
  const Possible possible = possible_in(labs, course, measured);
  const Record document = {{"schema", 1},
                           {"version", version()},
                           {"protection", protection},
                           {"device", measured ? "gpu" : "sim"},
                           {"setting", setting},
                           {"possible", possible.score},
                           {"bonus_possible", possible.bonus},
                           {"students", students},
                           {"source", intake.kind()},
                           {"unknown", intake.unknown()},
                           {"missing", intake.missing()},
                           {"ignored", intake.ignored()}};
  write_file_atomically(out / "grades.csv", csv);
  write_file_atomically(out / "grades.json", dump(document));
}

void ClassTable::print() const {
  const double possible = possible_in(labs, course, measured).score;
  std::cout << report::pad("student", 28) << report::pad("score", 12) << report::pad("bonus", 8)
            << "status\n";
  std::size_t late = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Standing& standing = entries[i].standing;
    const bool graded = has_score(entries[i].status);
    std::string name = printable(intake.students()[i].id);
    std::replace(name.begin(), name.end(), '\n', ' ');
    std::cout << report::pad(report::fit(name, 27), 28)
              << report::pad(graded ? plain(standing.score) + "/" + plain(possible) : "-", 12)
              << report::pad(graded ? plain(standing.bonus) : "-", 8) << name_of(entries[i].status)
              << '\n';
    if (standing.late.open) ++late;
    if (standing.late_cost > 0)
      std::cout << "    " << plain(*standing.late.days)
                << " days late: " << plain(standing.late_cost) << " points less\n";
    if (!entries[i].remarks.empty())
      for (const auto& line : report::wrap(printable(entries[i].remarks), 76))
        std::cout << "    " << line << '\n';
  }
  if (measured) print_undecided(*this);
  print_list("not in the roster", intake.unknown());
  print_list("handed nothing in", intake.missing());
  for (const auto& line : intake.ignored()) std::cout << "ignored: " << line << '\n';
  if (late > 0)
    std::cout << late
              << " handed in late, and nothing says by how much: a column \"late days\" in the "
                 "roster does. Nothing was taken from them.\n";
}

}  // namespace grader
