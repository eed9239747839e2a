// The driver port: all that Holdall asks of a GPU driver, and the only door to it.
//
// Two drivers stand behind it and pass one conformance suite (tests/vmm): `cuda` (libcuda, found at
// run time) and `host` (the same semantics on Linux virtual memory). A *frame* is one physical
// allocation, mapped whole, at offset 0, or not at all. An address can be touched once a frame is
// mapped there *and* access has been granted.
//
//   auto driver = vmm::make_host_driver({.devices = 1, .capacity = 1_GiB});
//   std::byte* at = nullptr;
//   vmm::Frame frame{};
//   check(driver->reserve(at, 64_MiB, 0, "demo"), "reserve");
//   check(driver->create(frame, 2_MiB, {vmm::Place::device, 0}), "create");
//   check(driver->map(at, 2_MiB, frame), "map");
//   check(driver->set_access(at, 2_MiB, {{{vmm::Place::device, 0}, vmm::Protection::read_write}}),
//   "set_access");
//
// Every call answers a Status and throws nothing: the pager decides what a failure means.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/stream.hpp"

namespace holdall::vmm {

enum class Status {
  ok,
  invalid_value,    // bad address, size, alignment or handle; a mapped address mapped again; a part
                    // of a mapping unmapped
  out_of_memory,    // past the capacity of the device, or of pinned host memory
  map_limit,        // host driver: the process has no mappings left (vm.max_map_count)
  not_supported,    // this device or driver can't
  not_ready,        // event: not yet passed; mapping calls: try again
  illegal_address,  // sticky: a copy or kernel touched what was not mapped or not granted; the
                    // device is lost
  no_device,        // no such device, or no driver
  unknown,          // anything else; `Driver::last_error` has the driver's own word
};
std::string_view to_string(Status status);

// Where a frame lies. `index`: the device's number, or for host memory the NUMA node.
struct Place {
  enum Kind { device, host } kind = device;
  int index = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

enum class Protection { none, read, read_write };

// `to` may touch the memory: a device, or the CPU (Place::host).
struct Grant {
  Place to;
  Protection protection = Protection::read_write;
};

enum class Frame : std::uint64_t {};  // 0 is no frame
struct Event {
  void* handle = nullptr;
  friend bool operator==(const Event&, const Event&) = default;
};

struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  Bytes bytes = 0;
};

struct DeviceInfo {
  std::string name;
  Bytes total = 0;               // memory of the device
  Bytes free = 0;                // of which nobody holds
  bool supports_paging = false;  // has virtual memory management
  int compute_capability = 0;    // 90 for 9.0; 0 on the host driver
  int numa_node = -1;            // nearest host node, -1: unknown
  int multiprocessors = 0;
};

// What made a device sticky, as far as the driver knows.
struct Fault {
  const void* address = nullptr;  // nullptr: unknown
  std::string what;               // "write of an unmapped address in 'edges' + 8 MiB by stream 3"
};

class Driver {
 public:
  virtual ~Driver() = default;

  virtual std::string_view name() const = 0;  // "cuda", "host"
  virtual int devices() const = 0;
  virtual DeviceInfo info(int device) const = 0;
  virtual bool can_access_peer(int device, int peer) const = 0;
  virtual Bytes granularity(Place place) const = 0;
  // The CPU may touch device frames through the mapped address (true on the host driver: no staging
  // is needed).
  virtual bool cpu_reaches_device() const = 0;
  // The driver's own word for the newest failure on this thread, for messages; may be empty.
  virtual std::string last_error() const = 0;
  // illegal_address once a device is lost, for good; else ok. `fault` says what is known about the
  // cause.
  virtual Status health(int device) const = 0;
  virtual std::optional<Fault> fault(int device) const = 0;

