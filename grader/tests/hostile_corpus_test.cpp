// Attacks on `make grade`, each a file in grader/tests/hostile/ with the verdicts it must get:
//
//   // what: what it tries
//   // expect: the verdicts of stages 6.0, 6.1 and 6.2
//   // at: GLOBAL, INSERT or SECOND: what follows goes into the fixture lab's gemm.cu there
//
// @SECRET@ is a file that no submission may read, @OUT@ the folder of results, @PID@ this test,
// @PORT@ a listener of its own on 127.0.0.1, @LANDLOCK@ whether this kernel has it, @REMOTE@ the
// text of remote.inc (which has the words of today's protocol put in). An attack that gets through
// prints "ESCAPED" and what. CORPUS="one- two-" tries those files alone whose names begin so. Of what
// attacks are aimed at, test.sh says what has not changed (LEFT_OUT=corpus-engine ...): there one attack
// of each kind is tried, and for boxes no weakening.
// All of them are one class, with two controls among them. Each file is harmless where it escapes,
// and outside of a box it refuses to run. Planted weakenings of the box show that the files bite.
#include <arpa/inet.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "common/simgpu/runtime/protocol.hpp"
#include "common/wire/unique_fd.hpp"
#include "grader/errors.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/zip.hpp"
#include "grader/tests/bench.hpp"

namespace fs = std::filesystem;
using namespace grader;

namespace protocol = simgpu::runtime::protocol;

namespace {

/// What a runner and its worker say to each other, as enumerators: an attack in an old language would
/// be refused for that alone.
std::string runners_words() {
  using Kind = protocol::Kind;
  const std::pair<const char*, Kind> words[] = {
      {"hello", Kind::hello},
      {"returned", Kind::returned},
      {"threw", Kind::threw},
      {"allocate", Kind::allocate},
      {"release", Kind::release},
      {"fill", Kind::fill},
      {"copy", Kind::copy},
      {"copy_in", Kind::copy_in},
      {"copy_out", Kind::copy_out},
      {"find", Kind::find},
      {"memory_info", Kind::memory_info},
      {"variable", Kind::variable},
      {"kernel_info", Kind::kernel_info},
      {"set_max_dynamic_shared", Kind::set_max_dynamic_shared},
      {"launch", Kind::launch},
      {"note_unsupported", Kind::note_unsupported},
      {"note_error", Kind::note_error},
      {"note_default_stream", Kind::note_default_stream},
      {"note_refused_map", Kind::note_refused_map},
      {"model", Kind::model},
      {"call", Kind::call},
      {"ask", Kind::ask},
      {"goodbye", Kind::goodbye},
      {"reply", Kind::reply}};
  std::string list;
  for (const auto& [name, kind] : words)
    list += std::string(name) + " = " + std::to_string(static_cast<unsigned>(kind)) + ", ";
  return list;
}

constexpr const char* token = "the-token-that-nobody-may-see";

struct Attack {
  std::string name, what, expect;
  std::map<std::string, std::string> parts;  ///< marker of the fixture -> code
};

Attack read_attack(const fs::path& file) {
  Attack attack;
  attack.name = file.stem().string();
  std::istringstream lines(read_file(file));
  std::string part;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("// what: ", 0) == 0 && part.empty())
      attack.what = line.substr(9);
    else if (line.rfind("// expect: ", 0) == 0)
      attack.expect = line.substr(11);
    else if (line.rfind("// at: ", 0) == 0)
      part = line.substr(7);
    else if (!part.empty())
      attack.parts[part] += line + "\n";
  }
  return attack;
}

/// What a name begins with.
std::string kind_of(const Attack& attack) {
  return attack.name.substr(0, attack.name.find('-'));
}

/// What attacks of a kind are aimed at, as depends.bash has it.
std::string aim_of(const std::string& kind) {
  static const std::map<std::string, std::string> others = {
      {"clusters", "engine"}, {"device", "engine"}, {"precision", "engine"}, {"ptx", "engine"},
      {"shapes", "engine"},   {"turns", "engine"},  {"report", "pages"}};
  const auto found = others.find(kind);
  return found == others.end() ? "boxes" : found->second;
}

