// What verdicts are worth: points, speed, lateness; and the worse of two runs.
#include "grader/course/grade/points.hpp"
#include "common/catch2.hpp"
#include "grader/course/grade/judging.hpp"

namespace {

using namespace grader;

std::vector<Lab> one_lab() {
  Lab lab;
  lab.id = 7;
  lab.name = "lab7_x";
  for (const char* id : {"7.0", "7.1", "7.2"}) {
    Stage stage;
    stage.id = id;
    stage.points = 10;
    stage.kind = stage.id == "7.2" ? Kind::bonus : Kind::core;
    lab.stages.push_back(stage);
  }
  return {lab};
}

/// A record with these states of 7.0, 7.1, 7.2.
Record record_of(const std::vector<std::string>& states) {
  Record stages = Record::array();
  for (std::size_t i = 0; i < states.size(); ++i)
    stages.push_back({{"id", "7." + std::to_string(i)},
                      {"state", states[i]},
                      {"headline", "run"},
                      {"notes", Record::array()},
                      {"points", 1.0},
                      {"earned", 0.5}});
  return {{"status", "GRADED"},
          {"score", {{"earned", 99}, {"stages", 3}}},
          {"labs", {{{"id", 7}, {"name", "lab7_x"}, {"stages", stages}}}}};
}

Record measured(Record record, const Record& speeds) {
  record["labs"][0]["stages"][1]["gpu"] = {{"state", "passed"}, {"speed", speeds}};
  return record;
}

Record goal(const std::string& verdict, const Record& suspect = Record::array()) {
  return {{"verdict", verdict}, {"suspect", suspect}};
}

}  // namespace

TEST_CASE("points are put into a record, and follow the course") {
  const auto labs = one_lab();
  Record record = record_of({"passed", "failed", "passed"});
  const Standing standing = give_points(record, labs, {}, {}, false);
  CHECK(standing.score == 10);
  CHECK(standing.bonus == 10);
  CHECK(standing.late_cost == 0);
  CHECK(record["labs"][0]["stages"][0]["earned"] == 10);
  CHECK(record["labs"][0]["stages"][1]["earned"] == 0);
  CHECK(record["labs"][0]["stages"][1]["points"] == 10);
  CHECK(record["score"]["earned"] == 10);
  CHECK(record["score"]["possible"] == 20);
  CHECK(record["score"]["stages"] == 3);
  Record again = record;
  give_points(again, labs, {}, {}, false);
  CHECK(again == record);

  Record ill = record_of({"passed", "infra", "passed"});
  const Standing doubt = give_points(ill, labs, {}, {}, false);
  CHECK_FALSE(doubt.stages.at("7.1"));
  CHECK(doubt.stages.at("7.0") == 10);
}

TEST_CASE("lateness costs what the course says, and nothing where nobody knows it") {
  const auto labs = one_lab();
  Course course;
  course.cost_percent = 30;
  course.free_days = 1;
  course.most_days = 4;
  const auto score = [&](std::optional<double> days) {
    Record record = record_of({"passed", "passed", "passed"});
    const Standing standing = give_points(record, labs, course, {days, false}, false);
    CHECK(standing.score + standing.bonus + standing.late_cost == 30);
    return standing.score;
  };
  CHECK(score({}) == 20);
  CHECK(score(0) == 20);
  CHECK(score(1) == 20);
  CHECK(score(2) == 14);
  CHECK(score(4) == 2);
  CHECK(score(5) == 0);
  course.most_days.reset();
  CHECK(score(100) == 0);

  intake::Submission student;
  student.late = true;
  CHECK(lateness_of(student, course).open);
  CHECK_FALSE(lateness_of(student, {}).open);
  course.due = 1000;
  student.submitted = 1000;
  CHECK(lateness_of(student, course).days == 0);
  student.submitted = 1001;
  CHECK(lateness_of(student, course).days == 1);
  student.submitted = 1000 + 86400;
  CHECK(lateness_of(student, course).days == 1);
  student.submitted = 1000 + 86401;
  CHECK(lateness_of(student, course).days == 2);
  student.submitted = 0;
  CHECK(lateness_of(student, course).days == 0);
  student.late_days = 0.5;
  CHECK(lateness_of(student, course).days == 0.5);
  CHECK_FALSE(lateness_of(student, course).open);
}

TEST_CASE("speed counts as the course says, and only a measurement takes it away") {
  const auto labs = one_lab();
  Course course;
  course.speed = SpeedCounts::points;
  course.speed_points = {{"7.1", 4}};
  CHECK(possible_in(labs, course, true).score == 24);
  CHECK(possible_in(labs, course, false).score == 20);
  const auto of = [&](Record record, bool on_gpu = true) {
    return give_points(record, labs, course, {}, on_gpu);
  };
  const Record right = record_of({"passed", "passed", "passed"});
  const auto goals = [](std::initializer_list<Record> all) {
    Record list = Record::array();
    for (const Record& one : all) list.push_back(one);
    return list;
  };
  CHECK(of(measured(right, goals({goal("pass"), goal("pass")}))).score == 24);
  CHECK(of(measured(right, goals({goal("pass"), goal("fail")}))).speed.at("7.1") == 0);
  for (const Record& doubt :
       {goals({goal("pass"), goal("inconclusive")}), goals({goal("not_measured")}), goals({}),
        goals({goal("pass", goals({"events and clock differ"}))})}) {
    const Standing standing = of(measured(right, doubt));
    CHECK_FALSE(standing.speed.at("7.1"));
    CHECK(standing.score == 20);
  }
  CHECK_FALSE(of(right).speed.at("7.1"));
  CHECK(of(right, false).speed.empty());
  CHECK(of(record_of({"passed", "failed", "passed"})).speed.at("7.1") == 0);
  CHECK_FALSE(of(record_of({"passed", "infra", "passed"})).speed.at("7.1"));
  course.speed = SpeedCounts::bonus;
  const Standing beside = of(measured(right, goals({goal("pass")})));
  CHECK(beside.score == 20);
  CHECK(beside.bonus == 14);
}

TEST_CASE("of two runs the worse verdict of each stage counts") {
  Record record = record_of({"passed", "passed", "failed"});
  Record other = record_of({"passed", "failed", "passed"});
  other["labs"][0]["stages"][1]["headline"] = "other run";
  take_worse(record, other);
  CHECK(record["labs"][0]["stages"][0]["state"] == "passed");
  CHECK(record["labs"][0]["stages"][1]["state"] == "failed");
  CHECK(record["labs"][0]["stages"][1]["headline"] == "other run");
  CHECK(record["labs"][0]["stages"][1]["notes"].size() == 1);
  CHECK(record["labs"][0]["stages"][2]["state"] == "failed");
  CHECK(record["labs"][0]["stages"][2]["notes"].empty());
  take_worse(record, record_of_failure("a full disk"));
  CHECK(status_of(record) == GradeStatus::infra_error);
}
