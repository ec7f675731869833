// what: calls by their 32-bit numbers, which mean others
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
#if defined(__x86_64__)
if (syscall(0x40000000 + SYS_getpid) > 0) hostile::escaped("x32");
#endif
