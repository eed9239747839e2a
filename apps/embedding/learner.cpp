#include "apps/embedding/learner.hpp"

#include <chrono>
#include <exception>

namespace holdall::embedding {

Learner::Learner(std::function<std::uint64_t()> step)
    : step_(std::move(step)), thread_([this](std::stop_token stop) { run(std::move(stop)); }) {}

Learner::~Learner() {
  thread_.request_stop();
  thread_.join();
}

std::string Learner::failure() const {
  const std::scoped_lock hold(lock_);
  return failure_;
}

void Learner::run(std::stop_token stop) {
  constexpr std::chrono::milliseconds idle{50};
  while (!stop.stop_requested()) {
    try {
      if (step_() > 0) continue;
    } catch (const std::exception& error) {  // the table goes on as it is
      const std::scoped_lock hold(lock_);
      failure_ = error.what();
      return;
    }
    std::unique_lock hold(lock_);
    woken_.wait_for(hold, stop, idle, [] { return false; });
  }
}

}  // namespace holdall::embedding
