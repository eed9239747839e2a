// Opening graphs in place, and all that can be wrong with a binary file.
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>

#include "apps/graph/graph_file.hpp"
#include "apps/graph/hold.hpp"
#include "apps/graph/write.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

const Edges edges = {{0, 1}, {0, 2}, {1, 2}, {3, 0}};

std::string bytes_of(const Csr& csr, std::string_view name) {
  const TemporaryFile file(name);
  write_graph(csr, file.path());
  return file.contents();
}

std::string complaint_of_opening(std::string_view contents) {
  const TemporaryFile file("graph", contents);
  return complaint([&] { (void)open_graph(file.path()); });
}
std::string complaint_of_checking(std::string_view contents) {
  const TemporaryFile file("graph", contents);
  return complaint([&] { check_contents(open_graph(file.path())); });
}
std::string complaint_of_loading(std::string_view contents) {
  const TemporaryFile file("graph", contents);
  return complaint([&] { (void)load_graph(file.path()); });
}

template <typename T>
std::string with(std::string contents, std::size_t at, T value) {
  const std::string bytes(reinterpret_cast<const char*>(&value), sizeof(value));
  return contents.replace(at, bytes.size(), bytes);
}
// A change that the header's checksum agrees with.
template <typename T>
std::string with_sealed(std::string contents, std::size_t at, T value) {
  contents = with(contents, at, value);
  const auto header = std::as_bytes(std::span(contents)).first(4088);
  return with(contents, 4088, piece_checksum(header, 0));
}

// The same graph with ids of the other width: 8 bytes for 4, or 4 for 8.
std::string with_other_ids(std::string contents) {
  HoldBlock block;
  std::memcpy(block.data(), contents.data(), block.size());
  HoldHeader header = std::get<HoldHeader>(decode(block));
  header.id_bytes = 12 - sizeof(Vertex);
  for (HoldHeader::Entry& entry : header.arrays) {
    if (entry.kind != HoldHeader::out_neighbours && entry.kind != HoldHeader::in_neighbours)
      continue;
    std::string ids;
    for (std::uint64_t i = 0; i < entry.array.count; ++i) {
      const std::string id =
          contents.substr(entry.array.offset + i * sizeof(Vertex), sizeof(Vertex));
      ids += (id + std::string(4, '\0')).substr(0, header.id_bytes);
    }
    entry.array.element_bytes = header.id_bytes;
    entry.array.checksum = piece_checksum(std::as_bytes(std::span(ids)), 0);
    contents.replace(entry.array.offset, ids.size(), ids);
  }
  block = encode(header);
  return contents.replace(0, block.size(), reinterpret_cast<const char*>(block.data()),
                          block.size());
}

TEST(Hold, ids_of_the_other_width_are_read_into_memory) {
  const TemporaryFile file("g.hold", with_other_ids(bytes_of(directed(4, edges), "g.hold")));
  const GraphFile graph = open_graph(file.path());
  EXPECT_FALSE(graph.in_place());
  EXPECT_EQ(graph.vertices, 4u);
  check_contents(graph);
  expect_same(load_graph(file.path()), directed(4, edges));
  expect_same(load_graph(file.path(), {.deduplicate = true}), directed(4, edges));
}

TEST(Hold, a_damaged_id_of_the_other_width_is_found) {
  const std::string good = with_other_ids(bytes_of(directed(4, edges), "g.hold"));
  const Bytes second = 4_MiB + (12 - sizeof(Vertex));
  const std::string outside = with(good, second, std::uint32_t{4});
  const std::string place = fmt::format("byte {}", second);
  expect_says(complaint_of_loading(outside), place + ": the neighbour 4 is outside");
  expect_says(complaint_of_checking(outside), place);
  if (sizeof(Vertex) > 4) return;
  // What would be a neighbour, were its upper half cut off.
  const std::string wide = with(good, second, (std::uint64_t{1} << 32) + 1);
  expect_says(complaint_of_loading(wide), "the neighbour 4294967297 is outside");
}

