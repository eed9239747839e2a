#include <thread>

#include "engine/vmm/host/driver.hpp"

namespace holdall::vmm {

namespace {

// Stream-ordered work that ends `late` after it is done.
std::function<void()> ending_late(std::chrono::nanoseconds late, std::function<void()> work) {
  if (late.count() <= 0) return work;
  return [late, work = std::move(work)] {
    std::this_thread::sleep_for(late);
    work();
  };
}

}  // namespace

HostStream* LinuxDriver::find(Stream stream) const {
  if (!stream.on_host()) return nullptr;
  // The thread's newest stream is known to be alive as long as none has ended since, so that
  // threads do not meet here.
  thread_local struct {
    const LinuxDriver* driver = nullptr;
    HostStream* stream = nullptr;
    std::uint64_t ended = 0;
  } newest;
  const std::uint64_t ended = streams_ended.load(std::memory_order_acquire);
  if (newest.driver == this && newest.stream == stream.host() && newest.ended == ended)
    return newest.stream;
  const std::lock_guard lock(handles_);
  if (!streams_.contains(stream.host())) return nullptr;
  newest = {this, stream.host(), ended};
  return newest.stream;
}

std::shared_ptr<HostEvent> LinuxDriver::find(Event event) const {
  const std::lock_guard lock(handles_);
  const auto it = events_.find(event.handle);
  return it == events_.end() ? nullptr : it->second;
}

Status LinuxDriver::usable(Stream stream, HostStream*& found) const {
  found = find(stream);
  if (found == nullptr) return refuse(Status::invalid_value, "no stream of this host driver");
  return usable(found->device());
}

Status LinuxDriver::create_stream(Stream& stream, int index) {
  if (const Status status = usable(index); status != Status::ok) return status;
  const std::lock_guard lock(handles_);
  auto made = std::make_unique<HostStream>(index, device(index).sticky, ++last_stream_, [this] {
    const std::lock_guard memory(memory_);
    table_.take_scratch_away();
  });
  stream = Stream(made.get());
  streams_.emplace(made.get(), std::move(made));
  return Status::ok;
}

Status LinuxDriver::destroy_stream(Stream stream) {
  std::unique_ptr<HostStream> gone;
  {
    const std::lock_guard lock(handles_);
    const auto it = stream.on_host() ? streams_.find(stream.host()) : streams_.end();
    if (it == streams_.end()) return refuse(Status::invalid_value, "no stream of this host driver");
    gone = std::move(it->second);
    streams_.erase(it);
    ++streams_ended;
  }
  const int index = gone->device();
  gone.reset();
  return usable(index);
}

Status LinuxDriver::synchronize(Stream stream) {
  if (const Ruling ruling = injections_.enter(Call::synchronize); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  // Of a lost device too: its last kernel may still run, on scratch memory.
  HostStream* on = find(stream);
  if (on == nullptr) return refuse(Status::invalid_value, "no stream of this host driver");
  on->synchronize();
  return usable(on->device());
}

Status LinuxDriver::device_of(Stream stream, int& index) const {
  const HostStream* on = find(stream);
  if (on == nullptr) return refuse(Status::invalid_value, "no stream of this host driver");
  index = on->device();
  return Status::ok;
}

Status LinuxDriver::is_capturing(Stream stream, bool& capturing) const {
  HostStream* on = nullptr;
  if (const Status status = usable(stream, on); status != Status::ok) return status;
  capturing = on->capturing;
  return Status::ok;
}

Status LinuxDriver::set_capturing(Stream stream, bool capturing) {
  HostStream* on = nullptr;
  if (const Status status = usable(stream, on); status != Status::ok) return status;
  on->capturing = capturing;
  return Status::ok;
}

Status LinuxDriver::create_event(Event& event, int device) {
  if (const Status status = usable(device); status != Status::ok) return status;
  auto made = std::make_shared<HostEvent>(device);
  event.handle = made.get();
  const std::lock_guard lock(handles_);
  events_.emplace(made.get(), std::move(made));
  return Status::ok;
}

Status LinuxDriver::destroy_event(Event event) {
  const std::shared_ptr<HostEvent> gone = find(event);
  if (gone == nullptr) return refuse(Status::invalid_value, "no event of this host driver");
  {
    const std::lock_guard lock(handles_);
    events_.erase(event.handle);
  }
  return usable(gone->device);
}

Status LinuxDriver::record(Event event, Stream stream) {
  const Ruling ruling = injections_.enter(Call::record);
  if (ruling.status != Status::ok) return refuse(ruling.status, "injected");
  const std::shared_ptr<HostEvent> at = find(event);
  if (at == nullptr) return refuse(Status::invalid_value, "no event of this host driver");
  HostStream* on = nullptr;
  if (const Status status = usable(stream, on); status != Status::ok) return status;
  if (at->device != on->device())
    return refuse(Status::invalid_value, "an event is recorded on streams of its own device");
  auto marker = std::make_shared<Marker>(*on);
  const std::lock_guard lock(at->mutex);  // so that two records post in the order they are kept
  at->newest = marker;
  on->post(ending_late(ruling.late, [marker] { marker->pass(); }));
  return Status::ok;
}

Status LinuxDriver::wait(Stream stream, Event event) {
  const Ruling ruling = injections_.enter(Call::wait);
  if (ruling.status != Status::ok) return refuse(ruling.status, "injected");
  const std::shared_ptr<HostEvent> at = find(event);
  if (at == nullptr) return refuse(Status::invalid_value, "no event of this host driver");
  HostStream* on = nullptr;
  if (const Status status = usable(stream, on); status != Status::ok) return status;
  if (const Status status = usable(at->device); status != Status::ok) return status;
  const std::lock_guard lock(at->mutex);
  if (at->newest == nullptr) return Status::ok;
  on->post(ending_late(ruling.late, [marker = at->newest] { marker->wait(); }));
  return Status::ok;
}

Status LinuxDriver::query(Event event) {
  if (const Ruling ruling = injections_.enter(Call::query); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  const std::shared_ptr<HostEvent> at = find(event);
  if (at == nullptr) return refuse(Status::invalid_value, "no event of this host driver");
  if (const Status status = usable(at->device); status != Status::ok) return status;
  const std::lock_guard lock(at->mutex);
  return at->newest == nullptr || at->newest->passed() ? Status::ok : Status::not_ready;
}

Status LinuxDriver::synchronize(Event event) {
  if (const Ruling ruling = injections_.enter(Call::synchronize); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  const std::shared_ptr<HostEvent> at = find(event);
  if (at == nullptr) return refuse(Status::invalid_value, "no event of this host driver");
  std::shared_ptr<Marker> marker;
  {
    const std::lock_guard lock(at->mutex);
    marker = at->newest;
  }
  if (marker != nullptr) marker->wait();
  return usable(at->device);
}

}  // namespace holdall::vmm
