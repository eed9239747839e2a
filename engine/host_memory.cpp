#include "engine/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/error.hpp"

namespace holdall {

namespace {

constexpr Bytes huge_page = Bytes{2} << 20;

[[noreturn]] void no_addresses(Bytes bytes, const std::string& what, int error) {
  throw OutOfHostMemory(fmt::format("cannot get {} of addresses for {}: {}", to_string(bytes), what,
                                    std::strerror(error)));
}

// Prefers the memory of one NUMA node; a hint, so a failure is none.
void prefer_node(std::byte* at, Bytes bytes, int node) {
  constexpr int mpol_preferred = 1;
  if (node < 0 || node >= 64) return;
  const unsigned long mask = 1UL << node;
  (void)syscall(SYS_mbind, at, bytes, mpol_preferred, &mask, 64, 0);
}

}  // namespace

void HostMemory::charge(Bytes bytes, const std::string& what) {
  Bytes used = used_;
  do {
    if (used + bytes > budget_)
      throw OutOfHostMemory(fmt::format(
          "{} needs {} of pinned host memory; {} of {} are in use: raise the host memory budget "
          "(--host-memory), or back the range by a file",
          what, to_string(bytes), to_string(used), to_string(budget_.load())));
  } while (!used_.compare_exchange_weak(used, used + bytes));
}

std::byte* HostMemory::reserve(Bytes bytes, const std::string& what) const {
  const Bytes room = bytes + huge_page;
  void* const at =
      mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) no_addresses(bytes, what, errno);
  auto* const begin = static_cast<std::byte*>(at);
  auto* const aligned = reinterpret_cast<std::byte*>(
      round_up(reinterpret_cast<std::uintptr_t>(begin), huge_page));
  if (aligned != begin) munmap(begin, static_cast<std::size_t>(aligned - begin));
  if (const Bytes tail = static_cast<Bytes>(begin + room - (aligned + bytes)); tail >= 4096)
    munmap(aligned + round_up(bytes, 4096), tail / 4096 * 4096);
  return aligned;
}

void HostMemory::unreserve(std::byte* at, Bytes bytes) const {
  munmap(at, round_up(bytes, 4096));
}

void HostMemory::pin(std::byte* at, Bytes bytes, const std::string& what) const {
  if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) no_addresses(bytes, what, errno);
  (void)madvise(at, bytes, MADV_HUGEPAGE);
  prefer_node(at, bytes, numa_node_);
  tbb::parallel_for(Bytes{0}, (bytes + huge_page - 1) / huge_page, [&](Bytes page) {
    for (Bytes i = page * huge_page; i < std::min(bytes, (page + 1) * huge_page); i += 4096)
      *reinterpret_cast<volatile char*>(at + i) = 0;
  });
  const vmm::Status status = driver_.pin(at, bytes);
  if (status == vmm::Status::ok) return;
  const std::string why = driver_.last_error();
  (void)madvise(at, bytes, MADV_DONTNEED);
  throw OutOfHostMemory(fmt::format(
      "cannot pin {} for {}: {}{}{}: lower the host memory budget (--host-memory), or raise the "
      "limit of locked memory (ulimit -l)",
      to_string(bytes), what, vmm::to_string(status), why.empty() ? "" : ", ", why));
}

void HostMemory::unpin(std::byte* at, Bytes bytes) const {
  (void)driver_.unpin(at);
  (void)madvise(at, bytes, MADV_DONTNEED);
}

PinnedArray::PinnedArray(HostMemory& memory, Bytes bytes, std::string what)
    : memory_(memory), bytes_(round_up(bytes, 4096)), what_(std::move(what)) {
  memory_.charge(bytes_, what_);
  try {
    base_ = memory_.reserve(bytes_, what_);
    maker_ = std::jthread([this](std::stop_token stop) { make(std::move(stop)); });
  } catch (...) {
    if (base_) memory_.unreserve(base_, bytes_);
    memory_.discharge(bytes_);
    throw;
  }
}

PinnedArray::~PinnedArray() {
  maker_.request_stop();
  maker_.join();
  for (Bytes at = 0; at < made_; at += slab)
    memory_.unpin(base_ + at, std::min(slab, bytes_ - at));
  memory_.unreserve(base_, bytes_);
  memory_.discharge(bytes_);
}

void PinnedArray::make(std::stop_token stop) {
  try {
    while (made_ < bytes_ && !stop.stop_requested()) {
      const Bytes n = std::min(slab, bytes_ - made_);
      memory_.pin(base_ + made_, n, what_);
      made_ += n;
      made_.notify_all();
    }
  } catch (const std::exception& e) {
    why_ = e.what();
    failed_ = true;
    made_ |= 1;  // wakes those who wait; a slab is even
    made_.notify_all();
  }
}

void PinnedArray::wait(Bytes offset, Bytes bytes) {
  const Bytes end = std::min(offset + bytes, bytes_);
  for (Bytes made = made_; made < end; made = made_) {
    if (failed_) throw OutOfHostMemory(why_);
    made_.wait(made);
  }
}

PinnedSlots::~PinnedSlots() {
  for (const auto [at, bytes] : slabs_) {
    memory_.unpin(at, bytes);
    memory_.unreserve(at, bytes);
    memory_.discharge(bytes);
  }
}

void PinnedSlots::make(Bytes bytes) {
  const std::string what = fmt::format("the write-back of chunks of {}", to_string(slot_));
  memory_.charge(bytes, what);
  std::byte* at = nullptr;
  try {
    at = memory_.reserve(bytes, what);
    memory_.pin(at, bytes, what);
  } catch (...) {
    if (at) memory_.unreserve(at, bytes);
    memory_.discharge(bytes);
    throw;
  }
  slabs_.push_back({at, bytes});
  for (Bytes offset = 0; offset < bytes; offset += slot_) addresses_.push_back(at + offset);
  for (Bytes i = 0; i < bytes / slot_; ++i)
    idle_.push_back(static_cast<std::uint32_t>(addresses_.size() - i));
}

std::uint32_t PinnedSlots::take() {
  if (idle_.empty()) {
    try {
      make(std::max(slot_, slab / slot_ * slot_));
    } catch (const OutOfHostMemory&) {
      make(slot_);  // one at a time, to the last
    }
  }
  const std::uint32_t slot = idle_.back();
  idle_.pop_back();
  return slot;
}

}  // namespace holdall
