// Every algorithm over paged graphs gives the answer of the serial reference, whatever pages them
// and whichever way the edges come.
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "apps/graph/bfs.hpp"
#include "apps/graph/centrality.hpp"
#include "apps/graph/components.hpp"
#include "apps/graph/kcore.hpp"
#include "apps/graph/reference.hpp"
#include "apps/graph/sources.hpp"
#include "apps/graph/sssp.hpp"
#include "apps/graph/triangles.hpp"
#include "apps/graph/weights.hpp"
#include "apps/graph/write.hpp"
#include "policies/registry.hpp"
#include "tests/graph/shapes.hpp"
#include "tests/graph/test_driver.hpp"

namespace holdall::graph {
namespace {

constexpr Bytes MiB = Bytes{1} << 20;
constexpr double never = std::numeric_limits<double>::infinity();

enum class Place { hold, memory };
enum class Budget { smallest, third, everything };

struct Paging {
  std::string policy = "lru";
  Bytes chunk = 2 * MiB;
  int devices = 1;
  Budget budget = Budget::smallest;
  Place place = Place::memory;
  double paged_from = 0.8;  // 0: paged only; never: in place only
};
void PrintTo(const Paging& p, std::ostream* out) {
  *out << p.policy << ", chunks of " << holdall::to_string(p.chunk) << ", devices " << p.devices
       << ", budget " << static_cast<int>(p.budget) << ", place " << static_cast<int>(p.place)
       << ", paged from " << p.paged_from;
}

// A graph, its file, and what is right.
class Known {
 public:
  explicit Known(Csr csr, std::uint64_t source = 0, Weights weights = Weights::int32)
      : csr_(std::move(csr)), source_(source), hold_("graph.hold") {
    add_weights(csr_, weights);
    write_graph(csr_, hold_.path());
    distances_ = reference_sssp(csr_, source_);
    sources_ = {static_cast<Vertex>(source_), static_cast<Vertex>(csr_.vertices() - 1)};
    centrality_ = reference_centrality(csr_, sources_);
    if (!csr_.directed) triangles_ = reference_triangles(csr_);
  }
  const Csr& csr() const { return csr_; }

  void expect_answers(const Paging& paging) const {
    const ScheduleOptions schedule{.paged_from = paging.paged_from};
    run<Bfs>("bfs", paging, 1, [&](Bfs& bfs) {
      for (const Direction direction :
           {Direction::optimizing, Direction::top_down, Direction::bottom_up}) {
        const BfsResult result =
            bfs.run(source_, {.direction = direction, .schedule = schedule}, {});
        EXPECT_EQ(verify_parents(csr_, source_, result.parents), std::nullopt);
      }
    });
    run<Components>("components", paging, 1, [&](Components& components) {
      for (const auto method :
           {ComponentsOptions::Method::multistep, ComponentsOptions::Method::afforest,
            ComponentsOptions::Method::label_propagation}) {
        const ComponentsResult result = components.run({.method = method, .schedule = schedule});
        EXPECT_EQ(verify_components(csr_, result.labels), std::nullopt);
        std::vector<Vertex> all = result.labels;
        std::ranges::sort(all);
        const auto rest = std::ranges::unique(all);
        EXPECT_EQ(result.components, static_cast<std::uint64_t>(rest.begin() - all.begin()));
      }
    });
    run<Sssp>("sssp", paging, 2, [&](Sssp& sssp) {
      for (const double delta : {0.0, 1e9})
        EXPECT_EQ(sssp.run(source_, {.delta = delta, .schedule = schedule}).distances, distances_);
    });
    run<Centrality>("centrality", paging, 1, [&](Centrality& centrality) {
      EXPECT_EQ(compare_centrality(centrality.run(sources_, schedule).scores, centrality_, 1e-9),
                std::nullopt);
    });
    if (csr_.directed) return;
    run<Kcore>("cores", paging, 1, [&](Kcore& kcore) {
      EXPECT_EQ(verify_cores(csr_, kcore.run(schedule).cores), std::nullopt);
    });
    // Two groups of lists meet, each in two chunks where a list lies across their border, or more.
    std::uint64_t longest = 0;
    for (std::uint64_t v = 0; v < csr_.vertices(); ++v)
      longest = std::max(longest, csr_.out.degree(v));
    run<Triangles>("triangles", paging, 2 * (longest * sizeof(Vertex) / paging.chunk + 2),
                   [&](Triangles& triangles) { EXPECT_EQ(triangles.run().triangles, triangles_); });
  }

