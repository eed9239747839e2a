// Random operations against a plain array. HOLDALL_MODEL_STEPS=N makes it longer; a failure names
// its seed and step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "policies/registry.hpp"
#include "tests/engine/world.hpp"

namespace holdall {
namespace {

class Model {
 public:
  Model(const std::string& policy, int devices, bool all_peers, std::uint64_t seed)
      : random_(seed), w_(config(policy, devices), options(devices, all_peers)) {
    for (int i = 0; i < 3; ++i) reserve();
  }

  void step() {
    switch (pick(16)) {
      case 0:
        return ranges_.size() < 6 ? reserve() : drop();
      case 1:
        return ranges_.size() > 2 ? drop() : reserve();
      case 2:
        return flush();
      case 3:
        return prefetch();
      case 4:
        return advise();
      case 5:
        return set_memory();
      case 6:
        return sweep(Access::read);
      case 7:
        return sweep(pick(2) ? Access::write : Access::overwrite);
      case 8:
        return demand();
      case 9:
        return load();
      case 10:
        return store();
      case 11:
        return chunk_set();
      case 12:
        return two_at_once();
      default:
        return interval();
    }
  }

  void check() {
    const Stats stats = w_.engine.stats();
    Bytes resident = 0;
    for (std::size_t d = 0; d < stats.devices.size(); ++d) {
      EXPECT_LE(w_.host.allocated(static_cast<int>(d)), w_.engine.memory(static_cast<int>(d)));
      ASSERT_EQ(w_.host.health(static_cast<int>(d)), vmm::Status::ok)
          << w_.host.fault(static_cast<int>(d)).value_or(vmm::Fault{}).what;
      resident += stats.devices[d].resident;
    }
    Bytes of_ranges = 0;
    for (const RangeStats& range : stats.ranges) of_ranges += range.resident;
    EXPECT_EQ(resident, of_ranges);
    for (const Mirror& m : ranges_) w_.expect_true_page_table(m.range);
  }

  // Everything, through leases.
  void check_contents() {
    for (Mirror& m : ranges_) {
      expect(m, 0, m.range.size());
    }
  }

 private:
  struct Mirror {
    Words range;
    std::vector<std::uint64_t> want;  // every `every`-th word
    std::filesystem::path path;
    bool writable = true;
    std::string what;
  };

  static Config config(const std::string& policy, int devices) {
    return {.memory = 8 * chunk, .host_memory = 1_GiB, .policy = policy, .devices = devices};
  }
  static vmm::HostOptions options(int devices, bool all_peers) {
    vmm::HostOptions options{.devices = devices, .capacity = 8 * chunk};
    if (!all_peers) {
      options.peers.assign(static_cast<std::size_t>(devices),
                           std::vector<bool>(static_cast<std::size_t>(devices), false));
      for (std::size_t i = 0; i < options.peers.size(); ++i) options.peers[i][i] = true;
    }
    return options;
  }

  std::uint64_t pick(std::uint64_t n) {
    return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random_);
  }
  Mirror& any() { return ranges_[pick(ranges_.size())]; }
  Stream stream() { return w_.streams[pick(w_.streams.size())]; }
  struct Interval {
    std::uint64_t first, count;
  };
  // At most `most` chunks of words.
  Interval part(const Mirror& m, std::uint64_t most) {
    const std::uint64_t size = m.range.size();
    const std::uint64_t first = pick(size);
    const std::uint64_t longest = std::min(size - first, most * m.range.chunk_bytes() / 8);
    return {first, 1 + pick(longest)};
  }
  std::uint64_t fits(const Mirror& m) {
    // A part of n chunks may touch n + 1.
    const std::uint64_t chunks = budget_ / m.range.chunk_bytes();
    return chunks > 1 ? chunks - 1 : 0;
  }

