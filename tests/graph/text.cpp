#include "apps/graph/text.hpp"

#include <random>

#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

const Edges path = {{0, 1}, {1, 2}, {2, 3}};

TEST(Text, reads_any_blank_and_line_end) {
  for (const std::string_view text :
       {"0 1\n1 2\n2 3\n", "0\t1\n1\t2\n2\t3\n", "0,1\n1,2\n2,3\n", "0;1\n1;2\n2;3\n",
        "0 1\r\n1 2\r\n2 3\r\n", "0 1\r1 2\r2 3\r", "0 1\r1 2\r2 3", "0 1\n1 2\n2 3",
        "  0   1  \n\t1 \t 2\n2, 3  ", "\n\n0 1\n\n1 2\n \n2 3\n\n", "\n\r\n0 1\n1 2\n\r\n2 3\n",
        "\xef\xbb\xbf"
        "0 1\n1 2\n2 3\n",
        "00 01\n1 2\n2 0000000000003\n"})
    EXPECT_EQ(edges_of(parsed(text)), path) << text;
}

TEST(Text, passes_over_comments_and_headers) {
  for (const std::string_view text :
       {"# name 4 3 1\n0 1\n1 2\n2 3\n", "% sides\n%\n0 1\n1 2\n2 3\n",
        "0 1\n# between\n1 2 # behind\n2 3%behind\n", "  # indented\n0 1\n1 2\n2 3\n#",
        "source,target\n0,1\n1,2\n2,3\n", "\"id_1\",\"id_2\"\n0,1\n1,2\n2,3\n",
        "# Nodes: 4 Edges: 3\r\n# FromNodeId\tToNodeId\r\n0 1\r\n1 2\r\n2 3\r\n"})
    EXPECT_EQ(edges_of(parsed(text)), path) << text;
}

TEST(Text, passes_over_further_numeric_columns_where_told_to) {
  EXPECT_EQ(edges_of(parsed("0 1 5\n1 2 -1.5e-3\n2 3 nan 1082040961\n", {.unweighted = true})),
            path);
  EXPECT_EQ(edges_of(parsed("0 1\n1 2 -1.5e-3\n2 3 7\n")), path);  // the first line has none
}

TEST(Text, a_third_column_holds_weights) {
  const std::vector<std::string> whole = {"0 1 5", "1 2 0", "2 3 2147483647"};
  for (const std::string_view text :
       {"0 1 5\n1 2 0\n2 3 2147483647\n", "0\t1\t5\t9 9\r\n1,2,0\r\n2;3;2147483647",
        "from,to,weight\n0,1,5\n1,2,0\n2,3,2147483647\n", "# c\n0 1 5 # c\n1 2 0\n2 3 2147483647",
        "4 3\n0 1 5\n1 2 0\n2 3 2147483647\n"}) {
    const Csr csr = parsed(text);
    EXPECT_EQ(csr.weights, Weights::int32);
    EXPECT_EQ(weighted_edges_of(csr), whole) << text;
    EXPECT_EQ(weighted_edges_of(csr, csr.in()),
              (std::vector<std::string>{"1 0 5", "2 1 0", "3 2 2147483647"}));
  }
  const Csr csr = parsed("0 1 5\n1 2 +2.5e-1\n2 3 2147483648\n3 4 -0\n");
  EXPECT_EQ(csr.weights, Weights::float32);
  EXPECT_EQ(weighted_edges_of(csr),
            (std::vector<std::string>{"0 1 5", "1 2 0.25", "2 3 2.14748e+09", "3 4 0"}));
  EXPECT_EQ(parsed("% sym unweighted\n1 2 9\n").weights, Weights::none);
}

TEST(Text, of_repeated_edges_the_one_of_least_weight_is_kept) {
  const LoadOptions options{.symmetrize = true, .deduplicate = true};
  EXPECT_EQ(weighted_edges_of(parsed("0 1 7\n1 0 3\n0 1 5\n1 1 2\n", options)),
            (std::vector<std::string>{"0 1 3", "1 0 3", "1 1 2"}));
  EXPECT_EQ(weighted_edges_of(parsed("0 1 0.5\n0 1 0.25\n", {.deduplicate = true})),
            (std::vector<std::string>{"0 1 0.25"}));
}