 private:
  PagedGraph page(Engine& engine, Place place, bool weights) const {
    const PagedGraph::Options options{.weights = weights};
    if (place == Place::memory) return {engine, csr_, options};
    return {engine, open_graph(hold_.path()), options};
  }
  Config config(const Paging& paging, Bytes memory) const {
    return {.memory = memory,
            .policy = paging.policy,
            .driver = test_driver(),
            .devices = paging.devices,
            .chunk = paging.chunk};
  }
  // With vertex data in memory and so many chunks of edges, or more.
  template <class Algorithm>
  void run(const char* name, const Paging& paging, std::uint64_t chunks,
           const std::function<void(Algorithm&)>& check) const {
    SCOPED_TRACE(name);
    const bool weights = std::is_same_v<Algorithm, Sssp>;
    const auto [at, is_new] = state_.try_emplace({name, paging.chunk});
    if (is_new) {
      Engine engine(config({.chunk = paging.chunk}, 512 * MiB));
      const PagedGraph graph = page(engine, Place::memory, weights);
      const Algorithm algorithm(graph);
      at->second = engine.leased();
    }
    const Bytes edge = sizeof(Vertex) + (weights ? sizeof(std::uint32_t) : 0);
    const Bytes edges = csr_.edges() * edge * (csr_.directed ? 2 : 1);
    // A chunk of weights goes with one of as many neighbours.
    Bytes memory = at->second + chunks * (weights ? paging.chunk * edge / 8 : paging.chunk);
    if (paging.budget == Budget::third) memory += edges / 3 / paging.chunk * paging.chunk;
    if (paging.budget == Budget::everything) memory += edges + 4 * paging.chunk;
    Engine engine(config(paging, memory));
    const PagedGraph graph = page(engine, paging.place, weights);
    Algorithm algorithm(graph);
    check(algorithm);
    if (paging.budget == Budget::third) check(algorithm);  // warm, and with state that was used
  }

