// That a plan says what algorithms then hold.
#include "apps/graph/plan.hpp"

#include "apps/graph/bfs.hpp"
#include "apps/graph/generate.hpp"
#include "apps/graph/pagerank.hpp"
#include "apps/graph/sssp.hpp"
#include "apps/graph/weights.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

class Plans : public testing::Test {
 protected:
  Plans() { add_weights(csr_); }

  // What is leased while an `Algorithm` stands, against what the plan of `name` says.
  template <typename Algorithm>
  void expect_held(const std::string& name, const PagedGraph::Options& options) {
    Engine engine(Config{.memory = 1_GiB, .driver = "host", .chunk = 2_MiB});
    const PagedGraph graph(engine, csr_, options);
    const Algorithm algorithm(graph);
    const auto plans = plan({.vertices = csr_.vertices(),
                             .edges = csr_.edges(),
                             .weighted = true,
                             .memory = 1_GiB,
                             .chunk = 2_MiB});
    const auto found = std::ranges::find(plans, name, &AlgorithmPlan::name);
    ASSERT_NE(found, plans.end());
    const Bytes planned = found->offsets + found->state;
    // Each array ends within a chunk of 2 MiB or a sixteenth of it; there are some twenty.
    EXPECT_GE(engine.leased(), planned) << name;
    EXPECT_LE(engine.leased(), planned + planned / 8 + 40_MiB) << name;
    EXPECT_TRUE(found->fits);
  }

  Csr csr_ = generate(parse_generator("grid:2000x2000"));
};

TEST_F(Plans, say_what_algorithms_hold) {
  expect_held<Bfs>("bfs", {});
  expect_held<PageRankRun>("pagerank", {});
  expect_held<Sssp>("sssp", {.in = false, .weights = true});
}

TEST(Plan, what_does_not_fit_is_said_with_what_is_needed) {
  PlanInput input{.vertices = 1'000'000,
                  .edges = 30'000'000,
                  .memory = 40_MiB,
                  .chunk = 8_MiB,
                  .link_rate = 50e9};
  const auto pagerank = [&] { return plan(input)[2]; };
  EXPECT_EQ(pagerank().offsets, 8'000'008u);
  EXPECT_EQ(pagerank().state, 12'000'000u);
  EXPECT_EQ(pagerank().resident, 40_MiB - 20'000'008);
  EXPECT_EQ(pagerank().paged, 30'000'000 * sizeof(Vertex) - pagerank().resident);
  EXPECT_DOUBLE_EQ(pagerank().seconds, static_cast<double>(pagerank().paged) / 50e9);
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
  constexpr std::uint64_t id = sizeof(Vertex) * 8;
  EXPECT_EQ(plans[2].state, 12ull << 32);
  EXPECT_EQ(plans[2].edges, sizeof(Vertex) << 40);
  EXPECT_EQ(plans[0].state, ((3 * id + 3 + 128) << 32) / 8);
}

}  // namespace
}  // namespace holdall::graph
