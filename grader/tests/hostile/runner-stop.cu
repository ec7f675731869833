// what: stops itself
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
raise(SIGSTOP);
