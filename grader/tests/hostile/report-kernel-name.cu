// what: a kernel whose name is markup, a formula and direction marks, in whatever the reports say of it
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd(int* p) asm("=HYPERLINK(<script>\x1b[2J\xe2\x80\xae)");
__global__ void odd(int* p) { p[threadIdx.x + 1000000] = 1; }
// at: INSERT
odd<<<1, 32, 0, stream>>>(nullptr);
