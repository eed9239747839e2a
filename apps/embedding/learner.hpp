// The thread that learns for a table.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace holdall::embedding {

class Learner {
 public:
  // `step` answers how many rows it moved; after one that moved none there is a rest.
  explicit Learner(std::function<std::uint64_t()> step);
  ~Learner();
  // What made it end, if something has; empty otherwise.
  std::string failure() const;

 private:
  void run(std::stop_token stop);

  const std::function<std::uint64_t()> step_;
  mutable std::mutex lock_;
  std::condition_variable_any woken_;
  std::string failure_;
  std::jthread thread_;
};

}  // namespace holdall::embedding
