// what: leases and locks on files that all boxes share: the next box would wait for them
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (const char* name : {"/kit/filters/runner", "/kit/box_init", "/kit/runner", "/usr/bin/env"}) {
  const int fd = open(name, O_RDONLY);
  if (fd < 0) continue;
  for (int command : {1024 /* F_SETLEASE */, 1026 /* F_NOTIFY */, 8 /* F_SETOWN */, 10 /* F_SETSIG */, 37 /* F_OFD_SETLK */}) {
    errno = 0;
    if (syscall(SYS_fcntl, fd, command, 0) >= 0 || errno != ENOSYS) hostile::escaped("fcntl beyond its own descriptors");
  }
  close(fd);
}
