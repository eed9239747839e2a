#include "apps/policy/synthesise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "apps/policy/error.hpp"

namespace holdall::lab {

namespace {

// Of the generator's bits alone, so that every standard library makes the same trace.
class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  double share() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }  // 0 to 1
  std::uint64_t below(std::uint64_t n) { return generator_() % n; }

 private:
  std::mt19937_64 generator_;
};

// Rank r, from 0, with a chance as 1 / (r + 1)^skew.
class Zipf {
 public:
  Zipf(std::uint64_t n, double skew) : sums_(n) {
    double sum = 0;
    for (std::uint64_t i = 0; i < n; ++i)
      sums_[i] = sum += std::pow(static_cast<double>(i + 1), -skew);
  }
  std::uint64_t draw(Random& random) const {
    const auto at = std::ranges::lower_bound(sums_, random.share() * sums_.back());
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(at - sums_.begin()),
                                   sums_.size() - 1);
  }

 private:
  std::vector<double> sums_;
};

std::vector<std::uint64_t> shuffled(std::uint64_t n, Random& random) {
  std::vector<std::uint64_t> order(n);
  for (std::uint64_t i = 0; i < n; ++i) order[i] = i;
  for (std::uint64_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

// The chunk of request i.
std::function<std::uint64_t(std::uint64_t)> chunk_at(const Synthesis& what, Random& random) {
  const std::uint64_t n = what.chunks;
  const std::uint64_t window = std::clamp<std::uint64_t>(what.window ? what.window : n / 10, 1, n);
  if (what.pattern == "zipf")
    return [zipf = Zipf(n, what.skew), order = shuffled(n, random), &random](std::uint64_t) {
      return order[zipf.draw(random)];
    };
  if (what.pattern == "scan") return [](std::uint64_t i) { return i; };
  if (what.pattern == "loop") return [n](std::uint64_t i) { return i % n; };
  if (what.pattern == "forward-backward")
    return [n](std::uint64_t i) { return i / n % 2 ? n - 1 - i % n : i % n; };
  if (what.pattern ==
      "graph-sweep")  // three edge chunks in order, then one of the vertices, by popularity
    return [n, vertices = std::max<std::uint64_t>(1, n / 10),
            zipf = Zipf(std::max<std::uint64_t>(1, n / 10), 1), edge = std::uint64_t{0},
            &random](std::uint64_t i) mutable {
      if (i % 4 == 3) return zipf.draw(random);
      return n == vertices ? 0 : vertices + edge++ % (n - vertices);
    };
  if (what.pattern ==
      "frontier")  // within a window that moves on by one chunk for each of its size of requests
    return
        [n, window, &random](std::uint64_t i) { return (i / window + random.below(window)) % n; };
  if (what.pattern == "shift")  // zipf, over a hot set that is another one after every n requests
    return [n, window, zipf = Zipf(n, what.skew), &random](std::uint64_t i) {
      return (zipf.draw(random) + i / n * window) % n;
    };
  std::string names;
  for (const Pattern& pattern : patterns())
    names += (names.empty() ? "" : ", ") + std::string(pattern.name);
  throw LabError(fmt::format("no pattern '{}'; there are {}", what.pattern, names));
}

}  // namespace

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all{
      {"zipf", "by popularity, as 1 / rank^skew"},
      {"scan", "every request another chunk"},
      {"loop", "all chunks in order, again and again"},
      {"forward-backward", "all chunks in order, then backwards"},
      {"graph-sweep", "edges in order, with popular vertices between them"},
      {"frontier", "at random in a window that moves on"},
      {"shift", "by popularity, over a hot set that moves"},
  };
  return all;
}

void synthesise(const Synthesis& what, const std::function<void(const TraceRecord&)>& each) {
  if (what.chunks == 0 || what.chunks > std::uint64_t{1} << 31)
    throw LabError(fmt::format("{} chunks: there are 1 to 2^31", what.chunks));
  if (what.requests == 0) throw LabError("0 requests: a trace has at least one");
  if (!(what.writes >= 0 && what.writes <= 1))
    throw LabError(fmt::format("writes {}: a share from 0 to 1", what.writes));
  if (!(what.skew >= 0 && what.skew <= 100))
    throw LabError(fmt::format("skew {}: from 0 to 100", what.skew));
  if (what.bytes == 0) throw LabError("chunks of 0 bytes");
  Random random(what.seed);
  auto chunk = chunk_at(what, random);
  for (std::uint64_t i = 0; i < what.requests; ++i) {
    TraceRecord record{.time = i * 1000, .chunk = chunk(i), .bytes = what.bytes};
    if (what.writes > 0 && random.share() < what.writes) record.kind = trace_write;
    each(record);
  }
}

}  // namespace holdall::lab
