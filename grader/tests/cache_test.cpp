// What a compiler made is used again only while all that went into it is the same.
#include <filesystem>
#include <fstream>

#include "common/catch2.hpp"
#include "grader/compile/cache.hpp"
#include "grader/os/scratch.hpp"

namespace fs = std::filesystem;
using namespace grader;

namespace {

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("a header of ours that changed is compiled anew, wherever a lab has it from") {
  const Scratch scratch(fs::temp_directory_path());
  const BuildOptions options;
  // A project is hashed once per process, so each state is a project of its own; the cache is one.
  const auto compiled = [&](const std::string& name, const std::string& common,
                            const std::string& given) {
    const Workplace place{scratch.path() / name, scratch.path() / "build", {}};
    put(place.root / "common/matrix.hpp", common);
    put(place.root / "lab3_any/given/deep/tile.cuh", given);
    put(place.root / "said", name);
    const CompilerRuns runs(place, "compiler", options);
    // "-o FILE" follows.
    return runs.run("ptx", "inputs", {"/bin/sh", "-c", "cp said \"$2\"", "compiler"}, "out").bytes;
  };
  CHECK(compiled("first", "1", "1") == "first");
  CHECK(compiled("same", "1", "1") == "first");
  CHECK(compiled("other common", "2", "1") == "other common");
  CHECK(compiled("other given", "1", "2") == "other given");
}
