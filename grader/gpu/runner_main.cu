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
#include "grader/gpu/protocol.hpp"
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
  done.call = call;
  done.name = cudaGetErrorName(code);
  done.text = cudaGetErrorString(code);
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
    for (std::size_t i = 0; i < count_ && i < kMaxEntries; ++i)
      hello.entries.push_back(std::string(entries_[i].name).substr(0, kMaxName));
    // The context, before anything is timed. Without a device there is nothing to offer.
    if (const cudaError_t code = cudaFree(nullptr); code != cudaSuccess) {
      Done done;
      put_error(done, RequestEnd::failed, code, "cudaFree");
      send(Kind::done, 0, done);
      return kContextLost;
    }
    if (!send(Kind::hello, 0, hello)) return kBroken;
    wire::Message request;
    for (;;) {
      const wire::Received received = judge_.receive(request, wire::kForever, true);
      if (received == wire::Received::closed) return kClosed;
      if (received != wire::Received::message) return kBroken;
      Done done;
      try {
        if (!answer(request, done)) return kBroken;
      } catch (const wire::Error&) {
        return kBroken;
      }
      // What the student's code printed must not wait in a buffer that a kill would lose.
      std::fflush(nullptr);
      if (!send(Kind::done, request.serial, done)) return kBroken;
      if (done.end == RequestEnd::failed) return kContextLost;
    }
  }

 private:
  template <typename Body>
  bool send(Kind kind, std::uint32_t serial, const Body& body) {
    return judge_.send(wire::make(kind, serial, body), wire::kForever) == wire::Sent::all;
  }

  /// False, or wire::Error: the request is none.
  bool answer(const wire::Message& message, Done& done) {
    switch (static_cast<Kind>(message.kind)) {
      case Kind::call: {
        const Mapping mapping(message.files[0].get());
        const Call request = message.as<Call>();
        if (!launcher(request.entry)) return false;
        call(request, mapping, done);
        return true;
      }
      case Kind::ask: {
        const std::uint32_t entry = message.as<Ask>().entry;
        if (entry >= count_ || entries_[entry].answer == nullptr) return false;
        guarded(done, [&] {
          const char* const text = entries_[entry].answer();
          done.value = text != nullptr ? 1 : 0;
          done.text = capped(text);
        });
        return true;
      }
      case Kind::open:
        open(message.as<Arenas>(), message, done);
        return true;
      case Kind::batch: {
        const Batch request = message.as<Batch>();
        if (!launcher(request.what) || inputs_.data() == nullptr) return false;
        batch(request, done);
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
      done.text = capped(error.what());
    } catch (const std::exception& error) {
      done.end = RequestEnd::threw;
      done.text = capped(error.what());
    } catch (...) {
      done.end = RequestEnd::threw;
      done.text = "an exception that is no std::exception";
    }
    return false;
  }

  /// After the launches: was one refused, and did the device get to the end of them all?
  static void settle(Done& done) {
    const cudaError_t unread = cudaGetLastError();
    const cudaError_t ran = cudaDeviceSynchronize();
    if (ran != cudaSuccess) {
      const bool threw = done.end == RequestEnd::threw;
      std::string what = std::move(done.text);
      put_error(done, RequestEnd::failed, ran, "cudaDeviceSynchronize");
      if (threw) done.text = std::move(what);
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
        done.text = "a matrix lies outside of the memory file";
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

  void open(const Arenas& request, const wire::Message& message, Done& done) {
    // Nothing may still work on the old ones; what did, and failed, is no fault of the new.
    if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess)
      return put_error(done, RequestEnd::failed, code, "cudaDeviceSynchronize");
    close_arenas();
    keep_pool();
    MemoryFault fault = inputs_.open(request.inputs, message.files[0].get(), request.sharing);
    if (!fault) fault = outputs_.open(request.outputs, message.files[1].get(), request.sharing);
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
    for (const Launch& launch : request.launches) {
      if (launch.a >= arenas_.count_a || launch.b >= arenas_.count_b ||
          launch.c >= arenas_.count_c) {
        done.end = RequestEnd::broken;
        return;
      }
    }
    const auto run = entries_[request.what].launch;
    cudaEventRecord(start_, nullptr);
    guarded(done, [&] {
      for (const Launch& launch : request.launches) {
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
  wire::Channel judge_{kDescriptor, kProtocol};
};

}  // namespace

int runner_main(int argc, char** argv, const simgpu::runtime::Entry* entries, std::size_t count) {
  if (!wire::is_end(kDescriptor)) {
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
