// what: devices
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (const char* name : {"/dev/vda", "/dev/sda", "/dev/mem", "/dev/kmsg", "/dev/tty", "/dev/zero", "/dev/ptmx", "/dev/shm"})
  if (access(name, F_OK) == 0) hostile::escaped(name);
if (mknod("/tmp/device", S_IFCHR | 0600, (1 << 8) | 1) == 0) hostile::escaped("mknod");
