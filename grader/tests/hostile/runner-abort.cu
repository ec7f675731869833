// what: abort
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
std::abort();
