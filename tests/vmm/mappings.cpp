// The contract of addresses, frames and mappings, over all drivers.
#include <algorithm>
#include <chrono>

#include "engine/vmm/bytes.hpp"
#include "tests/vmm/world.hpp"

namespace holdall::vmm {
namespace {

using Mappings = Contract;
INSTANTIATE_TEST_SUITE_P(Drivers, Mappings, testing::ValuesIn(driver_names()), named);

constexpr Place device{Place::device, 0};
constexpr Place host{Place::host, 0};

TEST_P(Mappings, GranularityIsTwoMebibytes) {
  EXPECT_EQ(driver.granularity(device), 2_MiB);
  EXPECT_EQ(driver.granularity(host), 2_MiB);
}

TEST_P(Mappings, FramesHaveMultiplesOfTheGranularity) {
  Frame frame{};
  for (const Bytes bytes : {Bytes{0}, Bytes{1}, chunk - 1, chunk + 1})
    EXPECT_EQ(driver.create(frame, bytes, device), Status::invalid_value) << bytes;
  ASSERT_EQ(driver.create(frame, chunk, device), ok);
  EXPECT_EQ(driver.release(frame), ok);
}

TEST_P(Mappings, ReservationsHaveMultiplesOfTheGranularity) {
  std::byte* at = nullptr;
  for (const Bytes bytes : {Bytes{0}, Bytes{1}, chunk - 1, chunk + 1})
    EXPECT_EQ(driver.reserve(at, bytes, 0, "bad"), Status::invalid_value) << bytes;
  ASSERT_EQ(driver.reserve(at, chunk, 0, "good"), ok);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % chunk, 0u);
  EXPECT_EQ(driver.unreserve(at, chunk), ok);
}

TEST_P(Mappings, ReservationsAreAlignedAsAsked) {
  std::byte* at = nullptr;
  ASSERT_EQ(driver.reserve(at, chunk, 64_MiB, "aligned"), ok);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64_MiB, 0u);
  EXPECT_EQ(driver.unreserve(at, chunk), ok);
  EXPECT_EQ(driver.reserve(at, chunk, 3 * chunk, "odd"), Status::invalid_value);
}

TEST_P(Mappings, SixteenTebibytesAreReservedInNoTime) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer has no room for 16 TiB";
#endif
  const auto start = std::chrono::steady_clock::now();
  std::byte* at = world.reserve(16_TiB);
  ASSERT_EQ(driver.unreserve(at, 16_TiB), ok);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST_P(Mappings, UnreserveTakesTheWholeOfAReservation) {
  std::byte* at = world.reserve(2 * chunk);
  EXPECT_EQ(driver.unreserve(at, chunk), Status::invalid_value);
  EXPECT_EQ(driver.unreserve(at + chunk, chunk), Status::invalid_value);
  EXPECT_EQ(driver.unreserve(at, 2 * chunk), ok);
  EXPECT_EQ(driver.unreserve(at, 2 * chunk), Status::invalid_value);
}

TEST_P(Mappings, UnreserveRefusesWhileSomethingIsMapped) {
  std::byte* at = world.reserve(2 * chunk);
  world.put(at + chunk, chunk);
  EXPECT_EQ(driver.unreserve(at, 2 * chunk), Status::invalid_value);
  EXPECT_EQ(driver.unmap(at + chunk, chunk), ok);
  EXPECT_EQ(driver.unreserve(at, 2 * chunk), ok);
}

TEST_P(Mappings, AFrameIsMappedWhole) {
  std::byte* at = world.reserve(4 * chunk);
  const Frame frame = world.frame(2 * chunk);
  for (const Bytes bytes : {Bytes{0}, Bytes{1}, chunk, 3 * chunk})
    EXPECT_NE(driver.map(at, bytes, frame), ok) << bytes;
  EXPECT_EQ(driver.map(at, 2 * chunk, frame), ok);
  EXPECT_EQ(driver.release(frame), ok);
  EXPECT_EQ(driver.unmap(at, 2 * chunk), ok);
  EXPECT_EQ(driver.unreserve(at, 4 * chunk), ok);
}

