// main() of the grader's test program. The implementation of Catch2 is the grader's own object.
#include "grader/judge/catch_main.hpp"

int main(int argc, char** argv) {
  return grader::run_catch_session(argc, argv);
}
