// what: nonsense to the worker
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
char nonsense[4096]; std::memset(nonsense, 0x41, sizeof nonsense); write(3, nonsense, sizeof nonsense);
