// Streams, events and stream-ordered work of the cuda driver.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "engine/vmm/cuda/driver.hpp"

namespace holdall::vmm::cuda {

namespace {

CUdeviceptr pointer(const void* at) { return reinterpret_cast<CUdeviceptr>(at); }

bool legacy(Stream stream) { return !stream.cuda() || stream.cuda() == CU_STREAM_LEGACY; }
// Belongs to whichever context is current.
bool everywhere(Stream stream) { return legacy(stream) || stream.cuda() == CU_STREAM_PER_THREAD; }

// What a vmm::Event points to: an answer about an event names the device that it is of.
struct OwnedEvent {
  CUevent event = nullptr;
  int device = 0;
};
OwnedEvent* owned(Event event) { return static_cast<OwnedEvent*>(event.handle); }

void CUDA_CB run_and_delete(void* data) noexcept {
  const std::unique_ptr<std::function<void()>> call(static_cast<std::function<void()>*>(data));
  try {
    (*call)();
  } catch (...) {  // nobody is here to hear of it
  }
}

}  // namespace

Status CudaDriver::home_of(Stream stream, Home& home) const {
  if (stream.on_host())
    return refuse(Status::invalid_value,
                  "a stream of the host driver was given to the cuda driver");

  // 1. the stream's context
  home.context = nullptr;
  const CUresult result = everywhere(stream) ? library_.CtxGetCurrent(&home.context)
                                             : library_.StreamGetCtx(stream.cuda(), &home.context);
  if (result != CUDA_SUCCESS) return answer(result, "cuStreamGetCtx", {.certain = false});
  if (!home.context) {
    home.device = 0;
    return retain(0, home.context);
  }

  // 2. its device: most often the context is one that we hold
  for (home.device = 0; home.device < devices(); ++home.device)
    if (at(home.device).context.load(std::memory_order_acquire) == home.context) return Status::ok;
  CUdevice handle = 0;
  home.device = 0;
  home.certain = false;
  if (const Status status =
          in(home, "cuCtxGetDevice", [&] { return library_.CtxGetDevice(&handle); });
      status != Status::ok)
    return status;
  while (home.device < devices() && at(home.device).handle != handle) ++home.device;
  home.certain = known(home.device);
  return home.certain ? Status::ok
                      : refuse(Status::no_device,
                               "the stream is of a device that this driver "
                               "does not know");
}

Status CudaDriver::create_stream(Stream& stream, int device) {
  CUstream created = nullptr;
  const Status status = on(device, "cuStreamCreate",
                           [&] { return library_.StreamCreate(&created, CU_STREAM_NON_BLOCKING); });
  if (status == Status::ok) stream = created;
  return status;
}

Status CudaDriver::destroy_stream(Stream stream) {
  if (!stream.on_host() && everywhere(stream))
    return refuse(Status::invalid_value, "cuStreamDestroy: a default stream is not destroyed");
  const Status finished = synchronize(stream);
  const Status destroyed =
      on(stream, "cuStreamDestroy", [&] { return library_.StreamDestroy(stream.cuda()); });
  return finished != Status::ok ? finished : destroyed;
}

Status CudaDriver::synchronize(Stream stream) {
  return on(stream, "cuStreamSynchronize",
            [&] { return library_.StreamSynchronize(stream.cuda()); });
}

Status CudaDriver::device_of(Stream stream, int& device) const {
  Home home;
  const Status status = home_of(stream, home);
  if (status == Status::ok) device = home.device;
  return status;
}

// While another stream captures, the legacy stream can't be used, as if it captured itself.
Status CudaDriver::is_capturing(Stream stream, bool& capturing) const {
  CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
  // A stream of its own brings its context, so the common answer costs one call.
  if (!legacy(stream) && library_.StreamIsCapturing(stream.cuda(), &found) == CUDA_SUCCESS) {
    capturing = found != CU_STREAM_CAPTURE_STATUS_NONE;
    return Status::ok;
  }
  const Status status = on(stream, "cuStreamIsCapturing", [&] {
    const CUresult result = library_.StreamIsCapturing(stream.cuda(), &found);
    if (result != CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return result;
    found = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
  });
  if (status == Status::ok) capturing = found != CU_STREAM_CAPTURE_STATUS_NONE;
  return status;
}

Status CudaDriver::create_event(Event& event, int device) {
  auto created = std::make_unique<OwnedEvent>(OwnedEvent{nullptr, device});
  const Status status = on(device, "cuEventCreate", [&] {
    return library_.EventCreate(&created->event, CU_EVENT_DISABLE_TIMING);
  });
  if (status == Status::ok) event.handle = created.release();
  return status;
}

Status CudaDriver::destroy_event(Event event) {
  if (!event.handle) return refuse(Status::invalid_value, "cuEventDestroy: no event");
  const std::unique_ptr<OwnedEvent> own(owned(event));
  return on(own->device, "cuEventDestroy", [&] { return library_.EventDestroy(own->event); });
}

Status CudaDriver::record(Event event, Stream stream) {
  if (!event.handle) return refuse(Status::invalid_value, "cuEventRecord: no event");
  return on(stream, "cuEventRecord",
            [&] { return library_.EventRecord(owned(event)->event, stream.cuda()); });
}

Status CudaDriver::wait(Stream stream, Event event) {
  if (!event.handle) return refuse(Status::invalid_value, "cuStreamWaitEvent: no event");
  return on(stream, "cuStreamWaitEvent",
            [&] { return library_.StreamWaitEvent(stream.cuda(), owned(event)->event, 0); });
}

Status CudaDriver::query(Event event) {
  if (!event.handle) return refuse(Status::invalid_value, "cuEventQuery: no event");
  bool ready = true;  // "not ready" is no failure, and too frequent to be put in words
  const Status status = on(owned(event)->device, "cuEventQuery", [&] {
    const CUresult result = library_.EventQuery(owned(event)->event);
    ready = result != CUDA_ERROR_NOT_READY;
    return ready ? result : CUDA_SUCCESS;
  });
  return ready ? status : Status::not_ready;
}

Status CudaDriver::synchronize(Event event) {
  if (!event.handle) return refuse(Status::invalid_value, "cuEventSynchronize: no event");
  return on(owned(event)->device, "cuEventSynchronize",
            [&] { return library_.EventSynchronize(owned(event)->event); });
}

// Copies of one call may run in any order. They go to the driver in batches, which it issues nine
// times faster than one by one; it refuses batches on the legacy stream and in a capture.
Status CudaDriver::copy(std::span<const Copy> copies, Stream stream) {
  constexpr Bytes largest_batched = Bytes{1} << 20;
  Home home;
  if (const Status status = home_of(stream, home); status != Status::ok) return status;

  const auto one_by_one = [&](std::span<const Copy> some) {
    return in(home, "cuMemcpyAsync", [&] {
      for (const Copy& c : some) {
        if (c.bytes == 0) continue;
        const CUresult result =
            library_.MemcpyAsync(pointer(c.to), pointer(c.from), c.bytes, stream.cuda());
        if (result != CUDA_SUCCESS) return result;
      }
      return CUDA_SUCCESS;
    });
  };
  // A batch saves on many small copies; behind one of big ones, mapping calls wait for them (8 MiB
  // each: 200 us a chunk in place of 50 on an H200).
  Bytes all = 0;
  for (const Copy& c : copies) all += c.bytes;
  const bool small = all < copies.size() * largest_batched;
  bool capturing = false;
  if (copies.size() < 2 || !small || !library_.MemcpyBatchAsync || legacy(stream) ||
      is_capturing(stream, capturing) != Status::ok || capturing)
    return one_by_one(copies);

  constexpr std::size_t most = 512;
  std::array<CUdeviceptr, most> to;
  std::array<CUdeviceptr, most> from;
  std::array<std::size_t, most> bytes;
  while (!copies.empty()) {
    const auto some = copies.first(std::min(copies.size(), most));
    std::size_t n = 0;
    for (const Copy& c : some) {
      if (c.bytes == 0) continue;
      to[n] = pointer(c.to);
      from[n] = pointer(c.from);
      bytes[n++] = c.bytes;
    }
    bool supported = true;
    Status status = in(home, "cuMemcpyBatchAsync", [&] {
      if (n == 0) return CUDA_SUCCESS;
      CUmemcpyAttributes attributes{};
      attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
      std::size_t first = 0;
      std::size_t failed = 0;
      const CUresult result = library_.MemcpyBatchAsync(
          to.data(), from.data(), bytes.data(), n, &attributes, &first, 1, &failed, stream.cuda());
      supported = result != CUDA_ERROR_NOT_SUPPORTED;
      return supported ? result : CUDA_SUCCESS;
    });
    if (!supported) status = one_by_one(some);
    if (status != Status::ok) return status;
    copies = copies.subspan(some.size());
  }
  return Status::ok;
}

Status CudaDriver::fill(void* at, std::uint8_t value, Bytes bytes, Stream stream) {
  return on(stream, "cuMemsetD8Async", [&] {
    return bytes == 0 ? CUDA_SUCCESS
                      : library_.MemsetD8Async(pointer(at), value, bytes, stream.cuda());
  });
}

// libcuda drops the calls of a device that is lost, and what they hold with them. A captured call
// would run at every launch of the graph, so a capturing stream takes none.
Status CudaDriver::host_call(Stream stream, std::function<void()> call) {
  bool capturing = false;
  if (const Status status = is_capturing(stream, capturing); status != Status::ok) return status;
  if (capturing)
    return refuse(Status::not_supported, "cuLaunchHostFunc: a capturing stream takes no host call");
  auto held = std::make_unique<std::function<void()>>(std::move(call));
  const Status status = on(stream, "cuLaunchHostFunc", [&] {
    return library_.LaunchHostFunc(stream.cuda(), run_and_delete, held.get());
  });
  if (status == Status::ok) held.release();
  return status;
}

}  // namespace holdall::vmm::cuda
