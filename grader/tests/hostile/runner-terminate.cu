// what: a handler of std::terminate that forges and leaves, and an exception out of noexcept
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#include <exception>
static void give_up() noexcept { throw 1; }
// at: INSERT
std::set_terminate([] { std::puts("{\"verdict\":\"ACCEPTED\"}"); std::fflush(stdout); _exit(0); }); give_up();
