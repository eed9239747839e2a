// A libcuda of scripted answers, opened through HOLDALL_LIBCUDA: it records every call with the
// context that it was made in. Two devices, contexts and streams that are mere numbers.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

struct FakeCuda {
  struct Call {
    std::string name;
    int device;  // of the context that was current; -1: none was
  };
  struct Moved {
    CUdeviceptr to, from;
    std::size_t bytes;
    friend bool operator==(const Moved&, const Moved&) = default;
  };

  // -- The script.
  int devices = 2;
  std::map<std::string, CUresult> answers;  // what a call answers instead of doing anything
  std::set<std::string> missing;            // entries that this libcuda does not have
  std::map<CUdevice_attribute, int> attributes = {
      {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0},
  };
  bool capturing = false;

  // -- The record.
  std::mutex mutex;
  std::vector<Call> calls;
  std::map<std::string, int> versions;  // asked for
  std::vector<CUmemAccessDesc> grants;  // of the newest cuMemSetAccess
  CUmemAllocationProp made{};           // of the newest cuMemCreate
  std::vector<Moved> moved;
  int retained[2] = {0, 0};

  int count(const std::string& name) const {
    return static_cast<int>(
        std::ranges::count_if(calls, [&](const Call& call) { return call.name == name; }));
  }
  int device_of(const std::string& name) const {  // that the newest such call was made on
    for (auto call = calls.rbegin(); call != calls.rend(); ++call)
      if (call->name == name) return call->device;
    return -2;
  }
};

// What the test thread asks of the fake besides libcuda's own entries.
struct FakeCudaControl {
  FakeCuda* fake;
  void (*reset)();
  std::vector<CUcontext>& (*contexts)();   // this thread's stack
  CUstreamCaptureMode& (*capture_mode)();  // this thread's
  CUcontext (*context)(int device, bool primary);
  CUstream (*stream)(CUcontext context);
};
