// what: files without an end
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (const char* name : {"/tmp/x", "/x", "/kit/x", "/dev/shm/x", "/dev/x", "/usr/x", "/var/tmp/x", "x"})
  if (open(name, O_CREAT | O_WRONLY, 0644) >= 0) hostile::escaped("a file could be made");
if (mkdir("/made", 0700) == 0) hostile::escaped("a folder could be made");
