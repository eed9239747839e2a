// The small world that the driver tests live in: a driver by name, one stream, chunks at an
// address, pinned memory, and gates that hold a stream up.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/vmm/host.hpp"

namespace holdall::vmm {

inline constexpr auto ok = Status::ok;

// The drivers that the contract is tested on here.
inline std::vector<std::string> driver_names() {
  std::vector<std::string> names{"host"};
  if (cuda_available()) names.push_back("cuda");
  return names;
}

inline std::unique_ptr<Driver> make_driver(const std::string& name) {
  if (name == "cuda") return make_cuda_driver();
  return make_host_driver({.capacity = 256_MiB});
}

// Holds a stream up, as a long kernel would, until it is opened.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    const std::lock_guard lock(state_->mutex);
    state_->is_open = true;
    state_->opened.notify_all();
  }
  std::function<void()> held() const {
    return [state = state_] {
      std::unique_lock lock(state->mutex);
      state->opened.wait(lock, [&] { return state->is_open; });
    };
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable opened;
    bool is_open = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Pinned host memory of whole pages, seen as words.
class PinnedWords {
 public:
  PinnedWords(Driver& driver, Bytes bytes)
      : driver_(driver),
        bytes_(bytes),
        words_(static_cast<std::uint64_t*>(std::aligned_alloc(4096, round_up(bytes, 4096)))) {
    EXPECT_EQ(driver.pin(words_, round_up(bytes, 4096)), ok);
  }
  ~PinnedWords() {
    EXPECT_NE(driver_.unpin(words_), Status::invalid_value);
    std::free(words_);
  }
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;

  std::uint64_t* data() { return words_; }
  std::uint64_t* begin() { return words_; }
  std::uint64_t* end() { return words_ + bytes_ / 8; }
  std::uint64_t& operator[](std::size_t i) { return words_[i]; }

 private:
  Driver& driver_;
  Bytes bytes_;
  std::uint64_t* words_;
};

struct World {
  explicit World(std::unique_ptr<Driver> made) : driver(std::move(made)) {
    EXPECT_EQ(driver->create_stream(stream, 0), ok);
  }
  ~World() { (void)driver->destroy_stream(stream); }

  static constexpr Place place{Place::device, 0};
  const Bytes chunk = 2_MiB;
  std::unique_ptr<Driver> driver;
  Stream stream;

  std::byte* reserve(Bytes bytes) {
    std::byte* at = nullptr;
    EXPECT_EQ(driver->reserve(at, bytes, 0, "demo"), ok);
    return at;
  }
  Frame frame(Bytes bytes, Place where = place) {
    Frame made{};
    EXPECT_EQ(driver->create(made, bytes, where), ok);
    return made;
  }
  // A new frame at `at` that device 0 may touch; it goes back at its unmap.
  void put(std::byte* at, Bytes bytes, Protection protection = Protection::read_write) {
    const Frame made = frame(bytes);
    EXPECT_EQ(driver->map(at, bytes, made), ok);
    EXPECT_EQ(driver->set_access(at, bytes, {{place, protection}}), ok);
    EXPECT_EQ(driver->release(made), ok);
  }
  void drop(std::byte* at, Bytes bytes) {
    EXPECT_EQ(driver->unmap(at, bytes), ok);
    EXPECT_EQ(driver->unreserve(at, bytes), ok);
  }
  void finish() { EXPECT_EQ(driver->synchronize(stream), ok); }

  // Writes first, first + 1, ... to all words of an interval; `mismatches` counts the words that
  // differ from that.
  void write_words(std::byte* at, Bytes bytes, std::uint64_t first) {
    PinnedWords words(*driver, bytes);
    for (auto& word : words) word = first++;
    EXPECT_EQ(driver->copy(at, words.data(), bytes, stream), ok);
    finish();
  }
  std::uint64_t mismatches(std::byte* at, Bytes bytes, std::uint64_t first) {
    PinnedWords words(*driver, bytes);
    EXPECT_EQ(driver->copy(words.data(), at, bytes, stream), ok);
    finish();
    std::uint64_t wrong = 0;
    for (const auto word : words) wrong += word != first++;
    return wrong;
  }
};

// A contract test: its world holds the driver that the parameter names.
class Contract : public testing::TestWithParam<std::string> {
 protected:
  World world{make_driver(GetParam())};
  Driver& driver = *world.driver;
  const Bytes chunk = world.chunk;
  bool on_host() const { return GetParam() == "host"; }
};

inline std::string named(const testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace holdall::vmm
