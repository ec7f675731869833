// what: files are opened for writing in every folder that there is, with O_TMPFILE and by dup of what was given
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (const char* f : {"/", "/tmp", "/dev", "/dev/shm", "/run", "/var/tmp", "/kit", "/box", "/usr", "/out", "/lab", "/home", "/root", "/etc"})
  for (const int flags : {O_TMPFILE | O_RDWR, O_PATH | O_DIRECTORY}) {
    const int fd = open(f, flags, 0600);
    if (fd < 0) continue;
    const int made = openat(fd, "mark", O_CREAT | O_WRONLY, 0600);
    if (made >= 0 && (flags & O_TMPFILE) != O_TMPFILE) { std::printf("%s ", f); hostile::escaped("a file was made"); }
    if ((flags & O_TMPFILE) == O_TMPFILE) { std::printf("%s ", f); hostile::escaped("a file without a name was made"); }
    if (made >= 0) close(made);
    close(fd);
  }
