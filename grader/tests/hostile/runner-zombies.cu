// what: sixty children that nobody buries, half of them asleep in sessions of their own
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
static int born = 0;
for (int i = 0; i < 60 && born < 60; ++i, ++born) {
  const pid_t child = fork();
  if (child == 0) { if (i % 2) _exit(0); setsid(); close(3); for (;;) pause(); }
}
