// A static program loads no library: one of another system would bring that system's C library along. Whoever asks for
// the driver's management library, or for OpenBLAS, is told that there is none, as on a machine without it. The linker
// puts these in the place of the functions without `__wrap_` (--wrap).
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier)
void* __wrap_dlopen(const char* /*name*/, int /*mode*/) {
  return nullptr;
}
void* __wrap_dlsym(void* /*library*/, const char* /*name*/) {
  return nullptr;
}
int __wrap_dlclose(void* /*library*/) {
  return 0;
}
char* __wrap_dlerror() {
  static char text[] = "static";
  return text;
}
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
