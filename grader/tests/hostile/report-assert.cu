// what: a kernel's assertion, with a text for whoever reads the report
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
#include <cassert>
__global__ void odd(int zero) { assert(zero && "\x1b[2J</script><img src=x onerror=alert(1)> \xe2\x80\xae \xff =HYPERLINK(1)"); }
// at: INSERT
odd<<<1, 32, 0, stream>>>(0);
