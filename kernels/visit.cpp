#include "kernels/visit.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <bit>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/search.hpp"

namespace holdall::kernels {
namespace {

std::uint64_t list(const std::uint64_t* bits, bool value, std::uint64_t vertices, Vertex* to,
                   Vertex* places) {
  const std::uint64_t words = bitmap_words(vertices);
  const auto word_of = [=](std::uint64_t word) {
    std::uint64_t its = value ? bits[word] : ~bits[word];
    if (!value && word + 1 == words && vertices % 64 != 0)
      its &= (std::uint64_t{1} << vertices % 64) - 1;
    return its;
  };
  exclusive_scan(
      words, [&](std::uint64_t w) { return static_cast<Vertex>(std::popcount(word_of(w))); },
      places);
  using Range = tbb::blocked_range<std::uint64_t>;
  tbb::parallel_for(Range(0, words, 1024), [&](const Range& range) {
    for (std::uint64_t word = range.begin(); word < range.end(); ++word) {
      Vertex* at = to + places[word];
      for (std::uint64_t its = word_of(word); its != 0; its &= its - 1)
        *at++ = static_cast<Vertex>(word * 64 + std::countr_zero(its));
    }
  });
  return places[words];
}

}  // namespace

Bytes visit_workspace_bytes(std::uint64_t vertices, std::uint64_t pass_edges,
                            std::uint64_t pass_ranges, Stream stream) {
  if (!stream.on_host()) return gpu::visit_workspace_bytes(vertices, pass_edges, pass_ranges);
  return (bitmap_words(vertices) + 1) * sizeof(Vertex);
}

std::uint64_t list_vertices(const std::uint64_t* bits, bool value, std::uint64_t vertices,
                            Vertex* to, void* workspace, Stream stream) {
  if (!stream.on_host()) return gpu::list_vertices(bits, value, vertices, to, workspace, stream);
  return launch_and_wait(
      stream, [=] { return list(bits, value, vertices, to, static_cast<Vertex*>(workspace)); });
}

ListPart part_of_list(const Vertex* list, std::uint64_t count, std::uint64_t first,
                      std::uint64_t past, void* workspace, Stream stream) {
  if (!stream.on_host()) return gpu::part_of_list(list, count, first, past, workspace, stream);
  return launch_and_wait(stream, [=] {
    return ListPart{first_at_least(list, count, first), first_at_least(list, count, past)};
  });
}

}  // namespace holdall::kernels
