// Memory of the host driver: peers, capacity, pins, the limit of mappings, what goes back.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "engine/vmm/host/memory.hpp"
#include "tests/vmm/world.hpp"

namespace holdall::vmm {
namespace {

constexpr Place device{Place::device, 0};
constexpr Place host_place{Place::host, 0};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

TEST(HostMemory, KeepsItsContentsWhenItsPagesGetLarge) {
  HostMemory memory("test", 16_MiB);
  const Bytes offset = memory.take(4_MiB).value();
  std::vector<std::uint64_t> words(4_MiB / 8), back(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * i;
  const auto at = static_cast<off_t>(offset);
  ASSERT_EQ(::pwrite(memory.file(), words.data(), 3_MiB, at), 3_MiB);
  memory.make_large(offset, 4_MiB);
  ASSERT_EQ(::pread(memory.file(), back.data(), 4_MiB, at), 4_MiB);
  std::fill(words.begin() + 3_MiB / 8, words.end(), 0);
  EXPECT_EQ(back, words);
}

TEST_F(Host, DevicesReachEachOtherAsThePeerMatrixSays) {
  for (int n = 2; n <= 8; ++n) {
    const auto size = static_cast<std::size_t>(n);
    HostOptions options{.devices = n, .capacity = 16_MiB};
    options.peers.assign(size, std::vector<bool>(size, false));
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) options.peers[i][j] = (i + j) % 2 == 1;
    HostWorld many(options);
    std::byte* at = many.reserve(chunk);
    many.put(at, chunk);
    many.write_words(at, chunk, 1);
    for (int peer = 1; peer < n; ++peer) {
      EXPECT_EQ(many.driver->can_access_peer(peer, 0), peer % 2 == 1);
      const Status granted = many.driver->set_access(at, chunk, {{{Place::device, peer}}});
      EXPECT_EQ(granted, peer % 2 == 1 ? ok : Status::invalid_value);
      if (granted != ok) continue;
      Stream stream;
      PinnedWords words(*many.driver, chunk);
      ASSERT_EQ(many.driver->create_stream(stream, peer), ok);
      ASSERT_EQ(many.driver->copy(words.data(), at, chunk, stream), ok);
      ASSERT_EQ(many.driver->synchronize(stream), ok);
      EXPECT_EQ(words[7], 8u);
    }
    EXPECT_FALSE(many.driver->can_access_peer(0, 0));
    EXPECT_FALSE(many.driver->can_access_peer(0, n));
  }
}

TEST_F(Host, ACopyByADeviceThatWasNotGrantedLosesThatDevice) {
  HostWorld two({.devices = 2, .capacity = 16_MiB});
  std::byte* at = two.reserve(chunk);
  two.put(at, chunk);
  Stream other;
  PinnedWords words(*two.driver, chunk);
  ASSERT_EQ(two.driver->create_stream(other, 1), ok);
  ASSERT_EQ(two.driver->copy(words.data(), at, chunk, other), ok);
  EXPECT_EQ(two.driver->synchronize(other), Status::illegal_address);
  EXPECT_EQ(two.fault(1), "read of an ungranted address in 'demo' + 0 bytes by a copy on stream 2");
  EXPECT_EQ(two.driver->health(0), ok);
}

TEST_F(Host, APeerMatrixOfTheWrongSizeIsRefused) {
  EXPECT_THROW(make_host_driver({.devices = 2, .peers = {{true}}}), std::invalid_argument);
  EXPECT_THROW(make_host_driver({.devices = 0}), std::invalid_argument);
}

TEST_F(Host, FramesOfMixedSizesFillTheCapacityToTheLastByte) {
  HostWorld small({.capacity = 32_MiB});
  std::vector<Frame> frames;
  for (int i = 0; i < 16; ++i) frames.push_back(small.frame(chunk));
  EXPECT_EQ(small.driver->info(0).free, 0u);
  Frame more{};
  EXPECT_EQ(small.driver->create(more, chunk, device), Status::out_of_memory);
  for (std::size_t i = 0; i < frames.size(); i += 2)
    ASSERT_EQ(small.driver->release(frames[i]), ok);
  EXPECT_EQ(small.driver->create(more, 16_MiB, device), ok) << "no holes, as on a GPU";
  EXPECT_EQ(small.host.allocated(0), 32_MiB);
  EXPECT_EQ(small.host.frames(), 9u);
}

TEST_F(Host, ARemadeFrameReadsAsZeros) {
  std::byte* at = world.reserve(chunk);
  for (int i = 0; i < 2; ++i) {
    world.put(at, chunk);
    EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(at), 0u);
    world.write_words(at, chunk, 9);
    ASSERT_EQ(driver.unmap(at, chunk), ok);
  }
}

// What the memory of this process's host devices takes of the system.
Bytes system_memory() {
  Bytes sum = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string name = std::filesystem::read_symlink(file.path(), gone).string();
    struct stat status {};
    if (name.find("holdall-device") != std::string::npos &&
        ::stat(file.path().c_str(), &status) == 0)
      sum += static_cast<Bytes>(status.st_blocks) * 512;
  }
  return sum;
}

