// what: a child goes on as the runner beside its parent, on the same channel
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: INSERT
fork(); fork();
// at: SECOND
if (fork() == 0) { setsid(); for (int i = 0; i < 2000; ++i) { write(3, "garbage", 7); usleep(1000); } _exit(0); }
usleep(20000);
