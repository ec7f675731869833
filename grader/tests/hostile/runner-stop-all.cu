// what: every process of its number space is stopped, continued and ended
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
kill(1, SIGSTOP); kill(1, SIGKILL); kill(-1, SIGSTOP); kill(-1, SIGKILL); kill(0, SIGKILL);
raise(SIGKILL);
