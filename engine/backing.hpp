// Where a chunk's contents live when it is not resident. The engine has four: pinned host memory, a file, zeros (pinned
// slots taken at the first write-back) and pinned host frames (cold mode host-mapped). One of your own derives from this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "engine/vmm/bytes.hpp"

namespace holdall {

class Backing {
 public:
  virtual ~Backing() = default;

  // Whether it holds contents for every chunk from the start; if not, a chunk never written back reads as zeros.
  virtual bool full() const = 0;
  // Pinned memory with the contents of `chunk`, which copies may run from and to; nullptr: use read and write.
  // `slot` is the backing's own to keep, 0 at first. `to_write`: take a place for it if it has none.
  // May wait for memory that is being made. Throws OutOfHostMemory.
  virtual std::byte* address(std::uint64_t chunk, std::uint32_t& slot, bool to_write) {
    (void)chunk, (void)slot, (void)to_write;
    return nullptr;
  }
  // Bytes from `offset` of the range. Called by several threads at once. Throws BackingError.
  virtual void read(Bytes offset, std::span<std::byte> to) = 0;
  virtual void write(Bytes offset, std::span<const std::byte> from) = 0;
  virtual bool writable() const { return true; }
  // Whether contents are wanted after the range has gone: dropping it writes its dirty chunks back first.
  virtual bool outlives_range() const { return false; }
  // Makes what was written durable. Throws BackingError.
  virtual void flush() {}
  // The contents of a chunk with a slot are not wanted any more.
  virtual void forget(std::uint32_t& slot) { (void)slot; }
};

struct PinnedBacking {};  // all of the range in pinned host memory, made in the background
struct ZerosBacking {};   // nothing until it is written
struct FileBacking {
  std::filesystem::path path = {};
  Bytes offset = 0;        // of the range's first byte in the file; any number
  bool writable = false;   // write-backs and flush go to the file
  enum Caching { automatic, direct, cached } caching = automatic;  // automatic: around the page cache if the file is big
};
using BackingSpec = std::variant<ZerosBacking, PinnedBacking, FileBacking, std::shared_ptr<Backing>>;

inline BackingSpec zeros() { return ZerosBacking{}; }
inline BackingSpec pinned() { return PinnedBacking{}; }
inline BackingSpec file(std::filesystem::path path, Bytes offset = 0, bool writable = false) {
  return FileBacking{std::move(path), offset, writable, FileBacking::automatic};
}

}  // namespace holdall
