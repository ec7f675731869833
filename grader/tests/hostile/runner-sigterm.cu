// what: ends itself by the signal of a spent processor limit, and by others that outsiders send
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
raise(SIGTERM);
