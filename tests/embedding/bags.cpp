// Bags against a float64 reference of what torch.nn.EmbeddingBag does, for all modes.
#include <cmath>

#include "tests/embedding/world.hpp"

namespace holdall::embedding {
namespace {

struct Case {
  std::uint32_t dim = 8;
  Pooling pooling = Pooling::sum;
  bool weighted = false;
  bool last = false;
  std::int64_t padding = -1;
};

std::vector<double> reference(const Case& c, std::uint64_t rows, const Keys64& indices,
                              const Keys64& offsets, std::uint64_t bags,
                              const std::vector<float>& weights) {
  std::vector<double> out(bags * c.dim, 0);
  for (std::uint64_t b = 0; b < bags; ++b) {
    const std::uint64_t end = b + 1 < offsets.size() ? offsets[b + 1] : indices.size();
    std::uint64_t n = 0;
    for (std::uint64_t i = offsets[b]; i < end; ++i) {
      if (c.padding >= 0 && indices[i] == std::uint64_t(c.padding)) continue;
      for (std::uint32_t k = 0; k < c.dim; ++k) {
        const double value = indices[i] < rows ? element(indices[i], 0, k) : 0;
        double& at = out[b * c.dim + k];
        if (c.pooling == Pooling::max)
          at = n == 0 ? value : std::max(at, value);
        else
          at += c.weighted ? value * double(weights[i]) : value;
      }
      ++n;
    }
    if (c.pooling == Pooling::mean && n > 0)
      for (std::uint32_t k = 0; k < c.dim; ++k) out[b * c.dim + k] /= double(n);
  }
  return out;
}

class BagsOf : public OnDriver {};

TEST_P(BagsOf, EveryModeEqualsTheReference) {
  constexpr std::uint64_t rows = 60'000;
  constexpr std::uint64_t bags = 500;
  std::mt19937_64 random(2);
  for (const Fetch fetch : {Fetch::direct, Fetch::sorted})
    for (const std::uint32_t dim : {3u, 32u, 200u}) {
      EmbeddingTable table = EmbeddingTable::open(
          engine(), {.memory = Bytes{2} << 20, .fetch = fetch}, *rows_of(rows, dim));
      for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max})
        for (const bool weighted : {false, true})
          for (const std::int64_t padding : {-1, 4}) {
            if (weighted && pooling != Pooling::sum) continue;
            const Case c{dim, pooling, weighted, padding > 0, padding};
            SCOPED_TRACE(testing::Message() << "fetch " << int(fetch) << " dim " << dim << " mode "
                                            << int(pooling) << " weights " << weighted);
            Keys64 indices, offsets;
            std::vector<float> weights;
            for (std::uint64_t b = 0; b < bags; ++b) {
              offsets.push_back(indices.size());
              for (std::uint64_t n = random() % 20; n > 0; --n) {
                indices.push_back(random() % 4 == 0 ? 4 : random() % (rows + 10));
                weights.push_back(float(random() % 1000) / 500 - 1);
              }
            }
            if (c.last) offsets.push_back(indices.size());
            const DeviceArray<std::uint64_t> in(indices, stream());
            const DeviceArray<std::uint64_t> at(offsets, stream());
            const DeviceArray<float> by(weights, stream());
            const DeviceArray<float> out(bags * dim, stream());
            table.bag({.indices = in.data(),
                       .count = indices.size(),
                       .offsets = at.data(),
                       .bags = bags,
                       .include_last_offset = c.last,
                       .pooling = pooling,
                       .weights = weighted ? by.data() : nullptr,
                       .padding = padding},
                      {out.data(), RowType::fp32, dim * 4ull}, stream());
            const std::vector<float> sums = out.read();
            const std::vector<double> right = reference(c, rows, indices, offsets, bags, weights);
            double worst = 0;
            for (std::uint64_t i = 0; i < sums.size(); ++i)
              worst = std::max(worst, std::abs(double(sums[i]) - right[i]));
            EXPECT_LT(worst, 1e-4);
          }
      EXPECT_EQ(complaint([&] { table.check(stream()); }), "");
    }
}

TEST_P(BagsOf, ManyTablesGiveWhatEachGives) {
  const std::uint32_t dims[] = {32, 5, 64};
  constexpr std::uint64_t bags = 40;
  std::vector<EmbeddingTable> tables;
  std::vector<EmbeddingTable*> all;
  for (const std::uint32_t dim : dims)
    tables.push_back(
        EmbeddingTable::open(engine(), {.memory = Bytes{2} << 20}, *rows_of(20'000, dim)));
  for (auto& table : tables) all.push_back(&table);
  std::mt19937_64 random(4);
  Keys64 indices, offsets;
  for (std::uint64_t b = 0; b < 3 * bags; ++b) {
    offsets.push_back(indices.size());
    for (std::uint64_t n = random() % 9; n > 0; --n) indices.push_back(random() % 20'000);
  }
  const DeviceArray<std::uint64_t> in(indices, stream());
  const DeviceArray<std::uint64_t> at(offsets, stream());
  const DeviceArray<float> out(bags * 101, stream());
  embedding::bags(all,
                  {.indices = in.data(),
                   .count = indices.size(),
                   .offsets = at.data(),
                   .bags = 3 * bags,
                   .pooling = Pooling::mean},
                  {out.data(), RowType::fp32, 101 * 4}, stream());
  const std::vector<float> sums = out.read();
  std::uint64_t begin = 0;
  for (std::uint64_t t = 0; t < 3; ++t) {
    const Keys64 its(offsets.begin() + long(t * bags), offsets.begin() + long((t + 1) * bags));
    Keys64 ends = its;
    ends.push_back(t < 2 ? offsets[(t + 1) * bags] : indices.size());
    const auto right = reference({dims[t], Pooling::mean}, 20'000, indices, ends, bags, {});
    for (std::uint64_t b = 0; b < bags; ++b)
      for (std::uint32_t k = 0; k < dims[t]; ++k)
        EXPECT_NEAR(sums[b * 101 + begin + k], right[b * dims[t] + k], 1e-4);
    begin += dims[t];
  }
}

TEST_P(BagsOf, OffsetsThatDecreaseOrPassTheEndAreReported) {
  EmbeddingTable table = EmbeddingTable::open(engine(), {}, *rows_of(10, 4));
  const DeviceArray<std::uint64_t> in(Keys64{1, 2, 3}, stream());
  const DeviceArray<std::uint64_t> at(Keys64{0, 2, 1, 9}, stream());
  const DeviceArray<float> out(16, stream());
  table.bag({.indices = in.data(), .count = 3, .offsets = at.data(), .bags = 4},
            {out.data(), RowType::fp32, 16}, stream());
  expect_says(complaint([&] { table.check(stream()); }), "3 bags have offsets");
  const std::vector<float> sums = out.read();
  for (std::uint32_t k = 0; k < 4; ++k) {
    EXPECT_EQ(sums[k], element(1, 0, k) + element(2, 0, k));
    EXPECT_EQ(sums[4 + k], 0);
  }
}

TEST_P(BagsOf, WeightsGoWithSumsAlone) {
  EmbeddingTable table = EmbeddingTable::open(engine(), {}, *rows_of(10, 4));
  const float weight = 1;
  expect_says(complaint([&] {
                table.bag({.bags = 1, .pooling = Pooling::max, .weights = &weight},
                          {nullptr, RowType::fp32, 16}, stream());
              }),
              "weights go with sums alone");
}

ON_DRIVERS(BagsOf, "host", "host3", "cuda", "cuda2");

}  // namespace
}  // namespace holdall::embedding
