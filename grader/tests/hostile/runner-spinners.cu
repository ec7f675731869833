// what: all processors for itself
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#include <thread>
// at: INSERT
static bool once = true;
for (int i = 0; once && i < 40; ++i) std::thread([] { for (volatile int n = 0;; n = n + 1) {} }).detach();
once = false;
