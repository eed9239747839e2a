// The small language of the graph tests: graphs as the edges that one reads, files that vanish.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/graph/build.hpp"
#include "apps/graph/error.hpp"
#include "apps/graph/load.hpp"

namespace holdall::graph {

using Edges = std::vector<Edge>;

inline std::ostream& operator<<(std::ostream& out, const Edge& edge) {
  return out << edge.from << "->" << edge.to;
}

// The entries of `adjacency`, in order.
inline Edges edges_of(const Adjacency& adjacency) {
  Edges edges;
  for (std::uint64_t v = 0; v + 1 < adjacency.offsets.size(); ++v)
    for (const Vertex to : adjacency.of(v)) edges.push_back({static_cast<Vertex>(v), to});
  return edges;
}
inline Edges edges_of(const Csr& csr) { return edges_of(csr.out); }

inline void expect_same(const Csr& a, const Csr& b) {
  EXPECT_EQ(a.directed, b.directed);
  EXPECT_EQ(a.vertices(), b.vertices());
  EXPECT_TRUE(std::ranges::equal(a.out.offsets, b.out.offsets));
  EXPECT_TRUE(std::ranges::equal(a.out.neighbours, b.out.neighbours));
  EXPECT_TRUE(std::ranges::equal(a.in().offsets, b.in().offsets));
  EXPECT_TRUE(std::ranges::equal(a.in().neighbours, b.in().neighbours));
  EXPECT_TRUE(std::ranges::equal(a.original_ids, b.original_ids));
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_TRUE(std::ranges::equal(a.out.weights, b.out.weights));
  EXPECT_TRUE(std::ranges::equal(a.in().weights, b.in().weights));
}

// The edges with their weights, in order, as one would write them.
inline std::vector<std::string> weighted_edges_of(const Csr& csr, const Adjacency& adjacency) {
  std::vector<std::string> edges;
  for (std::uint64_t v = 0; v + 1 < adjacency.offsets.size(); ++v)
    for (std::uint64_t e = adjacency.offsets[v]; e < adjacency.offsets[v + 1]; ++e) {
      std::ostringstream text;
      text << v << ' ' << adjacency.neighbours[e];
      if (csr.weights == Weights::int32) text << ' ' << adjacency.weights[e];
      if (csr.weights == Weights::float32)
        text << ' ' << std::bit_cast<float>(adjacency.weights[e]);
      edges.push_back(text.str());
    }
  return edges;
}
inline std::vector<std::string> weighted_edges_of(const Csr& csr) {
  return weighted_edges_of(csr, csr.out);
}

inline Csr undirected(std::uint64_t vertices, Edges edges) {
  return build_csr(EdgeList(vertices, std::move(edges)), {.symmetrize = true});
}
inline Csr directed(std::uint64_t vertices, Edges edges) {
  return build_csr(EdgeList(vertices, std::move(edges)));
}

// A name in a directory of its own, which goes when this does.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view name = "graph") {
    std::string pattern = (std::filesystem::temp_directory_path() / "holdall-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path_ = directory_ / name;
  }
  TemporaryFile(std::string_view name, std::string_view contents) : TemporaryFile(name) {
    write(contents);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  void write(std::string_view contents) const {
    std::ofstream(path_, std::ios::binary) << contents;
  }
  std::string contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path directory_, path_;
};

inline Csr parsed(std::string_view text, const LoadOptions& options = {},
                  LoadReport* report = nullptr) {
  const TemporaryFile file("graph.txt", text);
  return load_graph(file.path(), options, report);
}

// What a call complains of; empty if it does not.
template <typename Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (const GraphError& error) {
    return error.what();
  }
  return {};
}
inline std::string complaint_about(std::string_view text, const LoadOptions& options = {}) {
  return complaint([&] { (void)parsed(text, options); });
}

inline void expect_says(const std::string& message, std::string_view part) {
  EXPECT_NE(message.find(part), message.npos) << "'" << message << "' lacks '" << part << "'";
}

}  // namespace holdall::graph
