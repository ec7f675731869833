// what: introduces itself with an empty table
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
@REMOTE@
namespace simgpu::runtime {
int simgpu_runner_main(int, const Entry*, std::size_t) {
  hostile::say(hostile::hello, std::vector<std::string>());
  return 0;
}
}
