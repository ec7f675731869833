// what: a signal every fifty microseconds, while it talks
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#include <sys/time.h>
// at: INSERT
struct sigaction nothing{};
nothing.sa_handler = [](int) {};
sigaction(SIGALRM, &nothing, nullptr);
const itimerval often{{0, 50}, {0, 50}};
setitimer(ITIMER_REAL, &often, nullptr);
