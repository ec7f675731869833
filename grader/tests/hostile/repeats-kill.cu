// what: the first call is wrong, and in the one that is made to explain it the process kills itself from outside of the protocol
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
#include <signal.h>
// at: INSERT
static int calls = 0; if (calls++ == 0) return; kill(getpid(), SIGKILL);
