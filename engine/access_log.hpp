// Hits, as they happened, for the pager to tell the policies in order. Threads append under a lock
// of their own shard while the chunks are pinned; the pager drains.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
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
  // True when the shard is getting long and the pager should drain.
  bool append(const AccessLogEntry& entry) {
    Shard& shard = shards_[this_shard()];
    const std::scoped_lock hold(shard.lock);
    shard.entries.push_back(entry);
    return shard.entries.size() >= long_shard;
  }

  // Calls f(entry) for each entry, oldest first. One caller at a time.
  template <class F>
  void drain(F f) {
    // Each shard is in order already; shards are few, so the oldest of their heads is found by
    // looking at all.
    std::size_t sources = 0;
    for (Shard& shard : shards_) {
      const std::scoped_lock hold(shard.lock);
      if (shard.entries.empty()) continue;
      taken_[sources].clear();
      heads_[sources] = 0;
      shard.entries.swap(taken_[sources++]);
    }
    while (sources > 0) {
      std::size_t oldest = 0;
      for (std::size_t s = 1; s < sources; ++s)
        if (taken_[s][heads_[s]].time < taken_[oldest][heads_[oldest]].time) oldest = s;
      f(taken_[oldest][heads_[oldest]]);
      if (++heads_[oldest] == taken_[oldest].size()) {
        --sources;
        taken_[oldest].swap(taken_[sources]);
        heads_[oldest] = heads_[sources];
      }
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
};

}  // namespace holdall
