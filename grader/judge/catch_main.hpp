// A Catch2 session with the given arguments; at most one per process.
#pragma once

namespace grader {

int run_catch_session(int argc, const char* const* argv);

}  // namespace grader