TEST_P(Mappings, MapRefusesAnAddressThatIsMapped) {
  std::byte* at = world.reserve(2 * chunk);
  world.put(at, 2 * chunk);
  const Frame other = world.frame(chunk);
  EXPECT_EQ(driver.map(at, chunk, other), Status::invalid_value);
  EXPECT_EQ(driver.map(at + chunk, chunk, other), Status::invalid_value);
  EXPECT_EQ(driver.release(other), ok);
  world.drop(at, 2 * chunk);
}

TEST_P(Mappings, MapRefusesWhatIsNotReserved) {
  std::byte* at = world.reserve(chunk);
  const Frame frame = world.frame(2 * chunk);
  if (driver.name() == "host") {  // on CUDA another reservation may adjoin: a mapping can span both
    EXPECT_EQ(driver.map(at, 2 * chunk, frame), Status::invalid_value) << "past the end";
  }
  EXPECT_EQ(driver.map(nullptr, 2 * chunk, frame), Status::invalid_value);
  EXPECT_EQ(driver.release(frame), ok);
  EXPECT_EQ(driver.unreserve(at, chunk), ok);
}

TEST_P(Mappings, MapRefusesAnAddressOffTheGranularity) {
  std::byte* at = world.reserve(2 * chunk);
  const Frame frame = world.frame(chunk);
  EXPECT_EQ(driver.map(at + 4096, chunk, frame), Status::invalid_value);
  EXPECT_EQ(driver.release(frame), ok);
  EXPECT_EQ(driver.unreserve(at, 2 * chunk), ok);
}

TEST_P(Mappings, AReleasedHandleIsDead) {
  if (driver.name() != "host") GTEST_SKIP() << "CUDA ends the process";
  std::byte* at = world.reserve(chunk);
  const Frame frame = world.frame(chunk);
  EXPECT_EQ(driver.release(frame), ok);
  EXPECT_EQ(driver.map(at, chunk, frame), Status::invalid_value);
  EXPECT_EQ(driver.release(frame), Status::invalid_value);
  EXPECT_EQ(driver.release(Frame{}), Status::invalid_value);
  EXPECT_EQ(driver.unreserve(at, chunk), ok);
}

TEST_P(Mappings, OneUnmapSpansAdjacentMappings) {
  std::byte* at = world.reserve(3 * chunk);
  world.put(at, chunk);
  world.put(at + chunk, 2 * chunk);
  world.drop(at, 3 * chunk);
}

TEST_P(Mappings, OneUnmapSpansMappingsOfDifferentPlaces) {
  std::byte* at = world.reserve(2 * chunk);
  world.put(at, chunk);
  const Frame in_host = world.frame(chunk, host);
  ASSERT_EQ(driver.map(at + chunk, chunk, in_host), ok);
  ASSERT_EQ(driver.release(in_host), ok);
  world.drop(at, 2 * chunk);
}

TEST_P(Mappings, UnmapRefusesAPartOfAMapping) {
  std::byte* at = world.reserve(4 * chunk);
  world.put(at, 2 * chunk);
  world.write_words(at, 2 * chunk, 5);
  EXPECT_EQ(driver.unmap(at, chunk), Status::invalid_value);
  EXPECT_EQ(driver.unmap(at + chunk, chunk), Status::invalid_value);
  // CUDA lets an unmap reach over addresses where nothing is mapped; the host driver does not.
  if (on_host()) {
    EXPECT_EQ(driver.unmap(at, 3 * chunk), Status::invalid_value) << "reaches past the mapping";
  }
  EXPECT_EQ(driver.unmap(at, 0), Status::invalid_value);
  EXPECT_EQ(world.mismatches(at, 2 * chunk, 5), 0u) << "a refusal harms nothing";
  EXPECT_EQ(driver.unmap(at, 2 * chunk), ok);
  if (on_host()) {
    EXPECT_EQ(driver.unmap(at, 2 * chunk), Status::invalid_value) << "it is gone";
  }
  EXPECT_EQ(driver.unreserve(at, 4 * chunk), ok);
}

