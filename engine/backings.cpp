#include "engine/backings.hpp"

#include <fmt/format.h>

#include <cstring>

#include "engine/error.hpp"
#include "engine/file.hpp"

namespace holdall {

namespace {

class Pinned : public Backing {
 public:
  Pinned(HostMemory& memory, const std::string& name, Bytes bytes, Bytes chunk_bytes)
      : bytes_(bytes),
        chunk_bytes_(chunk_bytes),
        array_(memory, bytes, fmt::format("the pinned backing of '{}'", name)) {}

  bool full() const override { return handed_out_; }
  std::byte* address(std::uint64_t chunk, std::uint32_t&, bool) override {
    array_.wait(chunk * chunk_bytes_, chunk_bytes_);
    return array_.data() + chunk * chunk_bytes_;
  }
  void read(Bytes offset, std::span<std::byte> to) override {
    array_.wait(offset, to.size());
    std::memcpy(to.data(), array_.data() + offset, to.size());
  }
  void write(Bytes offset, std::span<const std::byte> from) override {
    array_.wait(offset, from.size());
    std::memcpy(array_.data() + offset, from.data(), from.size());
  }
  std::byte* contents() {
    array_.wait(0, bytes_);
    handed_out_ = true;
    return array_.data();
  }

 private:
  const Bytes bytes_;
  const Bytes chunk_bytes_;
  PinnedArray array_;
  std::atomic<bool> handed_out_{false};  // somebody may have written anything into it
};

class Zeros : public Backing {
 public:
  explicit Zeros(PinnedSlots& slots) : slots_(slots) {}

  bool full() const override { return false; }
  std::byte* address(std::uint64_t, std::uint32_t& slot, bool to_write) override {
    if (!slot && to_write) slot = slots_.take();
    return slot ? slots_.address(slot) : nullptr;
  }
  void read(Bytes, std::span<std::byte> to) override { std::memset(to.data(), 0, to.size()); }
  void write(Bytes, std::span<const std::byte>) override {}
  void forget(std::uint32_t& slot) override {
    if (slot) slots_.give(slot);
    slot = 0;
  }

 private:
  PinnedSlots& slots_;
};

class InFile : public Backing {
 public:
  InFile(const FileBacking& spec, const std::string& name, Bytes bytes)
      : file_(spec, name, bytes), offset_(spec.offset), writable_(spec.writable) {}

  bool full() const override { return true; }
  bool writable() const override { return writable_; }
  bool outlives_range() const override { return writable_; }
  void read(Bytes offset, std::span<std::byte> to) override { file_.read(offset_ + offset, to); }
  void write(Bytes offset, std::span<const std::byte> from) override {
    file_.write(offset_ + offset, from);
  }
  void flush() override { file_.flush(); }

 private:
  File file_;
  const Bytes offset_;
  const bool writable_;
};

}  // namespace

std::shared_ptr<Backing> make_backing(const BackingSpec& spec, const std::string& name, Bytes bytes,
                                      Bytes chunk_bytes, HostMemory& memory, SlotsBySize& slots) {
  if (const auto* own = std::get_if<std::shared_ptr<Backing>>(&spec)) return *own;
  if (const auto* in_file = std::get_if<FileBacking>(&spec))
    return std::make_shared<InFile>(*in_file, name, bytes);
  if (std::holds_alternative<PinnedBacking>(spec))
    return std::make_shared<Pinned>(memory, name, bytes, chunk_bytes);
  PinnedSlots& of_size = slots.try_emplace(chunk_bytes, memory, chunk_bytes).first->second;
  return std::make_shared<Zeros>(of_size);
}

std::byte* host_contents(Backing& backing) {
  auto* const pinned = dynamic_cast<Pinned*>(&backing);
  return pinned ? pinned->contents() : nullptr;
}

}  // namespace holdall
