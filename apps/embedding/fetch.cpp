// Look-ups and bags: which way the cold rows of a batch are read, and that way.
#include "apps/embedding/fetch.hpp"

#include <algorithm>
#include <bit>

#include "apps/embedding/version.hpp"

namespace holdall::embedding {

StreamWork::Staged staged_by(Fetch fetch) {
  return fetch == Fetch::cpu || fetch == Fetch::both ? StreamWork::Staged::host
                                                     : StreamWork::Staged::none;
}

namespace {

// A look-up on its way.
struct Fetching {
  Engine& engine;
  const kernels::TableView& view;
  const FetchCosts& costs;
  const std::uint32_t cold;  // of the list, at most
  const std::uint64_t n;
  const RowsOut& out;
  StreamWork& work;
  const Stream stream;

  kernels::ColdList list() const { return work.list(cold); }
  void gather_hot() const { kernels::gather_hot(view, work.positions(), n, out, stream); }

  // The first parts of a list, `some` positions at most: the CPU gathers part after part into
  // pinned memory, and the device fetches one while the CPU gathers the next.
  void by_cpu(const kernels::ColdList& from, std::uint32_t some, Stream of_cpu,
              std::uint32_t first_parts, std::uint32_t parts) const {
    vmm::Driver& driver = engine.driver();
    const kernels::ColdList on_cpu = work.on_cpu(cold);
    std::byte* const staged = work.staged_on_host();
    vmm::check(driver.copy(on_cpu.count, from.count,
                           static_cast<Bytes>(from.positions + some - from.count) * 4, of_cpu),
               "bring the cold keys to the CPU");
    gather_hot();
    for (std::uint32_t part = 0; part < first_parts; ++part) {
      const kernels::TableView table = view;
      vmm::check(driver.host_call(of_cpu,
                                  [=] { kernels::stage_cold(table, on_cpu, staged, part, parts); }),
                 "gather cold rows");
      work.order(of_cpu, stream);
      kernels::gather_staged(view, from, staged, part, parts, out, stream);
    }
    work.order(stream, of_cpu);  // the next batch's copies come after
  }

  void cpu() const {
    const std::uint32_t parts = std::clamp(cold / 8192, 1u, 4u);
    work.order(stream, work.beside());
    by_cpu(list(), cold, work.beside(), parts, parts);
  }

  void beside() const {
    work.order(stream, work.beside());
    kernels::gather_cold(view, list(), 0, 1, out, costs.blocks, work.beside());
    gather_hot();
    work.order(work.beside(), stream);
  }

