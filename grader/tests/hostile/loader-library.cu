// what: a library from elsewhere
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (int fd = open("/tmp/evil.so", O_CREAT | O_WRONLY, 0755); fd >= 0) hostile::escaped("a library could be written");
