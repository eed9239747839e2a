// Questions to one table, answered in batches. Whoever asks while nobody answers leads: it takes as
// many waiting questions of one kind as a batch holds, its own first, answers them with one call of
// the table, and goes on until its own has been; then the first that waits leads. So there is no
// thread to hand over to, and batches grow by themselves with the load.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "apps/embedding/table.hpp"
#include "apps/serve/question.hpp"

namespace holdall::serve {

struct Reply {
  std::string rows;   // fp32, [answers, dim]
  std::string found;  // one byte a key, if wanted
};

struct BatchLimits {
  std::uint64_t queue = 256;                 // questions that wait; more are refused
  std::uint64_t keys = 1 << 16;              // of a batch; a question alone may have more
  std::chrono::milliseconds patience{2000};  // of a question that waits
};

class Batcher {
 public:
  // Looks up on `device`. `answered`, if set, is told of each batch: questions and keys.
  using Answered = std::function<void(std::uint64_t questions, std::uint64_t keys)>;
  Batcher(Engine& engine, embedding::EmbeddingTable& table, const BatchLimits& limits,
          Answered answered = {}, int device = 0);

  // Waits for the answer. Throws RequestError 503 where the queue is full or patience ends, and
  // what the table throws. Thread-safe.
  Reply ask(const Question& question);

  std::uint64_t waiting() const;

 private:
  struct Job;
  void lead(Job& own, std::unique_lock<std::mutex>& hold);
  std::vector<Job*> take_batch();
  void answer(const std::vector<Job*>& batch);
  void look_up(const std::vector<Job*>& batch, std::uint64_t keys);
  void pool(const std::vector<Job*>& batch, std::uint64_t keys);

  Engine& engine_;
  embedding::EmbeddingTable& table_;
  const BatchLimits limits_;
  const Answered answered_;
  const Stream stream_;

  mutable std::mutex lock_;
  std::deque<Job*> waiting_;
  bool led_ = false;

  // The leader's. Pinned, so that kernels of every driver reach them.
  HostArray<std::uint64_t> keys_, offsets_;
  HostArray<float> weights_, rows_;
  HostArray<std::uint8_t> found_;
};

}  // namespace holdall::serve
