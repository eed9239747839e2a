// Hits, as they happened, for the pager to tell the policies in order. Threads append under a lock
// of their own shard while the chunks are pinned; the pager drains, and those who are too far ahead
// of it wait.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/access.hpp"
#include "engine/spin_lock.hpp"

namespace holdall {

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct AccessLogEntry {
  RangeState* range = nullptr;
  ChunkRun run;
  Access::Kind kind = Access::read;
  std::uint64_t lease = 0;
  std::int64_t time = 0;  // ns, steady
};

class AccessLog {
 public:
  static constexpr std::size_t full_shard = 65536;  // entries, of a thread

  // True when the shard is getting long and the pager should drain. Waits for it where the shard is
  // full, which it was told long before.
  bool append(const AccessLogEntry& entry) {
    Shard& shard = shards_[this_shard()];
    for (;; std::this_thread::yield()) {
      const std::scoped_lock hold(shard.lock);
      if (shard.entries.size() >= full_shard) continue;
      shard.entries.push_back(entry);
      return shard.entries.size() >= long_shard;
    }
  }

  // Calls f(entry) for each entry, oldest first. One caller at a time.
  template <class F>
  void drain(F f) {
    // Each shard is in order already; shards are few, so the oldest of their heads is found by
    // looking at the times of all.
    std::size_t sources = 0;
    for (Shard& shard : shards_) {
      const std::scoped_lock hold(shard.lock);
      if (shard.entries.empty()) continue;
      taken_[sources].clear();
      heads_[sources] = 0;
      times_[sources] = shard.entries.front().time;
      shard.entries.swap(taken_[sources++]);
    }
    while (sources > 0) {
      const auto oldest = static_cast<std::size_t>(
          std::min_element(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(sources)) -
          times_.begin());
      f(taken_[oldest][heads_[oldest]]);
      if (++heads_[oldest] < taken_[oldest].size()) {
        times_[oldest] = taken_[oldest][heads_[oldest]].time;
        continue;
      }
      --sources;
      taken_[oldest].swap(taken_[sources]);
      heads_[oldest] = heads_[sources];
      times_[oldest] = times_[sources];
    }
  }

 private:
  static constexpr std::size_t shards = 64;
  static constexpr std::size_t long_shard = 4096;
  struct alignas(64) Shard {
    SpinLock lock;
    std::vector<AccessLogEntry> entries;
  };
  static std::size_t this_shard() {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t shard = next++ % shards;
    return shard;
  }

  std::array<Shard, shards> shards_;
  std::array<std::vector<AccessLogEntry>, shards> taken_;  // being drained
  std::array<std::size_t, shards> heads_{};
  std::array<std::int64_t, shards> times_{};  // of the heads
};

}  // namespace holdall
