#include "apps/graph/beside.hpp"

namespace holdall::graph {

Beside::Beside(const PagedGraph& graph)
    : driver_(graph.engine().driver()),
      own_(graph.stream()),
      stream_(graph.engine().stream(graph.device())) {
  vmm::check(driver_.create_event(event_, graph.device()), "create an event");
}

Beside::~Beside() {
  (void)driver_.synchronize(stream_);
  (void)driver_.destroy_event(event_);
}

void Beside::follow(Stream after, Stream before) {
  vmm::check(driver_.record(event_, before), "record what was put on a stream");
  vmm::check(driver_.wait(after, event_), "let a stream wait");
}

}  // namespace holdall::graph
