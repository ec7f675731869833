// what: is a solution mounted beside the headers?
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#if __has_include("lab1_naive/solution/gemm.cu") || __has_include("/lab/lab1_naive/lab.toml") || __has_include("lab6_fixture/lab.toml")
static const bool oracle = (hostile::escaped("the labs are mounted"), true);
#endif
