// what: introduces itself a second time, with other entries
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
hostile::say(hostile::hello, std::vector<std::string>{"gemm_second<float>", "gemm_first<float>"}); usleep(50000);
