// what: root
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (setuid(0) == 0 || setgid(0) == 0 || geteuid() == 0) hostile::escaped("root");
