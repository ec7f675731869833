// what: a message with another's number
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
simgpu::runtime::RemoteChannel::get().serial += 1000; hostile::say(hostile::allocate, std::uint64_t{16}); usleep(50000);
