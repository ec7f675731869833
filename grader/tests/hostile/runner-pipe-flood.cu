// what: prints without an end from many threads at once, to both channels, and never comes back
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
#include <thread>
// at: INSERT
static char lines[65536];
for (int i = 0; i < 8; ++i) std::thread([i] { while (write(1 + i % 2, lines, sizeof lines) > 0) {} }).detach();
for (;;) pause();
