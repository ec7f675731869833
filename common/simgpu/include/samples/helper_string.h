// The arguments of helper_string.h, a header of NVIDIA's cuda-samples that many programs include, written for the simulated
// GPU: --name, -name and --name=value.
#pragma once
#pragma GCC system_header

#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define FOPEN(file, name, mode) (file = fopen(name, mode))

/// What stands behind "name" or "name=", nullptr if no argument has that name.
inline const char* __simgpu_argument(int argc, const char** argv, const char* name) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; ++i) {
    const char* at = argv[i];
    while (*at == '-') ++at;
    if (at == argv[i] || strncasecmp(at, name, length) != 0) continue;
    if (at[length] == '=') return at + length + 1;
    if (at[length] == '\0') return at + length;
  }
  return nullptr;
}
inline bool checkCmdLineFlag(int argc, const char** argv, const char* name) {
  return __simgpu_argument(argc, argv, name) != nullptr;
}
inline int getCmdLineArgumentInt(int argc, const char** argv, const char* name) {
  const char* const value = __simgpu_argument(argc, argv, name);
  return value ? atoi(value) : 0;
}
inline float getCmdLineArgumentFloat(int argc, const char** argv, const char* name) {
  const char* const value = __simgpu_argument(argc, argv, name);
  return value ? static_cast<float>(atof(value)) : 0.0f;
}
inline bool getCmdLineArgumentString(int argc, const char** argv, const char* name, char** value) {
  *value = const_cast<char*>(__simgpu_argument(argc, argv, name));
  return *value != nullptr;
}
template <typename T>
bool getCmdLineArgumentValue(int argc, const char** argv, const char* name, T* value) {
  const char* const text = __simgpu_argument(argc, argv, name);
  if (text) *value = static_cast<T>(atoi(text));
  return text != nullptr;
}
/// The file if it can be opened as it is named, nullptr otherwise.
inline char* sdkFindFilePath(const char* name, const char*) {
  FILE* const file = fopen(name, "rb");
  if (!file) return nullptr;
  fclose(file);
  return strdup(name);
}
