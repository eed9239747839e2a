#include "kernels/pagerank.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/kernels/device.hpp"
#include "tests/kernels/graphs.hpp"

namespace holdall::kernels {
namespace {

// One graph's state on a device, with room for any pass. Edges start `skew` past an aligned
// address.
struct World {
  World(Stream stream, const Graph& graph, std::uint64_t skew = 0, std::uint64_t most_spans = 1000)
      : stream(stream),
        in(transpose(graph)),
        out_offsets(graph.offsets, stream),
        in_offsets(in.offsets, stream),
        neighbours(in.edges() + skew, stream),
        scores(graph.vertices(), stream),
        contributions(graph.vertices() + 1, stream),
        sums(graph.vertices(), stream),
        workspace(pagerank_workspace_bytes(in.edges(), most_spans, stream), stream),
        state{.vertices = graph.vertices(),
              .in_offsets = in_offsets.data(),
              .out_offsets = out_offsets.data(),
              .in_neighbours = neighbours.data() + skew,
              .scores = scores.data(),
              .contributions = contributions.data(),
              .sums = sums.data(),
              .workspace = workspace.data()} {
    copy(neighbours.data() + skew, in.neighbours.data(), sizeof(Vertex) * in.edges(), stream);
  }

  void pull(const std::vector<EdgeSpan>& spans) {
    passes.emplace_back(spans, stream);
    pagerank_pull(state, {passes.back().data(), spans.size(), edges_of(spans)}, stream);
  }

  Stream stream;
  Graph in;
  DeviceArray<std::uint64_t> out_offsets;
  DeviceArray<std::uint64_t> in_offsets;
  DeviceArray<Vertex> neighbours;
  DeviceArray<float> scores;
  DeviceArray<float> contributions;
  DeviceArray<float> sums;
  DeviceArray<std::byte> workspace;
  PagerankState state;
  std::vector<DeviceArray<EdgeSpan>> passes;  // alive until they have run
};

// One iteration in double precision: new scores, and sum |new - old|.
double iterate(const Graph& graph, std::vector<double>& scores) {
  const auto vertices = static_cast<double>(graph.vertices());
  std::vector<double> sums(graph.vertices());
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    const auto degree = static_cast<double>(graph.offsets[v + 1] - graph.offsets[v]);
    for (std::uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      sums[graph.neighbours[e]] += scores[v] / degree;
    }
  }
  double error = 0;
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    const double score = 0.15 / vertices + 0.85 * sums[v];
    error += std::abs(score - scores[v]);
    scores[v] = score;
  }
  return error;
}

class Pagerank : public OnDevice {};

TEST_P(Pagerank, EqualsTheSerialOneHoweverTheEdgesAreCut) {
  std::mt19937_64 random(1);
  for (const Graph& graph : small_graphs()) {
    for (const std::uint64_t cuts : {0, 3, 300}) {
      SCOPED_TRACE(graph.name + ", cuts: " + std::to_string(cuts));
      World world(stream(), graph, random() % 4);
      std::vector<double> expected(graph.vertices(), 1.0 / static_cast<double>(graph.vertices()));
      pagerank_start(world.state, stream());
      for (int iteration = 0; iteration < 5; ++iteration) {
        pagerank_begin(world.state, stream());
        for (const auto& pass : random_passes(graph.edges(), cuts, cuts / 10 + 1, random)) {
          world.pull(pass);
        }
        pagerank_finish(world.state, stream());
        EXPECT_NEAR(pagerank_error(world.state, stream()), iterate(graph, expected), 1e-5);
      }
      const std::vector<float> scores = world.scores.read();
      for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
        ASSERT_NEAR(scores[v], expected[v], 1e-9 + 2e-5 * expected[v]) << "vertex " << v;
      }
    }
  }
}

