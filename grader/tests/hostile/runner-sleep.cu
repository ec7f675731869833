// what: sleeps
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
pause();
