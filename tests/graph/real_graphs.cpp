// Real graphs where the data folder is: $HOLDALL_DATA, or shared/data beside the source.
#include "apps/graph/reference.hpp"
#include "apps/graph/write.hpp"
#include "tests/graph/shapes.hpp"

namespace holdall::graph {
namespace {

struct Expected {
  std::string name;
  std::uint64_t vertices, edges;
};
void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

class RealGraph : public testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    path_ = folder_of_real_graphs() / GetParam().name;
    if (!std::filesystem::exists(path_))
      GTEST_SKIP() << path_ << " is not there; set HOLDALL_DATA to the data folder";
  }
  std::filesystem::path path_;
};

TEST_P(RealGraph, has_the_size_that_its_collection_says) {
  LoadReport report;
  const Csr csr = load_graph(path_, {.symmetrize = true}, &report);
  EXPECT_EQ(csr.vertices(), GetParam().vertices);
  EXPECT_EQ(report.edges_read, GetParam().edges);
  EXPECT_TRUE(report.notes.empty()) << report.notes.front();
  const Summary summary = summarize(csr);
  EXPECT_EQ(summary.isolated, 0u);
  EXPECT_EQ(csr.edges() + summary.self_loops, 2 * GetParam().edges);
}

TEST_P(RealGraph, is_the_same_after_every_format) {
  const Csr csr = load_graph(path_, {.symmetrize = true});
  for (const std::string ending : {".hold", ".sg", ".el", ".mtx"}) {
    const TemporaryFile file("g" + ending);
    write_graph(csr, file.path());
    expect_same(load_graph(file.path(), {.symmetrize = true}), csr);
  }
}

TEST_P(RealGraph, is_connected) {
  const Csr csr = load_graph(path_, {.symmetrize = true});
  for (const std::uint32_t depth : reference_bfs(csr, 0)) ASSERT_NE(depth, unreached);
}

INSTANTIATE_TEST_SUITE_P(Snap, RealGraph,
                         testing::Values(Expected{"facebook_combined.txt", 4039, 88234},
                                         Expected{"ca-GrQc.txt", 4158, 13428},
                                         Expected{"soc-Epinions1.txt", 75877, 405739}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace holdall::graph
