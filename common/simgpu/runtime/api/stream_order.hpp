// Which work of a program's streams is ordered. Here each request runs to its end before the call returns, so
// that a missing event does no harm; on a GPU a kernel of one stream then reads what a kernel of another is still
// writing. Each stream has a clock, events and the host carry what is known of it from one to the other, and
// what touches the same bytes without being ordered is a finding.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/simgpu/device.hpp"
#include "common/simgpu/include/driver_types.h"

namespace simgpu::runtime {

class Backend;

/// Used under State::mutex.
class StreamOrder {
 public:
  static StreamOrder& get();

  void create(cudaStream_t stream, bool waits_for_default);
  void destroy(cudaStream_t stream) { numbers_.erase(stream); }
  /// There are streams that do not wait for each other: only then work need be told of.
  bool matters() const { return streams_ > 1 || free_streams_ != 0; }

  /// `what`, a kernel or a call, goes to `stream` and touches these bytes. By the address of its first
  /// byte, an allocation is named.
  void work(Backend& backend, cudaStream_t stream, const std::string& what,
            const std::vector<TouchedBytes>& bytes);
  /// It is free: what comes to lie there has nothing to do with what was done there.
  void forget_memory(DevicePtr first, DevicePtr end);
  /// Kernels of the stream that may still be running when one begins that need not wait for their ends.
  using Running = std::vector<EarlierKernel>;
  /// `kernel` came to its stream when `before` may have been running, and did this by griddepcontrol.
  void keep_running(cudaStream_t stream, Running before, EarlierKernel kernel,
                    const GridControl& did);
  /// Those that are left, if nothing but kernels has come to the stream since. Whatever else comes now, comes
  /// behind them.
  Running take_running(cudaStream_t stream);
  void record(cudaEvent_t event, cudaStream_t stream);
  void wait(cudaStream_t stream, cudaEvent_t event);
  void forget(cudaEvent_t event) { events_.erase(event); }
  /// The host has waited.
  void host_waits(cudaStream_t stream);
  void host_waits(cudaEvent_t event);
  void host_waits_for_all();
  /// The same, where nobody asks for what was before: clocks do not grow from call to call.
  void begin_anew();
  /// Of every stream but the default ones, the last work that nothing orders before what comes to `stream` next.
  std::vector<std::string> left_behind(cudaStream_t stream) const;

 private:
  /// By stream, how many pieces of its work are known to be over.
  using Clock = std::map<std::uint64_t, std::uint64_t>;
  struct Work {
    std::uint64_t stream = 0, number = 0;
    std::string what;
    std::vector<TouchedBytes> reads, writes;
  };
  static constexpr std::uint64_t kDefault = 0, kOfThread = 1;

  static void join(Clock& to, const Clock& from);
  std::uint64_t number_of(cudaStream_t stream) const;
  bool waits_for_default(std::uint64_t stream) const { return !free_.contains(stream); }
  /// What work that goes to the stream now comes after.
  Clock before(std::uint64_t stream) const;
  void drop_what_is_over();
  void compare(Backend& backend, const Work& work, const Clock& known);

  std::map<cudaStream_t, std::uint64_t> numbers_;
  std::set<std::uint64_t> free_;  ///< cudaStreamNonBlocking
  std::uint64_t last_number_ = kOfThread, streams_ = 0, free_streams_ = 0;
  Clock counts_, host_;
  std::map<std::uint64_t, Clock> known_;       ///< by stream
  std::map<std::uint64_t, std::string> last_;  ///< work, by stream
  std::map<cudaEvent_t, Clock> events_;
  std::vector<Work> under_way_;
  std::map<std::uint64_t, Running> running_;  ///< by stream
  std::set<std::string> told_;
};

}  // namespace simgpu::runtime
