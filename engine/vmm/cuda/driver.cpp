#include "engine/vmm/cuda/driver.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/vmm/cuda/numa.hpp"
#include "engine/vmm/cuda/status.hpp"
#include "engine/vmm/error.hpp"

namespace holdall::vmm {

namespace cuda {

namespace {

// CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, which not every header has.
constexpr auto host_memory_management = static_cast<CUdevice_attribute>(145);

thread_local std::string newest_error;

}  // namespace

CudaDriver::CudaDriver(const Library& library) : library_(library) {
  // 1. the devices
  int count = 0;
  if (const CUresult result = library_.DeviceGetCount(&count); result != CUDA_SUCCESS)
    throw NoDevice(
        fmt::format("cannot count the GPUs: cuDeviceGetCount: {}; see whether nvidia-smi "
                    "runs",
                    describe(library_, result)));
  if (count == 0)
    throw NoDevice(
        "the CUDA driver sees no GPU; see whether nvidia-smi lists one, and whether "
        "CUDA_VISIBLE_DEVICES hides it");
  bool by_node = true;
  host_frames_ = true;
  for (int i = 0; i < count; ++i) {
    Device& device = devices_.emplace_back();
    if (const CUresult result = library_.DeviceGet(&device.handle, i); result != CUDA_SUCCESS)
      throw NoDevice(
          fmt::format("cannot open GPU {}: cuDeviceGet: {}; leave it out with "
                      "CUDA_VISIBLE_DEVICES",
                      i, describe(library_, result)));
    device.paging = attribute(device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
    if (!device.paging) continue;
    by_node &=
        attribute(device, CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
    host_frames_ &= attribute(device, host_memory_management) != 0;
  }
  if (std::ranges::none_of(devices_, &Device::paging)) {
    std::array<char, 256> name{};
    library_.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, devices_[0].handle);
    throw NoDevice(
        fmt::format("no GPU here has virtual memory management (device 0: {}), which Holdall pages "
                    "with; take a newer GPU or a driver mode that offers it, or the host driver",
                    name.data()));
  }

  // 2. what can be allocated, and how coarsely
  if (by_node) numa_nodes_ = nodes_with_memory();
  for (int i = 0; i < count; ++i)
    if (at(i).paging) granularity_ = std::max(granularity_, granularity({Place::device, i}));
}

CudaDriver::~CudaDriver() {
  drop_links();
  for (Device& device : devices_)
    if (device.context.load()) library_.DevicePrimaryCtxRelease(device.handle);
}

DeviceInfo CudaDriver::info(int device) const {
  DeviceInfo info;
  if (!known(device)) return info;
  const Device& d = at(device);
  std::array<char, 256> name{};
  library_.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, d.handle);
  info.name = name.data();
  info.supports_paging = d.paging;
  info.compute_capability = 10 * attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                            attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  info.multiprocessors = attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  int node = -1;
  if (library_.DeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, d.handle) ==
      CUDA_SUCCESS)
    info.numa_node = node;
  std::size_t free = 0;
  std::size_t total = 0;
  if (library_.DeviceTotalMem(&total, d.handle) == CUDA_SUCCESS) info.total = total;
  if (on(device, "cuMemGetInfo", [&] { return library_.MemGetInfo(&free, &total); }) == Status::ok)
    info.free = free;
  return info;
}

bool CudaDriver::can_access_peer(int device, int peer) const {
  if (!known(device) || !known(peer)) return false;
  if (device == peer) return true;
  int can = 0;
  return library_.DeviceCanAccessPeer(&can, at(device).handle, at(peer).handle) == CUDA_SUCCESS &&
         can != 0;
}

std::string CudaDriver::last_error() const { return newest_error; }

Status CudaDriver::health(int device) const {
  if (!known(device)) return Status::no_device;
  return at(device).lost.load(std::memory_order_acquire) ? Status::illegal_address : Status::ok;
}

std::optional<Fault> CudaDriver::fault(int device) const {
  if (!known(device)) return std::nullopt;
  Device& d = at(device);
  const std::lock_guard lock(d.mutex);
  return d.fault;
}

int CudaDriver::attribute(const Device& device, CUdevice_attribute which) const {
  int value = 0;
  return library_.DeviceGetAttribute(&value, which, device.handle) == CUDA_SUCCESS ? value : 0;
}

Status CudaDriver::answer(CUresult result, std::string_view call, const Home& home) const {
  if (result == CUDA_SUCCESS) return Status::ok;
  newest_error = fmt::format("{}: {}", call, describe(library_, result));
  if (sticky(result)) {
    const auto used = [](const Device& device) { return device.context.load() != nullptr; };
    if (home.certain)
      lose(at(home.device), newest_error);
    else if (std::ranges::count_if(devices_, used) == 1)
      lose(*std::ranges::find_if(devices_, used), newest_error);
  }
  return status_of(result);
}

Status CudaDriver::refuse(Status status, std::string text) const {
  newest_error = std::move(text);
  return status;
}

void CudaDriver::lose(Device& device, const std::string& text) const {
  const std::lock_guard lock(device.mutex);
  if (!device.fault) device.fault = Fault{nullptr, text};
  device.lost.store(true, std::memory_order_release);
}

Status CudaDriver::retain(int device, CUcontext& context) const {
  if (!known(device))
    return refuse(Status::no_device,
                  fmt::format("no device {}: there are {}, from 0", device, devices()));
  Device& d = at(device);
  context = d.context.load(std::memory_order_acquire);
  if (context) return Status::ok;

  CUresult result = CUDA_SUCCESS;
  {
    const std::lock_guard lock(d.mutex);
    context = d.context.load(std::memory_order_relaxed);
    if (context) return Status::ok;
    result = library_.DevicePrimaryCtxRetain(&context, d.handle);
    if (result == CUDA_SUCCESS) d.context.store(context, std::memory_order_release);
  }
  return answer(result, "cuDevicePrimaryCtxRetain", {.device = device});
}

int CudaDriver::any_device() const {
  int best = -1;
  for (int i = 0; i < devices(); ++i) {
    const Device& d = at(i);
    if (!d.paging || d.lost.load(std::memory_order_relaxed)) continue;
    if (d.context.load(std::memory_order_relaxed)) return i;
    if (best < 0) best = i;
  }
  return std::max(best, 0);
}

}  // namespace cuda

std::unique_ptr<Driver> make_cuda_driver() {
  return std::make_unique<cuda::CudaDriver>(cuda::load_library());
}

bool cuda_available(std::string* why) {
  try {
    const cuda::CudaDriver driver(cuda::load_library());
    return true;
  } catch (const NoDevice& error) {
    if (why) *why = error.what();
    return false;
  }
}

}  // namespace holdall::vmm