TEST_F(Host, MemoryReallyGoesBackToTheSystem) {
  const Bytes bytes = 128_MiB;
  std::byte* at = world.reserve(bytes);
  world.put(at, bytes);
  ASSERT_EQ(driver.fill(at, 1, bytes, world.stream), ok);
  world.finish();
  EXPECT_GE(system_memory(), bytes);
  ASSERT_EQ(driver.unmap(at, bytes), ok);
  EXPECT_EQ(system_memory(), 0u);
}

TEST_F(Host, PoisonShowsWhatNobodyWrote) {
  HostWorld poisoned({.capacity = 16_MiB, .poison = 0xdb});
  std::byte* at = poisoned.reserve(chunk);
  poisoned.put(at, chunk);
  PinnedWords words(*poisoned.driver, chunk);
  ASSERT_EQ(poisoned.driver->copy(words.data(), at, chunk, poisoned.stream), ok);
  poisoned.finish();
  for (const auto word : words) ASSERT_EQ(word, 0xdbdbdbdbdbdbdbdbu);
}

TEST_F(Host, PinnedMemoryAndHostFramesShareOneLimit) {
  HostWorld tight({.capacity = 16_MiB, .pin_limit = 8_MiB});
  PinnedWords words(*tight.driver, 4_MiB);
  const Frame frame = tight.frame(chunk, host_place);
  EXPECT_EQ(tight.host.pinned(), 6_MiB);
  Frame more{};
  EXPECT_EQ(tight.driver->create(more, 2 * chunk, host_place), Status::out_of_memory);
  auto* memory = std::aligned_alloc(4096, 4_MiB);
  EXPECT_EQ(tight.driver->pin(memory, 4_MiB), Status::out_of_memory);
  EXPECT_EQ(tight.driver->release(frame), ok);
  EXPECT_EQ(tight.driver->pin(memory, 4_MiB), ok);
  EXPECT_EQ(tight.driver->unpin(memory), ok);
  std::free(memory);
}

TEST_F(Host, FillOfPageableMemoryIsRefused) {
  std::vector<std::uint64_t> pageable(1024);
  EXPECT_EQ(driver.fill(pageable.data(), 1, 8192, world.stream), Status::invalid_value);
  EXPECT_EQ(driver.health(0), ok);
}

TEST_F(Host, ThePageTableIsSeenByTests) {
  std::byte* at = world.reserve(4 * chunk);
  world.put(at + chunk, 2 * chunk);
  EXPECT_EQ(host.mapped(at, 4 * chunk), 2 * chunk);
  EXPECT_EQ(host.mapped(at, chunk + 4096), 4096u);
  EXPECT_EQ(host.frames(), 1u) << "released, but mapped";
  EXPECT_EQ(driver.unmap(at + chunk, 2 * chunk), ok);
  EXPECT_EQ(host.frames(), 0u);
}

