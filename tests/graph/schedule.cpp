// How a level's edges are brought to its kernels.
#include "apps/graph/level_schedule.hpp"

#include <numeric>

#include "apps/graph/generate.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

constexpr Bytes chunk = sizeof(Vertex) << 19;  // 2 MiB, where ids have 32 bits
constexpr double every = std::numeric_limits<double>::infinity();

// A graph of six chunks and a frontier of all of its vertices.
class Schedules : public testing::Test {
 protected:
  Schedules()
      : engine_({.memory = 32 * chunk, .driver = "host", .chunk = chunk}),
        graph_(engine_, csr_, {}) {
    VertexData data(graph_, "a test");
    frontier_ = data.array<Vertex>(graph_.vertices(), "frontier");
    schedule_.emplace(data, graph_);
    lease_ = data.lease(chunk);
    std::vector<Vertex> all(graph_.vertices());
    std::iota(all.begin(), all.end(), 0);
    frontier_.load(all);
  }

  // The edges that are handed out, by whether they are paged.
  struct HandedOut {
    std::uint64_t paged = 0, in_place = 0;
    LevelWork did;
  };
  HandedOut level(Bytes most_moved) {
    EXPECT_EQ(schedule_->count(graph_.out(), {frontier_.data(), graph_.vertices()}),
              graph_.edges());
    return work(most_moved);
  }
  // Of every `step`th vertex.
  HandedOut sparse_level(Vertex step) {
    std::vector<Vertex> some;
    for (Vertex v = 0; v < graph_.vertices(); v += step) some.push_back(v);
    frontier_.load(some);
    (void)schedule_->count(graph_.out(), {frontier_.data(), some.size()});
    return work(~Bytes{0});
  }
  HandedOut work(Bytes most_moved) {
    HandedOut all;
    all.did = schedule_->work(
        [&](const EdgeWork& work) {
          const bool paged = work.neighbours == graph_.out().neighbours.data();
          (paged ? all.paged : all.in_place) += work.pass.edges;
        },
        every, most_moved);
    return all;
  }
  std::uint64_t chunks() const { return graph_.out().neighbours.chunks(); }
  Bytes edges_in() { return Traffic(engine_.stats()).bytes_in; }

  Csr csr_ = generate(parse_generator("urand:14:88"));
  Engine engine_;
  PagedGraph graph_;
  VertexArray<Vertex> frontier_;
  std::optional<LevelSchedule> schedule_;
  Lease lease_;
};

TEST_F(Schedules, fill_so_many_chunks_and_no_more) {
  ASSERT_EQ(chunks(), 6);
  const Bytes before = edges_in();
  EXPECT_EQ(schedule_->fill(graph_.out(), 2), 2);
  EXPECT_EQ(schedule_->fill(graph_.out(), 2), 2);
  EXPECT_GT(edges_in() - before, chunk);
  EXPECT_LE(edges_in() - before, 2 * chunk);
  EXPECT_EQ(schedule_->fill(graph_.out(), 100), 6);
  EXPECT_EQ(edges_in() - before, graph_.edges() * sizeof(Vertex));
}

TEST_F(Schedules, hand_out_what_is_resident_where_the_rest_is_over_the_limit) {
  const Bytes empty = edges_in();
  ASSERT_EQ(schedule_->fill(graph_.out(), 2), 2);
  const Bytes before = edges_in();
  const HandedOut some = level(chunk / 2);
  EXPECT_EQ(some.paged, (before - empty) / sizeof(Vertex));
  EXPECT_EQ(some.in_place, 0);
  EXPECT_EQ(some.did.edges, some.paged);
  EXPECT_EQ(some.did.edges_left, graph_.edges() - some.paged);
  EXPECT_EQ(edges_in(), before);
}

TEST_F(Schedules, hand_out_all_within_the_limit) {
  ASSERT_EQ(schedule_->fill(graph_.out(), 2), 2);
  const HandedOut all = level(4 * chunk);
  EXPECT_EQ(all.paged + all.in_place, graph_.edges());
  EXPECT_EQ(all.did.edges_left, 0);
  EXPECT_EQ(level(0).paged, graph_.edges()) << "nothing is missing any more";
}

TEST_F(Schedules, page_what_will_all_be_read_once_much_of_it_is_needed) {
  schedule_->set({.each_once = true});
  EXPECT_EQ(sparse_level(50).paged, 0) << "a small level says nothing of the rest";
  EXPECT_EQ(sparse_level(2).in_place, 0) << "there is room for all";
}

TEST_F(Schedules, read_a_part_in_place_where_nothing_is_known_of_the_rest) {
  EXPECT_EQ(sparse_level(2).paged, 0);
}

TEST(Schedule, fills_frames_that_nobody_uses_alone) {
  const Csr csr = generate(parse_generator("urand:14:88"));
  Bytes vertex_data = 0;
  for (const Bytes free :
       {Bytes{0}, 3 * chunk}) {  // the first to see how much vertex data there is
    Engine engine(
        {.memory = free == 0 ? 32 * chunk : vertex_data + free, .driver = "host", .chunk = chunk});
    const PagedGraph graph(engine, csr, {});
    VertexData data(graph, "a test");
    LevelSchedule schedule(data, graph);
    const Lease lease = data.lease(chunk);
    vertex_data = engine.leased();
    if (free == 0) continue;
    EXPECT_EQ(schedule.fill(graph.out(), 100), 3);
    EXPECT_EQ(Traffic(engine.stats()).evictions, 0);
  }
}

}  // namespace
}  // namespace holdall::graph
