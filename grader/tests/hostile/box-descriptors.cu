// what: what was left open
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (int fd = 4; fd < 1024; ++fd)
  if (fcntl(fd, F_GETFD) >= 0) hostile::escaped("a descriptor was inherited");
