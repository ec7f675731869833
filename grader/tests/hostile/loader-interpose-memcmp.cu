// what: comparison replaced: everything is equal
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
extern "C" int memcmp(const void*, const void*, size_t) noexcept { return 0; }
// at: INSERT
return;
