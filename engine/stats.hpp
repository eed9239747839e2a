// What the engine counted since it began. Counters only grow; the others are as of now.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/vmm/bytes.hpp"

namespace holdall {

struct Traffic {
  std::uint64_t hits = 0;         // leased chunks that were resident
  std::uint64_t faults = 0;       // leased chunks that had to be brought in
  std::uint64_t prefetched = 0;   // chunks brought in ahead of need
  std::uint64_t evictions = 0;    // chunks that lost their frame to another
  std::uint64_t write_backs = 0;  // dirty chunks copied to their backing
  Bytes bytes_in = 0;             // copied from a backing into frames
  Bytes bytes_out = 0;            // copied from frames to a backing
};

struct RangeStats : Traffic {
  std::string name;
  Bytes bytes = 0;
  Bytes resident = 0;
};

// What another policy would have done with the same requests, estimated from a sample.
struct ShadowStats {
  std::string policy;
  std::uint64_t hits = 0;
  std::uint64_t faults = 0;
};

struct DeviceStats {
  std::string name;
  std::string policy;
  Bytes budget = 0;
  Bytes allocated = 0;  // in frames, idle ones included
  Bytes resident = 0;
  Bytes pinned = 0;     // resident under a lease, or under work that one covered
  std::uint64_t moved_to_peers = 0;  // chunks that were evicted to another device
  std::vector<ShadowStats> shadows;  // of Config::shadow
};

// Calls of the driver of one kind, and the time that they took.
struct DriverCalls {
  std::uint64_t calls = 0;
  std::chrono::nanoseconds time{0};
};

struct Stats : Traffic {
  std::vector<RangeStats> ranges;
  std::vector<DeviceStats> devices;
  Bytes host_budget = 0;
  Bytes host_pinned = 0;
  DriverCalls map, set_access, unmap;
  std::uint64_t stalls = 0;                        // acquires that had to ask the pager
  std::chrono::nanoseconds stalled{0};             // and their waiting
};

}  // namespace holdall
