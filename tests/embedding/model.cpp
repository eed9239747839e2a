// A table against a plain map, whatever is done to it, on both drivers.
#include <map>

#include "apps/embedding/plan.hpp"
#include "tests/embedding/world.hpp"

namespace holdall::embedding {
namespace {

constexpr Bytes chunk = Bytes{2} << 20;

class Model : public OnDriver {
 protected:
  // The table answers as the map of key to version says.
  void expect_as(EmbeddingTable& table, const std::map<std::uint64_t, std::uint64_t>& map,
                 const Keys64& keys) {
    const Answer answer = lookup(table, keys);
    std::uint64_t wrong = 0;
    std::uint64_t missing = 0;
    for (std::uint64_t i = 0; i < keys.size(); ++i) {
      const auto entry = map.find(keys[i]);
      const bool known = entry != map.end();
      const std::vector<float> row =
          known ? row_of(keys[i], entry->second, table.dim()) : std::vector<float>(table.dim(), 0);
      missing += !known;
      wrong += answer.found[i] != known;
      wrong += !std::equal(row.begin(), row.end(), answer.rows.begin() + long(i * table.dim()));
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(answer.missing[0], missing);
    for (std::uint64_t i = 1; i < answer.missing.size(); ++i)
      EXPECT_FALSE(map.contains(keys[answer.missing[i]]));
  }

  static std::map<std::uint64_t, std::uint64_t> fresh(const Keys64& keys) {
    std::map<std::uint64_t, std::uint64_t> map;
    for (const std::uint64_t key : keys) map[key] = 0;
    return map;
  }
  static Keys64 numbers(std::uint64_t n) {
    Keys64 keys(n);
    for (std::uint64_t i = 0; i < n; ++i) keys[i] = i;
    return keys;
  }
  Keys64 some(std::uint64_t n, std::uint64_t below) {
    Keys64 keys(n);
    for (auto& key : keys) key = random_() % below;
    return keys;
  }

  Bytes pool() const { return static_cast<Bytes>(devices()); }

  std::mt19937_64 random_{5};
};

TEST_P(Model, EveryWayToFetchColdRowsGivesTheSameRows) {
  constexpr std::uint64_t rows = 100'000;
  const auto map = fresh(numbers(rows));
  for (const Fetch fetch :
       {Fetch::direct, Fetch::beside, Fetch::sorted, Fetch::cpu, Fetch::both, Fetch::measured})
    for (const Bytes memory : {Bytes{0}, 2 * chunk, ~Bytes{0}}) {
      SCOPED_TRACE(std::to_string(int(fetch)) + ", memory " + to_string(memory));
      EmbeddingTable table =
          EmbeddingTable::open(engine(), {.memory = memory, .fetch = fetch}, *rows_of(rows, 32));
      for (const std::uint64_t n : {1u, 100u, 20'000u}) expect_as(table, map, some(n, rows + 50));
      check(table);
      EXPECT_EQ(table.stats().keys, 20'101u);
      EXPECT_EQ(table.stats().device_bytes,
                memory > 7 * chunk ? 7 * chunk : std::min<Bytes>(memory * pool(), 7 * chunk));
      if (memory == ~Bytes{0}) {
        EXPECT_EQ(table.stats().host_bytes, 0u);
      }
      if (memory == 0) {
        EXPECT_EQ(table.stats().cold, table.stats().keys - table.stats().missing);
      }
    }
}

TEST_P(Model, MoreColdKeysThanExpectedAreStillAnswered) {
  // Frequencies say that all is hot; then the cold end alone is asked for.
  constexpr std::uint64_t rows = 100'000;
  std::vector<std::uint64_t> frequencies(rows);
  for (std::uint64_t i = 0; i < 10'000; ++i) frequencies[i] = 1;
  for (const Fetch fetch : {Fetch::beside, Fetch::sorted, Fetch::cpu, Fetch::both}) {
    EmbeddingTable table = EmbeddingTable::open(
        engine(), {.memory = 2 * chunk, .frequencies = frequencies, .fetch = fetch},
        *rows_of(rows, 32));
    EXPECT_EQ(table.stats().predicted_hit_rate, 1);
    Keys64 keys = some(30'000, 50'000);
    for (auto& key : keys) key += 50'000;
    for (int round = 0; round < 3; ++round) expect_as(table, fresh(numbers(rows)), keys);
  }
}

TEST_P(Model, EachDeviceHoldsItsShareOfTheHotRows) {
  constexpr std::uint64_t rows = 700'000;  // 42.7 MiB
  std::vector<std::uint64_t> frequencies(rows);
  for (std::uint64_t i = 0; i < rows; ++i) frequencies[i] = 1'000'000 / (1 + i * 11 % rows);
  const auto rows_source = rows_of(rows, 16);
  const TableSpec spec{.memory = chunk, .frequencies = frequencies};
  EmbeddingTable table = EmbeddingTable::open(engine(), spec, *rows_source);
  const auto resident = [&] {
    std::vector<Bytes> bytes;
    for (const DeviceStats& device : engine().stats().devices) bytes.push_back(device.resident);
    return bytes;
  };
  const std::vector<Bytes> before = resident();
  const double rate = table.set_budget(2 * chunk);
  const std::vector<Bytes> after = resident();
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i] - before[i], chunk);
  const TableStats stats = table.stats();
  EXPECT_EQ(stats.device_bytes, 2 * pool() * chunk);
  const TablePlan plan = plan_table(spec, rows_source->info(), {2 * chunk}, devices()).front();
  EXPECT_EQ(plan.device_bytes, stats.device_bytes);
  EXPECT_EQ(plan.host_bytes, stats.host_bytes);
  EXPECT_EQ(plan.overhead_bytes, stats.overhead_bytes);
  EXPECT_EQ(plan.hit_rate, rate);
  // The most wanted rows are the hot ones, wherever they are.
  Keys64 wanted;
  for (std::uint64_t i = 0; i < rows && wanted.size() < 10'000; ++i)
    if (i * 11 % rows < 30'000) wanted.push_back(i);
  expect_as(table, fresh(numbers(rows)), wanted);
  check(table);
  EXPECT_EQ(table.stats().cold, 0u);
}

TEST_P(Model, ABudgetWithoutRoomForAChunkIsRefused) {
  expect_says(
      complaint([&] { (void)EmbeddingTable::open(engine(), {.memory = 4096}, *rows_of(10, 2)); }),
      "4 KiB has room for none of its chunks of 2 MiB");
  EmbeddingTable table = EmbeddingTable::open(engine(), {.memory = chunk}, *rows_of(10, 2));
  expect_says(complaint([&] { (void)table.set_budget(chunk - 1); }), "give it more, or 0");
  EXPECT_EQ(table.stats().device_bytes, chunk);
  EXPECT_EQ(lookup(table, {9}).rows, row_of(9, 0, 2));
  (void)table.set_budget(0);
  table.load_version(*rows_of(10, 2));  // under the budget that was set
  EXPECT_EQ(table.stats().device_bytes, 0u);
}

TEST_P(Model, RowsOfAnyLengthCrossTheBorderWhole) {
  for (const std::uint32_t dim : {1u, 3u, 25u, 127u, 300u}) {
    SCOPED_TRACE(dim);
    const std::uint64_t rows = 3 * chunk / (dim * 4);
    EmbeddingTable table = EmbeddingTable::open(engine(), {.memory = chunk}, *rows_of(rows, dim));
    const auto map = fresh(numbers(rows));
    for (const Bytes memory : {Bytes{0}, 2 * chunk, chunk, ~Bytes{0}, Bytes{0}}) {
      table.set_budget(memory);
      expect_as(table, map, some(2'000, rows));
    }
  }
}

TEST_P(Model, HashedKeysComeAndGo) {
  Keys64 keys = some(20'000, ~0ull - 2);
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::ranges::shuffle(keys, random_);
  const Keys64 first(keys.begin(), keys.begin() + 10'000);
  std::map<std::uint64_t, std::uint64_t> map = fresh(first);
  EmbeddingTable table =
      EmbeddingTable::open(engine(), {.memory = chunk, .keys = Keys::hashed, .capacity = 15'000},
                           *rows_of(first.size(), 64, first));
  for (std::uint64_t version = 1; version < 12; ++version) {
    Keys64 in, out, changed;
    for (int i = 0; i < 700; ++i) in.push_back(keys[random_() % keys.size()]);
    for (int i = 0; i < 700; ++i) out.push_back(keys[random_() % keys.size()]);
    for (int i = 0; i < 500; ++i) changed.push_back(keys[random_() % keys.size()]);
    update(table, in, version, true);
    for (const std::uint64_t key : in) map[key] = version;
    erase(table, out);
    for (const std::uint64_t key : out) map.erase(key);
    update(table, changed, version + 100, false);
    for (const std::uint64_t key : changed)
      if (map.contains(key)) map[key] = version + 100;
    expect_as(table, map, keys);
  }
  EXPECT_EQ(complaint([&] { check(table); }), "");
}

TEST_P(Model, NewKeysWithoutRoomAreCountedAndOthersKept) {
  const Keys64 keys = {7, 5, 3};
  EmbeddingTable table =
      EmbeddingTable::open(engine(), {.keys = Keys::hashed, .capacity = 4}, *rows_of(3, 4, keys));
  update(table, {11, 12, 13, 5}, 2, true);
  expect_says(complaint([&] { check(table); }), "no room for 2 new keys");
  EXPECT_EQ(complaint([&] { check(table); }), "");
  const Answer answer = lookup(table, {3, 5, 7, 11, 12, 13});
  EXPECT_EQ(answer.found[0] + answer.found[1] + answer.found[2], 3);
  EXPECT_EQ(answer.found[3] + answer.found[4] + answer.found[5], 1);
  erase(table, {3, 7});
  update(table, {20, 21}, 1, true);
  EXPECT_EQ(complaint([&] { check(table); }), "");
}

TEST_P(Model, TheLastOfEqualKeysWins) {
  EmbeddingTable table = EmbeddingTable::open(engine(), {}, *rows_of(1'000, 32));
  const Keys64 keys(500, 17);
  std::vector<float> rows;
  for (std::uint64_t i = 0; i < keys.size(); ++i)
    rows.insert(rows.end(), 32, static_cast<float>(i));
  const DeviceArray<std::uint64_t> in(keys, stream());
  const DeviceArray<float> from(rows, stream());
  table.update(in.data(), keys.size(), {from.data(), RowType::fp32, 128}, stream());
  EXPECT_EQ(lookup(table, {17}).rows, std::vector<float>(32, 499));
}

TEST_P(Model, RowTypesKeepWhatTheyCanSay) {
  for (const RowType type : {RowType::fp32, RowType::fp16, RowType::bf16, RowType::int8})
    for (const std::uint32_t dim : {5u, 32u}) {
      SCOPED_TRACE(std::to_string(int(type)) + ", dim " + std::to_string(dim));
      EmbeddingTable table =
          EmbeddingTable::open(engine(), {.type = type, .memory = 0}, *rows_of(1'000, dim));
      const std::vector<float> rows = lookup(table, {3, 999, 5'000}).rows;
      for (std::uint32_t k = 0; k < dim; ++k) {
        const float most = type == RowType::int8 ? 0.04f : 0;  // half a step of 15 / 255
        EXPECT_NEAR(rows[k], element(3, 0, k), most);
        EXPECT_NEAR(rows[dim + k], element(999, 0, k), most);
        EXPECT_EQ(rows[2 * dim + k], 0);
      }
      const DeviceArray<std::uint64_t> in(Keys64{3}, stream());
      for (const RowType out_type : {RowType::fp16, RowType::bf16}) {
        const DeviceArray<std::uint16_t> out(dim, stream());
        table.lookup(in.data(), 1, {out.data(), out_type, dim * 2ull}, stream());
        const auto halves = out.read();
        for (std::uint32_t k = 0; k < dim; ++k)
          EXPECT_NEAR(out_type == RowType::fp16 ? kernels::from_fp16(halves[k])
                                                : kernels::from_bf16(halves[k]),
                      element(3, 0, k), type == RowType::int8 ? 0.15 : 0);
      }
    }
}

TEST_P(Model, UnknownKeysGetWhatWasAskedFor) {
  EmbeddingTable zeros = EmbeddingTable::open(engine(), {}, *rows_of(10, 2));
  EXPECT_EQ(lookup(zeros, {10, ~0ull}).rows, std::vector<float>(4, 0));
  EXPECT_EQ(complaint([&] { check(zeros); }), "");
  EmbeddingTable fallback = EmbeddingTable::open(
      engine(), {.unknown = Unknown::fallback, .fallback = {1, 2}}, *rows_of(10, 2));
  EXPECT_EQ(lookup(fallback, {10, ~0ull}).rows, (std::vector<float>{1, 2, 1, 2}));
  EmbeddingTable error =
      EmbeddingTable::open(engine(), {.unknown = Unknown::error}, *rows_of(10, 2));
  (void)lookup(error, {1, 10, 11});
  expect_says(complaint([&] { check(error); }), "2 keys that it does not have");
  EXPECT_EQ(complaint([&] { check(error); }), "");
}

TEST_P(Model, LearningBringsWhatIsAskedForIntoDeviceMemory) {
  constexpr std::uint64_t rows = 200'000;  // 24.4 MiB
  EmbeddingTable table = EmbeddingTable::open(
      engine(),
      {.memory = std::max<Bytes>(4 / pool(), 1) * chunk,
       .learning = {.on = true, .background = false, .one_in = 1, .rows_at_once = 4'096}},
      *rows_of(rows, 32));
  auto map = fresh(numbers(rows));
  for (const std::uint64_t base : {100'000u, 150'000u}) {  // the second time all of it has moved
    for (int round = 0; round < 40; ++round) {
      Keys64 keys = some(20'000, 20'000);
      for (auto& key : keys) key += base;
      expect_as(table, map, keys);
      (void)table.learn();
      const Keys64 changed = {base + 3, base + 5, 7};
      update(table, changed, round, false);
      for (const std::uint64_t key : changed) map[key] = static_cast<std::uint64_t>(round);
    }
    check(table);
    const TableStats before = table.stats();
    Keys64 keys = some(20'000, 20'000);
    for (auto& key : keys) key += base;
    expect_as(table, map, keys);
    check(table);
    const TableStats after = table.stats();
    EXPECT_LT(after.cold - before.cold, 400u);
    expect_as(table, map, some(50'000, rows));
  }
  EXPECT_GT(table.stats().moved, 15'000u);
}

TEST_P(Model, ANewVersionReplacesTheOldOrLeavesIt) {
  EmbeddingTable table = EmbeddingTable::open(engine(), {.memory = chunk}, *rows_of(50'000, 32));
  update(table, {5}, 9, false);
  table.load_version(*rows_of(60'000, 32, {}, 3));
  EXPECT_EQ(lookup(table, {5}).rows, row_of(5, 3, 32));
  EXPECT_EQ(lookup(table, {59'999}).rows, row_of(59'999, 3, 32));
  EXPECT_NE(complaint([&] { table.load_version(*rows_of(10, 16)); }), "");
  EXPECT_NE(complaint([&] { table.load_version("/nowhere/at.npy"); }), "");
  EXPECT_EQ(lookup(table, {5}).rows, row_of(5, 3, 32));
  EXPECT_EQ(table.stats().versions, 2u);
}

TEST_P(Model, WhatIsSavedIsReadAgain) {
  const Folder folder;
  EmbeddingTable table = EmbeddingTable::open(engine(), {.memory = chunk}, *rows_of(30'000, 32));
  update(table, {29'999, 4}, 2, false);
  for (const char* const name : {"t.npy", "t.safetensors"}) {
    table.save(folder / name);
    EmbeddingTable again = EmbeddingTable::open(engine(), {}, *open_source(folder / name));
    EXPECT_EQ(lookup(again, {0, 4, 29'999}).rows, lookup(table, {0, 4, 29'999}).rows);
  }
  const Keys64 keys = {1ull << 60, 5, 77};
  EmbeddingTable hashed =
      EmbeddingTable::open(engine(), {.keys = Keys::hashed}, *rows_of(3, 4, keys));
  expect_says(complaint([&] { hashed.save(folder / "h.npy"); }), "no place for keys");
  hashed.save(folder / "h.safetensors");
  EmbeddingTable again = EmbeddingTable::open(engine(), {.keys = Keys::hashed},
                                              *open_source(folder / "h.safetensors"));
  EXPECT_EQ(lookup(again, keys).rows, lookup(hashed, keys).rows);
  EXPECT_EQ(lookup(again, keys).missing[0], 0u);
}

TEST(Pool, ATableNeedsDevicesThatReachEachOther) {
  vmm::HostOptions options{.devices = 2, .capacity = Bytes{64} << 20};
  options.peers = {{true, false}, {true, true}};
  Config config;
  config.devices = 2;
  config.memory = Bytes{64} << 20;
  Engine engine(vmm::make_host_driver(options), config);
  expect_says(complaint([&] { (void)EmbeddingTable::open(engine, {}, *rows_of(10, 2)); }),
              "device 0 does not reach the memory of device 1");
}

ON_DRIVERS(Model, "host", "host2", "host3", "host8", "cuda", "cuda2");

}  // namespace
}  // namespace holdall::embedding
