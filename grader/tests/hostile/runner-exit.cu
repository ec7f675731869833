// what: out, with a success
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
std::exit(0);
