// Whether a process is one of several that an MPI launcher started, told without MPI.
#pragma once

#include <cstdlib>

namespace holdall::graph {

inline bool started_by_mpirun() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

}  // namespace holdall::graph
