// what: as many processes as there may be
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (int i = 0; i < 300; ++i)
  if (fork() == 0) for (;;) pause();
