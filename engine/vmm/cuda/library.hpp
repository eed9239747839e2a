// libcuda's entry points, found at run time: one binary starts with and without a driver.
//
// HOLDALL_LIBCUDA in the environment names the library to open instead of libcuda.so.1. Each entry
// is asked for in the version whose signature is used here, so newer drivers change nothing.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <string>

namespace holdall::vmm::cuda {

// The name without its "cu", and the version of CUDA that brought the signature.
#define HOLDALL_CUDA_ENTRIES(entry)                                                                \
  entry(Init, 2000) entry(DriverGetVersion, 2020) entry(GetErrorName, 6000)                        \
      entry(GetErrorString, 6000) entry(DeviceGetCount, 2000) entry(DeviceGet, 2000)               \
          entry(DeviceGetName, 2000) entry(DeviceTotalMem, 3020) entry(DeviceGetAttribute, 2000)   \
              entry(DeviceCanAccessPeer, 4000) entry(DevicePrimaryCtxRetain, 7000)                 \
                  entry(DevicePrimaryCtxRelease, 11000) entry(CtxGetCurrent, 4000) entry(          \
                      CtxPushCurrent, 4000) entry(CtxPopCurrent, 4000) entry(CtxGetDevice, 2000)   \
                      entry(ThreadExchangeStreamCaptureMode, 10010) entry(MemGetInfo, 3020) entry( \
                          MemGetAllocationGranularity, 10020) entry(MemAddressReserve, 10020)      \
                          entry(MemAddressFree, 10020) entry(MemCreate, 10020) entry(              \
                              MemRelease, 10020) entry(MemMap, 10020) entry(MemSetAccess, 10020)   \
                              entry(MemUnmap, 10020) entry(MemHostRegister, 6050)                  \
                                  entry(MemHostUnregister, 4000) entry(StreamCreate, 2000) entry(  \
                                      StreamDestroy, 4000) entry(StreamSynchronize, 2000)          \
                                      entry(StreamGetCtx, 9020) entry(StreamIsCapturing, 10000)    \
                                          entry(StreamWaitEvent, 3020) entry(EventCreate, 2000)    \
                                              entry(EventDestroy, 4000) entry(EventRecord, 2000)   \
                                                  entry(EventQuery, 2000)                          \
                                                      entry(EventSynchronize, 2000)                \
                                                          entry(MemcpyAsync, 4000)                 \
                                                              entry(MemsetD8Async, 3020)           \
                                                                  entry(LaunchHostFunc, 10000)

struct Library {
#define HOLDALL_CUDA_ENTRY(name, version) PFN_cu##name##_v##version name = nullptr;
  HOLDALL_CUDA_ENTRIES(HOLDALL_CUDA_ENTRY)
#undef HOLDALL_CUDA_ENTRY
  PFN_cuMemcpyBatchAsync_v12080 MemcpyBatchAsync = nullptr;  // null: the driver is older than 12.8
};

// Opens the library and initialises the driver; makes no context. The library stays open for good.
// Throws NoDevice, saying what is missing and what to do.
Library load_library();

// "CUDA_ERROR_INVALID_VALUE (invalid argument)"
std::string describe(const Library& library, CUresult result);

}  // namespace holdall::vmm::cuda
