// The engine's parts on their own: allocations, clocks and shadows, patterns, block order,
// occupancy.
#include <algorithm>
#include <numeric>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/check/clocks.hpp"
#include "common/simgpu/check/exact_shadow.hpp"
#include "common/simgpu/check/global_shadow.hpp"
#include "common/simgpu/check/shared_shadow.hpp"
#include "common/simgpu/count/coalescing.hpp"
#include "common/simgpu/count/occupancy.hpp"
#include "common/simgpu/exec/order.hpp"
#include "common/simgpu/exec/pattern.hpp"
#include "common/simgpu/exec/short_lived.hpp"
#include "common/simgpu/half.hpp"
#include "common/simgpu/memory/global_memory.hpp"
#include "common/simgpu/ptx/parser.hpp"

namespace simgpu {
namespace {

// ------------------------------------------------------------------------------------- memory

TEST_CASE("what lives within a basic block shares its place with what lived before", "[engine]") {
  const ptx::Module module = ptx::parse(R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  add.u32 %r2, %r1, 1;
  add.u32 %r3, %r2, 1;
  add.u32 %r4, %r3, 1;
  mul.wide.u32 %rd2, %r4, 4;
  setp.lt.u32 %p1, %r1, 5;
  @%p1 mov.u32 %r5, 1;
  add.u32 %r6, %r5, 1;
  add.u32 %r7, %r7, 1;
  mov.u32 %r8, 1;
  @%p1 bra L;
  add.u32 %r8, %r8, 1;
  mov.u32 %r9, %r8;
  activemask.b32 %r10;
  add.u32 %r11, %r9, %r10;
  ld.global.v2.u32 {%r12, %r13}, [%rd1];
  st.global.u32 [%rd1], %r11;
  st.global.v2.u32 [%rd1], {%r12, %r13};
L:
  ret;
}
)");
  const ptx::Function& f = module.functions.at(0);
  const auto number = [&](std::string_view name) {
    const auto it = std::find_if(f.registers.begin(), f.registers.end(),
                                 [&](const auto& r) { return r.name == name; });
    REQUIRE(it != f.registers.end());
    return static_cast<std::size_t>(it - f.registers.begin());
  };
  constexpr std::uint32_t kBranch = 11, kLabel = 19;
  const exec::SharedPlaces places =
      exec::share_places(f, {{0, kBranch + 1}, {kBranch + 1, kLabel}, {kLabel, kLabel + 1}});
  const auto place = [&](std::string_view name) { return places.of[number(name)]; };
  constexpr std::uint32_t kOwn = exec::SharedPlaces::kOwn;
  CHECK(place("%r2") != kOwn);
  CHECK(place("%r3") != place("%r2"));  // an instruction never writes where it reads
  CHECK(place("%r4") == place("%r2"));
  CHECK(place("%rd2") != kOwn);  // nobody reads it
  CHECK(places.bytes[place("%rd2")] == 8);
  CHECK(places.bytes[place("%r2")] == 4);
  CHECK(place("%r5") == kOwn);  // some lanes keep what was there
  CHECK(place("%r7") == kOwn);  // read before it is set
  CHECK(place("%r8") == kOwn);  // in two blocks
  CHECK(place("%rd1") == kOwn);
  CHECK(place("%r10") == kOwn);  // no plain instruction
  CHECK(place("%r12") != kOwn);
  CHECK(place("%r12") != place("%r13"));
  CHECK(place("%r12") != place("%r11"));
  CHECK(place("%p1") == kOwn);
}

TEST_CASE("allocations lie apart, are never reused and know their neighbours", "[engine]") {
  memory::GlobalMemory m(1000);
  memory::Allocation* a = m.allocate(100, "a");
  memory::Allocation* b = m.allocate(200, "b");
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  CHECK(a->base % 256 == 0);
  CHECK(m.bytes_in_use() == 300);
  CHECK(m.allocate(701, "too much") == nullptr);
  CHECK(m.allocate(0, "nothing") == nullptr);
  CHECK(m.owner(a->base + 99) == a);
  CHECK(m.owner(a->base + 1000000) == a);       // beyond its end, still its slot
  CHECK(m.nearest(a->base - 4)->label == "a");  // a negative index
  CHECK(m.nearest(b->base - 4) == b);
  CHECK(m.containing(a->base + 96, 4) == a);
  CHECK(m.containing(a->base + 97, 4) == nullptr);
  const memory::Address old = a->base;
  CHECK_FALSE(m.release(old + 4));
  CHECK(m.release(old));
  CHECK_FALSE(m.release(old));
  CHECK(m.owner(old)->label == "a");
  CHECK_FALSE(m.owner(old)->live());
  memory::Allocation* c = m.allocate(100, "c");
  CHECK(c->base != old);
  CHECK(m.live().size() == 2);
}

TEST_CASE("initialised marks follow writes, copies and resets byte by byte", "[engine]") {
  memory::GlobalMemory m(1 << 20);
  memory::Allocation *a = m.allocate(64, "a"), *b = m.allocate(64, "b");
  const std::vector<std::byte> data(16, std::byte{5});
  CHECK(a->data[0] == memory::kPoison);
  m.write(*a, 8, data);
  CHECK(memory::GlobalMemory::is_initialised(*a, 8, 16));
  CHECK_FALSE(memory::GlobalMemory::is_initialised(*a, 7, 2));
  CHECK_FALSE(memory::GlobalMemory::is_initialised(*a, 23, 2));
  m.copy(*b, 0, *a, 4, 32);
  CHECK(memory::GlobalMemory::is_initialised(*b, 4, 16));
  CHECK_FALSE(memory::GlobalMemory::is_initialised(*b, 3, 2));
  m.fill(*a, 0, std::byte{1}, 64);
  CHECK(a->fully_initialised);
  m.mark(*a, 63, 1, false);
  CHECK_FALSE(a->fully_initialised);
  CHECK(memory::GlobalMemory::is_initialised(*a, 0, 63));
}

// ------------------------------------------------------------------------- clocks and shadows

TEST_CASE("barriers order the warps that meet there and no others", "[engine]") {
  check::BlockClocks clocks;
  clocks.reset(4);
  const std::uint32_t before = clocks.now();
  CHECK(clocks.of(1).unordered(32, 0, before));
  CHECK_FALSE(clocks.of(1).unordered(32, 32, before));  // itself
  clocks.barrier(0b0011);                               // warps 0 and 1
  CHECK_FALSE(clocks.of(1).unordered(32, 0, before));
  CHECK_FALSE(clocks.of(0).unordered(0, 33, before));
  CHECK(clocks.of(2).unordered(64, 0, before));
  CHECK(clocks.of(0).unordered(0, 64, before));
  // What warp 0 does now is not ordered before what warp 1 does next.
  CHECK(clocks.of(1).unordered(32, 0, clocks.now()));
  // Order passes on: 1 meets 2, so 2 comes after what 0 did before it met 1.
  clocks.barrier(0b0110);
  CHECK_FALSE(clocks.of(2).unordered(64, 0, before));
  CHECK(clocks.of(3).unordered(96, 0, before));
  CHECK(clocks.floor() == 1);
  clocks.barrier(0b1111);
  CHECK(clocks.floor() == clocks.now());
}

TEST_CASE("bar.arrive hands over what came before it", "[engine]") {
  check::BlockClocks clocks;
  clocks.reset(4);
  const std::uint32_t first = clocks.now();
  clocks.barrier(0b0011);  // 1 has seen what 0 did first
  const std::uint32_t before = clocks.now();
  check::Arrivals arrivals;
  clocks.arrive(1, arrivals);
  const std::uint32_t behind = clocks.now();
  clocks.barrier(0b1001);  // time goes on elsewhere
  clocks.barrier(0b0100, arrivals);
  CHECK_FALSE(clocks.of(2).unordered(64, 32, before));
  CHECK_FALSE(clocks.of(2).unordered(64, 0, first));  // passed on
  CHECK(clocks.of(2).unordered(64, 0, before));
  CHECK(clocks.of(2).unordered(64, 32, behind));  // before the barrier was complete, but too late
  CHECK(clocks.of(2).by_arrival == 0b0010);
  // The producer is not held back by the consumer's past, and those who do not wait learn nothing.
  CHECK(clocks.of(1).unordered(32, 64, before));
  CHECK(clocks.of(3).unordered(96, 32, before));
  // Two arrivals: of each, its own time.
  check::Arrivals both;
  clocks.arrive(0, both);
  const std::uint32_t between = clocks.now();
  clocks.arrive(1, both);
  clocks.barrier(0b1000, both);
  CHECK(clocks.of(3).unordered(96, 0, between));
  CHECK_FALSE(clocks.of(3).unordered(96, 32, between));
  CHECK(clocks.of(3).by_arrival == 0b0011);
  clocks.barrier(0b1010);  // now 1 waits with it
  CHECK(clocks.of(3).by_arrival == 0b0001);
  clocks.forget_times();
  for (unsigned w = 0; w < 4; ++w) {
    CHECK_FALSE(clocks.of(w).unordered(w * 32, (w ^ 1) * 32, 1));
    CHECK(clocks.of(w).unordered(w * 32, (w ^ 1) * 32, clocks.now()));
    CHECK(clocks.of(w).by_arrival == 0);
  }
}

TEST_CASE("__syncwarp orders the lanes of one warp", "[engine]") {
  check::BlockClocks clocks;
  clocks.reset(2);
  const std::uint32_t t = clocks.now();
  CHECK(clocks.of(0).unordered(0, 1, t));
  clocks.sync_lanes(0);
  CHECK_FALSE(clocks.of(0).unordered(0, 1, t));
  CHECK(clocks.of(1).unordered(32, 33, t));
  CHECK(clocks.of(1).unordered(32, 1, t));
}

TEST_CASE("shared shadow: each kind of race, and none where there is none", "[engine]") {
  check::BlockClocks clocks;
  clocks.reset(2);
  check::SharedShadow s;
  s.reset(256, 2);
  auto read = [&](unsigned warp, unsigned lane) {
    return s.on_read(7, clocks.of(warp), warp, lane, clocks.now());
  };
  auto write = [&](unsigned warp, unsigned lane, bool atomic = false) {
    return s.on_write(7, clocks.of(warp), warp, lane, clocks.now(), atomic);
  };
  CHECK(write(0, 3));
  CHECK(write(0, 3));  // again by the same thread
  CHECK(read(0, 3));
  CHECK_FALSE(read(1, 3));  // read after write
  CHECK_FALSE(read(0, 4));  // by another lane of the warp
  clocks.barrier(3);
  CHECK(read(0, 0));
  CHECK(read(0, 1));
  CHECK(read(1, 1));
  CHECK_FALSE(write(0, 0));  // others read it
  clocks.barrier(3);
  CHECK(read(0, 5));
  CHECK(write(0, 5));        // the only reader
  CHECK_FALSE(write(1, 5));  // write after write
  clocks.barrier(3);
  CHECK(write(0, 1, true));
  CHECK(write(1, 2, true));  // atomics do not race with each other
  CHECK_FALSE(read(0, 1));
  clocks.barrier(3);
  CHECK(read(0, 0));
  CHECK(read(0, 1));
  clocks.sync_lanes(0);
  CHECK(write(0, 2));  // lanes of one warp, ordered by __syncwarp
  s.forget_times();
  clocks.barrier(3);
  CHECK(read(1, 9));
}

TEST_CASE("global shadow: between threads of a block, between blocks, between host threads",
          "[engine]") {
  check::BlockClocks clocks;
  clocks.reset(2);
  constexpr std::uint64_t kGranules = 3 * check::GlobalShadow::kChunk;
  check::GlobalShadow s(kGranules);
  std::uint64_t at = 0;
  auto read = [&](std::uint32_t block, unsigned warp, unsigned lane) {
    return s.on_read(at, block, clocks.of(warp), warp, lane, clocks.now());
  };
  auto write = [&](std::uint32_t block, unsigned warp, unsigned lane) {
    return s.on_write(at, block, clocks.of(warp), warp, lane, clocks.now());
  };
  CHECK(read(1, 0, 3));  // a thread's own place
  CHECK(write(1, 0, 3));
  CHECK(read(1, 0, 3));
  CHECK_FALSE(read(1, 0, 4));  // another lane's
  CHECK_FALSE(read(1, 1, 3));
  clocks.barrier(3);
  CHECK(read(1, 1, 3));
  CHECK_FALSE(write(1, 0, 3));
  clocks.barrier(3);
  CHECK(write(1, 0, 3));
  CHECK_FALSE(read(2, 0, 3));  // another block's, whatever barriers there were

  at = kGranules - 1;
  CHECK(read(1, 0, 0));
  CHECK(read(2, 0, 0));
  clocks.barrier(3);
  CHECK_FALSE(write(2, 0, 0));
  at = check::GlobalShadow::kChunk;
  CHECK(write(3, 0, 0));
  s.forget_times(3);
  CHECK(read(3, 0, 0));
  CHECK_FALSE(write(4, 0, 0));

  check::GlobalShadow reads(kGranules), writes(kGranules), others(kGranules);
  const check::WarpClock& clock = clocks.of(0);
  for (const std::uint64_t g : {1000, 2000})
    reads.on_read(g, 5, clock, 0, 0, 1), writes.on_write(g + 1, 6, clock, 0, 0, 1);
  CHECK_FALSE(check::GlobalShadow::conflict(reads, writes));
  CHECK_FALSE(check::GlobalShadow::conflict(reads, reads));
  others.on_write(2001, 7, clock, 0, 0, 1);
  CHECK(check::GlobalShadow::conflict(writes, others));
  CHECK_FALSE(check::GlobalShadow::conflict(reads, others));
  reads.on_read(2001, 5, clock, 0, 0, 1);
  CHECK(check::GlobalShadow::conflict(reads, others));
  CHECK(check::GlobalShadow::conflict(others, reads));
}

TEST_CASE("exact shadow names the other party, also the earlier of two readers", "[engine]") {
  check::BlockClocks clocks;
  clocks.reset(3);
  check::ExactShadow s(4096, 2);
  auto record = [&](unsigned thread, bool write, std::uint32_t pc, std::uint64_t block = 0) {
    check::AccessRecord r;
    r.block = block;
    r.pc = pc;
    r.time = clocks.now();
    r.thread = static_cast<std::uint16_t>(thread);
    r.write = write;
    return s.access(5, r, clocks.of(thread / 32), nullptr);
  };
  CHECK_FALSE(s.was_written(5));
  CHECK_FALSE(record(0, true, 10));
  CHECK(s.was_written(5));
  const auto raw = record(33, false, 11);
  REQUIRE(raw);
  CHECK(raw->pc == 10);
  CHECK(raw->thread == 0);
  clocks.barrier(7);
  CHECK_FALSE(record(64, false, 12));
  CHECK_FALSE(record(1, false, 13));
  CHECK_FALSE(record(1, false, 14));
  const auto war = record(1, true, 15);  // its own reads do not count, thread 64's does
  REQUIRE(war);
  CHECK(war->pc == 12);
  const auto other_block = record(1, false, 16, 1);
  REQUIRE(other_block);
  CHECK(other_block->block == 0);
}

check::AccessRecord of_block(std::uint64_t block, std::uint64_t launch_time) {
  check::AccessRecord r;
  r.block = block;
  r.launch_time = launch_time;
  return r;
}

TEST_CASE("the fence and counter pattern orders blocks", "[engine]") {
  check::BlockOrder::Launch launch;
  check::BlockOrder order;
  order.start_block(0, launch);
  const std::uint64_t early = order.now();
  order.fence();
  order.atomic(0x1000, {});
  const std::uint64_t late = order.now() + 1;
  order.start_block(1, launch);
  CHECK_FALSE(order.ordered(of_block(0, early), 0, {}));
  order.atomic(0x2000, {});  // another variable
  CHECK_FALSE(order.ordered(of_block(0, early), 0, {}));
  order.atomic(0x1000, {});
  CHECK(order.ordered(of_block(0, early), 0, {}));
  CHECK_FALSE(order.ordered(of_block(0, late), 0, {}));
  order.start_block(2, launch);
  order.atomic(0x1000, {});
  CHECK(order.ordered(of_block(0, early), 0, {}));
  CHECK_FALSE(order.ordered(of_block(1, early), 0, {}));  // block 1 made no fence
}

TEST_CASE("a block hands on what it has seen of others", "[engine]") {
  check::BlockOrder::Launch launch;
  check::BlockClocks clocks;
  clocks.reset(1);
  const check::BlockOrder::Actor actor{0, 0xffffffffu, &clocks, nullptr};
  check::BlockOrder first, second, third;
  first.start_block(0, launch);
  second.start_block(1, launch);
  third.start_block(2, launch);
  const check::AccessRecord early = of_block(0, launch.time);
  first.fence();
  first.atomic(0x1000, actor);
  const check::AccessRecord late = of_block(0, launch.time + 1);
  third.atomic(0x2000, actor, false);
  SECTION("by a release behind its look") {
    second.atomic(0x1000, actor, false);
    second.fence();
    second.atomic(0x2000, actor);
    CHECK_FALSE(third.ordered(early, 0, clocks.of(0)));  // it looked before
    third.atomic(0x2000, actor, false);
    CHECK(third.ordered(early, 0, clocks.of(0)));
    CHECK_FALSE(third.ordered(late, 0, clocks.of(0)));
  }
  SECTION("not by one before it") {
    second.fence();
    second.atomic(0x2000, actor);
    second.atomic(0x1000, actor, false);
    third.atomic(0x2000, actor, false);
    CHECK_FALSE(third.ordered(early, 0, clocks.of(0)));
  }
  SECTION("not without a fence") {
    second.atomic(0x1000, actor, false);
    second.atomic(0x2000, actor);
    third.atomic(0x2000, actor, false);
    CHECK_FALSE(third.ordered(early, 0, clocks.of(0)));
  }
}

// ------------------------------------------------------------------------------ running order

std::size_t position(const std::vector<std::uint32_t>& order, std::uint32_t block) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), block) - order.begin());
}

