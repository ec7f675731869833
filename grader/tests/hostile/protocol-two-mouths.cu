// what: threads that go on as the runner beside the first, on the same channel
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#include <thread>
// at: INSERT
std::thread([a, b, c, stream] { for (;;) launch(a, b, c, stream); }).detach();
// at: SECOND
std::thread([] { for (int i = 0; i < 2000; ++i) { write(3, "garbage", 7); usleep(1000); } }).detach();
usleep(20000);
