#include "engine/vmm/cuda/numa.hpp"

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>

namespace holdall::vmm::cuda {

namespace {

// "Node 0 MemTotal:        5466324 kB"
bool has_memory(const std::filesystem::path& meminfo) {
  std::ifstream file(meminfo);
  std::string word;
  while (file >> word)
    if (std::uint64_t kib = 0; word == "MemTotal:") return file >> kib && kib > 0;
  return false;
}

}  // namespace

std::vector<int> nodes_with_memory(const std::filesystem::path& nodes) {
  std::error_code missing;
  if (!std::filesystem::exists(nodes / "node0", missing)) return {0};
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator(nodes, missing)) {
    const std::string name = entry.path().filename();
    int node = 0;
    const char* end = name.data() + name.size();
    if (name.starts_with("node") && std::from_chars(name.data() + 4, end, node).ptr == end &&
        name.size() > 4 && has_memory(entry.path() / "meminfo"))
      found.push_back(node);
  }
  return found;
}

}  // namespace holdall::vmm::cuda
