// make collect: what would be graded, as files; nothing is compiled.
#include <iostream>

#include <nlohmann/json.hpp>

#include "grader/commands/common.hpp"
#include "grader/course/box/unpacker.hpp"
#include "grader/course/grade/grade.hpp"
#include "grader/course/grade/records.hpp"
#include "grader/course/intake/intake.hpp"
#include "grader/os/files.hpp"

namespace grader {
namespace fs = std::filesystem;

using nlohmann::ordered_json;

ExitCode collect_class(const GradeOptions& options) {
  const Workplace place = workplace(options.place);
  const std::vector<Lab> labs = load_labs(place.root, options.course);
  const intake::Intake intake(options.submissions, options.roster, place.build / "repositories",
                              box::unpacking(grader_program().parent_path(), options.unsafe));
  const fs::path out =
      folder_of_results(options.out.empty() ? place.build / "collected" : fs::absolute(options.out),
                        options.submissions);
  ordered_json students = ordered_json::array();
  unsigned empty = 0, unreachable = 0;
  for (const auto& student : intake.students()) {
    const intake::Collected collected = intake.collect(student, labs);
    // What an earlier run left of this student is not of this one.
    write_sources(out / student.key, collected);
    ordered_json one = {{"id", student.id},
                        {"name", student.name},
                        {"section", student.section},
                        {"late", student.late},
                        {"folder", student.key},
                        {"origins", collected.origins},
                        {"remarks", collected.remarks}};
    if (!collected.unreachable.empty()) {
      ++unreachable;
      one["unreachable"] = collected.unreachable;
      std::cout << intake::shown(student.id) << ": " << collected.unreachable << '\n';
    } else if (collected.sources.empty()) {
      ++empty;
    }
    for (const auto& remark : collected.remarks)
      std::cout << intake::shown(student.id) << ": " << remark << '\n';
    students.push_back(std::move(one));
  }
  for (const auto& line : intake.ignored()) std::cout << "ignored: " << line << '\n';
  const ordered_json document = {{"schema", 1},
                                 {"source", intake.kind()},
                                 {"students", students},
                                 {"unknown", intake.unknown()},
                                 {"missing", intake.missing()},
                                 {"ignored", intake.ignored()}};
  write_file_atomically(
      out / "intake.json",
      document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  std::cout << intake.students().size() << " students (" << intake.kind() << "), " << empty
            << " without a file that counts\nwritten: " << (out / "intake.json").string() << '\n';
  return unreachable > 0 ? exit_infrastructure : exit_ok;
}

}  // namespace grader
