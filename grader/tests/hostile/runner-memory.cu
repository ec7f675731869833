// what: more memory than there is
// expect: MEM_LIMIT ACCEPTED LOCKED
// at: INSERT
volatile char* p = new char[std::size_t{1} << 40]; p[0] = 1;
