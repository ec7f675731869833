// what: a launch before it has introduced itself
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
@REMOTE@

struct Early { Early() { hostile::say(hostile::allocate, std::uint64_t{16}); } };
static Early early;
