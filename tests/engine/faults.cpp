// Driver calls that fail: what was there before is there afterwards, and the next try goes well.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/engine/world.hpp"

namespace holdall {
namespace {

using vmm::Call;
using vmm::Status;

// An acquire of chunks 1 to 3 of b, and of chunk 3 of a, where four dirty chunks of a fill the
// budget.
struct Scene {
  std::string name;
  BackingSpec a = pinned();
  BackingSpec b = pinned();
  Cold cold = Cold::unmapped;
  int devices = 1;
  Access::Kind kind = Access::read;
};
void PrintTo(const Scene& scene, std::ostream* out) { *out << scene.name; }  // GoogleTest

const std::vector<Scene> scenes{
    {.name = "pinned"},
    {.name = "zeros", .a = zeros(), .b = zeros()},
    {.name = "overwrite", .kind = Access::overwrite},
    {.name = "host_mapped", .cold = Cold::host_mapped, .kind = Access::write},
    {.name = "peers", .devices = 2},
};

struct Named {
  Call call;
  std::string name;
};
void PrintTo(const Named& call, std::ostream* out) { *out << call.name; }  // GoogleTest

const std::vector<Named> calls{{Call::create, "create"},  {Call::release, "release"},
                               {Call::map, "map"},        {Call::set_access, "set_access"},
                               {Call::unmap, "unmap"},    {Call::pin, "pin"},
                               {Call::copy, "copy"},      {Call::fill, "fill"},
                               {Call::record, "record"},  {Call::wait, "wait"},
                               {Call::query, "query"},    {Call::synchronize, "synchronize"},
                               {Call::reserve, "reserve"}};

class Staged {
 public:
  explicit Staged(const Scene& scene)
      : scene_(scene),
        w(World::of(4 / static_cast<std::uint64_t>(scene.devices), {.devices = scene.devices})),
        a(w.range("a", 4, scene.a)),
        b(w.range(6, {.name = "b", .backing = scene.b, .cold = scene.cold})) {
    w.put(b, 0, 6, 2);
    w.engine.flush(b);
    w.put(a, 0, 4, 1);
    w.settle();
  }

  Lease acquire() {
    return w.engine.acquire(
        w.stream, {{&b.state(), scene_.kind, chunk, 3 * chunk, nullptr}, World::reading(a, 3)});
  }
  // What a holds, what b holds, and that nothing is pinned, mapped or allocated that should not be.
  void expect_unchanged(std::uint64_t version_of_b = 2) {
    w.settle();
    w.expect_true_page_table(a);
    w.expect_true_page_table(b);
    for (int d = 0; d < w.engine.devices(); ++d) {
      EXPECT_LE(w.host.allocated(d), 4 * chunk);
      EXPECT_EQ(w.host.health(d), Status::ok) << w.host.fault(d).value_or(vmm::Fault{}).what;
    }
    EXPECT_EQ(w.wrong(a, 0, 4, 1), 0u);
    EXPECT_EQ(w.wrong(b, 0, 1, 2), 0u);
    EXPECT_EQ(w.wrong(b, 1, 3, version_of_b), 0u);
    EXPECT_EQ(w.wrong(b, 4, 2, 2), 0u);
  }

 private:
  Scene scene_;

