// what: right once, then no more
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: INSERT
static int calls = 0; if (calls++ > 0) return;
