// UVM: what NVIDIA's driver does with managed memory when a GPU is full. It evicts whole blocks of
// 2 MiB of addresses, the one whose last migration is longest ago; what a GPU reads and writes in
// place is never seen. In its published source (open-gpu-kernel-modules, kernel-open/nvidia-uvm):
// uvm_pmm_gpu.c keeps the blocks with pages on the GPU in a list, takes the first of it
// (pick_root_chunk_to_evict; before it, only memory that holds nothing), and moves a block to its
// end when pages of it have been made resident (uvm_pmm_gpu_mark_root_chunk_used, called from
// block_mark_memory_used in uvm_va_block.c). A comment there wishes for the time of mapping
// instead.
//   block=N   chunks a block, a power of two: 1, or 512 for a trace of 4 KiB pages (1)
// A block is N chunks with keys next to each other. Its chunks leave in the order they came.
#include <bit>

#include "policies/built_in.hpp"
#include "policies/order.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class Uvm final : public Policy {
 public:
  explicit Uvm(unsigned shift) : shift_(shift) {}

  void inserted(Key chunk, const Request&) override {
    if (chunks_.find(chunk) != none) return;
    const Key name{static_cast<std::uint64_t>(chunk) >> shift_};
    Index b = blocks_.find(name);
    if (b == none) {
      b = blocks_.add({{}, name, {}});
      order_.push_back(blocks_, b);
    } else {
      order_.move_to_back(blocks_, b);
    }
    blocks_[b].chunks.push_back(chunks_, chunks_.add({{}, chunk, b}));
  }
  void accessed(Key chunk, const Request& request) override { inserted(chunk, request); }

  void removed(Key chunk, Left) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    const Index b = chunks_[i].block;
    blocks_[b].chunks.erase(chunks_, i);
    chunks_.drop(i);
    if (!blocks_[b].chunks.empty()) return;
    order_.erase(blocks_, b);
    blocks_.drop(b);
  }

  // A block may go while any chunk of it may.
  std::optional<Key> victim(const MayEvict& may) override {
    Index found = none;
    const auto may_go = [&](Key name) {
      found = blocks_[blocks_.find(name)].chunks.front();
      while (found != none && !may(chunks_[found].key)) found = chunks_[found].next;
      return found != none;
    };
    if (order_.first(blocks_, may_go) == none) return std::nullopt;
    return chunks_[found].key;
  }
  void expect(std::span<const Key> chunks) override { chunks_.prefetch(chunks); }

 private:
  struct Node : Link {
    Key key;
    Index block;
  };
  struct Block : Link {
    Key key;
    List chunks;  // first come first; never empty
  };

  const unsigned shift_;
  Chunks<Node> chunks_;
  Chunks<Block> blocks_;
  EvictionOrder order_;  // longest without a migration first
};

}  // namespace

std::unique_ptr<Policy> make_uvm(Parameters& parameters) {
  const std::uint64_t block = parameters.count("block", 1, 1, std::uint64_t{1} << 32);
  if (!std::has_single_bit(block))
    throw PolicyError("block is a power of two, not " + std::to_string(block));
  return std::make_unique<Uvm>(static_cast<unsigned>(std::countr_zero(block)));
}

}  // namespace holdall::policies
