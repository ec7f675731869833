// what: threads that go on launching beside the runner's first, and that write into its channel
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#include <atomic>
#include <thread>
std::atomic<int> launched{0};
// at: INSERT
// The pause lets the first thread have its turns: without it this is an endless loop of calls.
std::thread([a, b, c, stream] { for (;; ++launched, usleep(200)) launch(a, b, c, stream); }).detach();
while (launched < 3) usleep(100);
// at: SECOND
std::thread([] { write(3, "garbage", 7); }).join();
