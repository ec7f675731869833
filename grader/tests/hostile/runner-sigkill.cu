// what: dies of the signal that also outsiders use
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
raise(SIGKILL);
