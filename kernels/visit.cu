#include "kernels/visit.cuh"

#include "kernels/gpu.hpp"

namespace holdall::kernels::gpu {
namespace {

struct Bits {
  const std::uint64_t* bits;
  bool value;
  std::uint64_t vertices;
  __device__ std::uint64_t word(std::uint64_t w) const {
    if (value) return bits[w];
    const std::uint64_t left = vertices - w * 64;
    return ~bits[w] & (left < 64 ? (1ull << left) - 1 : ~0ull);
  }
  __device__ Vertex operator()(std::uint64_t w) const { return __popcll(word(w)); }
};

// A warp takes 32 words: it writes them one after the other, a bit a thread, so that dense words
// are written side by side.
__global__ void write_list(Bits bits, const Vertex* __restrict__ places, std::uint64_t words,
                           Vertex* list) {
  constexpr unsigned all = 0xFFFF'FFFF;
  const std::uint64_t own = thread_index();
  const std::uint64_t its_bits = own < words ? bits.word(own) : 0;
  const unsigned lane = threadIdx.x % 32;
  for (unsigned some = __ballot_sync(all, its_bits != 0); some != 0; some &= some - 1) {
    const int from = __ffs(static_cast<int>(some)) - 1;
    const std::uint64_t word = __shfl_sync(all, own, from);
    const std::uint64_t its = __shfl_sync(all, its_bits, from);
    for (unsigned bit = lane; bit < 64; bit += 32) {
      if ((its >> bit & 1) == 0) continue;
      const int earlier = __popcll(its & ((std::uint64_t{1} << bit) - 1));
      list[places[word] + std::uint64_t{static_cast<unsigned>(earlier)}] =
          static_cast<Vertex>(word * 64 + bit);
    }
  }
}

__global__ void find_part(const Vertex* list, std::uint64_t count, std::uint64_t first,
                          std::uint64_t past, ListPart* part) {
  if (threadIdx.x == 0) part->first = first_at_least(list, count, first);
  if (threadIdx.x == 1) part->past = first_at_least(list, count, past);
}

}  // namespace

Bytes visit_workspace_bytes(std::uint64_t vertices, std::uint64_t pass_edges,
                            std::uint64_t pass_ranges) {
  return VisitLayout(nullptr, vertices, pass_edges, pass_ranges).taken();
}

std::uint64_t list_vertices(const std::uint64_t* bits, bool value, std::uint64_t vertices,
                            Vertex* list, void* workspace, Stream stream) {
  const OnDeviceOf device(stream);
  const std::uint64_t words = bitmap_words(vertices);
  const VisitLayout layout(workspace, vertices, 0, 0);
  const Bits which{bits, value, vertices};
  layout.places_scan.run(words, which, layout.places, stream);
  launch_threads(write_list, words, stream, which, layout.places, words, list);
  return read_back(layout.places + words, stream);
}

ListPart part_of_list(const Vertex* list, std::uint64_t count, std::uint64_t first,
                      std::uint64_t past, void* workspace, Stream stream) {
  const OnDeviceOf device(stream);
  auto* const part = static_cast<ListPart*>(workspace);
  launch_threads(find_part, 2, stream, list, count, first, past, part);
  return read_back(part, stream);
}

}  // namespace holdall::kernels::gpu
