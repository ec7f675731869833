// Streams and events. The device runs every request to its end before the call returns, so streams
// only order what is ordered already, and an event is complete once it was recorded.

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "common/simgpu/runtime/api/in_flight.hpp"
#include "common/simgpu/runtime/api/state.hpp"
#include "common/simgpu/runtime/api/stream_order.hpp"
#include "common/simgpu/runtime/given_stream.hpp"

using simgpu::runtime::bad_stream;
using simgpu::runtime::InFlight;
using simgpu::runtime::is_stream;
using simgpu::runtime::State;
using simgpu::runtime::StreamOrder;

// The types behind CUDA's handles.
struct CUstream_st {
  unsigned int flags = 0;
  int priority = 0;
};
struct CUevent_st {
  bool timing = true;
  bool recorded = false;
};

namespace {

/// Live handles, guarded by State::mutex. Never destroyed: streams may be used by static
/// destructors.
std::set<cudaStream_t>& streams() {
  static auto* const set = new std::set<cudaStream_t>;
  return *set;
}
std::set<cudaEvent_t>& events() {
  static auto* const set = new std::set<cudaEvent_t>;
  return *set;
}

cudaError_t bad_event(State& state, const char* call) {
  return state.fail(call, cudaErrorInvalidResourceHandle, "the event does not exist (any more)");
}

constexpr int kLeastPriority = 0, kGreatestPriority = -5;

cudaError_t create_stream(State& state, const char* call, cudaStream_t* stream, unsigned int flags,
                          int priority) {
  if (!stream || flags > cudaStreamNonBlocking) return state.fail(call, cudaErrorInvalidValue);
  if (priority > kLeastPriority) priority = kLeastPriority;
  if (priority < kGreatestPriority) priority = kGreatestPriority;
  *stream = *streams().insert(new CUstream_st{flags, priority}).first;
  StreamOrder::get().create(*stream, (flags & cudaStreamNonBlocking) == 0);
  return cudaSuccess;
}

cudaError_t create_event(State& state, const char* call, cudaEvent_t* event, unsigned int flags) {
  if (!event || flags > 7u) return state.fail(call, cudaErrorInvalidValue);
  if (flags & cudaEventInterprocess) {
    return state.unsupported("cudaEventCreateWithFlags(cudaEventInterprocess)",
                             "the simulated GPU belongs to one process");
  }
  *event = *events().insert(new CUevent_st{!(flags & cudaEventDisableTiming), false}).first;
  return cudaSuccess;
}

cudaError_t record(State& state, const char* call, cudaEvent_t event, cudaStream_t stream) {
  if (!events().count(event)) return bad_event(state, call);
  if (!is_stream(stream)) return bad_stream(state, call);
  event->recorded = true;
  StreamOrder::get().record(event, stream);
  return cudaSuccess;
}

}  // namespace

cudaError_t simgpu::runtime::bad_stream(State& state, const char* call) {
  return state.fail(call, cudaErrorInvalidResourceHandle, "the stream does not exist (any more)");
}

bool simgpu::runtime::is_stream(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
         streams().count(stream) != 0;
}

simgpu::runtime::GivenStream::GivenStream() {
  cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  State::get().give(stream_);
  StreamOrder::get().begin_anew();  // the caller has waited for what was called before
}

void simgpu::runtime::GivenStream::tell_left_behind() const {
  State& state = State::get();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (!is_stream(stream_)) return;
  constexpr std::string_view kKernel = "kernel '";  // its name is told alone
  for (const std::string& work : StreamOrder::get().left_behind(stream_))
    state.backend().note_unordered(
        work.starts_with(kKernel) ? work.substr(kKernel.size(), work.size() - kKernel.size() - 1)
                                  : work);
}

simgpu::runtime::GivenStream::~GivenStream() {
  State::get().give(nullptr);
  if (is_stream(stream_)) cudaStreamDestroy(stream_);
}