/// Whether test.sh found all that stands between such an attack and a grade as it was when all passed.
bool as_it_was(const std::string& aim) {
  const char* const parts = std::getenv("LEFT_OUT");
  return parts && (std::string(parts) + " ").find(" corpus-" + aim + " ") != std::string::npos;
}

/// Those that may get through where others did not before; of each of the other kinds, the first.
std::vector<Attack> worth_trying(const std::vector<Attack>& attacks) {
  std::vector<Attack> some;
  std::set<std::string> kinds;
  for (const auto& attack : attacks) {
    const std::string kind = kind_of(attack);
    if (kinds.insert(kind).second || !as_it_was(aim_of(kind))) some.push_back(attack);
  }
  return some;
}

/// Whether a name begins with one of the words of CORPUS.
bool chosen(const std::string& name) {
  const char* const words = std::getenv("CORPUS");
  std::istringstream list(words ? words : "");
  for (std::string word; list >> word;)
    if (name.rfind(word, 0) == 0) return true;
  return !words;
}

/// Those whose names begin as CORPUS says, or all.
std::vector<Attack> corpus() {
  std::vector<Attack> attacks;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(test::project_root() / "grader/tests/hostile"))
    if (entry.path().extension() == ".cu" && chosen(entry.path().filename().string()))
      files.insert(entry.path());
  for (const auto& file : files) attacks.push_back(read_attack(file));
  return attacks;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

bool has_landlock() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
}

/// A class, what nobody may see, and a listener.
class Class {
 public:
  Class() : in_(project_.root() / "in"), out_(project_.root() / "out") {
    fs::create_directories(in_);
    fs::permissions(project_.root().parent_path(), fs::perms{0755});  // the box alone hides it
    write_file_atomically(project_.root() / "secret.txt", std::string(token) + "\n");
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_.get(), 8) == 0);
    REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }

  std::string source(const Attack& attack) const {
    std::string text =
        read_file(test::project_root() / "grader/tests/fixtures/lab6_fixture/gemm.cu");
    const std::string guard = read_file(test::project_root() / "grader/tests/hostile/guard.inc");
    const auto put = [&](const std::string& part, const std::string& code) {
      const std::string line = "// " + part + "\n";
      const auto at = text.find(line);
      REQUIRE(at != std::string::npos);
      text.replace(at, line.size(), code);
    };
    for (const char* part : {"INSERT", "SECOND", "GLOBAL"}) {
      const auto found = attack.parts.find(part);
      const std::string code = found == attack.parts.end() ? "" : found->second;
      put(part, (std::string(part) == "GLOBAL" ? guard : "") + code);
    }
    replace_all(text, "@REMOTE@",
                read_file(test::project_root() / "grader/tests/hostile/remote.inc"));
    replace_all(text, "@KINDS@", runners_words());
    replace_all(text, "@MAGIC@", std::to_string(protocol::kProtocol.magic));
    replace_all(text, "@VERSION@", std::to_string(protocol::kProtocol.version));
    replace_all(text, "@LANDLOCK@", has_landlock() ? "true" : "false");
    replace_all(text, "@SECRET@", (project_.root() / "secret.txt").string());
    replace_all(text, "@OUT@", out_.string());
    replace_all(text, "@PID@", std::to_string(::getpid()));
    replace_all(text, "@PORT@", std::to_string(port_));
    return text;
  }
  void hand_in(const Attack& attack) const {
    fs::create_directories(in_ / attack.name / "lab6");
    write_file_atomically(in_ / attack.name / "lab6/gemm.cu", source(attack));
  }
  RunResult grade(const std::vector<std::string>& more = {}) const {
    ProcessSpec spec;
    spec.argv = {(test::build_folder() / "bin/grade").string(),
                 "--root",
                 project_.root().string(),
                 "--build",
                 (project_.root() / "build").string(),
                 in_.string(),
                 "--out",
                 out_.string()};
    spec.argv.insert(spec.argv.end(), more.begin(), more.end());
    spec.environment = minimal_environment();
    spec.output_bytes = 4u << 20;
    return run_process(spec, std::chrono::minutes(20));
  }
  /// Results by student, as text.
  std::map<std::string, std::string> results() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::directory_iterator(out_ / "results")) {
      const std::string text = read_file(entry.path(), 64u << 20);
      found[nlohmann::json::parse(text).at("student").get<std::string>()] = text;
    }
    return found;
  }
  const fs::path& in() const { return in_; }
  const fs::path& out() const { return out_; }
  const fs::path& root() const { return project_.root(); }

 private:
  test::FixtureProject project_;
  fs::path in_, out_;
  UniqueFd listener_;
  unsigned port_ = 0;
};

