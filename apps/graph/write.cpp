#include "apps/graph/write.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <string_view>

#include "apps/graph/error.hpp"
#include "apps/graph/file.hpp"
#include "apps/graph/write_binary.hpp"

namespace holdall::graph {

namespace {

// A float that is whole keeps a point, so that it is read as a float again.
char* put_weight(char* at, char* end, std::uint32_t bits, Weights kind) {
  if (kind == Weights::int32) return std::to_chars(at, end, bits).ptr;
  char* const last = std::to_chars(at, end, std::bit_cast<float>(bits)).ptr;
  if (std::string_view(at, static_cast<std::size_t>(last - at)).find_first_of(".e") !=
      std::string_view::npos)
    return last;
  last[0] = '.';
  last[1] = '0';
  return last + 2;
}

struct Lines {
  std::string head = {};
  std::uint64_t base = 0;  // the id of the first vertex
  bool lower = false;      // undirected edges as `greater smaller`
  bool weighted = false;
};

// A line an edge: pieces of the edges are formatted by all threads and written in order.
void write_lines(const Csr& csr, NewFile& file, const Lines& lines_of) {
  constexpr std::uint64_t piece_edges = 1 << 15;
  const auto& offsets = csr.out.offsets;
  const auto format = [&](std::uint64_t first) {
    const std::uint64_t last = std::min(first + piece_edges, csr.edges());
    auto v = static_cast<std::uint64_t>(std::upper_bound(offsets.begin(), offsets.end(), first) -
                                        offsets.begin()) -
             1;
    std::string lines((last - first) * (lines_of.weighted ? 48 : 22), '\0');
    char* at = lines.data();
    char* const end = at + lines.size();
    for (std::uint64_t e = first; e < last; ++e) {
      while (offsets[v + 1] <= e) ++v;
      const std::uint64_t to = csr.out.neighbours[e];
      if (!csr.directed && (lines_of.lower ? to > v : to < v)) continue;
      at = std::to_chars(at, end, v + lines_of.base).ptr;
      *at++ = ' ';
      at = std::to_chars(at, end, to + lines_of.base).ptr;
      if (lines_of.weighted) {
        *at++ = ' ';
        at = put_weight(at, end, csr.out.weights[e], csr.weights);
      }
      *at++ = '\n';
    }
    lines.resize(static_cast<std::size_t>(at - lines.data()));
    return lines;
  };

  file.write(0, lines_of.head.data(), lines_of.head.size());
  Bytes end = lines_of.head.size();
  std::uint64_t next = 0;
  using tbb::filter_mode;
  tbb::parallel_pipeline(
      16, tbb::make_filter<void, std::uint64_t>(filter_mode::serial_in_order,
                                                [&](tbb::flow_control& control) {
                                                  const std::uint64_t first = next;
                                                  if (first >= csr.edges()) control.stop();
                                                  next += piece_edges;
                                                  return first;
                                                }) &
              tbb::make_filter<std::uint64_t, std::string>(filter_mode::parallel, format) &
              tbb::make_filter<std::string, void>(filter_mode::serial_in_order,
                                                  [&](const std::string& lines) {
                                                    file.write(end, lines.data(), lines.size());
                                                    end += lines.size();
                                                  }));
}

void write_matrix_market(const Csr& csr, NewFile& file) {
  std::uint64_t entries = csr.edges();
  if (!csr.directed) entries = (entries + summarize(csr).self_loops) / 2;
  const char* const field = csr.weights == Weights::none    ? "pattern"
                            : csr.weights == Weights::int32 ? "integer"
                                                            : "real";
  write_lines(csr, file,
              {.head = fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", field,
                                   csr.directed ? "general" : "symmetric", csr.vertices(),
                                   csr.vertices(), entries),
               .base = 1,
               .lower = true,
               .weighted = csr.weights != Weights::none});
}

struct Ending {
  std::string_view ending;
  Output output;
  bool weighted;  // for graphs with weights alone
};
constexpr Ending endings[] = {
    {".hold", Output::hold, false},
    {".sg", Output::serialized, false},
    {".wsg", Output::weighted_serialized, true},
    {".el", Output::edge_list, false},
    {".wel", Output::weighted_edge_list, true},
    {".txt", Output::text, false},
    {".mtx", Output::matrix_market, false},
    {".bcsr", Output::subway, false},
    {".bwcsr", Output::weighted_subway, true},
    {".bel", Output::emogi, false},
};

}  // namespace

Output output_of(const std::filesystem::path& path) {
  const std::string given = path.extension().string();
  std::string known;
  for (const auto& [ending, output, weighted] : endings) {
    if (given == ending) return output;
    known.append(known.empty() ? "" : ", ").append(ending);
  }
  throw GraphError(path, {},
                   fmt::format("'{}' names no format to write; expected one of {}", given, known));
}

void write_graph(const Csr& csr, const std::filesystem::path& path, Output output) {
  const auto ending = std::ranges::find(endings, output, &Ending::output);
  if (ending->weighted && csr.weights == Weights::none)
    throw GraphError(path, {},
                     fmt::format("a {} file has weights, and the graph has none", ending->ending),
                     "give it some (--weights), or choose another format");
  if (output == Output::emogi) {
    write_emogi(csr, path);
    return;
  }
  NewFile file(path);
  switch (output) {
    case Output::hold:
      write_hold(csr, file);
      break;
    case Output::serialized:
    case Output::weighted_serialized:
      write_serialized(csr, file, path, ending->weighted);
      break;
    case Output::text:
    case Output::edge_list:
    case Output::weighted_edge_list:
      write_lines(csr, file,
                  {.weighted = output != Output::edge_list && csr.weights != Weights::none});
      break;
    case Output::matrix_market:
      write_matrix_market(csr, file);
      break;
    case Output::subway:
    case Output::weighted_subway:
      write_subway(csr, file, path, ending->weighted);
      break;
    case Output::emogi:
      break;
  }
  file.finish();
}

void convert(const std::filesystem::path& from, const std::filesystem::path& to,
             const LoadOptions& options, LoadReport* report) {
  const Output output = output_of(to);
  write_graph(load_graph(from, options, report), to, output);
}

}  // namespace holdall::graph
