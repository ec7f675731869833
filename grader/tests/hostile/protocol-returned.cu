// what: says "returned" and goes on working
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
hostile::say(hostile::returned, std::int32_t{0}, false, std::string()); usleep(300000);