TEST(Hold, is_told_by_its_contents_and_described_in_place) {
  const TemporaryFile file("anything.txt", bytes_of(directed(4, edges), "g.hold"));
  const GraphFile graph = open_graph(file.path());
  EXPECT_TRUE(graph.in_place());
  EXPECT_EQ(graph.format, Format::hold);
  EXPECT_TRUE(graph.directed);
  EXPECT_EQ(graph.vertices, 4u);
  EXPECT_EQ(graph.edges, 4u);
  for (const FileArray& array :
       {graph.out.offsets, graph.out.neighbours, graph.in.offsets, graph.in.neighbours})
    EXPECT_EQ(array.offset % 2_MiB, 0u);
  EXPECT_EQ(graph.bytes % 2_MiB, 0u);
  EXPECT_TRUE(std::ranges::equal(load_offsets(graph, graph.out),
                                 std::vector<std::uint64_t>{0, 2, 3, 3, 4}));
  EXPECT_TRUE(
      std::ranges::equal(load_offsets(graph, graph.in), std::vector<std::uint64_t>{0, 1, 2, 4, 4}));
  check_contents(graph);
}

TEST(Hold, an_undirected_graph_is_stored_once) {
  const TemporaryFile file("g.hold", bytes_of(undirected(4, edges), "g.hold"));
  const GraphFile graph = open_graph(file.path());
  EXPECT_FALSE(graph.directed);
  EXPECT_EQ(graph.edges, 8u);
  EXPECT_EQ(graph.in.neighbours.offset, graph.out.neighbours.offset);
  check_contents(graph);
}

TEST(Hold, its_bytes_are_those_of_the_document) {
  const std::string bytes = bytes_of(undirected(2, {{0, 1}}), "g.hold");
  const auto number = [&]<typename T>(std::size_t at, T) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    return value;
  };
  const std::uint32_t u32 = 0;
  const std::uint64_t u64 = 0;
  EXPECT_EQ(bytes.substr(0, 8), "\x89HOLD\r\n\x1a");
  EXPECT_EQ(number(8, u32), sizeof(Vertex) == 4 ? 1u : 3u);
  EXPECT_EQ(number(12, u32), 4096u);
  EXPECT_EQ(number(16, u64), 0u);
  EXPECT_EQ(number(24, u64), 2u);
  EXPECT_EQ(number(32, u64), 2u);
  EXPECT_EQ(number(40, u64), 2_MiB);
  EXPECT_EQ(number(48, u64), 6_MiB);
  EXPECT_EQ(number(56, u32), 2u);
  EXPECT_EQ(number(64, u32), 1u);
  EXPECT_EQ(number(68, u32), 8u);
  EXPECT_EQ(number(72, u64), 2_MiB);
  EXPECT_EQ(number(80, u64), 3u);
  EXPECT_EQ(number(128, u32), 2u);
  EXPECT_EQ(number(132, u32), sizeof(Vertex));
  EXPECT_EQ(number(136, u64), 4_MiB);
  EXPECT_EQ(number(144, u64), 2u);
  EXPECT_EQ(number(4_MiB, Vertex{}), 1u);
  EXPECT_EQ(number(4_MiB + sizeof(Vertex), Vertex{}), 0u);
  EXPECT_EQ(bytes.size(), 6_MiB);

  // The checksum of the neighbours 1, 0: one piece of one word or, of ids of 64 bits, two.
  std::uint64_t sum = 0x9e3779b97f4a7c15;
  for (const std::uint64_t word : {1, 0}) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 32;
    if (sizeof(Vertex) == 4) break;
  }
  EXPECT_EQ(number(152, u64), sum);
}

TEST(Hold, a_damaged_header_is_refused) {
  const std::string good = bytes_of(directed(4, edges), "g.hold");
  ASSERT_EQ(complaint_of_opening(good), "");
  expect_says(complaint_of_opening(with(good, 5, '\n')), "altered");
  expect_says(complaint_of_opening(with(good, 8, 4)), "version 4");
  expect_says(complaint_of_opening(with(good, 24, 5)), "byte 4088: the header does not match");
  expect_says(complaint_of_opening(with_sealed(good, 16, 9)), "byte 16: flags 0x9");
  expect_says(complaint_of_opening(with_sealed(good, 24, std::uint64_t{0})), "byte 24: 0 vertices");
  expect_says(complaint_of_opening(with_sealed(good, 24, 5)), "expected 6 of 8");
  expect_says(complaint_of_opening(with_sealed(good, 32, 5)),
              fmt::format("expected 5 of {}", sizeof(Vertex)));
  expect_says(complaint_of_opening(with_sealed(good, 56, 63)), "63 arrays");
  expect_says(complaint_of_opening(with_sealed(good, 56, 2)), "no array 3");
  expect_says(complaint_of_opening(with_sealed(good, 72, 2_MiB + 8)), "byte 64: array 1 begins");
  expect_says(complaint_of_opening(with_sealed(good, 72, 1_TiB)), "leaves a file");
  expect_says(complaint_of_opening(with_sealed(good, 80, ~0ull)), "leaves a file");
  expect_says(complaint_of_opening(with_sealed(good, 68, 0)), "leaves a file");
}