TEST_P(Mappings, SetAccessTakesWholeMappings) {
  std::byte* at = world.reserve(3 * chunk);
  const Frame frame = world.frame(2 * chunk);
  ASSERT_EQ(driver.map(at, 2 * chunk, frame), ok);
  EXPECT_EQ(driver.set_access(at + 2 * chunk, chunk, {{device}}), Status::invalid_value);
  EXPECT_EQ(driver.set_access(at, 3 * chunk, {{device}}), Status::invalid_value);
  EXPECT_EQ(driver.set_access(at, 2 * chunk, {{device}}), ok);
  EXPECT_EQ(driver.release(frame), ok);
  EXPECT_EQ(driver.unmap(at, 2 * chunk), ok);
  EXPECT_EQ(driver.unreserve(at, 3 * chunk), ok);
}

TEST_P(Mappings, OneSetAccessSpansAdjacentMappings) {
  std::byte* at = world.reserve(2 * chunk);
  for (std::byte* next : {at, at + chunk}) {
    const Frame frame = world.frame(chunk);
    ASSERT_EQ(driver.map(next, chunk, frame), ok);
    ASSERT_EQ(driver.release(frame), ok);
  }
  ASSERT_EQ(driver.set_access(at, 2 * chunk, {{device}}), ok);
  for (std::byte* next : {at, at + chunk}) world.write_words(next, chunk, 9);
  for (std::byte* next : {at, at + chunk}) EXPECT_EQ(world.mismatches(next, chunk, 9), 0u);
  world.drop(at, 2 * chunk);
}

TEST_P(Mappings, TheCpuGetsNoGrantOnDeviceMemory) {
  std::byte* at = world.reserve(chunk);
  world.put(at, chunk);
  EXPECT_EQ(driver.set_access(at, chunk, {{host, Protection::read}}), Status::not_supported);
  world.drop(at, chunk);
}

TEST_P(Mappings, TheCpuReadsHostFramesThatItWasGranted) {
  std::byte* at = world.reserve(chunk);
  const Frame frame = world.frame(chunk, host);
  ASSERT_EQ(driver.map(at, chunk, frame), ok);
  ASSERT_EQ(driver.set_access(at, chunk, {{device}, {host}}), ok);
  ASSERT_EQ(driver.release(frame), ok);
  world.write_words(at, chunk, 77);
  const auto* words = reinterpret_cast<const std::uint64_t*>(at);
  for (std::size_t i = 0; i < chunk / 8; ++i) ASSERT_EQ(words[i], 77 + i);
  world.drop(at, chunk);
}

TEST_P(Mappings, ReadOnlyMemoryCanBeRead) {
  std::byte* at = world.reserve(chunk);
  world.put(at, chunk);
  world.write_words(at, chunk, 3);
  ASSERT_EQ(driver.set_access(at, chunk, {{device, Protection::read}}), ok);
  EXPECT_EQ(world.mismatches(at, chunk, 3), 0u);
  world.drop(at, chunk);
}

TEST_P(Mappings, WordsWrittenRightAfterMapAreReadBack) {
  std::byte* at = world.reserve(8 * chunk);
  for (std::uint64_t i = 0; i < 8; ++i) {
    world.put(at + i * chunk, chunk);
    world.write_words(at + i * chunk, chunk, i << 32);
  }
  for (std::uint64_t i = 0; i < 8; ++i)
    EXPECT_EQ(world.mismatches(at + i * chunk, chunk, i << 32), 0u) << "chunk " << i;
  world.drop(at, 8 * chunk);
}

TEST_P(Mappings, AFrameKeepsItsContentsAtAnotherAddress) {
  std::byte* at = world.reserve(2 * chunk);
  const Frame frame = world.frame(chunk);
  ASSERT_EQ(driver.map(at, chunk, frame), ok);
  ASSERT_EQ(driver.set_access(at, chunk, {{device}}), ok);
  world.write_words(at, chunk, 1000);
  ASSERT_EQ(driver.unmap(at, chunk), ok);
  ASSERT_EQ(driver.map(at + chunk, chunk, frame), ok);
  ASSERT_EQ(driver.set_access(at + chunk, chunk, {{device}}), ok);
  EXPECT_EQ(world.mismatches(at + chunk, chunk, 1000), 0u);
  EXPECT_EQ(driver.release(frame), ok);
  EXPECT_EQ(driver.unmap(at + chunk, chunk), ok);
  EXPECT_EQ(driver.unreserve(at, 2 * chunk), ok);
}

