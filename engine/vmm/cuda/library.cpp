#include "engine/vmm/cuda/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "engine/vmm/error.hpp"

namespace holdall::vmm::cuda {

namespace {

constexpr const char* needed = "Holdall needs driver 525 (CUDA 12.0) or newer: update the driver";

template <class Entry>
bool find(PFN_cuGetProcAddress_v12000 get_entry, const char* name, int version, Entry& entry) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult why{};
  const CUresult result = get_entry(name, &found, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &why);
  entry = result == CUDA_SUCCESS ? reinterpret_cast<Entry>(found) : nullptr;
  return entry != nullptr;
}

std::string remedy(CUresult init) {
  switch (init) {
    case CUDA_ERROR_NO_DEVICE:
      return "see whether nvidia-smi lists a GPU, whether CUDA_VISIBLE_DEVICES hides it, and "
             "whether the container was given it (--gpus all)";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "the kernel module and libcuda are of different versions: reboot, or reinstall the "
             "driver";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "start nvidia-fabricmanager, of the driver's own version";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return "this GPU cannot use the compatibility package: take it off LD_LIBRARY_PATH, or "
             "update "
             "the driver";
    case CUDA_ERROR_STUB_LIBRARY:
      return "this is the toolkit's stub: take its folder off LD_LIBRARY_PATH and install the "
             "driver";
    case CUDA_ERROR_UNKNOWN:
      return "load the kernel module (modprobe nvidia_uvm) and see whether nvidia-smi runs";
    default:
      return "see whether nvidia-smi runs";
  }
}

}  // namespace

Library load_library() {
  const char* wanted = std::getenv("HOLDALL_LIBCUDA");
  const char* path = wanted && *wanted ? wanted : "libcuda.so.1";

  void* opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    throw NoDevice(fmt::format(
        "no CUDA driver: {}; install the NVIDIA driver, or start the container with --gpus all, or "
        "use the host driver",
        dlerror()));
  const auto get_entry =
      reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(opened, "cuGetProcAddress_v2"));
  if (!get_entry) throw NoDevice(fmt::format("the CUDA driver in {} is too old; {}", path, needed));

  Library library;
#define HOLDALL_CUDA_ENTRY(name, version)                  \
  if (!find(get_entry, "cu" #name, version, library.name)) \
    throw NoDevice(fmt::format("the CUDA driver in {} has no {}; {}", path, "cu" #name, needed));
  HOLDALL_CUDA_ENTRIES(HOLDALL_CUDA_ENTRY)
#undef HOLDALL_CUDA_ENTRY
  find(get_entry, "cuMemcpyBatchAsync", 12080, library.MemcpyBatchAsync);

  if (const CUresult result = library.Init(0); result != CUDA_SUCCESS)
    throw NoDevice(fmt::format("the CUDA driver does not start: cuInit: {}; {}",
                               describe(library, result), remedy(result)));
  return library;
}

std::string describe(const Library& library, CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (library.GetErrorName(result, &name) != CUDA_SUCCESS || !name)
    return fmt::format("error {}", static_cast<int>(result));
  if (library.GetErrorString(result, &text) != CUDA_SUCCESS || !text) return name;
  return fmt::format("{} ({})", name, text);
}

}  // namespace holdall::vmm::cuda
