#include "apps/graph/external.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <oneapi/tbb/parallel_sort.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/graph/error.hpp"
#include "apps/graph/file.hpp"
#include "apps/graph/hold.hpp"
#include "apps/graph/pieces.hpp"

namespace holdall::graph {

namespace {

struct Entry {
  Vertex from = 0, to = 0;
  std::uint32_t weight = 0;
  friend auto operator<=>(const Entry&, const Entry&) = default;
};

// Entries that went to an unnamed temporary file, one sorted run after the other.
class Runs {
 public:
  Runs() {
    std::string name = (std::filesystem::temp_directory_path() / "holdall-runs-XXXXXX").string();
    handle_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (handle_ < 0) fail("created");
    ::unlink(name.c_str());
  }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;
  ~Runs() { ::close(handle_); }

  // Sorts `entries`, writes them and empties them.
  void add(std::vector<Entry>& entries) {
    if (entries.empty()) return;
    tbb::parallel_sort(entries.begin(), entries.end());
    const auto* const bytes = reinterpret_cast<const char*>(entries.data());
    const Bytes size = entries.size() * sizeof(Entry);
    for (Bytes done = 0; done < size;) {
      const ssize_t n = ::pwrite(handle_, bytes + done, size - done,
                                 static_cast<off_t>(end_ * sizeof(Entry) + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("written");
      done += static_cast<Bytes>(n);
    }
    runs_.emplace_back(end_, end_ + entries.size());
    end_ += entries.size();
    entries.clear();
  }

  std::uint64_t entries() const { return end_; }

  // Calls `visit` for all entries in order; `memory` bytes are shared among the runs.
  template <typename Visit>
  void merge(Bytes memory, Visit visit) const {
    const std::size_t each =
        std::max<std::size_t>(memory / sizeof(Entry) / std::max<std::size_t>(runs_.size(), 1), 64);
    std::vector<Reader> readers;
    for (const auto& [begin, end] : runs_) readers.push_back({begin, end, {}, 0});
    using Head = std::pair<Entry, std::size_t>;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    const auto next = [&](std::size_t run) {
      Reader& reader = readers[run];
      if (reader.used == reader.entries.size()) {
        reader.entries.resize(std::min<std::uint64_t>(each, reader.end - reader.at));
        if (reader.entries.empty()) return;
        read(reader.at, reader.entries);
        reader.at += reader.entries.size();
        reader.used = 0;
      }
      heads.emplace(reader.entries[reader.used++], run);
    };
    for (std::size_t run = 0; run < readers.size(); ++run) next(run);
    while (!heads.empty()) {
      const auto [entry, run] = heads.top();
      heads.pop();
      visit(entry);
      next(run);
    }
  }

 private:
  struct Reader {
    std::uint64_t at, end;
    std::vector<Entry> entries;
    std::size_t used;
  };

  void read(std::uint64_t at, std::span<Entry> to) const {
    for (Bytes done = 0; done < to.size_bytes();) {
      const ssize_t n =
          ::pread(handle_, reinterpret_cast<char*>(to.data()) + done, to.size_bytes() - done,
                  static_cast<off_t>(at * sizeof(Entry) + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail("read");
      done += static_cast<Bytes>(n);
    }
  }
  [[noreturn]] static void fail(const char* what) {
    throw GraphError(
        fmt::format("a temporary file in {} cannot be {}: {}; free some space, or set "
                    "TMPDIR to another folder",
                    std::filesystem::temp_directory_path().string(), what, std::strerror(errno)));
  }

  int handle_ = -1;
  std::uint64_t end_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs_;
};

// An array of the file that is written from its start to its end.
template <typename T>
class ArrayWriter {
 public:
  ArrayWriter(NewFile& file, Bytes begin) : file_(file), begin_(begin) {
    piece_.reserve(piece_bytes);
  }
  void put(T value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    piece_.insert(piece_.end(), bytes, bytes + sizeof(value));
    if (piece_.size() == piece_bytes) flush();
  }
  FileArray finish() {
    if (!piece_.empty()) flush();
    return {begin_, sizeof(T), bytes_ / sizeof(T), checksum_};
  }

 private:
  void flush() {
    checksum_ += piece_checksum(piece_, bytes_ / piece_bytes);
    file_.write(begin_ + bytes_, piece_.data(), piece_.size());
    bytes_ += piece_.size();
    piece_.clear();
  }
  NewFile& file_;
  const Bytes begin_;
  std::vector<std::byte> piece_;
  Bytes bytes_ = 0;
  std::uint64_t checksum_ = 0;
};

template <typename T>
FileArray write_array(NewFile& file, Bytes begin, const Array<T>& values) {
  const auto bytes = std::as_bytes(std::span<const T>(values));
  std::uint64_t checksum = 0;
  for (Bytes at = 0; at < bytes.size(); at += piece_bytes) {
    const auto piece = bytes.subspan(at, std::min(piece_bytes, bytes.size() - at));
    checksum += piece_checksum(piece, at / piece_bytes);
    file.write(begin + at, piece.data(), piece.size());
  }
  return {begin, sizeof(T), values.size(), checksum};
}

}  // namespace

void build_hold(const EdgeSource& source, const BuildOptions& options,
                const std::filesystem::path& path, const Array<Vertex>& original_ids) {
  constexpr Bytes least_room = Bytes{16} << 20;
  const std::uint64_t vertices = source.vertices();
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const Bytes offset_bytes = (vertices + 1) * sizeof(std::uint64_t);
  if (vertices == 0) throw GraphError("a graph of no vertices: there is nothing to build");
  if (offset_bytes + original_ids.size() * sizeof(Vertex) + least_room > memory)
    throw GraphError(fmt::format(
        "a graph of {} vertices needs {} of memory even when it is sorted on disk, and {} may be "
        "used; allow more, or number the vertices without gaps (compact) if ids are sparse",
        vertices, holdall::to_string(offset_bytes + least_room), holdall::to_string(memory)));
  const Bytes room = memory - offset_bytes - original_ids.size() * sizeof(Vertex);
  const bool directed = !options.symmetrize;
  const bool weighted = source.weights() != Weights::none;

  NewFile file(path);
  HoldHeader header;
  header.directed = directed;
  header.weights = source.weights();
  header.vertices = vertices;
  Bytes end = hold_header_bytes;
  Array<std::uint64_t> offsets;
  struct Direction {
    FileArray offsets, neighbours, weights;
  };
  // The lists of `runs`: neighbours go to the file as they come. Weights, whose array begins where
  // that of the neighbours ends, take a second merge.
  const auto write_lists = [&](const Runs& runs, Direction& direction, bool weights_only) {
    const auto kept = [&, last = Entry{}, first = true](const Entry& entry) mutable {
      const bool repeats = !first && last.from == entry.from && last.to == entry.to;
      first = false;
      last = entry;
      return !(options.deduplicate && repeats);
    };
    if (weights_only) {
      ArrayWriter<std::uint32_t> weights(file, round_up(end, hold_alignment));
      runs.merge(room / 2, [&, keep = kept](const Entry& entry) mutable {
        if (keep(entry)) weights.put(entry.weight);
      });
      direction.weights = weights.finish();
      end = direction.weights.end();
      return;
    }
    offsets = Array<std::uint64_t>::zeros(vertices + 1);
    const Bytes offsets_at = round_up(end, hold_alignment);
    ArrayWriter<Vertex> neighbours(file, round_up(offsets_at + offset_bytes, hold_alignment));
    runs.merge(room / 2, [&, keep = kept](const Entry& entry) mutable {
      if (!keep(entry)) return;
      neighbours.put(entry.to);
      ++offsets[entry.from + std::uint64_t{1}];
    });
    for (std::uint64_t v = 0; v < vertices; ++v) offsets[v + 1] += offsets[v];
    direction.offsets = write_array(file, offsets_at, offsets);
    direction.neighbours = neighbours.finish();
    end = direction.neighbours.end();
    offsets = {};
  };

  // 1. sorted runs of the entries, as they are and turned round
  Runs out, in;
  {
    const auto most = static_cast<std::size_t>(room / 2 / sizeof(Entry) / (directed ? 2 : 1));
    std::vector<Entry> out_entries, in_entries;
    EdgeScratch scratch;
    const auto add = [&](std::vector<Entry>& entries, Runs& runs, const Entry& entry) {
      if (entries.capacity() == 0) entries.reserve(most);
      entries.push_back(entry);
      if (entries.size() == most) runs.add(entries);
    };
    for (std::uint64_t block = 0; block < source.blocks(); ++block) {
      if (options.progress) options.progress(block, source.blocks());
      const auto [edges, weights] = source.read(block, scratch);
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const auto [from, to] = edges[i];
        const std::uint32_t weight = weights.empty() ? 0 : weights[i];
        if (from == to && options.remove_self_loops) continue;
        add(out_entries, out, {from, to, weight});
        if (directed)
          add(in_entries, in, {to, from, weight});
        else if (from != to)
          add(out_entries, out, {to, from, weight});
      }
    }
    out.add(out_entries);
    in.add(in_entries);
  }

  // 2. merged into the arrays, in the order that write_graph() has
  Direction outward, inward;
  write_lists(out, outward, false);
  if (directed) write_lists(in, inward, false);
  if (weighted) write_lists(out, outward, true);
  if (weighted && directed) write_lists(in, inward, true);
  header.edges = outward.neighbours.count;
  header.arrays.push_back({HoldHeader::out_offsets, outward.offsets});
  header.arrays.push_back({HoldHeader::out_neighbours, outward.neighbours});
  if (directed) {
    header.arrays.push_back({HoldHeader::in_offsets, inward.offsets});
    header.arrays.push_back({HoldHeader::in_neighbours, inward.neighbours});
  }
  if (weighted) header.arrays.push_back({HoldHeader::out_weights, outward.weights});
  if (weighted && directed) header.arrays.push_back({HoldHeader::in_weights, inward.weights});
  if (!original_ids.empty()) {
    const FileArray ids = write_array(file, round_up(end, hold_alignment), original_ids);
    header.arrays.push_back({HoldHeader::original_ids, ids});
    end = ids.end();
  }

  // 3. the header
  header.file_bytes = round_up(end, hold_alignment);
  file.resize(header.file_bytes);
  file.write(0, encode(header).data(), hold_header_bytes);
  file.finish();
}

}  // namespace holdall::graph
