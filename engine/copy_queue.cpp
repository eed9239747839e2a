#include "engine/copy_queue.hpp"

namespace holdall {

CopyQueue::CopyQueue(vmm::Driver& driver, int device) : driver_(driver) {
  vmm::check(driver.create_stream(stream_, device), "create a copy stream");
  events_.resize(ring);
  for (vmm::Event& event : events_)
    vmm::check(driver.create_event(event, device), "create an event");
}

CopyQueue::~CopyQueue() {
  (void)driver_.destroy_stream(stream_);
  for (const vmm::Event event : events_) (void)driver_.destroy_event(event);
}

vmm::Status CopyQueue::submit(std::uint64_t& ticket) {
  const std::uint64_t next = submitted_.load(std::memory_order_relaxed) + 1;
  vmm::Status status = driver_.record(events_[next % ring], stream_);
  if (status != vmm::Status::ok) {
    status = driver_.synchronize(stream_);
    if (status == vmm::Status::ok) advance(next);
  }
  submitted_.store(next, std::memory_order_release);
  ticket = next;
  return status;
}

void CopyQueue::advance(std::uint64_t ticket) {
  std::uint64_t seen = passed_.load(std::memory_order_relaxed);
  while (seen < ticket &&
         !passed_.compare_exchange_weak(seen, ticket, std::memory_order_release)) {
  }
}

bool CopyQueue::poll(std::uint64_t ticket) {
  if (driver_.query(events_[ticket % ring]) != vmm::Status::ok) return false;
  advance(ticket);
  return true;
}

vmm::Status CopyQueue::wait(std::uint64_t ticket) {
  if (ticket <= passed_.load(std::memory_order_acquire)) return vmm::Status::ok;
  const vmm::Status status = driver_.synchronize(events_[ticket % ring]);
  if (status == vmm::Status::ok) advance(ticket);
  return status;
}

vmm::Status CopyQueue::order(Stream behind, std::uint64_t ticket) {
  if (passed(ticket)) return vmm::Status::ok;
  return driver_.wait(behind, events_[ticket % ring]);
}

}  // namespace holdall
