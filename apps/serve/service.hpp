// What a server answers to a call, apart from any socket.
//
//   Service service(engine, {.token = "secret"});
//   service.add("items", "items.npy", {}, {});
//   service.open();
//   Answer answer = service.answer({.method = "POST", .path = "/v2/models/items/infer", ...});
//
// Paths are those of the inference protocol (KServe v2) and /metrics. Probes of health need no
// token, all else does if there is one.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/serve/model.hpp"

namespace holdall::serve {

struct Call {
  std::string_view method;
  std::string_view path;
  std::string_view body = {};
  std::optional<std::string_view> json_length = {};    // Inference-Header-Content-Length
  std::optional<std::string_view> authorization = {};  // "Bearer ..."
};

struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::optional<std::uint64_t> json_length = {};
};

struct ServiceLimits {
  std::uint64_t keys = 1 << 17;  // of one request, and bags
  BatchLimits batch = {};
};

class Service {
 public:
  // An empty token: none is asked for.
  Service(Engine& engine, std::string token = {}, const ServiceLimits& limits = {});

  // Before `open`. Throws EmbeddingError: a name that is taken, or is no word of A-Z a-z 0-9 _ - .
  void add(const std::string& name, const std::filesystem::path& path,
           const embedding::TableSpec& spec, const embedding::OpenOptions& options);
  // Reads the tables; calls are answered meanwhile. Throws as EmbeddingTable::open does.
  void open();
  // Each table anew from its path; `failed` is told the name and why, of those that stay as they
  // were.
  void reload(const std::function<void(const std::string&, const std::string&)>& failed);
  // From now on it is not ready: whoever sends calls should send them elsewhere.
  void retire() { retired_ = true; }

  // Never throws but bad_alloc. Thread-safe.
  Answer answer(const Call& call);

  bool ready() const;
  Metrics& metrics() { return metrics_; }
  std::atomic<std::int64_t> connections{0};  // the server's count, for the metrics

 private:
  Answer route(const Call& call);
  Answer model_call(const Call& call, std::string_view rest);
  Answer repository_call(const Call& call, std::string_view rest);
  Answer infer(Model& model, const Call& call);
  Model& model_of(std::string_view name);
  bool may(const Call& call) const;

  Engine& engine_;
  const std::string token_;
  const ServiceLimits limits_;
  Metrics metrics_;
  std::map<std::string, std::unique_ptr<Model>, std::less<>> models_;
  std::atomic<bool> retired_{false};
};

}  // namespace holdall::serve