 public:
  World w;
  Words a;
  Words b;
};

class AnAcquire : public testing::TestWithParam<std::tuple<Scene, Named>> {};

TEST_P(AnAcquire, ChangesNothingIfAnyOneOfItsDriverCallsFailsAndGoesWellTheNextTime) {
  const auto& [scene, call] = GetParam();
  const bool of_memory =
      call.call == Call::create || call.call == Call::map || call.call == Call::pin;
  const std::vector<Status> statuses =
      of_memory ? std::vector{Status::out_of_memory, Status::invalid_value, Status::unknown}
                : std::vector{Status::unknown};
  for (const Status status : statuses)
    for (std::uint64_t k = 1;; ++k) {
      SCOPED_TRACE(std::string(vmm::to_string(status)) + " at call " + std::to_string(k));
      Staged s(scene);
      const std::vector<std::uint64_t> as = s.w.residents(s.a);
      const std::vector<std::uint64_t> bs = s.w.residents(s.b);
      const std::uint64_t before = s.w.host.calls(call.call);
      s.w.host.inject({.call = call.call, .nth = k, .status = status});
      std::uint64_t version = 2;
      bool threw = false;
      try {
        const Lease lease = s.acquire();
        if (scene.kind == Access::overwrite) World::launch_put(s.w.stream, s.b, 1, 3, version = 3);
      } catch (const Error&) {
        threw = true;
      }
      const bool reached = s.w.host.calls(call.call) - before >= k;
      s.w.host.clear_injections();
      if (threw && scene.devices == 1) {
        EXPECT_EQ(s.w.residents(s.a), as);
        EXPECT_EQ(s.w.residents(s.b), bs);
      }
      s.expect_unchanged(version);
      {
        const Lease lease = s.acquire();
        World::launch_put(s.w.stream, s.b, 1, 3, 4);
      }
      if (scene.kind != Access::read) s.expect_unchanged(4);
      if (HasFailure()) return;
      if (!reached) break;
    }
}

INSTANTIATE_TEST_SUITE_P(OfEachKind, AnAcquire,
                         testing::Combine(testing::ValuesIn(scenes), testing::ValuesIn(calls)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
                         });

// Chunks go and come a few at a time: those of the first times come back too.
TEST(Faults, AnAcquireOfManyChunksThatFailsNearItsEndLeavesResidencyAsItWas) {
  for (const Call call : {Call::map, Call::set_access, Call::unmap, Call::copy})
    for (const Access::Kind kind : {Access::read, Access::overwrite}) {
      SCOPED_TRACE("call kind " + std::to_string(static_cast<int>(call)) +
                   (kind == Access::read ? ", read" : ", overwrite"));
      const auto acquire = [&](World& w, const Words& b) {
        return w.engine.acquire(w.stream, {{&b.state(), kind, chunk, 10 * chunk, nullptr}});
      };
      const auto staged = [](World& w) {
        Words a = w.range("a", 12, pinned());
        Words b = w.range("b", 11, pinned());
        w.put(b, 0, 11, 2);
        w.put(a, 0, 12, 1);
        w.engine.flush(a);
        w.settle();
        return std::pair(std::move(a), std::move(b));
      };
      const std::uint64_t calls = [&] {  // those of a good one
        World w = World::of(12, {.coalesce = false});
        const auto [a, b] = staged(w);
        const std::uint64_t before = w.host.calls(call);
        (void)acquire(w, b);
        return w.host.calls(call) - before;
      }();
      World w = World::of(12, {.coalesce = false});
      const auto [a, b] = staged(w);
      const std::vector<std::uint64_t> as = w.residents(a), bs = w.residents(b);
      if (kind == Access::overwrite && call == Call::copy) continue;  // it copies nothing
      ASSERT_GT(calls, 1u);
      w.host.inject({.call = call, .nth = calls - 1, .status = Status::unknown});
      EXPECT_THROW((void)acquire(w, b), Error);
      w.host.clear_injections();
      w.settle();
      EXPECT_EQ(w.residents(a), as);
      EXPECT_EQ(w.residents(b), bs);
      w.expect_true_page_table(a);
      w.expect_true_page_table(b);
      EXPECT_EQ(w.wrong(a, 0, 12, 1), 0u);
      EXPECT_EQ(w.wrong(b, 0, 11, 2), 0u);
    }
}

TEST(Faults, NotReadyIsTriedAgain) {
  for (const Call call : {Call::map, Call::set_access, Call::unmap}) {
    Staged s(scenes[0]);
    s.w.host.inject({.call = call, .times = 7, .status = Status::not_ready});
    EXPECT_NO_THROW((void)s.acquire());
    s.w.host.clear_injections();
    s.expect_unchanged();
  }
}

TEST(Faults, NotReadyForEverIsAnErrorThatSaysSo) {
  for (const Call call : {Call::map, Call::set_access}) {
    Staged s(scenes[0]);
    s.w.host.inject({.call = call, .times = 20, .status = Status::not_ready});
    try {
      (void)s.acquire();
      ADD_FAILURE() << "no error";
    } catch (const DriverError& e) {
      EXPECT_EQ(e.status(), Status::not_ready);
      expect_says(e.what(), {"'b'", "not ready"});
    }
    s.w.host.clear_injections();
    s.expect_unchanged();
  }
}

// A set-access fails, and from then on every unmap: the chunks that were mapped can't be unmapped
// again.
TEST(Faults, AFailedWayBackPoisonsThatChunkAlone) {
  for (const Scene& scene : scenes) {
    SCOPED_TRACE(scene.name);
    Staged s(scene);
    const std::uint64_t unmaps = [&] {  // those of a good acquire
      Staged probe(scene);
      const std::uint64_t before = probe.w.host.calls(Call::unmap);
      (void)probe.acquire();
      return probe.w.host.calls(Call::unmap) - before;
    }();
    s.w.host.inject({.call = Call::set_access, .times = 100, .status = Status::unknown});
    s.w.host.inject(
        {.call = Call::unmap, .nth = unmaps + 1, .times = 100, .status = Status::unknown});
    EXPECT_THROW((void)s.acquire(), Error);
    s.w.host.clear_injections();
    s.w.settle();
    std::vector<std::uint64_t> poisoned;
    std::uint64_t fine = 0;
    for (std::uint64_t i = 0; i < 6; ++i) {
      if (World::state(s.b, i) != Chunk::poisoned) {
        EXPECT_EQ(s.w.wrong(s.b, i, 1, 2), 0u);
        ++fine;
        continue;
      }
      expect_says(message_of<ChunkPoisoned>([&] { s.w.touch(s.b, i); }),
                  {"'b'", std::to_string(i)});
    }
    EXPECT_GE(fine, 3u);
    for (std::uint64_t i = 0; i < 4; ++i)
      if (World::state(s.a, i) != Chunk::poisoned) {
        EXPECT_EQ(s.w.wrong(s.a, i, 1, 1), 0u);
      }
    // The range can be dropped, and made anew; no frame is left behind.
    s.w.settle();
    s.w.engine.drop(s.b);
    s.w.engine.drop(s.a);
    const Words again = s.w.range("b", 3);
    s.w.put(again, 0, 3, 5);
    EXPECT_EQ(s.w.wrong(again, 0, 3, 5), 0u);
    s.w.settle();
    for (int d = 0; d < s.w.engine.devices(); ++d) s.w.engine.set_memory(d, 0);
    for (int d = 0; d < s.w.engine.devices(); ++d) EXPECT_EQ(s.w.host.allocated(d), 0u);
  }
}

// Bytes in ordinary memory, that can be told to fail.
class Brittle : public Backing {
 public:
  explicit Brittle(Bytes bytes) : bytes_(bytes) {}
  bool full() const override { return true; }
  void read(Bytes offset, std::span<std::byte> to) override {
    if (no_read) throw BackingError("the test's backing can't be read");
    std::memcpy(to.data(), &bytes_[offset], to.size());
  }
  void write(Bytes offset, std::span<const std::byte> from) override {
    if (no_write) throw BackingError("the test's backing can't be written");
    if (odd_error) throw std::runtime_error("something else");
    std::memcpy(&bytes_[offset], from.data(), from.size());
  }
  std::atomic<bool> no_read = false, no_write = false, odd_error = false;