  // -- Addresses. `alignment` 0: the granularity; otherwise a power of two. `label` names it in
  // fault messages.
  [[nodiscard]] virtual Status reserve(std::byte*& at, Bytes bytes, Bytes alignment,
                                       std::string_view label) = 0;
  // The whole of what `reserve` gave, with nothing mapped in it.
  [[nodiscard]] virtual Status unreserve(std::byte* at, Bytes bytes) = 0;

  // -- Frames.
  [[nodiscard]] virtual Status create(Frame& frame, Bytes bytes, Place place) = 0;
  // The memory goes back at the last unmap; the handle is dead at once.
  [[nodiscard]] virtual Status release(Frame frame) = 0;

  // -- Mappings. `bytes` of map is the frame's size. set_access and unmap cover one or several
  // whole mappings that adjoin. None of them waits for a stream: an unmap under work in flight
  // loses the device.
  [[nodiscard]] virtual Status map(std::byte* at, Bytes bytes, Frame frame) = 0;
  [[nodiscard]] virtual Status set_access(std::byte* at, Bytes bytes,
                                          std::span<const Grant> to) = 0;
  [[nodiscard]] virtual Status unmap(std::byte* at, Bytes bytes) = 0;

  // -- Host memory that copies and kernels reach at link speed. Whole pages.
  [[nodiscard]] virtual Status pin(void* at, Bytes bytes) = 0;
  [[nodiscard]] virtual Status unpin(void* at) = 0;

  // -- Streams and events, as in CUDA: a stream is FIFO, an event is what its newest record stands
  // for, waiting for an event that was never recorded waits for nothing.
  [[nodiscard]] virtual Status create_stream(Stream& stream, int device) = 0;
  [[nodiscard]] virtual Status destroy_stream(Stream stream) = 0;  // finishes its work first
  [[nodiscard]] virtual Status synchronize(Stream stream) = 0;
  [[nodiscard]] virtual Status device_of(Stream stream, int& device) const = 0;
  [[nodiscard]] virtual Status is_capturing(Stream stream, bool& capturing) const = 0;
  [[nodiscard]] virtual Status create_event(Event& event, int device) = 0;
  [[nodiscard]] virtual Status destroy_event(Event event) = 0;
  [[nodiscard]] virtual Status record(Event event, Stream stream) = 0;
  [[nodiscard]] virtual Status wait(Stream stream,
                                    Event event) = 0;         // the stream waits, not the caller
  [[nodiscard]] virtual Status query(Event event) = 0;        // ok: passed; not_ready
  [[nodiscard]] virtual Status synchronize(Event event) = 0;  // the caller waits

  // -- Stream-ordered work. Each side of a copy lies within one mapping, or in pinned host memory;
  // the caller splits.
  [[nodiscard]] virtual Status copy(std::span<const Copy> copies, Stream stream) = 0;
  [[nodiscard]] virtual Status fill(void* at, std::uint8_t value, Bytes bytes, Stream stream) = 0;
  // Runs on a CPU thread of the driver when the stream comes to it; must not call the driver.
  [[nodiscard]] virtual Status host_call(Stream stream, std::function<void()> call) = 0;

  // Shorthands.
  [[nodiscard]] Status copy(void* to, const void* from, Bytes bytes, Stream stream) {
    const Copy one{to, from, bytes};
    return copy(std::span(&one, 1), stream);
  }
  [[nodiscard]] Status set_access(std::byte* at, Bytes bytes, std::initializer_list<Grant> to) {
    return set_access(at, bytes, std::span(to.begin(), to.size()));
  }
};

// Throws DriverError (engine/vmm/error.hpp) unless `status` is ok; `doing` is a verb phrase: "map a
// chunk of 'edges'".
void check(Status status, std::string_view doing,
           std::source_location where = std::source_location::current());

// The GPUs of this machine. Throws NoDevice, saying why and what to do, where there is none.
std::unique_ptr<Driver> make_cuda_driver();

// Whether make_cuda_driver would succeed; if not, `why` says what is missing.
bool cuda_available(std::string* why = nullptr);

}  // namespace holdall::vmm
