// what: handlers for every signal that return at once, and a fault that comes again for ever
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
for (int s = 1; s < 65; ++s) signal(s, [](int) {});
*static_cast<volatile int*>(nullptr) = 1;