 private:
  std::vector<std::byte> bytes_;
};

TEST(Faults, AFailedWriteBackKeepsTheChunkDirtyAndReachesTheCaller) {
  World w = World::of(3);
  const auto backing = std::make_shared<Brittle>(3 * chunk);
  const Words a = w.range("a", 3, backing);
  const Words b = w.range("b", 3, pinned());
  backing->no_write = true;
  w.put(a, 0, 3, 1);
  w.settle();
  expect_says(message_of<BackingError>([&] { w.touch(b, 0); }), {"can't be written"});
  EXPECT_EQ(w.residents(a).size(), 3u);
  EXPECT_EQ(w.wrong(a, 0, 3, 1), 0u);
  w.settle();
  EXPECT_THROW(w.engine.flush(a), BackingError) << "it is dirty still";
  EXPECT_NO_THROW(w.engine.flush(b));
  backing->no_write = false;
  backing->odd_error = true;
  EXPECT_THROW(w.touch(b, 0), std::runtime_error);
  w.engine.prefetch({read(b)});
  EXPECT_THROW(w.engine.set_memory(0, chunk), std::runtime_error);
  EXPECT_EQ(w.wrong(a, 0, 1, 1), 0u);
  backing->odd_error = false;
  w.settle();
  w.engine.set_memory(0, 3 * chunk);
  w.touch(b, 0, 3);
  EXPECT_EQ(w.wrong(a, 0, 3, 1), 0u);
}

TEST(Faults, AFailedReadOfABackingChangesNothing) {
  World w = World::of(3);
  const auto backing = std::make_shared<Brittle>(3 * chunk);
  const Words a = w.range("a", 3, backing);
  const Words b = w.range("b", 3, pinned());
  w.put(a, 0, 3, 1);
  w.put(b, 0, 3, 2);
  w.settle();
  backing->no_read = true;
  EXPECT_THROW(w.touch(a, 1), BackingError);
  w.engine.prefetch({read(a)});
  EXPECT_EQ(w.wrong(b, 0, 3, 2), 0u);
  backing->no_read = false;
  EXPECT_EQ(w.wrong(a, 0, 3, 1), 0u);
  EXPECT_EQ(w.wrong(b, 0, 3, 2), 0u);
}

TEST(Faults, CopiesOutThatAllFailLoseNothing) {
  World w = World::of(3);
  const Words a = w.range("a", 3, pinned());
  const Words b = w.range("b", 3, pinned());
  w.put(a, 0, 3, 1);
  w.settle();
  w.host.inject({.call = Call::copy, .times = 100'000, .status = Status::unknown});
  EXPECT_THROW(w.engine.flush(a), DriverError);
  EXPECT_THROW(w.touch(b, 0, 3), DriverError);  // all of them: one may have been written back ahead
  w.host.clear_injections();
  EXPECT_EQ(w.wrong(a, 0, 3, 1), 0u);
  w.engine.flush(a);
  EXPECT_EQ(w.engine.contents(a)[chunk_words], word(chunk_words, 1));
}

TEST(Faults, ADropThatFailsCanBeTriedAgain) {
  for (std::uint64_t k = 1; k <= 2; ++k) {
    Config config;
    config.coalesce = false;
    World w = World::of(4, config);
    Words a = w.range("a", 3);
    w.put(a, 0, 3, 1);
    w.settle();
    w.host.inject({.call = Call::unmap, .nth = k, .status = Status::unknown});
    EXPECT_THROW(w.engine.drop(a), DriverError);
    w.host.clear_injections();
    EXPECT_EQ(w.wrong(a, 0, 3, 1), 0u);
    EXPECT_LT(w.engine.stats().evictions, 100u);
    w.settle();
    w.engine.drop(a);
    EXPECT_EQ(w.engine.stats().devices[0].resident, 0u);
  }
}

TEST(Faults, ADeviceWithLessMemoryThanItsBudgetEvictsInstead) {
  World w({.memory = 8 * chunk}, {.capacity = 4 * chunk});
  const Words a = w.range("a", 8);
  w.put(a, 0, 8, 1);
  EXPECT_EQ(w.wrong(a, 0, 8, 1), 0u);
  EXPECT_LE(w.host.allocated(0), 4 * chunk);
  EXPECT_THROW((void)w.engine.acquire(w.stream, {read(a)}), Error);
  EXPECT_EQ(w.wrong(a, 0, 8, 1), 0u);
}

TEST(Faults, MemoryThatIsShortForAMomentIsUsedLater) {
  World w = World::of(4);
  const Words a = w.range("a", 4);
  w.host.inject({.call = Call::create, .times = 100, .status = Status::out_of_memory});
  EXPECT_THROW(w.touch(a, 0), DriverError);
  w.host.clear_injections();
  EXPECT_NO_THROW((void)w.engine.acquire(w.stream, {write(a)}));
}

TEST(Faults, ALostDeviceIsNamedWithItsFault) {
  World w = World::of(4);
  const Words a = w.range("edges", 4);
  {
    const Lease lease = w.engine.acquire(w.stream, {World::reading(a, 0)});
    vmm::launch(w.stream, [at = a.data()] { at[2 * chunk_words] = 1; });  // not leased
    EXPECT_THROW(w.engine.synchronize(w.stream), DriverError);
  }
  expect_says(
      message_of<DriverError>([&] { (void)w.engine.acquire(w.stream, {World::reading(a, 0)}); }),
      {"device 0", "lost", "'edges'"});
  expect_says(message_of<DriverError>([&] { w.engine.synchronize(w.stream); }),
              {"device 0", "lost", "'edges'"});
  EXPECT_EQ(w.engine.stats().devices[0].pinned, 0u);
}

}  // namespace
}  // namespace holdall
