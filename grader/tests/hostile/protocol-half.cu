// what: half a message, then silence
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
char few[5] = {}; write(3, few, sizeof few); pause();
