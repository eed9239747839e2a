// Makes a context current for a scope and leaves the caller's as it was.
#pragma once

#include "engine/vmm/cuda/library.hpp"

namespace holdall::vmm::cuda {

// While it lives, calls that a capture elsewhere in the process would forbid are allowed too
// (relaxed capture mode): a program may capture a graph in one thread while the pager works in
// another.
class Current {
 public:
  Current(const Library& library, CUcontext context) : library_(library) {
    library_.ThreadExchangeStreamCaptureMode(&mode_);
    CUcontext now = nullptr;
    result_ = library_.CtxGetCurrent(&now);
    if (result_ != CUDA_SUCCESS || now == context) return;
    result_ = library_.CtxPushCurrent(context);
    pushed_ = result_ == CUDA_SUCCESS;
  }
  ~Current() {
    CUcontext popped = nullptr;
    if (pushed_) library_.CtxPopCurrent(&popped);
    library_.ThreadExchangeStreamCaptureMode(&mode_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  CUresult result() const { return result_; }  // not CUDA_SUCCESS: the context is not current

 private:
  const Library& library_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  CUresult result_ = CUDA_SUCCESS;
  bool pushed_ = false;
};

}  // namespace holdall::vmm::cuda
