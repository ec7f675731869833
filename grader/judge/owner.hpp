// Whose code a line of a student's file is: a message that names a line of an earlier stage, or of
// a function that others call, says so.
#pragma once

#include <string>
#include <vector>

namespace grader {

struct Owner {
  std::string stage;     ///< of the TODO in the same function; "" if it has none
  std::string function;  ///< "fetch_tile"; "" where none was recognised
  bool kernel = false;   ///< __global__: nobody hands it indices
};

/// By the layout that files have: what begins and ends at the first column belongs together. The
/// line counts from 1.
Owner owner_of(const std::string& source, unsigned line);

/// The lines that call a function. Where some of them name what `headline` is about ("element 3 of
/// b_tile", "A[17][0]"), those alone.
std::vector<unsigned> calls_of(const std::string& source, const std::string& function,
                               const std::string& headline);

/// A line stands in the function of a stage's TODO, or in one that this calls, or that those call.
bool reached_from(const std::string& source, unsigned line, const std::string& stage);

/// Member functions (`place` of `tile.place(row, col)`) that the function around a line calls and that hold a TODO of
/// a stage: what they return may be what is wrong at the line.
struct Member {
  std::string function, stage;
};
std::vector<Member> members_called_by(const std::string& source, unsigned line);

/// If `headline` is about a shared array that the line does not name: the one that it names (`meant`)
/// and the other (`met`). An index beyond the end of an array meets the next one. Else both are "".
struct Overrun {
  std::string meant, met;
};
Overrun overrun_at(const std::string& source, unsigned line, const std::string& headline);

}  // namespace grader
