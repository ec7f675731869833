// Closes what isa.hpp opened.
#if SIMGPU_ISA_V3
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
