// what: a function pointer made up
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void odd(long at) { reinterpret_cast<void (*)(int)>(at)(5); }
// at: INSERT
odd<<<1, 1, 0, stream>>>(0x1234567);
