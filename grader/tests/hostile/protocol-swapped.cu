// what: the channel is put where printing goes, and printing where the channel was
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: INSERT
dup2(3, 1); std::puts("PASSED PASSED PASSED PASSED PASSED PASSED"); std::fflush(stdout);
// at: SECOND
dup2(1, 3);
