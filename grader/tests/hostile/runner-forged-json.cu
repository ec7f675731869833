// what: a forged verdict, and out
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
std::puts("{\"labs\":[{\"stages\":[{\"id\":\"6.0\",\"verdict\":\"ACCEPTED\",\"earned\":3}]}]}"); std::fflush(stdout); _exit(0);
