// Functions that programs link against and the simulated GPU does not have: each says so, once, by
// name.

#include "common/simgpu/runtime/api/state.hpp"

using simgpu::runtime::State;

namespace {

cudaError_t refuse(const char* call, const char* why) {
  State& state = State::get();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (state.sticky() != cudaSuccess) return state.repeat_sticky();
  return state.unsupported(call, why);
}

constexpr const char* kNoGraphs = "launch the kernels directly";
constexpr const char* kOneDevice = "there is one simulated device";

}  // namespace

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) {
  return refuse("cudaDeviceEnablePeerAccess", kOneDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
  return refuse("cudaDeviceDisablePeerAccess", kOneDevice);
}
cudaError_t cudaMemcpyPeer(void*, int, const void*, int, size_t) {
  return refuse("cudaMemcpyPeer", kOneDevice);
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return refuse("cudaGraphDestroy", kNoGraphs);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return refuse("cudaGraphExecDestroy", kNoGraphs);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return refuse("cudaGraphLaunch", kNoGraphs);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  return refuse("cudaGraphInstantiate", kNoGraphs);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return refuse("cudaStreamBeginCapture", kNoGraphs);
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  if (graph) *graph = nullptr;
  return refuse("cudaStreamEndCapture", kNoGraphs);
}
