// what: all processors for itself
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (int i = 0; i < 40; ++i)
  if (fork() == 0) for (volatile int n = 0;; n = n + 1) {}
