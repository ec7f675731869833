// what: %n and pointers of the host in a kernel's format
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__global__ void say(int* p) { printf("%n %s %*.*d %ls %hhn\n", p, reinterpret_cast<const char*>(p), 1 << 30, 1 << 30, 7, p, p); }
// at: INSERT
int here = 0; say<<<1, 1, 0, stream>>>(&here);
