// The NUMA nodes of this machine that have memory, by number.
#pragma once

#include <filesystem>
#include <vector>

namespace holdall::vmm::cuda {

// Just node 0 where the kernel knows of no nodes. Drivers 560 to 575 crash when asked for memory on
// a node that has none, so this is looked up first (https://github.com/NVIDIA/nccl/issues/2106).
std::vector<int> nodes_with_memory(const std::filesystem::path& nodes = "/sys/devices/system/node");

}  // namespace holdall::vmm::cuda
