#include "apps/graph/checked_neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "apps/graph/error.hpp"
#include "engine/file.hpp"

namespace holdall::graph {

namespace {

constexpr Bytes piece_bytes = Bytes{2} << 20;  // chunks are so many of them

template <typename T>
class CheckedValues final : public Backing {
 public:
  CheckedValues(const GraphFile& graph, const FileArray& array, const char* name,
                std::uint64_t below)
      : path_(graph.path),
        offset_(array.offset),
        name_(name),
        below_(below),
        file_({.path = graph.path, .offset = array.offset}, name, array.bytes()),
        checked_((array.bytes() + piece_bytes - 1) / piece_bytes) {}

  bool full() const override { return true; }
  bool writable() const override { return false; }
  void read(Bytes offset, std::span<std::byte> to) override {
    file_.read(offset_ + offset, to);
    for (Bytes at = 0; at < to.size(); at += piece_bytes) {
      std::atomic<bool>& checked = checked_[(offset + at) / piece_bytes];
      if (checked.load(std::memory_order_relaxed)) continue;
      check(offset + at, to.subspan(at, std::min(piece_bytes, to.size() - at)));
      checked.store(true, std::memory_order_relaxed);
    }
  }
  void write(Bytes, std::span<const std::byte>) override {}

 private:
  void check(Bytes offset, std::span<const std::byte> bytes) const {
    const std::span values(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    T greatest = 0;
    for (const T value : values) greatest = std::max(greatest, value);
    if (greatest < below_) return;
    const auto bad = std::ranges::find_if(values, [this](T value) { return value >= below_; });
    const auto before = static_cast<Bytes>(bad - values.begin()) * sizeof(T);
    throw GraphError(
        path_, Byte{offset_ + offset + before},
        name_ == "neighbours"
            ? fmt::format("the neighbour {} is outside the {} vertices", *bad, below_)
            : fmt::format("the bits {:#x} are no weight; expected less than {:#x}", *bad, below_),
        "the file is damaged; get it again");
  }

  const std::filesystem::path path_;
  const Bytes offset_;
  const std::string name_;
  const std::uint64_t below_;
  holdall::File file_;
  std::vector<std::atomic<bool>> checked_;
};

}  // namespace

BackingSpec checked_neighbours(const GraphFile& file, const FileArray& neighbours) {
  return std::make_shared<CheckedValues<Vertex>>(file, neighbours, "neighbours", file.vertices);
}

BackingSpec checked_weights(const GraphFile& file, const FileArray& weights) {
  return std::make_shared<CheckedValues<std::uint32_t>>(file, weights, "weights",
                                                        weights_below(file.weights));
}

}  // namespace holdall::graph
