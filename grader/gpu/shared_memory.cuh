// Device memory of one process that another one may use: the worker's end and the runner's. C++17.
//
// Two ways. A memory object of the driver's (cuMemCreate) travels as a file descriptor, and whoever
// has that maps the object (cuMemMap). Where the driver cannot do that, cudaMalloc's memory travels
// as CUDA's older cudaIpcMemHandle_t. The first is taken wherever it is there, since memory that
// cudaIpcOpenMemHandle has mapped is slower. On an H200 (driver 580, CUDA 13.0), at one clock, the
// same kernel in the same process made, in BF16 at 8192^3,
//     lab 5.4   752 TFLOP/s on memory of its own, 543 on a handle's, 751 on a file's,
//     cuBLAS    766, 717 and 766;
// at 4096^3 lab 5.4 lost 4 % and cuBLAS nothing. A candidate would have been compared with a
// yardstick on better memory.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "common/wire/unique_fd.hpp"
#include "grader/gpu/protocol.hpp"

namespace grader::gpu {

using wire::UniqueFd;

/// What went wrong, in the runtime's terms: CUresult and cudaError_t number their errors alike.
struct MemoryFault {
  cudaError_t code = cudaSuccess;
  const char* call = "";
  explicit operator bool() const { return code != cudaSuccess; }
};

/// The functions of the driver that it takes, found at run time: nothing must be linked with
/// libcuda.
class MemoryDriver {
 public:
  /// One of a process. Empty where the driver or the toolkit is too old.
  static const MemoryDriver& get() {
    static const MemoryDriver one;
    return one;
  }
  bool there() const { return there_; }

#if CUDART_VERSION >= 12000
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) give_back = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuMemExportToShareableHandle) to_file = nullptr;
  decltype(&cuMemImportFromShareableHandle) from_file = nullptr;

 private:
  MemoryDriver() {
    there_ = find("cuMemGetAllocationGranularity", granularity) && find("cuMemCreate", create) &&
             find("cuMemRelease", release) && find("cuMemAddressReserve", reserve) &&
             find("cuMemAddressFree", give_back) && find("cuMemMap", map) &&
             find("cuMemUnmap", unmap) && find("cuMemSetAccess", set_access) &&
             find("cuMemExportToShareableHandle", to_file) &&
             find("cuMemImportFromShareableHandle", from_file);
  }
  template <typename Function>
  static bool find(const char* name, Function& function) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    constexpr unsigned version = 10020;  // of CUDA, which brought all of them
    const cudaError_t code =
        cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &status);
#else
    const cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &status);
#endif
    if (code != cudaSuccess) cudaGetLastError();
    if (code != cudaSuccess || status != cudaDriverEntryPointSuccess) return false;
    function = reinterpret_cast<Function>(found);
    return true;
  }
  bool there_ = false;
#else
 private:
  bool there_ = false;
#endif
};

#if CUDART_VERSION >= 12000
/// A memory object of the driver's, mapped for reading and writing on the current device.
class MappedObject {
 public:
  MappedObject() = default;
  ~MappedObject() { reset(); }
  MappedObject(const MappedObject&) = delete;
  MappedObject& operator=(const MappedObject&) = delete;

  MemoryFault create(std::uint64_t bytes) {
    reset();
    CUmemAllocationProp properties{};
    if (const MemoryFault fault = round_up(bytes, properties)) return fault;
    return keep(MemoryDriver::get().create(&object_, size_, &properties, 0), "cuMemCreate");
  }
  /// The object of this file, whose size the other side has said.
  MemoryFault open(int file, std::uint64_t bytes) {
    reset();
    CUmemAllocationProp properties{};
    if (const MemoryFault fault = round_up(bytes, properties)) return fault;
    void* const handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
    return keep(MemoryDriver::get().from_file(&object_, handle, file_handle),
                "cuMemImportFromShareableHandle");
  }
  MemoryFault to_file(UniqueFd& file) const {
    int descriptor = -1;
    const CUresult code = MemoryDriver::get().to_file(&descriptor, object_, file_handle, 0);
    if (code == CUDA_SUCCESS) file.reset(descriptor);
    return fault(code, "cuMemExportToShareableHandle");
  }
  void reset() {
    const MemoryDriver& driver = MemoryDriver::get();
    if (mapped_) driver.unmap(address_, size_);
    if (address_ != 0) driver.give_back(address_, size_);
    if (held_) driver.release(object_);
    mapped_ = held_ = false;
    address_ = 0;
    size_ = 0;
  }
  unsigned char* data() const { return reinterpret_cast<unsigned char*>(address_); }

 private:
  static constexpr CUmemAllocationHandleType file_handle = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

  static MemoryFault fault(CUresult code, const char* call) {
    return {static_cast<cudaError_t>(code), call};
  }

