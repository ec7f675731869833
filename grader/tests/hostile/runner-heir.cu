// what: a child that goes on with the conversation when its parent has left
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (fork() > 0) _exit(0);
