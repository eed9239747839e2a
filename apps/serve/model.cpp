#include "apps/serve/model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdall::serve {

using namespace holdall::embedding;  // NOLINT: this file is about tables

Model::Open::Open(Engine& engine, const TableSpec& spec, const Source& source,
                  const BatchLimits& limits, Batcher::Answered answered)
    : table(EmbeddingTable::open(engine, spec, source)) {
  for (int device = 0; device < engine.devices(); ++device)
    batchers.emplace_back(engine, table, limits, answered, device);
}

Batcher& Model::Open::free_one() {
  return *std::ranges::min_element(batchers, {}, &Batcher::waiting);
}

std::uint64_t Model::Open::waiting() const {
  std::uint64_t waiting = 0;
  for (const Batcher& batcher : batchers) waiting += batcher.waiting();
  return waiting;
}

Model::Model(Engine& engine, Metrics& metrics, std::string name, std::filesystem::path path,
             TableSpec spec, OpenOptions options, const BatchLimits& limits)
    : engine_(engine),
      name_(std::move(name)),
      path_(std::move(path)),
      spec_(std::move(spec)),
      options_(std::move(options)),
      limits_(limits),
      metrics_(metrics.of(name_)) {
  spec_.name = name_;
}

void Model::open() {
  const std::scoped_lock one(loading_);
  const auto source = open_source(path_, options_);
  spec_.dim = source->info().dim;  // a version to come may not change it
  open_ = std::make_unique<Open>(engine_, spec_, *source, limits_,
                                 [this](std::uint64_t questions, std::uint64_t keys) {
                                   metrics_.batch_requests.Observe(static_cast<double>(questions));
                                   metrics_.batch_keys.Observe(static_cast<double>(keys));
                                 });
  version_ = 1;
  ready_.store(open_.get(), std::memory_order_release);
}

void Model::reload() {
  Open& now = open_one();
  const std::scoped_lock one(loading_);
  try {
    now.table.load_version(*open_source(path_, options_));
  } catch (...) {
    metrics_.reloads_failed.Increment();
    throw;
  }
  ++version_;
  metrics_.reloads.Increment();
}

Model::Open& Model::open_one() const {
  Open* const open = ready_.load(std::memory_order_acquire);
  if (open == nullptr)
    throw RequestError(503, fmt::format("'{}' is still being loaded: try again later", name_));
  return *open;
}

std::uint32_t Model::dim() const { return open_one().table.dim(); }

ModelState Model::state() const {
  const Open& open = open_one();
  return {name_, open.waiting(), open.table.stats()};
}

Reply Model::ask(const Question& question) { return open_one().free_one().ask(question); }

}  // namespace holdall::serve