TEST(Hold, a_truncated_file_is_refused) {
  const std::string good = bytes_of(directed(4, edges), "g.hold");
  expect_says(complaint_of_opening(good.substr(0, 100)), "byte 100");
  expect_says(complaint_of_opening(good.substr(0, good.size() - 1)), "get the whole file");
  expect_says(complaint_of_opening(good + "x"), "its header says");
}

TEST(Hold, damaged_arrays_are_found_when_they_are_read) {
  const std::string good = bytes_of(directed(4, edges), "g.hold");
  ASSERT_EQ(complaint_of_checking(good), "");
  const std::string decreasing = with(good, 2_MiB + 8, std::uint64_t{4});
  expect_says(complaint_of_loading(decreasing), "byte 2097168: offset 2 is 3, less than");
  expect_says(complaint_of_checking(decreasing), "byte 2097168");
  const std::string past = with(good, 2_MiB + 16, std::uint64_t{99});
  expect_says(complaint_of_loading(past), "byte 2097168: offset 2 is 99, past the 4 edges");
  expect_says(complaint_of_loading(with(good, 2_MiB, std::uint64_t{1})), "expected 0");
  expect_says(complaint_of_loading(with(good, 2_MiB + 32, std::uint64_t{3})),
              "the last offset is 3");
  const std::string outside = with(good, 4_MiB + sizeof(Vertex), 4);
  const std::string place = fmt::format("byte {}", 4_MiB + sizeof(Vertex));
  expect_says(complaint_of_loading(outside), place + ": the neighbour 4 is outside");
  expect_says(complaint_of_checking(outside), place);
  const std::string other = with(good, 4_MiB, 0);
  EXPECT_EQ(complaint_of_loading(other), "");
  expect_says(complaint_of_checking(other), "checksum");
}

TEST(Serialized, has_the_layout_of_gap) {
  const std::string bytes = bytes_of(undirected(3, {{0, 1}, {1, 2}}), "g.sg");
  ASSERT_EQ(bytes.size(), 17u + 4 * 8 + 4 * 4);
  EXPECT_EQ(bytes[0], 0);
  std::uint64_t numbers[6];
  std::memcpy(numbers, bytes.data() + 1, sizeof(numbers));
  EXPECT_EQ(numbers[0], 4u);  // neighbours stored
  EXPECT_EQ(numbers[1], 3u);
  EXPECT_EQ(numbers[2], 0u);
  EXPECT_EQ(numbers[3], 1u);
  EXPECT_EQ(numbers[5], 4u);
  EXPECT_EQ(bytes_of(directed(3, {{0, 1}}), "g.sg").size(), 17u + 2 * (4 * 8 + 4));
}

TEST(Serialized, is_described_in_place_at_any_byte) {
  const TemporaryFile file("g", bytes_of(directed(4, edges), "g.sg"));
  const GraphFile graph = open_graph(file.path());
  EXPECT_EQ(graph.format, Format::serialized);
  EXPECT_TRUE(graph.is_arrays());
  EXPECT_EQ(graph.in_place(), sizeof(Vertex) == 4);
  EXPECT_EQ(graph.out.offsets.offset, 17u);
  EXPECT_EQ(graph.out.neighbours.offset, 17u + 5 * 8);
  EXPECT_EQ(graph.in.offsets.offset, 17u + 5 * 8 + 4 * 4);
  check_contents(graph);
}

TEST(Serialized, what_is_wrong_is_named) {
  const std::string good = bytes_of(directed(4, edges), "g.sg");
  for (std::size_t length = 1; length < good.size(); ++length)
    EXPECT_NE(complaint_of_opening(good.substr(0, length)), "") << length;
  expect_says(complaint_of_opening(good + '\0'), "should have 129 bytes, and has 130");
  expect_says(complaint_of_opening(with(good, 9, std::int64_t{-1})), "byte 9");
  expect_says(complaint_of_opening(with(good, 9, std::int64_t{0})), "byte 9");
  expect_says(complaint_of_opening(with(good, 1, std::int64_t{-1})), "byte 1:");
  expect_says(complaint_of_loading(with(good, 57, std::int32_t{-1})), "byte 57");
  expect_says(complaint_of_loading(with(good, 25, std::int64_t{-1})), "byte 25");
}

