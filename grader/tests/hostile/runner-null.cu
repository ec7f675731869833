// what: a null pointer
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
*reinterpret_cast<volatile int*>(16) = 1;