TEST_P(Mappings, ContentsStayUntilTheLastOfTwoAliasesIsUnmapped) {
  std::byte* at = world.reserve(2 * chunk);
  const Frame frame = world.frame(chunk);
  ASSERT_EQ(driver.map(at, chunk, frame), ok);
  ASSERT_EQ(driver.map(at + chunk, chunk, frame), ok);
  ASSERT_EQ(driver.set_access(at, 2 * chunk, {{device}}), ok);
  ASSERT_EQ(driver.release(frame), ok);
  world.write_words(at, chunk, 42);
  ASSERT_EQ(driver.unmap(at, chunk), ok);
  EXPECT_EQ(world.mismatches(at + chunk, chunk, 42), 0u);
  EXPECT_EQ(driver.unmap(at + chunk, chunk), ok);
  EXPECT_EQ(driver.unreserve(at, 2 * chunk), ok);
}

TEST_P(Mappings, MemoryRisesOnlyWithTheLastUnmap) {
  const Bytes bytes = 128_MiB;
  std::byte* at = world.reserve(bytes);
  const Bytes before = driver.info(0).free;
  const Frame frame = world.frame(bytes);
  ASSERT_EQ(driver.map(at, bytes, frame), ok);
  ASSERT_EQ(driver.release(frame), ok);
  EXPECT_LE(driver.info(0).free, before - bytes);
  world.drop(at, bytes);
  EXPECT_GE(driver.info(0).free, before);
}

TEST_P(Mappings, OutOfMemoryHarmsNothing) {
  std::byte* at = world.reserve(chunk);
  world.put(at, chunk);
  world.write_words(at, chunk, 8);
  const Bytes free = driver.info(0).free;
  Frame frame{};
  EXPECT_EQ(driver.create(frame, round_up(driver.info(0).total, chunk) + chunk, device),
            Status::out_of_memory);
  EXPECT_EQ(driver.info(0).free, free);
  EXPECT_EQ(driver.health(0), ok);
  EXPECT_EQ(world.mismatches(at, chunk, 8), 0u);
  world.drop(at, chunk);
}

TEST_P(Mappings, AThousandCyclesLeaveMemoryFlat) {
  std::byte* at = world.reserve(chunk);
  const Bytes before = driver.info(0).free;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    world.put(at, chunk);
    ASSERT_EQ(driver.unmap(at, chunk), ok);
  }
  EXPECT_GE(driver.info(0).free + 64_MiB, before) << "the driver may keep some for itself";
  world.put(at, chunk);
  world.write_words(at, chunk, 6);
  EXPECT_EQ(world.mismatches(at, chunk, 6), 0u);
  world.drop(at, chunk);
}

TEST_P(Mappings, NoSuchDevice) {
  Frame frame{};
  Stream stream;
  Event event;
  for (const int index : {-1, driver.devices()}) {
    EXPECT_EQ(driver.create(frame, chunk, {Place::device, index}), Status::no_device);
    EXPECT_EQ(driver.create_stream(stream, index), Status::no_device);
    EXPECT_EQ(driver.create_event(event, index), Status::no_device);
  }
}

TEST_P(Mappings, PinsTakeWholePagesOnce) {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(4096, 16384));
  EXPECT_NE(driver.pin(memory, 0), ok);
  ASSERT_EQ(driver.pin(memory, 8192), ok);
  EXPECT_NE(driver.pin(memory, 8192), ok) << "pinned already";
  EXPECT_NE(driver.unpin(memory + 8192), ok) << "never pinned";
  EXPECT_EQ(driver.unpin(memory), ok);
  EXPECT_NE(driver.unpin(memory), ok);
  std::free(memory);
}

}  // namespace
}  // namespace holdall::vmm
