// what: the first call is wrong, and the one that is made to explain it ends the process
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: INSERT
static int calls = 0; if (calls++ == 0) return; std::abort();
