// what: bytes that are no text in inline assembly, quoted by whoever refuses it
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() { asm volatile("\xff\xfe\x1b[2J <b>=1+1</b> \xc2\x9b;"); }
// at: INSERT
odd<<<1, 1, 0, stream>>>();