std::string verdicts(const std::string& result) {
  const auto document = nlohmann::json::parse(result);
  std::string list;
  for (const auto& lab : document.at("labs"))
    for (const auto& stage : lab.at("stages"))
      list += (list.empty() ? "" : " ") + stage.at("verdict").get<std::string>();
  return list;
}

bool unharmed(const std::string& result) {
  return result.find("ESCAPED") == std::string::npos && result.find(token) == std::string::npos &&
         result.find("refusing") == std::string::npos;
}

const std::string passes = "ACCEPTED ACCEPTED ACCEPTED", nothing;  // nothing: no file counts
const Attack right{"control-right", "", passes, {}};
const Attack wrong{"control-wrong", "", "WRONG_ANSWER ACCEPTED LOCKED", {{"INSERT", "return;\n"}}};

/// One entry of a tar, which says of itself what it likes.
std::string tar_entry(const std::string& name, char type, const std::string& link,
                      const std::string& bytes) {
  std::string head(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    head.replace(at, text.size(), text);
  };
  char size[16];
  std::snprintf(size, sizeof size, "%011zo", bytes.size());
  put(0, name), put(100, "0000644"), put(124, size), put(136, "00000000000");
  put(148, "        "), put(156, std::string(1, type)), put(157, link), put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const unsigned char c : head) sum += c;
  std::snprintf(size, sizeof size, "%06o", sum);
  put(148, std::string(size) + '\0');
  return head + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

