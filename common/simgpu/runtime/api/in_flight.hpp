// Host memory that the device may still use: what a kernel has written to managed memory, and page-locked
// memory that an asynchronous copy reads or writes. Until the program waits for the device, on a GPU that is a
// race. Here the work is done already, so the pages are locked away (mprotect) instead: the first thread of the
// host that touches them is told of, and goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simgpu::runtime {

/// Memory that the runtime maps comes in these.
inline constexpr std::size_t kPage = 4096;

class InFlight {
 public:
  static InFlight& get();

  /// `bytes` bytes of `object` from byte `from` on, in pages that belong to the runtime. `user` ("kernel 'k'",
  /// "cudaMemcpyAsync") writes them: the host may do nothing; or reads them: it may not write.
  void begin(const void* object, std::size_t from, std::size_t bytes, bool device_writes,
             const std::string& user);
  /// The program has waited.
  void end();
  /// Pages that are unmapped.
  void forget(const void* host, std::size_t bytes);
  /// What the host has touched since the last call, as sentences.
  std::vector<std::string> take_touches();

  /// While one of these lives, the runtime itself may touch everything.
  class Pause {
   public:
    Pause() { get().open(true); }
    ~Pause() { get().open(false); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
  };

 private:
  InFlight() = default;
  struct Use {
    std::uintptr_t object = 0, first = 0, end = 0;
    bool device_writes = false;
    std::string user;
  };
  void open(bool is_open);
  void protect(const Use& use, bool locked) const;
  bool touched(std::uintptr_t address);
  friend struct FaultHandler;

  std::vector<Use> uses_;
  std::vector<std::string> touches_;
  unsigned pauses_ = 0;
};

}  // namespace simgpu::runtime