TEST(Text, relabelling_puts_the_greatest_degree_first_and_keeps_the_ids) {
  const Csr csr =
      parsed("7 9 1\n8 9 2\n9 30 3\n30 8 4\n",
             {.symmetrize = true, .compact = true, .relabel = LoadOptions::Relabel::degree});
  EXPECT_TRUE(std::ranges::equal(csr.original_ids, std::vector<Vertex>{9, 8, 30, 7}));
  EXPECT_EQ(weighted_edges_of(csr), (std::vector<std::string>{"0 1 2", "0 2 3", "0 3 1", "1 0 2",
                                                              "1 2 4", "2 0 3", "2 1 4", "3 0 1"}));
}

// Blocks are parsed apart; the only fraction may be in any.
TEST(Text, one_fraction_makes_all_weights_floats) {
  std::string text;
  Edges edges;
  std::vector<std::uint32_t> weights;
  for (std::uint32_t i = 0; i < 60'000; ++i) {
    text += std::to_string(i % 500) + " " + std::to_string(i % 77) + " " +
            std::to_string(i % 1000) + (i == 55'000 ? ".5\n" : "\n");
    edges.push_back({i % 500, i % 77});
    weights.push_back(
        std::bit_cast<std::uint32_t>(static_cast<float>(i % 1000) + (i == 55'000 ? 0.5F : 0)));
  }
  const Csr all = build_csr(EdgeList(500, edges, Weights::float32, weights));
  expect_same(parsed(text), all);
  expect_same(parsed(text, {.memory = 2_MiB}), all);  // parsed again, not kept
}

TEST(Text, keeps_gaps_in_ids) {
  const Csr csr = parsed("7 100\n");
  EXPECT_EQ(csr.vertices(), 101u);
  EXPECT_EQ(edges_of(csr), (Edges{{7, 100}}));
}

TEST(Text, is_directed_unless_it_is_asked_or_said_otherwise) {
  EXPECT_TRUE(parsed("0 1\n").directed);
  EXPECT_EQ(edges_of(parsed("0 1\n", {.symmetrize = true})), (Edges{{0, 1}, {1, 0}}));
  EXPECT_FALSE(parsed("% sym unweighted\n1 2\n").directed);
  EXPECT_TRUE(parsed("% asym unweighted\n1 2\n").directed);
  expect_says(complaint_about("% bip unweighted\n1 2\n"), "line 1");
}

TEST(Text, a_bare_header_that_can_be_no_edge_is_none) {
  const Csr csr = parsed("3 5\n0 1\n1 2\n2 0\n0 2\n1 0\n");
  EXPECT_EQ(csr.vertices(), 3u);
  EXPECT_EQ(csr.edges(), 5u);
  EXPECT_EQ(parsed("3 5\n1 2\n2 3\n3 1\n1 3\n2 1\n").vertices(), 4u);  // counted from 1
  EXPECT_EQ(parsed("9 10\n0 1\n1 2\n2 0\n0 2\n1 0\n0 1\n1 2\n2 0\n0 2\n1 0\n").vertices(), 9u);
}

TEST(Text, a_bare_header_that_could_be_an_edge_is_one_and_a_note_says_so) {
  LoadReport report;
  EXPECT_EQ(parsed("3 2\n0 1\n1 2\n", {}, &report).edges(), 3u);
  ASSERT_EQ(report.notes.size(), 1u);
  expect_says(report.notes[0], "line 1");
  EXPECT_EQ(parsed("3 2\n0 1\n1 2\n", {.header = LoadOptions::Header::present}).edges(), 2u);
  EXPECT_EQ(parsed("3 5\n0 1\n1 2\n2 0\n0 2\n1 0\n", {.header = LoadOptions::Header::none}).edges(),
            6u);
}

TEST(Text, a_header_that_must_be_there_is_held_to_its_counts) {
  const std::string message =
      complaint_about("# c\n3 5\n0 1\n", {.header = LoadOptions::Header::present});
  expect_says(message, "line 2");
  expect_says(message, "5 edges");
}

TEST(Text, counts_of_a_comment_that_are_wrong_are_noted) {
  LoadReport report;
  (void)parsed("# name 9 4 2\n0 1\n1 2\n", {}, &report);
  ASSERT_EQ(report.notes.size(), 1u);
  expect_says(report.notes[0], "4 edges");
  EXPECT_EQ(report.edges_read, 2u);
}

TEST(Text, bad_lines_are_named) {
  const auto expect_line = [](std::string_view text, std::string_view line,
                              std::string_view problem) {
    const std::string message = complaint_about(text);
    expect_says(message, line);
    expect_says(message, problem);
  };
  expect_line("0 1\n1 x\n", "line 2", "'x' is no vertex id");
  expect_line("0 1\r\n1 2\r\nabc 1\r\n", "line 3", "'abc'");
  expect_line("0 1\r1 2\rabc 1\r", "line 3", "'abc'");
  expect_line("# c\n0 1\n5\n", "line 3", "one column");
  expect_line("0 1\n-3 2\n", "line 2", "-3 is negative");
  expect_line(fmt::format("0 1\n0 {}\n", most_vertices), "line 2",
              fmt::format("out of range; expected 0 to {}", most_vertices - 1));
  expect_line("0 1\n99999999999999999999999999 2\n", "line 2", "out of range");
  expect_line("0 1\n1.5 2\n", "line 2", "'1.5'");
  expect_line("0 1\n1 2 weight\n", "line 2", "'w'");
  expect_line("0 1 5\n1 2 weight\n", "line 2", "'weight' is no weight");
  expect_line("0 1 5\n1 2\n", "line 2", "two columns; a weight");
  expect_line("0 1 5\n1 2 -7\n", "line 2", "-7 is negative");
  expect_line("0 1 5\n1 2 nan\n", "line 2", "nan is out of range");
  expect_line("0 1 5\n1 2 1e39\n", "line 2", "1e39 is out of range");
  expect_line("0 1 5\n1 2 5x\n", "line 2", "'5x' is no weight");
  expect_line("names here\nand here\n", "line 2", "'and'");
  expect_line("0 1\n1", "line 2", "one column");
  expect_line("0 1\n\xc3\xa9 2\n", "line 2",
              "'?"
              "?'");
}

TEST(Text, without_edges_is_refused) {
  expect_says(complaint_about("# nothing\n"), "no edges");
  expect_says(complaint_about("\n"), "no edges");
  expect_says(complaint_about(""), "empty");
}

TEST(Text, one_huge_id_asks_for_compact_rather_than_for_memory) {
  const LoadOptions little{.memory = 64_MiB};
  expect_says(complaint_about("0 4294967295\n", little), "compact");
}

// Blocks of 256 KiB are parsed apart: no line may be lost or read twice, wherever they are cut.
TEST(Text, lines_across_block_ends_are_read_once) {
  std::mt19937_64 random(3);
  for (const std::string_view line_end : {"\n", "\r\n", "\r"}) {
    std::string text;
    Edges edges;
    while (text.size() < 1'100'000) {
      edges.push_back(
          {static_cast<Vertex>(random() % 3000), static_cast<Vertex>(edges.size() % 5000)});
      text.append(random() % 4, ' ');
      text += std::to_string(edges.back().from) + " " + std::to_string(edges.back().to);
      if (random() % 16 == 0) text.append(random() % 900, '\t');
      text += line_end;
      if (random() % 64 == 0) text.append("# ").append(random() % 2000, 'x').append(line_end);
    }
    const Csr all = directed(5000, edges);
    expect_same(parsed(text), all);
    expect_same(parsed(text, {.memory = 16_MiB}), all);  // parsed again, not kept
  }
}

TEST(Text, the_first_of_many_bad_lines_is_told) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += i % 50'000 == 40'000 ? "bad 1\n" : "1 2\n";
  expect_says(complaint_about(text), "line 40001:");
}

TEST(Text, a_line_longer_than_a_block_is_one_line) {
  const std::string text = "0 1\n1 2 " + std::string(1'000'000, '7') + "\n2 3\n";
  EXPECT_EQ(edges_of(parsed(text)), path);
}

TEST(Text, comments_longer_than_a_block_are_passed_over) {
  const std::string text = "#" + std::string(700'000, 'x') + "\n0 1\n1 2\n2 3\n";
  EXPECT_EQ(edges_of(parsed(text)), path);
}

}  // namespace
}  // namespace holdall::graph
