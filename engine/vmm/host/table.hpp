// The page table of the host driver: reservations, the mappings in them, and the system calls that
// make both true. It refuses what CUDA refuses.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/vmm/driver.hpp"
#include "engine/vmm/host/fault.hpp"

namespace holdall::vmm {

struct Mapping {
  Bytes bytes = 0;
  Frame frame{};
  Place place;
  int file = -1;
  Bytes offset = 0;                 // in the file
  std::vector<Protection> granted;  // by device; the last is the CPU's
};

// Whether a device reaches all of an interval.
struct Reach {
  bool mapped = false;    // it lies in a reservation; else it is memory of the host
  bool mixed = false;     // it lies in mappings of different places
  Place place;            // of the first mapping
  Address bad = 0;        // first address out of reach; 0: none
  std::string_view what;  // "an unmapped address"
};

// Not thread-safe. Each change is all or nothing.
class PageTable {
 public:
  explicit PageTable(int devices) : devices_(static_cast<std::size_t>(devices)) {}
  ~PageTable();
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  Status reserve(Address& at, Bytes bytes, Bytes alignment, std::string_view label);
  Status unreserve(Address at, Bytes bytes);

  Status map(Address at, Mapping mapping);
  // The mappings that adjoin and cover exactly [at, at + bytes); empty: there are none such.
  std::vector<const Mapping*> covering(Address at, Bytes bytes) const;
  // Both ask for an interval that `covering` found.
  Status set_access(Address at, Bytes bytes, std::span<const Grant> to);
  Status unmap(Address at, Bytes bytes);

  Reach reach(Address at, Bytes bytes, int device, Protection wanted) const;
  Bytes mapped(Address at, Bytes bytes) const;
  // "'edges' + 8388608 bytes", or the bare address outside every reservation.
  std::string name(Address at) const;

  // Puts the true mappings back where the fault handler left scratch memory.
  void take_scratch_away();
  bool scratched() const { return scratch_.any(); }

 private:
  struct Reservation {
    Bytes bytes = 0;
    std::string label;
    WatchedRange* watched = nullptr;
  };

  const std::pair<const Address, Reservation>* reservation_of(Address at, Bytes bytes) const;

  std::size_t devices_;
  std::map<Address, Reservation> reservations_;
  std::map<Address, Mapping> mappings_;
  ScratchLog scratch_;
};

}  // namespace holdall::vmm
