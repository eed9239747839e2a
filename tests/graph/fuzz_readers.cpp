// Whatever bytes a file holds, a reader answers with a graph or a GraphError.
//
// A libFuzzer target for a longer run:
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -DHOLDALL_LIBFUZZER -I.
//     tests/graph/fuzz_readers.cpp apps/graph/*.cpp apps/packed/*.cpp engine/vmm/bytes.cpp
//     -ltbb -lfmt -o fuzz
// As a test it runs seeds of every format and some thousands of seeded changes to them.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "apps/graph/error.hpp"
#include "apps/graph/graph_file.hpp"
#include "apps/graph/load.hpp"
#include "tests/fuzz.hpp"

namespace {

// Follows every neighbour, so that one out of range is a touch out of range.
void walk(const holdall::graph::Csr& csr) {
  if (csr.weights != holdall::graph::Weights::none &&
      csr.out.weights.size() != csr.out.neighbours.size())
    std::abort();
  for (const auto weight : csr.out.weights)
    if (weight >= weights_below(csr.weights)) std::abort();
  for (std::uint64_t v = 0; v < csr.vertices(); ++v) {
    for (const auto to : csr.out.of(v))
      if (to >= csr.vertices()) std::abort();
    for (const auto from : csr.in().of(v))
      if (from >= csr.vertices()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdall::graph;
  static const holdall::Scratch scratch;
  scratch.fill(data, size);
  const bool odd = size % 2 != 0;  // of the options, one set for each half of the inputs
  try {
    walk(load_graph(scratch.path(), {.symmetrize = odd,
                                     .deduplicate = odd,
                                     .remove_self_loops = odd,
                                     .compact = !odd,
                                     .memory = std::uint64_t{4} << 20}));
  } catch (const GraphError&) {
  }
  try {
    check_contents(open_graph(scratch.path()));
  } catch (const GraphError&) {
  }
  return 0;
}

#ifndef HOLDALL_LIBFUZZER

#include <cstring>
#include <span>

#include "apps/graph/hold.hpp"
#include "apps/graph/write.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

std::string bytes_of(const Csr& csr, std::string_view name) {
  const TemporaryFile file(name);
  write_graph(csr, file.path());
  return file.contents();
}

// "0 1\n1 2\n", as gzip and zstd pack it.
const std::string gzipped(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x33\x50\x30\xe4\x32\x54\x30\xe2\x02\x00"
    "\x6a\x1d\xbb\xd7\x08\x00\x00\x00",
    28);
const std::string zstandard(
    "\x28\xb5\x2f\xfd\x04\x58\x41\x00\x00\x30\x20\x31\x0a\x31\x20\x32\x0a\x50\xbb\xb4"
    "\x4b",
    21);

// A triangle, with weights of 4 bytes or none.
std::string galois(std::uint64_t version, std::uint64_t weight_bytes) {
  std::string bytes;
  const auto put = [&](std::uint64_t value, std::size_t width) {
    bytes.append(reinterpret_cast<const char*>(&value), width);
  };
  for (const std::uint64_t number : {version, weight_bytes, std::uint64_t{3}, std::uint64_t{3}})
    put(number, 8);
  for (const std::uint64_t end : {1, 2, 3}) put(end, 8);
  for (const std::uint64_t to : {1, 2, 0}) put(to, version == 1 ? 4 : 8);
  if (version == 1) put(0, 4);
  if (weight_bytes > 0)
    for (const std::uint64_t weight : {5, 6, 7}) put(weight, weight_bytes);
  return bytes;
}

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = [] {
    const Edges edges = {{0, 1}, {0, 2}, {1, 2}, {3, 0}, {3, 3}, {0, 1}};
    const Csr weighted = build_csr(EdgeList(4, edges, Weights::int32, {1, 2, 3, 4, 5, 6}));
    return std::vector<std::string>{
        "0 1\n1 2\n2 3\n",
        "# name 4 3 1\n0\t1\r\n1,2\r\n2 3 0.5",
        "% sym\n1 2\n2 3\n",
        "4 5\n0 1\n1 2\n2 3\n3 0\n0 2\n",
        "source,target\n7,70000\n",
        "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 5\n3 3 1e5\n",
        "0 1 5\n1 2 2.5\n2 3 0\n",
        "4 3\n0 1 5\n1 2 2\n2 3 0\n",
        "c roads\np sp 4 3\na 1 2 5\na 2 3 7\nc more\na 4 1 0\n",
        "% c\n4 4 011\n9 2 1 3 4\n1 1 1 3 2\n2 1 4 2 2 4 8\n7 3 8\n",
        "4 3\n2 3\n1\n1 4\n3\n",
        galois(1, 4),
        galois(2, 0),
        bytes_of(weighted, "g.wsg"),
        bytes_of(weighted, "g.bwcsr"),
        bytes_of(directed(4, edges), "g.bcsr"),
        gzipped,
        zstandard,
        bytes_of(weighted, "g.hold"),
        bytes_of(directed(4, edges), "g.sg"),
        bytes_of(undirected(4, edges), "g.sg"),
        bytes_of(undirected(4, edges), "g.hold"),
        bytes_of(directed(4, edges), "g.hold"),
    };
  }();
  return all;
}

constexpr std::string_view characters = "0123456789 \n\r\t,-#%.eE";

TEST(Fuzz, seeds_are_graphs) {
  for (const std::string& seed : seeds()) {
    const TemporaryFile file("g", seed);
    EXPECT_GT(load_graph(file.path(), {.compact = true}).edges(), 0u);
    feed(seed);
  }
}

TEST(Fuzz, changed_seeds_are_graphs_or_errors) {
  Mutator mutator(1, characters);
  for (const std::string& seed : seeds()) {
    const bool big = seed.size() > 1'000'000;
    for (int i = 0; i < (big ? 100 : 500); ++i) feed(mutator.mutate(seed));
  }
}

// A header whose checksum is right lets changes through to what lies behind it.
TEST(Fuzz, changed_headers_with_a_right_checksum_are_graphs_or_errors) {
  Mutator mutator(2, characters);
  for (const std::string& seed : seeds()) {
    if (seed.size() < 1'000'000) continue;
    for (int i = 0; i < 150; ++i) {
      std::string bytes = mutator.mutate(seed);
      if (bytes.size() < 4096) continue;
      const std::uint64_t sum = piece_checksum(std::as_bytes(std::span(bytes)).first(4088), 0);
      std::memcpy(bytes.data() + 4088, &sum, sizeof(sum));
      feed(bytes);
    }
  }
}

}  // namespace
}  // namespace holdall::graph

#endif
