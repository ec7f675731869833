// what: the grader's own files in the box, written
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (const char* name : {"/kit/box_init", "/kit/runner", "/kit/filters/runner", "/kit/filters", "/usr/bin/ld"})
  if (open(name, O_WRONLY) >= 0 || unlink(name) == 0 || chmod(name, 0777) == 0) hostile::escaped(name);
if (access("/kit/grader", F_OK) == 0) hostile::escaped("the worker's program is in a runner's box");
