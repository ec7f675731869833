// what: templates that never end
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
template <int N> struct Deep { static constexpr int value = Deep<N + 1>::value; };
static const int deep = Deep<0>::value;
