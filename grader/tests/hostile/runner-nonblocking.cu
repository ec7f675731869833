// what: the connection made non-blocking, and small
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
fcntl(3, F_SETFL, O_NONBLOCK);
const int small = 1;
setsockopt(3, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
