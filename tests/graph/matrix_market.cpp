#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

const std::string general = "%%MatrixMarket matrix coordinate pattern general\n";

TEST(MatrixMarket, counts_from_one_and_points_from_row_to_column) {
  const Csr csr = parsed(general + "% a comment\n\n4 4 2\n1 2\n4 3\n");
  EXPECT_TRUE(csr.directed);
  EXPECT_EQ(csr.vertices(), 4u);
  EXPECT_EQ(edges_of(csr), (Edges{{0, 1}, {3, 2}}));
}

TEST(MatrixMarket, keeps_vertices_without_entries) {
  EXPECT_EQ(parsed(general + "9 9 1\n1 2\n").vertices(), 9u);
  EXPECT_EQ(parsed(general + "3 3 0\n").edges(), 0u);
}

TEST(MatrixMarket, values_are_weights) {
  const auto read = [](const std::string& kind, const std::string& value) {
    return weighted_edges_of(
        parsed("%%MatrixMarket matrix coordinate " + kind + "\n2 2 1\n2 1 " + value + "\n"));
  };
  using Strings = std::vector<std::string>;
  EXPECT_EQ(read("integer general", "7"), Strings{"1 0 7"});
  EXPECT_EQ(read("real general", "7"), Strings{"1 0 7"});
  EXPECT_EQ(read("real general", "2.5e-1"), Strings{"1 0 0.25"});
  EXPECT_EQ(read("integer symmetric", "7"), (Strings{"0 1 7", "1 0 7"}));
  EXPECT_EQ(parsed("%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 7\n").weights,
            Weights::float32);
}

TEST(MatrixMarket, values_that_are_no_weights_are_passed_over_with_a_note) {
  for (const std::string kind : {"complex general", "real skew-symmetric", "complex hermitian"}) {
    LoadReport report;
    const Csr csr =
        parsed("%%MatrixMarket matrix coordinate " + kind + "\n2 2 1\n2 1 -1 -2\n", {}, &report);
    EXPECT_EQ(csr.weights, Weights::none);
    EXPECT_EQ(report.notes.size(), 1u) << kind;
  }
}

TEST(MatrixMarket, every_field_is_read_as_a_pattern_where_told_to) {
  for (const std::string field : {"pattern", "real", "integer", "complex"}) {
    const std::string value = field == "pattern" ? "" : field == "complex" ? " 1.0 -2e5" : " -7";
    EXPECT_EQ(edges_of(parsed("%%MatrixMarket matrix coordinate " + field + " general\n2 2 1\n2 1" +
                                  value + "\n",
                              {.unweighted = true})),
              (Edges{{1, 0}}))
        << field;
  }
}

TEST(MatrixMarket, every_symmetry_but_general_is_undirected) {
  for (const std::string symmetry : {"symmetric", "skew-symmetric", "hermitian"}) {
    const Csr csr = parsed("%%MatrixMarket matrix coordinate real " + symmetry +
                           "\r\n3 3 2\r\n2 1 5\r\n3 3 1\r\n");
    EXPECT_FALSE(csr.directed);
    EXPECT_EQ(edges_of(csr), (Edges{{0, 1}, {1, 0}, {2, 2}})) << symmetry;
  }
}

TEST(MatrixMarket, the_banner_may_be_in_capitals) {
  EXPECT_EQ(parsed("%%matrixmarket MATRIX Coordinate Pattern General\n1 1 1\n1 1\n").edges(), 1u);
}

TEST(MatrixMarket, what_is_wrong_is_named_with_its_line) {
  const auto expect_line = [](const std::string& text, std::string_view line,
                              std::string_view problem) {
    const std::string message = complaint_about(text);
    expect_says(message, line);
    expect_says(message, problem);
  };
  expect_line("%%MatrixMarket matrix array real general\n2 2\n", "line 1", "'array'");
  expect_line("%%MatrixMarket\n2 2\n", "line 1", "expected matrix");
  expect_line("%%MatrixMarket matrix coordinate quaternion general\n", "line 1", "quaternion");
  expect_line(general, "line 2", "ends before");
  expect_line(general + "2 2\n1 1\n", "line 2", "rows, columns and entries");
  expect_line(general + "-2 -2 1\n1 1\n", "line 2", "rows, columns and entries");
  expect_line(general + "2 3 1\n1 1\n", "line 2", "square");
  expect_line(general + "0 0 0\n", "line 2", "no vertices");
  expect_line(general + fmt::format("{0} {0} 1\n1 1\n", most_vertices + 1), "line 2",
              fmt::format("at most {}", most_vertices));
  expect_line(general + "2 2 1\n0 1\n", "line 3", "expected 1 to 2");
  expect_line(general + "2 2 1\n1 3\n", "line 3", "expected 1 to 2");
  expect_line(general + "2 2 2\n1 1\n", "line 2", "promises 2 entries, and 1 follow");
  expect_line(general + "2 2 1\n1 1\n1 2\n", "line 2", "promises 1 entries, and 2 follow");
  expect_line(general + "2 2 1\n1 one\n", "line 3", "'one'");
  const std::string integer = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n";
  expect_line(integer + "1 1\n", "line 3", "two columns");
  expect_line(integer + "1 1 -4\n", "line 3", "-4 is negative");
  expect_line(integer + "1 1 0.5\n", "line 3", "0.5 is not a whole number");
}

}  // namespace
}  // namespace holdall::graph
