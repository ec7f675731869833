// what: an exception without a text, where one is expected
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
struct Silent : std::exception { const char* what() const noexcept override { return nullptr; } };
// at: INSERT
throw Silent();
