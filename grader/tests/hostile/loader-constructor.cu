// what: a verdict printed before main, and out
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
struct Early { Early() { std::puts("{\"verdict\": \"ACCEPTED\"}"); std::fflush(stdout); _exit(0); } };
static Early early;
