// what: code on the stack, and pages that are written and run
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
asm(".section .note.GNU-stack,\"x\",@progbits\n.text\n");
// at: INSERT
void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
if (page != MAP_FAILED) *static_cast<unsigned char*>(page) = 0xc3, reinterpret_cast<void (*)()>(page)();
