// what: the same in an exception
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
throw std::runtime_error("\x1b[2J\"},{\"verdict\":\"ACCEPTED\"}\xc3\x28");
