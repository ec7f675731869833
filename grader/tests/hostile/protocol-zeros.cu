// what: zeros to the worker
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
char zeros[65536] = {}; write(3, zeros, sizeof zeros); write(3, zeros, sizeof zeros);
