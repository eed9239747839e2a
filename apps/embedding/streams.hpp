// Streams that a table's versions use one after the other. An engine keeps each stream that it ever
// made, a thread on the host driver, so that versions with streams of their own would pile them up.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace holdall::embedding {

class Streams {
 public:
  explicit Streams(Engine& engine) : engine_(engine) {}

  Stream take() {
    const std::scoped_lock hold(lock_);
    if (idle_.empty()) return engine_.stream();
    const Stream stream = idle_.back();
    idle_.pop_back();
    return stream;
  }
  void give(Stream stream) {
    const std::scoped_lock hold(lock_);
    idle_.push_back(stream);
  }

 private:
  Engine& engine_;
  std::mutex lock_;
  std::vector<Stream> idle_;
};

// One of them, for as long as this lives.
class LentStream {
 public:
  explicit LentStream(std::shared_ptr<Streams> streams)
      : streams_(std::move(streams)), stream_(streams_->take()) {}
  ~LentStream() { streams_->give(stream_); }
  LentStream(const LentStream&) = delete;
  LentStream& operator=(const LentStream&) = delete;

  operator Stream() const { return stream_; }  // NOLINT: converts on purpose

 private:
  const std::shared_ptr<Streams> streams_;
  const Stream stream_;
};

}  // namespace holdall::embedding
