// what: does a file exist?
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#if __has_include("@SECRET@")
static const bool oracle = (hostile::escaped("__has_include sees files outside"), true);
#endif
