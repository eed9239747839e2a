// What the fuzz tests share: a file in memory for readers that take a path, and seeded changes to
// seeds.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

namespace holdall {

// A file in memory, made once.
class Scratch {
 public:
  Scratch() : handle_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (handle_ < 0) std::abort();
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(handle_); }
  void fill(const std::uint8_t* data, std::size_t size) const {
    if (::ftruncate(handle_, 0) != 0 || ::pwrite(handle_, data, size, 0) != ssize_t(size))
      std::abort();
  }

 private:
  int handle_;
};

class Mutator {
 public:
  // `characters`: those that mean something in the format.
  Mutator(std::uint64_t seed, std::string_view characters)
      : random_(seed), characters_(characters) {}

  // One to four changes, some anywhere, most among the first bytes or where big arrays begin.
  std::string mutate(std::string bytes) {
    for (std::uint64_t n = 1 + random_() % 4; n > 0 && !bytes.empty(); --n) {
      const std::size_t at = place(bytes.size());
      switch (random_() % 8) {
        case 0:
          bytes[at] = static_cast<char>(random_());
          break;
        case 1:
          bytes[at] = characters_[random_() % characters_.size()];
          break;
        case 2:
          bytes.resize(at);
          break;
        case 3:
          bytes.erase(at, 1 + random_() % 8);
          break;
        case 4:
          bytes.insert(at, bytes.substr(place(bytes.size()), 1 + random_() % 40));
          break;
        case 5:
          bytes.insert(at, std::to_string(std::uint64_t{1} << random_() % 64));
          break;
        case 6:
          put(bytes, at, std::uint64_t{1} << random_() % 64);
          break;
        default:
          put(bytes, at, random_() % 16 - 8);
      }
    }
    return bytes;
  }

 private:
  std::size_t place(std::size_t size) {
    const std::uint64_t where = random_() % 8;
    std::size_t at = random_() % (where == 0 ? size : where < 3 ? 4096 : 160);
    if (random_() % 3 == 0) at += (random_() % 5) << 21;
    return at % size;
  }
  static void put(std::string& bytes, std::size_t at, std::uint64_t value) {
    std::memcpy(bytes.data() + at, &value, std::min<std::size_t>(8, bytes.size() - at));
  }

  std::mt19937_64 random_;
  std::string characters_;
};

}  // namespace holdall

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace holdall {

inline void feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace holdall