  // Whole, or but for the first parts, which the CPU gathers: what bounds the device is how many
  // pages' addresses it does not know, and the CPU takes it a range of them.
  void sorted(std::uint32_t cpu_parts) const {
    const kernels::ColdList sorted = work.sorted(cold);
    work.order(stream, work.beside());
    kernels::sort_list(list(), sorted, costs.low_bit, work.sorting(), work.beside());
    if (cpu_parts > 0) work.order(work.beside(), work.aside());
    kernels::gather_cold(view, sorted, cpu_parts, costs.parts, out, costs.blocks, work.beside());
    if (cpu_parts > 0) {
      const auto some = static_cast<std::uint32_t>(std::uint64_t{cold} * cpu_parts / costs.parts);
      by_cpu(sorted, some, work.aside(), cpu_parts, costs.parts);
    } else {
      gather_hot();
    }
    work.order(work.beside(), stream);
  }
};

}  // namespace

void fetch_rows(Engine& engine, const kernels::TableView& view, const FetchCosts& costs,
                const FetchPlan& plan, const kernels::LookupIn& in, const RowsOut& out,
                StreamWork& work, Stream stream) {
  if (plan.fetch == Fetch::direct) return kernels::gather(view, in, out, stream);
  kernels::locate(view, in, work.positions(), work.list(plan.cold), stream);
  const Fetching fetching{engine, view, costs, plan.cold, in.count, out, work, stream};
  switch (plan.fetch) {
    case Fetch::cpu:
      return fetching.cpu();
    case Fetch::beside:
      return fetching.beside();
    case Fetch::both:
      return fetching.sorted(costs.cpu_parts);
    default:
      return fetching.sorted(0);
  }
}

FetchPlan Version::plan(std::uint64_t n) const {
  if (all_hot_ || n == 0) return {};
  const double expected = static_cast<double>(n) * cold_share_.load(std::memory_order_relaxed);
  Fetch fetch = spec_.fetch;
  if (fetch == Fetch::measured)
    fetch = costs_.best(FetchCosts::batch_of(n), static_cast<std::uint32_t>(expected));
  // A quarter more than expected is listed; what is more than that is read directly.
  const auto room = static_cast<std::uint64_t>(expected * 1.25) + 1024;
  return {fetch, static_cast<std::uint32_t>(std::min(n, room))};
}

kernels::Counting Version::counting() {
  if (counts_.size() == 0) return {};
  return {counts_.data(), spec_.learning.one_in, batch_.fetch_add(1)};
}

void Version::observe(StreamWork& work, Stream stream, std::uint64_t n) {
  constexpr std::uint64_t small = 1 << 14;
  const kernels::LookupCounts now = work.told();
  if (now.keys > work.seen.keys) {
    cold_share_ = static_cast<double>(now.cold - work.seen.cold) /
                  static_cast<double>(now.keys - work.seen.keys);
    work.seen = now;
  }
  if (n < small && ++work.asked_after < 16) return;
  work.asked_after = 0;
  work.ask(stream);
}

void Version::lookup(const kernels::LookupIn& asked, const RowsOut& out, Stream stream) {
  StreamWork& work = work_of(stream);
  const std::scoped_lock hold(work.lock);
  kernels::LookupIn in = asked;
  in.counts = work.counts();
  in.counting = counting();
  const FetchPlan plan = this->plan(in.count);
  if (plan.fetch != Fetch::direct) work.make_room(in.count, plan.cold, staged_by(plan.fetch));
  turns_.read(stream, [&] { fetch_rows(engine_, view_, costs_, plan, in, out, work, stream); });
  observe(work, stream, in.count);
}

void Version::bag(const Bags& bags, const RowsOut& out, Stream stream) {
  StreamWork& work = work_of(stream);
  const std::scoped_lock hold(work.lock);
  const FetchPlan plan = this->plan(bags.count);
  if (plan.fetch != Fetch::direct)
    work.make_room(bags.count, plan.cold, StreamWork::Staged::device);
  turns_.read(stream, [&] {
    const kernels::TableView view = view_;
    if (plan.fetch == Fetch::direct)
      return kernels::pool(view, bags, {}, work.counts(), out, stream);
    // Cold rows are fetched in the order of their addresses first; then all are near.
    const kernels::LookupIn in{
        .keys = bags.indices, .count = bags.count, .counts = work.counts(), .counting = counting()};
    const kernels::ColdList sorted = work.sorted(plan.cold);
    kernels::locate(view, in, work.positions(), work.list(plan.cold), stream);
    kernels::sort_list(work.list(plan.cold), sorted, costs_.low_bit, work.sorting(), stream);
    kernels::stage_rows(view, sorted, work.positions(), work.staged_on_device(), costs_.blocks,
                        stream);
    kernels::pool(view, bags, {work.positions(), work.staged_on_device()}, work.counts(), out,
                  stream);
  });
  observe(work, stream, bags.count);
}

void Version::contains(const std::uint64_t* keys, std::uint64_t n, std::uint8_t* found,
                       Stream stream) {
  // A look-up of no elements.
  turns_.read(stream, [&] {
    kernels::TableView view = view_;
    view.row.dim = 0;
    kernels::gather(view, {.keys = keys, .count = n, .found = found}, {}, stream);
  });
}

void Version::prefetch(const std::uint64_t* keys, std::uint64_t n, Stream stream) {
  if (counts_.size() == 0) return;
  turns_.read(stream, [&] {
    kernels::TableView view = view_;
    view.row.dim = 0;
    const kernels::LookupIn in{.keys = keys, .count = n, .counting = {counts_.data(), 1, 0}};
    kernels::gather(view, in, {}, stream);
  });
}

}  // namespace holdall::embedding
