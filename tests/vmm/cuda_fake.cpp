#include "tests/vmm/cuda_fake.hpp"

#include <cstring>
#include <deque>
#include <memory>

struct CUctx_st {
  int device;
};
struct CUstream_st {
  explicit CUstream_st(CUcontext of) : context(of) {}
  CUcontext context;
};

namespace {

std::unique_ptr<FakeCuda> fake = std::make_unique<FakeCuda>();
std::deque<CUstream_st> streams;
CUctx_st primary[2] = {{0}, {1}};
CUctx_st foreign[2] = {{0}, {1}};
thread_local std::vector<CUcontext> stack;
thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
int event;  // an address for every event

CUcontext current() { return stack.empty() ? nullptr : stack.back(); }

CUresult called(const char* name) {
  const std::lock_guard lock(fake->mutex);
  fake->calls.push_back({name, current() ? current()->device : -1});
  const auto answer = fake->answers.find(name);
  return answer == fake->answers.end() ? CUDA_SUCCESS : answer->second;
}

// Does `effect` if the script lets the call through.
template <class Effect>
CUresult called(const char* name, Effect effect) {
  const CUresult result = called(name);
  if (result == CUDA_SUCCESS) effect();
  return result;
}

template <class Entry>
void* entry(Entry function) {  // its type, libcuda's own, is what checks the signature
  return reinterpret_cast<void*>(function);
}

void* find(const std::string& name) {
#define FAKE(name, version, ...) \
  { "cu" #name, entry<PFN_cu##name##_v##version>(__VA_ARGS__) }
  static const std::map<std::string, void*> entries = {
      FAKE(Init, 2000, [](unsigned) { return called("cuInit"); }),
      FAKE(DriverGetVersion, 2020, [](int* v) { return *v = 13000, CUDA_SUCCESS; }),
      FAKE(GetErrorName, 6000,
           [](CUresult e, const char** text) {
             *text = e == CUDA_ERROR_INVALID_VALUE      ? "CUDA_ERROR_INVALID_VALUE"
                     : e == CUDA_ERROR_SYSTEM_NOT_READY ? "CUDA_ERROR_SYSTEM_NOT_READY"
                                                        : "CUDA_ERROR_OTHER";
             return CUDA_SUCCESS;
           }),
      FAKE(GetErrorString, 6000,
           [](CUresult e, const char** text) {
             *text = e == CUDA_ERROR_INVALID_VALUE ? "invalid argument" : "something else";
             return CUDA_SUCCESS;
           }),
      FAKE(DeviceGetCount, 2000,
           [](int* n) { return called("cuDeviceGetCount", [&] { *n = fake->devices; }); }),
      FAKE(DeviceGet, 2000,
           [](CUdevice* d, int i) { return called("cuDeviceGet", [&] { *d = i; }); }),
      FAKE(DeviceGetName, 2000,
           [](char* text, int n, CUdevice) {
             return std::strncpy(text, "Fake", static_cast<std::size_t>(n)), CUDA_SUCCESS;
           }),
      FAKE(DeviceTotalMem, 3020,
           [](std::size_t* n, CUdevice) { return *n = std::size_t{8} << 30, CUDA_SUCCESS; }),
      FAKE(DeviceGetAttribute, 2000,
           [](int* v, CUdevice_attribute which, CUdevice) {
             const auto found = fake->attributes.find(which);
             if (found == fake->attributes.end()) return CUDA_ERROR_INVALID_VALUE;
             return *v = found->second, CUDA_SUCCESS;
           }),
      FAKE(DeviceCanAccessPeer, 4000,
           [](int* can, CUdevice, CUdevice) { return *can = 1, CUDA_SUCCESS; }),
      FAKE(DevicePrimaryCtxRetain, 7000,
           [](CUcontext* context, CUdevice d) {
             return called("cuDevicePrimaryCtxRetain",
                           [&] { *context = &primary[d], ++fake->retained[d]; });
           }),
      FAKE(DevicePrimaryCtxRelease, 11000,
           [](CUdevice d) {
             return called("cuDevicePrimaryCtxRelease", [&] { --fake->retained[d]; });
           }),
      FAKE(CtxGetCurrent, 4000,
           [](CUcontext* context) { return *context = current(), CUDA_SUCCESS; }),
      FAKE(CtxPushCurrent, 4000,
           [](CUcontext context) {
             return called("cuCtxPushCurrent", [&] { stack.push_back(context); });
           }),
      FAKE(CtxPopCurrent, 4000,
           [](CUcontext* context) {
             return called("cuCtxPopCurrent", [&] { *context = current(), stack.pop_back(); });
           }),
      FAKE(CtxGetDevice, 2000,
           [](CUdevice* d) { return called("cuCtxGetDevice", [&] { *d = current()->device; }); }),
      FAKE(ThreadExchangeStreamCaptureMode, 10010,
           [](CUstreamCaptureMode* other) { return std::swap(mode, *other), CUDA_SUCCESS; }),
      FAKE(MemGetInfo, 3020,
           [](std::size_t* free, std::size_t* total) {
             return called("cuMemGetInfo", [&] {
               *free = std::size_t{6} << 30;
               *total = std::size_t{8} << 30;
             });
           }),
      FAKE(MemGetAllocationGranularity, 10020,
           [](std::size_t* n, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
             return *n = std::size_t{2} << 20, CUDA_SUCCESS;
           }),
      FAKE(
          MemAddressReserve, 10020,
          [](CUdeviceptr* at, std::size_t, std::size_t alignment, CUdeviceptr, unsigned long long) {
            return called("cuMemAddressReserve", [&] { *at = 16 * alignment; });
          }),
      FAKE(MemAddressFree, 10020,
           [](CUdeviceptr, std::size_t) { return called("cuMemAddressFree"); }),
      FAKE(MemCreate, 10020,
           [](CUmemGenericAllocationHandle* handle, std::size_t, const CUmemAllocationProp* prop,
              unsigned long long) {
             return called("cuMemCreate", [&] { *handle = 7, fake->made = *prop; });
           }),
      FAKE(MemRelease, 10020, [](CUmemGenericAllocationHandle) { return called("cuMemRelease"); }),
      FAKE(MemMap, 10020,
           [](CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
              unsigned long long) { return called("cuMemMap"); }),
      FAKE(MemSetAccess, 10020,
           [](CUdeviceptr, std::size_t, const CUmemAccessDesc* grants, std::size_t n) {
             return called("cuMemSetAccess", [&] { fake->grants.assign(grants, grants + n); });
           }),
      FAKE(MemUnmap, 10020, [](CUdeviceptr, std::size_t) { return called("cuMemUnmap"); }),
      FAKE(MemHostRegister, 6050,
           [](void*, std::size_t, unsigned) { return called("cuMemHostRegister"); }),
      FAKE(MemHostUnregister, 4000, [](void*) { return called("cuMemHostUnregister"); }),
      FAKE(StreamCreate, 2000,
           [](CUstream* stream, unsigned) {
             return called("cuStreamCreate", [&] { *stream = &streams.emplace_back(current()); });
           }),
      FAKE(StreamDestroy, 4000, [](CUstream) { return called("cuStreamDestroy"); }),
      FAKE(StreamSynchronize, 2000, [](CUstream) { return called("cuStreamSynchronize"); }),
      FAKE(StreamGetCtx, 9020,
           [](CUstream stream, CUcontext* context) {
             return called("cuStreamGetCtx", [&] { *context = stream->context; });
           }),
      FAKE(StreamIsCapturing, 10000,
           [](CUstream, CUstreamCaptureStatus* status) {
             return called("cuStreamIsCapturing", [&] {
               *status = fake->capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                         : CU_STREAM_CAPTURE_STATUS_NONE;
             });
           }),
      FAKE(StreamWaitEvent, 3020,
           [](CUstream, CUevent, unsigned) { return called("cuStreamWaitEvent"); }),
      FAKE(EventCreate, 2000,
           [](CUevent* made, unsigned) {
             return called("cuEventCreate", [&] { *made = reinterpret_cast<CUevent>(&event); });
           }),
      FAKE(EventDestroy, 4000, [](CUevent) { return called("cuEventDestroy"); }),
      FAKE(EventRecord, 2000, [](CUevent, CUstream) { return called("cuEventRecord"); }),
      FAKE(EventQuery, 2000, [](CUevent) { return called("cuEventQuery"); }),
      FAKE(EventSynchronize, 2000, [](CUevent) { return called("cuEventSynchronize"); }),
      FAKE(MemcpyAsync, 4000,
           [](CUdeviceptr to, CUdeviceptr from, std::size_t n, CUstream) {
             return called("cuMemcpyAsync", [&] { fake->moved.push_back({to, from, n}); });
           }),
      FAKE(MemcpyBatchAsync, 12080,
           [](CUdeviceptr* to, CUdeviceptr* from, std::size_t* n, std::size_t count,
              CUmemcpyAttributes* attributes, std::size_t*, std::size_t, std::size_t*, CUstream) {
             if (attributes->srcAccessOrder != CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)
               return CUDA_ERROR_INVALID_VALUE;
             return called("cuMemcpyBatchAsync", [&] {
               for (std::size_t i = 0; i < count; ++i)
                 fake->moved.push_back({to[i], from[i], n[i]});
             });
           }),
      FAKE(MemsetD8Async, 3020,
           [](CUdeviceptr, unsigned char, std::size_t, CUstream) {
             return called("cuMemsetD8Async");
           }),
      FAKE(LaunchHostFunc, 10000,
           [](CUstream, CUhostFn function, void* data) {
             return called("cuLaunchHostFunc", [&] { function(data); });
           }),
  };
  const auto found = entries.find(name);
  return found == entries.end() || fake->missing.contains(name) ? nullptr : found->second;
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** found, int version, cuuint64_t,
                             CUdriverProcAddressQueryResult*) {
  fake->versions[symbol] = version;
  *found = find(symbol);
  return *found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

FakeCudaControl fake_cuda() {
  return {
      fake.get(),
      [] {
        fake = std::make_unique<FakeCuda>();
        streams.clear();
        stack.clear();
        mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
      },
      []() -> std::vector<CUcontext>& { return stack; },
      []() -> CUstreamCaptureMode& { return mode; },
      [](int device, bool own) { return own ? &primary[device] : &foreign[device]; },
      [](CUcontext context) { return &streams.emplace_back(context); },
  };
}

}  // extern "C"
