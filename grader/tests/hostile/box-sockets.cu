// what: sockets of every family
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (int family = 1; family < 45; ++family)
  if (socket(family, SOCK_STREAM, 0) >= 0 || socket(family, SOCK_DGRAM, 0) >= 0 || socket(family, SOCK_RAW, 0) >= 0) { hostile::escaped("a socket"); break; }
