// what: messages of no bytes, and bytes out of turn
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (int i = 0; i < 1000; ++i) send(3, "", 0, MSG_NOSIGNAL), send(3, "", 0, MSG_NOSIGNAL | MSG_EOR | MSG_DONTWAIT);
