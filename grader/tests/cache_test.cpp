// What a compiler made is used again only while all that went into it is the same.
#include <sys/stat.h>

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

TEST_CASE("pruning takes what is oldest, but nothing that is in use") {
  const Scratch scratch(fs::temp_directory_path());
  const Workplace place{scratch.path() / "lab", scratch.path() / "build", {}};
  put(place.root / "common/matrix.hpp", "");
  const BuildOptions options;
  const CompilerRuns runs(place, "compiler", options);
  // Large files that take no place on the disk.
  const auto large = [&](const std::string& name, int minutes) {
    const fs::path path = place.build / "cache" / name;
    put(path, "");
    fs::resize_file(path, 100u << 20);
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
    return path;
  };
  const auto oldest = large("a.pch", 300), older = large("b.pch", 200), old = large("c.pch", 100);
  std::optional<LinkedProgram> held = runs.keep_program("held"), gone = runs.keep_program("gone");
  const fs::path lost = gone->path;
  gone.reset();
  for (const fs::path& program : {held->path, lost}) {
    CHECK((fs::status(program).permissions() & fs::perms::others_exec) != fs::perms::none);
    CHECK(fs::hard_link_count(program) == 1);
    fs::last_write_time(program, fs::file_time_type::clock::now() - std::chrono::hours(9));
  }
  runs.prune();
  CHECK(fs::exists(lost));  // 300 MB: no reason
  const auto recent = large("d.pch", 10), new_one = large("e.pch", 0), newest = large("f.pch", 0);
  runs.prune();
  CHECK(!fs::exists(lost));
  CHECK(fs::exists(held->path));
  for (const auto& path : {oldest, older, old}) CHECK(!fs::exists(path));
  // More than what pruning leaves, yet another grader may be reading them.
  for (const auto& path : {recent, new_one, newest}) CHECK(fs::exists(path));
  // What is still held is neither written nor linked again; what was pruned is.
  const auto inode = [](const fs::path& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_ino;
  };
  const auto before = inode(held->path);
  CHECK(inode(runs.keep_program("held").path) == before);
  CHECK(read_file(runs.keep_program("gone").path) == "gone");
}

TEST_CASE("graders that prune and link at the same time find their programs") {
  const Scratch scratch(fs::temp_directory_path());
  const Workplace place{scratch.path() / "lab", scratch.path() / "build", {}};
  put(place.root / "common/matrix.hpp", "");
  const BuildOptions options;
  put(place.build / "cache/fill.pch", "");
  fs::resize_file(place.build / "cache/fill.pch", 600u << 20);
  std::vector<std::future<int>> graders;
  for (int i = 0; i < 4; ++i)
    graders.push_back(std::async(std::launch::async, [&] {
      const CompilerRuns runs(place, "compiler", options);
      int found = 0;
      for (int round = 0; round < 100; ++round) {
        const LinkedProgram program = runs.keep_program("the same");
        // As if nobody had touched it for long.
        std::error_code error;
        fs::last_write_time(program.path, fs::file_time_type::clock::now() - std::chrono::hours(1),
                            error);
        runs.prune();
        found += fs::exists(program.path) ? 1 : 0;
      }
      return found;
    }));
  for (auto& grader : graders) CHECK(grader.get() == 100);
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