TEST_CASE("running order: joins after branches, loops before what follows them", "[engine]") {
  // 0 -> 3 (rotated loop: body 1 comes first in the text), 3 -> {4, 1}, 4 -> 1, 1 -> {3, 2}
  const auto loop = exec::running_order({{3}, {3, 2}, {}, {4, 1}, {1}});
  CHECK(loop == std::vector<std::uint32_t>{0, 3, 4, 1, 2});
  // A diamond whose join comes first in the text.
  const auto diamond = exec::running_order({{2, 3}, {}, {1}, {1}});
  CHECK(position(diamond, 1) == 3);
  // Nested loops with an early exit: 0 -> 1 -> 2 -> {2, 3}, 3 -> {1, 4}, 1 -> 4
  const auto nested = exec::running_order({{1}, {2, 4}, {2, 3}, {1, 4}, {}});
  CHECK(nested == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  // Unreachable blocks come last, every block once.
  auto all = exec::running_order({{2}, {0}, {}});
  CHECK(all == std::vector<std::uint32_t>{0, 2, 1});
}

TEST_CASE("running order: random graphs keep every block once and forward edges forward",
          "[engine]") {
  std::uint32_t state = 1;
  auto random = [&](std::uint32_t n) {
    return (state = state * 1664525u + 1013904223u) / 65536u % n;
  };
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint32_t n = 2 + random(30);
    std::vector<std::vector<std::uint32_t>> edges(n);
    for (std::uint32_t b = 0; b + 1 < n; ++b) {
      edges[b].push_back(b + 1 + random(n - b - 1));  // acyclic
      if (random(2)) edges[b].push_back(b + 1 + random(n - b - 1));
    }
    auto order = exec::running_order(edges);
    std::vector<char> reachable(n, 0);
    reachable[0] = 1;
    for (std::uint32_t b = 0; b < n; ++b)
      for (const std::uint32_t s : edges[b]) reachable[s] |= reachable[b];
    for (std::uint32_t b = 0; b < n; ++b)
      for (const std::uint32_t s : edges[b])
        if (reachable[b]) REQUIRE(position(order, b) < position(order, s));
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> every(n);
    std::iota(every.begin(), every.end(), 0u);
    REQUIRE(order == every);
  }
}

