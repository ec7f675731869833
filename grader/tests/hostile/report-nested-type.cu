// what: a kernel with a type of a thousand types for its name, in a finding
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
template <int N, class... T> struct Long : Long<N - 1, T..., Long<N - 1, T...>> {};
template <class... T> struct Long<0, T...> {};
template <class T> __global__ void named(T, float* p) { p[1 << 28] = 1; }
// at: INSERT
if (c.rows) named<<<1, 1, 0, stream>>>(Long<9>{}, &c(0, 0));
