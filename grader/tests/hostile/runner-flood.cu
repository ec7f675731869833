// what: prints a lot, while it is right
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (int i = 0; i < 20000; ++i) std::puts("0123456789012345678901234567890123456789");