// -------------------------------------------------------------------------------------------
// streams

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  SIMGPU_API_BEGIN;
  return create_stream(state, "cudaStreamCreate", stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  SIMGPU_API_BEGIN;
  return create_stream(state, "cudaStreamCreateWithFlags", stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  SIMGPU_API_BEGIN;
  return create_stream(state, "cudaStreamCreateWithPriority", stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!streams().erase(stream)) return bad_stream(state, "cudaStreamDestroy");
  StreamOrder::get().destroy(stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaStreamSynchronize");
  StreamOrder::get().host_waits(stream);
  return state.synchronize("cudaStreamSynchronize");
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaStreamQuery");
  StreamOrder::get().host_waits(stream);
  return state.synchronize("cudaStreamQuery");
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaStreamGetFlags");
  if (!flags) return state.fail("cudaStreamGetFlags", cudaErrorInvalidValue);
  *flags = streams().count(stream) ? stream->flags : cudaStreamDefault;
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaStreamGetPriority");
  if (!priority) return state.fail("cudaStreamGetPriority", cudaErrorInvalidValue);
  *priority = streams().count(stream) ? stream->priority : 0;
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaStreamGetDevice");
  if (!device) return state.fail("cudaStreamGetDevice", cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaStreamIsCapturing");
  if (!status) return state.fail("cudaStreamIsCapturing", cudaErrorInvalidValue);
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

// What stays in a cache, or how the host waits, changes nothing here.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID,
                                   const cudaStreamAttrValue* value) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaStreamSetAttribute");
  if (!value) return state.fail("cudaStreamSetAttribute", cudaErrorInvalidValue);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  SIMGPU_API_BEGIN;
  if (least) *least = kLeastPriority;
  if (greatest) *greatest = kGreatestPriority;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaStreamWaitEvent");
  if (!events().count(event)) return bad_event(state, "cudaStreamWaitEvent");
  if (flags) return state.fail("cudaStreamWaitEvent", cudaErrorInvalidValue);
  StreamOrder::get().wait(stream, event);
  return cudaSuccess;
}

// Host functions run at once, outside the lock: CUDA forbids them to call the API, so they do not
// need it. They may touch what the device has written before them; the program has not waited for that.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned int flags) {
  cudaError_t status = cudaSuccess;
  {
    SIMGPU_API_BEGIN;
    if (!is_stream(stream)) return bad_stream(state, "cudaStreamAddCallback");
    if (!callback || flags) return state.fail("cudaStreamAddCallback", cudaErrorInvalidValue);
    status = state.finish("cudaStreamAddCallback");
  }
  const InFlight::Pause pause;
  callback(stream, status, data);
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  {
    SIMGPU_API_BEGIN;
    if (!is_stream(stream)) return bad_stream(state, "cudaLaunchHostFunc");
    if (!function) return state.fail("cudaLaunchHostFunc", cudaErrorInvalidValue);
    if (const cudaError_t error = state.finish("cudaLaunchHostFunc")) return error;
  }
  const InFlight::Pause pause;
  function(data);
  return cudaSuccess;
}

// --------------------------------------------------------------------------------------------
// events

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  SIMGPU_API_BEGIN;
  return create_event(state, "cudaEventCreate", event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  SIMGPU_API_BEGIN;
  return create_event(state, "cudaEventCreateWithFlags", event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  SIMGPU_API_BEGIN;
  if (!events().erase(event)) return bad_event(state, "cudaEventDestroy");
  StreamOrder::get().forget(event);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  return record(state, "cudaEventRecord", event, stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  SIMGPU_API_BEGIN;
  if (flags) return state.fail("cudaEventRecordWithFlags", cudaErrorInvalidValue);
  return record(state, "cudaEventRecordWithFlags", event, stream);
}

// An event that was never recorded counts as complete, in CUDA as well.
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  SIMGPU_API_BEGIN;
  if (!events().count(event)) return bad_event(state, "cudaEventSynchronize");
  StreamOrder::get().host_waits(event);
  return event->recorded ? state.synchronize("cudaEventSynchronize") : cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  SIMGPU_API_BEGIN;
  if (!events().count(event)) return bad_event(state, "cudaEventQuery");
  StreamOrder::get().host_waits(event);
  return event->recorded ? state.synchronize("cudaEventQuery") : cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaEventElapsedTime";
  if (!milliseconds)
    return state.fail(call, cudaErrorInvalidValue, "the pointer to fill in is null");
  if (!events().count(start) || !events().count(end)) return bad_event(state, call);
  if (!start->timing || !end->timing) {
    return state.fail(call, cudaErrorInvalidResourceHandle,
                      "the event was created with cudaEventDisableTiming");
  }
  if (!start->recorded || !end->recorded) {
    return state.fail(call, cudaErrorInvalidResourceHandle, "the event was never recorded");
  }
  // The program goes on: what it computes does not depend on how long that took.
  *milliseconds = 0;
  state.backend().note_no_time(
      call, "it counts memory accesses and instructions and has no milliseconds; the time is 0");
  return cudaSuccess;
}
