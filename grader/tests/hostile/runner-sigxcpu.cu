// what: SIGXCPU to itself
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
raise(SIGXCPU);
