// what: a listener on this machine
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
int s = socket(AF_INET, SOCK_STREAM, 0);
sockaddr_in to{};
to.sin_family = AF_INET; to.sin_port = htons(@PORT@); to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
if (s >= 0 && connect(s, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) hostile::escaped("the network");
