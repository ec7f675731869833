// Messages of the GPU's worker and runner, and the files that go along; a process that speaks
// nonsense, dies or goes silent is an outcome. What any protocol refuses is in wire_test.cpp.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "common/catch2.hpp"
#include "grader/gpu/link.hpp"
#include "grader/gpu/protocol.hpp"
#include "grader/gpu/runner.hpp"
#include "grader/gpu/worker.hpp"

using namespace grader::gpu;
using namespace grader::gpu::protocol;

namespace {

bool same_file(int x, int y) {
  struct stat of_x {
  }, of_y{};
  return ::fstat(x, &of_x) == 0 && ::fstat(y, &of_y) == 0 && of_x.st_dev == of_y.st_dev &&
         of_x.st_ino == of_y.st_ino;
}

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Both ends of a connection in our hands.
struct Both {
  wire::Ends ends = wire::make_ends();
  wire::Channel ours{ends.ours.get(), kProtocol}, theirs{ends.theirs.get(), kProtocol};
  wire::Message message;

  template <typename Body>
  wire::Sent send(Kind kind, const Body& body, const wire::Files& files = wire::kNoFiles) {
    return ours.send(wire::make(kind, 1, body), soon(), files);
  }
  wire::Received receive(bool with_files = false) {
    return theirs.receive(message, soon(), with_files);
  }
  static wire::Deadline soon() { return wire::Clock::now() + std::chrono::seconds(5); }
};

}  // namespace

TEST_CASE("gpu protocol: the longest requests fit, and one launch more does not") {
  Both both;
  for (const std::size_t launches : {std::size_t{5}, kMaxLaunches}) {
    Batch batch{3, std::vector<Launch>(launches)};
    batch.launches.back() = {1, 2, 3, 0};
    REQUIRE(both.send(Kind::batch, batch) == wire::Sent::all);
    REQUIRE(both.receive() == wire::Received::message);
    const auto got = both.message.as<Batch>();
    CHECK(got.what == 3);
    REQUIRE(got.launches.size() == launches);
    CHECK(got.launches.back().c == 3);
    Verify verify;
    verify.launches = batch.launches;
    REQUIRE(both.send(Kind::verify, verify) == wire::Sent::all);
    REQUIRE(both.receive() == wire::Received::message);
    CHECK(both.message.as<Verify>().launches.size() == launches);
  }
  CHECK(fitting(std::vector<Launch>(kMaxLaunches + 1)).size() == kMaxLaunches);
  const Hello hello{std::vector<std::string>(kMaxEntries, std::string(kMaxName, 'x'))};
  REQUIRE(both.send(Kind::hello, hello) == wire::Sent::all);
  CHECK(both.receive() == wire::Received::message);
  const std::string text(kMaxText, 'x');
  Done done;
  done.call = done.name = done.text = text;
  REQUIRE(both.send(Kind::done, done) == wire::Sent::all);
  CHECK(both.receive() == wire::Received::message);
  REQUIRE(both.send(Kind::batch, Batch{0, std::vector<Launch>(kMaxLaunches + 8)}) ==
          wire::Sent::all);
  CHECK(both.receive() == wire::Received::garbage);
  CHECK(capped((text + text).c_str()) == text);
  CHECK(capped(nullptr).empty());
}

TEST_CASE("gpu protocol: a file travels only to those who expect one") {
  Both both;
  const int one = both.ends.theirs.get(), other = both.ends.ours.get();
  REQUIRE(both.send(Kind::call, Call{}, {one, -1}) == wire::Sent::all);
  REQUIRE(both.receive(true) == wire::Received::message);
  CHECK(both.message.files[0]);
  CHECK_FALSE(both.message.files[1]);
  // Two arrive in the order in which they were sent.
  REQUIRE(both.send(Kind::open, Arenas{}, {one, other}) == wire::Sent::all);
  REQUIRE(both.receive(true) == wire::Received::message);
  REQUIRE(both.message.files[1]);
  CHECK(same_file(both.message.files[0].get(), one));
  CHECK(same_file(both.message.files[1].get(), other));
  // The next message closes what came with the one before.
  const int stale = both.message.files[0].get();
  REQUIRE(both.send(Kind::call, Call{}, {one, other}) == wire::Sent::all);
  REQUIRE(both.receive() == wire::Received::message);
  CHECK_FALSE(both.message.files[0]);
  CHECK(::fcntl(stale, F_GETFD) == -1);
}

