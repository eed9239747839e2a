// The density prefetcher of NVIDIA's driver: over each block stands a binary tree; where more than
// 51 % of the pages below a node are on the GPU, counting the one that is missing now, the rest of
// them comes too; the largest such node counts. In its published source (open-gpu-kernel-modules,
// kernel-open/nvidia-uvm/uvm_perf_prefetch.c) a block is 2 MiB of 512 pages and the parameter is
// uvm_perf_prefetch_threshold; analysed by Allen and Ge, "In-depth analyses of unified virtual
// memory system for GPU accelerated computing", SC 2021. Here a page is a chunk:
//   block=N     chunks a block, a power of two up to 512 (512)
//   density=P   per cent (51)
// Left out is its other rule, that a block which is nowhere yet is populated as a whole. A block at
// the end of its range is as short as it is. Counts are of chunks within the range.
#include "policies/density_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class DensityTree final : public Prefetch {
 public:
  DensityTree(std::uint64_t block, std::uint64_t density) : block_(block), density_(density) {}

  void requested(Key chunk, const KeyRange& range, bool resident,
                 std::vector<Key>& wanted) override {
    if (resident) return;
    const Place at = place(chunk, range);
    Bits bits{};
    if (const Index b = blocks_.find(at.block); b != none) bits = blocks_[b].bits;
    set(bits, at.number);

    // The largest node above the chunk that is dense enough; its first leaf, and the leaf behind
    // it.
    std::uint64_t first = at.number, last = at.number + 1;
    for (std::uint64_t size = 2; size <= block_; size *= 2) {
      const std::uint64_t begin = at.number / size * size;
      const std::uint64_t end = std::min(begin + size, at.size);
      if (count(bits, begin, end) * 100 <= (end - begin) * density_) continue;
      first = begin;
      last = end;
    }
    const std::uint64_t base = static_cast<std::uint64_t>(at.block);
    for (std::uint64_t i = first; i < last; ++i)
      if (!test(bits, i)) wanted.push_back(Key{base + i});
  }

  void inserted(Key chunk, const KeyRange& range) override {
    const Place at = place(chunk, range);
    Index b = blocks_.find(at.block);
    if (b == none) b = blocks_.add({at.block, {}});
    set(blocks_[b].bits, at.number);
  }

  void removed(Key chunk, const KeyRange& range) override {
    const Place at = place(chunk, range);
    const Index b = blocks_.find(at.block);
    if (b == none) return;
    blocks_[b].bits[at.number / 64] &= ~(std::uint64_t{1} << at.number % 64);
    if (blocks_[b].bits == Bits{}) blocks_.drop(b);
  }

 private:
  using Bits = std::array<std::uint64_t, 8>;
  struct Block {
    Key key;    // of its first chunk
    Bits bits;  // resident; not all 0
  };
  struct Place {
    Key block;
    std::uint64_t number, size;  // of the chunk in its block; of the block
  };

  Place place(Key chunk, const KeyRange& range) const {
    const auto base = static_cast<std::uint64_t>(range.first);
    const std::uint64_t in_range = static_cast<std::uint64_t>(chunk) - base;
    const std::uint64_t begin = in_range / block_ * block_;
    return {Key{base + begin}, in_range - begin, std::min(block_, range.count - begin)};
  }

  static bool test(const Bits& bits, std::uint64_t i) { return bits[i / 64] >> i % 64 & 1; }
  static void set(Bits& bits, std::uint64_t i) { bits[i / 64] |= std::uint64_t{1} << i % 64; }
  static std::uint64_t count(const Bits& bits, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t n = 0;
    for (std::uint64_t word = begin / 64; word * 64 < end; ++word) {
      std::uint64_t part = bits[word];
      if (word * 64 < begin) part &= ~std::uint64_t{0} << begin % 64;
      if (end - word * 64 < 64) part &= (std::uint64_t{1} << end % 64) - 1;
      n += static_cast<std::uint64_t>(std::popcount(part));
    }
    return n;
  }

  const std::uint64_t block_, density_;
  Chunks<Block> blocks_;
};

}  // namespace

std::unique_ptr<Prefetch> make_density_tree(Parameters& parameters) {
  const std::uint64_t block = parameters.count("block", 512, 2, 512);
  if (!std::has_single_bit(block))
    throw PolicyError("block is a power of two, not " + std::to_string(block));
  return std::make_unique<DensityTree>(block, parameters.count("density", 51, 1, 100));
}

}  // namespace holdall::policies
