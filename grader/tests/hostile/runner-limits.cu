// what: its own limits raised, those of process 1 lowered: whose death nobody could explain
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#include <sys/resource.h>
// at: INSERT
const rlimit one{1, 1}, endless{RLIM_INFINITY, RLIM_INFINITY};
if (prlimit(1, RLIMIT_CPU, &one, nullptr) == 0) hostile::escaped("the limits of process 1 can be changed");
for (auto what : {RLIMIT_CPU, RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_CORE})
  if (setrlimit(what, &endless) == 0) hostile::escaped("a limit was raised");
