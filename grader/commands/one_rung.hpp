// What `run` and `explain` share: which rung is meant, and what became of calling it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/compile/compile.hpp"
#include "grader/judge/rung_check.hpp"
#include "grader/labs/lab.hpp"

namespace grader {

/// Or UserError listing those that the lab has.
const Rung& rung_named(const Lab& lab, const std::string& name);

/// K for a call of the rung: `asked` if given, else `usual`; always 1 for a rung that takes no other K.
/// UserError if such a rung was asked for another.
std::int64_t k_for(const Lab& lab, const Rung& rung, std::optional<std::int64_t> asked,
                   std::int64_t usual);

/// UserError that `what`, a rung or a lab, has only `types`.
[[noreturn]] void no_such_type(const std::string& what, const std::string& type,
                               const std::vector<std::string>& types);

/// Which signature was wanted of a launcher that the file does not define; empty if it is there.
std::vector<std::string> undefined(const Build& build, const Rung& rung, const std::string& type);

/// Why the host code did not come back; "" if it did. Throws InfraError if that is nobody's fault.
std::string not_returned(const CallOutcome& outcome, const std::string& entry);

/// True if there are no findings, other than that registers will spill.
bool without_findings(const std::vector<simgpu::LaunchReport>& launches);

}  // namespace grader
