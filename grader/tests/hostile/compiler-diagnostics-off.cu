// what: diagnostics switched off and made fatal, by pragma, around the generated lines
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#pragma clang diagnostic ignored "-Weverything"
#pragma clang diagnostic fatal "-Wunused"
#pragma clang diagnostic push
