// A stretch of a thread's time under a name that Nsight Systems shows (NVTX). Without NVTX's header at build time it does
// nothing, and without a profiler next to nothing.
//
//   const Mark mark("holdall: evict");
#pragma once

#ifdef HOLDALL_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace holdall {

class Mark {
 public:
#ifdef HOLDALL_NVTX
  explicit Mark(const char* name) { nvtxRangePushA(name); }
  ~Mark() { nvtxRangePop(); }
#else
  explicit Mark(const char*) {}
  ~Mark() {}
#endif
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
};

}  // namespace holdall
