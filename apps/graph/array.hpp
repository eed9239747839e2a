// A heap array of plain values that is not filled when made and shrinks in place: what the big
// arrays of a graph need and std::vector does not give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <type_traits>

namespace holdall::graph {

// Throws GraphError with the number of bytes.
[[noreturn]] void refuse_allocation(std::uint64_t count, std::size_t element_bytes);

// Asks for huge pages where `memory` is long: arrays are read and written at random.
void prefer_huge_pages(void* memory, std::size_t bytes);

template <typename T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;

  // Contents are whatever was there; threads that write them first also touch the pages first.
  // Throws GraphError when the memory is not to be had.
  static Array uninitialized(std::uint64_t count) {
    return Array(count, count <= most ? std::malloc(bytes(count)) : nullptr);
  }
  static Array zeros(std::uint64_t count) {
    return Array(count, count <= most ? std::calloc(bytes(count), 1) : nullptr);
  }

  // Keeps the first `count` values and gives the rest of the memory back; no second copy is made.
  void shrink(std::uint64_t count) {
    if (count >= size_) return;
    void* const smaller = std::realloc(data_.get(), bytes(count));
    if (smaller != nullptr) {
      (void)data_.release();
      data_.reset(static_cast<T*>(smaller));
    }
    size_ = count;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::uint64_t i) { return data_.get()[i]; }
  const T& operator[](std::uint64_t i) const { return data_.get()[i]; }
  operator std::span<const T>() const { return {data(), size_}; }  // NOLINT: converts on purpose

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  static constexpr std::uint64_t most = PTRDIFF_MAX / sizeof(T);
  static std::size_t bytes(std::uint64_t count) { return count == 0 ? 1 : count * sizeof(T); }

  Array(std::uint64_t count, void* memory) : data_(static_cast<T*>(memory)), size_(count) {
    if (memory == nullptr) refuse_allocation(count, sizeof(T));
    prefer_huge_pages(memory, bytes(count));
  }

  std::unique_ptr<T, Free> data_;
  std::uint64_t size_ = 0;
};

}  // namespace holdall::graph
