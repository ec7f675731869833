// what: another program in its place: the runner once more
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
char* const again[] = {const_cast<char*>("/kit/runner"), nullptr};
execve(again[0], again, environ);
