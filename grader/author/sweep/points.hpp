// The points of a sweep, as records: what is planned, what a program found, what is known already.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "grader/bench/record.hpp"

namespace grader::sweep {

/// experiment/variant/math/n/x: how the sweep program names a point.
std::string id_of(const bench::Record& record);

/// A line of the program's list, of this lab. Throws nlohmann::json::exception.
bench::Record planned(int lab, const nlohmann::json& line);
/// `point` with what a line of the program found. Wrong code has no time, whatever a line says.
bench::Record measured(const bench::Record& point, const nlohmann::json& line);

/// Needs no further try: it has a time, or cannot run here.
bool done(const bench::Record& record);

/// Points may be taken over if all of this is the same.
std::string identity(const bench::Results& results);

/// The points of `plan` that `known` has not done yet, and `plan` filled with those it has.
std::vector<std::string> merge(std::vector<bench::Record>& plan,
                               const std::vector<bench::Record>& known);

/// What a file gets: without the points that were not reached.
bench::Results reached(const bench::Results& results);

}  // namespace grader::sweep
