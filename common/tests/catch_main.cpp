// main() of every test program, compiled once: Catch2 v2's takes seven seconds.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>

int main(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}
#endif
