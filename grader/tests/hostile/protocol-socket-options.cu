// what: every option of the socket to the worker, set to one
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
for (int option = 0; option < 80; ++option)
  for (int value : {1, 0x7fffffff}) setsockopt(3, SOL_SOCKET, option, &value, sizeof value);
struct { long seconds, micro; } now = {0, 1};
setsockopt(3, SOL_SOCKET, SO_RCVTIMEO, &now, sizeof now);
setsockopt(3, SOL_SOCKET, SO_SNDTIMEO, &now, sizeof now);
fcntl(3, F_SETFL, O_NONBLOCK);
char byte;
recv(3, &byte, 1, MSG_PEEK);
std::_Exit(0);
