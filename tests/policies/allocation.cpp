// A built-in policy that has seen its memory full allocates nothing any more; and what lru needs
// until then.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>
#include <random>

#include "policies/registry.hpp"
#include "tests/policies/replay.hpp"

namespace {
std::size_t allocations = 0, held = 0;  // held: bytes
}

// GCC 12 takes the pair below for a mismatch where it inlines one of them.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes)) {
    held += ::malloc_usable_size(p);
    return p;
  }
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  held -= ::malloc_usable_size(p);
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace holdall {
namespace {

// 1,000 of 2,000 chunks, hits and replacements in turn.
void run(Policy& policy, std::vector<bool>& resident, std::mt19937_64& random, int steps) {
  std::size_t size = static_cast<std::size_t>(std::count(resident.begin(), resident.end(), true));
  for (int i = 0; i < steps; ++i) {
    const std::uint64_t n = std::min(random() % 2000, random() % 2000);
    if (resident[n]) {
      policy.accessed(Key{n}, {});
      continue;
    }
    policy.admit(Key{n}, {});
    if (size == 1000) {
      const Key victim = policy.victim(any).value();
      policy.removed(victim, Left::evicted);
      resident[static_cast<std::uint64_t>(victim)] = false;
      --size;
    }
    policy.inserted(Key{n}, {});
    resident[n] = true;
    ++size;
  }
}

TEST(Allocation, NoneOnceWarm) {
  for (const char* spec : {"2q",
                           "arc",
                           "car",
                           "clock",
                           "clockpro",
                           "fifo",
                           "lfu:halflife=5000",
                           "lirs",
                           "lru",
                           "lruk",
                           "mru",
                           "random",
                           "s3fifo",
                           "sieve",
                           "slru",
                           "clock",
                           "fifo",
                           "lfu:halflife=5000",
                           "lru",
                           "mru",
                           "random",
                           "admit",
                           "auto",
                           "clean",
                           "gdsf",
                           "hyperbolic",
                           "lfuda",
                           "mglru",
                           "opt",
                           "uvm:block=4",
                           "wtinylfu:climb=true"}) {
    const auto policy = make_policy(spec);
    policy->resize(1000);
    std::vector<bool> resident(2000);
    std::mt19937_64 random(4);
    run(*policy, resident, random, 100'000);
    const std::size_t before = allocations;
    run(*policy, resident, random, 100'000);
    EXPECT_EQ(allocations, before) << spec;
  }
}

// Numbered chunks and scattered keys, at sizes between the steps in which memory grows.
TEST(Allocation, LruTakesFortyBytesAResidentChunkAtMost) {
  for (const std::uint64_t stride : {std::uint64_t{1}, std::uint64_t{7919} << 20})
    for (std::uint64_t chunks = 10'000; chunks < 200'000; chunks += chunks / 7) {
      const std::size_t before = held;
      const auto policy = make_policy("lru");
      policy->resize(chunks);
      for (std::uint64_t n = 0; n < 4 * chunks; ++n) {
        if (n >= chunks) policy->removed(policy->victim(any).value(), Left::evicted);
        policy->inserted(Key{n * stride}, {});
      }
      EXPECT_LE(held - before, 40 * chunks) << chunks << " of stride " << stride;
    }
}

}  // namespace
}  // namespace holdall
