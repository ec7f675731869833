// what: extras of the one socket that it has: credentials, its name, its peer, options, the queue on the way back
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
struct { int pid, uid, gid; } peer{}; socklen_t size = sizeof peer;
if (getsockopt(3, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid != 0) hostile::escaped("the number of a process outside");
int one = 1, passed = -1; size = sizeof passed;
if (setsockopt(3, SOL_SOCKET, SO_PASSCRED, &one, sizeof one) == 0) hostile::escaped("options of the socket");
if (getsockopt(3, SOL_SOCKET, 77 /* SO_PEERPIDFD */, &passed, &size) == 0) hostile::escaped("a handle of a process outside");
sockaddr_storage name; size = sizeof name;
if (syscall(SYS_getpeername, 3, &name, &size) == 0 || syscall(SYS_accept, 3, nullptr, nullptr) >= 0) hostile::escaped("a name");
