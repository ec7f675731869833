// what: closes what is not its own
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
for (int fd = 0; fd < 256; ++fd) close(fd);