  /// Objects have whole pages.
  MemoryFault round_up(std::uint64_t bytes, CUmemAllocationProp& properties) {
    int device = 0;
    if (const cudaError_t code = cudaGetDevice(&device); code != cudaSuccess)
      return {code, "cudaGetDevice"};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    properties.requestedHandleTypes = file_handle;
    std::size_t page = 0;
    const CUresult code =
        MemoryDriver::get().granularity(&page, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    if (code != CUDA_SUCCESS) return fault(code, "cuMemGetAllocationGranularity");
    size_ = (bytes + page - 1) / page * page;
    access_.location = properties.location;
    access_.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return {};
  }

  /// Maps the object, if there is one now; all or nothing.
  MemoryFault keep(CUresult code, const char* call) {
    const MemoryDriver& driver = MemoryDriver::get();
    held_ = code == CUDA_SUCCESS;
    if (held_) {
      call = "cuMemAddressReserve";
      code = driver.reserve(&address_, size_, 0, 0, 0);
    }
    if (code == CUDA_SUCCESS) {
      call = "cuMemMap";
      code = driver.map(address_, size_, 0, object_, 0);
      mapped_ = code == CUDA_SUCCESS;
    }
    if (mapped_) {
      call = "cuMemSetAccess";
      code = driver.set_access(address_, size_, &access_, 1);
    }
    if (code != CUDA_SUCCESS) reset();
    return fault(code, call);
  }

  CUmemGenericAllocationHandle object_ = 0;
  CUmemAccessDesc access_{};
  CUdeviceptr address_ = 0;
  std::size_t size_ = 0;
  bool held_ = false, mapped_ = false;
};
#else
/// Older toolkits: MemoryDriver finds nothing, so nobody asks.
class MappedObject {
 public:
  MemoryFault create(std::uint64_t) { return {cudaErrorNotSupported, "cuMemCreate"}; }
  MemoryFault open(int, std::uint64_t) { return {cudaErrorNotSupported, "cuMemMap"}; }
  MemoryFault to_file(UniqueFd&) const {
    return {cudaErrorNotSupported, "cuMemExportToShareableHandle"};
  }
  void reset() {}
  unsigned char* data() const { return nullptr; }
};
#endif

/// The worker's end.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory() { reset(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Frees what there was. The fault is cudaErrorMemoryAllocation where memory is short. With
  /// Sharing::none it is memory all the same, of which nobody else can have any.
  MemoryFault allocate(std::uint64_t bytes, protocol::Sharing how) {
    reset();
    MemoryFault fault;
    if (bytes > 0 && how == protocol::Sharing::files) {
      fault = object_.create(bytes);
      data_ = object_.data();
    } else if (bytes > 0) {
      void* data = nullptr;
      fault = {cudaMalloc(&data, bytes), "cudaMalloc"};
      data_ = own_ = static_cast<unsigned char*>(data);
    }
    if (fault) {
      cudaGetLastError();
      reset();
      return fault;
    }
    size_ = bytes;
    how_ = how;
    return {};
  }
  void reset() {
    if (own_ != nullptr) cudaFree(own_);
    object_.reset();
    data_ = own_ = nullptr;
    size_ = 0;
  }

  /// What another process needs to open it: the block, and the file if it is one.
  MemoryFault share(protocol::Block& block, UniqueFd& file) const {
    block = {};
    file.reset();
    if (data_ == nullptr) return {};
    block.bytes = size_;
    if (how_ == protocol::Sharing::files) return object_.to_file(file);
    if (how_ == protocol::Sharing::none) return {cudaErrorNotSupported, "cudaIpcGetMemHandle"};
    cudaIpcMemHandle_t handle;
    static_assert(sizeof handle == protocol::kHandleBytes);
    const MemoryFault fault{cudaIpcGetMemHandle(&handle, own_), "cudaIpcGetMemHandle"};
    if (fault)
      cudaGetLastError();
    else
      std::memcpy(block.handle.data(), &handle, sizeof handle);
    return fault;
  }

  unsigned char* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  std::uint64_t size() const { return size_; }

 private:
  MappedObject object_;
  unsigned char *data_ = nullptr, *own_ = nullptr;  ///< own_: cudaMalloc's
  std::uint64_t size_ = 0;
  protocol::Sharing how_ = protocol::Sharing::none;
};

/// The runner's end.
class OpenedMemory {
 public:
  OpenedMemory() = default;
  ~OpenedMemory() { reset(); }
  OpenedMemory(const OpenedMemory&) = delete;
  OpenedMemory& operator=(const OpenedMemory&) = delete;

  /// `file` is only read where blocks are shared as files; it stays the caller's.
  MemoryFault open(const protocol::Block& block, int file, protocol::Sharing how) {
    reset();
    if (block.bytes == 0) return {};
    if (how == protocol::Sharing::files) {
      if (!MemoryDriver::get().there()) return {cudaErrorNotSupported, "cuMemMap"};
      const MemoryFault fault = object_.open(file, block.bytes);
      data_ = reinterpret_cast<char*>(object_.data());
      return fault;
    }
    cudaIpcMemHandle_t handle;
    std::memcpy(&handle, block.handle.data(), sizeof handle);
    void* data = nullptr;
    const MemoryFault fault{cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess),
                            "cudaIpcOpenMemHandle"};
    if (fault) {
      cudaGetLastError();
    } else {
      by_handle_ = true;
      data_ = static_cast<char*>(data);
    }
    return fault;
  }
  void reset() {
    if (by_handle_) cudaIpcCloseMemHandle(data_);
    by_handle_ = false;
    object_.reset();
    data_ = nullptr;
  }
  char* data() const { return data_; }

 private:
  MappedObject object_;
  char* data_ = nullptr;
  bool by_handle_ = false;
};

/// How memory can be shared here: tried on one page.
inline protocol::Sharing possible_sharing() {
  for (const auto how : {protocol::Sharing::files, protocol::Sharing::handles}) {
    if (how == protocol::Sharing::files && !MemoryDriver::get().there()) continue;
    SharedMemory probe;
    protocol::Block block;
    UniqueFd file;
    if (!probe.allocate(1u << 21, how) && !probe.share(block, file)) return how;
  }
  return protocol::Sharing::none;
}

}  // namespace grader::gpu
