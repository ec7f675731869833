// what: what only the worker may say: a reply, a goodbye
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
hostile::say(hostile::reply, std::int32_t{0}); hostile::say(hostile::goodbye); usleep(50000);
