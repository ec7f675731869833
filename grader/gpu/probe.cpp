#include "grader/gpu/probe.hpp"

#include <dlfcn.h>

#include <cstdio>

namespace grader::gpu {
namespace {

template <typename Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

int probe_main() {
  // Never closed: the process ends with it.
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return std::printf("%s", ::dlerror()), 1;
  using Init = int(unsigned);
  using Count = int(int*);
  using Context = int(void**, int);
  Init* const init = find<Init>(library, "cuInit");
  Count* const count = find<Count>(library, "cuDeviceGetCount");
  Context* const retain = find<Context>(library, "cuDevicePrimaryCtxRetain");
  if (!init || !count || !retain) return std::printf("libcuda.so.1 is no driver"), 1;
  int devices = 0;
  void* context = nullptr;
  if (const int error = init(0); error != 0) return std::printf("cuInit says %d", error), 1;
  if (const int error = count(&devices); error != 0 || devices == 0)
    return std::printf("the driver shows no device (%d)", error), 1;
  if (const int error = retain(&context, 0); error != 0)
    return std::printf("no context (error %d)", error), 1;
  return 0;
}

}  // namespace grader::gpu
