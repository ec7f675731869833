// what: the program that is process 1, once more, told to report its end on the channel to the worker
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
char report[] = "report=3", files[] = "nofile=64", end[] = "--", program[] = "/kit/runner";
char* const again[] = {const_cast<char*>("/kit/box_init"), report, files, end, program, nullptr};
execve(again[0], again, environ);
