// What a compiler made is used again only while all that went into it is the same.
#include <filesystem>
#include <fstream>
#include <future>

#include <fmt/format.h>

#include "common/catch2.hpp"
#include "grader/compile/cache.hpp"
#include "grader/compile/unit.hpp"
#include "grader/os/files.hpp"
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
    put(place.root / "common/simgpu/include/cuda/atomic", name == "other atomic" ? "2" : "1");
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
  CHECK(compiled("other atomic", "1", "1") == "other atomic");
}

TEST_CASE("a file that is saved while it is compiled leaves nothing in the cache") {
  const Scratch scratch(fs::temp_directory_path());
  const Workplace place{scratch.path() / "lab", scratch.path() / "build", {}};
  const BuildOptions options;
  const CompilerRuns runs(place, "compiler", options);
  put(place.root / "common/matrix.hpp", "");
  StudentFile student;
  student.open_to_change = place.root / "gemm.cu";
  put(student.open_to_change, "first");
  student.source = "first";
  // A "compiler" that copies the file; before it gets there, an editor may have saved it again.
  const auto compiled = [&](const std::string& saved) {
    put(place.root / "saved", saved);
    return runs
        .run("ptx", student.source,
             {"/bin/sh", "-c", "cp saved gemm.cu; cp gemm.cu \"$2\"", "compiler"}, "out", "",
             [&] { return student.unchanged(); })
        .bytes;
  };
  CHECK(compiled("second") == "second");
  CHECK(!student.unchanged());
  CHECK(compiled("first") == "first");
  CHECK(student.unchanged());
  CHECK(compiled("third") == "first");  // from the cache
}

TEST_CASE("other flags are another result, the same file in another folder is not") {
  const Scratch scratch(fs::temp_directory_path());
  const Workplace place{scratch.path() / "lab", scratch.path() / "build", {}};
  put(place.root / "common/matrix.hpp", "");
  const BuildOptions options;
  const auto compiled = [&](const std::string& flag, const std::string& header) {
    // As a second start of the grader: with a private folder of its own.
    const CompilerRuns runs(place, "compiler", options);
    const std::string source = runs.put("unit.cu", "inputs").string();
    // A "compiler" that writes what it was called with, but for the source: "-o FILE" comes last.
    return runs
        .run("host.o", "inputs",
             {"/bin/sh", "-c", R"(eval out="\${$#}"; shift; echo "$@" >"$out")", source, source,
              flag},
             "out", header)
        .bytes;
  };
  const std::string plain = compiled("-O0", "");
  CHECK(plain.rfind("-O0 -o ", 0) == 0);
  CHECK(compiled("-O0", "") == plain);
  CHECK(compiled("-O0", "a.pch") == plain);
  CHECK(compiled("-O2", "").rfind("-O2 -o ", 0) == 0);
  CHECK(compiled("-O3", "a.pch").rfind("-O3 -Xclang -include-pch -Xclang a.pch -o ", 0) == 0);
}

TEST_CASE("headers of several beginnings are made side by side, and each is its own") {
  const Scratch scratch(fs::temp_directory_path());
  const Workplace place{scratch.path() / "lab", scratch.path() / "build", {}};
  put(place.root / "common/matrix.hpp", "");
  const BuildOptions options;
  const CompilerRuns runs(place, "compiler", options);
  // A "compiler" that copies what it is to read, $7, to where it is to write, $9, and takes its time.
  const std::vector<std::string> slowly = {"/bin/sh", "-c", "cat \"$7\" >\"$9\"; sleep .1", "slow"};
  std::vector<std::string> beginnings;
  for (int i = 0; i < 8; ++i) beginnings.push_back(fmt::format("#include <{}>\n", i));
  std::vector<std::future<std::string>> made;
  for (const std::string& beginning : beginnings)
    made.push_back(
        std::async(std::launch::async, [&] { return runs.header("host.pch", slowly, beginning); }));
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::string header = made[i].get();
    REQUIRE(!header.empty());
    CHECK(read_file(header, 1u << 20) == beginnings[i]);
  }
}

TEST_CASE("what two sources begin with is read once, as far as it is ours and means the same") {
  const auto beginning = [](const std::string& source) {
    const std::string handed_out =
        "// A lab.\n\n#include <mma.h>\n\n#include \"common/matrix.hpp\"  // MatrixView\n"
        "#include <cstdio>\n#include \"common/kernel.cuh\"\nint x;\n";
    return common_beginning(source, handed_out,
                            [](const std::string& name) { return name != "<cstdio>"; });
  };
  const std::string mma = "#include <mma.h>\n", matrix = "#include \"common/matrix.hpp\"\n";
  CHECK(beginning(mma + matrix + "#include <cstdio>\n#include \"common/kernel.cuh\"\n") ==
        mma + matrix);
  CHECK(beginning("// Mine.\r\n  #  include<mma.h> // fragments\r\n\r\n" + matrix) == mma + matrix);
  CHECK(beginning(mma + "#include \"common/kernel.cuh\"\n" + matrix) == mma);
  CHECK(beginning(mma + "int y;\n" + matrix) == mma);
  // A macro changes what a header says, and not every #include is read.
  CHECK(beginning("#define float double\n" + mma).empty());
  CHECK(beginning("#if 0\n" + mma + "#endif\n").empty());
  CHECK(beginning("/*\n" + mma + "*/\n").empty());
  CHECK(beginning("// not \\\n" + mma).empty());
  CHECK(beginning("#include MMA\n" + mma).empty());
  CHECK(beginning("").empty());
}
