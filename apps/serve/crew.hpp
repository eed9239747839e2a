// The threads that serve connections, one each. A connection beyond the limit is turned away by the
// thread that accepts, which therefore accepts no faster than it can refuse.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace holdall::serve {

class Crew final : public httplib::TaskQueue {
 public:
  explicit Crew(std::size_t limit) : limit_(limit) {}

  void enqueue(std::function<void()> serve) override;
  void shutdown() override;  // waits for all connections to end

  // Whether the connection that this thread has is one too many.
  static bool refusing() { return refusing_; }

 private:
  void work();

  static thread_local bool refusing_;
  const std::size_t limit_;
  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace holdall::serve
