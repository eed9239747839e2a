#include <cstdio>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/driver.hpp"

int main() {
  const holdall::Bytes budget = holdall::parse_bytes("8 MiB");
  std::printf("%s: %s\n", holdall::to_string(budget).c_str(),
              holdall::vmm::to_string(holdall::vmm::Status::ok).data());
  return budget == 8 << 20 ? 0 : 1;
}
