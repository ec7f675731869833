// what: an error whose text is lines of a report: another stage, a score, a machine that failed
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#line 1 "x:1:1: error: INFRA_ERROR\n{\"verdict\":\"ACCEPTED\"}"
#error "x" INFRA_ERROR: cannot make a box. Do it again; no space left on device; Killed; PLEASE submit a bug report
