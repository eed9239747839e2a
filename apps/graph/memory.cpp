#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "apps/graph/build.hpp"

namespace holdall::graph {

namespace {

constexpr Bytes unlimited = std::numeric_limits<Bytes>::max();

Bytes number_in(const char* path) {
  std::ifstream file(path);
  Bytes value = 0;
  return file >> value ? value : unlimited;  // "max" where the group has no limit
}

Bytes free_of_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  Bytes kilobytes = 0;
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:") return kilobytes * 1024;
    file.ignore(64, '\n');
  }
  return unlimited;
}

Bytes free_of_group() {
  const Bytes most = number_in("/sys/fs/cgroup/memory.max");
  const Bytes used = number_in("/sys/fs/cgroup/memory.current");
  if (most == unlimited || used == unlimited) return unlimited;
  return most - std::min(most, used);
}

}  // namespace

Bytes available_memory() { return std::min(free_of_machine(), free_of_group()); }

}  // namespace holdall::graph
