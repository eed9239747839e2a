#include "apps/graph/pagerank.hpp"

#include <algorithm>
#include <chrono>

namespace holdall::graph {

namespace {

std::uint64_t most_spans(const PagedGraph& graph) { return graph.in().neighbours.chunks() / 2 + 1; }

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace

PageRankRun::PageRankRun(const PagedGraph& graph) : graph_(graph) {
  const Stream stream = graph.stream();
  const std::uint64_t own = graph.past() - graph.first();
  VertexData data(graph, "PageRank");
  scores_ = data.array<float>(own, "scores");
  contributions_ = data.array<float>(graph.vertices(), "contributions");
  sums_ = data.array<float>(own, "sums");
  workspace_ = data.array<std::byte>(
      kernels::pagerank_workspace_bytes(graph.in().edges, most_spans(graph), stream),
      "PageRank workspace");
  spans_.emplace(data, most_spans(graph), "edge spans");
  lease_ = data.lease(graph.in().neighbours.chunk_bytes());
}

// Adds up the contributions along all in-edges.
void PageRankRun::sweep(const kernels::PagerankState& state) {
  const Range<Vertex>& neighbours = graph_.in().neighbours;
  if (graph_.in().edges == 0) return;
  std::vector<kernels::EdgeSpan> spans;
  for (Passes passes = graph_.engine().passes(graph_.stream(), {read(neighbours)});
       passes.next();) {
    kernels::EdgePass pass;
    spans.clear();
    for (const Need& part : passes.parts()) {
      const auto [first, count] = neighbours.elements(part.run);
      spans.push_back({first, count});
      pass.edges += count;
    }
    pass.spans = spans_->send(spans);
    pass.spans_count = spans.size();
    kernels::pagerank_pull(state, pass, graph_.stream());
    spans_->launched();
  }
}

PagedPageRank PageRankRun::run(const PagedPageRankOptions& options, const Watch& watch) {
  Engine& engine = graph_.engine();
  const Stream stream = graph_.stream();
  Exchange& exchange = graph_.exchange();
  const std::uint64_t first = graph_.first();
  const std::uint64_t own = graph_.past() - first;
  const kernels::PagerankState state{own,
                                     graph_.in().offsets.data() + first,
                                     graph_.out().offsets.data() + first,
                                     graph_.in().neighbours.data(),
                                     scores_.data(),
                                     contributions_.data(),
                                     sums_.data(),
                                     workspace_.data(),
                                     options.damping,
                                     first,
                                     graph_.vertices()};
  PagedPageRank result;
  const auto began = std::chrono::steady_clock::now();
  kernels::pagerank_start(state, stream);
  do {
    const auto iteration_began = std::chrono::steady_clock::now();
    const Traffic before = watch ? static_cast<Traffic>(engine.stats()) : Traffic{};
    kernels::pagerank_begin(state, stream);
    exchange.gather(contributions_, graph_.bounds());
    sweep(state);
    kernels::pagerank_finish(state, stream);
    result.error = exchange.sum(kernels::pagerank_error(state, stream));
    ++result.iterations;
    if (watch)
      watch({result.iterations, graph_.vertices(), graph_.edges(), result.error,
             seconds_since(iteration_began), static_cast<Traffic>(engine.stats()) - before});
  } while (result.iterations < options.iterations && result.error >= options.tolerance);
  engine.synchronize(stream);
  graph_.check_unchanged();
  result.seconds = seconds_since(began);
  if (exchange.parts() == 1) {
    result.scores.resize(graph_.vertices());
    scores_.store(result.scores);
    return result;
  }
  // All scores, in the place of the contributions.
  std::vector<float> scores(own);
  if (own > 0) {
    scores_.store(scores);
    contributions_.load(scores, first);
  }
  exchange.gather(contributions_, graph_.bounds());
  if (exchange.part() > 0) return result;
  result.scores.resize(graph_.vertices());
  contributions_.store(result.scores);
  return result;
}

}  // namespace holdall::graph
