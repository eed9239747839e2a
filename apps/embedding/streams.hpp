// Streams that a table's versions use one after the other. An engine keeps each stream that it ever
// made, a thread on the host driver, so that versions with streams of their own would pile them up.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace holdall::embedding {

class Streams {
 public:
  explicit Streams(Engine& engine) : engine_(engine) {}

  Engine& engine() const { return engine_; }
  Stream take(int device) {
    const std::scoped_lock hold(lock_);
    std::vector<Stream>& idle = idle_[device];
    if (idle.empty()) return engine_.stream(device);
    const Stream stream = idle.back();
    idle.pop_back();
    return stream;
  }
  void give(Stream stream, int device) {
    const std::scoped_lock hold(lock_);
    idle_[device].push_back(stream);
  }

 private:
  Engine& engine_;
  std::mutex lock_;
  std::map<int, std::vector<Stream>> idle_;  // by device
};

// One of them, for as long as this lives.
class LentStream {
 public:
  LentStream(std::shared_ptr<Streams> streams, int device)
      : streams_(std::move(streams)), device_(device), stream_(streams_->take(device)) {}
  ~LentStream() { streams_->give(stream_, device_); }
  LentStream(const LentStream&) = delete;
  LentStream& operator=(const LentStream&) = delete;

  operator Stream() const { return stream_; }  // NOLINT: converts on purpose

 private:
  const std::shared_ptr<Streams> streams_;
  const int device_;
  const Stream stream_;
};

// One on each device.
class StreamEach {
 public:
  explicit StreamEach(const std::shared_ptr<Streams>& streams) {
    for (int device = 0; device < streams->engine().devices(); ++device)
      all_.push_back(lent_.emplace_back(streams, device));
  }
  Stream operator[](int device) const { return all_[static_cast<std::size_t>(device)]; }
  const std::vector<Stream>& all() const { return all_; }

 private:
  std::deque<LentStream> lent_;
  std::vector<Stream> all_;
};

}  // namespace holdall::embedding
