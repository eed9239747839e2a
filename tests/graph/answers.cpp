// BFS and PageRank over paged graphs give the answers of the serial reference, whatever pages them.
#include <map>
#include <optional>

#include "apps/graph/bfs.hpp"
#include "apps/graph/pagerank.hpp"
#include "apps/graph/reference.hpp"
#include "apps/graph/write.hpp"
#include "policies/registry.hpp"
#include "tests/graph/shapes.hpp"
#include "tests/graph/test_driver.hpp"

namespace holdall::graph {
namespace {

constexpr Bytes MiB = Bytes{1} << 20;
constexpr int iterations = 4;

enum class Place { hold, serialized, memory };
enum class Budget { smallest, quarter, everything };

// How a graph is paged.
struct Paging {
  std::string policy = "lru";
  Bytes chunk = 2 * MiB;
  int devices = 1;
  Budget budget = Budget::smallest;
  Place place = Place::hold;
};
void PrintTo(const Paging& p, std::ostream* out) {
  *out << p.policy << ", chunks of " << holdall::to_string(p.chunk) << ", devices " << p.devices
       << ", budget " << static_cast<int>(p.budget) << ", place " << static_cast<int>(p.place);
}

// A graph, its files, and the right answers.
class Known {
 public:
  explicit Known(Csr csr, std::uint64_t source = 0)
      : csr_(std::move(csr)), source_(source), hold_("graph.hold"), serialized_("graph.sg") {
    write_graph(csr_, hold_.path());
    write_graph(csr_, serialized_.path());
    scores_ = reference_pagerank(csr_, {.iterations = iterations, .tolerance = 0}).scores;
  }

  const Csr& csr() const { return csr_; }
  std::uint64_t source() const { return source_; }

  // Vertex data, which stays resident, and one chunk of neighbours.
  template <class Algorithm>
  Bytes smallest(Bytes chunk) const {
    const auto [at, is_new] = smallest_.try_emplace({std::is_same_v<Algorithm, Bfs>, chunk});
    if (is_new) {
      Engine engine({.memory = 512 * MiB, .driver = test_driver(), .chunk = chunk});
      const PagedGraph graph = page(engine, Place::hold);
      const Algorithm algorithm(graph);
      at->second = engine.leased() + chunk;
    }
    return at->second;
  }
  template <class Algorithm>
  Bytes memory(const Paging& paging) const {
    const Bytes least = smallest<Algorithm>(paging.chunk);
    const Bytes edges = csr_.edges() * sizeof(Vertex) * (csr_.directed ? 2 : 1);
    switch (paging.budget) {
      case Budget::smallest:
        return least;
      case Budget::quarter:
        return least + edges / 4 / paging.chunk * paging.chunk;
      case Budget::everything:
        break;
    }
    return least + edges + 2 * paging.chunk;
  }

  PagedGraph page(Engine& engine, Place place) const {
    if (place == Place::memory) return {engine, csr_, {}};
    const GraphFile file = open_graph((place == Place::hold ? hold_ : serialized_).path());
    if (!file.in_place()) return {engine, load_graph(file.path), {}};  // .sg, of ids of 32 bits
    return {engine, file, {}};
  }

  void expect_answers(const Paging& paging) const {
    const auto config = [&](Bytes memory) {
      return Config{.memory = memory,
                    .policy = paging.policy,
                    .driver = test_driver(),
                    .devices = paging.devices,
                    .chunk = paging.chunk};
    };
    {
      Engine engine(config(memory<Bfs>(paging)));
      const PagedGraph graph = page(engine, paging.place);
      Bfs bfs(graph);
      const BfsResult result = bfs.run(source_);
      EXPECT_EQ(verify_parents(csr_, source_, result.parents), std::nullopt);
      const auto reached =
          std::ranges::count_if(result.parents, [](Vertex v) { return v != kernels::no_vertex; });
      EXPECT_EQ(result.reached, static_cast<std::uint64_t>(reached));
    }
    {
      Engine engine(config(memory<PageRankRun>(paging)));
      const PagedGraph graph = page(engine, paging.place);
      PageRankRun pagerank(graph);
      const auto result = pagerank.run({.iterations = iterations, .tolerance = 0});
      EXPECT_EQ(result.iterations, iterations);
      EXPECT_EQ(compare_scores(result.scores, scores_, 1e-4), std::nullopt);
    }
  }