/// What no file of code can say: links, devices, names, archives, and what lies beside the file.
/// Adds the verdicts that are expected.
void hand_in_folders(const Class& everyone, std::map<std::string, std::string>& expected) {
  const fs::path in = everyone.in(), secret = everyone.root() / "secret.txt";
  const std::string good = everyone.source(right);
  const auto file = [&](const fs::path& path, const std::string& bytes) {
    fs::create_directories((in / path).parent_path());
    write_file_atomically(in / path, bytes);
  };
  for (const char* name : {"folder-symlink", "folder-fifo", "folder-hardlink", "folder-upwards"}) {
    fs::create_directories(in / name / "lab6");
    expected[name] = nothing;
  }
  fs::create_symlink(secret, in / "folder-symlink/lab6/gemm.cu");
  REQUIRE(::mkfifo((in / "folder-fifo/lab6/gemm.cu").c_str(), 0644) == 0);
  fs::create_hard_link(secret, in / "folder-hardlink/lab6/gemm.cu");
  fs::create_directory_symlink(everyone.root(), in / "folder-upwards/lab1");
  // A folder called as the file; a file of a tebibyte, all of it a hole; a file too deep to count.
  expected["folder-folder"] = expected["folder-sparse"] = expected["folder-deep"] = nothing;
  file("folder-folder/lab6/gemm.cu/gemm.txt", good);
  file("folder-sparse/lab6/gemm.cu", good);
  fs::resize_file(in / "folder-sparse/lab6/gemm.cu", std::uintmax_t{1} << 40);
  fs::path deep = "folder-deep";
  for (int i = 0; i < 100; ++i) deep /= "d";
  file(deep / "lab6/gemm.cu", good);
  // Thousands of files; headers and objects that the compiler could take for ours; a repository
  // whose settings start programs.
  expected["folder-wide"] = expected["folder-parts"] = expected["folder-git"] = passes;
  file("folder-wide/lab6/gemm.cu", good);
  for (int i = 0; i < 3000; ++i) file("folder-wide/z/" + std::to_string(i), "");
  file("folder-parts/lab6/gemm.cu", good);
  for (const char* name : {"matrix.hpp", "cuda_runtime.h", "common/matrix.hpp", "cuda_check.cuh"})
    file(fs::path("folder-parts/lab6") / name, "#error \"ESCAPED a header of the submission's\"\n");
  for (const char* name : {"lab6/gemm.o", "lab6/lab.toml", "lab6/goals.cpp", "Makefile", ".clang"})
    file(fs::path("folder-parts") / name, "ESCAPED\n");
  file("folder-git/lab6/gemm.cu", good);
  file("folder-git/.git/HEAD", "ref: refs/heads/main\n");
  file("folder-git/.git/config",
       "[core]\n\tfsmonitor = \"touch command-ran\"\n\tsshCommand = \"touch command-ran\"\n");
  // Names for whoever prints them, and for whoever hands them to a shell or a compiler.
  for (const std::string name :
       {"$(touch command-ran)`touch command-ran`", "=HYPERLINK(\"http:evil\")",
        "<img src=x onerror=alert(1)>", "-o command-ran", "\xe2\x80\xae evil",
        "two\nlines,\"ACCEPTED\"", "\x1b[2J\x1b]0;owned\x07", "@secret"}) {
    file(fs::path(name) / "lab6/gemm.cu", good);
    file(fs::path(name) / ("lab6/" + name.substr(0, 3) + ".cu"), good);
    expected[name] = passes;
  }
  // Archives: paths upwards, links and what goes through them, two files of one name.
  file("folder-zip.zip", zip::write({{"../../secret.txt", "overwritten", {}},
                                     {"lab6/../../../secret.txt", "overwritten", {}}}));
  file("folder-tar.tar", tar_entry("lab6", '2', everyone.root().string(), "") +
                             tar_entry("lab6/secret.txt", '0', "", "overwritten") +
                             tar_entry("lab6/gemm.cu", '1', secret.string(), "") +
                             tar_entry("/dev/shm/command-ran", '0', "", "overwritten") +
                             tar_entry("lab6/pipe.cu", '6', "", "") + std::string(1024, '\0'));
  file("folder-twice.zip",
       zip::write({{"lab6/gemm.cu", good, {}}, {"lab6/gemm.cu", "#error", {}}}));
  expected["folder-zip"] = expected["folder-tar"] = expected["folder-twice"] = nothing;
}

/// Nothing that a terminal obeys, and nothing of the secret.
void check_page(const fs::path& file) {
  const std::string text = read_file(file, 64u << 20);
  INFO(file);
  CHECK(text.find(token) == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  // In JSON an id is what it is: whoever shows it, looks after that.
  if (file.extension() != ".json") CHECK(text.find("\xe2\x80\xae") == std::string::npos);
}

}  // namespace