TEST(Serialized, unsorted_lists_are_sorted_when_loaded) {
  std::string bytes = bytes_of(directed(4, edges), "g.sg");
  bytes = with(with(bytes, 57, 2), 61, 1);
  const TemporaryFile file("g.sg", bytes);
  expect_same(load_graph(file.path()), directed(4, edges));
}

TEST(Files, that_are_no_graphs_are_refused_with_the_remedy) {
  expect_says(complaint([] { (void)open_graph("/nonexistent/graph"); }), "check the path");
  expect_says(complaint([] { (void)open_graph("/tmp"); }), "no ordinary file");
  expect_says(complaint([] { (void)open_graph("/dev/null"); }), "no ordinary file");
  expect_says(complaint_of_opening(""), "empty");
  expect_says(complaint_of_opening("BZh9"), "bunzip2");
  expect_says(complaint_of_opening("PK\x03\x04"), "unzip");
  expect_says(complaint_of_loading("\x1f\x8b\x08"), "cut short");
  expect_says(complaint_of_loading("\x28\xb5\x2f\xfd\x01"), "zstd");
  expect_says(complaint_of_opening("\x7f"
                                   "ELF"),
              "no known kind");
  expect_says(complaint_of_opening(std::string("\0\0\0", 3)), "no known kind");
  expect_says(complaint_of_opening("\xff\xfe"
                                   "0"),
              "UTF-8");
}

TEST(Files, a_pipe_is_refused_and_not_waited_for) {
  const TemporaryFile file("pipe");
  ASSERT_EQ(::mkfifo(file.path().c_str(), 0600), 0);
  expect_says(complaint([&] { (void)open_graph(file.path()); }), "no ordinary file");
}

TEST(Files, text_must_be_loaded) {
  const TemporaryFile file("graph.hold", "0 1\n");
  const GraphFile graph = open_graph(file.path());
  EXPECT_EQ(graph.format, Format::text);
  EXPECT_FALSE(graph.in_place());
}

TEST(Files, a_change_after_opening_is_an_error) {
  const TemporaryFile file("g.hold", bytes_of(directed(4, edges), "g.hold"));
  const GraphFile graph = open_graph(file.path());
  check_unchanged(graph);
  std::filesystem::resize_file(file.path(), 4_MiB);
  expect_says(complaint([&] { check_unchanged(graph); }), "changed");
  expect_says(complaint([&] { (void)load_offsets(graph, graph.out); }), "changed");
}

TEST(Writing, names_the_endings_there_are) {
  expect_says(complaint([] { (void)output_of("graph.xyz"); }),
              ".hold, .sg, .wsg, .el, .wel, .txt, .mtx, .bcsr, .bwcsr, .bel");
}

TEST(Writing, leaves_nothing_behind_when_it_fails) {
  const TemporaryFile file("g.hold");
  expect_says(complaint([&] { write_graph(directed(2, {}), file.path() / "no" / "g.hold"); }),
              "cannot create it");
  expect_says(complaint([] { write_graph(directed(2, {}), "/dev/full", Output::text); }),
              "no ordinary file");
  expect_says(complaint([&] { convert(file.path(), file.path()); }), "check the path");
  EXPECT_TRUE(std::filesystem::is_empty(file.path().parent_path()));
}

// A limit on the size of files stands in for a full disk.
TEST(Writing, what_cannot_be_written_whole_is_not_written) {
  const TemporaryFile file("g.hold");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const std::string message = complaint([&] { write_graph(directed(4, edges), file.path()); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  expect_says(message, "cannot write it");
  EXPECT_TRUE(std::filesystem::is_empty(file.path().parent_path()));
}

TEST(Writing, replaces_a_file_whole) {
  const TemporaryFile file("g.el", std::string(1000, 'x'));
  write_graph(directed(2, {{0, 1}}), file.path());
  EXPECT_EQ(file.contents(), "0 1\n");
}

}  // namespace
}  // namespace holdall::graph
