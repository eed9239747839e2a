#include "apps/embedding/turns.hpp"

#include <vector>

#include "engine/vmm/error.hpp"

namespace holdall::embedding {

Turns::Turns(vmm::Driver& driver) : driver_(driver) {
  vmm::check(driver_.create_event(wrote_, 0), "create an event for writes");
  vmm::check(driver_.create_event(moved_, 0), "create an event for moves");
}

Turns::~Turns() {
  for (const auto& [handle, reader] : readers_) (void)driver_.destroy_event(reader.second);
  (void)driver_.destroy_event(wrote_);
  (void)driver_.destroy_event(moved_);
}

vmm::Event Turns::event_of(Stream stream) {
  const std::scoped_lock hold(readers_lock_);
  const auto found = readers_.find(stream.handle());
  if (found != readers_.end()) return found->second.second;
  vmm::Event event;
  vmm::check(driver_.create_event(event, 0), "create an event for look-ups");
  readers_[stream.handle()] = {stream, event};
  return event;
}

void Turns::begin_read(Stream stream) {
  (void)event_of(stream);
  if (write_passed_.load(std::memory_order_acquire)) return;
  if (driver_.query(wrote_) == vmm::Status::ok) {
    write_passed_.store(true, std::memory_order_release);
    return;
  }
  vmm::check(driver_.wait(stream, wrote_), "wait for an update");
}

void Turns::end_read(Stream stream) noexcept {
  // A lost device refuses this, and everything after it.
  (void)driver_.record(event_of(stream), stream);
}

void Turns::end_write(Stream stream) noexcept {
  (void)driver_.record(wrote_, stream);
  write_passed_.store(false, std::memory_order_release);
}

void Turns::end_move(Stream stream) noexcept { (void)driver_.record(moved_, stream); }

void Turns::wait_for_readers(Stream stream) {
  const std::scoped_lock hold(readers_lock_);
  for (const auto& [handle, reader] : readers_)
    if (!(reader.first == stream) && driver_.query(reader.second) != vmm::Status::ok)
      vmm::check(driver_.wait(stream, reader.second), "wait for look-ups");
}

void Turns::wait_for_writers(Stream stream) {
  vmm::check(driver_.wait(stream, wrote_), "wait for an update");
  vmm::check(driver_.wait(stream, moved_), "wait for moved rows");
}

std::unique_lock<std::mutex> Turns::hold_writers(Stream stream) {
  std::unique_lock hold(writers_);
  wait_for_writers(stream);
  return hold;
}

void Turns::drain() {
  std::vector<vmm::Event> events;
  {
    const std::scoped_lock hold(writers_);
    const std::unique_lock alone = close();
    const std::scoped_lock of_map(readers_lock_);
    for (const auto& [handle, reader] : readers_) events.push_back(reader.second);
    events.push_back(wrote_);
    events.push_back(moved_);
  }
  for (const vmm::Event event : events) (void)driver_.synchronize(event);
}

}  // namespace holdall::embedding
