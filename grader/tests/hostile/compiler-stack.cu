// what: expressions a hundred thousand deep: the compiler's own stack
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#define D1(x) (x)+1)
#define T1(x) !!!!!!!!!!x
#define T2(x) T1(T1(T1(T1(T1(T1(T1(T1(T1(T1(x))))))))))
#define T3(x) T2(T2(T2(T2(T2(T2(T2(T2(T2(T2(x))))))))))
#define T4(x) T3(T3(T3(T3(T3(T3(T3(T3(T3(T3(x))))))))))
inline bool deep() { return T4(T4(1)) T4(T4(1)); }
const bool deeper = T4(T3(1)); const bool deepest = T4(T4(T1(1)));
