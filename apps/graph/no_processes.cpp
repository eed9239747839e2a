// Stands in for mpi_processes.cpp where the library is built without MPI.
#include <cstdlib>

#include "apps/graph/processes.hpp"
#include "apps/graph/started_by_mpirun.hpp"

namespace holdall::graph {

Processes::Processes() {
  if (started_by_mpirun())
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
