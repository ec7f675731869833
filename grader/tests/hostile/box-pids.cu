// what: processes outside, by their numbers
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (kill(@PID@, 0) == 0 || errno == EPERM) hostile::escaped("the test's process is in sight");
if (getpid() > 64) hostile::escaped("a number of the host's");
