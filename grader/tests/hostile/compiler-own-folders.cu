// what: what lies in the compiler's own folders and descriptors: outputs, and other files of the submission
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#if __has_include("/proc/self/environ") || __has_include("/proc/self/fd/3") || __has_include("/dev/fd/3") || __has_include("/out/../secret.txt") || \
    __has_include("/box/../../secret.txt") || __has_include("/lab/grader/messages.toml") || \
    __has_include("/lab/lab6_fixture/goals.cpp") || __has_include("/etc/shadow") || __has_include("@OUT@")
static const int oracle = (hostile::escaped("__has_include sees more than headers"), 0);
#endif
