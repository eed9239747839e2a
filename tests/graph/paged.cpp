// What a paged graph refuses.
#include "apps/graph/bfs.hpp"
#include "apps/graph/generate.hpp"
#include "apps/graph/pagerank.hpp"
#include "apps/graph/write.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

constexpr Bytes MiB = Bytes{1} << 20;

// What a call complains of, whatever the kind of error.
template <typename Call>
std::string any_complaint(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

class PagedGraphs : public testing::Test {
 protected:
  PagedGraphs() { write_graph(generate(parse_generator("urand:14:80")), file_.path()); }

  void pagerank(const GraphFile& file) {
    const PagedGraph graph(engine_, file, {});
    (void)PageRankRun(graph).run();
  }
  void overwrite(Bytes at, Vertex id) {
    std::fstream out(file_.path(), std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(at));
    out.write(reinterpret_cast<const char*>(&id), sizeof id);
  }

  TemporaryFile file_{sizeof(Vertex) == 4 ? "graph.sg" : "graph.hold"};
  Engine engine_{Config{.memory = 64 * MiB, .driver = "host", .chunk = 2 * MiB}};
};

TEST_F(PagedGraphs, name_the_byte_of_an_id_outside_their_vertices) {
  const FileArray ids = open_graph(file_.path()).out.neighbours;
  const Bytes at = ids.offset + 3 * MiB;
  overwrite(at, 1 << 14);
  const std::string said = any_complaint([&] { pagerank(open_graph(file_.path())); });
  expect_says(said, "byte " + std::to_string(at));
  expect_says(said, "the neighbour 16384 is outside the 16384 vertices");
}

TEST_F(PagedGraphs, notice_that_their_file_was_cut_while_open) {
  const GraphFile open = open_graph(file_.path());
  const PagedGraph graph(engine_, open, {});
  PageRankRun run(graph);
  std::filesystem::resize_file(file_.path(), open.out.neighbours.offset + 3 * MiB);
  const std::string said = any_complaint([&] { (void)run.run(); });
  expect_says(said, file_.path().string());
  expect_says(said, "the file ends there");
}

TEST_F(PagedGraphs, notice_that_their_file_was_written_while_open) {
  const PagedGraph graph(engine_, open_graph(file_.path()), {});
  Bfs bfs(graph);
  const auto written = std::filesystem::last_write_time(file_.path());
  std::filesystem::last_write_time(file_.path(), written + std::chrono::seconds(1));
  expect_says(any_complaint([&] { (void)bfs.run(0); }), "was changed since it was opened");
}

TEST_F(PagedGraphs, are_refused_when_the_file_changed_before_paging) {
  const GraphFile open = open_graph(file_.path());
  std::filesystem::resize_file(file_.path(), open.bytes - 1);
  const std::string said = any_complaint([&] { pagerank(open); });
  expect_says(said, "was changed since it was opened");
}

TEST_F(PagedGraphs, say_how_much_vertex_data_there_is) {
  Engine small(Config{.memory = 16 * MiB, .driver = "host", .chunk = 2 * MiB});
  const PagedGraph graph(small, open_graph(file_.path()), {});
  const std::string said = any_complaint([&] { (void)Bfs(graph); });
  expect_says(said, sizeof(Vertex) == 4 ? "34 MiB for BFS" : " for BFS");
  expect_says(said, "2 MiB leased already");
  expect_says(said, "the memory budget is 16 MiB: raise it");
  EXPECT_EQ(any_complaint([&] { (void)PageRankRun(graph).run(); }), "") << "nothing stays leased";
}

TEST_F(PagedGraphs, are_refused_where_the_file_holds_other_ids) {
  GraphFile other = open_graph(file_.path());
  other.out.neighbours.element_bytes = 12 - sizeof(Vertex);
  const std::string said = any_complaint([&] { pagerank(other); });
  expect_says(said, file_.path().string());
  expect_says(said, "holds no ids of this build's");
  expect_says(said, "convert");
}

TEST_F(PagedGraphs, refuse_a_source_that_does_not_exist) {
  const PagedGraph graph(engine_, open_graph(file_.path()), {});
  expect_says(any_complaint([&] { (void)Bfs(graph).run(1 << 14); }), "there is no vertex 16384");
}

}  // namespace
}  // namespace holdall::graph
