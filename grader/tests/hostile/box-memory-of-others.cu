// what: memory that outlives a process or that several boxes share: segments, keys, shared files, locks
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (syscall(SYS_shmget, 0x1234, 4096, 01600) >= 0) hostile::escaped("a segment");
if (syscall(SYS_semget, 0x1234, 1, 01600) >= 0) hostile::escaped("a semaphore");
if (syscall(SYS_msgget, 0x1234, 01600) >= 0) hostile::escaped("a queue");
for (const char* file : {"/dev/shm/hostile", "/tmp/hostile", "/kit/hostile", "/var/tmp/hostile", "/run/hostile", "/hostile"})
  if (open(file, O_RDWR | O_CREAT, 0666) >= 0) hostile::escaped(file);
const int own = open("/usr/bin/ld", O_RDONLY);
if (own >= 0 && mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0) != MAP_FAILED) hostile::escaped("a shared file, writable");
if (own >= 0 && syscall(SYS_flock, own, 2) == 0) hostile::escaped("a lock");
if (own >= 0 && fsync(own) == 0) hostile::escaped("the disk kept busy");