// ------------------------------------------------------------------------- counting, patterns

TEST_CASE("sectors of cp.async.cg, as measured on an H200", "[engine]") {
  const auto cost = [](auto from, auto to, std::uint32_t mask = 0xffffffffu) {
    std::uint64_t source[32], target[32];
    for (unsigned i = 0; i < 32; ++i) {
      source[i] = 4096 + from(i);
      target[i] = to(i);
    }
    return count::bypass_sectors(source, target, mask);
  };
  const auto next = [](unsigned i) { return 16u * i; };
  CHECK(cost(next, next) == 16);
  CHECK(cost(next, next, 0x55555555u) == 16);
  CHECK(cost(next, [](unsigned i) { return 16u * (i ^ 1); }) == 16);
  CHECK(cost(next, [](unsigned i) { return 16u * (i ^ 2); }) == 16);
  CHECK(cost(next, [](unsigned i) { return 16u * (i ^ (i / 8)); }) == 16);
  CHECK(cost(
            next, [](unsigned i) { return 16u * (i ^ (i / 8)); }, 0x55555555u) == 16);
  CHECK(cost(next, [](unsigned i) { return 32u * i; }) == 32);
  CHECK(cost(next, [](unsigned i) { return 128u * i; }) == 32);
  CHECK(cost(next, [](unsigned i) { return 16u * i + 16; }) == 32);
  CHECK(cost([](unsigned i) { return 16u * i + 16; }, next) == 32);
  CHECK(cost([](unsigned i) { return 16u * (i / 2); }, next) == 32);
  CHECK(cost([](unsigned i) { return 1024u * i; }, next) == 32);
  const auto rows = [](unsigned i) { return 1024u * (i / 4) + 16 * (i % 4); };
  CHECK(cost(rows, next) == 16);
  CHECK(cost(rows, [](unsigned i) { return 80u * (i / 4) + 16 * (i % 4); }) == 24);
  const auto few = [](unsigned i) { return 16u * (i * 7 % 12); };
  const auto anywhere = [](unsigned i) { return 16u * (i * 13 % 32); };
  CHECK(cost(few, anywhere) == 32);
  CHECK(cost(few, anywhere, 0x7b6f5dafu) == 23);
}