TEST_F(Host, ADriverMayGoWithFramesMappingsAndEventsAlive) {
  HostWorld brief({.capacity = 16_MiB});
  std::byte* at = brief.reserve(2 * chunk);
  brief.put(at, chunk);
  (void)brief.frame(chunk);
  Event event;
  ASSERT_EQ(brief.driver->create_event(event, 0), ok);
  ASSERT_EQ(brief.driver->fill(at, 1, chunk, brief.stream), ok);
}

TEST_F(Host, RunningOutOfMappingsHarmsNothing) {
  std::ifstream file("/proc/sys/vm/max_map_count");
  std::uint64_t limit = 0;
  file >> limit;
  if (limit > 100'000) GTEST_SKIP() << "vm.max_map_count is " << limit << ": it takes too long";
  if (sanitized) GTEST_SKIP() << "a sanitizer's own memory needs mappings, and stops without";
  const std::uint64_t n = 60'000;
  HostWorld wide({.capacity = n * chunk});
  std::byte* at = wide.reserve(2 * n * chunk);
  Status status = ok;
  std::uint64_t mapped = 0;
  for (; mapped < n; ++mapped) {  // every second chunk, so that no two merge
    Frame frame = wide.frame(chunk);
    status = wide.driver->map(at + 2 * mapped * chunk, chunk, frame);
    EXPECT_EQ(wide.driver->release(frame), ok);
    if (status != ok) break;
  }
  EXPECT_EQ(status, Status::map_limit);
  EXPECT_GT(mapped, limit / 4);
  EXPECT_EQ(wide.host.mapped(at, 2 * n * chunk), mapped * chunk);
  EXPECT_EQ(wide.driver->set_access(at, chunk, {{device}}), ok) << "what stands can be used";
  wide.write_words(at, chunk, 4);
  EXPECT_EQ(wide.mismatches(at, chunk, 4), 0u);
  for (std::uint64_t i = 0; i < mapped; ++i)
    ASSERT_EQ(wide.driver->unmap(at + 2 * i * chunk, chunk), ok);
  wide.put(at, chunk);
}

TEST_F(Host, AMergedRunCanBeUnmappedAtTheLimit) {
  if (sanitized) GTEST_SKIP() << "a sanitizer's own memory needs mappings, and stops without";
  const std::uint64_t n = 60'000;
  HostWorld wide({.capacity = n * chunk});
  std::byte* run = wide.reserve(64 * chunk);
  for (int i = 0; i < 64; ++i) wide.put(run + chunk_of(i), chunk);  // one mapping of the system
  std::byte* at = wide.reserve(2 * n * chunk);
  for (std::uint64_t i = 0; i < n - 64; ++i) {
    const Frame frame = wide.frame(chunk);
    const Status status = wide.driver->map(at + 2 * i * chunk, chunk, frame);
    EXPECT_EQ(wide.driver->release(frame), ok);
    if (status != ok) break;
  }
  for (int i = 1; i < 64; i += 2) EXPECT_EQ(wide.driver->unmap(run + chunk_of(i), chunk), ok) << i;
}

TEST_F(Host, CapturingIsWhatTheTestSays) {
  bool capturing = false;
  ASSERT_EQ(host.set_capturing(world.stream, true), ok);
  EXPECT_EQ(driver.is_capturing(world.stream, capturing), ok);
  EXPECT_TRUE(capturing);
}

TEST_F(Host, AStreamOfAnotherDriverIsRefused) {
  HostWorld other;
  EXPECT_EQ(driver.synchronize(other.stream), Status::invalid_value);
  EXPECT_EQ(driver.synchronize(Stream()), Status::invalid_value);
  EXPECT_NE(driver.last_error(), "");
}

}  // namespace
}  // namespace holdall::vmm
