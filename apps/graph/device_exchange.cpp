#include "apps/graph/device_exchange.hpp"

namespace holdall::graph {

DeviceGroup::DeviceGroup(Engine& engine, int parts)
    : engine_(engine), parts_(parts), each_(static_cast<std::size_t>(parts)) {
  for (int a = 0; a < parts; ++a)
    for (int b = 0; b < parts; ++b)
      through_host_ |= a != b && !engine.driver().can_access_peer(a, b);
}

void DeviceGroup::fail() {
  const std::scoped_lock hold(lock_);
  failed_ = true;
  all_here_.notify_all();
}

void DeviceGroup::meet() {
  std::unique_lock hold(lock_);
  if (failed_) throw PartFailed();
  const std::uint64_t meeting = meetings_;
  if (++here_ == parts_) {
    here_ = 0;
    ++meetings_;
    all_here_.notify_all();
    return;
  }
  all_here_.wait(hold, [&] { return failed_ || meetings_ != meeting; });
  if (meetings_ == meeting) throw PartFailed();
}

void DeviceExchange::in_turn(const std::function<void()>& f) {
  for (int part = 0; part < parts(); ++part) {
    if (part == part_) f();
    group_.meet();
  }
}

std::vector<std::uint64_t> DeviceExchange::collect(std::span<const std::uint64_t> mine) {
  group_.each_[static_cast<std::size_t>(part_)].numbers.assign(mine.begin(), mine.end());
  group_.meet();
  std::vector<std::uint64_t> all;
  for (const DeviceGroup::Part& part : group_.each_)
    all.insert(all.end(), part.numbers.begin(), part.numbers.end());
  group_.meet();
  return all;
}

// Lets the others look at an array as it is once the stream has come here.
void DeviceExchange::show(const View& array) {
  DeviceGroup::Part& mine = group_.each_[static_cast<std::size_t>(part_)];
  mine.range = array.range;
  if (group_.through_host_) {
    if (mine.copy.size() < array.bytes)
      mine.copy =
          group_.engine_.host_array<std::byte>(array.bytes, "vertex data for other devices");
    copy_out(group_.engine_.driver(), array, 0, array.bytes, mine.copy.data());
  }
  group_.engine_.synchronize(array.stream);
  group_.meet();
}

// Where this device finds what another part shows.
const std::byte* DeviceExchange::look_at(int part, const View& mine) {
  const DeviceGroup::Part& other = group_.each_[static_cast<std::size_t>(part)];
  if (group_.through_host_) return other.copy.data();
  // Chunks are granted to a device when it first asks, and stay granted: the other part's lease
  // keeps them where they are.
  if (granted_.insert(other.range->id).second)
    (void)group_.engine_.acquire(mine.stream,
                                 {{other.range, Access::read, 0, other.range->bytes, nullptr}});
  return other.range->base;
}

void DeviceExchange::finish(const View& array) {
  group_.engine_.synchronize(array.stream);
  group_.meet();
}

// Each part merges a slice of its own, then takes the others' slices from them: nobody writes what
// somebody reads, and each byte crosses a link twice.
void DeviceExchange::merge(const View& array, Merge merge) {
  const auto n = static_cast<Bytes>(parts());
  const Bytes words = array.bytes / 8;
  const auto begin = [&](int part) { return words * static_cast<Bytes>(part) / n * 8; };
  const auto end = [&](int part) { return part + 1 == parts() ? array.bytes : begin(part + 1); };
  show(array);
  const Bytes first = begin(part_);
  for (int step = 1; step < parts(); ++step)
    launch(merge, array, array.range->base + first,
           look_at((part_ + step) % parts(), array) + first, end(part_) - first);
  vmm::Driver& driver = group_.engine_.driver();
  if (group_.through_host_) {
    finish(array);  // all have read the copies
    copy_out(driver, array, first, end(part_) - first,
             group_.each_[static_cast<std::size_t>(part_)].copy.data() + first);
  }
  finish(array);
  for (int step = 1; step < parts(); ++step) {
    const int part = (part_ + step) % parts();
    copy_in(driver, array, begin(part), end(part) - begin(part),
            look_at(part, array) + begin(part));
  }
  finish(array);
}

void DeviceExchange::gather(const View& array, std::span<const std::uint64_t> bounds) {
  show(array);
  for (int step = 1; step < parts(); ++step) {
    const int part = (part_ + step) % parts();
    const Bytes first = bounds[static_cast<std::size_t>(part)] * array.element;
    const Bytes bytes = bounds[static_cast<std::size_t>(part) + 1] * array.element - first;
    copy_in(group_.engine_.driver(), array, first, bytes, look_at(part, array) + first);
  }
  finish(array);
}

void DeviceExchange::visit_others(const View& array,
                                  const std::function<void(const std::byte*)>& visit) {
  show(array);
  for (int step = 1; step < parts(); ++step) visit(look_at((part_ + step) % parts(), array));
  finish(array);
}

}  // namespace holdall::graph
