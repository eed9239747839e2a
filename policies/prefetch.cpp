#include "policies/prefetch.hpp"

#include <array>

#include "policies/density_tree.hpp"
#include "policies/names.hpp"

namespace holdall {

namespace {

class None final : public Prefetch {
 public:
  void requested(Key, const KeyRange&, bool, std::vector<Key>&) override {}
};

// The next few behind a chunk that was not resident. Smith, "Sequential program prefetching in
// memory hierarchies", IEEE Computer 11(12), 1978.
class Next final : public Prefetch {
 public:
  explicit Next(std::uint64_t n) : n_(static_cast<std::int64_t>(n)) {}
  void requested(Key chunk, const KeyRange& range, bool resident,
                 std::vector<Key>& wanted) override {
    if (resident) return;
    Key next{};
    for (std::int64_t by = 1; by <= n_ && range.step(chunk, by, next); ++by) wanted.push_back(next);
  }

 private:
  const std::int64_t n_;
};

// Once three requests of a range in a row are equally far apart, the next few at that distance.
// Chen and Baer, "Effective hardware-based data prefetching for high-performance processors", IEEE
// Transactions on Computers 44(5), 1995. The last 16 ranges are remembered.
class Stride final : public Prefetch {
 public:
  explicit Stride(std::uint64_t ahead) : ahead_(static_cast<std::int64_t>(ahead)) {}
  void requested(Key chunk, const KeyRange& range, bool, std::vector<Key>& wanted) override {
    Stream& s = stream(range);
    const auto by = static_cast<std::int64_t>(static_cast<std::uint64_t>(chunk) -
                                              static_cast<std::uint64_t>(s.last));
    if (by == 0 && s.used != 0) return;  // the same chunk again
    const bool steady = s.used != 0 && by == s.stride;
    s = {range.first, chunk, s.used == 0 ? 0 : by, ++now_};
    if (!steady) return;
    Key next{};
    for (std::int64_t i = 1; i <= ahead_ && range.step(chunk, i * by, next); ++i)
      wanted.push_back(next);
  }

 private:
  struct Stream {
    Key range{}, last{};
    std::int64_t stride = 0;
    std::uint64_t used = 0;  // when; 0 for never
  };

  // That of the range, or the one longest unused, emptied.
  Stream& stream(const KeyRange& range) {
    Stream* oldest = &streams_.front();
    for (Stream& s : streams_) {
      if (s.used != 0 && s.range == range.first) return s;
      if (s.used < oldest->used) oldest = &s;
    }
    *oldest = {};
    return *oldest;
  }

  const std::int64_t ahead_;
  std::uint64_t now_ = 0;
  std::array<Stream, 16> streams_;
};

using Prefetchers = policies::Names<Prefetch>;
Prefetchers& prefetchers() {
  static Prefetchers all(
      "prefetcher",
      {{"next",
        {"the next N of a chunk that was missing; n=N (4)",
         [](Parameters& p) { return std::make_unique<Next>(p.count("n", 4, 1, 4096)); }}},
       {"none", {"nothing", [](Parameters&) { return std::make_unique<None>(); }}},
       {"stride",
        {"the next N at the distance of the last three; ahead=N (4)",
         [](Parameters& p) { return std::make_unique<Stride>(p.count("ahead", 4, 1, 4096)); }}},
       {"tree",
        {"what is dense already, as NVIDIA's driver; block=N chunks (512), density=P % (51)",
         policies::make_density_tree}}});
  return all;
}

}  // namespace

std::unique_ptr<Prefetch> make_prefetch(std::string_view spec) { return prefetchers().make(spec); }

void register_prefetch(const PolicyInfo& info,
                       std::function<std::unique_ptr<Prefetch>(Parameters&)> maker) {
  prefetchers().add(info, std::move(maker));
}

std::vector<PolicyInfo> list_prefetchers() { return prefetchers().list(); }

}  // namespace holdall
