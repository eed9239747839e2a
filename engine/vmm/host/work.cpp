#include <fmt/format.h>

#include <thread>

#include "engine/vmm/host/driver.hpp"

namespace holdall::vmm {

namespace {

Address address(const void* at) { return reinterpret_cast<Address>(at); }

bool on_device(const Reach& reach) { return reach.mapped && reach.place.kind == Place::device; }

void sleep_for(std::chrono::nanoseconds time) {
  if (time.count() > 0) std::this_thread::sleep_for(time);
}

}  // namespace

Status LinuxDriver::copy(std::span<const Copy> copies, Stream stream) {
  const Ruling ruling = injections_.enter(Call::copy);
  if (ruling.status != Status::ok) return refuse(ruling.status, "injected");
  HostStream* on = nullptr;
  if (const Status status = usable(stream, on); status != Status::ok) return status;

  // What is mapped counts when the stream comes to it; what can be refused now is refused now.
  std::vector<InFlight::Ticket> tickets;
  {
    const std::lock_guard lock(memory_);
    std::vector<std::pair<Address, Bytes>> touched;
    for (const auto& [to, from, bytes] : copies) {
      if (bytes == 0) continue;
      if (to == nullptr || from == nullptr) return refuse(Status::invalid_value, "copy of nullptr");
      for (const void* side : {static_cast<const void*>(to), from}) {
        const Reach reach = table_.reach(address(side), bytes, on->device(), Protection::none);
        if (reach.mixed)
          return refuse(Status::invalid_value,
                        fmt::format("a copy over mappings of different places at {}: split it",
                                    table_.name(address(side))));
        if (reach.mapped) touched.emplace_back(address(side), bytes);
      }
    }
    for (const auto& [at, bytes] : touched) tickets.push_back(flight_.add(at, bytes, *on));
  }
  on->post([this, on, late = ruling.late, tickets = std::move(tickets),
            batch = std::vector<Copy>(copies.begin(), copies.end())] {
    for (const Copy& one : batch) {
      if (on->sticky().lost()) break;
      if (one.bytes > 0) copy_now(*on, one);
    }
    sleep_for(late);
    land(tickets);
  });
  return Status::ok;
}

void LinuxDriver::copy_now(HostStream& stream, const Copy& copy) {
  Reach to;
  Reach from;
  {
    const std::lock_guard lock(memory_);
    to = table_.reach(address(copy.to), copy.bytes, stream.device(), Protection::read_write);
    from = table_.reach(address(copy.from), copy.bytes, stream.device(), Protection::read);
  }
  if (!allowed(stream, from, "read") || !allowed(stream, to, "write")) return;
  auto arrives = std::chrono::steady_clock::time_point::min();
  if (options_.link_rate > 0 && on_device(to) != on_device(from)) {
    Device& far = device(on_device(to) ? to.place.index : from.place.index);
    arrives = (on_device(to) ? far.in : far.out).book(copy.bytes, options_.link_rate);
  }
  copy_bytes(stream.arena(), copy.to, copy.from, copy.bytes);
  std::this_thread::sleep_until(arrives);
}

bool LinuxDriver::allowed(HostStream& stream, const Reach& reach, std::string_view verb) {
  if (reach.bad == 0) return true;
  std::string name;
  {
    const std::lock_guard lock(memory_);
    name = table_.name(reach.bad);
  }
  stream.sticky().set(reinterpret_cast<const void*>(reach.bad),
                      fmt::format("{} of {} in {} by a copy on stream {}", verb, reach.what, name,
                                  stream.number()));
  return false;
}

void LinuxDriver::land(const std::vector<InFlight::Ticket>& tickets) {
  if (tickets.empty()) return;
  const std::lock_guard lock(memory_);
  for (const InFlight::Ticket ticket : tickets) flight_.remove(ticket);
}

Status LinuxDriver::fill(void* at, std::uint8_t value, Bytes bytes, Stream stream) {
  const Ruling ruling = injections_.enter(Call::fill);
  if (ruling.status != Status::ok) return refuse(ruling.status, "injected");
  HostStream* on = nullptr;
  if (const Status status = usable(stream, on); status != Status::ok) return status;
  if (bytes == 0) return Status::ok;
  std::vector<InFlight::Ticket> tickets;
  {
    const std::lock_guard lock(memory_);
    const Reach reach = table_.reach(address(at), bytes, on->device(), Protection::none);
    if (reach.mixed || (!reach.mapped && !pins_.covers(address(at), bytes)))
      return refuse(
          Status::invalid_value,
          fmt::format("fill at {}: neither within one place nor pinned", table_.name(address(at))));
    if (reach.mapped) tickets.push_back(flight_.add(address(at), bytes, *on));
  }
  on->post([this, on, at, value, bytes, late = ruling.late, tickets = std::move(tickets)] {
    if (!on->sticky().lost()) fill_now(*on, at, value, bytes);
    sleep_for(late);
    land(tickets);
  });
  return Status::ok;
}

void LinuxDriver::fill_now(HostStream& stream, void* at, std::uint8_t value, Bytes bytes) {
  Reach reach;
  {
    const std::lock_guard lock(memory_);
    reach = table_.reach(address(at), bytes, stream.device(), Protection::read_write);
  }
  if (allowed(stream, reach, "write")) fill_bytes(stream.arena(), at, value, bytes);
}

Status LinuxDriver::host_call(Stream stream, std::function<void()> call) {
  const Ruling ruling = injections_.enter(Call::host_call);
  if (ruling.status != Status::ok) return refuse(ruling.status, "injected");
  HostStream* on = nullptr;
  if (const Status status = usable(stream, on); status != Status::ok) return status;
  on->post_guarded("host call", [late = ruling.late, call = std::move(call)] {
    call();
    sleep_for(late);
  });
  return Status::ok;
}

}  // namespace holdall::vmm
