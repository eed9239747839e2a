// Where contents live while they are not resident.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/engine/world.hpp"

namespace holdall {
namespace {

std::uint64_t nonzero_behind_the_end(World& w, const Words& r) {
  std::uint64_t wrong = 0;
  const Lease lease = w.engine.acquire(w.stream, {read(r)});
  vmm::launch(w.stream, [&] {
    const auto* const end = reinterpret_cast<const std::byte*>(r.data() + r.size());
    wrong = static_cast<std::uint64_t>(std::count_if(
        end, reinterpret_cast<const std::byte*>(r.data()) + r.chunks() * r.chunk_bytes(),
        [](std::byte b) { return b != std::byte{0}; }));
  });
  w.engine.synchronize(w.stream);
  return wrong;
}

TEST(Backings, ZerosReadAsZerosUntilTheyAreWritten) {
  World w = World::of(2);
  const Words a = w.range("a", 6);
  EXPECT_EQ(w.wrong(a, 0, 6, 0), 0u);
  w.put(a, 1, 3, 5);
  EXPECT_EQ(w.wrong(a, 0, 1, 0), 0u);
  EXPECT_EQ(w.wrong(a, 1, 3, 5), 0u);
  EXPECT_EQ(w.wrong(a, 4, 2, 0), 0u);
}

TEST(Backings, PinnedContentsAreThereInPlace) {
  World w = World::of(2);
  const Words a = w.range("a", 4, pinned());
  std::uint64_t* const contents = w.engine.contents(a);
  ASSERT_NE(contents, nullptr);
  for (std::uint64_t i = 0; i < a.size(); i += every) contents[i] = word(i, 3);
  EXPECT_EQ(w.wrong(a, 0, 4, 3), 0u);
  w.put(a, 1, 2, 4);
  w.engine.flush(a);
  EXPECT_EQ(contents[0], word(0, 3));
  EXPECT_EQ(contents[chunk_words], word(chunk_words, 4));
  EXPECT_EQ(w.engine.contents(w.range("zeros", 1)), nullptr);
}

constexpr FileBacking::Caching cachings[] = {FileBacking::automatic, FileBacking::direct,
                                             FileBacking::cached};
std::string named(const testing::TestParamInfo<FileBacking::Caching>& info) {
  constexpr const char* names[] = {"automatic", "direct", "cached"};
  return names[info.param];
}

class AFile : public testing::TestWithParam<FileBacking::Caching> {};
INSTANTIATE_TEST_SUITE_P(Cachings, AFile, testing::ValuesIn(cachings), named);

TEST_P(AFile, IsReadWhereItLies) {
  World w = World::of(2);
  const Folder folder;
  for (const Bytes offset : {Bytes{0}, Bytes{4096}, Bytes{1}, Bytes{4095}, Bytes{12345}}) {
    const auto path = folder.file(std::to_string(offset), 5 * chunk_words, 7, offset);
    const Words a = w.range("a", 5, FileBacking{path, offset, false, GetParam()});
    EXPECT_EQ(w.wrong(a, 0, 5, 7), 0u) << offset;
  }
}

TEST_P(AFile, HoldsWhatWasWrittenOnceItIsFlushed) {
  World w = World::of(2);
  const Folder folder;
  for (const Bytes offset : {Bytes{0}, Bytes{4096}, Bytes{777}}) {
    const auto path = folder.file(std::to_string(offset), 5 * chunk_words, 7, offset);
    const Words a = w.range("a", 5, FileBacking{path, offset, true, GetParam()});
    w.put(a, 1, 4, 8);
    w.engine.flush(a);
    const std::vector<std::byte> bytes = bytes_of(path);
    ASSERT_EQ(bytes.size(), offset + 5 * chunk);
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                            [](std::byte b) { return b == std::byte{'#'}; }));
    EXPECT_EQ(wrong_in_file(path, chunk_words, 7, offset), 0u);
    EXPECT_EQ(wrong_in_file(path, 5 * chunk_words, 7, offset), 4 * chunk_words / every);
    EXPECT_EQ(w.wrong(a, 1, 4, 8), 0u);
  }
}

TEST_P(AFile, IsReadAndWrittenNoFurtherThanTheRangeGoes) {
  World w = World::of(2);
  const Folder folder;
  constexpr std::uint64_t words = chunk_words + 77;
  const auto path = folder.file("f", 3 * chunk_words, 7);
  const Words a = w.engine.reserve<std::uint64_t>(
      words, {.name = "a", .backing = FileBacking{path, 0, true, GetParam()}});
  EXPECT_EQ(nonzero_behind_the_end(w, a), 0u);
  {
    const Lease lease = w.engine.acquire(w.stream, {write(a)});
    vmm::launch(w.stream,
                [at = a.data()] { std::fill(at, at + 2 * chunk_words, 1); });  // past the end, too
  }
  w.engine.flush(a);
  EXPECT_EQ(bytes_of(path).size(), 3 * chunk);
  EXPECT_EQ(wrong_in_file(path, 3 * chunk_words, 7), words);
}

TEST_P(AFile, IsMadeAndGrownIfItIsWritable) {
  World w = World::of(2);
  const Folder folder;
  const auto path = folder / "new";
  {
    const Words a = w.range("a", 3, FileBacking{path, 100, true, GetParam()});
    EXPECT_EQ(w.wrong(a, 0, 3, 0), 0u);
    w.put(a, 2, 1, 1, Access::overwrite);
  }
  const std::vector<std::byte> bytes = bytes_of(path);
  ASSERT_EQ(bytes.size(), 100 + 3 * chunk);
  std::uint64_t value = 0;
  std::memcpy(&value, &bytes[100 + 2 * chunk], 8);
  EXPECT_EQ(value, word(2 * chunk_words, 1));
}

