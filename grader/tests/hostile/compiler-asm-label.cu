// what: an assembler's name that closes the kernel and opens another in the PTX
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
extern "C" __device__ int hidden asm("h; } .visible .entry other() { ret; } .global .u32 z") = 1;
__global__ void user(int* out) { *out = hidden; }
void use(int* p) { user<<<1, 1>>>(p); }
