// what: the compiler made to quote escape sequences, markup and direction marks
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#error [2J</script><img src=x onerror=alert(1)> =cmd|' /C calc'!A0 ‮gnp.exe
int ⁦x = undefined_‮;
