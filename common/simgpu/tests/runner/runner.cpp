// The table of entries of the test's runner, as the grader generates it for a lab.
#include "common/simgpu/runtime/remote/runner_loop.hpp"

struct Matrix {
  float* data;
  int rows, cols, ld;
};
struct ConstMatrix {
  const float* data;
  int rows, cols, ld;
};

// clang-format off
#define LAUNCHERS(X)                                                                           \
  X(honest) X(workspace) X(leaky) X(copies_back) X(copies_into_c) X(copies_into_a) X(launders) \
  X(copies_a_over_b) X(clears_a) X(frees_c) X(too_much_from_host) X(allocates_forever)         \
  X(launches_forever) X(bad_launch) X(times_itself) X(wants_peers) X(faults) X(spins)        \
  X(throws) X(exits) X(crashes) X(hangs) X(closes) X(babbles) X(asks_for_memory)               \
  X(asks_for_ever)                                                                             \
  X(forgets_its_stream) X(streams_of_its_own) X(leaves_work_behind) X(waits_for_its_stream)    \
  X(throws_without_a_map) X(goes_on_without_a_map) X(copies_rows) X(copies_slivers) \
  X(leaves_a_thread) X(joins_a_thread)
// clang-format on

#define DECLARE(name) void name(ConstMatrix, ConstMatrix, Matrix, CUstream_st*);
LAUNCHERS(DECLARE)
const char* suspects();
const char* no_answer();

#define ENTRY(name) simgpu::runtime::launcher<&name>(#name),
static const simgpu::runtime::Entry entries[] = {LAUNCHERS(ENTRY)
                                                     simgpu::runtime::answer("suspects", &suspects),
                                                 simgpu::runtime::answer("no_answer", &no_answer)};

int main() {
  return simgpu::runtime::simgpu_runner_main(3, entries, sizeof entries / sizeof *entries);
}
