// what: another program in its place: a shell
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
execl("/bin/sh", "sh", "-c", "echo ACCEPTED; cat /kit/* /box/* /out/* /etc/passwd", nullptr);
