#include "engine/vmm/driver.hpp"

#include <fmt/format.h>

#include "engine/vmm/error.hpp"

namespace holdall::vmm {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::invalid_value:
      return "invalid value";
    case Status::out_of_memory:
      return "out of memory";
    case Status::map_limit:
      return "the process has no mappings left (raise vm.max_map_count or use bigger chunks)";
    case Status::not_supported:
      return "not supported";
    case Status::not_ready:
      return "not ready";
    case Status::illegal_address:
      return "illegal address";
    case Status::no_device:
      return "no such device";
    case Status::unknown:
      return "unknown error";
  }
  return "unknown status";
}

void check(Status status, std::string_view doing, std::source_location where) {
  if (status == Status::ok) return;
  throw DriverError(status, fmt::format("cannot {}: {} [{}:{}]", doing, to_string(status),
                                        where.file_name(), where.line()));
}

}  // namespace holdall::vmm
