// what: a jump out of the launcher, back into an earlier call of it
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#include <csetjmp>
static std::jmp_buf earlier; static int calls = 0;
// at: INSERT
if (calls++ == 0) { if (setjmp(earlier)) { std::puts("back"); std::fflush(stdout); _exit(0); } } else std::longjmp(earlier, 1);
