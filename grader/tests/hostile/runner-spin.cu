// what: spins
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
for (volatile int i = 0;; i = i + 1) {}
