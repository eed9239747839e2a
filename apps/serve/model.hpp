// A table under its name: opened from a path, asked, and loaded anew while it is asked.
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "apps/serve/batcher.hpp"
#include "apps/serve/metrics.hpp"

namespace holdall::serve {

class Model {
 public:
  Model(Engine& engine, Metrics& metrics, std::string name, std::filesystem::path path,
        embedding::TableSpec spec, embedding::OpenOptions options, const BatchLimits& limits);

  // Reads the table; until then `ready` is false and questions are refused with 503. Throws
  // EmbeddingError and the engine's.
  void open();
  // Reads the path again beside what is served, and swaps. Throws as open does; then the old
  // version stays.
  void reload();

  bool ready() const { return ready_.load(std::memory_order_acquire) != nullptr; }
  const std::string& name() const { return name_; }
  std::uint64_t version() const { return version_; }  // loads so far
  std::uint32_t dim() const;
  ModelMetrics& metrics() { return metrics_; }
  ModelState state() const;

  // Throws RequestError, and what the table throws.
  Reply ask(const Question& question);

 private:
  struct Open {
    Open(Engine& engine, const embedding::TableSpec& spec, const embedding::Source& source,
         const BatchLimits& limits, Batcher::Answered answered);
    // The one where the fewest wait.
    Batcher& free_one();
    std::uint64_t waiting() const;

    embedding::EmbeddingTable table;
    std::deque<Batcher> batchers;  // one for each device
  };
  Open& open_one() const;

  Engine& engine_;
  const std::string name_;
  const std::filesystem::path path_;
  embedding::TableSpec spec_;
  const embedding::OpenOptions options_;
  const BatchLimits limits_;
  ModelMetrics metrics_;
  std::mutex loading_;
  std::unique_ptr<Open> open_;
  std::atomic<Open*> ready_{nullptr};
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace holdall::serve
