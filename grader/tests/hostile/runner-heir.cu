// what: a child that goes on with the conversation when its parent has left
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
if (fork() > 0) _exit(0);
