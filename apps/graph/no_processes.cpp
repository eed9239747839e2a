// Stands in for mpi_processes.cpp where the library is built without MPI.
#include <cstdlib>

#include "apps/graph/processes.hpp"

namespace holdall::graph {

Processes::Processes() {
  const char* const count = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (count != nullptr && std::atoi(count) > 1)
    throw Error(
        "this was started by mpirun, but built without MPI: install libopenmpi-dev and build it "
        "with -Dmpi=enabled, or run it without mpirun");
}
Processes::~Processes() = default;

std::unique_ptr<Exchange> Processes::exchange(Engine&) const {
  return std::make_unique<Exchange>();
}

void Processes::abort(int status) const { std::exit(status); }

}  // namespace holdall::graph
