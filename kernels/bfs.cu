#include "kernels/gpu.hpp"
#include "kernels/ids_on_gpu.cuh"
#include "kernels/visit.cuh"

namespace holdall::kernels::gpu {
namespace {

__global__ void start(BfsState state, Vertex source) {
  const std::uint64_t v = thread_index();
  if (v >= state.vertices) return;
  state.parents[v] = v == source ? source : no_vertex;
  if (v == source) state.frontier[0] = source;
  if (v % 64 == 0) {
    const std::uint64_t bits = source / 64 == v / 64 ? std::uint64_t{1} << source % 64 : 0;
    state.reached[v / 64] = state.settled[v / 64] = bits;
    if (state.front != nullptr) state.front[v / 64] = bits;
  }
}

struct Expand {
  using Seen = bool;
  BfsState state;
  WorkItems items;
  __device__ bool look(Vertex v) const {
    return (__ldcg(state.reached + v / 64) >> v % 64 & 1) != 0;
  }
  __device__ void visit(std::uint64_t item, std::uint64_t, Vertex v, bool reached) const {
    if (!reached && set_bit(state.reached, v)) state.parents[v] = items.vertices[item];
  }
};

// -- Pull. A thread takes an item, and the warp those with long lists.
struct Pull {
  static constexpr unsigned all = 0xFFFF'FFFF;
  static constexpr std::uint64_t long_list = 512;
  BfsState state;
  WorkItems items;

  __device__ bool in_front(Vertex v) const {
    return (__ldg(state.front + v / 64) >> v % 64 & 1) != 0;
  }
  __device__ void found(Vertex v, Vertex parent) const {
    if (set_bit(state.reached, v)) state.parents[v] = parent;
  }

  __device__ void take(std::uint64_t item, bool there) const {
    Vertex v = 0;
    const Vertex* at = nullptr;
    const Vertex* end = nullptr;
    if (there) {
      v = items.vertices[item];
      if ((__ldcg(state.reached + v / 64) >> v % 64 & 1) == 0) {
        at = state.neighbours + items.begins[item];
        end = at + (items.scan[item + 1] - items.scan[item]);
      }
    }
    const bool is_long = end - at > long_list;

    // 1. short lists: 16 bytes at a time where they are aligned
    if (!is_long) {
      while (at < end) {
        if (end - at >= group_ids && ids_past_group(at) == 0) {
          const IdGroup group = load_group(at);
          bool any = false;
          Vertex parent = 0;
#pragma unroll
          for (int k = group_ids - 1; k >= 0; --k) {
            const bool hit = in_front(group.ids[k]);
            any = any || hit;
            parent = hit ? group.ids[k] : parent;
          }
          if (any) {
            found(v, parent);
            break;
          }
          at += group_ids;
        } else {
          const Vertex id = __ldg(at++);
          if (in_front(id)) {
            found(v, id);
            break;
          }
        }
      }
    }

    // 2. long lists, one after the other
    const unsigned lane = threadIdx.x % 32;
    for (unsigned some = __ballot_sync(all, is_long); some != 0; some &= some - 1) {
      const int from = __ffs(static_cast<int>(some)) - 1;
      const auto begin = __shfl_sync(all, reinterpret_cast<std::uint64_t>(at), from);
      const auto past = __shfl_sync(all, reinterpret_cast<std::uint64_t>(end), from);
      const Vertex its = __shfl_sync(all, v, from);
      const auto* const last = reinterpret_cast<const Vertex*>(past);
      for (const auto* now = reinterpret_cast<const Vertex*>(begin); now < last; now += 32) {
        const Vertex id = now + lane < last ? __ldg(now + lane) : 0;
        const bool hit = now + lane < last && in_front(id);
        const unsigned hits = __ballot_sync(all, hit);
        if (hits == 0) continue;
        if (static_cast<int>(lane) == __ffs(static_cast<int>(hits)) - 1) found(its, id);
        break;
      }
    }
  }
};

// -- The next frontier: the bits that are new, in order.

struct NewInWord {
  const std::uint64_t* reached;
  const std::uint64_t* settled;
  __device__ Vertex operator()(std::uint64_t word) const {
    return __popcll(reached[word] & ~settled[word]);
  }
};

// A warp takes 32 words: it writes them one after the other, a bit a thread, so that dense words
// are written side by side.
__global__ void write_frontier(BfsState state, const Vertex* __restrict__ places,
                               std::uint64_t words) {
  constexpr unsigned all = 0xFFFF'FFFF;
  const std::uint64_t own = thread_index();
  std::uint64_t bits = 0;
  if (own < words) {
    bits = state.reached[own] & ~state.settled[own];
    if (bits != 0) state.settled[own] = state.reached[own];
    if (state.front != nullptr) state.front[own] = bits;
  }
  const unsigned lane = threadIdx.x % 32;
  for (unsigned some = __ballot_sync(all, bits != 0); some != 0; some &= some - 1) {
    const int from = __ffs(static_cast<int>(some)) - 1;
    const std::uint64_t word = __shfl_sync(all, own, from);
    const std::uint64_t its = __shfl_sync(all, bits, from);
    for (unsigned bit = lane; bit < 64; bit += 32) {
      if ((its >> bit & 1) == 0) continue;
      const int earlier = __popcll(its & ((std::uint64_t{1} << bit) - 1));
      state.frontier[places[word] + std::uint64_t{static_cast<unsigned>(earlier)}] =
          static_cast<Vertex>(word * 64 + bit);
    }
  }
}

}  // namespace

void bfs_start(const BfsState& state, Vertex source, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(start, state.vertices, stream, state, source);
}

void bfs_expand(const BfsState& state, const WorkItems& items, const ItemPass& pass,
                Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, pass.edges, pass.ranges_count);
  visit_edges(items, pass, state.neighbours, layout, Expand{state, items}, stream);
}

void bfs_pull(const BfsState& state, const WorkItems& items, const ItemPass& pass, Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, pass.edges, pass.ranges_count);
  visit_items(pass, layout, Pull{state, items}, stream);
}

std::uint64_t bfs_next_frontier(const BfsState& state, Stream stream) {
  const OnDeviceOf device(stream);
  const std::uint64_t words = bitmap_words(state.vertices);
  const VisitLayout layout(state.workspace, state.vertices, 0, 0);
  layout.places_scan.run(words, NewInWord{state.reached, state.settled}, layout.places, stream);
  launch_threads(write_frontier, words, stream, state, layout.places, words);
  return read_back(layout.places + words, stream);
}

}  // namespace holdall::kernels::gpu
