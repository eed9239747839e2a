#include "apps/embedding/learner.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

namespace holdall::embedding {

Learner::Learner(std::function<Bytes()> step, Bytes bytes_per_second)
    : step_(std::move(step)),
      bytes_per_second_(std::max<Bytes>(bytes_per_second, 1)),
      thread_([this](std::stop_token stop) { run(std::move(stop)); }) {}

Learner::~Learner() {
  thread_.request_stop();
  thread_.join();
}

std::string Learner::failure() const {
  const std::scoped_lock hold(lock_);
  return failure_;
}

void Learner::run(std::stop_token stop) {
  using std::chrono::duration;
  constexpr duration<double> idle{0.05};  // there was nothing to move
  while (!stop.stop_requested()) {
    duration<double> rest = idle;
    try {
      if (const Bytes moved = step_(); moved > 0)
        rest =
            duration<double>(static_cast<double>(moved) / static_cast<double>(bytes_per_second_));
    } catch (const std::exception& error) {  // the table goes on as it is
      const std::scoped_lock hold(lock_);
      failure_ = error.what();
      return;
    }
    std::unique_lock hold(lock_);
    woken_.wait_for(hold, stop, rest, [] { return false; });
  }
}

}  // namespace holdall::embedding
