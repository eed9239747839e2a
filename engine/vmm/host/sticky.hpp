// Why a device of the host driver is lost. The first cause stays; there is no way back.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/vmm/driver.hpp"

namespace holdall::vmm {

using Address = std::uintptr_t;

// A touch of memory that was caught by its page protection.
struct Touch {
  enum Kind { read, write, either };
  Address address = 0;
  Address offset = 0;                  // in the reservation, bytes
  const std::string* label = nullptr;  // of the reservation; lives for ever
  Kind kind = either;
  bool readable = false;  // the memory could be read: only writing was not granted
  bool bus = false;       // the system found no memory for the page
  unsigned stream = 0;
};

// Thread-safe.
class Sticky {
 public:
  // Async-signal-safe.
  void set(const Touch& touch) noexcept;
  void set(const void* address, std::string what);

  bool lost() const noexcept { return state_.load(std::memory_order_acquire) == State::told; }
  std::optional<Fault> fault() const;

 private:
  enum class State { well, telling, told };
  bool begin() noexcept;

  std::atomic<State> state_{State::well};
  // Written by the one that began, read once told.
  Touch touch_;
  Fault fault_;
};

// "'edges' + 8388608 bytes"
std::string place_in(const std::string& label, Bytes offset);

}  // namespace holdall::vmm
