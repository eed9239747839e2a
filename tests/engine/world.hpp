// The small world that the engine tests live in: a host driver that fills new frames with 0xAA, an
// engine over it, a stream on each device, and a language of words: `put` writes them by a kernel
// under a lease, `wrong` counts, by a kernel under a lease, those that differ from what a place and
// a version say. Every 64th word stands for its neighbours.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/vmm/host.hpp"

namespace holdall {

inline constexpr Bytes chunk = 2_MiB;
inline constexpr std::uint64_t chunk_words = chunk / 8;
inline constexpr std::uint64_t every = 64;  // words that one tested word stands for

using Words = Range<std::uint64_t>;

// What word `i` holds in a version; version 0 is zeros.
inline std::uint64_t word(std::uint64_t i, std::uint64_t version) {
  return version ? (i + 1) * 0x9e3779b97f4a7c15u ^ version << 48 : 0;
}

// Holds a stream up, as a long kernel would, until it is opened.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    const std::scoped_lock hold(state_->lock);
    state_->is_open = true;
    state_->opened.notify_all();
  }
  std::function<void()> held() const {
    return [state = state_] {
      std::unique_lock hold(state->lock);
      state->opened.wait(hold, [&] { return state->is_open; });
    };
  }

 private:
  struct State {
    std::mutex lock;
    std::condition_variable opened;
    bool is_open = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "holdall-XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
    EXPECT_FALSE(path_.empty());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  // A file of `junk` odd bytes, then `words` words of a version.
  std::filesystem::path file(const std::string& name, std::uint64_t words, std::uint64_t version,
                             Bytes junk = 0) const {
    std::ofstream out(path_ / name, std::ios::binary);
    out << std::string(junk, '#');
    std::vector<std::uint64_t> contents(words);
    for (std::uint64_t i = 0; i < words; ++i) contents[i] = word(i, version);
    out.write(reinterpret_cast<const char*>(contents.data()),
              static_cast<std::streamsize>(words * 8));
    EXPECT_TRUE(out.good());
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// Words of a file, from byte `first` on, that differ from a version.
inline std::uint64_t wrong_in_file(const std::filesystem::path& path, std::uint64_t words,
                                   std::uint64_t version, Bytes first = 0) {
  const std::vector<std::byte> bytes = bytes_of(path);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < words; ++i) {
    std::uint64_t value = ~std::uint64_t{0};
    if (first + i * 8 + 8 <= bytes.size()) std::memcpy(&value, &bytes[first + i * 8], 8);
    wrong += value != word(i, version);
  }
  return wrong;
}

class World {
 public:
  explicit World(Config config = {}, vmm::HostOptions options = {})
      : driver_(make(config, options)),
        host(*static_cast<vmm::HostDriver*>(driver_.get())),
        engine(std::move(driver_), filled(config)) {
    for (int i = 0; i < engine.devices(); ++i) streams.push_back(engine.stream(i));
    stream = streams[0];
  }
  // A budget of so many chunks.
  static World of(std::uint64_t chunks, Config config = {}, vmm::HostOptions options = {}) {
    config.memory = chunks * chunk;
    return World(config, options);
  }

 private:
  std::unique_ptr<vmm::Driver> driver_;

 public:
  vmm::HostDriver& host;
  Engine engine;
  std::vector<Stream> streams;
  Stream stream;

  Words range(std::uint64_t chunks, RangeOptions options = {}) {
    return engine.reserve<std::uint64_t>(chunks * chunk_words, options);
  }
  Words range(const std::string& name, std::uint64_t chunks, const BackingSpec& backing = zeros()) {
    return range(chunks, {.name = name, .backing = backing});
  }
  // Chunks [first, first + count) as words.
  static Access reading(const Words& r, std::uint64_t first, std::uint64_t count = 1) {
    return read(r, first * chunk_words, count * chunk_words);
  }
  static Access writing(const Words& r, std::uint64_t first, std::uint64_t count = 1) {
    return write(r, first * chunk_words, count * chunk_words);
  }
  static Access overwriting(const Words& r, std::uint64_t first, std::uint64_t count = 1) {
    return overwrite(r, first * chunk_words, count * chunk_words);
  }

  // Kernels, for leases that the test holds.
  static void launch_put(Stream on, const Words& r, std::uint64_t first, std::uint64_t count,
                         std::uint64_t version) {
    vmm::launch(on, [at = r.data(), begin = first * chunk_words,
                     end = (first + count) * chunk_words, version] {
      for (std::uint64_t i = begin; i < end; i += every) at[i] = word(i, version);
    });
  }
  std::uint64_t wrong_now(Stream on, const Words& r, std::uint64_t first, std::uint64_t count,
                          std::uint64_t version) {
    std::atomic<std::uint64_t> wrong = 0;
    vmm::launch(
        on, [&, at = r.data(), begin = first * chunk_words, end = (first + count) * chunk_words] {
          for (std::uint64_t i = begin; i < end; i += every) wrong += at[i] != word(i, version);
        });
    engine.synchronize(on);
    return wrong;
  }
  // Writes chunks by leases of one chunk each.
  void put(const Words& r, std::uint64_t first, std::uint64_t count, std::uint64_t version,
           Access::Kind kind = Access::write) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      const Lease lease = engine.acquire(stream, {{&r.state(), kind, i * chunk, chunk, nullptr}});
      launch_put(stream, r, i, 1, version);
    }
    engine.synchronize(stream);
  }
  std::uint64_t wrong(const Words& r, std::uint64_t first, std::uint64_t count,
                      std::uint64_t version) {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = first; i < first + count; ++i) {
      const Lease lease = engine.acquire(stream, {reading(r, i)});
      wrong += wrong_now(stream, r, i, 1, version);
    }
    return wrong;
  }
  void touch(const Words& r, std::uint64_t first, std::uint64_t count = 1) {
    for (std::uint64_t i = first; i < first + count; ++i)
      (void)engine.acquire(stream, {reading(r, i)});
  }

  // What is where.
  static Chunk::State state(const Words& r, std::uint64_t i) {
    return ChunkWord::of(r.state().table[i]).state();
  }
  static bool resident(const Words& r, std::uint64_t i) { return state(r, i) == Chunk::resident; }
  static int device_of(const Words& r, std::uint64_t i) {
    return ChunkWord::of(r.state().table[i]).device();
  }
  std::vector<std::uint64_t> residents(const Words& r) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < r.chunks(); ++i)
      if (resident(r, i)) all.push_back(i);
    return all;
  }
  // Bytes under leases or the work that they covered, once what has ended is retired.
  Bytes pinned() {
    Bytes bytes = 0;
    for (const DeviceStats& device : engine.stats().devices) bytes += device.pinned;
    return bytes;
  }
  // Waits until the engine has seen that all work under released leases has ended.
  void settle() {
    for (int tries = 0; pinned() > 0; ++tries) ASSERT_LT(tries, 1'000'000) << "pins that do not go";
  }
  // The driver's page table says what the engine says; asked again while the engine moves chunks
  // ahead of need.
  void expect_true_page_table(const Words& r) {
    for (std::uint64_t i = 0; i < r.chunks(); ++i) {
      const auto told = [&] {
        const Chunk::State is = state(r, i);
        return is == Chunk::resident || is == Chunk::host_mapped ? r.chunk_bytes() : 0;
      };
      if (state(r, i) == Chunk::poisoned) continue;
      const auto mapped = [&] { return host.mapped(r.state().address(i), r.chunk_bytes()); };
      for (int tries = 0; tries < 1000 && mapped() != told(); ++tries) (void)engine.stats();
      EXPECT_EQ(mapped(), told()) << r.name() << " chunk " << i;
    }
  }

 private:
  static std::unique_ptr<vmm::Driver> make(const Config& config, vmm::HostOptions options) {
    options.devices = std::max(options.devices, config.devices);
    if (!options.capacity) options.capacity = 256_MiB;
    options.poison = 0xAA;
    return vmm::make_host_driver(options);
  }
  static Config filled(Config config) {
    if (config.chunk == 8_MiB) config.chunk = chunk;
    if (!config.memory) config.memory = 64_MiB;
    if (!config.host_memory) config.host_memory = 512_MiB;
    return config;
  }
};

// The message of what `f` throws as an E; a failure if it throws anything else, or nothing.
template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another error: " << e.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline void expect_says(const std::string& message, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    EXPECT_NE(message.find(part), std::string::npos)
        << "'" << part << "' is missing in: " << message;
}

}  // namespace holdall
