// Rows that are narrower while they are in host memory: near what was put in, and exact where they
// never were there.
#include <cmath>
#include <map>

#include "apps/embedding/plan.hpp"
#include "tests/embedding/world.hpp"

namespace holdall::embedding {
namespace {

constexpr Bytes chunk = Bytes{2} << 20;
constexpr std::uint32_t dim = 32;
constexpr std::uint64_t rows = 100'000;

// Of no short binary fraction, between -1 and 1.
float value(std::uint64_t key, std::uint64_t version, std::uint64_t k) {
  return static_cast<float>(std::sin(double(key * 37 + version * 11 + k)));
}
// What rounding may do to it, twice: down, and down again.
float most_off(RowType cold) { return cold == RowType::int8 ? 2.5f / 255 : 1.0f / 1024; }

std::unique_ptr<Source> source() {
  return from_function({"made rows", rows, dim, RowType::fp32, false},
                       [](std::uint64_t first, std::uint64_t count, std::byte* to) {
                         auto* at = reinterpret_cast<float*>(to);
                         for (std::uint64_t key = first; key < first + count; ++key)
                           for (std::uint32_t k = 0; k < dim; ++k) *at++ = value(key, 0, k);
                       });
}

class ColdTier : public OnDriver {
 protected:
  void write(EmbeddingTable& table, const Keys64& keys, std::uint64_t version) {
    std::vector<float> values;
    for (const std::uint64_t key : keys)
      for (std::uint32_t k = 0; k < dim; ++k) values.push_back(value(key, version, k));
    const DeviceArray<std::uint64_t> in(keys, stream());
    const DeviceArray<float> from(values, stream());
    table.update(in.data(), keys.size(), {from.data(), RowType::fp32, dim * 4}, stream());
    engine().synchronize(stream());
    for (const std::uint64_t key : keys) versions_[key] = version;
  }
  // How far the rows of these keys are from what was put in, at most.
  float off(EmbeddingTable& table, const Keys64& keys) {
    const std::vector<float> got = lookup(table, keys).rows;
    float most = 0;
    for (std::size_t i = 0; i < keys.size(); ++i)
      for (std::uint32_t k = 0; k < dim; ++k)
        most = std::max(most, std::abs(got[i * dim + k] - value(keys[i], versions_[keys[i]], k)));
    return most;
  }
  Keys64 some(std::size_t n) {
    Keys64 keys(n);
    for (auto& key : keys) key = random_() % rows;
    return keys;
  }

  std::map<std::uint64_t, std::uint64_t> versions_;
  std::mt19937_64 random_{5};
};

TEST_P(ColdTier, RowsInDeviceMemoryAreExactAndTheOthersNear) {
  for (const Fetch fetch :
       {Fetch::measured, Fetch::direct, Fetch::beside, Fetch::sorted, Fetch::cpu, Fetch::both})
    for (const RowType cold : {RowType::fp16, RowType::int8}) {
      SCOPED_TRACE(static_cast<int>(fetch));
      const TableSpec spec{.cold_type = cold, .memory = chunk, .fetch = fetch, .chunk = chunk};
      EmbeddingTable table = EmbeddingTable::open(engine(), spec, *source());
      versions_.clear();
      const std::uint64_t hot = chunk * static_cast<Bytes>(devices()) / (dim * 4);
      Keys64 up = some(5000), down = some(5000);
      for (auto& key : up) key %= hot;
      for (auto& key : down) key = hot + key % (rows - hot);
      EXPECT_EQ(off(table, up), 0);
      EXPECT_GT(off(table, down), 0);
      EXPECT_LT(off(table, down), most_off(cold));
      Keys64 both = up;
      both.insert(both.end(), down.begin(), down.end());
      EXPECT_LT(off(table, both), most_off(cold));
      write(table, {1, rows - 1}, 3);
      EXPECT_EQ(off(table, {1}), 0);
      EXPECT_LT(off(table, {rows - 1}), most_off(cold));
    }
}

TEST_P(ColdTier, RowsStayNearAsTheyAreMovedResizedAndUpdated) {
  for (const RowType cold : {RowType::fp16, RowType::int8}) {
    TableSpec spec{.cold_type = cold, .memory = chunk, .chunk = chunk};
    spec.learning = {.on = true, .background = false, .rows_at_once = 2000};
    EmbeddingTable table = EmbeddingTable::open(engine(), spec, *source());
    versions_.clear();
    for (std::uint64_t round = 0; round < 20; ++round) {
      Keys64 wanted = some(20'000);  // others every four rounds
      for (auto& key : wanted) key = rows - 1 - (key % 8000 + round / 4 * 8000);
      EXPECT_LT(off(table, wanted), most_off(cold));
      (void)table.learn();
      write(table, {round, wanted[0], rows - 1 - round}, round);
      if (round % 3 == 0) (void)table.set_budget((1 + round % 2) * chunk);
    }
    EXPECT_LT(off(table, some(20'000)), most_off(cold));
    EXPECT_GT(table.stats().moved, 5000u);
  }
}

TEST_P(ColdTier, BagsSumTheRowsThatLookUpsGive) {
  for (const std::uint64_t n : {100, 50'000}) {
    const TableSpec spec{.cold_type = RowType::int8, .memory = chunk, .chunk = chunk};
    EmbeddingTable table = EmbeddingTable::open(engine(), spec, *source());
    const Keys64 keys = some(n);
    const std::vector<float> one_by_one = lookup(table, keys).rows;
    const DeviceArray<std::uint64_t> indices(keys, stream());
    const DeviceArray<std::uint64_t> offsets(Keys64{0, n / 2}, stream());
    const DeviceArray<float> out(2 * dim, stream());
    table.bag({.indices = indices.data(), .count = n, .offsets = offsets.data(), .bags = 2},
              {out.data(), RowType::fp32, dim * 4}, stream());
    std::vector<float> sums(2 * dim);
    for (std::uint64_t i = 0; i < n; ++i)
      for (std::uint32_t k = 0; k < dim; ++k)
        sums[(i < n / 2 ? 0 : dim) + k] += one_by_one[i * dim + k];
    EXPECT_EQ(out.read(), sums);
  }
}

TEST_P(ColdTier, HostMemoryIsWhatThePlanSays) {
  for (const auto& [cold, share] :
       {std::pair{RowType::fp32, 1.0}, {RowType::fp16, 0.5}, {RowType::int8, 48.0 / 128}}) {
    const TableSpec spec{.cold_type = cold, .memory = chunk, .chunk = chunk};
    const TablePlan plan = plan_table(spec, source()->info(), {spec.memory}, devices()).front();
    EmbeddingTable table = EmbeddingTable::open(engine(), spec, *source());
    EXPECT_EQ(table.stats().host_bytes, plan.host_bytes);
    EXPECT_EQ(table.stats().device_bytes, plan.device_bytes);
    const double exclusive = double(rows - plan.hot_rows) * dim * 4 * share;
    EXPECT_GE(double(plan.host_bytes), exclusive);
    EXPECT_LT(double(plan.host_bytes), exclusive + 2 * double(chunk));
  }
}

TEST_P(ColdTier, AWiderTypeThanInDeviceMemoryIsRefused) {
  for (const auto& [type, cold] :
       {std::pair{RowType::fp16, RowType::fp32}, {RowType::fp16, RowType::bf16}})
    expect_says(complaint([&] {
                  (void)EmbeddingTable::open(engine(), {.type = type, .cold_type = cold},
                                             *source());
                }),
                "narrower type");
}

ON_DRIVERS(ColdTier, "host", "host2", "cuda", "cuda2");

}  // namespace
}  // namespace holdall::embedding