  Csr csr_;
  std::uint64_t source_;
  TemporaryFile hold_;
  std::vector<std::uint32_t> distances_;
  std::vector<Vertex> sources_;
  std::vector<double> centrality_;
  std::uint64_t triangles_ = 0;
  mutable std::map<std::pair<std::string, Bytes>, Bytes> state_;  // vertex data of an algorithm
};

// Neighbours of several chunks.
const Known& big_undirected() {
  static const Known known(drawn("kron:14:64", false), 1);
  return known;
}
const Known& big_directed() {
  static const Known known(drawn("urand:14:96", true), 0, Weights::float32);
  return known;
}

class Algorithms : public testing::TestWithParam<Paging> {
  void SetUp() override {
    if (!test_driver_has(GetParam().devices))
      GTEST_SKIP() << "needs " << GetParam().devices << " GPUs";
  }
};

TEST_P(Algorithms, equal_the_reference_undirected) { big_undirected().expect_answers(GetParam()); }
TEST_P(Algorithms, equal_the_reference_directed) { big_directed().expect_answers(GetParam()); }

std::vector<Paging> every_policy() {
  std::vector<Paging> all;
  int turn = 0;
  for (const PolicyInfo& policy : list_policies()) {
    const Budget budget = turn % 2 == 0 ? Budget::smallest : Budget::third;
    const int devices = budget == Budget::smallest ? 1 : 1 + turn % 3;
    all.push_back({policy.name, 2 * MiB, devices, budget, static_cast<Place>(turn++ / 2 % 2)});
  }
  return all;
}

std::vector<Paging> every_way() {
  std::vector<Paging> all;
  for (const double paged_from : {0.0, 0.05, 0.8, never})
    for (const Budget budget : {Budget::smallest, Budget::third, Budget::everything})
      all.push_back({"lru", budget == Budget::third ? 4 * MiB : 2 * MiB, 1, budget, Place::memory,
                     paged_from});
  for (const int devices : {2, 3, 4})
    all.push_back({"clock", 2 * MiB, devices, Budget::third, Place::memory, 0.05});
  return all;
}

std::string name_of(const testing::TestParamInfo<Paging>& info) {
  const Paging& p = info.param;
  const char* const budgets[] = {"smallest", "third", "everything"};
  std::string name = std::to_string(info.index) + "_" + p.policy + "_" +
                     std::to_string(p.chunk / MiB) + "MiB_" + std::to_string(p.devices) +
                     "_devices_" + budgets[static_cast<int>(p.budget)] + "_" +
                     (p.place == Place::hold  ? "hold"
                      : p.paged_from == 0     ? "paged"
                      : p.paged_from == never ? "in_place"
                                              : "mixed");
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, Algorithms, testing::ValuesIn(every_policy()), name_of);
INSTANTIATE_TEST_SUITE_P(EveryWay, Algorithms, testing::ValuesIn(every_way()), name_of);

void expect_answers_of(Csr csr, std::uint64_t source = 0) {
  const Known known(std::move(csr), source, source % 2 == 0 ? Weights::int32 : Weights::float32);
  for (const Place place : {Place::hold, Place::memory}) known.expect_answers({.place = place});
}

TEST(Algorithms, of_a_path) {
  const Edges edges = path_of(100);
  expect_answers_of(undirected(100, edges), 3);
  expect_answers_of(directed(100, edges), 3);
}

TEST(Algorithms, of_a_star) {
  const Edges edges = star_of(1000);
  expect_answers_of(undirected(1000, edges), 5);
  expect_answers_of(directed(1000, edges), 0);
  expect_answers_of(directed(1000, edges), 5);  // reaches itself alone
}

TEST(Algorithms, of_a_clique) {
  const Edges edges = clique_of(60);
  expect_answers_of(undirected(60, edges), 59);
  expect_answers_of(directed(60, edges), 0);
}

TEST(Algorithms, of_a_grid) {
  constexpr Vertex side = 40;
  expect_answers_of(undirected(side * side, grid_of(side)), 5);
}

TEST(Algorithms, of_parts_that_are_not_connected) {
  expect_answers_of(undirected(6, {{0, 1}, {1, 2}, {4, 5}}), 1);
  expect_answers_of(directed(6, {{0, 1}, {2, 1}, {4, 5}}), 2);
}

TEST(Algorithms, of_one_vertex) {
  expect_answers_of(undirected(1, {}));
  expect_answers_of(directed(1, {}));
  expect_answers_of(undirected(1, {{0, 0}}));
}

TEST(Algorithms, of_no_edges) {
  expect_answers_of(undirected(1000, {}), 999);
  expect_answers_of(directed(1000, {}), 998);
}

TEST(Algorithms, of_repeated_edges_and_loops) {
  expect_answers_of(undirected(4, {{0, 1}, {0, 1}, {1, 1}, {1, 2}, {1, 2}, {0, 2}, {3, 3}}), 0);
  expect_answers_of(directed(3, {{0, 1}, {0, 1}, {1, 1}, {2, 1}, {1, 2}}), 0);
}

// One vertex with half of all edges, whose neighbours fill chunks of their own.
TEST(Algorithms, of_a_hub) {
  constexpr Vertex vertices = 1'200'000;
  const Known known(undirected(vertices, hub_of(vertices)), 7);
  known.expect_answers({.policy = "clock", .place = Place::hold});
  known.expect_answers({.paged_from = 0.05});
}

TEST(Algorithms, of_real_graphs) {
  const bool some = of_real_graphs({"ca-GrQc.txt", "facebook_combined.txt"}, [](const auto& path) {
    Csr csr = load_graph(path, {.symmetrize = true});
    const std::uint64_t source = csr.vertices() / 2;
    expect_answers_of(std::move(csr), source);
    expect_answers_of(load_graph(path), 0);
  });
  if (!some)
    GTEST_SKIP() << folder_of_real_graphs() << " is not there; set HOLDALL_DATA to the data folder";
}

// ---- which way the edges come

class Ways : public testing::Test {
 protected:
  // Traffic of a second search, with room for about half of the edges.
  Traffic warm_traffic(double paged_from, BfsResult* result = nullptr) {
    Engine engine({.memory = 40 * MiB, .driver = test_driver(), .chunk = 2 * MiB});
    const PagedGraph graph(engine, big_undirected().csr(), {});
    Bfs bfs(graph);
    const BfsOptions options{.direction = Direction::top_down,
                             .schedule = {.paged_from = paged_from}};
    bfs.run(1, options);
    const Traffic before = engine.stats();
    const BfsResult second = bfs.run(1, options);
    if (result != nullptr) *result = second;
    return static_cast<Traffic>(engine.stats()) - before;
  }
};

TEST_F(Ways, nothing_is_paged_where_all_is_read_in_place) {
  BfsResult result;
  const Traffic traffic = warm_traffic(never, &result);
  EXPECT_EQ(traffic.bytes_in, 0);
  EXPECT_EQ(result.edges_in_place, result.edges);
}

TEST_F(Ways, nothing_is_read_in_place_where_all_is_paged) {
  BfsResult result;
  const Traffic traffic = warm_traffic(0, &result);
  EXPECT_GT(traffic.bytes_in, 0);
  EXPECT_EQ(result.edges_in_place, 0);
}

TEST_F(Ways, sparse_chunks_are_not_paged) {
  EXPECT_LT(warm_traffic(0.8).bytes_in, warm_traffic(0).bytes_in);
}

TEST(Sources, have_edges_and_are_the_same_each_time) {
  Edges edges;
  for (Vertex v = 0; v < 10; ++v) edges.push_back({v * 50, v * 50 + 1});
  const Csr csr = directed(1000, edges);
  Engine engine({.memory = 64 * MiB, .driver = test_driver(), .chunk = 2 * MiB});
  const PagedGraph graph(engine, csr, {});
  const std::vector<Vertex> sources = pick_sources(graph, 8);
  EXPECT_EQ(sources.size(), 8);
  for (const Vertex v : sources) EXPECT_EQ(csr.out.degree(v), 1) << v;
  EXPECT_EQ(pick_sources(graph, 8), sources);
  EXPECT_NE(pick_sources(graph, 8, 1), sources);
}

// ---- how components are searched

struct Searched {
  ComponentsResult result;
  Bytes bytes_in = 0;
};
Searched search_components(const Csr& csr) {
  Engine engine({.memory = 64 * MiB, .driver = "host", .chunk = 2 * MiB});
  const PagedGraph graph(engine, csr, {});
  Components components(graph);
  const Traffic before = engine.stats();
  Searched searched{components.run(), 0};
  searched.bytes_in = (static_cast<Traffic>(engine.stats()) - before).bytes_in;
  EXPECT_EQ(verify_components(csr, searched.result.labels), std::nullopt);
  return searched;
}

TEST(ComponentsSearch, reads_a_part_of_a_graph_of_short_paths) {
  const Csr csr = drawn("urand:14:96", false);
  const Bytes edges = csr.edges() * sizeof(Vertex);
  ASSERT_GT(edges, 10 * MiB);
  const Searched searched = search_components(csr);
  EXPECT_LE(searched.bytes_in, edges / 5);  // an eighth, by whole chunks
  EXPECT_LE(searched.result.totals.bytes_in_place, edges / 4);
}

TEST(ComponentsSearch, soon_leaves_a_graph_of_long_paths_to_afforest) {
  constexpr Vertex side = 200;
  const Searched searched = search_components(undirected(side * side, grid_of(side)));
  EXPECT_LE(searched.result.totals.steps, 6);
}

// ---- what is refused

TEST(Refusals, of_directed_graphs_where_undirected_ones_are_needed) {
  Engine engine({.memory = 64 * MiB, .driver = test_driver(), .chunk = 2 * MiB});
  const PagedGraph graph(engine, directed(3, {{0, 1}}), {});
  expect_says(complaint([&] { Kcore{graph}; }), "--symmetrize");
  expect_says(complaint([&] { Triangles{graph}; }), "--symmetrize");
}

TEST(Refusals, of_paths_without_weights) {
  Engine engine({.memory = 64 * MiB, .driver = test_driver(), .chunk = 2 * MiB});
  const Csr csr = directed(3, {{0, 1}});
  expect_says(complaint([&] { PagedGraph(engine, csr, {.weights = true}); }), "no weights");
  const PagedGraph graph(engine, csr, {});
  expect_says(complaint([&] { Sssp{graph}; }), "need weights");
}

TEST(Refusals, of_distances_past_32_bits) {
  Csr csr = directed(4, {{0, 1}, {1, 2}, {2, 3}});
  add_weights(csr);
  std::ranges::fill(csr.out.weights, 0x7fff'ffff);
  Engine engine({.memory = 64 * MiB, .driver = test_driver(), .chunk = 2 * MiB});
  const PagedGraph graph(engine, csr, {.weights = true});
  Sssp sssp(graph);
  expect_says(complaint([&] { (void)sssp.run(0); }), "is longer than");
  EXPECT_EQ(sssp.run(2).distances[3], 0x7fff'ffff);
}

// ---- weights in files

TEST(Weights, come_back_from_their_file) {
  for (const bool is_directed : {false, true})
    for (const Weights kind : {Weights::int32, Weights::float32}) {
      Csr csr = drawn("urand:10:8", is_directed);
      add_weights(csr, kind, 5);
      const TemporaryFile file("graph.hold");
      write_graph(csr, file.path());
      check_contents(open_graph(file.path()));
      const Csr back = load_graph(file.path());
      EXPECT_EQ(back.weights, kind);
      EXPECT_TRUE(std::ranges::equal(back.out.weights, csr.out.weights));
      EXPECT_TRUE(std::ranges::equal(back.in().weights, csr.in().weights));
    }
}

TEST(Weights, weigh_both_directions_of_an_edge_the_same) {
  Csr csr = drawn("urand:10:8", false);
  add_weights(csr);
  std::map<std::pair<Vertex, Vertex>, std::uint32_t> weights;
  std::uint32_t least = 1000, most = 0;
  for (Vertex v = 0; v < csr.vertices(); ++v)
    for (std::uint64_t e = csr.out.offsets[v]; e < csr.out.offsets[v + 1]; ++e) {
      const Vertex to = csr.out.neighbours[e];
      const auto [at, is_new] = weights.try_emplace(std::minmax(v, to), csr.out.weights[e]);
      EXPECT_EQ(at->second, csr.out.weights[e]);
      least = std::min(least, csr.out.weights[e]);
      most = std::max(most, csr.out.weights[e]);
    }
  EXPECT_EQ(least, 1);
  EXPECT_EQ(most, 255);
}

TEST(Weights, that_are_negative_are_an_error_wherever_they_are_read) {
  Csr csr = directed(3, {{0, 1}, {1, 2}});
  add_weights(csr);
  csr.out.weights[1] = 0x8000'0001;
  const TemporaryFile file("graph.hold");
  write_graph(csr, file.path());
  const GraphFile open = open_graph(file.path());
  const std::string byte = "byte " + std::to_string(open.out.weights.offset + 4);
  expect_says(complaint([&] { (void)load_graph(file.path()); }), byte);
  expect_says(complaint([&] { check_contents(open); }), byte);
  Engine engine({.memory = 64 * MiB, .driver = test_driver(), .chunk = 2 * MiB});
  const PagedGraph graph(engine, open, {.weights = true});
  std::string said;
  try {
    (void)Sssp(graph).run(0);
  } catch (const Error& error) {
    said = error.what();
  }
  expect_says(said, byte);
}

}  // namespace
}  // namespace holdall::graph
