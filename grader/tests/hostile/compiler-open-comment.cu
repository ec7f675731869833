// what: a comment that never ends: it would swallow the generated file's own lines
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: SECOND
/* no end