TEST_CASE("gpu protocol: more files than a message may have are closed, not kept") {
  Both both;
  const std::size_t before = open_files();
  wire::Header header{kProtocol.magic, kProtocol.version, static_cast<std::uint16_t>(Kind::info), 1,
                      0};
  // In one go, or with each byte of the header.
  for (const std::size_t piece : {sizeof header, std::size_t{1}}) {
    for (std::size_t at = 0; at < sizeof header; at += piece) {
      iovec part{reinterpret_cast<char*>(&header) + at, piece};
      msghdr message{};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      const std::array<int, 5> many = {0, 0, 0, 0, 0};
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof many)] = {};
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* const rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof many);
      std::memcpy(CMSG_DATA(rights), many.data(), sizeof many);
      REQUIRE(::sendmsg(both.ends.ours.get(), &message, 0) == static_cast<ssize_t>(piece));
    }
    REQUIRE(both.receive(true) == wire::Received::message);
    CHECK(open_files() == before + wire::kMaxFiles);
    both.message = {};
    CHECK(open_files() == before);
  }
}

namespace {

/// A "runner" in shell: says what it is told to on descriptor 3, then does what it is told to.
RunnerSpec shell(const std::string& script) {
  RunnerSpec spec;
  spec.wrapper = {"/bin/sh", "-c"};
  spec.program = script;
  spec.first_patience = std::chrono::milliseconds(400);
  spec.patience = std::chrono::milliseconds(400);
  return spec;
}

grader::CallOutcome call(Runner& runner) {
  grader::CallSpec spec;
  spec.entry = "gemm_naive<float>";
  spec.a = spec.b = spec.c = grader::diag::Matrix(grader::diag::ElementType::float32, 2, 2, 2);
  return runner.call(spec);
}

}  // namespace

TEST_CASE("gpu runner: a process that is no runner gives an outcome, never an accident") {
  using grader::CallEnd;
  Runner leaves(shell("echo VERDICT: PASS; exit 0"));
  grader::CallOutcome seen = call(leaves);
  CHECK(seen.end == CallEnd::exited);
  CHECK(seen.said == "VERDICT: PASS\n");
  CHECK_FALSE(leaves.alive());

  Runner status(shell("exit 41"));
  CHECK(call(status).exit_status == 41);
  Runner dies(shell("kill -SEGV $$"));
  seen = call(dies);
  CHECK(seen.end == CallEnd::crashed);
  CHECK(seen.signal == SIGSEGV);
  Runner silent(shell("sleep 20"));
  CHECK(call(silent).end == CallEnd::hung);
  Runner chatty(shell("echo I am fast >&3; sleep 20"));
  CHECK(call(chatty).end == CallEnd::protocol);
  Runner closes(shell("exec 3>&-; sleep 20"));
  CHECK(call(closes).end == CallEnd::protocol);
  // And again: each call starts a new process, and no descriptor or process is left over.
  CHECK(call(status).exit_status == 41);
  CHECK(Link::alive() == 0);
}

TEST_CASE("gpu runner: sees its socket, /dev/null, two pipes and no other descriptor") {
  Runner runner(shell("ls /proc/self/fd | tr '\\n' ' '; exit 0"));
  // ls itself opens the folder.
  CHECK(call(runner).said == "0 1 2 3 4 ");
}

TEST_CASE("gpu worker: one that is none is our own fault") {
  WorkerSpec spec;
  spec.program = "/bin/false";
  CHECK_THROWS_AS(TimingWorker(spec), grader::InfraError);
  spec.program = "/does/not/exist";
  CHECK_THROWS_AS(TimingWorker(spec), grader::InfraError);
}

TEST_CASE("gpu worker: memory of buffers is known before it is asked for") {
  const Problem problem{Type::float16, 4096, 2048, 1024};
  CHECK(problem.bytes_a() == 4096ull * 1024 * 2);
  CHECK(problem.bytes_b() == 1024ull * 2048 * 2);
  CHECK(problem.bytes_c() == 4096ull * 2048 * 4);
  CHECK(problem.flops() == 2.0 * 4096 * 2048 * 1024);
  const std::uint64_t one = bytes_of(problem, {1, 0, 0, 0});
  CHECK(one >= problem.bytes_a() + 512);
  CHECK(bytes_of(problem, {3, 0, 0, 0}) == 3 * one);
  CHECK(bytes_of(problem, {0, 0, 2, 1}) == bytes_of(problem, {0, 0, 3, 0}));
  CHECK(wire_type("float", true) == Type::tf32);
  CHECK(wire_type("bfloat16", false) == Type::bfloat16);
  CHECK_THROWS_AS(wire_type("float16", false), std::invalid_argument);
  CHECK(allowed_units(Type::float32) == 32);
  CHECK(allowed_units(Type::tf32) == 128);
}