TEST_CASE("sectors and distinct bytes of scattered, overlapping and partial requests", "[engine]") {
  std::uint64_t a[32];
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x1000 + 4 * i;
  CHECK(count::sectors(a, ~0u, 4) == 4);
  CHECK(count::distinct_bytes(a, ~0u, 4) == 128);
  CHECK(count::sectors(a, 0x101, 4) == 2);
  for (unsigned i = 0; i < 32; ++i) a[i] += 4;
  CHECK(count::sectors(a, ~0u, 4) == 5);
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x100000 - 128 * i;
  CHECK(count::sectors(a, ~0u, 4) == 32);
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x1000 + 16 * (i / 4);
  CHECK(count::sectors(a, ~0u, 16) == 4);
  CHECK(count::distinct_bytes(a, ~0u, 16) == 128);
  CHECK(count::ideal_sectors(129) == 5);
}

TEST_CASE("a pattern knows its shape, its bounds and which lane touches which word", "[engine]") {
  std::uint64_t a[32];
  exec::Pattern p;
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x5000 + 4 * i;
  REQUIRE(p.learn(a, ~0u, 1));
  CHECK(p.shape == exec::Shape::unit4);
  CHECK(p.of(0).runs == 1);
  CHECK(p.of(0).run[0].length == 32);
  CHECK(p.of(0).code[31] == 31);
  CHECK_FALSE(p.of(0).lanes_overlap);
  CHECK(p.of(2).lanes_overlap);  // 16 bytes each, 4 apart
  CHECK(p.of(0).window == 0xffffffffu);
  CHECK(p.sectors(0, 0) == 4);
  CHECK(p.sectors(0, 4) == 5);
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x5000 - 8 * (i % 4);
  REQUIRE(p.learn(a, 0xf0u, 2));
  CHECK(p.low == -24);
  CHECK(p.high == 0);
  CHECK(p.of(0).runs == 4);
  CHECK(p.of(1).runs == 1);
  CHECK(p.of(1).run[0].start == -6);
  CHECK(p.of(1).code[0] == 7);
  CHECK(p.of(0).window == 0b1010101u);
  CHECK(p.of(0).least == -6);
  a[5] = a[4] + (std::uint64_t{1} << 33);
  CHECK_FALSE(p.learn(a, 0xf0u, 3));

  // Two rows of a block of 16 x 16 threads: one word each, then sixteen words twice.
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x5000 + 256 * (i / 16);
  REQUIRE(p.learn(a, ~0u, 4));
  CHECK(p.shape == exec::Shape::octets);
  CHECK(p.octets.start == std::array<std::int32_t, 4>{0, 0, 256, 256});
  CHECK(p.octets.touched[0] == -1);
  CHECK(p.octets.touched[1] == 0);
  CHECK(p.octets.word[31] == 0);
  CHECK(p.of(0).window == 0);  // 65 words
  for (unsigned i = 0; i < 32; ++i) a[i] = 0x5000 + 4 * (15 - i % 16);
  REQUIRE(p.learn(a, ~0u, 5));
  CHECK(p.shape == exec::Shape::octets);
  CHECK(p.octets.start == std::array<std::int32_t, 4>{-28, -60, -28, -60});
  CHECK(p.octets.word[0] == 7);
  CHECK(p.octets.word[15] == 0);
  CHECK(p.of(0).window == 0xffffu);
  a[8] = 0x5000 + 4 * 16;
  REQUIRE(p.learn(a, ~0u, 6));
  CHECK(p.shape == exec::Shape::other);
}

