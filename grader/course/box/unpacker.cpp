#include "grader/course/box/unpacker.hpp"

#include <memory>
#include <mutex>

#include "grader/course/box/kit.hpp"

namespace grader::box {
namespace {

/// Shared by threads.
class Unpacker {
 public:
  explicit Unpacker(std::filesystem::path programs) : programs_(std::move(programs)) {}

  RunResult run(ProcessSpec spec) {
    std::unique_lock lock(guard_);
    if (!kit_) kit_ = std::make_unique<Kit>(programs_);
    const Kit::Submission archive(*kit_, "archive-" + std::to_string(++archives_));
    lock.unlock();
    const BoxSettings& settings = archive.settings();
    spec.argv[0] = "/kit/unpack";
    const BoxView view{BoxRole::unpacker, {{settings.kit / "unpack", "/kit/unpack"}}, {}, {}};
    return run_to_its_own_end(boxed(settings, view, std::move(spec)), intake::unpack_patience);
  }

 private:
  std::filesystem::path programs_;
  std::mutex guard_;
  std::unique_ptr<Kit> kit_;
  unsigned archives_ = 0;
};

}  // namespace

intake::Unpack unpacking(const std::filesystem::path& programs, bool unsafe) {
  if (unsafe) return intake::unpack_unboxed;
  return [unpacker = std::make_shared<Unpacker>(programs)](ProcessSpec spec) {
    return unpacker->run(std::move(spec));
  };
}

}  // namespace grader::box
