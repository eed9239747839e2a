#include "apps/embedding/turns.hpp"

#include <vector>

#include "engine/vmm/error.hpp"

namespace holdall::embedding {

Turns::Turns(vmm::Driver& driver, int devices) : driver_(driver), devices_(devices) {
  for (Newest* const newest : {&wrote_, &moved_})
    for (int device = 0; device < devices; ++device) {
      newest->events.emplace_back();
      vmm::check(driver_.create_event(newest->events.back(), device),
                 "create an event for writes and moves");
    }
}

Turns::~Turns() {
  for (const auto& [key, reader] : readers_) (void)driver_.destroy_event(reader.event);
  for (const Newest& newest : {wrote_, moved_})
    for (const vmm::Event event : newest.events) (void)driver_.destroy_event(event);
}

// An event is recorded on its own device's streams alone.
int Turns::device_of(Stream stream) const {
  int device = 0;
  if (devices_ > 1)
    vmm::check(driver_.device_of(stream, device), "find the device of a look-up's stream");
  return device;
}

void Turns::mark(Newest& newest, Stream stream) noexcept {
  int device = 0;
  if (devices_ > 1) (void)driver_.device_of(stream, device);
  newest.device = device;
  (void)driver_.record(newest.event(), stream);
}

vmm::Event Turns::event_of(Stream stream) {
  const int device = device_of(stream);
  const std::scoped_lock hold(readers_lock_);
  const auto found = readers_.find({stream.handle(), device});
  if (found != readers_.end()) return found->second.event;
  vmm::Event event;
  vmm::check(driver_.create_event(event, device), "create an event for look-ups");
  readers_[{stream.handle(), device}] = {stream, event};
  return event;
}

void Turns::begin_read(Stream stream) {
  if (write_passed_.load(std::memory_order_acquire)) return;
  if (driver_.query(wrote_.event()) == vmm::Status::ok) {
    write_passed_.store(true, std::memory_order_release);
    return;
  }
  vmm::check(driver_.wait(stream, wrote_.event()), "wait for an update");
}

void Turns::end_read(vmm::Event read, Stream stream) noexcept {
  // A lost device refuses this, and everything after it.
  (void)driver_.record(read, stream);
}

void Turns::end_write(Stream stream) noexcept {
  mark(wrote_, stream);
  write_passed_.store(false, std::memory_order_release);
}

void Turns::end_move(Stream stream) noexcept { mark(moved_, stream); }

void Turns::wait_for_readers(Stream stream) {
  const std::scoped_lock hold(readers_lock_);
  for (const auto& [key, reader] : readers_)
    if ((devices_ > 1 || !(reader.stream == stream)) &&
        driver_.query(reader.event) != vmm::Status::ok)
      vmm::check(driver_.wait(stream, reader.event), "wait for look-ups");
}

void Turns::wait_for_writers(Stream stream) {
  vmm::check(driver_.wait(stream, wrote_.event()), "wait for an update");
  vmm::check(driver_.wait(stream, moved_.event()), "wait for moved rows");
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
    for (const auto& [key, reader] : readers_) events.push_back(reader.event);
    events.push_back(wrote_.event());
    events.push_back(moved_.event());
  }
  for (const vmm::Event event : events) (void)driver_.synchronize(event);
}

}  // namespace holdall::embedding
