// what: what differs from one compilation to the next: date, time, counters and the file's name
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
static const char* const when = __DATE__ __TIME__ __TIMESTAMP__ __FILE__ __BASE_FILE__;
// at: INSERT
std::puts(when);
