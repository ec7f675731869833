#include "grader/gpu/runner_main.hpp"

#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#define GEMM_LAB_TENSOR_MAP_ENCODER  // here, since a lab's object may not ask the driver for it
#include "common/cuda_check.cuh"
#include "common/tensor_map.cuh"
#include "grader/gpu/packet.hpp"
#include "grader/gpu/shared_memory.cuh"

// The student's object may hold any name at namespace scope; everything here but runner_main (and
// tensor_map_encoder, which labs call) has internal linkage.
namespace grader::gpu {
namespace {

using namespace protocol;
using simgpu::runtime::Entry;
using simgpu::runtime::RawView;

constexpr int kClosed = 0, kNoSocket = 2, kBroken = 3, kContextLost = 4;

void put_error(Done& done, RequestEnd end, cudaError_t code, const char* call) {
  done.end = end;
  done.code = code;
  put_text(done.call, call);
  put_text(done.name, cudaGetErrorName(code));
  put_text(done.text, cudaGetErrorString(code));
}

/// Device memory of exactly `bytes`; none for 0.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() {
    if (data_ != nullptr) cudaFree(data_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  cudaError_t allocate(std::size_t bytes) {
    return bytes > 0 ? cudaMalloc(&data_, bytes) : cudaSuccess;
  }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// A memory file of the judge's, mapped.
class Mapping {
 public:
  explicit Mapping(int file) {
    struct stat info {};
    if (file < 0 || ::fstat(file, &info) != 0 || info.st_size <= 0) return;
    size_ = static_cast<std::size_t>(info.st_size);
    void* const data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (data != MAP_FAILED) data_ = static_cast<char*>(data);
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  bool holds(const Place& place) const {
    return place.bytes == 0 || (data_ != nullptr && place.offset <= size_ &&
                                place.bytes <= size_ - static_cast<std::size_t>(place.offset));
  }
  char* at(const Place& place) const { return data_ + place.offset; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

class Server {
 public:
  Server(const Entry* entries, std::size_t count) : entries_(entries), count_(count) {}

  int serve() {
    Hello hello;
    for (std::size_t i = 0; i < count_ && i < kMaxEntries; ++i) {
      put_text(hello.names[i], entries_[i].name);
      ++hello.entries;
    }
    // The context, before anything is timed. Without a device there is nothing to offer.
    if (const cudaError_t code = cudaFree(nullptr); code != cudaSuccess) {
      Done done;
      put_error(done, RequestEnd::failed, code, "cudaFree");
      send_body(kDescriptor, Kind::done, 0, done);
      return kContextLost;
    }
    if (!send_body(kDescriptor, Kind::hello, 0, hello)) return kBroken;
    Packet packet;
    for (;;) {
      const Received received = receive_packet(kDescriptor, packet, true);
      if (received == Received::closed) return kClosed;
      if (received == Received::malformed) return kBroken;
      Done done;
      if (!answer(packet, done)) return kBroken;
      // What the student's code printed must not wait in a buffer that a kill would lose.
      std::fflush(nullptr);
      if (!send_body(kDescriptor, Kind::done, packet.header.serial, done)) return kBroken;
      if (done.end == RequestEnd::failed) return kContextLost;
    }
  }

 private:
  bool answer(const Packet& packet, Done& done) {
    const void* const body = packet.body.data();
    const std::size_t size = packet.body.size();
    switch (packet.header.kind) {
      case Kind::call: {
        const Mapping mapping(packet.files[0].get());
        Call request;
        if (!take(body, size, request) || !launcher(request.entry)) return false;
        call(request, mapping, done);
        return true;
      }
      case Kind::ask: {
        Ask request;
        if (!take(body, size, request) || request.entry >= count_ ||
            entries_[request.entry].answer == nullptr)
          return false;
        guarded(done, [&] {
          const char* const text = entries_[request.entry].answer();
          done.value = text != nullptr ? 1 : 0;
          put_text(done.text, text);
        });
        return true;
      }
      case Kind::open: {
        Arenas request;
        if (!take(body, size, request)) return false;
        open(request, packet, done);
        return true;
      }
      case Kind::batch: {
        if (!take(body, size, batch_) || !launcher(batch_.what) || inputs_.data() == nullptr)
          return false;
        batch(batch_, done);
        return true;
      }
      default:
        return false;
    }
  }

  bool launcher(std::uint32_t entry) const {
    return entry < count_ && entries_[entry].launch != nullptr;
  }

  /// Runs the student's code. False if an exception left it.
  template <typename Body>
  static bool guarded(Done& done, Body&& body) {
    try {
      body();
      return true;
    } catch (const CudaError& error) {
      put_error(done, RequestEnd::threw, error.code, "");
      put_text(done.text, error.what());
    } catch (const std::exception& error) {
      done.end = RequestEnd::threw;
      put_text(done.text, error.what());
    } catch (...) {
      done.end = RequestEnd::threw;
      put_text(done.text, "an exception that is no std::exception");
    }
    return false;
  }

  /// After the launches: was one refused, and did the device get to the end of them all?
  static void settle(Done& done) {
    const cudaError_t unread = cudaGetLastError();
    const cudaError_t ran = cudaDeviceSynchronize();
    if (ran != cudaSuccess) {
      const bool threw = done.end == RequestEnd::threw;
      char what[sizeof done.text];
      std::memcpy(what, done.text, sizeof what);
      put_error(done, RequestEnd::failed, ran, "cudaDeviceSynchronize");
      if (threw) std::memcpy(done.text, what, sizeof what);
    } else if (unread != cudaSuccess && done.end == RequestEnd::returned) {
      put_error(done, RequestEnd::refused, unread, "kernel launch");
    }
    cudaGetLastError();  // the next call starts clean
  }

  void call(const Call& request, const Mapping& mapping, Done& done) {
    const Place* const places[] = {&request.a, &request.b, &request.c};
    Buffer buffers[3];
    for (int i = 0; i < 3; ++i) {
      if (!mapping.holds(*places[i])) {
        done.end = RequestEnd::broken;
        put_text(done.text, "a matrix lies outside of the memory file");
        return;
      }
      cudaError_t code = buffers[i].allocate(places[i]->bytes);
      if (code != cudaSuccess) {
        put_error(done, RequestEnd::memory, code, "cudaMalloc");
        cudaGetLastError();
        return;
      }
      if (places[i]->bytes > 0)
        code = cudaMemcpy(buffers[i].data(), mapping.at(*places[i]), places[i]->bytes,
                          cudaMemcpyHostToDevice);
      if (code != cudaSuccess) return put_error(done, RequestEnd::failed, code, "cudaMemcpy");
    }
    const auto view = [&](int i) {
      return RawView{buffers[i].data(), places[i]->rows, places[i]->cols, places[i]->ld};
    };
    guarded(done, [&] { entries_[request.entry].launch(view(0), view(1), view(2), nullptr); });
    settle(done);
    if (done.end == RequestEnd::failed) return;
    for (int i = 0; i < 3; ++i) {
      if (places[i]->bytes == 0) continue;
      const cudaError_t code = cudaMemcpy(mapping.at(*places[i]), buffers[i].data(),
                                          places[i]->bytes, cudaMemcpyDeviceToHost);
      if (code != cudaSuccess) return put_error(done, RequestEnd::failed, code, "cudaMemcpy");
    }
  }

  void close_arenas() {
    inputs_.reset();
    outputs_.reset();
  }

  /// What a launcher takes by cudaMallocAsync and gives back stays in the process between requests,
  /// as in a program that runs for long; else the driver maps it anew after every synchronisation,
  /// which can take longer than a request while other processes allocate. A sixteenth of the
  /// memory at most: the judge's buffers for the next shape may come before this process is asked
  /// to trim what the last one left.
  static void keep_pool() {
    int device = 0;
    cudaMemPool_t pool = nullptr;
    std::size_t free = 0, total = 0;
    if (cudaGetDevice(&device) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess &&
        cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess) {
      std::uint64_t keep = total / 16;
      cudaMemPoolTrimTo(pool, 0);
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    }
    cudaGetLastError();  // there are devices without pools
  }

  void open(const Arenas& request, const Packet& packet, Done& done) {
    // Nothing may still work on the old ones; what did, and failed, is no fault of the new.
    if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess)
      return put_error(done, RequestEnd::failed, code, "cudaDeviceSynchronize");
    close_arenas();
    keep_pool();
    MemoryFault fault = inputs_.open(request.inputs, packet.files[0].get(), request.sharing);
    if (!fault) fault = outputs_.open(request.outputs, packet.files[1].get(), request.sharing);
    for (cudaEvent_t* event : {&start_, &stop_})
      if (!fault && *event == nullptr) fault = {cudaEventCreate(event), "cudaEventCreate"};
    if (fault) {
      put_error(done, RequestEnd::memory, fault.code, fault.call);
      cudaGetLastError();
      close_arenas();
      return;
    }
    arenas_ = request;
  }

  void batch(const Batch& request, Done& done) {
    for (std::uint32_t i = 0; i < request.count; ++i) {
      const Launch& launch = request.launches[i];
      if (launch.a >= arenas_.count_a || launch.b >= arenas_.count_b ||
          launch.c >= arenas_.count_c) {
        done.end = RequestEnd::broken;
        return;
      }
    }
    const auto run = entries_[request.what].launch;
    cudaEventRecord(start_, nullptr);
    guarded(done, [&] {
      for (std::uint32_t i = 0; i < request.count; ++i) {
        const Launch& launch = request.launches[i];
        char* const in = inputs_.data();
        run(RawView{in + launch.a * arenas_.stride_a, arenas_.m, arenas_.k, arenas_.k},
            RawView{in + arenas_.first_b + launch.b * arenas_.stride_b, arenas_.k, arenas_.n,
                    arenas_.n},
            RawView{outputs_.data() + launch.c * arenas_.stride_c, arenas_.m, arenas_.n, arenas_.n},
            nullptr);
      }
    });
    cudaEventRecord(stop_, nullptr);
    settle(done);
    if (done.end != RequestEnd::returned) return;
    float milliseconds = 0;
    if (cudaEventElapsedTime(&milliseconds, start_, stop_) == cudaSuccess)
      done.device_ms = static_cast<double>(milliseconds);
    cudaGetLastError();
  }

  const Entry* const entries_;
  const std::size_t count_;
  Arenas arenas_;
  OpenedMemory inputs_, outputs_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  Batch batch_;
};

}  // namespace

int runner_main(int argc, char** argv, const simgpu::runtime::Entry* entries, std::size_t count) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kDescriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    std::fputs("this program is started by the grader, which gives it a connection\n", stderr);
    return kNoSocket;
  }
#ifdef SYS_close_range
  if (argc < 2 || std::strcmp(argv[1], "wrapped") != 0)
    ::syscall(SYS_close_range, kDescriptor + 1, ~0U, 0);
#else
  (void)argc;
  (void)argv;
#endif
  static Server server(entries, count);
  return server.serve();
}

}  // namespace grader::gpu
