// What the judge reads of the driver's management library, with a library that plays its part: its
// clock is 1530 MHz while something runs and 1905 when nothing does, as of an H200 at its power
// cap, and like the real one it takes a new reading every 100 ms only.
#include <dlfcn.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "common/catch2.hpp"
#include "grader/gpu/nvml.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;

namespace {

constexpr const char* library_source = R"(#include <atomic>
#include <chrono>
#include <climits>
static long long now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}
static std::atomic<long long> begin{LLONG_MAX}, end{LLONG_MAX};
static bool busy_at(long long time) { return begin <= time && time < end; }
extern "C" {
void play_busy(int busy) {
  if (busy) begin = now(), end = LLONG_MAX;
  else end = now();
}
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned) { text[0] = 'p'; text[1] = 0; return 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  static int the_only_one;
  *device = &the_only_one;
  return uuid[4] == '1' ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz) {
  *mhz = busy_at(now() / 100 * 100) ? 1530 : 1905;
  return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* bits) {
  *bits = busy_at(now()) ? 4 : 0;
  return 0;
}
}
)";

/// The playing library under the real one's name; found by that name once it is loaded.
class PlayedLibrary {
 public:
  PlayedLibrary() : scratch_(test::build_folder() / "tmp") {
    const std::filesystem::path source = scratch_.path() / "nvml.cpp",
                                library = scratch_.path() / "libplayed.so";
    write_file_atomically(source, library_source);
    ProcessSpec spec;
    spec.argv = {test::host_compiler(), "-shared", "-fPIC",         "-Wl,-soname,libnvidia-ml.so.1",
                 source.string(),       "-o",      library.string()};
    spec.environment = minimal_environment();
    const RunResult compiled = run_process(spec, std::chrono::minutes(1));
    INFO(compiled.errors);
    REQUIRE(compiled.ok());
    handle_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle_ != nullptr);
    busy_ = reinterpret_cast<void (*)(int)>(::dlsym(handle_, "play_busy"));
    REQUIRE(busy_ != nullptr);
  }
  ~PlayedLibrary() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  PlayedLibrary(const PlayedLibrary&) = delete;
  PlayedLibrary& operator=(const PlayedLibrary&) = delete;

  void work(std::chrono::milliseconds time) const {
    busy_(1);
    std::this_thread::sleep_for(time);
    busy_(0);
  }

 private:
  Scratch scratch_;
  void* handle_ = nullptr;
  void (*busy_)(int) = nullptr;
};

}  // namespace

TEST_CASE("nvml: clocks and throttling are those of the work, not of the rest after it") {
  const PlayedLibrary library;
  gpu::Nvml nvml("GPU-1");
  REQUIRE(nvml.found());
  REQUIRE(nvml.driver_version() == "p");
  CHECK(nvml.now().sm_clock_mhz == 1905u);

  const gpu::Conditions seen = nvml.during([&] { library.work(std::chrono::milliseconds(250)); });
  CHECK(seen.sm_clock_mhz == 1530u);
  CHECK(seen.throttle == 4u);
  CHECK(gpu::throttle_text(*seen.throttle) == "software power cap");

  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  // Over before anyone could look: better the clock right after than none.
  CHECK(nvml.during([] {}).sm_clock_mhz == 1905u);
  CHECK_THROWS_AS(nvml.during([&] {
    library.work(std::chrono::milliseconds(20));
    throw std::runtime_error("from work");
  }),
                  std::runtime_error);

  gpu::Nvml other("GPU-2");
  CHECK_FALSE(other.found());
  CHECK_FALSE(other.during([] {}).sm_clock_mhz);
}
