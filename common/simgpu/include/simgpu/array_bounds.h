// What a kernel does that was compiled with -fsanitize=array-bounds, at an index beyond the end of an
// array: it prints where that is, in one line for grader/compile/array_bounds.cpp, and ends. Included
// for such a pass alone.
#ifndef SIMGPU_ARRAY_BOUNDS_H
#define SIMGPU_ARRAY_BOUNDS_H

// clang's own layout of what it hands over. An integer has kind 0, and as info twice the logarithm of
// its bits, plus one if it is signed; its value comes without its sign.
struct __simgpu_type {
  unsigned short kind, info;
  char name[1];  // 'float[8][128]', in quotes
};
struct __simgpu_index {
  const char* file;
  unsigned line, column;
  const __simgpu_type *array, *index;
};

// (line, column, index, thread, block, type, file): numbers first, as a file's name may hold anything.
extern "C" __device__ __attribute__((noinline, used, no_sanitize("array-bounds"))) void
__ubsan_handle_out_of_bounds_abort(void* place, unsigned long index) {
  const __simgpu_index& at = *static_cast<const __simgpu_index*>(place);
  const unsigned bits = 1u << (at.index->info >> 1);
  const bool is_signed = at.index->kind == 0 && at.index->info % 2 == 1 && bits < 64;
  const unsigned above = is_signed ? 64 - bits : 0;
  const long long value = static_cast<long long>(index << above) >> above;
  printf("array bounds %u %u %lld %u %u %u %u %u %u %s %s\n", at.line, at.column, value,
         threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z, at.array->name,
         at.file);
  __trap();
}

#endif
