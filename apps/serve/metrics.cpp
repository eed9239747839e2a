#include "apps/serve/metrics.hpp"

#include <prometheus/text_serializer.h>

#include <functional>
#include <sstream>

namespace holdall::serve {

namespace {

using prometheus::Histogram;

Histogram::BucketBoundaries powers(double first, double times, int count) {
  Histogram::BucketBoundaries bounds;
  for (double bound = first; count > 0; --count, bound *= times) bounds.push_back(bound);
  return bounds;
}

prometheus::MetricFamily family(const char* name, const char* help, prometheus::MetricType type,
                                const std::vector<ModelState>& now,
                                const std::function<double(const ModelState&)>& value) {
  prometheus::MetricFamily family{name, help, type, {}};
  for (const ModelState& model : now) {
    prometheus::ClientMetric metric;
    metric.label = {{"model", model.model}};
    if (type == prometheus::MetricType::Counter)
      metric.counter.value = value(model);
    else
      metric.gauge.value = value(model);
    family.metric.push_back(metric);
  }
  return family;
}

}  // namespace

void ModelMetrics::count(int status, std::chrono::steady_clock::duration time) {
  seconds.Observe(std::chrono::duration<double>(time).count());
  (status < 400    ? answered
   : status == 503 ? overload
   : status < 500  ? refused
                   : failed)
      .Increment();
}

ModelMetrics Metrics::of(const std::string& model) {
  auto& requests = prometheus::BuildCounter()
                       .Name("holdall_requests_total")
                       .Help("inference requests by what came of them")
                       .Register(registry_);
  auto& reloads = prometheus::BuildCounter()
                      .Name("holdall_reloads_total")
                      .Help("versions loaded while serving, or refused")
                      .Register(registry_);
  auto& seconds = prometheus::BuildHistogram()
                      .Name("holdall_request_seconds")
                      .Help("from the body's arrival to the answer")
                      .Register(registry_);
  auto& batches = prometheus::BuildHistogram()
                      .Name("holdall_batch_requests")
                      .Help("requests answered at once")
                      .Register(registry_);
  auto& keys = prometheus::BuildHistogram()
                   .Name("holdall_batch_keys")
                   .Help("keys looked up at once")
                   .Register(registry_);
  return {requests.Add({{"model", model}, {"outcome", "answered"}}),
          requests.Add({{"model", model}, {"outcome", "refused"}}),
          requests.Add({{"model", model}, {"outcome", "overload"}}),
          requests.Add({{"model", model}, {"outcome", "failed"}}),
          reloads.Add({{"model", model}, {"outcome", "loaded"}}),
          reloads.Add({{"model", model}, {"outcome", "refused"}}),
          seconds.Add({{"model", model}}, powers(50e-6, 2, 16)),
          batches.Add({{"model", model}}, powers(1, 2, 10)),
          keys.Add({{"model", model}}, powers(16, 4, 10))};
}

std::string Metrics::print(const std::vector<ModelState>& now, std::int64_t connections) const {
  using enum prometheus::MetricType;
  std::vector<prometheus::MetricFamily> all = registry_.Collect();
  const auto add = [&](const char* name, const char* help, prometheus::MetricType type,
                       const std::function<double(const ModelState&)>& value) {
    if (!now.empty()) all.push_back(family(name, help, type, now, value));
  };
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  add("holdall_queue_length", "requests that wait", Gauge,
      [&](const ModelState& m) { return number(m.waiting); });
  add("holdall_keys_total", "keys looked up", Counter,
      [&](const ModelState& m) { return number(m.table.keys); });
  add("holdall_keys_cold_total", "of which were read from host memory", Counter,
      [&](const ModelState& m) { return number(m.table.cold); });
  add("holdall_keys_missing_total", "of which are unknown", Counter,
      [&](const ModelState& m) { return number(m.table.missing); });
  add("holdall_rows_moved_total", "rows that learning moved", Counter,
      [&](const ModelState& m) { return number(m.table.moved); });
  add("holdall_table_rows", "rows of the version that is served", Gauge,
      [&](const ModelState& m) { return number(m.table.rows); });
  add("holdall_table_version", "loaded so far", Gauge,
      [&](const ModelState& m) { return number(m.table.versions); });
  add("holdall_table_device_bytes", "rows in device memory", Gauge,
      [&](const ModelState& m) { return number(m.table.device_bytes); });
  add("holdall_table_host_bytes", "rows in host memory", Gauge,
      [&](const ModelState& m) { return number(m.table.host_bytes); });
  prometheus::MetricFamily open{"holdall_connections", "connections that are open", Gauge, {}};
  open.metric.emplace_back().gauge.value = static_cast<double>(connections);
  all.push_back(std::move(open));
  std::ostringstream page;
  prometheus::TextSerializer().Serialize(page, all);
  return page.str();
}

}  // namespace holdall::serve
