// what: an exception with a long text
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
throw std::runtime_error(std::string(1 << 20, (char)0xff));
