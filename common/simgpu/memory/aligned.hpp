// Memory that begins where a cache line does, so that the loads of eight lanes seldom take two lines.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace simgpu::memory {

inline constexpr std::align_val_t kLine{64};

template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>& /*other*/) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t /*n*/) { ::operator delete(p, kLine); }
  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};
using Bytes = std::vector<std::byte, LineAllocator<std::byte>>;

struct LineDelete {
  void operator()(std::byte* p) const { ::operator delete(p, kLine); }
};
using UniqueBytes = std::unique_ptr<std::byte[], LineDelete>;
/// Uninitialised.
inline UniqueBytes unique_bytes(std::size_t n) {
  return UniqueBytes(static_cast<std::byte*>(::operator new(n, kLine)));
}

}  // namespace simgpu::memory
