// what: wrong in the first call alone: the same call, made once more to explain the failure, is right
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: INSERT
static int calls = 0; if (calls++ == 0) return;
