// The grader's only copy of Catch2's implementation (v2: 10 s to compile, so it stands alone; v3: a
// library).
#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_NO_POSIX_SIGNALS  // the judge's signals are its own
#include "grader/judge/catch_main.hpp"
#include "common/catch2.hpp"

namespace grader {

int run_catch_session(int argc, const char* const* argv) {
  Catch::Session session;
  const int refused = session.applyCommandLine(argc, argv);
  return refused != 0 ? refused : session.run();
}

}  // namespace grader
