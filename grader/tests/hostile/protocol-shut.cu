// what: half-closes the connection
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
shutdown(3, SHUT_RDWR); sleep(1);
