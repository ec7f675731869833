// what: an exception whose text has hundreds of megabytes, none of it UTF-8
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
struct Long : std::exception {
  const char* what() const noexcept override { static const std::string text(300u << 20, '\xff'); return text.c_str(); }
};
// at: INSERT
throw Long();
