// what: a launcher's return forged from within: says that it is done, with an answer that nobody asked for
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
hostile::say(hostile::returned, std::int32_t{0}, true, std::string("ACCEPTED\x1b[2J"));
wire::Message next; while (wire::Channel(3, hostile::language).receive(next, wire::kForever) == wire::Received::message) { if (next.kind != hostile::call) _exit(0); hostile::say(hostile::returned, std::int32_t{0}, true, std::string("x")); }
_exit(0);