  void reserve() {
    Mirror m;
    const Bytes size = chunk << pick(3);
    const std::uint64_t words = size / 8 * (1 + pick(4)) + pick(size / 8);
    RangeOptions options;
    options.chunk = size;
    m.want.assign((words + every - 1) / every, 0);
    switch (pick(6)) {
      case 0:
        m.what = "zeros";
        break;
      case 1:
        m.what = "pinned";
        options.backing = pinned();
        break;
      case 2:
      case 3: {
        const Bytes junk = pick(2) ? 4096 : pick(5000);
        m.path = folder_.file("file" + std::to_string(++files_), words, 99, junk);
        m.writable = pick(3) > 0;
        for (std::uint64_t i = 0; i < m.want.size(); ++i) m.want[i] = word(i * every, 99);
        m.what = m.writable ? "file rw" : "file ro";
        FileBacking backing{m.path, junk, m.writable,
                            pick(2) ? FileBacking::direct : FileBacking::cached};
        options.backing = backing;
        break;
      }
      default:
        m.what = "host-mapped";
        options.cold = Cold::host_mapped;
        if (pick(2)) {
          m.what = "zeros";
          options.cold = Cold::unmapped;
        }
    }
    m.what += " " + std::to_string(++made_);
    options.name = m.what;
    m.range = w_.engine.reserve<std::uint64_t>(words, options);
    ranges_.push_back(std::move(m));
  }

