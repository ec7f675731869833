// what: a chain of other programs that ends in the runner: it introduces itself in the middle of a call
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
char env[] = "/usr/bin/env", empty[] = "-i", program[] = "/kit/runner";
char* const chain[] = {env, empty, env, program, nullptr};
execve(env, chain, environ);
