#include "apps/graph/compact.hpp"

#include "apps/graph/write.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

TEST(Compact, numbers_ids_anew_in_their_order_and_keeps_them) {
  const Csr csr = parsed("4000000000 7\n7 100\n63 64\n", {.compact = true});
  EXPECT_EQ(csr.vertices(), 5u);
  EXPECT_EQ(edges_of(csr), (Edges{{0, 3}, {1, 2}, {4, 0}}));
  EXPECT_TRUE(
      std::ranges::equal(csr.original_ids, std::vector<Vertex>{7, 63, 64, 100, 4000000000}));
}

TEST(Compact, past_the_memory_allowed_is_refused) {
  expect_says(complaint_about("0 4294967295\n", {.compact = true, .memory = 64_MiB}),
              "of memory, and 64 MiB may be used");
}

TEST(Compact, ids_without_gaps_stay) {
  const Csr csr = parsed("0 1\n2 0\n", {.compact = true});
  EXPECT_EQ(edges_of(csr), (Edges{{0, 1}, {2, 0}}));
}

TEST(Compact, a_dropped_header_leaves_no_vertex) {
  const Csr csr =
      parsed("9 10\n0 1\n1 2\n2 0\n0 2\n1 0\n0 1\n1 2\n2 0\n0 2\n1 0\n", {.compact = true});
  EXPECT_EQ(csr.vertices(), 3u);
  EXPECT_EQ(csr.edges(), 10u);
}

TEST(Compact, original_ids_survive_a_hold_file_and_a_second_compaction) {
  const TemporaryFile file("graph.hold");
  write_graph(parsed("10 20\n30 40\n", {.compact = true}), file.path());
  EXPECT_TRUE(std::ranges::equal(load_graph(file.path()).original_ids,
                                 std::vector<Vertex>{10, 20, 30, 40}));
  EXPECT_TRUE(std::ranges::equal(load_graph(file.path(), {.compact = true}).original_ids,
                                 std::vector<Vertex>{10, 20, 30, 40}));
}

}  // namespace
}  // namespace holdall::graph
