// what: half a character at the end of what is printed, and a NUL
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
std::fwrite("a\0b\xe2\x80", 1, 5, stdout); std::fflush(stdout);
