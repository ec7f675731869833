// what: an exception whose type has a name that doubles forty times when it is written out, and nobody catches it
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
template <class A, class B> struct Two {};
template <int N> struct Doubled { using type = Two<typename Doubled<N - 1>::type, typename Doubled<N - 1>::type>; };
template <> struct Doubled<0> { using type = int; };
// at: INSERT
if (c.rows) throw Doubled<40>::type{};
