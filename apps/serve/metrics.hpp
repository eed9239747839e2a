// What a server counts, in the text format of Prometheus.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/embedding/table.hpp"

namespace holdall::serve {

// What each model counts. Thread-safe.
struct ModelMetrics {
  prometheus::Counter& answered;
  prometheus::Counter& refused;   // 400 and 413
  prometheus::Counter& overload;  // 503
  prometheus::Counter& failed;    // 500
  prometheus::Counter& reloads;
  prometheus::Counter& reloads_failed;
  prometheus::Histogram& seconds;
  prometheus::Histogram& batch_requests;
  prometheus::Histogram& batch_keys;

  void count(int status, std::chrono::steady_clock::duration time);
};

// What a model says of itself when asked.
struct ModelState {
  std::string model;
  std::uint64_t waiting = 0;
  embedding::TableStats table;
};

class Metrics {
 public:
  ModelMetrics of(const std::string& model);
  prometheus::Counter& refused_connections() { return refused_connections_; }
  // The page. `now`: of each model that is loaded.
  std::string print(const std::vector<ModelState>& now, std::int64_t connections) const;

 private:
  prometheus::Registry registry_;
  prometheus::Counter& refused_connections_ = prometheus::BuildCounter()
                                                  .Name("holdall_connections_refused_total")
                                                  .Help("connections above the limit")
                                                  .Register(registry_)
                                                  .Add({});
};

}  // namespace holdall::serve
