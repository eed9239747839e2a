// What bad use gets: an error that names the thing, the limit and the remedy, and nothing half
// done.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "policies/registry.hpp"
#include "tests/engine/world.hpp"

namespace holdall {
namespace {

TEST(Messages, ABudgetSmallerThanAChunk) {
  World w({.memory = 3_MiB});
  const std::string message =
      message_of<WorkingSetTooLarge>([&] { (void)w.range(1, {.name = "edges", .chunk = 4_MiB}); });
  expect_says(message, {"'edges'", "4 MiB", "3 MiB", "--memory", "--chunk"});
  const Words fits = w.range(1, {.name = "edges", .chunk = 2_MiB});
  w.put(fits, 0, 1, 1);
}

TEST(Messages, AChunkThatIsNoPowerOfTwoTimesTheGranularity) {
  World w;
  for (const Bytes bad : {1_MiB, 3_MiB, 6_MiB, Bytes{1}, 2_MiB + 1})
    expect_says(
        message_of<InvalidAccess>([&] { (void)w.range(1, {.name = "edges", .chunk = bad}); }),
        {"'edges'", to_string(bad), "2 MiB"});
  for (const Bytes good : {2_MiB, 4_MiB, 16_MiB})
    EXPECT_NO_THROW((void)w.range(1, {.chunk = good}));
}

TEST(Messages, ARangeOfNothingOrOfMoreThanThereIs) {
  World w;
  expect_says(message_of<InvalidAccess>([&] { (void)w.engine.reserve<int>(0, {.name = "none"}); }),
              {"'none'"});
  EXPECT_THROW((void)w.engine.reserve<std::uint64_t>(std::uint64_t{1} << 61, {.name = "vast"}),
               Error);
  EXPECT_THROW((void)w.engine.reserve<char>(~std::uint64_t{0}, {.name = "vast"}), Error);
  EXPECT_THROW((void)w.engine.reserve<char>(std::uint64_t{1} << 60, {.name = "vast"}), Error);
}

TEST(Messages, ASetBeyondTheBudgetFailsAtOnceWithBothNumbers) {
  World w = World::of(3);
  const Words a = w.range("a", 5);
  const Stream other = w.engine.stream();
  Lease somebodys;
  std::thread([&] { somebodys = w.engine.acquire(other, {World::reading(a, 0)}); }).join();
  try {
    (void)w.engine.acquire(w.stream, {World::reading(a, 1, 4)});
    FAIL() << "no error";
  } catch (const WorkingSetTooLarge& e) {
    EXPECT_EQ(e.needed, 4 * chunk);
    EXPECT_EQ(e.available, 3 * chunk);
    expect_says(e.what(), {"8 MiB", "6 MiB", "--memory"});
  }
  somebodys.release();
  w.touch(a, 0, 5);
}

TEST(Messages, OwnLeasesInTheWay) {
  World w = World::of(3);
  const Words a = w.range("a", 5);
  {
    const Lease mine = w.engine.acquire(w.stream, {World::reading(a, 0, 2)});
    expect_says(message_of<WouldDeadlock>(
                    [&] { (void)w.engine.acquire(w.stream, {World::reading(a, 2, 2)}); }),
                {"4 MiB", "leases of this thread", "release one first"});
    EXPECT_NO_THROW((void)w.engine.acquire(w.stream, {World::reading(a, 2)}));
  }
}

TEST(Messages, TwoThreadsThatWaitForEachOtherAreTold) {
  World w = World::of(4);
  const Words a = w.range("a", 8);
  std::atomic<int> holding = 0, told = 0;
  const auto run = [&](std::uint64_t first) {
    const Stream mine = w.engine.stream();
    Lease lease = w.engine.acquire(mine, {World::reading(a, first, 2)});
    ++holding;
    while (holding < 2) std::this_thread::yield();
    try {
      (void)w.engine.acquire(mine, {World::reading(a, first + 4, 1)});
    } catch (const WouldDeadlock&) {
      ++told;
    }
  };
  std::thread one(run, 0), two(run, 2);
  one.join();
  two.join();
  EXPECT_GE(told, 1);
}

TEST(Messages, TwoThreadsThatFlushWhatTheOtherLeasesAreTold) {
  World w = World::of(4);
  const Words a = w.range("a", 1, pinned());
  const Words b = w.range("b", 1, pinned());
  std::atomic<int> holding = 0, told = 0;
  const auto run = [&](const Words& mine, const Words& theirs) {
    const Stream stream = w.engine.stream();
    Lease lease = w.engine.acquire(stream, {write(mine)});
    ++holding;
    while (holding < 2) std::this_thread::yield();
    try {
      w.engine.flush(theirs);
    } catch (const WouldDeadlock&) {
      ++told;
    }
  };
  std::thread one([&] { run(a, b); }), two([&] { run(b, a); });
  one.join();
  two.join();
  EXPECT_GE(told, 1);
}

TEST(Messages, AnOwnReadInPlaceInTheWayOfAPromotion) {
  World w = World::of(4);
  const Words a = w.range(2, {.name = "a", .cold = Cold::host_mapped});
  const Lease mine = w.engine.acquire(w.stream, {in_place(a, 0, 1)});
  EXPECT_THROW((void)w.engine.acquire(w.stream, {read(a)}), WouldDeadlock);
}

TEST(Messages, AccessOutsideARange) {
  World w;
  const Words a = w.engine.reserve<std::uint64_t>(1000, {.name = "edges"});
  for (const Access bad :
       {read(a, 0, 1001), read(a, 1000, 1), write(a, 1001, 0), read(a, std::uint64_t{1} << 62, 1),
        read(a, 1, std::uint64_t{1} << 61), read(a, 1, (std::uint64_t{1} << 61) + 1)}) {
    expect_says(message_of<InvalidAccess>([&] { (void)w.engine.acquire(w.stream, {bad}); }),
                {"'edges'", "8000 bytes"});
    EXPECT_THROW((void)w.engine.passes(w.stream, {bad}), InvalidAccess);
  }
  EXPECT_NO_THROW((void)w.engine.acquire(w.stream, {read(a, 1000, 0), read(a, 999, 1)}));
  std::vector<std::uint64_t> many(1001);
  EXPECT_THROW(w.engine.load(a, 0, std::span<const std::uint64_t>(many)), InvalidAccess);
  expect_says(
      message_of<InvalidAccess>([&] { (void)w.engine.acquire(w.stream, {read(a, ChunkSet(7))}); }),
      {"'edges'", "7"});
  expect_says(message_of<InvalidAccess>([&] { (void)w.engine.acquire(w.stream, {Access{}}); }),
              {"range"});
}

TEST(Messages, AWriteToAReadOnlyRange) {
  World w;
  const Folder folder;
  const Words a = w.range("edges", 1, file(folder.file("f", chunk_words, 1)));
  expect_says(message_of<InvalidAccess>([&] { (void)w.engine.acquire(w.stream, {write(a)}); }),
              {"'edges'", "read-only", "writable"});
  expect_says(message_of<InvalidAccess>([&] { (void)w.engine.demand(w.stream, a, Access::write); }),
              {"'edges'", "read-only"});
  EXPECT_EQ(w.wrong(a, 0, 1, 1), 0u);
}

TEST(Messages, InPlaceOnARangeThatIsNotHostMapped) {
  World w;
  const Words a = w.range("edges", 1);
  expect_says(message_of<InvalidAccess>([&] { (void)w.engine.acquire(w.stream, {in_place(a)}); }),
              {"'edges'", "host_mapped"});
}

TEST(Messages, ALeaseOnACapturingStream) {
  World w;
  const Words a = w.range("a", 1);
  ASSERT_EQ(w.host.set_capturing(w.stream, true), vmm::Status::ok);
  expect_says(message_of<InvalidAccess>([&] { (void)w.engine.acquire(w.stream, {read(a)}); }),
              {"capturing", "graph"});
  EXPECT_THROW((void)w.engine.passes(w.stream, {read(a)}), InvalidAccess);
  EXPECT_THROW((void)w.engine.demand(w.stream, a), InvalidAccess);
  ASSERT_EQ(w.host.set_capturing(w.stream, false), vmm::Status::ok);
  EXPECT_NO_THROW((void)w.engine.acquire(w.stream, {read(a)}));
}

TEST(Messages, AStreamOfNoDriver) {
  World w;
  const Words a = w.range("a", 1);
  expect_says(message_of<InvalidAccess>([&] { (void)w.engine.acquire(Stream(), {read(a)}); }),
              {"stream", "Engine::stream()"});
  Stream gone;
  vmm::check(w.host.create_stream(gone, 0), "create");
  (void)w.engine.acquire(gone, {read(a)});
  vmm::check(w.host.destroy_stream(gone), "destroy");
  EXPECT_THROW((void)w.engine.acquire(gone, {read(a)}), InvalidAccess);
}

TEST(Messages, AStreamOfADeviceThatTheEngineDoesNotUse) {
  World w({}, {.devices = 2});
  const Words a = w.range("a", 1);
  Stream other;
  vmm::check(w.host.create_stream(other, 1), "create");
  expect_says(message_of<InvalidAccess>([&] { (void)w.engine.acquire(other, {read(a)}); }),
              {"device 1", "--devices"});
  EXPECT_THROW((void)w.engine.stream(1), InvalidAccess);
  EXPECT_THROW(w.engine.set_memory(1, 8_MiB), InvalidAccess);
  w.engine.prefetch({read(a)}, 1);
  w.engine.prefetch({read(a)}, -1);
  EXPECT_EQ(w.engine.stats().prefetched, 0u);
}

TEST(Messages, MoreDevicesThanThereAre) {
  expect_says(message_of<NoDevice>([] {
                Engine(vmm::make_host_driver({.devices = 2, .capacity = 8_MiB}), {.devices = 3});
              }),
              {"3", "2", "--devices"});
  expect_says(message_of<NoDevice>([] {
                Engine({.memory = 8_MiB, .driver = "host", .devices = 256});
              }),
              {"256", "255", "--devices"});
}

TEST(Messages, AnUnknownPolicyOrDriver) {
  expect_says(message_of<PolicyError>([] { World w({.policy = "lur"}); }),
              {"'lur'", "lru", "clock"});
  expect_says(message_of<PolicyError>([] { World w({.policy = "lfu:life=1"}); }),
              {"life", "halflife"});
  expect_says(message_of<InvalidAccess>([] { Engine engine({.driver = "opencl"}); }),
              {"'opencl'", "cuda", "host"});
}

TEST(Messages, PinnedMemoryBeyondItsBudget) {
  World w({.host_memory = 8_MiB});
  expect_says(message_of<OutOfHostMemory>([&] { (void)w.range("edges", 5, pinned()); }),
              {"'edges'", "10 MiB", "8 MiB", "--host-memory"});
  expect_says(message_of<OutOfHostMemory>(
                  [&] { (void)w.range(5, {.name = "edges", .cold = Cold::host_mapped}); }),
              {"'edges'", "--host-memory"});
  EXPECT_EQ(w.engine.stats().host_pinned, 0u);
  EXPECT_EQ(w.host.pinned(), 0u);
  {
    const Words fits = w.range("edges", 4, pinned());
    EXPECT_THROW((void)w.engine.host_array<int>(1, "a small array"), OutOfHostMemory);
    w.put(fits, 0, 4, 1);
  }
  EXPECT_EQ(w.engine.stats().host_pinned, 0u);
}

TEST(Messages, PinnedMemoryBeyondWhatTheSystemPins) {
  World w({}, {.pin_limit = 8_MiB});
  {
    const Words a = w.range("edges", 8, pinned());
    w.put(a, 0, 8, 1);
    w.settle();
    expect_says(message_of<OutOfHostMemory>([&] { w.engine.flush(a); }),
                {"'edges'", "pin", "ulimit -l"});
    EXPECT_EQ(w.wrong(a, 0, 8, 1), 0u);
  }
  EXPECT_EQ(w.host.pinned(), 0u);
}

TEST(Messages, WriteBacksThatFindNoPinnedMemoryLoseNothing) {
  World w({.memory = 4 * chunk, .host_memory = 5 * chunk});
  Words a = w.range("a", 8);
  w.put(a, 0, 8, 1);  // four of them in less pinned memory than a slab has
  expect_says(message_of<OutOfHostMemory>([&] {
                const Words b = w.range("b", 4);
                w.put(b, 0, 4, 2);
                w.touch(a, 0, 8);
              }),
              {"--host-memory"});
  EXPECT_EQ(w.engine.stats().devices[0].allocated, 4 * chunk);
  w.engine.set_host_memory(64_MiB);
  EXPECT_EQ(w.wrong(a, 0, 8, 1), 0u);
}

TEST(Messages, MoreMappingsThanTheSystemGivesAProcess) {
  std::uint64_t limit = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  if (limit == 0 || limit > 100'000) GTEST_SKIP() << "vm.max_map_count is " << limit;
  // Every second chunk, overwritten and never touched: mappings, but no memory.
  const std::uint64_t chunks = limit * 2;
  Config config{.memory = chunks * chunk, .host_memory = 64_MiB, .chunk = chunk};
  Engine engine(vmm::make_host_driver({.capacity = chunks * chunk}), config);
  const Stream stream = engine.stream();
  const Words a = engine.reserve<std::uint64_t>(chunks * chunk_words, {.name = "edges"});
  ChunkSet set(chunks);
  try {
    for (std::uint64_t i = 0; i < chunks; i += 128) {
      set.clear();
      for (std::uint64_t k = i; k < i + 128; k += 2) set.add(k);
      (void)engine.acquire(stream, {overwrite(a, set)});
    }
    FAIL() << "no error";
  } catch (const DriverError& e) {
    EXPECT_EQ(e.status(), vmm::Status::map_limit) << e.what();
    expect_says(e.what(), {"'edges'", "vm.max_map_count", "bigger chunks"});
  }
  EXPECT_NO_THROW((void)engine.acquire(stream, {World::overwriting(a, 0)}));
}

TEST(Messages, AFileThatWillNotDo) {
  World w;
  const Folder folder;
  const auto reserve = [&](const BackingSpec& backing) {
    return message_of<BackingError>([&] { (void)w.range("edges", 2, backing); });
  };
  expect_says(reserve(file(folder / "missing")), {"missing", "'edges'", "No such file"});
  expect_says(reserve(file(folder.file("empty", 0, 1))), {"empty", "too short", "0 bytes"});
  expect_says(reserve(file(folder.file("short", chunk_words, 1))),
              {"short", "'edges'", std::to_string(chunk), std::to_string(2 * chunk)});
  expect_says(reserve(file(folder.file("whole", 2 * chunk_words, 1), 1)),
              {"whole", "too short", "byte 1"});
  expect_says(reserve(file(folder / "whole", ~Bytes{0} - 5)), {"whole"});
  expect_says(reserve(file(folder / "")), {"no regular file"});
  expect_says(reserve(file(folder / "", 0, true)), {"directory"});
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  expect_says(reserve(file(folder / "fifo")), {"fifo", "no regular file"});
  EXPECT_EQ(w.engine.stats().devices[0].allocated, 0u);
}

TEST(Messages, AFileThatIsCutShortMeanwhile) {
  World w;
  const Folder folder;
  const auto path = folder.file("f", 2 * chunk_words, 1);
  const Words a = w.range("edges", 2, file(path));
  EXPECT_EQ(w.wrong(a, 0, 1, 1), 0u);
  std::filesystem::resize_file(path, chunk + 4096);
  expect_says(message_of<BackingError>([&] { w.touch(a, 1); }),
              {path.string(), "'edges'", "ends there"});
  EXPECT_EQ(w.wrong(a, 0, 1, 1), 0u);
}

// A file that may not grow stands for a disk that is full: its last chunk can't be written.
TEST(Messages, ADiskThatIsFullDuringAWriteBack) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  for (const auto caching : {FileBacking::cached, FileBacking::direct}) {
    World w = World::of(3);
    const Folder folder;
    const auto path = folder.file("f", 3 * chunk_words, 1);
    const Words a = w.range("edges", 3, FileBacking{path, 0, true, caching});
    const Words b = w.range("b", 3, pinned());
    w.put(a, 0, 3, 2);
    w.settle();
    const rlimit small{2 * chunk, old.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string flushed = message_of<BackingError>([&] { w.engine.flush(a); });
    const std::string evicted = message_of<BackingError>([&] { w.touch(b, 0, 3); });
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    expect_says(flushed, {path.string(), "'edges'", "File too large"});
    expect_says(evicted, {path.string(), "'edges'"});
    EXPECT_EQ(wrong_in_file(path, 2 * chunk_words, 1), 2 * chunk_words / every)
        << "the others were written";
    EXPECT_EQ(w.wrong(a, 0, 3, 2), 0u);
    w.settle();
    w.engine.flush(a);
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes_of(path)[2 * chunk], 8);
    EXPECT_EQ(value, word(2 * chunk_words, 2));
  }
}

TEST(Messages, ATraceOrTimelineThatCannotBeWritten) {
  const Folder folder;
  expect_says(message_of<BackingError>([&] { World w({.trace = folder / "none/trace"}); }),
              {"none/trace", "No such file"});
  expect_says(message_of<BackingError>([&] { World w({.timeline = folder / "none/timeline"}); }),
              {"none/timeline", "No such file"});
}

}  // namespace
}  // namespace holdall
