#include "kernels/merge.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"

namespace holdall::kernels {
namespace {

using Range = tbb::blocked_range<std::uint64_t>;
constexpr std::uint64_t grain = 16384;

template <typename T>
void lower(T* to, const T* from, std::uint64_t count, Stream stream) {
  if (!stream.on_host()) return gpu::lower_values(to, from, count, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(Range(0, count, grain), [&](const Range& range) {
      for (std::uint64_t i = range.begin(); i < range.end(); ++i) to[i] = std::min(to[i], from[i]);
    });
  });
}

}  // namespace

void unite_bits(std::uint64_t* to, const std::uint64_t* from, std::uint64_t words, Stream stream) {
  if (!stream.on_host()) return gpu::unite_bits(to, from, words, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(Range(0, words, grain), [&](const Range& range) {
      for (std::uint64_t i = range.begin(); i < range.end(); ++i) to[i] |= from[i];
    });
  });
}

void lower_values(std::uint32_t* to, const std::uint32_t* from, std::uint64_t count,
                  Stream stream) {
  lower(to, from, count, stream);
}

void lower_values(std::uint64_t* to, const std::uint64_t* from, std::uint64_t count,
                  Stream stream) {
  lower(to, from, count, stream);
}

}  // namespace holdall::kernels
