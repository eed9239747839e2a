#include "apps/graph/split.hpp"

#include <mutex>
#include <thread>
#include <vector>

#include "apps/graph/device_exchange.hpp"

namespace holdall::graph {

namespace {

// `page(part)`: the PagedGraph of a part.
template <class Page>
void run_parts(Engine& engine, const Page& page,
               const std::function<void(const PagedGraph& part)>& run) {
  const int parts = engine.devices();
  if (parts == 1) return run(page(PagedGraph::Part{}));
  DeviceGroup group(engine, parts);
  std::mutex lock;
  std::exception_ptr first;
  const auto one = [&](int part) {
    try {
      DeviceExchange exchange(group, part);
      run(page(PagedGraph::Part{&exchange, part, {}}));
    } catch (const PartFailed&) {
      // Another says why.
    } catch (...) {
      const std::scoped_lock hold(lock);
      if (!first) first = std::current_exception();
      group.fail();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int part = 1; part < parts; ++part) threads.emplace_back(one, part);
    one(0);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace

void run_on_devices(Engine& engine, const GraphFile& file, const PagedGraph::Options& options,
                    const std::function<void(const PagedGraph& part)>& run) {
  const bool out = options.out || !file.directed;
  Array<std::uint64_t> read[2];
  if (engine.devices() > 1) {
    if (out) read[0] = load_offsets(file, file.out);
    if (options.in && file.directed) read[1] = load_offsets(file, file.in);
  }
  run_parts(
      engine,
      [&](PagedGraph::Part part) {
        part.offsets = {read[0], read[1]};
        return PagedGraph(engine, file, options, part);
      },
      run);
}

void run_on_devices(Engine& engine, const Csr& csr, const PagedGraph::Options& options,
                    const std::function<void(const PagedGraph& part)>& run) {
  run_parts(
      engine, [&](const PagedGraph::Part& part) { return PagedGraph(engine, csr, options, part); },
      run);
}

}  // namespace holdall::graph