TEST_P(Pagerank, ReadsOnlyTheEdgesOfThePass) {
  const Graph graph = small_graphs().back();
  std::mt19937_64 random(2);
  const std::vector<EdgeSpan> pass = random_passes(graph.edges(), 200, 2, random)[0];
  World world(stream(), graph);
  std::vector<Vertex> neighbours(graph.edges(), static_cast<Vertex>(graph.vertices()));
  for (const EdgeSpan& span : pass) {
    std::copy_n(world.in.neighbours.begin() + static_cast<std::ptrdiff_t>(span.first), span.count,
                neighbours.begin() + static_cast<std::ptrdiff_t>(span.first));
  }
  world.neighbours.write(neighbours);
  const float nan = std::numeric_limits<float>::quiet_NaN();  // what the other edges lead to
  copy(world.contributions.data() + graph.vertices(), &nan, sizeof(nan), stream());

  pagerank_start(world.state, stream());
  pagerank_begin(world.state, stream());
  world.pull(pass);
  for (const float sum : world.sums.read()) ASSERT_TRUE(std::isfinite(sum));
}

TEST_P(Pagerank, GivesTheSameErrorForTheSameScores) {
  const Graph graph = small_graphs().back();
  World world(stream(), graph);
  std::vector<double> errors;
  for (int i = 0; i < 3; ++i) {
    pagerank_start(world.state, stream());
    pagerank_begin(world.state, stream());
    pagerank_finish(world.state, stream());
    errors.push_back(pagerank_error(world.state, stream()));
  }
  EXPECT_EQ(errors[0], errors[1]);
  EXPECT_EQ(errors[0], errors[2]);
}

TEST_P(Pagerank, AnEmptyPassChangesNothing) {
  const Graph graph = small_graphs().back();
  World world(stream(), graph);
  pagerank_start(world.state, stream());
  pagerank_begin(world.state, stream());
  world.pull({});
  world.pull({{17, 0}, {17, 0}});
  for (const float sum : world.sums.read()) ASSERT_EQ(sum, 0.0F);
}

TEST_P(Pagerank, SkipsLongRunsOfVerticesWithoutEdges) {
  EdgeList edges;
  for (Vertex i = 0; i < 100; ++i) edges.emplace_back(i, 250'000 + i * 5'000);
  const Graph graph = graph_of("far apart", 1'000'000, edges);
  World world(stream(), graph);
  pagerank_start(world.state, stream());
  pagerank_begin(world.state, stream());
  world.pull({{0, 100}});
  const std::vector<float> sums = world.sums.read();
  EXPECT_EQ(std::count(sums.begin(), sums.end(), 1e-6F), 100);
}

TEST_P(Pagerank, PositionsPast32BitsAreReadWhereTheyLie) {
  // Three lists that end 5 edges past 2^31, 5 past 2^32, and 10 after that.
  const std::uint64_t first_end = (1ull << 31) + 5;
  const std::uint64_t second_end = (1ull << 32) + 5;
  const std::vector<std::uint64_t> offsets{0, first_end, second_end, second_end + 10};
  const DeviceArray<std::uint64_t> held_offsets(offsets, stream());
  const HugeArray neighbours(offsets.back(), stream());
  const DeviceArray<float> contributions({1.0F, 1000.0F, 1'000'000.0F}, stream());
  const DeviceArray<float> sums({0.0F, 0.0F, 0.0F}, stream());
  const std::vector<EdgeSpan> spans{{first_end - 100, 200}, {second_end - 100, 110}};
  const DeviceArray<EdgeSpan> held_spans(spans, stream());
  const std::vector<Vertex> ones(200, 1);
  const std::vector<Vertex> twos(110, 2);
  copy(neighbours.data() + spans[0].first, ones.data(), ones.size() * sizeof(Vertex), stream());
  copy(neighbours.data() + spans[1].first, twos.data(), twos.size() * sizeof(Vertex), stream());
  const DeviceArray<std::byte> workspace(pagerank_workspace_bytes(310, 2, stream()), stream());
  const PagerankState state{.vertices = 3,
                            .in_offsets = held_offsets.data(),
                            .out_offsets = held_offsets.data(),
                            .in_neighbours = neighbours.data(),
                            .contributions = contributions.data(),
                            .sums = sums.data(),
                            .workspace = workspace.data()};
  pagerank_pull(state, {held_spans.data(), 2, 310}, stream());
  EXPECT_EQ(sums.read(), (std::vector<float>{100'000.0F, 100'100'000.0F, 10'000'000.0F}));
}

ON_EVERY_DEVICE(Pagerank);

}  // namespace
}  // namespace holdall::kernels
