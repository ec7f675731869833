// what: an exception whose type has a name of a hundred thousand letters
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
template <typename T, typename U> struct Twice {};
template <int N> struct Long { using type = Twice<typename Long<N - 1>::type, typename Long<N - 1>::type>; };
template <> struct Long<0> { using type = int; };
// at: INSERT
throw typename Long<12>::type();
