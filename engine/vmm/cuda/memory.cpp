// Addresses, frames, mappings and pinned memory of the cuda driver.
#include <algorithm>
#include <array>
#include <bit>

#include "engine/vmm/cuda/driver.hpp"

namespace holdall::vmm::cuda {

namespace {

CUdeviceptr pointer(const void* at) { return reinterpret_cast<CUdeviceptr>(at); }

CUmemAllocationProp frame_in(CUmemLocation location) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = location;
  return prop;
}

CUmemAccess_flags flags(Protection protection) {
  switch (protection) {
    case Protection::none:
      return CU_MEM_ACCESS_FLAGS_PROT_NONE;
    case Protection::read:
      return CU_MEM_ACCESS_FLAGS_PROT_READ;
    case Protection::read_write:
      return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  return CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

}  // namespace

std::optional<CUmemLocation> CudaDriver::location(Place place) const {
  CUmemLocation location{};
  location.id = place.index;
  if (place.kind == Place::device) {
    if (!known(place.index)) return std::nullopt;
    location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  } else if (std::ranges::find(numa_nodes_, place.index) != numa_nodes_.end()) {
    location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  } else if (host_frames_) {
    location.type = CU_MEM_LOCATION_TYPE_HOST;
    location.id = 0;
  } else {
    return std::nullopt;
  }
  return location;
}

Bytes CudaDriver::granularity(Place place) const {
  const auto where = location(place);
  if (!where) return 0;
  const CUmemAllocationProp prop = frame_in(*where);
  std::size_t unit = 0;
  const CUresult result =
      library_.MemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  return result == CUDA_SUCCESS ? unit : 0;
}

Status CudaDriver::reserve(std::byte*& at, Bytes bytes, Bytes alignment, std::string_view) {
  if (alignment == 0) alignment = granularity_;
  CUdeviceptr address = 0;
  const Status status = anywhere("cuMemAddressReserve", [&] {
    return library_.MemAddressReserve(&address, bytes, alignment, 0, 0);
  });
  if (status == Status::ok) at = reinterpret_cast<std::byte*>(address);
  return status;
}

Status CudaDriver::unreserve(std::byte* at, Bytes bytes) {
  return anywhere("cuMemAddressFree", [&] { return library_.MemAddressFree(pointer(at), bytes); });
}

Status CudaDriver::create(Frame& frame, Bytes bytes, Place place) {
  const auto where = location(place);
  if (!where && place.kind == Place::host)
    return refuse(Status::not_supported,
                  fmt::format("this driver makes no host frames on NUMA node {}", place.index));
  const auto make = [&] {
    const CUmemAllocationProp prop = frame_in(*where);
    CUmemGenericAllocationHandle handle = 0;
    const CUresult result = library_.MemCreate(&handle, bytes, &prop, 0);
    if (result == CUDA_SUCCESS) frame = Frame{handle};
    return result;
  };
  return place.kind == Place::device ? on(place.index, "cuMemCreate", make)
                                     : anywhere("cuMemCreate", make);
}

// libcuda's behaviour is undefined for what is no handle, so at least 0 is kept from it.
Status CudaDriver::release(Frame frame) {
  if (frame == Frame{}) return refuse(Status::invalid_value, "cuMemRelease: frame 0 is no frame");
  return anywhere("cuMemRelease", [&] {
    return library_.MemRelease(static_cast<CUmemGenericAllocationHandle>(frame));
  });
}

Status CudaDriver::map(std::byte* at, Bytes bytes, Frame frame) {
  if (frame == Frame{}) return refuse(Status::invalid_value, "cuMemMap: frame 0 is no frame");
  return anywhere("cuMemMap", [&] {
    return library_.MemMap(pointer(at), bytes, 0, static_cast<CUmemGenericAllocationHandle>(frame),
                           0);
  });
}

Status CudaDriver::set_access(std::byte* at, Bytes bytes, std::span<const Grant> to) {
  std::array<CUmemAccessDesc, 64> grants;
  if (to.empty() || to.size() > grants.size())
    return refuse(Status::invalid_value, fmt::format("cuMemSetAccess: {} grants; 1 to {} can be",
                                                     to.size(), grants.size()));
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto where = location(to[i].to);
    if (to[i].to.kind == Place::device) {
      CUcontext used = nullptr;
      if (const Status status = retain(to[i].to.index, used); status != Status::ok) return status;
    } else if (!where) {
      return refuse(Status::not_supported, "cuMemSetAccess: this driver makes no host frames");
    }
    grants[i] = {*where, flags(to[i].protection)};
  }
  hold_links(to);
  return anywhere("cuMemSetAccess", [&] {
    return library_.MemSetAccess(pointer(at), bytes, grants.data(), to.size());
  });
}

// The first grant that one device has on memory of another sets their link up, and the link goes with the last: 1 ms a grant
// on H200s, in place of 40 us. So a granule of each stays granted to the others for the driver's life. Where that fails,
// grants are slow.
void CudaDriver::hold_links(std::span<const Grant> to) {
  std::uint64_t devices = 0;
  for (const Grant& grant : to)
    if (grant.to.kind == Place::device && grant.to.index < 64) devices |= std::uint64_t{1} << grant.to.index;
  if (std::popcount(devices) < 2) return;
  for (int owner = 0; owner < std::min(this->devices(), 64); ++owner) {
    if (!(devices >> owner & 1) || (devices & ~at(owner).linked.load(std::memory_order_acquire)) == 0) continue;
    const std::lock_guard lock(links_mutex_);
    const std::uint64_t wanted = at(owner).linked.load(std::memory_order_relaxed) | devices;
    if (wanted == at(owner).linked.load(std::memory_order_relaxed)) continue;
    at(owner).linked.store(wanted, std::memory_order_release);
    std::vector<CUmemAccessDesc> grants;
    for (int reader = 0; reader < this->devices(); ++reader)
      if (wanted >> reader & 1 && can_access_peer(reader, owner))
        grants.push_back({*location({Place::device, reader}), CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    Link link;
    Frame frame{};
    if (reserve(link.at, granularity_, 0, "link") != Status::ok) continue;
    link.mapped = create(frame, granularity_, {Place::device, owner}) == Status::ok &&
                  map(link.at, granularity_, frame) == Status::ok;
    if (frame != Frame{}) (void)release(frame);
    if (link.mapped)
      (void)anywhere("cuMemSetAccess", [&] {
        return library_.MemSetAccess(pointer(link.at), granularity_, grants.data(), grants.size());
      });
    links_.push_back(link);
  }
}

void CudaDriver::drop_links() {
  for (const Link& link : links_) {
    if (link.mapped) (void)unmap(link.at, granularity_);
    (void)unreserve(link.at, granularity_);
  }
}

Status CudaDriver::unmap(std::byte* at, Bytes bytes) {
  return anywhere("cuMemUnmap", [&] { return library_.MemUnmap(pointer(at), bytes); });
}

Status CudaDriver::pin(void* at, Bytes bytes) {
  return anywhere("cuMemHostRegister", [&] {
    return library_.MemHostRegister(at, bytes,
                                    CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  });
}

Status CudaDriver::unpin(void* at) {
  return anywhere("cuMemHostUnregister", [&] { return library_.MemHostUnregister(at); });
}

}  // namespace holdall::vmm::cuda
