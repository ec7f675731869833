// Packets of the GPU's worker and runner: what is not exactly what was asked for is refused, and a
// process that speaks nonsense, dies or goes silent is an outcome.
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
#include "common/inputs.hpp"
#include "grader/gpu/link.hpp"
#include "grader/gpu/packet.hpp"
#include "grader/gpu/runner.hpp"
#include "grader/gpu/worker.hpp"

using namespace grader::gpu;
using namespace grader::gpu::protocol;

namespace {

struct Sockets {
  grader::UniqueFd ours, theirs;
  Sockets() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
    ours.reset(fds[0]);
    theirs.reset(fds[1]);
  }
};

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

}  // namespace

TEST_CASE("gpu protocol: what is sent arrives, a batch with its own launches only") {
  const Sockets sockets;
  auto batch = std::make_unique<Batch>();
  batch->what = 3;
  batch->count = 5;
  batch->launches[4] = {1, 2, 3, 0};
  REQUIRE(send_body(sockets.ours.get(), Kind::batch, 7, *batch));
  Packet packet;
  REQUIRE(receive_packet(sockets.theirs.get(), packet) == Received::packet);
  CHECK(packet.header.kind == Kind::batch);
  CHECK(packet.header.serial == 7);
  CHECK(packet.body.size() == offsetof(Batch, launches) + 5 * sizeof(Launch));
  auto copy = std::make_unique<Batch>();
  REQUIRE(take(packet.body.data(), packet.body.size(), *copy));
  CHECK(copy->launches[4].c == 3);
  // The longest one fits into one packet.
  batch->count = kMaxLaunches;
  REQUIRE(send_body(sockets.ours.get(), Kind::batch, 8, *batch));
  REQUIRE(receive_packet(sockets.theirs.get(), packet) == Received::packet);
  CHECK(take(packet.body.data(), packet.body.size(), *copy));
}

TEST_CASE("gpu protocol: a file travels only to those who expect one") {
  const Sockets sockets;
  Packet packet;
  const int one = sockets.theirs.get(), other = sockets.ours.get();
  REQUIRE(send_body(sockets.ours.get(), Kind::call, 1, Call{}, {one, -1}));
  REQUIRE(receive_packet(sockets.theirs.get(), packet, true) == Received::packet);
  CHECK(packet.files[0]);
  CHECK_FALSE(packet.files[1]);
  // Two arrive in the order in which they were sent.
  REQUIRE(send_body(sockets.ours.get(), Kind::open, 2, Arenas{}, {one, other}));
  REQUIRE(receive_packet(sockets.theirs.get(), packet, true) == Received::packet);
  REQUIRE(packet.files[1]);
  CHECK(same_file(packet.files[0].get(), one));
  CHECK(same_file(packet.files[1].get(), other));
  // The next packet closes what came with the one before.
  const int stale = packet.files[0].get();
  REQUIRE(send_body(sockets.ours.get(), Kind::call, 3, Call{}, {one, other}));
  REQUIRE(receive_packet(sockets.theirs.get(), packet) == Received::packet);
  CHECK_FALSE(packet.files[0]);
  CHECK(::fcntl(stale, F_GETFD) == -1);
}

TEST_CASE("gpu protocol: more files than a packet may have are closed, not kept") {
  const Sockets sockets;
  const std::size_t before = open_files();
  Header header;
  header.kind = Kind::done;
  iovec part{&header, sizeof header};
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
  REQUIRE(::sendmsg(sockets.ours.get(), &message, 0) == static_cast<ssize_t>(sizeof header));
  {
    Packet packet;
    REQUIRE(receive_packet(sockets.theirs.get(), packet, true) == Received::packet);
    CHECK(open_files() <= before + kMaxFiles);
  }
  CHECK(open_files() == before);
}

TEST_CASE("gpu protocol: broken packets are refused") {
  const Sockets sockets;
  Packet packet;
  const auto arrives = [&](const Header& header, std::size_t body) {
    std::vector<unsigned char> bytes(sizeof header + body);
    std::memcpy(bytes.data(), &header, sizeof header);
    REQUIRE(::send(sockets.ours.get(), bytes.data(), bytes.size(), 0) ==
            static_cast<ssize_t>(bytes.size()));
    return receive_packet(sockets.theirs.get(), packet);
  };
  Header header;
  header.size = 8;
  CHECK(arrives(header, 8) == Received::packet);
  CHECK(arrives(header, 7) == Received::malformed);
  CHECK(arrives(header, 9) == Received::malformed);
  Header other = header;
  other.magic ^= 1;
  CHECK(arrives(other, 8) == Received::malformed);
  other = header;
  ++other.version;
  CHECK(arrives(other, 8) == Received::malformed);
  other = header;
  other.size = ~0u;
  CHECK(arrives(other, 8) == Received::malformed);
  REQUIRE(::send(sockets.ours.get(), "x", 1, 0) == 1);
  CHECK(receive_packet(sockets.theirs.get(), packet) == Received::malformed);
  // Longer than any packet may be: cut off by the kernel, and seen.
  const std::vector<char> giant(kMaxPacket + 1);
  const int size = 4 * static_cast<int>(kMaxPacket);
  ::setsockopt(sockets.ours.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  REQUIRE(::send(sockets.ours.get(), giant.data(), giant.size(), 0) > 0);
  CHECK(receive_packet(sockets.theirs.get(), packet) == Received::malformed);
}

TEST_CASE("gpu protocol: bodies of another size or count are refused, whatever they hold") {
  inputs::SplitMix64 random(5);
  std::vector<unsigned char> bytes(sizeof(Verify) + 64);
  auto verify = std::make_unique<Verify>();
  auto batch = std::make_unique<Batch>();
  for (int trial = 0; trial < 2000; ++trial) {
    for (std::size_t i = 0; i < 128; ++i) bytes[i] = static_cast<unsigned char>(random() >> 40);
    const std::size_t size = (random() >> 20) % bytes.size();
    Done done;
    CHECK(take(bytes.data(), size, done) == (size == sizeof done));
    Hello hello;
    CHECK(take(bytes.data(), size, hello) == (size == sizeof hello));
    // A count that does not belong to the size, or is too large, is never believed.
    if (take(bytes.data(), size, *batch)) CHECK(body_size(*batch) == size);
    if (take(bytes.data(), size, *verify)) CHECK(body_size(*verify) == size);
  }
  Batch* const one = batch.get();
  one->count = kMaxLaunches + 1;
  CHECK_FALSE(take(one, fixed_size<Batch>() + 8, *batch));
  char field[8];
  std::memset(field, 'x', sizeof field);
  CHECK(text_length(field) == 8);
  put_text(field, "far too long for it");
  CHECK(std::string(field) == "far too");
  put_text(field, nullptr);
  CHECK(field[0] == 0);
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
