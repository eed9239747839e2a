// The thread that learns for a table, under its cap of bytes a second.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "engine/vmm/bytes.hpp"

namespace holdall::embedding {

class Learner {
 public:
  // `step` answers how many bytes it moved.
  Learner(std::function<Bytes()> step, Bytes bytes_per_second);
  ~Learner();
  // What made it end, if something has; empty otherwise.
  std::string failure() const;

 private:
  void run(std::stop_token stop);

  const std::function<Bytes()> step_;
  const Bytes bytes_per_second_;
  mutable std::mutex lock_;
  std::condition_variable_any woken_;
  std::string failure_;
  std::jthread thread_;
};

}  // namespace holdall::embedding
