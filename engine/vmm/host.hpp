// The host driver: CUDA's paging semantics on Linux virtual memory, as strict as CUDA.
//
// A device is a memfd with a capacity; reserve is mmap PROT_NONE, map is MAP_FIXED shared, access
// is mprotect, unmap is MAP_FIXED PROT_NONE again. A stream is a worker thread with a FIFO queue;
// kernels are C++ functions that run on TBB. A touch of unmapped memory by a kernel or copy is
// caught and makes its device sticky (illegal_address), naming reservation, offset and stream. It
// is the default where there is no GPU, and how every test runs without one.
//
// A lost device answers illegal_address to all that would use it. What cleans up still does its
// work (unmap, unreserve, release, unpin; destroy_stream and destroy_event too, though they answer
// illegal_address), and synchronize still waits for what runs. Memory has one protection for all
// devices: a kernel that touches what only another device was granted is not caught, a copy is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "engine/vmm/driver.hpp"

namespace holdall::vmm {

// The calls that can be made to fail or to be late.
enum class Call {
  reserve,
  create,
  release,
  map,
  set_access,
  unmap,
  pin,
  copy,
  fill,
  record,
  wait,
  query,
  synchronize,
  host_call
};

// Makes the `nth` call of `call` (from 1, counted from when it is injected) answer `status` without
// doing anything, or wait `delay` first, or, for stream-ordered calls, finish `late` by that much.
// `times`: so many calls in a row.
struct Injection {
  Call call = Call::map;
  std::uint64_t nth = 1;
  std::uint64_t times = 1;
  Status status = Status::ok;  // ok: the call goes through
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds late{0};
};

struct HostOptions {
  int devices = 1;
  Bytes capacity = 0;   // of each device; 0: half of the machine's memory
  Bytes pin_limit = 0;  // pinned host memory; 0: no limit of its own
  // peers[i][j]: device i may access device j; empty: all may.
  std::vector<std::vector<bool>> peers = {};
  // Bytes a second of each direction of each device's link, modelled by making copies take as long;
  // 0: as fast as it goes.
  double link_rate = 0;
  // New frames are filled with this byte, so that a test sees contents that nobody wrote; -1: as
  // the system gives them.
  int poison = -1;
  // Seeded chaos: each call may be late by up to `jitter`; the same seed gives the same delays call
  // by call.
  std::uint64_t seed = 0;
  std::chrono::nanoseconds jitter{0};
};

class HostDriver : public Driver {
 public:
  virtual void inject(const Injection& injection) = 0;
  virtual void clear_injections() = 0;
  virtual std::uint64_t calls(Call call) const = 0;  // made so far

  // What the page table says, for tests: bytes mapped inside [at, at + bytes), and frames alive,
  // mapped or not.
  virtual Bytes mapped(const std::byte* at, Bytes bytes) const = 0;
  virtual Bytes allocated(int device) const = 0;
  virtual std::size_t frames() const = 0;
  virtual Bytes pinned() const = 0;  // by `pin`, and host frames

  // From now on `is_capturing(stream)` answers `capturing`; nothing else changes.
  [[nodiscard]] virtual Status set_capturing(Stream stream, bool capturing) = 0;
};

std::unique_ptr<HostDriver> make_host_driver(const HostOptions& options = {});

// Runs `kernel` when `stream` (of the host driver) comes to it, inside the stream's TBB arena, so
// that TBB algorithms in it are attributed to the stream. An exception that leaves it makes the
// device sticky with the exception's message. Throws DriverError where the device is lost already.
void launch(Stream stream, std::function<void()> kernel);

// While this lives, work put on `stream` may lie until somebody waits for it, who then does it on
// his own thread: for many small pieces of work that are waited for at once, which cost less than
// waking a thread does. Of no effect on streams of CUDA. The stream has to live longer.
//
//   const vmm::Unhurried by_hand(stream);
//   table.lookup(..., stream);
//   engine.synchronize(stream);
class Unhurried {
 public:
  explicit Unhurried(Stream stream);
  ~Unhurried();
  Unhurried(const Unhurried&) = delete;
  Unhurried& operator=(const Unhurried&) = delete;

 private:
  HostStream* const stream_;
};

}  // namespace holdall::vmm
