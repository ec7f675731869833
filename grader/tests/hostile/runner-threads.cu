// what: as many threads as there may be
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#include <thread>
// at: INSERT
for (int i = 0; i < 200; ++i) try { std::thread([] { for (;;) pause(); }).detach(); } catch (...) { break; }
