// what: words of the build's own notes in warnings and errors: of the cache, of the second pass, of lines that are cut
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#pragma message("simgpu: marked =1+1 <img src=x onerror=1>")
static_assert(false, "//simgpu: clusters\n\t=HYPERLINK(\"x\")");
