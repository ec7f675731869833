// A small program for the staff's scripts: what skeleton.hpp makes of one master, on standard
// output.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "grader/author/skeleton/skeleton.hpp"

namespace {

int usage() {
  std::cerr << "usage: skeleton strip|solve|lines|regions MASTER\n"
               "  strip    what a student gets\n"
               "  solve    the master without its markers\n"
               "  lines    the solution's lines, nothing else\n"
               "  regions  one line per region: stage, first line, number of lines\n";
  return 4;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return usage();
  const std::string command = argv[1];
  const std::string path = argv[2];
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "cannot read " << path << "\n";
    return 3;
  }
  const std::string master{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    const grader::Skeleton made = grader::make_skeleton(master);
    if (command == "strip") {
      std::cout << made.skeleton;
    } else if (command == "solve") {
      std::cout << made.solved;
    } else if (command == "lines") {
      for (const grader::SolutionRegion& region : made.regions) {
        for (const std::string& line : region.lines) std::cout << line << "\n";
      }
    } else if (command == "regions") {
      for (const grader::SolutionRegion& region : made.regions) {
        std::cout << region.stage << " " << region.first_line << " " << region.lines.size() << "\n";
      }
    } else {
      return usage();
    }
  } catch (const grader::SkeletonError& error) {
    std::cerr << path << ":" << error.line << ": " << error.what() << "\n";
    return 1;
  }
  return std::cout.flush() ? 0 : 3;
}
