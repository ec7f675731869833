// what: an exit handler that never ends, in a program that was right
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
static const int once = std::atexit([] { for (;;) pause(); }); (void)once;
