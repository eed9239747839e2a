// Does paging from a file beat leaving it to the kernel? PageRank or breadth-first searches over a graph that stays in its
// file, by the engine's host driver, and over a plain mmap of the same file: PageRank by the same kernels, searches by
// bench/bfs_in_memory.hpp.
//
//   bench/under_limit BYTES bench-out-of-core kron22.hold --mode holdall|mmap|mmap-sequential [--algorithm bfs]
//
// It is the limit (bench/under_limit) that makes this a comparison: what the engine leaves free and all that the mmap takes
// is page cache, and counts. The file is dropped from the page cache first, so the first iteration is from cold.
// `read` is what came from the disk, by /proc/self/io. Checksums of two modes agree but for the order of additions; a
// search's is how many vertices it reaches.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <system_error>
#include <vector>

#include "apps/graph/bfs.hpp"
#include "apps/graph/pagerank.hpp"
#include "bench/bfs_in_memory.hpp"
#include "engine/vmm/host.hpp"
#include "kernels/device_array.hpp"

namespace holdall::graph {
namespace {

using Clock = std::chrono::steady_clock;

struct Measured {
  std::vector<double> seconds;  // of each iteration or search
  double checksum = 0;
  Bytes read = 0;  // in all iterations together
};

int open_file(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "open " + path.string());
  return fd;
}

void drop_from_cache(const std::filesystem::path& path) {
  const int fd = open_file(path);
  int error = fdatasync(fd) == 0 ? 0 : errno;
  if (error == 0) error = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
  if (error != 0) throw std::system_error(error, std::generic_category(), "drop from the page cache");
}

// By this process, from the disk, so far.
Bytes bytes_read() {
  std::ifstream io("/proc/self/io");
  for (std::string key; io >> key;) {
    Bytes bytes = 0;
    io >> bytes;
    if (key == "read_bytes:") return bytes;
  }
  return 0;
}

// Weighted, so that scores in each other's places do not pass.
double checksum(const std::vector<float>& scores) {
  double sum = 0;
  for (std::size_t v = 0; v < scores.size(); ++v) sum += static_cast<double>(v % 1009 + 1) * scores[v];
  return sum;
}

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

// One for each search, with edges, from all over the graph.
std::vector<Vertex> sources_of(const GraphFile& file, int searches) {
  const Array<std::uint64_t> offsets = load_offsets(file, file.out);
  std::vector<Vertex> sources;
  for (int i = 0; i < searches; ++i) {
    std::uint64_t v = file.vertices * static_cast<std::uint64_t>(i) / static_cast<std::uint64_t>(searches);
    while (v + 1 < file.vertices && offsets[v] == offsets[v + 1]) ++v;
    sources.push_back(static_cast<Vertex>(v));
  }
  return sources;
}

// `memory` 0: vertex data and a quarter of the edges.
template <class Algorithm>
Measured through_engine(const GraphFile& file, Bytes memory, Bytes chunk,
                        const std::function<void(Algorithm&, Measured&)>& job) {
  Engine engine({.memory = memory ? memory : file.bytes * 2, .driver = "host"});
  const PagedGraph graph(engine, file, {.chunk = chunk});
  Algorithm algorithm(graph);
  if (memory == 0)
    engine.set_memory(0, engine.leased() + round_up(graph.edges() * sizeof(Vertex) / 4,
                                                    graph.in().neighbours.chunk_bytes()));
  Measured measured;
  const Bytes before = bytes_read();
  job(algorithm, measured);
  measured.read = bytes_read() - before;
  return measured;
}

Measured ranks_through_engine(const GraphFile& file, int iterations, Bytes memory, Bytes chunk) {
  return through_engine<PageRankRun>(file, memory, chunk, [&](PageRankRun& pagerank, Measured& measured) {
    measured.checksum = checksum(pagerank
                                     .run({.iterations = iterations, .tolerance = 0},
                                          [&](const Step& step) { measured.seconds.push_back(step.seconds); })
                                     .scores);
  });
}

Measured searches_through_engine(const GraphFile& file, int searches, Bytes memory, Bytes chunk) {
  const std::vector<Vertex> sources = sources_of(file, searches);
  return through_engine<Bfs>(file, memory, chunk, [&](Bfs& bfs, Measured& measured) {
    for (const Vertex source : sources) {
      const BfsResult result = bfs.run(source);
      measured.seconds.push_back(result.seconds);
      measured.checksum += static_cast<double>(result.reached);
    }
  });
}

// `file` where the kernel has it.
class Mapping {
 public:
  Mapping(const GraphFile& file, bool sequential) : bytes_(file.bytes) {
    const int fd = open_file(file.path);
    at_ = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd, 0);
    const int error = errno;
    close(fd);
    if (at_ == MAP_FAILED) throw std::system_error(error, std::generic_category(), "mmap");
    if (sequential) (void)madvise(at_, bytes_, MADV_SEQUENTIAL);
  }
  ~Mapping() { munmap(at_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const Vertex* neighbours(const FileAdjacency& adjacency) const {
    return reinterpret_cast<const Vertex*>(static_cast<const std::byte*>(at_) + adjacency.neighbours.offset);
  }

 private:
  const Bytes bytes_;
  void* at_ = nullptr;
};

kernels::DeviceArray<std::uint64_t> offsets_of(const GraphFile& file, const FileAdjacency& adjacency,
                                               Stream stream) {
  const Array<std::uint64_t> loaded = load_offsets(file, adjacency);
  kernels::DeviceArray<std::uint64_t> offsets(loaded.size(), stream);
  offsets.write({loaded.data(), loaded.size()});
  return offsets;
}

Measured ranks_through_mmap(const GraphFile& file, int iterations, bool sequential) {
  const auto driver = vmm::make_host_driver();
  Stream stream;
  vmm::check(driver->create_stream(stream, 0), "create a stream");
  Measured measured;
  {
    const auto in = offsets_of(file, file.in, stream);
    kernels::DeviceArray<std::uint64_t> out;
    if (file.directed) out = offsets_of(file, file.out, stream);
    const kernels::DeviceArray<float> scores(file.vertices, stream), contributions(file.vertices, stream),
        sums(file.vertices, stream);
    const std::uint64_t edges = file.in.neighbours.count;
    const kernels::DeviceArray<std::byte> workspace(kernels::pagerank_workspace_bytes(edges, 1, stream), stream);
    const kernels::DeviceArray<kernels::EdgeSpan> spans({{0, edges}}, stream);
    const Mapping mapping(file, sequential);
    const kernels::PagerankState state{
        file.vertices, in.data(), file.directed ? out.data() : in.data(), mapping.neighbours(file.in), scores.data(),
        contributions.data(), sums.data(), workspace.data(), PagedPageRankOptions().damping};
    const Bytes before = bytes_read();
    kernels::pagerank_start(state, stream);
    for (int i = 0; i < iterations; ++i) {
      const auto began = Clock::now();
      kernels::pagerank_begin(state, stream);
      kernels::pagerank_pull(state, {spans.data(), 1, edges}, stream);
      kernels::pagerank_finish(state, stream);
      (void)kernels::pagerank_error(state, stream);
      measured.seconds.push_back(seconds_since(began));
    }
    measured.read = bytes_read() - before;
    measured.checksum = checksum(scores.read());
  }
  vmm::check(driver->destroy_stream(stream), "destroy a stream");
  return measured;
}

Measured searches_through_mmap(const GraphFile& file, int searches, bool sequential) {
  const std::vector<Vertex> sources = sources_of(file, searches);
  const Array<std::uint64_t> out = load_offsets(file, file.out);
  const Array<std::uint64_t> in = file.directed ? load_offsets(file, file.in) : Array<std::uint64_t>();
  const Mapping mapping(file, sequential);
  const Lists out_lists{out.data(), mapping.neighbours(file.out)};
  BfsInMemory bfs(file.vertices, out_lists,
                  file.directed ? Lists{in.data(), mapping.neighbours(file.in)} : out_lists);
  Measured measured;
  const Bytes before = bytes_read();
  for (const Vertex source : sources) {
    const auto began = Clock::now();
    measured.checksum += static_cast<double>(bfs.run(source));
    measured.seconds.push_back(seconds_since(began));
  }
  measured.read = bytes_read() - before;
  return measured;
}

int run(int argc, char** argv) {
  std::filesystem::path path;
  std::string mode = "holdall", algorithm = "pagerank";
  int iterations = 5;
  Bytes memory = 0, chunk = 0;
  CLI::App app("PageRank or searches from a file, by the engine or by mmap", "bench-out-of-core");
  app.add_option("FILE", path, ".hold or .sg")->required();
  app.add_option("--mode", mode)->check(CLI::IsMember({"holdall", "mmap", "mmap-sequential"}))->capture_default_str();
  app.add_option("--algorithm", algorithm)->check(CLI::IsMember({"pagerank", "bfs"}))->capture_default_str();
  app.add_option("--iterations", iterations, "of PageRank, or searches")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--memory", memory, "bytes, the engine's; 0: vertex data and a quarter of the edges");
  app.add_option("--chunk", chunk, "bytes; 0: the engine's default");
  CLI11_PARSE(app, argc, argv);

  const GraphFile file = open_graph(path);
  drop_from_cache(path);
  const bool bfs = algorithm == "bfs";
  Measured measured;
  if (mode == "holdall") {
    measured = (bfs ? searches_through_engine : ranks_through_engine)(file, iterations, memory, chunk);
  } else {
    measured = (bfs ? searches_through_mmap : ranks_through_mmap)(file, iterations, mode == "mmap-sequential");
  }
  const double seconds = std::accumulate(measured.seconds.begin(), measured.seconds.end(), 0.0);
  fmt::print("{}: {:.3f} s each (", mode, seconds / iterations);
  for (const double& one : measured.seconds) fmt::print("{}{:.3f}", &one == &measured.seconds[0] ? "" : " ", one);
  fmt::print("), edges {} MB, read {} MB each, checksum {:.7g}\n", file.in.neighbours.bytes() / 1'000'000,
             measured.read / 1'000'000 / static_cast<Bytes>(iterations), measured.checksum);
  return 0;
}

}  // namespace
}  // namespace holdall::graph

int main(int argc, char** argv) {
  try {
    return holdall::graph::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench-out-of-core: {}\n", e.what());
    return 1;
  }
}
