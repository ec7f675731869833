// what: the first call is wrong, and in the one that is made to explain it garbage goes into the channel
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: INSERT
static int calls = 0; if (calls++ == 0) return; write(3, "garbage", 7);
