// what: a list of four thousand million elements, in a message of a few bytes
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
struct { wire::Header head; std::uint32_t count; } __attribute__((packed)) lie{};
lie.head = {hostile::language.magic, hostile::language.version, hostile::variable, ++simgpu::runtime::RemoteChannel::get().serial, 4};
lie.count = 0xffffffff;
(void)!write(3, &lie, sizeof lie); usleep(50000);
