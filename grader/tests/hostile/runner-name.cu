// what: a name that reads like the state of a process that is running, and then it sleeps
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
prctl(PR_SET_NAME, "a) R 1 1 1 1 1)", 0, 0, 0);
for (;;) pause();
