#include "apps/embedding/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/embedding/learner.hpp"
#include "apps/embedding/version.hpp"

namespace holdall::embedding {

struct EmbeddingTable::State {
  State(Engine& in, TableSpec as, const Source& source)
      : engine(in),
        spec(std::move(as)),
        streams(std::make_shared<Streams>(in)),
        newest(std::make_shared<Version>(in, spec, source, streams)) {
    spec.dim = newest->spec().dim;
    spec.frequencies = {};  // the version has its order
  }

  std::shared_ptr<Version> version() const {
    const std::scoped_lock hold(lock);
    return newest;
  }

  Engine& engine;
  TableSpec spec;
  const std::shared_ptr<Streams> streams;
  mutable std::mutex lock;
  std::shared_ptr<Version> newest;  // shared with the calls that are under way
  TableStats before;                // of the versions that went
  std::mutex loading;               // one at a time
  std::unique_ptr<Learner> learner;  // last: it uses all of the above
};

EmbeddingTable::EmbeddingTable(std::unique_ptr<State> state) : state_(std::move(state)) {}
EmbeddingTable::EmbeddingTable(EmbeddingTable&&) noexcept = default;
EmbeddingTable& EmbeddingTable::operator=(EmbeddingTable&&) noexcept = default;
EmbeddingTable::~EmbeddingTable() = default;

EmbeddingTable EmbeddingTable::open(Engine& engine, const TableSpec& spec, const Source& source) {
  auto state = std::make_unique<State>(engine, spec, source);
  if (spec.learning.on && spec.learning.background) {
    State* const at = state.get();
    state->learner = std::make_unique<Learner>(
        [at] { return at->version()->learn(at->spec.learning.bytes_per_second); });
  }
  return EmbeddingTable(std::move(state));
}

const std::string& EmbeddingTable::name() const { return state_->spec.name; }
std::uint32_t EmbeddingTable::dim() const { return state_->spec.dim; }
RowType EmbeddingTable::type() const { return state_->spec.type; }
std::shared_ptr<Version> EmbeddingTable::version() const { return state_->version(); }

namespace {

void check_out(const std::string& name, const RowsOut& out, std::uint64_t dim) {
  if (out.type == RowType::int8)
    throw EmbeddingError(fmt::format("table '{}' gives fp32, fp16 or bf16 rows, not int8", name));
  const Bytes element = kernels::element_bytes(out.type);
  if (out.stride < dim * element || out.stride % element != 0)
    throw EmbeddingError(fmt::format(
        "table '{}': a stride of {} bytes is not enough for rows of {} elements, {} bytes, or not "
        "a multiple of {}",
        name, out.stride, dim, dim * element, element));
}

void check_count(const std::string& name, std::uint64_t n) {
  if (n >= kernels::first_staged)
    throw EmbeddingError(fmt::format("table '{}': {} keys in one batch, {} are the most", name, n,
                                     kernels::first_staged - 1));
}

void check_bags(const std::string& name, const Bags& bags) {
  check_count(name, bags.count);
  if (bags.weights != nullptr && bags.pooling != Pooling::sum)
    throw EmbeddingError(
        fmt::format("table '{}': weights go with sums alone, not with a mean or a maximum", name));
}

}  // namespace

void EmbeddingTable::lookup(const std::uint64_t* keys, std::uint64_t n, const RowsOut& out,
                            Stream stream, const Asked& asked) {
  check_out(name(), out, dim());
  check_count(name(), n);
  if (n == 0) return;
  state_->version()->lookup(
      {.keys = keys, .count = n, .found = asked.found, .missing = asked.missing}, out, stream);
}

void EmbeddingTable::bag(const Bags& bags, const RowsOut& out, Stream stream) {
  check_out(name(), out, dim());
  check_bags(name(), bags);
  if (bags.bags > 0) state_->version()->bag(bags, out, stream);
}

void EmbeddingTable::contains(const std::uint64_t* keys, std::uint64_t n, std::uint8_t* found,
                              Stream stream) {
  check_count(name(), n);
  if (n > 0) state_->version()->contains(keys, n, found, stream);
}

void EmbeddingTable::update(const std::uint64_t* keys, std::uint64_t n, const RowsIn& rows,
                            Stream stream) {
  check_count(name(), n);
  state_->version()->write(keys, n, rows, false, stream);
}

void EmbeddingTable::insert_or_assign(const std::uint64_t* keys, std::uint64_t n,
                                      const RowsIn& rows, Stream stream) {
  check_count(name(), n);
  state_->version()->write(keys, n, rows, true, stream);
}

void EmbeddingTable::erase(const std::uint64_t* keys, std::uint64_t n, Stream stream) {
  check_count(name(), n);
  if (n > 0) state_->version()->erase(keys, n, stream);
}

void EmbeddingTable::prefetch(const std::uint64_t* keys, std::uint64_t n, Stream stream) {
  check_count(name(), n);
  if (n > 0) state_->version()->prefetch(keys, n, stream);
}

EmbeddingTable::Batch EmbeddingTable::export_batch(const std::vector<std::uint64_t>& keys) {
  Engine& engine = state_->engine;
  const std::uint64_t n = keys.size();
  Batch batch{std::vector<float>(n * dim()), std::vector<std::uint8_t>(n)};
  if (n == 0) return batch;
  const auto in = engine.host_array<std::uint64_t>(n, "keys to export");
  const auto rows = engine.host_array<float>(n * dim(), "rows to export");
  const auto found = engine.host_array<std::uint8_t>(n, "keys to export");
  std::ranges::copy(keys, in.data());
  const std::shared_ptr<Version> version = state_->version();
  version->export_rows(in.data(), n, rows.data(), found.data());
  std::copy_n(rows.data(), batch.rows.size(), batch.rows.data());
  std::copy_n(found.data(), n, batch.found.data());
  return batch;
}

void EmbeddingTable::load_version(const Source& source) {
  const std::scoped_lock one(state_->loading);
  TableSpec spec = state_->spec;
  spec.capacity = std::max(spec.capacity, source.info().rows);
  const std::shared_ptr<Version> before_it = state_->version();
  spec.frequencies = before_it->order_for(source.info());
  auto next = std::make_shared<Version>(state_->engine, spec, source, state_->streams);
  next->expect_as(*before_it);
  std::shared_ptr<Version> old = next;
  {
    const std::scoped_lock hold(state_->lock);
    std::swap(state_->newest, old);
  }
  TableStats gone;
  old->turns().drain();
  old->add_stats(gone);
  const std::scoped_lock hold(state_->lock);
  TableStats& before = state_->before;
  before.keys += gone.keys;
  before.cold += gone.cold;
  before.missing += gone.missing;
  before.bad_offsets += gone.bad_offsets;
  before.moved += gone.moved;
  ++before.versions;
}

void EmbeddingTable::load_version(const std::filesystem::path& path) {
  load_version(*open_source(path, {.dim = dim(), .tensor = {}}));
}

double EmbeddingTable::set_budget(Bytes memory) {
  const std::scoped_lock one(state_->loading);
  const double rate = state_->version()->set_budget(memory);
  state_->spec.memory = memory;
  return rate;
}

double EmbeddingTable::predicted_hit_rate(Bytes memory) const {
  return state_->version()->predicted_hit_rate(memory);
}

std::uint64_t EmbeddingTable::learn() { return state_->version()->learn(); }
void EmbeddingTable::save(const std::filesystem::path& path) { state_->version()->save(path); }
void EmbeddingTable::check(Stream stream) {
  if (state_->learner)
    if (const std::string why = state_->learner->failure(); !why.empty())
      throw EmbeddingError(fmt::format("table '{}' has stopped learning: {}", name(), why));
  state_->version()->check(stream);
}

TableStats EmbeddingTable::stats() const {
  std::shared_ptr<Version> version;
  TableStats stats;
  {
    const std::scoped_lock hold(state_->lock);
    version = state_->newest;
    stats = state_->before;
  }
  version->add_stats(stats);
  return stats;
}

void bags(const std::vector<EmbeddingTable*>& tables, const Bags& bags, const RowsOut& out,
          Stream stream) {
  if (tables.empty() || bags.bags == 0) return;
  if (bags.bags % tables.size() != 0)
    throw EmbeddingError(fmt::format("{} bags cannot be shared out to {} tables: give each as many",
                                     bags.bags, tables.size()));
  std::uint64_t dims = 0;
  std::vector<std::shared_ptr<Version>> versions;
  std::vector<std::uint64_t> at;
  for (const EmbeddingTable* const table : tables) {
    check_bags(table->name(), bags);
    versions.push_back(table->version());
    at.push_back(dims);
    dims += table->dim();
  }
  check_out(tables.front()->name(), out, dims);
  pool_versions(versions, at, bags, out, stream);
}

}  // namespace holdall::embedding