TEST_CASE("the hostile corpus: no forged verdict, no leak, no effect on others", "[corpus]") {
  const std::vector<Attack> attacks = corpus();
  CHECK((std::getenv("CORPUS") || attacks.size() >= 300));
  const Class everyone;
  std::map<std::string, std::string> expected;
  const std::string table = read_file(test::project_root() / "grader/tests/hostile/README.md");
  const std::string depends = read_file(test::project_root() / "grader/tests/depends.bash");
  for (const auto& attack : attacks) {
    CHECK_FALSE(attack.expect.empty());
    const std::string row =
        "| " + attack.name + " | " + attack.what + " | " + attack.expect + " |\n";
    INFO("grader/tests/hostile/README.md lacks " << row);
    CHECK(table.find(row) != std::string::npos);
    CHECK(depends.find("[grader_tests/corpus-" + aim_of(kind_of(attack)) + "]") !=
          std::string::npos);
  }
  for (const auto& attack : worth_trying(attacks)) {
    expected[attack.name] = attack.expect;
    everyone.hand_in(attack);
  }
  for (const Attack& control : {right, wrong}) {
    expected[control.name] = control.expect;
    everyone.hand_in(control);
  }
  hand_in_folders(everyone, expected);

  const RunResult ran = everyone.grade();
  INFO(ran.errors.substr(0, 4000));
  REQUIRE(WIFEXITED(ran.status));
  CHECK(WEXITSTATUS(ran.status) == exit_ok);  // nothing that a student did is the machine's fault
  const auto results = everyone.results();
  for (const auto& [name, verdict] : expected) {
    INFO(name);
    auto found = results.find(name);
    if (found == results.end()) found = results.find(printable(name));
    REQUIRE(found != results.end());
    INFO(found->second.substr(0, 3000));
    CHECK(verdicts(found->second) == verdict);
  }
  for (const auto& [name, result] : results) {
    INFO(name << ": " << result.substr(0, 3000));
    CHECK(unharmed(result));
    CHECK(result.find('\x1b') == std::string::npos);
    CHECK(result.size() < (64u << 10));  // whatever was printed, warned of and found
  }
  CHECK(results.size() == expected.size());
  for (const char* file : {"grades.csv", "grades.json"}) check_page(everyone.out() / file);
  const fs::path in = everyone.in(), secret = everyone.root() / "secret.txt";
  CHECK(read_file(secret) == std::string(token) + "\n");
  for (const auto& folder : {everyone.root(), in, everyone.out(), fs::current_path()})
    CHECK_FALSE(fs::exists(folder / "command-ran"));
}

TEST_CASE("outside of a box an attack refuses to run", "[corpus]") {
  const Class everyone;
  everyone.hand_in(right);
  const RunResult ran = everyone.grade({"--unsafe"});
  INFO(ran.errors);
  CHECK(verdicts(everyone.results().at(right.name)) == "RUNTIME_ERROR RUNTIME_ERROR LOCKED");
  CHECK(everyone.results().at(right.name).find("refusing: not in a box") != std::string::npos);
}

TEST_CASE("each planted weakening is noticed", "[corpus]") {
  if (as_it_was("boxes")) return;
  struct Row {
    std::vector<std::string> walls;
    const char* attack;
  };
  const Row rows[] = {
      {{"tree"}, "box-read-secret"},
      {{"proc"}, "box-proc"},
      {{"pids"}, "box-pids"},
      {{"seccomp"}, "box-namespaces"},
      {{"seccomp"}, "box-kernel"},
      {{"seccomp"}, "runner-processes"},
      {{"net", "seccomp"}, "box-network"},
      {{"descriptors"}, "box-descriptors"},
      {{"environment"}, "box-environment"},
      {{"readonly"}, "runner-file-bomb"},
      // Two layers, either of which holds by itself: each is noticed by who refuses.
      {{"mount"}, "box-read-only"},
      {{"mount of /dev"}, "box-read-only"},
      {{"landlock"}, "box-read-only"},
      {{"devices"}, "box-devices"},
      {{"kit"}, "box-programs"},
      {{"seed"}, "seed-predicted"},
      {{"state"}, "state-between-rungs"},
  };
  for (const Row& row : rows) {
    std::string walls;
    for (const auto& wall : row.walls) walls += " " + wall;
    if (row.walls.front() == "landlock" && !has_landlock()) continue;
    DYNAMIC_SECTION("without" << walls << ": " << row.attack) {
      const Attack attack = read_attack(test::project_root() / "grader/tests/hostile" /
                                        (std::string(row.attack) + ".cu"));
      const Class everyone;
      everyone.hand_in(attack);
      std::vector<std::string> arguments;
      for (const auto& wall : row.walls) arguments.insert(arguments.end(), {"--weaken", wall});
      const RunResult ran = everyone.grade(arguments);
      const std::string result = everyone.results().at(attack.name);
      INFO(ran.errors << result.substr(0, 2000));
      CHECK((!unharmed(result) || verdicts(result) != attack.expect));
      CHECK(result.find("weakened for a test") != std::string::npos);
    }
  }
}
