// what: kills everything that it can reach: its own process 1, its session, all
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
kill(1, SIGKILL); kill(getppid(), SIGKILL); kill(-1, SIGSTOP + 0 * kill(-1, SIGCONT));
