// Parts of a graph that are processes, on one machine or several, started together by mpirun: each
// has an engine of its own and opens its part of the file in place. OpenMPI from the distribution;
// without it (-Dmpi=disabled) a process is always alone.
//
//   mpirun -n 4 --bind-to none holdall graph pagerank twitter.hold --memory 8GiB
//
//   Processes processes;
//   const std::unique_ptr<Exchange> exchange = processes.exchange(engine);
//   const PagedGraph part(engine, open_graph("twitter.hold"), {}, {exchange.get(), 0, {}});
#pragma once

#include <memory>

#include "apps/graph/exchange.hpp"

namespace holdall::graph {

class Processes {
 public:
  // Joins the others that mpirun started; alone where it was not used. Once in a process. Throws
  // Error where there are others and this library was built without MPI.
  Processes();
  // Waits for the others.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int rank() const { return rank_; }
  int count() const { return count_; }
  // To agree with the others. The engine outlives it.
  std::unique_ptr<Exchange> exchange(Engine& engine) const;
  // Ends this process and all others: they may wait for what it will never send.
  [[noreturn]] void abort(int status) const;

 private:
  int rank_ = 0;
  int count_ = 1;
};

}  // namespace holdall::graph
