// what: a brace closed in inline assembly, and another kernel behind it
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__global__ void odd() { asm volatile("ret;\n}\n.visible .entry forged() {\n.reg .b32 %forged<4>;"); }
