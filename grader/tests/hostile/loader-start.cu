// what: the function that calls main, replaced
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
extern "C" int __libc_start_main(...) { std::puts("{\"verdict\": \"ACCEPTED\"}"); std::fflush(stdout); _exit(0); }
