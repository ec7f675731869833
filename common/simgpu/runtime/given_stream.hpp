// The stream that a launcher is given, as a caller of its own would give it one.
#pragma once

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace simgpu::runtime {

/// A stream that waits for no other. While it lives, work that goes to a default stream instead is
/// told to the backend: nothing orders that work after what the caller has put into the stream, or
/// before what follows there.
class GivenStream {
 public:
  GivenStream();
  ~GivenStream();
  GivenStream(const GivenStream&) = delete;
  GivenStream& operator=(const GivenStream&) = delete;
  CUstream_st* get() const { return stream_; }
  /// Tells the backend of work in other streams that nothing orders before what follows in this one.
  void tell_left_behind() const;

 private:
  CUstream_st* stream_ = nullptr;
};

}  // namespace simgpu::runtime
