// Start here for embeddings. A table bigger than the GPU: rows by key, looked up at the speed of
// the memory they are in.
//
// Hot rows are in device memory, the others in pinned host memory, each once. Which are hot is
// known from frequencies, or learned. A look-up gathers hot rows and, beside that, reads the cold
// ones in the order of their addresses.
//
//   Engine engine({.memory = 8_GiB});
//   EmbeddingTable table = EmbeddingTable::open(
//       engine, {.name = "items", .memory = 2_GiB}, *open_source("items.npy"));
//   table.lookup(keys, n, {out, RowType::fp32, stride}, stream);   // returns at once
//   table.update(keys, n, {rows, RowType::fp32, stride}, stream);  // later look-ups see it
//
// An engine of several devices has one table over all of them: each holds as many bytes of hot
// rows, spread so that each serves its share of the requests, and reads the others' where they lie.
// Every call takes a stream of any of them and gives the same answers. What leads from keys to rows
// is spread likewise. The devices have to reach each other.
//
// All calls are thread-safe, and ordered on their streams: a look-up sees a row before or after an
// update, never half of it, and every update that was called before. Pointers are device pointers
// (on the host driver: any), alive until the stream has passed. The engine outlives its tables; a
// stream outlives what it does. Errors are EmbeddingError, and the engine's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/embedding/error.hpp"
#include "apps/embedding/source.hpp"
#include "apps/embedding/spec.hpp"
#include "engine/engine.hpp"
#include "kernels/pool.hpp"
#include "kernels/write_rows.hpp"

namespace holdall::embedding {

using kernels::Bags;
using kernels::Pooling;
using kernels::RowsIn;
using kernels::RowsOut;

class Version;
class Learner;

// What is asked of a look-up besides rows.
struct Asked {
  std::uint8_t* found = nullptr;     // [n]: whether each key is known
  std::uint32_t* missing = nullptr;  // [1 + n]: how many are not, then which of the n, in any order
};

struct TableStats {
  std::uint64_t rows = 0;  // of the source
  std::uint64_t capacity = 0;
  std::uint64_t keys = 0;         // looked up; this and the next three as of a moment ago
  std::uint64_t cold = 0;         // of which were read from host memory
  std::uint64_t missing = 0;      // of which were unknown
  std::uint64_t bad_offsets = 0;  // bags that were none
  std::uint64_t duplicates = 0;   // keys that the source had before
  std::uint64_t refused = 0;   // keys that insert_or_assign had no room for; as of the last check()
  std::uint64_t moved = 0;     // rows that learning moved
  std::uint64_t versions = 1;  // loaded so far
  Bytes device_bytes = 0;      // rows alone, on all devices
  Bytes host_bytes = 0;
  Bytes overhead_bytes = 0;       // of device memory, for entries, keys and counts
  double predicted_hit_rate = 0;  // of the order and budget
  double hit_rate() const {
    return keys > missing ? 1 - static_cast<double>(cold) / static_cast<double>(keys - missing) : 0;
  }
};

class EmbeddingTable {
 public:
  // Reads the whole source. Throws EmbeddingError, WorkingSetTooLarge, OutOfHostMemory.
  static EmbeddingTable open(Engine& engine, const TableSpec& spec, const Source& source);
  EmbeddingTable(EmbeddingTable&&) noexcept;
  EmbeddingTable& operator=(EmbeddingTable&&) noexcept;
  ~EmbeddingTable();  // waits for what it is used by

  const std::string& name() const;
  std::uint32_t dim() const;
  RowType type() const;

  // Row i of `out` becomes the row of keys[i]. Waits for nothing, unless the stream's batches have
  // grown.
  void lookup(const std::uint64_t* keys, std::uint64_t n, const RowsOut& out, Stream stream,
              const Asked& asked = {});
  // Bags, with the semantics of torch.nn.EmbeddingBag. `bags.indices` are keys.
  void bag(const Bags& bags, const RowsOut& out, Stream stream);
  // found[i]: whether there is a row of keys[i].
  void contains(const std::uint64_t* keys, std::uint64_t n, std::uint8_t* found, Stream stream);

  // Writes the rows of keys that there are; others are counted. Of equal keys the last wins.
  void update(const std::uint64_t* keys, std::uint64_t n, const RowsIn& rows, Stream stream);
  // The same, and makes rows of new keys while there is room (capacity); dense ids are below it.
  void insert_or_assign(const std::uint64_t* keys, std::uint64_t n, const RowsIn& rows,
                        Stream stream);
  void erase(const std::uint64_t* keys, std::uint64_t n, Stream stream);
  // Counts these keys as asked for, so that learning moves them up. Without learning it does
  // nothing.
  void prefetch(const std::uint64_t* keys, std::uint64_t n, Stream stream);

  // Rows of ordinary memory, as fp32, and whether they were found. Waits.
  struct Batch {
    std::vector<float> rows;
    std::vector<std::uint8_t> found;
  };
  Batch export_batch(const std::vector<std::uint64_t>& keys);

  // Reads a new source beside the old rows, then answers from it; look-ups that began before end as
  // they began. Needs the memory of both. Throws as open does: the old version stays.
  void load_version(const Source& source);
  void load_version(const std::filesystem::path& path);
  // Moves the border between device and host memory, `memory` of each device; answers the hit rate
  // that is expected. Waits
  // for the moving, look-ups and others go on. Throws WorkingSetTooLarge, OutOfHostMemory: the
  // border stays where it came to.
  double set_budget(Bytes memory);
  double predicted_hit_rate(Bytes memory) const;
  // One step of learning: answers how many rows it moved. Throws if learning is off.
  std::uint64_t learn();

  // Writes rows in the order of their numbers, or of nothing, if hashed: .safetensors (tensors
  // `rows` and, if hashed, `keys`) or .npy (dense alone). As fp32 where the rows are int8. Updates
  // wait for it.
  void save(const std::filesystem::path& path);

  // Waits for the stream. Throws EmbeddingError if, since the last time, keys were unknown that
  // must not be, offsets were bad or keys were refused.
  void check(Stream stream);
  TableStats stats() const;

  // What a bag of many tables needs. See bags.hpp.
  std::shared_ptr<Version> version() const;

 private:
  struct State;
  explicit EmbeddingTable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Many tables in one launch: bag b of table t is bag t * (bags.bags / tables.size()) + b of `bags`;
// row b of `out` is the results of all tables one behind the other. The tables are of one engine.
// Cold rows are read where they lie; bag() of each, which sorts them first, is faster where most are.
void bags(const std::vector<EmbeddingTable*>& tables, const Bags& bags, const RowsOut& out,
          Stream stream);

}  // namespace holdall::embedding
