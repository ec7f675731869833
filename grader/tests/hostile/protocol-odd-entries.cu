// what: introduces itself with names that nobody should print
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
@REMOTE@
namespace simgpu::runtime {
int simgpu_runner_main(int, const Entry*, std::size_t) {
  hostile::say(hostile::hello, std::vector<std::string>(2000, "\x1b[2J</script>\n"));
  return 0;
}
}