  void drop() {
    const std::size_t i = pick(ranges_.size());
    Mirror& m = ranges_[i];
    w_.engine.drop(m.range);
    if (!m.path.empty()) {
      const std::vector<std::byte> bytes = bytes_of(m.path);
      const Bytes offset = bytes.size() - m.range.size() * 8;
      std::uint64_t wrong = 0;
      for (std::uint64_t k = 0; k < m.want.size(); ++k) {
        std::uint64_t value = 0;
        std::memcpy(&value, &bytes[offset + k * every * 8], 8);
        wrong += value != m.want[k];
      }
      EXPECT_EQ(wrong, 0u) << m.what << " in its file after a drop";
    }
    ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  // The kernel: compares the words of an interval with the model, then writes the next version of
  // them.
  void kernel(Stream on, Mirror& m, Interval part, bool reads, bool writes) {
    if (writes) ++version_;
    vmm::launch(on, [this, at = m.range.data(), &m, part, reads, writes, version = version_] {
      const std::uint64_t end = part.first + part.count;
      for (std::uint64_t k = (part.first + every - 1) / every; k * every < end; ++k) {
        if (reads && at[k * every] != m.want[k]) ++wrong_;
        if (writes) m.want[k] = at[k * every] = word(k * every, version);
      }
      if (reads && end == m.range.size()) {
        const auto* const last = reinterpret_cast<const std::byte*>(at + end);
        const auto* const limit =
            reinterpret_cast<const std::byte*>(at) + m.range.chunks() * m.range.chunk_bytes();
        wrong_ += static_cast<std::uint64_t>(
            std::any_of(last, limit, [](std::byte b) { return b != std::byte{0}; }));
      }
    });
    w_.engine.synchronize(on);
    EXPECT_EQ(wrong_.exchange(0), 0u)
        << m.what << ", words from " << part.first << ", " << part.count << " of them";
  }

  Access access(const Mirror& m, Access::Kind kind, Interval part) {
    return {&m.range.state(), kind, part.first * 8, part.count * 8, nullptr};
  }
  Access::Kind kind(const Mirror& m) {
    if (!m.writable) return Access::read;
    const std::uint64_t draw = pick(m.range.state().cold == Cold::host_mapped ? 4 : 3);
    return draw == 0   ? Access::read
           : draw == 1 ? Access::write
           : draw == 2 ? Access::overwrite
                       : Access::in_place;
  }

  void interval() {
    Mirror& m = any();
    if (!fits(m)) return;
    const Interval p = part(m, fits(m));
    const Access::Kind k = kind(m);
    const Stream on = stream();
    const Lease lease = w_.engine.acquire(on, {access(m, k, p)});
    kernel(on, m, p, k != Access::overwrite, k == Access::write || k == Access::overwrite);
  }

  void expect(Mirror& m, std::uint64_t first, std::uint64_t count) {
    const Stream on = stream();
    const Access::Kind k = Access::read;
    for (Passes passes =
             w_.engine.passes(on, std::initializer_list<Access>{access(m, k, {first, count})});
         passes.next();)
      each(passes, m, {first, count}, [&](Interval p) { kernel(on, m, p, true, false); });
  }
  template <class F>
  void each(Passes& passes, Mirror& m, Interval whole, F f) {
    const std::uint64_t words = m.range.chunk_bytes() / 8;
    for (const Need& need : passes.parts()) {
      const std::uint64_t first = std::max(whole.first, need.run.first * words);
      const std::uint64_t end =
          std::min(whole.first + whole.count, (need.run.first + need.run.count) * words);
      f(Interval{first, end - first});
    }
  }

  void sweep(Access::Kind k) {
    Mirror& m = any();
    if (!m.writable) k = Access::read;
    const Stream on = stream();
    const Interval whole{0, m.range.size()};
    Passes passes = w_.engine.passes(on, std::initializer_list<Access>{access(m, k, whole)});
    const std::uint64_t stop = pick(3) ? ~std::uint64_t{0} : pick(4);  // some are left half way
    for (std::uint64_t n = 0; n < stop && passes.next(); ++n)
      each(passes, m, whole,
           [&](Interval p) { kernel(on, m, p, k != Access::overwrite, k != Access::read); });
  }

  void two_at_once() {
    Mirror& a = any();
    Mirror& b = any();
    if (&a == &b || a.range.chunk_bytes() * 2 + b.range.chunk_bytes() * 2 > budget_) return;
    const Interval pa = part(a, 1), pb = part(b, 1);
    const Access::Kind ka = a.writable ? Access::write : Access::read;
    const Stream on = stream();
    const Lease lease = w_.engine.acquire(on, {access(a, ka, pa), access(b, Access::read, pb)});
    kernel(on, a, pa, true, ka == Access::write);
    kernel(on, b, pb, true, false);
  }

  void chunk_set() {
    Mirror& m = any();
    ChunkSet set(m.range.chunks());
    const std::uint64_t most = budget_ / m.range.chunk_bytes();
    for (std::uint64_t i = 0; i < m.range.chunks() && set.count() < most; ++i)
      if (pick(2)) set.add(i);
    const Stream on = stream();
    const Lease lease = w_.engine.acquire(on, {read(m.range, set)});
    const std::uint64_t words = m.range.chunk_bytes() / 8;
    for (const ChunkRun run : set.runs())
      kernel(on, m,
             {run.first * words,
              std::min(m.range.size(), (run.first + run.count) * words) - run.first * words},
             true, false);
  }

  void demand() {
    Mirror& m = any();
    if (m.range.chunk_bytes() + 2 * chunk > budget_) return;
    const Stream on = stream();
    Demand demand = w_.engine.demand(on, m.range);
    std::vector<bool> done(m.range.chunks());
    const std::uint64_t words = m.range.chunk_bytes() / 8;
    do {
      vmm::launch(on, [&] {
        for (std::uint64_t i = 0; i < m.range.chunks(); ++i) {
          if (done[i]) continue;
          if (!(demand.resident()[i / 64] >> i % 64 & 1)) {
            demand.missed()[i / 64] |= std::uint64_t{1} << i % 64;
            continue;
          }
          done[i] = true;
          for (std::uint64_t k = i * words / every;
               k < std::min((i + 1) * words / every, m.want.size()); ++k)
            wrong_ += m.range.data()[k * every] != m.want[k];
        }
      });
    } while (demand.service());
    EXPECT_TRUE(std::ranges::all_of(done, [](bool b) { return b; })) << m.what;
    EXPECT_EQ(wrong_.exchange(0), 0u) << m.what << " by demand";
  }

  void load() {
    Mirror& m = any();
    if (!m.writable) return;
    const Interval p = part(m, 4);
    ++version_;
    std::vector<std::uint64_t> from(p.count);
    for (std::uint64_t i = 0; i < p.count; ++i) from[i] = word(p.first + i, version_);
    w_.engine.load(m.range, p.first, std::span<const std::uint64_t>(from));
    for (std::uint64_t k = (p.first + every - 1) / every; k * every < p.first + p.count; ++k)
      m.want[k] = word(k * every, version_);
  }
  void store() {
    Mirror& m = any();
    const Interval p = part(m, 4);
    std::vector<std::uint64_t> to(p.count);
    w_.engine.store(m.range, p.first, std::span(to));
    std::uint64_t wrong = 0;
    for (std::uint64_t k = (p.first + every - 1) / every; k * every < p.first + p.count; ++k)
      wrong += to[k * every - p.first] != m.want[k];
    EXPECT_EQ(wrong, 0u) << m.what << " by store";
  }

  void flush() {
    Mirror& m = any();
    w_.engine.flush(m.range);
    for (std::uint64_t i = 0; i < m.range.chunks(); ++i)
      EXPECT_FALSE(ChunkWord::of(m.range.state().table[i]).dirty());
    if (m.path.empty()) return;
    const std::vector<std::byte> bytes = bytes_of(m.path);
    const Bytes offset = bytes.size() - m.range.size() * 8;
    for (std::uint64_t k = 0; k < m.want.size(); ++k) {
      std::uint64_t value = 0;
      std::memcpy(&value, &bytes[offset + k * every * 8], 8);
      ASSERT_EQ(value, m.want[k]) << m.what;
    }
  }

  void prefetch() {
    Mirror& m = any();
    w_.engine.prefetch({access(m, Access::read, part(m, 4))},
                       static_cast<int>(pick(w_.streams.size())));
  }
  void advise() {
    Mirror& m = any();
    constexpr Advice advices[] = {Advice::normal,    Advice::sequential,  Advice::random,
                                  Advice::will_need, Advice::do_not_need, Advice::keep};
    w_.engine.advise(access(m, Access::read, part(m, 4)), advices[pick(6)]);
  }
  void set_memory() {
    w_.settle();
    const Bytes bytes = chunk * (4 + pick(5));
    budget_ = bytes;
    for (int d = 0; d < w_.engine.devices(); ++d) w_.engine.set_memory(d, bytes);
  }

  std::mt19937_64 random_;
  Folder folder_;
  World w_;
  std::vector<Mirror> ranges_;
  Bytes budget_ = 8 * chunk;
  std::uint64_t version_ = 100;
  std::atomic<std::uint64_t> wrong_ = 0;
  int files_ = 0;
  int made_ = 0;
};

struct Setting {
  std::string policy;
  int devices = 1;
  bool all_peers = true;

