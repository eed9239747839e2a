#include "apps/graph/reference.hpp"

#include <cmath>
#include <numeric>

#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

using Depths = std::vector<std::uint32_t>;
using Parents = std::vector<Vertex>;

Csr path(Vertex vertices) {
  Edges edges;
  for (Vertex v = 0; v + 1 < vertices; ++v) edges.push_back({v, v + 1});
  return undirected(vertices, edges);
}
Csr star(Vertex vertices) {
  Edges edges;
  for (Vertex v = 1; v < vertices; ++v) edges.push_back({0, v});
  return undirected(vertices, edges);
}
Csr clique(Vertex vertices) {
  Edges edges;
  for (Vertex u = 0; u < vertices; ++u)
    for (Vertex v = u + 1; v < vertices; ++v) edges.push_back({u, v});
  return undirected(vertices, edges);
}

TEST(ReferenceBfs, depths_are_distances) {
  EXPECT_EQ(reference_bfs(path(5), 1), (Depths{1, 0, 1, 2, 3}));
  EXPECT_EQ(reference_bfs(star(5), 2), (Depths{1, 2, 0, 2, 2}));
  EXPECT_EQ(reference_bfs(clique(4), 3), (Depths{1, 1, 1, 0}));
  EXPECT_EQ(reference_bfs(undirected(4, {{0, 1}, {2, 3}}), 0),
            (Depths{0, 1, unreached, unreached}));
  EXPECT_EQ(reference_bfs(undirected(3, {}), 1), (Depths{unreached, 0, unreached}));
  EXPECT_EQ(reference_bfs(undirected(1, {}), 0), (Depths{0}));
  EXPECT_EQ(reference_bfs(directed(3, {{0, 1}, {2, 1}}), 0), (Depths{0, 1, unreached}));
}

TEST(ReferenceBfs, a_source_that_does_not_exist_is_refused) {
  expect_says(complaint([] { (void)reference_bfs(path(3), 3); }), "no vertex 3: the graph has 3");
}

TEST(VerifyDepths, tells_the_first_wrong_vertex) {
  EXPECT_EQ(verify_depths(path(3), 0, Depths{0, 1, 2}), std::nullopt);
  EXPECT_EQ(verify_depths(path(3), 0, Depths{0, 2, 2}), "vertex 1 is at depth 1, not at depth 2");
  EXPECT_EQ(verify_depths(path(3), 0, Depths{0, 1, unreached}),
            "vertex 2 is at depth 2, not unreached");
  EXPECT_EQ(verify_depths(path(3), 0, Depths{0, 1}), "2 values for 3 vertices");
}

TEST(VerifyParents, takes_any_shortest_tree) {
  const Csr square = undirected(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  EXPECT_EQ(verify_parents(square, 0, Parents{0, 0, 0, 1}), std::nullopt);
  EXPECT_EQ(verify_parents(square, 0, Parents{0, 0, 0, 2}), std::nullopt);
}

TEST(VerifyParents, refuses_whatever_breaks_a_rule_of_gap) {
  const Csr csr = undirected(6, {{0, 1}, {1, 2}, {2, 3}, {1, 3}, {4, 5}});
  const Parents right = {0, 0, 1, 1, kernels::no_vertex, kernels::no_vertex};
  ASSERT_EQ(verify_parents(csr, 0, right), std::nullopt);
  const auto with = [&](Vertex v, Vertex parent) {
    Parents parents = right;
    parents[v] = parent;
    return verify_parents(csr, 0, parents).value_or("nothing");
  };
  expect_says(with(0, 1), "the source 0");
  expect_says(with(2, 0), "no edge to it");
  expect_says(with(3, 2), "has the parent 2, at depth 2");
  expect_says(with(3, kernels::no_vertex), "has no parent");
  expect_says(with(3, 77), "does not exist");
  expect_says(with(4, 5), "is unreached");
}

double sum(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0);
}

TEST(ReferencePageRank, equal_vertices_share_equally) {
  const PageRank result = reference_pagerank(clique(5));
  for (const double score : result.scores) EXPECT_DOUBLE_EQ(score, 0.2);
  EXPECT_EQ(result.iterations, 1);
}

TEST(ReferencePageRank, agrees_with_the_closed_form_of_a_star) {
  const PageRank result = reference_pagerank(star(5), {.iterations = 500, .tolerance = 1e-14});
  const double base = 0.15 / 5, d = 0.85;
  const double hub = (base + 4 * d * base) / (1 - d * d);
  EXPECT_NEAR(result.scores[0], hub, 1e-12);
  EXPECT_NEAR(result.scores[1], base + d * hub / 4, 1e-12);
  EXPECT_NEAR(sum(result.scores), 1, 1e-12);
  EXPECT_LT(result.iterations, 500);
}

TEST(ReferencePageRank, what_dangling_vertices_hold_is_not_handed_on) {
  const PageRank result = reference_pagerank(directed(2, {{0, 1}}), {.iterations = 1});
  EXPECT_DOUBLE_EQ(result.scores[0], 0.075);
  EXPECT_DOUBLE_EQ(result.scores[1], 0.075 + 0.85 * 0.5);
  EXPECT_LT(sum(result.scores), 1);
  for (const double score : reference_pagerank(undirected(3, {})).scores)
    EXPECT_NEAR(score, 0.05, 1e-12);
  EXPECT_NEAR(reference_pagerank(undirected(1, {})).scores[0], 0.15, 1e-12);
}

TEST(ReferencePageRank, stops_at_the_iterations_asked_for) {
  EXPECT_EQ(reference_pagerank(path(9), {.iterations = 7, .tolerance = 0}).iterations, 7);
  EXPECT_EQ(reference_pagerank(path(9), {.iterations = 0}).scores[0], 1.0 / 9);
}

TEST(VerifyPageRank, one_more_iteration_must_change_little) {
  const Csr csr = path(9);
  const PageRank result = reference_pagerank(csr, {.iterations = 200, .tolerance = 1e-7});
  std::vector<float> scores(result.scores.begin(), result.scores.end());
  EXPECT_EQ(verify_pagerank(csr, scores, 1e-5), std::nullopt);
  EXPECT_EQ(compare_scores(scores, result.scores, 1e-6), std::nullopt);
  scores[4] *= 1.01f;
  expect_says(verify_pagerank(csr, scores, 1e-5).value_or(""), "one more iteration");
  expect_says(compare_scores(scores, result.scores, 1e-6).value_or(""), "vertex 4");
  scores[4] = std::nanf("");
  EXPECT_NE(verify_pagerank(csr, scores, 1e-5), std::nullopt);
  EXPECT_NE(compare_scores(scores, result.scores, 1e-6), std::nullopt);
}

}  // namespace
}  // namespace holdall::graph
