// A graph that is split over devices has the answers of the serial reference, however many there
// are and whether they reach each other or not.
#include "apps/graph/split.hpp"

#include <atomic>
#include <optional>

#include "apps/graph/bfs.hpp"
#include "apps/graph/components.hpp"
#include "apps/graph/pagerank.hpp"
#include "apps/graph/partition.hpp"
#include "apps/graph/reference.hpp"
#include "apps/graph/sources.hpp"
#include "apps/graph/sssp.hpp"
#include "apps/graph/weights.hpp"
#include "apps/graph/write.hpp"
#include "engine/vmm/host.hpp"
#include "tests/graph/shapes.hpp"
#include "tests/graph/test_driver.hpp"

namespace holdall::graph {
namespace {

constexpr Bytes MiB = Bytes{1} << 20;
constexpr int iterations = 4;

struct SetUp {
  int devices = 1;
  bool reach = true;  // each other
  bool file = false;  // edges stay in it
  Bytes memory = 64 * MiB;
  double paged_from = 0.8;
};
void PrintTo(const SetUp& s, std::ostream* out) {
  *out << s.devices << " devices" << (s.reach ? "" : " that do not reach each other") << ", "
       << holdall::to_string(s.memory) << " each" << (s.file ? ", from a file" : "");
}

// GPUs reach each other or not as they are built.
bool can_be(const SetUp& set_up) {
  return test_driver() == "host" || (set_up.reach && test_driver_has(set_up.devices));
}

Engine engine_of(const SetUp& set_up) {
  const Config config{.memory = set_up.memory, .devices = set_up.devices, .chunk = 2 * MiB};
  if (test_driver() == "cuda") return {vmm::make_cuda_driver(), config};
  vmm::HostOptions options;
  options.devices = set_up.devices;
  options.capacity = set_up.memory + 64 * MiB;
  const auto n = static_cast<std::size_t>(set_up.devices);
  if (!set_up.reach) {
    options.peers.assign(n, std::vector<bool>(n, false));
    for (std::size_t i = 0; i < n; ++i) options.peers[i][i] = true;
  }
  return {vmm::make_host_driver(options), config};
}

// A graph and what is right of it.
class Known {
 public:
  explicit Known(Csr csr, std::uint64_t source = 0, Weights weights = Weights::int32)
      : csr_(std::move(csr)), source_(source), hold_("graph.hold") {
    add_weights(csr_, weights);
    write_graph(csr_, hold_.path());
    distances_ = reference_sssp(csr_, source_);
    scores_ = reference_pagerank(csr_, {.iterations = iterations, .tolerance = 0}).scores;
  }
  const Csr& csr() const { return csr_; }

  void expect_answers(const SetUp& set_up) const {
    if (!can_be(set_up)) return;
    SCOPED_TRACE(testing::PrintToString(set_up));
    const ScheduleOptions schedule{.paged_from = set_up.paged_from};
    for (const Direction direction :
         {Direction::optimizing, Direction::top_down, Direction::bottom_up}) {
      const auto result = run<BfsResult>(set_up, {}, [&](const PagedGraph& part) {
        Bfs bfs(part);
        (void)bfs.run(source_);  // with state that was used
        return bfs.run(source_, {.direction = direction, .schedule = schedule}, {});
      });
      EXPECT_EQ(verify_parents(csr_, source_, result.parents), std::nullopt);
      EXPECT_EQ(result.reached,
                static_cast<std::uint64_t>(std::ranges::count_if(
                    result.parents, [](Vertex v) { return v != kernels::no_vertex; })));
    }
    for (const auto method :
         {ComponentsOptions::Method::multistep, ComponentsOptions::Method::afforest,
          ComponentsOptions::Method::label_propagation}) {
      const auto result = run<ComponentsResult>(set_up, {}, [&](const PagedGraph& part) {
        return Components(part).run({.method = method, .schedule = schedule});
      });
      EXPECT_EQ(verify_components(csr_, result.labels), std::nullopt);
    }
    const auto distances = run<SsspResult>(
        set_up, {.in = false, .weights = true},
        [&](const PagedGraph& part) { return Sssp(part).run(source_, {.schedule = schedule}); });
    EXPECT_EQ(distances.distances, distances_);
    const auto ranks = run<PagedPageRank>(set_up, {}, [&](const PagedGraph& part) {
      return PageRankRun(part).run({.iterations = iterations, .tolerance = 0});
    });
    EXPECT_EQ(compare_scores(ranks.scores, scores_, 1e-4), std::nullopt);
    EXPECT_EQ(ranks.iterations, iterations);
  }

