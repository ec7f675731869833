// what: a raw string that never ends
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: SECOND
std::puts(R"(
