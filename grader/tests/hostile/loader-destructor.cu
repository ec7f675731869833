// what: the last word, after main
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
struct Late { ~Late() { char x[64] = {}; (void)!write(3, x, sizeof x); std::puts("{\"verdict\": \"ACCEPTED\"}"); } };
static Late late;
