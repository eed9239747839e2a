// Tables and what may be asked of them, whatever protocol it comes by: HTTP (rest.hpp) and gRPC
// (grpc_server.hpp) only translate.
//
//   Service service(engine, "secret");
//   service.add("items", "items.npy", {}, {});
//   service.open();
//   service.infer(service.model("items"), read, print);
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/serve/model.hpp"

namespace holdall::serve {

constexpr std::string_view server_name = "holdall";
constexpr std::string_view server_version = "0.1.0";
constexpr std::string_view platform = "holdall_embedding";

// A server that cannot be had as it was asked for.
class ServeError : public Error {
 public:
  using Error::Error;
};

struct ServiceLimits {
  std::uint64_t keys = 1 << 17;  // of one request, and bags
  BatchLimits batch = {};
};

// Thread-safe.
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

  // Whether who sends this may ask for anything but probes of health: the value of the header
  // Authorization, or of the metadata of that name.
  bool may(std::optional<std::string_view> authorization) const;
  // Throws RequestError 401 where `may` is false.
  void need_token(std::optional<std::string_view> authorization) const;

  // The table of a name; `version`, where it is not empty, has to be the one that is served. Throws
  // RequestError 404.
  Model& model(std::string_view name, std::string_view version = {});
  const std::map<std::string, std::unique_ptr<Model>, std::less<>>& models() const {
    return models_;
  }

  // A request's way, counted and timed for the model: `read` makes the request out of what came,
  // `print` is given the answer. Throws RequestError, and what the table, `read` and `print` throw.
  void infer(Model& model, const std::function<InferRequest()>& read,
             const std::function<void(InferAnswer)>& print);

  bool ready() const;
  std::string metrics_page() const;
  Metrics& metrics() { return metrics_; }
  std::atomic<std::int64_t> connections{0};  // the server's count, for the metrics

 private:
  Engine& engine_;
  const std::string token_;
  const ServiceLimits limits_;
  Metrics metrics_;
  std::map<std::string, std::unique_ptr<Model>, std::less<>> models_;
  std::atomic<bool> retired_{false};
};

}  // namespace holdall::serve
