#include "engine/vmm/host/stream.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "engine/vmm/error.hpp"
#include "engine/vmm/host.hpp"

namespace holdall::vmm {

namespace {
// Streams that ended. TBB gives the memory of an ended thread to others in ways that
// ThreadSanitizer can't see; this shows it the order.
constinit std::atomic<unsigned> ended{0};
}  // namespace

void Marker::pass() {
  const std::lock_guard lock(mutex_);
  passed_ = true;
  changed_.notify_all();  // under the lock: a waiter may free the marker once it can take it
}

bool Marker::passed() const {
  const std::lock_guard lock(mutex_);
  return passed_;
}

void Marker::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return passed_; });
}

HostStream::HostStream(int device, Sticky& sticky, unsigned number, std::function<void()> mend)
    : device_(device),
      sticky_(sticky),
      number_(number),
      mend_(std::move(mend)),
      arena_(StreamArena::take(sticky, number)),
      worker_([this] { run(); }) {}

HostStream::~HostStream() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  arrived_.notify_one();
  worker_.join();
  arena_.give();
}

void HostStream::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
  }
  arrived_.notify_one();
}

void HostStream::post_guarded(const char* what, std::function<void()> work) {
  post([this, what, work = std::move(work)] {
    if (sticky_.lost()) return;
    const auto threw = [&](const char* message) {
      sticky_.set(nullptr, fmt::format("a {} of stream {} threw: {}", what, number_, message));
    };
    try {
      work();
    } catch (const std::exception& error) {
      threw(error.what());
    } catch (...) {
      threw("not a std::exception");
    }
  });
}

void HostStream::synchronize() {
  const auto marker = std::make_shared<Marker>();
  post([marker] { marker->pass(); });
  marker->wait();
}

void HostStream::run() {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) break;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    {
      const StreamArena::Scope scope(arena_);
      (void)ended.load(std::memory_order_acquire);
      work();
    }
    if (sticky_.lost()) mend_();
  }
  ended.fetch_add(1, std::memory_order_release);
}

void launch(Stream stream, std::function<void()> kernel) {
  HostStream* on = stream.on_host() ? stream.host() : nullptr;
  if (on == nullptr)
    throw DriverError(Status::invalid_value, "cannot launch a host kernel: no host stream");
  if (const auto fault = on->sticky().fault())
    throw DriverError(Status::illegal_address,
                      "cannot launch a kernel: the device is lost: " + fault->what);
  on->post_guarded("kernel", [on, kernel = std::move(kernel)] { on->arena().run(kernel); });
}

}  // namespace holdall::vmm
