// what: LD_PRELOAD and LD_LIBRARY_PATH set by the program for its own second start
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
setenv("LD_PRELOAD", "@SECRET@", 1); setenv("LD_AUDIT", "/proc/self/exe", 1);
execl("/proc/self/exe", "runner", nullptr); execl("/kit/runner", "runner", nullptr); _exit(7);
