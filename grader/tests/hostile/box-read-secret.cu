// what: reads a file of somebody else
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
char text[256] = {};
if (int fd = open("@SECRET@", O_RDONLY); fd >= 0 && read(fd, text, sizeof text - 1) > 0) { hostile::escaped("read"); std::puts(text); }
