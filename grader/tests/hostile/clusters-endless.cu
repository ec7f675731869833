// what: a second pass for clusters that never ends, after a first that does
// expect: COMPILE_LIMIT COMPILE_LIMIT COMPILE_LIMIT
// at: GLOBAL
#ifdef __SIMGPU_CLUSTER_PASS
template <int N> struct Deep { static constexpr int value = Deep<N - 1>::value + Deep<N - 2>::value + sizeof(Deep<N - 1>); char c[N]; };
template <> struct Deep<0> { static constexpr int value = 0; };
template <> struct Deep<1> { static constexpr int value = 1; };
template <int... N> struct Wide {};
template <int A, int B> struct Far { static constexpr int value = A > 0 ? Far<A - 1, 2 * B>::value + Far<A - 1, 2 * B + 1>::value : 1; };
template <int B> struct Far<0, B> { static constexpr int value = 1; };
static_assert(Far<30, 0>::value != 0);
#endif
__global__ void __cluster_dims__(2) odd() {}
// at: INSERT
odd<<<2, 1, 0, stream>>>();