 private:
  Csr csr_;
  std::uint64_t source_;
  TemporaryFile hold_, serialized_;
  std::vector<double> scores_;
  mutable std::map<std::pair<bool, Bytes>, Bytes> smallest_;  // by whether it is BFS, and the chunk
};

// Neighbours of several chunks, of 4 MiB too.
const Known& big_undirected() {
  static const Known known(drawn("kron:15:64", false), 1);
  return known;
}
const Known& big_directed() {
  static const Known known(drawn("urand:15:80", true));
  return known;
}

TEST(Answers, come_from_graphs_of_several_chunks) {
  for (const Known* known : {&big_undirected(), &big_directed()})
    EXPECT_GT(known->csr().edges() * sizeof(Vertex), 8 * MiB);
}

class Answers : public testing::TestWithParam<Paging> {
  void SetUp() override {
    if (!test_driver_has(GetParam().devices))
      GTEST_SKIP() << "needs " << GetParam().devices << " GPUs";
  }
};

TEST_P(Answers, equal_the_reference_undirected) { big_undirected().expect_answers(GetParam()); }
TEST_P(Answers, equal_the_reference_directed) { big_directed().expect_answers(GetParam()); }

std::vector<Paging> every_policy() {
  std::vector<Paging> all;
  int turn = 0;
  for (const PolicyInfo& policy : list_policies())
    for (const Bytes chunk : {2 * MiB, 4 * MiB})
      for (const Budget budget : {Budget::smallest, Budget::quarter}) {
        const int devices = budget == Budget::smallest ? 1 : 1 + turn % 3;
        all.push_back({policy.name, chunk, devices, budget, static_cast<Place>(turn++ % 3)});
      }
  return all;
}

std::vector<Paging> every_set_up() {
  std::vector<Paging> all;
  for (const Bytes chunk : {2 * MiB, 4 * MiB})
    for (const int devices : {1, 2, 3})
      for (const Budget budget : {Budget::smallest, Budget::everything})
        for (const Place place : {Place::hold, Place::serialized, Place::memory})
          all.push_back({"lru", chunk, devices, budget, place});
  return all;
}

std::string name_of(const testing::TestParamInfo<Paging>& info) {
  const Paging& p = info.param;
  const char* const budgets[] = {"smallest", "quarter", "everything"};
  const char* const places[] = {"hold", "sg", "memory"};
  std::string name = p.policy + "_" + std::to_string(p.chunk / MiB) + "MiB_" +
                     std::to_string(p.devices) + "_devices_" + budgets[static_cast<int>(p.budget)] +
                     "_" + places[static_cast<int>(p.place)];
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, Answers, testing::ValuesIn(every_policy()), name_of);
INSTANTIATE_TEST_SUITE_P(EverySetUp, Answers, testing::ValuesIn(every_set_up()), name_of);

void expect_answers_of(const Csr& csr, std::uint64_t source = 0) {
  Csr copy;
  copy.directed = csr.directed;
  const auto same = [](const Adjacency& from) {
    Adjacency to{Array<std::uint64_t>::uninitialized(from.offsets.size()),
                 Array<Vertex>::uninitialized(from.neighbours.size())};
    std::ranges::copy(from.offsets, to.offsets.begin());
    std::ranges::copy(from.neighbours, to.neighbours.begin());
    return to;
  };
  copy.out = same(csr.out);
  if (csr.directed) copy.transposed = same(csr.transposed);
  const Known known(std::move(copy), source);
  for (const Place place : {Place::serialized, Place::memory})
    known.expect_answers({.place = place});
}

TEST(Answers, of_a_path) {
  const Edges edges = path_of(100);
  expect_answers_of(undirected(100, edges), 3);
  expect_answers_of(directed(100, edges), 3);
}

TEST(Answers, of_a_star) {
  const Edges edges = star_of(1000);
  expect_answers_of(undirected(1000, edges), 5);
  expect_answers_of(directed(1000, edges), 0);
  expect_answers_of(directed(1000, edges), 5);  // reaches itself alone
}

TEST(Answers, of_a_clique) {
  const Edges edges = clique_of(60);
  expect_answers_of(undirected(60, edges), 59);
  expect_answers_of(directed(60, edges), 0);
}

TEST(Answers, of_parts_that_are_not_connected) {
  expect_answers_of(undirected(6, {{0, 1}, {1, 2}, {4, 5}}), 1);
  expect_answers_of(directed(6, {{0, 1}, {2, 1}, {4, 5}}), 2);
}

TEST(Answers, of_one_vertex) {
  expect_answers_of(undirected(1, {}));
  expect_answers_of(directed(1, {}));
  expect_answers_of(undirected(1, {{0, 0}}));
}

TEST(Answers, of_no_edges) {
  expect_answers_of(undirected(1000, {}), 999);
  expect_answers_of(directed(1000, {}), 999);
}

TEST(Answers, of_repeated_edges_and_loops) {
  expect_answers_of(undirected(3, {{0, 1}, {0, 1}, {1, 1}, {1, 2}, {1, 2}}), 0);
  expect_answers_of(directed(3, {{0, 1}, {0, 1}, {1, 1}, {2, 1}, {1, 2}}), 0);
}

// One vertex whose neighbours fill chunks of their own.
TEST(Answers, of_a_hub) {
  constexpr Vertex vertices = 1'500'000;
  const Known known(undirected(vertices, hub_of(vertices)), 7);
  for (const Place place : {Place::serialized, Place::memory})
    known.expect_answers({.policy = "clock", .place = place});
}

TEST(Answers, of_real_graphs) {
  const bool some = of_real_graphs({"ca-GrQc.txt", "facebook_combined.txt", "soc-Epinions1.txt"},
                                   [](const auto& path) {
                                     const Csr csr = load_graph(path, {.symmetrize = true});
                                     expect_answers_of(csr, csr.vertices() / 2);
                                     expect_answers_of(load_graph(path), 0);
                                   });
  if (!some)
    GTEST_SKIP() << folder_of_real_graphs() << " is not there; set HOLDALL_DATA to the data folder";
}

}  // namespace
}  // namespace holdall::graph
