// what: a namespace left open, in which the generated lines would stand
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: SECOND
launch(a, b, c, stream); }
namespace inside { template <typename T> void unused(T a, T b, T c, T stream) { const auto launch = [](T, T, T, T) {};
