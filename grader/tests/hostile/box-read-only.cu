// what: each layer of the read-only tree by itself: what refuses, the mounts or Landlock
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (const char* name : {"/x", "/kit/x", "/dev/x", "/usr/x"})
  if (open(name, O_CREAT | O_WRONLY, 0644) >= 0 || errno != EROFS) hostile::escaped("a mount that can be written");
if (@LANDLOCK@ && (open("/dev/urandom", O_WRONLY) >= 0 || errno != EACCES)) hostile::escaped("no Landlock");
