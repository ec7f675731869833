// what: a daemon that would outlive the submission
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (fork() == 0) {
  setsid();
  if (fork() == 0) { alarm(600); for (;;) pause(); }
  _exit(0);
}
