// what: the launcher's own kernel defined once more in inline assembly, with nothing in it
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() { asm volatile("}\n.visible .entry _Z3oddv() { ret;"); }
// at: INSERT
odd<<<1, 1, 0, stream>>>();
