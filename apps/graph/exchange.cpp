#include "apps/graph/exchange.hpp"

#include <algorithm>
#include <bit>

#include "kernels/merge.hpp"

namespace holdall::graph {

namespace {

template <class Each>
void for_each_piece(Bytes first, Bytes bytes, Bytes chunk_bytes, const Each& each) {
  for (Bytes at = first; at < first + bytes;) {
    const Bytes end = std::min(first + bytes, (at / chunk_bytes + 1) * chunk_bytes);
    each(at, end - at);
    at = end;
  }
}

}  // namespace

void Exchange::sum(std::span<std::uint64_t> numbers) {
  if (parts() == 1) return;
  const std::vector<std::uint64_t> all = collect(numbers);
  std::ranges::fill(numbers, 0);
  for (std::size_t i = 0; i < all.size(); ++i) numbers[i % numbers.size()] += all[i];
}

void Exchange::sum(std::span<double> numbers) {
  if (parts() == 1) return;
  std::vector<std::uint64_t> bits;
  for (const double number : numbers) bits.push_back(std::bit_cast<std::uint64_t>(number));
  const std::vector<std::uint64_t> all = collect(bits);
  std::ranges::fill(numbers, 0);
  for (std::size_t i = 0; i < all.size(); ++i)
    numbers[i % numbers.size()] += std::bit_cast<double>(all[i]);
}

std::uint64_t Exchange::sum(std::uint64_t mine) {
  sum(std::span(&mine, 1));
  return mine;
}

double Exchange::sum(double mine) {
  sum(std::span(&mine, 1));
  return mine;
}

void Exchange::copy_out(vmm::Driver& driver, const View& from, Bytes first, Bytes bytes,
                        std::byte* other) {
  for_each_piece(first, bytes, from.range->chunk_bytes, [&](Bytes at, Bytes length) {
    vmm::check(driver.copy(other + (at - first), from.range->base + at, length, from.stream),
               "copy vertex data out");
  });
}

void Exchange::copy_in(vmm::Driver& driver, const View& to, Bytes first, Bytes bytes,
                       const std::byte* other) {
  for_each_piece(first, bytes, to.range->chunk_bytes, [&](Bytes at, Bytes length) {
    vmm::check(driver.copy(to.range->base + at, other + (at - first), length, to.stream),
               "copy vertex data in");
  });
}

void Exchange::launch(Merge merge, const View& array, std::byte* to, const std::byte* from,
                      Bytes bytes) {
  const auto run = [&]<class T>(void (*kernel)(T*, const T*, std::uint64_t, Stream)) {
    kernel(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from), bytes / sizeof(T),
           array.stream);
  };
  if (merge == Merge::unite)
    run(kernels::unite_bits);
  else if (array.element == sizeof(std::uint32_t))
    run.operator()<std::uint32_t>(kernels::lower_values);
  else
    run.operator()<std::uint64_t>(kernels::lower_values);
}

}  // namespace holdall::graph
