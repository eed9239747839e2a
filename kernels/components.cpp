#include "kernels/components.hpp"

#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/device_array.hpp"
#include "kernels/gpu.hpp"
#include "kernels/most_frequent.hpp"
#include "kernels/on_host.hpp"
#include "kernels/visit_on_host.hpp"

namespace holdall::kernels {
namespace {

using Range = tbb::blocked_range<std::uint64_t>;
constexpr std::uint64_t vertex_grain = 4096;

Vertex label(const ComponentsState& state, Vertex v) {
  return std::atomic_ref(state.labels[v]).load(std::memory_order_relaxed);
}

// Joins the trees of two vertices: the greater root becomes a child of the other.
void link(const ComponentsState& state, Vertex a, Vertex b) {
  a = label(state, a);
  b = label(state, b);
  while (a != b) {
    if (a < b) std::swap(a, b);
    Vertex root = a;
    const std::atomic_ref cell(state.labels[a]);
    if (cell.compare_exchange_strong(root, b, std::memory_order_relaxed)) return;
    if (root == b) return;
    a = label(state, root);
    b = label(state, b);
  }
}

void start(const ComponentsState& state) {
  tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v)
      state.labels[v] = static_cast<Vertex>(v);
  });
  write_bits(state.vertices, state.bits, [](std::uint64_t) { return true; });
}

Hub hub(const ComponentsState& state) {
  return tbb::parallel_reduce(
      Range(0, state.vertices, vertex_grain), Hub{},
      [&](const Range& range, Hub best) {
        for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
          const std::uint64_t edges = state.offsets[v + 1] - state.offsets[v];
          if (edges > best.edges) best = {static_cast<Vertex>(v), edges};
        }
        return best;
      },
      [](const Hub& a, const Hub& b) {
        return a.edges > b.edges || (a.edges == b.edges && a.vertex < b.vertex) ? a : b;
      });
}

void start_with(const ComponentsState& state, const std::uint64_t* joined) {
  const std::uint64_t* const end = joined + bitmap_words(state.vertices);
  const std::uint64_t* const at =
      std::find_if(joined, end, [](std::uint64_t word) { return word != 0; });
  const auto first =
      static_cast<Vertex>(at == end ? 0 : (at - joined) * 64 + std::countr_zero(*at));
  tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v)
      state.labels[v] = (joined[v / 64] >> v % 64 & 1) != 0 ? first : static_cast<Vertex>(v);
  });
}

void sample(const ComponentsState& state, const EdgePass& pass, std::uint32_t rounds) {
  for (std::uint64_t s = 0; s < pass.spans_count; ++s) {
    const EdgeSpan span = pass.spans[s];
    if (span.count == 0) continue;
    const std::uint64_t end = span.first + span.count;
    const std::uint64_t first = last_at_most(state.offsets, state.vertices, span.first);
    const std::uint64_t last = last_at_most(state.offsets, state.vertices, end - 1, first);
    tbb::parallel_for(Range(first, last + 1, vertex_grain), [&](const Range& range) {
      for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
        const std::uint64_t begin = state.offsets[v];
        const std::uint64_t past = std::min({begin + rounds, state.offsets[v + 1], end});
        for (std::uint64_t e = std::max(begin, span.first); e < past; ++e)
          link(state, static_cast<Vertex>(v), state.neighbours[e]);
      }
    });
  }
}

void flatten(const ComponentsState& state) {
  tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
      const std::atomic_ref cell(state.labels[v]);
      Vertex root = cell.load(std::memory_order_relaxed);
      for (Vertex next = label(state, root); next != root; next = label(state, root)) root = next;
      cell.store(root, std::memory_order_relaxed);
    }
  });
}

void join(const ComponentsState& state, const Vertex* others) {
  tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v)
      if (others[v] != v) link(state, static_cast<Vertex>(v), others[v]);
  });
}

Vertex most_frequent(const ComponentsState& state) {
  std::vector<Vertex> labels(sampled_labels(state.vertices));
  for (std::uint64_t i = 0; i < labels.size(); ++i)
    labels[i] = state.labels[sampled_vertex(i, state.vertices)];
  return most_frequent_of(labels);
}

}  // namespace

void components_start(const ComponentsState& state, Stream stream) {
  if (!stream.on_host()) return gpu::components_start(state, stream);
  vmm::launch(stream, [=] { start(state); });
}

Hub components_hub(const ComponentsState& state, Stream stream) {
  if (!stream.on_host()) return gpu::components_hub(state, stream);
  return launch_and_wait(stream, [=] { return hub(state); });
}

void components_start_with(const ComponentsState& state, const std::uint64_t* joined,
                           Stream stream) {
  if (!stream.on_host()) return gpu::components_start_with(state, joined, stream);
  vmm::launch(stream, [=] { start_with(state, joined); });
}

void components_sample(const ComponentsState& state, const EdgePass& pass, std::uint32_t rounds,
                       unsigned blocks, Stream stream) {
  if (!stream.on_host()) return gpu::components_sample(state, pass, rounds, blocks, stream);
  vmm::launch(stream, [=] { sample(state, pass, rounds); });
}

void components_flatten(const ComponentsState& state, Stream stream) {
  if (!stream.on_host()) return gpu::components_flatten(state, stream);
  vmm::launch(stream, [=] { flatten(state); });
}

Vertex components_most_frequent(const ComponentsState& state, Stream stream) {
  if (!stream.on_host()) return gpu::components_most_frequent(state, stream);
  return launch_and_wait(stream, [=] { return most_frequent(state); });
}

std::uint64_t components_outside(const ComponentsState& state, Vertex label, Stream stream) {
  if (!stream.on_host()) {
    gpu::components_mark_outside(state, label, stream);
  } else {
    vmm::launch(stream, [=] {
      write_bits(state.vertices, state.bits,
                 [&](std::uint64_t v) { return state.labels[v] != label; });
    });
  }
  return list_vertices(state.bits, true, state.vertices, state.frontier, state.workspace, stream);
}

void components_link(const ComponentsState& state, const WorkItems& items, const ItemPass& pass,
                     Stream stream) {
  if (!stream.on_host()) return gpu::components_link(state, items, pass, stream);
  vmm::launch(stream, [=] {
    visit_edges(items, pass, state.neighbours, [&](std::uint64_t item, std::uint64_t, Vertex to) {
      link(state, items.vertices[item], to);
    });
  });
}

void components_join(const ComponentsState& state, const Vertex* others, Stream stream) {
  if (!stream.on_host()) return gpu::components_join(state, others, stream);
  vmm::launch(stream, [=] { join(state, others); });
}

std::uint64_t components_changed(const ComponentsState& state, Stream stream) {
  const std::uint64_t count =
      list_vertices(state.bits, true, state.vertices, state.frontier, state.workspace, stream);
  if (!stream.on_host()) {
    gpu::components_clear_bits(state, stream);
  } else {
    vmm::launch(stream,
                [=] { std::fill(state.bits, state.bits + bitmap_words(state.vertices), 0); });
  }
  return count;
}

void components_send(const ComponentsState& state, const WorkItems& items, const ItemPass& pass,
                     Stream stream) {
  if (!stream.on_host()) return gpu::components_send(state, items, pass, stream);
  vmm::launch(stream, [=] {
    visit_edges(items, pass, state.neighbours, [&](std::uint64_t item, std::uint64_t, Vertex to) {
      if (lower(state.labels[to], label(state, items.vertices[item]))) set_bit(state.bits, to);
    });
  });
}

}  // namespace holdall::kernels