TEST_CASE("occupancy follows the calculator's rules", "[engine]") {
  const DeviceModel m;
  // 256 threads, 32 registers: 2048 threads fit.
  auto o = count::occupancy(m, 256, 32, 0);
  CHECK(o.blocks == 8);
  CHECK(o.fraction == 1.0);
  // 255 registers: 8192 a warp, two warps a sub-partition, eight in all.
  o = count::occupancy(m, 256, 255, 0);
  CHECK(o.blocks == 1);
  CHECK(o.limiter == "registers");
  CHECK(o.fraction == 8.0 / 64);
  // 33 registers round up to 40 (1280 a warp): 12 warps a sub-partition.
  CHECK(count::occupancy(m, 128, 33, 0).blocks == 12);
  // 48 KiB and 1 KiB reserved: four of 228 KiB.
  o = count::occupancy(m, 128, 32, 48 << 10);
  CHECK(o.blocks == 4);
  CHECK(o.limiter == "shared memory");
  CHECK(count::occupancy(m, 32, 16, 0).blocks == 32);
  CHECK(count::occupancy(m, 32, 16, 0).limiter == "blocks");
  CHECK(count::registers_per_block(m, 1024, 65) == 32u * 2304);
}

TEST_CASE("16-bit floats: every value survives the way through float", "[engine]") {
  for (std::uint32_t v = 0; v < 65536; ++v) {
    const auto h = static_cast<std::uint16_t>(v);
    const float f = half_to_float(h), b = bfloat_to_float(h);
    if (f == f)
      REQUIRE(to_half(static_cast<double>(f)) == h);
    else
      REQUIRE(to_half(static_cast<double>(f)) == 0x7fff);
    if (b == b) REQUIRE(to_bfloat(static_cast<double>(b)) == h);
  }
  CHECK(to_half(65519.0) == 0x7bff);
  CHECK(to_half(65520.0) == 0x7c00);  // the half-way point goes to infinity
  CHECK(to_half(65520.0, 1) == 0x7bff);
  CHECK(to_half(0x1p-25) == 0);  // ties to even
  CHECK(to_half(0x1.8p-25) == 1);
  CHECK(to_half(0x1p-26, 3) == 1);
  CHECK(to_half(-0x1p-26, 2) == 0x8001);
}

}  // namespace
}  // namespace simgpu
