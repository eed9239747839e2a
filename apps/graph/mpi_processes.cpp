#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "apps/graph/processes.hpp"

namespace holdall::graph {

namespace {

// By mpirun, or by srun with either interface of its own.
bool started_by_a_launcher() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

constexpr Bytes most_at_once = Bytes{1} << 28;  // MPI counts in int

void check(int error, const char* doing) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  throw Error(std::string("cannot ") + doing +
              " between processes: " + std::string(text, static_cast<std::size_t>(length)));
}

template <class Each>
void for_each_piece(Bytes first, Bytes bytes, const Each& each) {
  for (Bytes at = first; at < first + bytes; at += most_at_once)
    each(at, static_cast<int>(std::min(most_at_once, first + bytes - at)));
}

// Arrays go through pinned host memory.
class ProcessExchange final : public Exchange {
 public:
  ProcessExchange(Engine& engine, int part, int parts)
      : engine_(engine), part_(part), parts_(parts) {}

  int part() const override { return part_; }
  int parts() const override { return parts_; }

 private:
  std::vector<std::uint64_t> collect(std::span<const std::uint64_t> mine) override {
    std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(parts_));
    const int count = static_cast<int>(mine.size());
    check(MPI_Allgather(mine.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T,
                        MPI_COMM_WORLD),
          "exchange numbers");
    return all;
  }

  void merge(const View& array, Merge merge) override {
    std::byte* const here = room(here_, array.bytes);
    copy_out(engine_.driver(), array, 0, array.bytes, here);
    engine_.synchronize(array.stream);
    const MPI_Datatype type = array.element == 8 ? MPI_UINT64_T : MPI_UINT32_T;
    for_each_piece(0, array.bytes, [&](Bytes at, int bytes) {
      check(MPI_Allreduce(MPI_IN_PLACE, here + at, bytes / static_cast<int>(array.element), type,
                          merge == Merge::unite ? MPI_BOR : MPI_MIN, MPI_COMM_WORLD),
            "merge vertex data");
    });
    copy_in(engine_.driver(), array, 0, array.bytes, here);
    engine_.synchronize(array.stream);
  }

  void gather(const View& array, std::span<const std::uint64_t> bounds) override {
    std::byte* const here = room(here_, array.bytes);
    const auto begin = [&](int part) {
      return bounds[static_cast<std::size_t>(part)] * array.element;
    };
    const auto bytes = [&](int part) { return begin(part + 1) - begin(part); };
    copy_out(engine_.driver(), array, begin(part_), bytes(part_), here + begin(part_));
    engine_.synchronize(array.stream);
    for (int part = 0; part < parts_; ++part) {
      broadcast(here, begin(part), bytes(part), part);
      if (part != part_)
        copy_in(engine_.driver(), array, begin(part), bytes(part), here + begin(part));
    }
    engine_.synchronize(array.stream);
  }

  void visit_others(const View& array,
                    const std::function<void(const std::byte*)>& visit) override {
    std::byte* const mine = room(here_, array.bytes);
    std::byte* const theirs = room(there_, array.bytes);
    copy_out(engine_.driver(), array, 0, array.bytes, mine);
    engine_.synchronize(array.stream);
    for (int part = 0; part < parts_; ++part) {
      broadcast(part == part_ ? mine : theirs, 0, array.bytes, part);
      if (part == part_) continue;
      visit(theirs);
      engine_.synchronize(array.stream);
    }
  }

  std::byte* room(HostArray<std::byte>& array, Bytes bytes) {
    if (array.size() < bytes)
      array = engine_.host_array<std::byte>(bytes, "vertex data for other processes");
    return array.data();
  }
  static void broadcast(std::byte* array, Bytes first, Bytes bytes, int from) {
    for_each_piece(first, bytes, [&](Bytes at, int some) {
      check(MPI_Bcast(array + at, some, MPI_BYTE, from, MPI_COMM_WORLD), "send vertex data");
    });
  }

  Engine& engine_;
  const int part_;
  const int parts_;
  HostArray<std::byte> here_, there_;
};

}  // namespace

Processes::Processes() {
  if (!started_by_a_launcher()) return;
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "start MPI");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &count_);
}

Processes::~Processes() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) MPI_Finalize();
}

std::unique_ptr<Exchange> Processes::exchange(Engine& engine) const {
  return std::make_unique<ProcessExchange>(engine, rank_, count_);
}

void Processes::abort(int status) const {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::abort();  // MPI_Abort does not come back
}

}  // namespace holdall::graph
