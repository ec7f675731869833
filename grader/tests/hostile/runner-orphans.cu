// what: orphans by the thousand, for process 1 to bury
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
static bool once = true;
for (int i = 0; once && i < 2000; ++i) {
  const pid_t child = fork();
  if (child == 0) { if (fork() == 0) _exit(0); _exit(0); }
  if (child > 0) waitpid(child, nullptr, 0);
}
once = false;
