// what: its own main loop in the place of the library's: it says "done" to everything and does nothing
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
@REMOTE@
namespace simgpu::runtime {
int simgpu_runner_main(int fd, const Entry* entries, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.emplace_back(entries[i].name);
  hostile::say(hostile::hello, names);
  wire::Message message;
  while (wire::Channel(fd, hostile::language).receive(message, wire::kForever) == wire::Received::message)
    hostile::say(hostile::returned, std::int32_t{0}, false, std::string());
  return 0;
}
}
