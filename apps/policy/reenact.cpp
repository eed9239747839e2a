#include "apps/policy/reenact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <vector>

#include "apps/policy/error.hpp"
#include "apps/policy/trace.hpp"
#include "policies/registry.hpp"

namespace holdall::lab {

namespace {

// A device of the engine, as its policy knew it.
struct Device {
  std::unique_ptr<Policy> policy;
  std::unordered_set<std::uint64_t> resident, held;  // by key
};

class Stage {
 public:
  Stage(const std::string& path, const std::string& policy) : input_(path) {
    const auto recording = read_header(input_);
    if (!recording)
      throw LabError(fmt::format(
          "{}: is no recording of the engine, so there is nothing to re-enact: leave out --live, "
          "or record a run with --trace",
          input_.name()));
    result_.recording = *recording;
    for (const std::uint64_t budget : recording->budgets) {
      Device& device = devices_.emplace_back();
      device.policy = make_policy(policy.empty() ? recording->policy : policy);
      device.policy->resize(budget);
    }
  }

  Reenactment run() {
    constexpr std::size_t size = sizeof(TraceRecord);
    for (std::string_view bytes; !(bytes = input_.peek(size)).empty(); input_.skip(size)) {
      if (bytes.size() < size)
        fail(fmt::format("the trace is cut short: {} of {} bytes", bytes.size(), size));
      TraceRecord record;
      std::memcpy(&record, bytes.data(), size);
      if (record.device >= devices_.size())
        fail(fmt::format("device {}: there are {}", record.device, devices_.size()));
      play(record, devices_[record.device]);
      ++number_;
    }
    return std::move(result_);
  }

 private:
  void play(const TraceRecord& record, Device& device) {
    const std::uint64_t key = key_of(record);
    switch (record.kind) {
      case trace_read:
      case trace_write:
      case trace_overwrite:
      case trace_prefetch:
        return record.outcome ? come(record, device, key) : hit(record, device, key);
      case trace_ask:
        (void)device.policy->admit(
            Key{key}, {record.bytes, (record.outcome & 1) != 0, (record.outcome & 2) != 0});
        return;
      case trace_back:
        enter(device, key, {record.bytes, record.outcome != 0});
        return;
      case trace_held:
        device.held.insert(key);
        return;
      case trace_free:
        device.held.erase(key);
        return;
      case trace_victim:
        return ask(record, device, key);
      case trace_evict:
        ++result_.evictions;
        return leave(device, key, Left::evicted);
      case trace_remove:
        ++result_.removed;
        return leave(device, key, Left::dropped);
      case trace_budget:
        device.policy->resize(record.bytes);
        return;
      case trace_told:
        device.policy->hinted(Key{key}, record.next_use);
        return;
      default:
        fail(fmt::format("kind {} is none of a recording", record.kind));
    }
  }

  void hit(const TraceRecord& record, Device& device, std::uint64_t key) {
    ++result_.hits;
    if (!device.resident.contains(key)) {
      ++result_.late;
      return;
    }
    const bool write = record.kind == trace_write || record.kind == trace_overwrite;
    device.policy->accessed(Key{key}, {record.bytes, write, false, record.next_use});
  }

  void come(const TraceRecord& record, Device& device, std::uint64_t key) {
    const bool ahead = record.kind == trace_prefetch;
    ++(ahead ? result_.prefetched : result_.faults);
    const bool write = record.kind == trace_write || record.kind == trace_overwrite;
    enter(device, key, {record.bytes, write, ahead, record.next_use});
  }

  void enter(Device& device, std::uint64_t key, const Request& request) {
    if (!device.resident.insert(key).second) fail("comes in, and is resident");
    device.policy->inserted(Key{key}, request);
  }

  void leave(Device& device, std::uint64_t key, Left why) {
    if (!device.resident.erase(key)) fail("leaves, and is not resident");
    device.held.erase(key);
    device.policy->removed(Key{key}, why);
  }

  void ask(const TraceRecord& record, Device& device, std::uint64_t key) {
    ++result_.victims;
    const std::optional<Key> answer = device.policy->victim([&](Key chunk) {
      const auto value = static_cast<std::uint64_t>(chunk);
      return device.resident.contains(value) && !device.held.contains(value);
    });
    const std::optional<Key> recorded = record.outcome ? std::optional(Key{key}) : std::nullopt;
    if (answer == recorded) {
      ++result_.agreed;
    } else if (result_.differed.empty()) {
      const auto name = [](std::optional<Key> chunk) {
        if (!chunk) return std::string("none");
        const auto value = static_cast<std::uint64_t>(*chunk);
        return fmt::format("chunk {} of range {}", value & ((std::uint64_t{1} << 40) - 1),
                           value >> 40);
      };
      result_.differed =
          fmt::format("record {}: {} instead of {}", number_, name(answer), name(recorded));
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw LabError(
        fmt::format("{}: record {} at byte {}: {}", input_.name(), number_, input_.offset(), what));
  }

  Input input_;
  std::uint64_t number_ = 0;
  std::vector<Device> devices_;
  Reenactment result_;
};

}  // namespace

Reenactment reenact(const std::string& path, const std::string& policy) {
  return Stage(path, policy).run();
}

}  // namespace holdall::lab
