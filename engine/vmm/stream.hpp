// A queue of GPU work, of either driver: what kernels are launched on and what a lease is ordered
// by. A cudaStream_t converts by itself; the host driver hands out its own. A handle to copy, it
// owns nothing.
#pragma once

struct CUstream_st;  // what cudaStream_t and CUstream point to

namespace holdall {

namespace vmm {
class HostStream;
}

class Stream {
 public:
  Stream() = default;                               // CUDA's default stream
  Stream(CUstream_st* stream) : handle_(stream) {}  // NOLINT: converts on purpose
  explicit Stream(vmm::HostStream* stream) : handle_(stream), host_(true) {}

  bool on_host() const { return host_; }  // true: a stream of the host driver
  void* handle() const { return handle_; }
  CUstream_st* cuda() const { return static_cast<CUstream_st*>(handle_); }
  vmm::HostStream* host() const { return static_cast<vmm::HostStream*>(handle_); }

  friend bool operator==(const Stream&, const Stream&) = default;

 private:
  void* handle_ = nullptr;
  bool host_ = false;
};

}  // namespace holdall
