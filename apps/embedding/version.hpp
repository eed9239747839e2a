// One snapshot of a table's rows, with all that finds, changes and moves them. EmbeddingTable holds
// the newest.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "apps/embedding/fetch.hpp"
#include "apps/embedding/hit_curve.hpp"
#include "apps/embedding/resident.hpp"
#include "apps/embedding/row_store.hpp"
#include "apps/embedding/stream_work.hpp"
#include "apps/embedding/table.hpp"
#include "apps/embedding/turns.hpp"
#include "kernels/counts.hpp"

namespace holdall::embedding {

struct LearnWork;

class Version {
 public:
  Version(Engine& engine, const TableSpec& spec, const Source& source,
          std::shared_ptr<Streams> streams);
  ~Version();

  // What readers are told; asked for within a turn.
  kernels::TableView view() const { return view_; }

  void lookup(const kernels::LookupIn& in, const RowsOut& out, Stream stream);
  void bag(const Bags& bags, const RowsOut& out, Stream stream);
  void contains(const std::uint64_t* keys, std::uint64_t n, std::uint8_t* found, Stream stream);
  void write(const std::uint64_t* keys, std::uint64_t n, const RowsIn& rows, bool insert,
             Stream stream);
  void erase(const std::uint64_t* keys, std::uint64_t n, Stream stream);
  void prefetch(const std::uint64_t* keys, std::uint64_t n, Stream stream);
  double set_budget(Bytes memory);
  double predicted_hit_rate(Bytes memory) const;
  // At most so many bytes a second; 0: as fast as it goes.
  std::uint64_t learn(Bytes bytes_per_second = 0);
  // For a version that follows, of as many rows: frequencies that give it this one's order, which
  // may be learned; empty where there is none. And its curve of hits.
  std::vector<std::uint64_t> order_for(const SourceInfo& next);
  void expect_as(const Version& before);
  void save(const std::filesystem::path& path);
  void export_rows(const std::uint64_t* keys, std::uint64_t n, float* rows, std::uint8_t* found);
  void check(Stream stream);
  void add_stats(TableStats& stats) const;

  Engine& engine() const { return engine_; }
  const TableSpec& spec() const { return spec_; }
  Turns& turns() { return turns_; }
  const FetchCosts& costs() const { return costs_; }
  StreamWork& work_of(Stream stream);

 private:
  int device_of(Stream stream) const;
  FetchPlan plan(std::uint64_t n) const;
  kernels::Counting counting();  // of the next batch
  void observe(StreamWork& work, Stream stream, std::uint64_t n);

  void load(const Source& source, const std::vector<std::uint32_t>& places);
  std::vector<std::uint32_t> places_of(const Source& source, std::vector<std::uint64_t>& keys);
  void load_keys(const std::vector<std::uint64_t>& keys, const std::vector<std::uint32_t>& places);
  kernels::FreePlaces free_places();
  void need_entries(const char* what) const;
  kernels::LookupCounts looked_up() const;
  bool misled(const std::uint32_t* hot, const std::uint32_t* cold);
  std::vector<std::uint64_t> live_keys();

  Engine& engine_;
  TableSpec spec_;
  const std::shared_ptr<Streams> streams_;
  const StreamEach streams_each_;
  const Stream stream_;  // the first of them: for loading, moving and resizing
  const std::uint64_t rows_;
  Turns turns_;
  std::unique_ptr<RowStore> store_;
  Resident<std::uint32_t> entries_;
  Resident<std::uint64_t> keys_;
  Resident<std::uint32_t> free_;     // positions that nobody uses
  Resident<std::uint64_t> tallies_;  // how many those are; refused; unknown to writers
  Resident<float> fallback_;
  Resident<std::uint32_t> counts_;
  kernels::TableView view_;  // changed while nobody reads it: Turns::change
  std::atomic<bool> all_hot_{false};
  std::atomic<std::uint32_t> batch_{0};
  FetchCosts costs_;

  mutable std::mutex works_lock_;
  std::map<std::pair<void*, int>, std::unique_ptr<StreamWork>> works_;  // of a stream and device
  std::atomic<double> cold_share_{0};                                   // of the keys, of late
  std::uint64_t duplicates_ = 0;
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> moved_{0};

  struct WriteWork {
    std::unique_ptr<StreamWork> lists;
    std::uint64_t room = 0;
  };
  std::mutex write_lock_;                // of what writers work with
  std::map<int, WriteWork> write_work_;  // by device

  std::unique_ptr<LearnWork> learn_work_;
  std::mutex boundary_lock_;  // one resize or learning step at a time
  mutable std::mutex curve_lock_;
  HitCurve curve_;
  std::vector<std::uint32_t> spare_;  // positions that learning moves rows to
  std::uint64_t halved_at_ = 0;       // keys
  kernels::LookupCounts judged_at_;   // when last the counts were held against what was asked for
};

// `at`: where each table's results begin in a row of `out`.
void pool_versions(const std::vector<std::shared_ptr<Version>>& versions,
                   const std::vector<std::uint64_t>& at, const Bags& bags, const RowsOut& out,
                   Stream stream);

}  // namespace holdall::embedding
