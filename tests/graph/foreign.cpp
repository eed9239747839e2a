// Formats of other programs: that they are told by their contents, what is read, and what is said
// of files that are wrong.
#include "apps/graph/foreign.hpp"

#include <fcntl.h>

#include <bit>
#include <cstdint>

#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

using Strings = std::vector<std::string>;

// Numbers as they lie in a file.
class Bytestring {
 public:
  template <typename T>
  Bytestring& put(std::initializer_list<T> values) {
    for (const T value : values)
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Bytestring& u32(std::initializer_list<std::uint32_t> values) { return put(values); }
  Bytestring& u64(std::initializer_list<std::uint64_t> values) { return put(values); }
  Bytestring& f32(std::initializer_list<float> values) { return put(values); }
  Bytestring& byte(unsigned char value) { return put({value}); }
  operator std::string() const { return bytes_; }  // NOLINT: converts on purpose

 private:
  std::string bytes_;
};

// 0 -> 2, 1 -> 0, 1 -> 2, with the weights 5, 6, 7; as each format has it.
const Edges edges = {{0, 2}, {1, 0}, {1, 2}};
const Strings weighted = {"0 2 5", "1 0 6", "1 2 7"};
const std::string dimacs = "c roads\np sp 3 3\na 1 3 5\nc between\na 2 1 6\na 2 3 7\n";
const std::string galois_1 =
    Bytestring().u64({1, 4, 3, 3}).u64({1, 3, 3}).u32({2, 0, 2, 0 /* to fill up */}).u32({5, 6, 7});
const std::string galois_2 =
    Bytestring().u64({2, 4, 3, 3}).u64({1, 3, 3}).u64({2, 0, 2}).u32({5, 6, 7});
const std::string galois_bare = Bytestring().u64({1, 0, 3, 3}).u64({1, 3, 3}).u32({2, 0, 2, 0});
const std::string bcsr = Bytestring().u32({3, 3}).u32({0, 1, 3}).u32({2, 0, 2});
const std::string bwcsr = Bytestring().u32({3, 3}).u32({0, 1, 3}).u32({2, 5, 0, 6, 2, 7});
const std::string wsg = Bytestring()
                            .byte(1)
                            .u64({3, 3})
                            .u64({0, 1, 3, 3})
                            .u32({2, 5, 0, 6, 2, 7})
                            .u64({0, 1, 1, 3})
                            .u32({1, 6, 0, 5, 1, 7});

// 0 - 1 (5), 0 - 2 (6), 2 - 2 is not allowed there.
const std::string metis = "% three\n3 2\n2 3\n1\n1\n";
const std::string metis_weighted = "3 2 1\n2 5 3 6\n1 5\n1 6\n";
const std::string metis_vertices = "3 2 111 2\n9 1 1 2 5 3 6\n9 1 1 1 5\n9 1 1 1 6\n";

Format format_of(std::string_view contents) {
  const TemporaryFile file("graph", contents);
  return open_graph(file.path()).format;
}

TEST(Foreign, is_told_by_its_contents) {
  EXPECT_EQ(format_of(dimacs), Format::dimacs);
  EXPECT_EQ(format_of("p sp 1 0\n"), Format::dimacs);
  EXPECT_EQ(format_of(galois_1), Format::galois);
  EXPECT_EQ(format_of(galois_2), Format::galois);
  EXPECT_EQ(format_of(galois_bare), Format::galois);
  EXPECT_EQ(format_of(bcsr), Format::subway);
  EXPECT_EQ(format_of(bwcsr), Format::subway);
  EXPECT_EQ(format_of(wsg), Format::weighted_serialized);
  EXPECT_EQ(format_of(metis), Format::metis);
  EXPECT_EQ(format_of(metis_weighted), Format::metis);
  EXPECT_EQ(format_of(metis_vertices), Format::metis);
  // Edge lists that are a little like a METIS file.
  EXPECT_EQ(format_of("3 3\n1 2\n2 3\n3 1\n"), Format::text);
  EXPECT_EQ(format_of("3 2\n0 1\n1 2\n"), Format::text);
  EXPECT_EQ(format_of("5 4 1\n1 2 1\n2 3 1\n"), Format::text);
  EXPECT_EQ(format_of("10 20\n1 2\n3 4 5\n"), Format::text);
}

TEST(Foreign, a_ring_may_be_either_and_the_name_decides) {
  const std::string ring = "3 3\n2 3\n1 3\n1 2\n";
  const TemporaryFile text("g.txt", ring), graph("g.graph", ring);
  EXPECT_EQ(open_graph(text.path()).format, Format::text);
  EXPECT_EQ(open_graph(graph.path()).format, Format::metis);
}

TEST(Foreign, edges_and_weights_are_read) {
  for (const std::string& contents : {dimacs, galois_1, galois_2, bwcsr, wsg}) {
    const Csr csr = parsed(contents);
    EXPECT_TRUE(csr.directed);
    EXPECT_EQ(csr.weights, Weights::int32);
    EXPECT_EQ(csr.vertices(), 3u);
    EXPECT_EQ(weighted_edges_of(csr), weighted);
    EXPECT_EQ(weighted_edges_of(csr, csr.in()), (Strings{"0 1 6", "2 0 5", "2 1 7"}));
    EXPECT_EQ(edges_of(parsed(contents, {.unweighted = true})), edges);
  }
  for (const std::string& contents : {galois_bare, bcsr}) {
    EXPECT_EQ(edges_of(parsed(contents)), edges);
    EXPECT_EQ(parsed(contents).weights, Weights::none);
  }
}

TEST(Foreign, weights_that_look_like_floats_are) {
  const std::string contents =
      Bytestring().u64({1, 4, 2, 2}).u64({2, 2}).u32({0, 1}).f32({0.5F, 3.0F});
  EXPECT_EQ(weighted_edges_of(parsed(contents)), (Strings{"0 0 0.5", "0 1 3"}));
}

TEST(Foreign, metis_lists_are_undirected_edges) {
  EXPECT_EQ(edges_of(parsed(metis)), (Edges{{0, 1}, {0, 2}, {1, 0}, {2, 0}}));
  for (const std::string& contents : {metis_weighted, metis_vertices}) {
    const Csr csr = parsed(contents);
    EXPECT_FALSE(csr.directed);
    EXPECT_EQ(weighted_edges_of(csr), (Strings{"0 1 5", "0 2 6", "1 0 5", "2 0 6"}));
  }
  // An empty line is a vertex without neighbours; comments are none.
  const Csr csr = parsed("4 1\r\n\r\n% c\r\n3\r\n2\r\n\r\n");
  EXPECT_EQ(csr.vertices(), 4u);
  EXPECT_EQ(edges_of(csr), (Edges{{1, 2}, {2, 1}}));
}

// Lists longer than a block of lines, and vertices counted over blocks.
TEST(Foreign, metis_vertices_are_counted_over_blocks) {
  for (const std::string_view line_end : {"\n", "\r\n", "\r"}) {
    constexpr std::uint64_t n = 60'000;
    std::string text = "60000 59999";
    text += line_end;
    for (std::uint64_t v = 1; v <= n; ++v) {
      if (v > 1) text += std::to_string(v - 1) + " ";
      if (v < n) text += std::to_string(v + 1);
      text += line_end;
    }
    Edges path;
    for (Vertex v = 0; v + 1 < n; ++v) path.push_back({v, v + 1});
    expect_same(parsed(text), undirected(n, path));
  }
}

// EMOGI's three files.
class Emogi : public testing::Test {
 protected:
  void write(const char* ending, const std::string& contents) const {
    std::ofstream(base_.path().string() + ending, std::ios::binary) << contents;
  }
  void write_good() const {
    write(".col", Bytestring().u64({4, 0}).u64({0, 1, 3, 3}));
    write(".dst", Bytestring().u64({3, 0}).u64({2, 0, 2}));
    write(".val", Bytestring().u64({3, 0}).u32({5, 6, 7}));
  }
  std::string complaint_of_loading() const {
    return complaint([&] { (void)load_graph(base_.path()); });
  }
  const TemporaryFile base_{"g.bel"};
};

TEST_F(Emogi, is_read_by_the_name_of_any_of_its_files) {
  write_good();
  for (const char* ending : {"", ".col", ".dst", ".val"}) {
    const std::string path = base_.path().string() + ending;
    EXPECT_EQ(open_graph(path).format, Format::emogi);
    EXPECT_EQ(weighted_edges_of(load_graph(path)), weighted);
  }
  std::filesystem::remove(base_.path().string() + ".val");
  EXPECT_EQ(edges_of(load_graph(base_.path())), edges);
}

TEST_F(Emogi, what_is_wrong_is_named) {
  const auto expect = [&](const char* ending, const std::string& contents, std::string_view what) {
    write_good();
    write(ending, contents);
    expect_says(complaint_of_loading(), what);
  };
  expect(".col", Bytestring().u64({4, 0}).u64({0, 1, 3}), "g.bel.col, byte 0");
  expect(".col", Bytestring().u64({1, 0}).u64({0}), "1 offsets");
  expect(".col", Bytestring().u64({4, 0}).u64({0, 3, 1, 3}), "byte 32: offset 2 is 1, less");
  expect(".col", Bytestring().u64({4, 0}).u64({0, 1, 9, 3}), "byte 32: offset 2 is 9, past");
  expect(".col", Bytestring().u64({4, 0}).u64({0, 1, 2, 2}), "the last offset is 2");
  expect(".dst", Bytestring().u64({3, 0}).u64({2, 0, 3}), "byte 32: the neighbour 3 is outside");
  expect(".dst", Bytestring().u64({3, 0}).u64({2, 0}), "g.bel.dst, byte 0");
  expect(".val", Bytestring().u64({2, 0}).u32({5, 6}), "2 weights for 3 edges");
  expect(".val", Bytestring().u64({3, 0}).u32({5, 0x80000000, 7}), "byte 20: the bits 0x80000000");
}

struct Bad {
  std::string name;
  std::string contents;
  std::string place;
  std::string problem;
};

std::string without(std::string text, std::size_t end) { return text.substr(0, text.size() - end); }
std::string with(std::string text, std::size_t at, std::uint32_t value) {
  return text.replace(at, 4, reinterpret_cast<const char*>(&value), 4);
}

// Each with the place and the problem that the message names.
TEST(Foreign, what_is_wrong_is_named) {
  const std::vector<Bad> all = {
      // DIMACS
      {"g.gr", "p sp 3\na 1 3 5\n", "line 1", "such as 'p sp 5 8'"},
      {"g.gr", "c\np sp 0 0\n", "line 2", "no vertices"},
      {"g.gr", "p sp -3 1\na 1 1 1\n", "line 1", "expected the numbers"},
      {"g.gr", fmt::format("p sp {} 0\n", most_vertices + 1), "line 1",
       fmt::format("at most {}", most_vertices)},
      {"g.gr", "p edge 3 1\ne 1 2\n", "line 1", "kind 'edge'"},
      {"g.gr", "p sp 3 2\na 1 3 5\n", "line 1", "promises 2 arcs, and 1 follow"},
      {"g.gr", "p sp 3 1\na 1 3 5\na 1 2 5\n", "line 1", "promises 1 arcs, and 2 follow"},
      {"g.gr", "p sp 3 1\na 0 3 5\n", "line 2", "the id 0 is out of range; expected 1 to 3"},
      {"g.gr", "p sp 3 1\na 1 4 5\n", "line 2", "the id 4 is out of range"},
      {"g.gr", "p sp 3 1\nc\na 1 -2 5\n", "line 3", "-2 is negative"},
      {"g.gr", "p sp 3 1\na 1 2 -5\n", "line 2", "the weight -5 is negative"},
      {"g.gr", "p sp 3 1\na 1 2\n", "line 2", "a weight was expected"},
      {"g.gr", "p sp 3 1\na 1\n", "line 2", "one column"},
      {"g.gr", "p sp 3 1\na\n", "line 2", "a FROM TO WEIGHT"},
      {"g.gr", "p sp 3 1\n1 2 5\n", "line 2", "'1' begins the line"},
      {"g.gr", "p sp 3 1\na x 2 5\n", "line 2", "'x' is no vertex id"},
      // METIS
      {"g.graph", "3 2\n2 3\n1\n", "line 1", "promises 3 vertices, and 2 lists follow"},
      {"g.graph", "3 3\n2 3\n1\n1\n", "line 1",
       "promises 3 edges, twice each, and the lists hold 4"},
      {"g.graph", "3 2\n2 4\n1\n1\n", "line 2", "the id 4 is out of range; expected 1 to 3"},
      {"g.graph", "3 2\n2 0\n1\n1\n", "line 2", "the id 0 is out of range"},
      {"g.graph", "3 2\n2 3\n1\nx\n", "line 4", "'x' is no vertex id"},
      {"g.graph", "3 2\n2 3\n1\n1\n2\n", "line 5", "past those of the 3 vertices"},
      {"g.graph", "3 2 1\n2 5 3\n1 5\n1 6\n", "line 2", "no weight after it"},
      {"g.graph", "3 2 1\n2 -5 3 6\n1 5\n1 6\n", "line 2", "-5 is negative"},
      {"g.graph", "3 2 1\n2 5 3 6\n1 5\n1 7\n", "g.graph:", "with another weight"},
      {"g.graph", "3 2\n2 3\n3\n1\n", "g.graph:", "in one of its two lists alone"},
      {"g.graph", "3 2 10 2\n1 1 2 3\n1 1 1\n1\n", "line 4", "2 come before"},
      {"g.graph", "0 0\n\n", "line 1", "no vertices"},
      // Galois
      {"g.gr", without(galois_1, 1), "byte 83", "should have 84 bytes, and has 83"},
      {"g.gr", galois_2 + "x", "byte 93", "should have"},
      {"g.gr", with(galois_1, 16, 0), "byte 84", "0 vertices"},
      {"g.gr", with(galois_1, 40, 0), "byte 40", "offset 1 is 0, less than"},
      {"g.gr", with(galois_1, 40, 9), "byte 40", "offset 1 is 9, past the 3 edges"},
      {"g.gr", with(galois_1, 48, 1), "byte 48", "offset 2 is 1, less than"},
      {"g.gr", with(galois_1, 60, 3), "byte 60", "the neighbour 3 is outside the 3 vertices"},
      {"g.gr", with(galois_2, 76, 1), "byte 72", "the neighbour 4294967298 is outside"},
      {"g.gr", with(galois_1, 76, 0x80000001), "byte 76", "no weight"},
      // Subway
      {"g.bcsr", without(bcsr, 2), "byte 30", "should have 32 bytes, and has 30"},
      {"g.bwcsr", bwcsr + "x", "byte 45", "should have 44 bytes, and has 45"},
      {"g.bcsr", with(bcsr, 8, 1), "byte 8", "the first offset is 1; expected 0"},
      {"g.bcsr", with(bcsr, 12, 4), "byte 12", "offset 1 is 4, past the 3 edges"},
      {"g.bcsr", with(with(bcsr, 12, 3), 16, 2), "byte 16", "offset 2 is 2, less than"},
      {"g.bcsr", with(bcsr, 24, 3), "byte 24", "the neighbour 3 is outside"},
      {"g.bwcsr", with(bwcsr, 32, 0xffffffff), "byte 32", "the bits 0xffffffff are no weight"},
      // GAP with weights
      {"g.wsg", without(wsg, 8), "byte", "should have"},
      {"g.wsg", with(wsg, 25, 9), "byte 25", "offset 1 is 9"},
      {"g.wsg", with(wsg, 49, 9), "byte 49", "the neighbour 9 is outside"},
  };
  for (const Bad& bad : all) {
    const TemporaryFile file(bad.name, bad.contents);
    const std::string message = complaint([&] { (void)load_graph(file.path()); });
    expect_says(message, bad.place);
    expect_says(message, bad.problem);
    expect_says(message, bad.name);
  }
}

// Counts past 2^32, in a file that is all hole.
TEST(Foreign, more_vertices_than_ids_tell_apart_are_refused_with_the_limit) {
  if (sizeof(Vertex) > 4) GTEST_SKIP() << "a file system holds no graph of 2^48 vertices";
  const TemporaryFile file("g.gr", std::string(Bytestring().u64({2, 0, (1ull << 32) + 1, 0})));
  std::filesystem::resize_file(file.path(), 32 + ((1ull << 32) + 1) * 8);
  const std::string message = complaint([&] { (void)load_graph(file.path()); });
  expect_says(message, "byte 16: 4294967297 vertices; at most 4294967296");
  expect_says(message, "-Dvertex_bits=64");
}

// Edges past 2^31 and 2^32: offsets into the file must not wrap.
TEST(Foreign, edges_past_2_to_the_32_are_read_from_the_right_bytes) {
  for (const std::uint64_t many : {(1ull << 31) + 5, (1ull << 32) + 5}) {
    const TemporaryFile path("g.gr",
                             std::string(Bytestring().u64({2, 4, 2, many}).u64({many - 2, many})));
    const Bytes neighbours = 32 + 16, weights = neighbours + many * 8;
    std::filesystem::resize_file(path.path(), weights + many * 4);
    const int handle = ::open(path.path().c_str(), O_WRONLY);
    const std::uint64_t one = 1;
    const std::uint32_t weight = 77;
    ASSERT_EQ(::pwrite(handle, &one, 8, static_cast<off_t>(neighbours + (many - 1) * 8)), 8);
    ASSERT_EQ(::pwrite(handle, &weight, 4, static_cast<off_t>(weights + (many - 1) * 4)), 4);
    ::close(handle);
    auto graph = open_galois(std::make_shared<const File>(path.path()));
    ASSERT_TRUE(graph.has_value());
    const BinaryEdges source(*std::move(graph), true, 1_MiB);
    EdgeScratch scratch;
    const EdgeBlock last = source.read(source.blocks() - 1, scratch);
    EXPECT_EQ(last.edges.back(), (Edge{1, 1}));
    EXPECT_EQ(last.edges.front().from, 0u);
    EXPECT_EQ(last.weights.back(), 77u);
    EXPECT_EQ(last.edges[last.edges.size() - 2], (Edge{1, 0}));
    EXPECT_EQ(last.edges[last.edges.size() - 3], (Edge{0, 0}));
  }
}

// "0 1\n1 2\n", by gzip and by zstd.
TEST(Packed, what_is_in_it_is_read) {
  for (const std::string& packed :
       {std::string(
            "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x33\x50\x30\xe4\x32\x54\x30\xe2\x02\x00"
            "\x6a\x1d\xbb\xd7\x08\x00\x00\x00",
            28),
        std::string(
            "\x28\xb5\x2f\xfd\x04\x58\x41\x00\x00\x30\x20\x31\x0a\x31\x20\x32\x0a\x50\xbb\xb4"
            "\x4b",
            21)}) {
    const TemporaryFile file("g.anything", packed);
    EXPECT_EQ(open_graph(file.path()).format, Format::packed);
    LoadReport report;
    EXPECT_EQ(edges_of(load_graph(file.path(), {}, &report)), (Edges{{0, 1}, {1, 2}}));
    EXPECT_EQ(report.format, Format::text);
    for (std::size_t length = 6; length < packed.size(); ++length) {
      file.write(packed.substr(0, length));
      EXPECT_NE(complaint([&] { (void)load_graph(file.path()); }), "") << length;
    }
  }
}

}  // namespace
}  // namespace holdall::graph
