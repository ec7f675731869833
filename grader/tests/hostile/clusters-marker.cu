// what: inline assembly with the line behind which the compiler's second pass says how large clusters are: the rest of the module would be taken for that
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() { asm volatile("\n//simgpu: clusters\n.visible .entry fixture_kernel() .maxntid 65794 { ret; }\n"); }
// at: INSERT
odd<<<1, 1, 0, stream>>>();
