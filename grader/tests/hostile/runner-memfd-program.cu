// what: a program in memory that has no file, run in the place of the runner
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
const int fd = static_cast<int>(syscall(SYS_memfd_create, "runner", 0u));
if (fd >= 0 && write(fd, "#!/bin/sh\necho ACCEPTED\nexit 0\n", 32) > 0) {
  char* const none[] = {nullptr};
  char* const arguments[] = {const_cast<char*>("runner"), nullptr};
  syscall(SYS_execveat, fd, "", arguments, none, 0x1000 /* AT_EMPTY_PATH */);
}
std::_Exit(0);
