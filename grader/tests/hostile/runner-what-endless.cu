// what: an exception whose text takes for ever, and so does its end
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
struct Slow : std::exception {
  const char* what() const noexcept override { for (volatile int i = 0;; i = i + 1) {} }
  ~Slow() override { for (volatile int i = 0;; i = i + 1) {} }
};
// at: INSERT
throw Slow();
