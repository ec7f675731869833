// what: layouts packed, functions for both sides and rounding pushed, and never popped
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#pragma float_control(push)
#pragma pack(push, 1)
#pragma clang force_cuda_host_device begin
