// {fmt} for static programs: distributions have it as a shared library and as headers. What the objects refer to is
// instantiated here, from the headers.
#ifdef FMT_VERSION
#error "a precompiled header has {fmt} already: nothing would be instantiated here"
#endif
#define FMT_HEADER_ONLY
#include <fmt/format.h>

namespace {

[[gnu::used]] std::string (*format)(fmt::string_view, fmt::format_args) = &fmt::vformat;
[[gnu::used]] void (*fail)(const char*, int, const char*) = &fmt::detail::assert_fail;

}  // namespace
