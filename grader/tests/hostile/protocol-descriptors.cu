// what: descriptors sent along, by the hundred
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
char space[CMSG_SPACE(200 * sizeof(int))] = {}, byte = 0;
iovec one{&byte, 1};
msghdr message{};
message.msg_iov = &one; message.msg_iovlen = 1; message.msg_control = space; message.msg_controllen = sizeof space;
cmsghdr* const head = CMSG_FIRSTHDR(&message);
head->cmsg_level = SOL_SOCKET; head->cmsg_type = SCM_RIGHTS; head->cmsg_len = CMSG_LEN(200 * sizeof(int));
for (int i = 0; i < 200; ++i) reinterpret_cast<int*>(CMSG_DATA(head))[i] = i % 2 ? 0 : 3;
for (int i = 0; i < 16; ++i) sendmsg(3, &message, 0);
usleep(50000);
