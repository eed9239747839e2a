#include "apps/serve/crew.hpp"

namespace holdall::serve {

thread_local bool Crew::refusing_ = false;

void Crew::enqueue(std::function<void()> serve) {
  {
    const std::scoped_lock hold(lock_);
    if (waiting_.size() < idle_ || threads_.size() < limit_) {
      const bool someone = waiting_.size() < idle_;
      waiting_.push_back(std::move(serve));
      if (!someone) threads_.emplace_back([this] { work(); });
      wake_.notify_one();
      return;
    }
  }
  refusing_ = true;
  serve();
  refusing_ = false;
}

void Crew::work() {
  std::unique_lock hold(lock_);
  while (true) {
    ++idle_;
    wake_.wait(hold, [this] { return !waiting_.empty() || ending_; });
    --idle_;
    if (waiting_.empty()) return;
    const std::function<void()> serve = std::move(waiting_.front());
    waiting_.pop_front();
    hold.unlock();
    serve();
    hold.lock();
  }
}

void Crew::shutdown() {
  {
    const std::scoped_lock hold(lock_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace holdall::serve
