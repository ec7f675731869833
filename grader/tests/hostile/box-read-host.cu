// what: the host's files
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (const char* name : {"/etc/passwd", "/etc/shadow", "/root", "/home", "/sys/kernel", "/var/tmp", "/boot", "/run", "/srv"})
  if (access(name, F_OK) == 0) hostile::escaped(name);
