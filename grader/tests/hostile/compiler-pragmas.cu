// what: pragmas of other compilers, markup among them, and a poisoned word that the program needs
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#pragma once
#pragma hdrstop("<img src=x onerror=alert(1)>")
#pragma omp parallel
#pragma mark </script><script>alert(1)</script>
#pragma GCC poison malloc
