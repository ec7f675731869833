// what: questions without an end, and the answers left where they are
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
for (;;) hostile::say(hostile::memory_info);
