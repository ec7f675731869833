// what: a message byte by byte, as slowly as one may
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
const std::uint32_t magic = @MAGIC@;
for (unsigned i = 0;; ++i) { send(3, reinterpret_cast<const char*>(&magic) + i % 4, 1, MSG_NOSIGNAL); sleep(1); }
