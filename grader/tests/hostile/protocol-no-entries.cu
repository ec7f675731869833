// what: introduces itself with an empty table
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
@REMOTE@
namespace simgpu::runtime {
int simgpu_runner_main(int, const Entry*, std::size_t) {
  hostile::say(hostile::hello, std::vector<std::string>());
  return 0;
}
}
