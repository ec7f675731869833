// what: the pipes of its output resized, spliced and given pages that change afterwards
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (int fd : {1, 2}) {
  fcntl(fd, 1031 /* F_SETPIPE_SZ */, 1 << 20);
  fcntl(fd, F_SETFL, O_NONBLOCK | O_DIRECT | O_ASYNC);
  static char page[4096];
  std::memset(page, 'x', sizeof page);
  struct { void* at; std::size_t size; } part = {page, sizeof page};
  syscall(SYS_vmsplice, fd, &part, 1, 8 /* SPLICE_F_GIFT */);
  std::memcpy(page, "\x1b[2J", 4);
  syscall(SYS_splice, fd, nullptr, fd == 1 ? 2 : 1, nullptr, 4096, 2);
  syscall(SYS_tee, fd, fd == 1 ? 2 : 1, 4096, 2);
}
