// what: PTX that names a file, a section of debug info and pragmas for other tools, behind a closed kernel
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__global__ void odd() {
#ifdef __CUDA_ARCH__
  asm volatile("ret; }\n.file 9 \"@SECRET@\"\n.section .debug_info { .b8 1 }\n.pragma \"include @SECRET@\";\n.extern .func exit;\n.visible .entry other() {");
#endif
}