TEST(Backings, TheTailOfTheLastChunkReadsAsZeros) {
  World w = World::of(4);
  const Folder folder;
  const std::vector<RangeOptions> all{
      {.backing = zeros()}, {.backing = pinned()}, {.cold = Cold::host_mapped}};
  for (const RangeOptions& options : all)
    for (const Access::Kind kind : {Access::read, Access::overwrite}) {
      const Words a = w.engine.reserve<std::uint64_t>(chunk_words + 5, options);
      (void)w.engine.acquire(w.stream, {{&a.state(), kind, 0, a.state().bytes, nullptr}});
      EXPECT_EQ(nonzero_behind_the_end(w, a), 0u) << kind;
    }
}

// Counts what is asked of it.
class Own : public Backing {
 public:
  explicit Own(Bytes bytes) : bytes_(bytes) {}
  bool full() const override { return true; }
  bool outlives_range() const override { return true; }
  void read(Bytes offset, std::span<std::byte> to) override {
    ++reads;
    std::memcpy(to.data(), &bytes_[offset], to.size());
  }
  void write(Bytes offset, std::span<const std::byte> from) override {
    ++writes;
    std::memcpy(&bytes_[offset], from.data(), from.size());
  }
  void flush() override { ++flushes; }
  std::atomic<int> reads = 0, writes = 0, flushes = 0;

 private:
  std::vector<std::byte> bytes_;
};

TEST(Backings, OneOfOnesOwnWorksAsTheOthersDo) {
  World w = World::of(2);
  const auto own = std::make_shared<Own>(4 * chunk);
  {
    const Words a = w.range("a", 4, own);
    EXPECT_EQ(w.wrong(a, 0, 4, 0), 0u);
    EXPECT_EQ(own->reads, 4);
    w.put(a, 0, 4, 1);
    EXPECT_EQ(w.wrong(a, 0, 4, 1), 0u);
    w.engine.flush(a);
    EXPECT_EQ(own->flushes, 1);
    EXPECT_GE(own->writes, 4);
    w.put(a, 3, 1, 2);
  }
  const Words again = w.range("a", 4, own);
  EXPECT_EQ(w.wrong(again, 0, 3, 1), 0u);
  EXPECT_EQ(w.wrong(again, 3, 1, 2), 0u);
}

TEST(Backings, LoadAndStoreMoveAnyPart) {
  World w = World::of(2);
  const Words a = w.range("a", 5);
  std::vector<std::uint64_t> from(3 * chunk_words + 7);
  for (std::uint64_t i = 0; i < from.size(); ++i) from[i] = word(i + 1000, 1);
  w.engine.load(a, 1000, std::span<const std::uint64_t>(from));
  std::vector<std::uint64_t> to(from.size() + 20);
  w.engine.store(a, 990, std::span(to));
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(to[i], 0u);
  ASSERT_TRUE(std::equal(from.begin(), from.end(), to.begin() + 10));
  for (std::uint64_t i = from.size() + 10; i < to.size(); ++i) ASSERT_EQ(to[i], 0u);
}

class HostMapped : public testing::Test {
 protected:
  World w = World::of(2);
  Words a = w.range(4, {.name = "a", .cold = Cold::host_mapped});

  std::uint64_t wrong_in_place(std::uint64_t first, std::uint64_t count, std::uint64_t version) {
    const Lease lease =
        w.engine.acquire(w.stream, {in_place(a, first * chunk_words, count * chunk_words)});
    return w.wrong_now(w.stream, a, first, count, version);
  }
};

TEST_F(HostMapped, AllOfItIsReadableInPlaceBeyondTheBudget) {
  EXPECT_EQ(wrong_in_place(0, 4, 0), 0u);
  std::uint64_t* const contents = w.engine.contents(a);
  for (std::uint64_t i = 0; i < a.size(); i += every) contents[i] = word(i, 2);
  EXPECT_EQ(wrong_in_place(0, 4, 2), 0u);
  EXPECT_EQ(w.engine.stats().faults, 0u);
  EXPECT_TRUE(w.residents(a).empty());
}

TEST_F(HostMapped, AnAcquireOrAPrefetchPromotesAndAnEvictionDemotes) {
  w.put(a, 0, 1, 1);
  EXPECT_EQ(w.residents(a), std::vector<std::uint64_t>{0});
  w.settle();
  w.engine.prefetch({World::reading(a, 1)});
  for (int tries = 0; !World::resident(a, 1) && tries < 100'000; ++tries) (void)w.engine.stats();
  EXPECT_EQ(w.residents(a), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(w.engine.stats().prefetched, 1u);
  w.touch(a, 2, 2);
  EXPECT_EQ(w.residents(a), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(World::state(a, 0), Chunk::host_mapped);
  EXPECT_EQ(w.engine.contents(a)[0], word(0, 1)) << "the dirty chunk reached its host frame";
  EXPECT_EQ(wrong_in_place(0, 1, 1), 0u);
  EXPECT_EQ(wrong_in_place(1, 3, 0), 0u);
  w.expect_true_page_table(a);
}

TEST_F(HostMapped, APromotionWaitsForReadersInPlace) {
  Gate gate;
  {
    const Lease lease = w.engine.acquire(w.stream, {in_place(a)});
    vmm::launch(w.stream, gate.held());
  }
  w.engine.prefetch({read(a)});
  (void)w.engine.stats();
  EXPECT_TRUE(w.residents(a).empty());
  gate.open();
  w.put(a, 0, 4, 1);
  EXPECT_EQ(wrong_in_place(0, 4, 1), 0u);
}

}  // namespace
}  // namespace holdall
