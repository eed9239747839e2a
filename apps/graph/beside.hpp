// A second stream of a graph's device, for work that may run at the same time as that on the
// graph's own.
//
//   beside.begin();                  // after all that is on the graph's stream by now
//   kernel<<<..., beside.stream()>>>
//   ...                              // on the graph's stream, meanwhile
//   beside.end();                    // what comes on the graph's stream follows both
#pragma once

#include "apps/graph/paged_graph.hpp"

namespace holdall::graph {

class Beside {
 public:
  explicit Beside(const PagedGraph& graph);
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside();  // waits

  Stream stream() const { return stream_; }
  void begin() { follow(stream_, own_); }
  void end() { follow(own_, stream_); }

 private:
  void follow(Stream after, Stream before);

  vmm::Driver& driver_;
  Stream own_, stream_;
  vmm::Event event_;
};

}  // namespace holdall::graph