 private:
  template <class Result>
  Result run(const SetUp& set_up, const PagedGraph::Options& options,
             const std::function<Result(const PagedGraph&)>& algorithm) const {
    Engine engine = engine_of(set_up);
    return set_up.file ? on_all_devices(engine, open_graph(hold_.path()), options, algorithm)
                       : on_all_devices(engine, csr_, options, algorithm);
  }

  Csr csr_;
  std::uint64_t source_;
  TemporaryFile hold_;
  std::vector<std::uint32_t> distances_;
  std::vector<double> scores_;
};

void expect_answers_of(Csr csr, std::uint64_t source = 0) {
  const Known known(std::move(csr), source, source % 2 == 0 ? Weights::int32 : Weights::float32);
  for (const int devices : {1, 2, 3, 4, 8}) known.expect_answers({.devices = devices});
  known.expect_answers({.devices = 3, .reach = false, .file = true});
}

// Neighbours of several chunks for each device.
const Known& big_undirected() {
  static const Known known(drawn("kron:14:64", false), 1);
  return known;
}
const Known& big_directed() {
  static const Known known(drawn("urand:14:96", true), 0, Weights::float32);
  return known;
}

class Split : public testing::TestWithParam<SetUp> {
 protected:
  void SetUp() override {
    if (!can_be(GetParam())) GTEST_SKIP() << "not with these GPUs";
  }
};

TEST_P(Split, answers_equal_the_reference_undirected) {
  big_undirected().expect_answers(GetParam());
}
TEST_P(Split, answers_equal_the_reference_directed) { big_directed().expect_answers(GetParam()); }

INSTANTIATE_TEST_SUITE_P(SetUps, Split,
                         testing::Values(SetUp{.devices = 1}, SetUp{.devices = 2},
                                         SetUp{.devices = 2, .memory = 46 * MiB, .paged_from = 0},
                                         SetUp{.devices = 2, .reach = false, .memory = 46 * MiB},
                                         SetUp{.devices = 3, .file = true, .memory = 48 * MiB},
                                         SetUp{.devices = 4, .reach = false, .file = true},
                                         SetUp{.devices = 8}));

TEST(Split, of_a_path) {
  const Edges edges = path_of(30);
  expect_answers_of(undirected(30, edges), 3);
  expect_answers_of(directed(30, edges), 2);
}

TEST(Split, of_a_star) {
  const Edges edges = star_of(300);
  expect_answers_of(undirected(300, edges), 5);
  expect_answers_of(directed(300, edges), 0);
}

TEST(Split, of_parts_that_are_not_connected) {
  expect_answers_of(undirected(6, {{0, 1}, {1, 2}, {4, 5}}), 1);
  expect_answers_of(directed(6, {{0, 1}, {2, 1}, {4, 5}}), 2);
}

TEST(Split, of_one_vertex) {
  expect_answers_of(undirected(1, {}));
  expect_answers_of(undirected(1, {{0, 0}}));
}

TEST(Split, of_no_edges) { expect_answers_of(directed(200, {}), 198); }

// One vertex with half of all edges: its device has nothing else.
TEST(Split, of_a_hub) {
  constexpr Vertex vertices = 200'000;
  const Known known(undirected(vertices, hub_of(vertices)), 7);
  for (const int devices : {2, 4}) known.expect_answers({.devices = devices});
}

TEST(Split, of_a_grid_with_long_paths) {
  constexpr Vertex side = 12;
  expect_answers_of(undirected(side * side, grid_of(side)), 5);
}

// ---- where vertices are cut

using Bounds = std::vector<std::uint64_t>;

TEST(Partition, gives_each_part_about_as_many_edges) {
  const Bounds offsets{0, 10, 20, 30, 40};
  EXPECT_EQ(cut_vertices(offsets, {}, 1), (Bounds{0, 4}));
  EXPECT_EQ(cut_vertices(offsets, {}, 2), (Bounds{0, 2, 4}));
  EXPECT_EQ(cut_vertices(offsets, {}, 3), (Bounds{0, 1, 3, 4}));
  EXPECT_EQ(cut_vertices(offsets, {}, 4), (Bounds{0, 1, 2, 3, 4}));
}

TEST(Partition, counts_both_directions) {
  EXPECT_EQ(cut_vertices(Bounds{0, 9, 9, 9, 9}, Bounds{0, 0, 0, 0, 9}, 2), (Bounds{0, 1, 4}));
}

TEST(Partition, leaves_parts_empty_where_there_is_too_little) {
  EXPECT_EQ(cut_vertices(Bounds{0, 100, 101}, {}, 4), (Bounds{0, 0, 1, 1, 2}));
  EXPECT_EQ(cut_vertices(Bounds{0, 0, 0}, {}, 3).back(), 2);
  EXPECT_EQ(cut_vertices(Bounds{0}, {}, 3), (Bounds{0, 0, 0, 0}));
}

TEST(Partition, of_a_drawn_graph_is_even) {
  const Csr& csr = big_undirected().csr();
  const Bounds bounds = cut_vertices(csr.out.offsets, {}, 8);
  for (std::size_t p = 0; p < 8; ++p) {
    const std::uint64_t edges = csr.out.offsets[bounds[p + 1]] - csr.out.offsets[bounds[p]];
    EXPECT_NEAR(static_cast<double>(edges), static_cast<double>(csr.edges()) / 8,
                static_cast<double>(csr.edges()) / 100);
  }
}

// ---- parts together

TEST(Parts, page_their_own_edges_into_their_own_device) {
  if (!can_be({.devices = 2})) GTEST_SKIP() << "needs 2 GPUs";
  Engine engine = engine_of({.devices = 2});
  on_all_devices(engine, big_undirected().csr(), {}, [&](const PagedGraph& part) {
    const auto result = PageRankRun(part).run({.iterations = 2, .tolerance = 0});
    EXPECT_GT(part.out().edges, 0);
    EXPECT_LT(part.out().edges, part.edges());
    return result;
  });
  const Stats stats = engine.stats();
  EXPECT_EQ(stats.bytes_in, big_undirected().csr().edges() * sizeof(Vertex))
      << "each edge was brought in once";
}

TEST(Parts, pick_the_sources_of_the_whole) {
  Edges edges;
  for (Vertex v = 0; v < 10; ++v) edges.push_back({v * 50, v * 50 + 1});
  const Csr csr = directed(1000, edges);
  std::vector<std::vector<Vertex>> all;
  for (const int devices : {1, 2, 3}) {
    if (!can_be({.devices = devices})) continue;
    Engine engine = engine_of({.devices = devices});
    all.push_back(on_all_devices(engine, csr, {},
                                 [](const PagedGraph& part) { return pick_sources(part, 4); }));
  }
  for (const auto& sources : all) EXPECT_EQ(sources, all[0]);
}

TEST(Parts, end_with_the_error_of_the_one_that_failed) {
  const int devices = can_be({.devices = 3}) ? 3 : 2;
  if (!can_be({.devices = devices})) GTEST_SKIP() << "needs 2 GPUs";
  Engine engine = engine_of({.devices = devices});
  std::atomic<int> ended{0};
  const std::string said = complaint([&] {
    on_all_devices(engine, big_undirected().csr(), {}, [&](const PagedGraph& part) {
      Bfs bfs(part);
      if (part.exchange().part() == 1) throw GraphError("part 1 has had enough");
      try {
        return bfs.run(1);
      } catch (const PartFailed&) {
        ++ended;
        throw;
      }
    });
  });
  expect_says(said, "part 1 has had enough");
  EXPECT_EQ(ended, devices - 1);
  // The engine is as good as before.
  const auto result = on_all_devices(engine, big_undirected().csr(), {},
                                     [](const PagedGraph& part) { return Bfs(part).run(1); });
  EXPECT_EQ(verify_parents(big_undirected().csr(), 1, result.parents), std::nullopt);
}

TEST(Parts, are_refused_where_vertex_data_leaves_no_room) {
  for (const bool reach : {true, false}) {
    if (!can_be({.devices = 2, .reach = reach})) continue;
    Engine engine = engine_of({.devices = 2, .reach = reach, .memory = 30 * MiB});
    std::string said;
    try {
      on_all_devices(engine, big_undirected().csr(), {},
                     [](const PagedGraph& part) { return Bfs(part).run(1); });
    } catch (const WorkingSetTooLarge& error) {
      said = error.what();
    }
    expect_says(said, "raise it (--memory)");
  }
}

}  // namespace
}  // namespace holdall::graph
