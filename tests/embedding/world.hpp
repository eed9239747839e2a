// The small world of the embedding tests: an engine on each driver, rows that say which key and
// version they are of.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apps/embedding/table.hpp"
#include "engine/vmm/host.hpp"
#include "kernels/device_array.hpp"

namespace holdall::embedding {

using kernels::DeviceArray;
using Keys64 = std::vector<std::uint64_t>;

// Element k of a row: exact in every type but int8, and different in all elements from one version
// to the next.
inline float element(std::uint64_t key, std::uint64_t version, std::uint64_t k) {
  return static_cast<float>(version % 16 * 16 + (key * 7 + k) % 16);
}
inline std::vector<float> row_of(std::uint64_t key, std::uint64_t version, std::uint32_t dim) {
  std::vector<float> row(dim);
  for (std::uint32_t k = 0; k < dim; ++k) row[k] = element(key, version, k);
  return row;
}
// Rows of version 0; `keys`: each row's, or none.
inline std::unique_ptr<Source> rows_of(std::uint64_t rows, std::uint32_t dim, Keys64 keys = {},
                                       std::uint64_t version = 0) {
  const auto fill = [=](std::uint64_t first, std::uint64_t count, std::byte* to) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t key = keys.empty() ? first + i : keys[first + i];
      std::memcpy(to + i * dim * 4, row_of(key, version, dim).data(), dim * 4);
    }
  };
  FillKeys fill_keys;
  if (!keys.empty())
    fill_keys = [=](std::uint64_t first, std::uint64_t count, std::uint64_t* to) {
      std::copy_n(keys.data() + first, count, to);
    };
  return from_function({"made rows", rows, dim, RowType::fp32, false}, fill, fill_keys);
}

// What a call complains of; empty if it does not.
template <typename Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}
inline void expect_says(const std::string& message, std::string_view part) {
  EXPECT_NE(message.find(part), message.npos) << "'" << message << "' lacks '" << part << "'";
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "holdall-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::filesystem::path file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

// An engine of a driver and so many devices, such as "host" or "cuda2".
class OnDriver : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string& given = GetParam();
    Config config;
    config.memory = Bytes{256} << 20;
    config.driver = given.substr(0, given.find_first_of("0123456789"));
    if (config.driver != given) config.devices = std::stoi(given.substr(config.driver.size()));
    if (config.driver == "cuda") {
      std::string why;
      if (!vmm::cuda_available(&why)) GTEST_SKIP() << "no GPU: " << why;
      try {
        kernels::free(kernels::allocate(1, Stream()), Stream());
      } catch (const DriverError&) {
        throw;
      } catch (const Error&) {
        GTEST_SKIP() << "no GPU: built without nvcc";
      }
    }
    try {
      engine_ = std::make_unique<Engine>(config);
    } catch (const NoDevice& error) {
      GTEST_SKIP() << error.what();
    }
    for (int device = 0; device < devices(); ++device) streams_.push_back(engine_->stream(device));
  }

  Engine& engine() { return *engine_; }
  int devices() const { return engine_->devices(); }
  // Of the last device.
  Stream stream() const { return streams_.back(); }
  // Of one device after the other.
  Stream next_stream() { return streams_[turn_++ % streams_.size()]; }
  void check(EmbeddingTable& table) {
    for (const Stream stream : streams_) table.check(stream);
  }

  // A look-up that waits.
  struct Answer {
    std::vector<float> rows;
    std::vector<std::uint8_t> found;
    std::vector<std::uint32_t> missing;
  };
  Answer lookup(EmbeddingTable& table, const Keys64& keys) {
    const Stream stream = next_stream();
    const DeviceArray<std::uint64_t> in(keys, stream);
    const DeviceArray<float> out(keys.size() * table.dim(), stream);
    const DeviceArray<std::uint8_t> found(keys.size(), stream);
    const DeviceArray<std::uint32_t> missing(1 + keys.size(), stream);
    table.lookup(in.data(), keys.size(), {out.data(), RowType::fp32, table.dim() * 4ull}, stream,
                 {found.data(), missing.data()});
    Answer answer{out.read(), found.read(), missing.read()};
    answer.missing.resize(1 + answer.missing[0]);
    return answer;
  }
  void update(EmbeddingTable& table, const Keys64& keys, std::uint64_t version, bool insert) {
    std::vector<float> rows;
    for (const std::uint64_t key : keys)
      for (std::uint32_t k = 0; k < table.dim(); ++k) rows.push_back(element(key, version, k));
    const Stream stream = next_stream();
    const DeviceArray<std::uint64_t> in(keys, stream);
    const DeviceArray<float> from(rows, stream);
    const RowsIn rows_in{from.data(), RowType::fp32, table.dim() * 4ull};
    if (insert) {
      table.insert_or_assign(in.data(), keys.size(), rows_in, stream);
    } else {
      table.update(in.data(), keys.size(), rows_in, stream);
    }
    engine_->synchronize(stream);
  }
  void erase(EmbeddingTable& table, const Keys64& keys) {
    const Stream stream = next_stream();
    const DeviceArray<std::uint64_t> in(keys, stream);
    table.erase(in.data(), keys.size(), stream);
    engine_->synchronize(stream);
  }

 private:
  std::unique_ptr<Engine> engine_;
  std::vector<Stream> streams_;
  std::size_t turn_ = 0;
};

#define ON_DRIVERS(fixture, ...)                                             \
  INSTANTIATE_TEST_SUITE_P(Embedding, fixture, testing::Values(__VA_ARGS__), \
                           [](const auto& given) { return std::string(given.param); })

}  // namespace holdall::embedding
