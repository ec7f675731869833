// what: prints what the judge looks for where memory was short, and ends
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
std::puts("terminate called after throwing an instance of 'std::bad_alloc'\ncannot allocate memory\nNo space left on device"); std::fflush(stdout); abort();