  std::string name() const {
    return policy + "_" + std::to_string(devices) + (all_peers ? "" : "_alone");
  }
};
void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name(); }  // GoogleTest

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const PolicyInfo& policy : list_policies())
    for (int devices = 1; devices <= 3; ++devices) all.push_back({policy.name, devices, true});
  all.push_back({"lru", 2, false});
  all.push_back({"clock", 3, false});
  return all;
}

class RandomOperations : public testing::TestWithParam<Setting> {};

TEST_P(RandomOperations, LeaveTheContentsThatAPlainArrayHas) {
  const char* const asked = std::getenv("HOLDALL_MODEL_STEPS");
  const std::uint64_t steps = asked ? std::stoull(asked) : 24;
  const std::uint64_t first =
      std::hash<std::string>()(GetParam().name()) % 1000;  // a seed of its own
  for (std::uint64_t seed = first; seed < first + (asked ? 4 : 1); ++seed) {
    Model model(GetParam().policy, GetParam().devices, GetParam().all_peers, seed);
    for (std::uint64_t step = 0; step < steps; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      ASSERT_NO_THROW(model.step());
      model.check();
      if (step % 16 == 15) model.check_contents();
      if (HasFailure()) return;
    }
    model.check_contents();
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomOperations, testing::ValuesIn(settings()),
                         [](const auto& info) {
                           std::string name = info.param.name();
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdall
