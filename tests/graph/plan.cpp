// That a plan says what algorithms then hold.
#include "apps/graph/plan.hpp"

#include <optional>

#include "apps/graph/bfs.hpp"
#include "apps/graph/centrality.hpp"
#include "apps/graph/components.hpp"
#include "apps/graph/generate.hpp"
#include "apps/graph/kcore.hpp"
#include "apps/graph/pagerank.hpp"
#include "apps/graph/sssp.hpp"
#include "apps/graph/triangles.hpp"
#include "apps/graph/weights.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

constexpr Bytes chunk = 2_MiB;

class Plans : public testing::Test {
 protected:
  Plans() { add_weights(csr_); }

  AlgorithmPlan planned(const std::string& name, Bytes memory) const {
    const auto plans = plan({.vertices = csr_.vertices(),
                             .edges = csr_.edges(),
                             .directed = csr_.directed,
                             .weighted = true,
                             .memory = memory,
                             .chunk = chunk});
    return *std::ranges::find(plans, name, &AlgorithmPlan::name);
  }

  // That an `Algorithm` leases what the plan of `name` says, and is refused below what that says is
  // needed, and not from there on.
  template <typename Algorithm>
  void expect_as_planned(const std::string& name, const PagedGraph::Options& options) {
    const Bytes needed = planned(name, 1_GiB).needed;
    for (const Bytes memory : {needed - 1, needed, needed + chunk - 1, 2 * needed, 1_GiB}) {
      SCOPED_TRACE(name + " with " + holdall::to_string(memory));
      const AlgorithmPlan plan = planned(name, memory);
      Engine engine(Config{.memory = memory, .driver = "host", .chunk = chunk});
      const PagedGraph graph(engine, csr_, options);
      std::optional<Algorithm> algorithm;
      if (!plan.fits) {
        EXPECT_THROW(algorithm.emplace(graph), WorkingSetTooLarge);
        continue;
      }
      ASSERT_NO_THROW(algorithm.emplace(graph));
      EXPECT_EQ(engine.leased(), plan.offsets + plan.state);
      EXPECT_EQ(plan.resident, std::min(plan.edges, (memory - engine.leased()) / chunk * chunk));
    }
  }

  Csr csr_ = generate(parse_generator("grid:1000x1000"));
};

TEST_F(Plans, say_what_runs_lease_and_when_they_are_refused) {
  expect_as_planned<Bfs>("bfs", {});
  expect_as_planned<Sssp>("sssp", {.in = false, .weights = true});
  expect_as_planned<PageRankRun>("pagerank", {});
  expect_as_planned<Components>("cc", {});
  expect_as_planned<Centrality>("bc", {.in = false});
  expect_as_planned<Kcore>("kcore", {.in = false});
}

TEST_F(Plans, count_the_other_direction_of_a_directed_graph) {
  csr_.transposed = transpose(csr_.out);
  csr_.directed = true;
  expect_as_planned<Bfs>("bfs", {});
  expect_as_planned<PageRankRun>("pagerank", {});
  expect_as_planned<Components>("cc", {});
  expect_as_planned<Centrality>("bc", {.in = false});
  EXPECT_FALSE(planned("kcore", 1_GiB).possible);
}

// What triangles need besides depends on the longest lists.
TEST_F(Plans, of_triangles_are_enough) {
  const AlgorithmPlan plan = planned("tc", planned("tc", 1_GiB).needed);
  Engine engine(Config{.memory = plan.needed, .driver = "host", .chunk = chunk});
  const PagedGraph graph(engine, csr_, {.in = false});
  Triangles triangles(graph);
  EXPECT_EQ(engine.leased(), plan.offsets + plan.state);
  EXPECT_EQ(triangles.run().triangles, 0u);
}

TEST(Plan, what_does_not_fit_is_said_with_what_is_needed) {
  PlanInput input{.vertices = 1'000'000,
                  .edges = 30'000'000,
                  .memory = 64_MiB,
                  .chunk = 8_MiB,
                  .link_rate = 50e9};
  const auto pagerank = [&] { return plan(input)[2]; };
  EXPECT_EQ(pagerank().offsets, 8_MiB);    // 8,000,008 bytes, in chunks of 2 MiB
  EXPECT_EQ(pagerank().state, 16_MiB);     // 3 times 4,000,000, and two small ones
  EXPECT_EQ(pagerank().resident, 40_MiB);  // of 64 - 24, in chunks of 8
  EXPECT_EQ(pagerank().paged, 30'000'000 * sizeof(Vertex) - pagerank().resident);
  EXPECT_DOUBLE_EQ(pagerank().seconds, static_cast<double>(pagerank().paged) / 50e9);
  EXPECT_EQ(pagerank().needed, 32_MiB);
  input.memory = pagerank().needed - 1;
  EXPECT_FALSE(pagerank().fits);
  input.memory = pagerank().needed;
  EXPECT_TRUE(pagerank().fits);
  input.memory = 1_GiB;
  EXPECT_EQ(pagerank().paged, 0u);
  EXPECT_FALSE(plan(input)[1].possible);  // SSSP, without weights
}

// Counts past 2^32 do not wrap.
TEST(Plan, large_graphs_are_added_up_in_64_bits) {
  const auto plans = plan({.vertices = 1ull << 32, .edges = 1ull << 40, .memory = 1_TiB});
  EXPECT_GE(plans[2].state, 12ull << 32);
  EXPECT_LE(plans[2].state, (12ull << 32) + 1_GiB);
  EXPECT_EQ(plans[2].edges, sizeof(Vertex) << 40);
  EXPECT_GE(plans[0].state, ((24 * sizeof(Vertex) + 3 + 128) << 32) / 8);
}

}  // namespace
}  // namespace holdall::graph
