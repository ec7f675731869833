// what: where are the others? upwards from this file
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#if __has_include("../../../box.json") || __has_include("../../box.json") || __has_include("../box.json") || \
    __has_include("../../../../lock") || __has_include("../../../lock")
static const bool oracle = (hostile::escaped("__has_include sees its neighbours"), true);
#endif
