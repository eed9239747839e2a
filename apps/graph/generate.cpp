#include "apps/graph/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "apps/graph/build.hpp"
#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): 64 well mixed bits of any 64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Where a level's draw of 32 bits falls: A, then B, then C, then the rest.
constexpr std::uint64_t percent(std::uint64_t n) { return (n << 32) / 100; }
constexpr std::uint64_t to_a = percent(57), to_b = percent(57 + 19), to_c = percent(57 + 19 + 19);

// What all edges of a graph share.
class Drawing {
 public:
  explicit Drawing(const Generator& generator)
      : generator_(generator), start_(mix(generator.seed + golden)) {
    for (std::uint64_t round = 0; round < keys_.size(); ++round)
      keys_[round] = mix(~generator.seed + round * golden);
  }

  Edge edge(std::uint64_t i) const {
    const std::uint64_t start = mix(start_ + i * golden);
    return generator_.kind == Generator::Kind::kron ? kron(start) : urand(start);
  }

 private:
  // Random word `k` of the edge that starts at `start`.
  static std::uint64_t word(std::uint64_t start, std::uint64_t k) {
    return mix(start + (k + 1) * golden);
  }

  Edge kron(std::uint64_t start) const {
    std::uint64_t from = 0, to = 0, draws = 0;
    for (unsigned level = 0; level < generator_.scale; ++level) {
      draws = level % 2 == 0 ? word(start, level / 2) : draws >> 32;
      const std::uint64_t draw = draws & 0xffffffff;
      const bool past_a = draw >= to_a, past_b = draw >= to_b, past_c = draw >= to_c;
      from = from << 1 | (past_b ? 1 : 0);
      to = to << 1 | ((past_a != past_b) != past_c ? 1 : 0);
    }
    return {relabel(from), relabel(to)};
  }

  Edge urand(std::uint64_t start) const {
    const std::uint64_t ends = word(start, 0);
    const unsigned drop = 32 - generator_.scale;
    return {static_cast<Vertex>(ends >> 32 >> drop),
            static_cast<Vertex>((ends & 0xffffffff) >> drop)};
  }

  // A permutation of the numbers of `scale` bits: each step (an odd factor, a shift folded back)
  // can be undone.
  Vertex relabel(std::uint64_t v) const {
    const std::uint64_t mask = generator_.vertices() - 1;
    for (const std::uint64_t key : keys_) {
      v = ((v ^ (key >> 32)) * (key | 1)) & mask;
      v ^= v >> ((generator_.scale + 1) / 2);
    }
    return static_cast<Vertex>(v);
  }

  Generator generator_;
  std::uint64_t start_;
  std::array<std::uint64_t, 4> keys_;
};

class GeneratedEdges final : public EdgeSource {
 public:
  explicit GeneratedEdges(const Generator& generator)
      : generator_(generator), drawing_(generator) {}
  std::uint64_t vertices() const override { return generator_.vertices(); }
  std::uint64_t blocks() const override { return (generator_.edges() + block - 1) / block; }
  std::span<const Edge> read(std::uint64_t index, std::vector<Edge>& scratch) const override {
    const std::uint64_t first = index * block;
    scratch.resize(std::min(block, generator_.edges() - first));
    for (std::uint64_t i = 0; i < scratch.size(); ++i) scratch[i] = drawing_.edge(first + i);
    return scratch;
  }

 private:
  static constexpr std::uint64_t block = 1 << 15;
  Generator generator_;
  Drawing drawing_;
};

constexpr std::string_view kron = "kron:", urand = "urand:";

}  // namespace

bool names_generator(std::string_view text) {
  return text.starts_with(kron) || text.starts_with(urand);
}

Generator parse_generator(std::string_view text, std::uint64_t seed) {
  Generator generator;
  generator.seed = seed;
  generator.kind = text.starts_with(urand) ? Generator::Kind::urand : Generator::Kind::kron;
  const char* at = text.data() + std::min(text.size(), text.find(':') + 1);
  const char* const end = text.data() + text.size();
  bool right = names_generator(text);
  if (right) {
    auto [rest, error] = std::from_chars(at, end, generator.scale);
    right = error == std::errc();
    if (right && rest != end && *rest == ':') {
      const auto result = std::from_chars(rest + 1, end, generator.edge_factor);
      right = result.ec == std::errc();
      rest = result.ptr;
    }
    right = right && rest == end && generator.scale >= 1 && generator.scale <= 32 &&
            generator.edge_factor >= 1 && generator.edge_factor <= 65536;
  }
  if (!right)
    throw GraphError(
        fmt::format("'{}' is no generated graph: write kron:SCALE[:EDGEFACTOR] or "
                    "urand:SCALE[:EDGEFACTOR], scale 1 to 32, edge factor 1 to 65536",
                    text));
  return generator;
}

std::string to_string(const Generator& generator) {
  return fmt::format("{}{}:{}", generator.kind == Generator::Kind::kron ? kron : urand,
                     generator.scale, generator.edge_factor);
}

Edge generate_edge(const Generator& generator, std::uint64_t i) {
  return Drawing(generator).edge(i);
}

Csr generate(const Generator& generator, Bytes memory) {
  return build_csr(
      GeneratedEdges(generator),
      {.symmetrize = true, .deduplicate = true, .remove_self_loops = true, .memory = memory});
}

}  // namespace holdall::graph
