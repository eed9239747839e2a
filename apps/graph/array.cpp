#include "apps/graph/array.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include "apps/graph/error.hpp"
#include "engine/vmm/bytes.hpp"

namespace holdall::graph {

void refuse_allocation(std::uint64_t count, std::size_t element_bytes) {
  throw GraphError(fmt::format(
      "the system has no memory for {} elements of {} bytes; use a machine with more, or a smaller "
      "graph",
      count, element_bytes));
}

void prefer_huge_pages(void* memory, std::size_t bytes) {
  constexpr std::uintptr_t huge = 2_MiB;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = round_up(begin, huge);
  const std::uintptr_t last = (begin + bytes) / huge * huge;
  if (last > first) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace holdall::graph
