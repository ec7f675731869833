// what: questions without an end, each of them allowed
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
for (;;) hostile::request(hostile::memory_info);
