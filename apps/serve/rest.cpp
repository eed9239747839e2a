#include "apps/serve/rest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/serve/protocol.hpp"
#include "apps/serve/question.hpp"

namespace holdall::serve {

using nlohmann::json;

namespace {

constexpr std::string_view get = "GET, HEAD", post = "POST";

// A path is there, but has other methods.
class WrongMethod : public RequestError {
 public:
  WrongMethod(const Call& call, std::string_view allowed)
      : RequestError(405,
                     fmt::format("{} is asked with {}, not {}", call.path, allowed, call.method)),
        allowed_(allowed) {}
  std::string_view allowed() const { return allowed_; }

 private:
  std::string_view allowed_;
};

Answer say(const json& object, int status = 200) {
  return {.status = status, .body = object.dump()};
}

// The part of a path before its first '/', which is taken off.
std::string_view next_part(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return part;
}

// `methods`: get or post.
void need(const Call& call, std::string_view methods) {
  const bool right =
      methods == post ? call.method == "POST" : call.method == "GET" || call.method == "HEAD";
  if (!right) throw WrongMethod(call, methods);
}

[[noreturn]] void no_path(const Call& call) {
  throw RequestError(404, fmt::format("there is nothing at {}", call.path.substr(0, 200)));
}

json list_of(const std::vector<TensorInfo>& tensors) {
  json list = json::array();
  for (const TensorInfo& tensor : tensors)
    list.push_back({{"name", tensor.name}, {"datatype", tensor.datatype}, {"shape", tensor.shape}});
  return list;
}

Answer infer(Service& service, Model& model, const Call& call) {
  PrintedAnswer printed;
  service.infer(
      model, [&] { return parse_infer(call.body, call.json_length); },
      [&](InferAnswer answer) { printed = print_infer(std::move(answer)); });
  return {.status = 200,
          .content_type = printed.json_length ? "application/octet-stream" : "application/json",
          .body = std::move(printed.body),
          .tail = std::move(printed.tensors),
          .json_length = printed.json_length};
}

Answer model_call(Service& service, const Call& call, std::string_view rest) {
  const std::string_view name = next_part(rest);
  std::string_view version;
  if (rest.starts_with("versions/")) {
    rest.remove_prefix(9);
    version = next_part(rest);
    if (version.empty()) no_path(call);
  }
  Model& model = service.model(name, version);
  if (rest == "infer") {
    need(call, post);
    return infer(service, model, call);
  }
  if (!rest.empty() && rest != "ready") no_path(call);
  need(call, get);
  if (rest == "ready")
    return say({{"name", model.name()}, {"ready", model.ready()}}, model.ready() ? 200 : 503);
  return say({{"name", model.name()},
              {"versions", {std::to_string(model.version())}},
              {"platform", platform},
              {"inputs", list_of(question_inputs())},
              {"outputs", list_of(question_outputs(model.dim()))}});
}

Answer repository_call(Service& service, const Call& call, std::string_view rest) {
  if (rest == "index") {
    need(call, post);
    json all = json::array();
    for (const auto& [name, model] : service.models())
      all.push_back({{"name", name},
                     {"version", model->ready() ? std::to_string(model->version()) : ""},
                     {"state", model->ready() ? "READY" : "LOADING"},
                     {"reason", ""}});
    return say(all);
  }
  if (next_part(rest) != "models") no_path(call);
  Model& model = service.model(next_part(rest));
  if (rest != "load" && rest != "unload") no_path(call);
  need(call, post);
  if (rest == "unload")
    throw RequestError(400, "tables are not unloaded while serving: start a server without it");
  try {
    model.reload();
  } catch (const RequestError&) {
    throw;
  } catch (const Error& e) {
    throw RequestError(400,
                       fmt::format("version {} of '{}' stays, since the new one cannot be read: {}",
                                   model.version(), model.name(), e.what()));
  }
  return say({{"name", model.name()}, {"version", std::to_string(model.version())}});
}

Answer route(Service& service, const Call& call) {
  std::string_view rest = call.path;
  if (rest == "/metrics") {
    need(call, get);
    return {.content_type = "text/plain; version=0.0.4", .body = service.metrics_page()};
  }
  if (!rest.starts_with("/v2")) no_path(call);
  rest.remove_prefix(3);
  if (rest.empty() || rest == "/") {
    need(call, get);
    return say({{"name", server_name},
                {"version", server_version},
                {"extensions", {"binary_tensor_data", "model_repository"}}});
  }
  if (!rest.starts_with("/")) no_path(call);
  rest.remove_prefix(1);
  const std::string_view part = next_part(rest);
  if (part == "models") return model_call(service, call, rest);
  if (part == "repository") return repository_call(service, call, rest);
  if (part != "health" || (rest != "live" && rest != "ready")) no_path(call);
  need(call, get);
  if (rest == "live") return say({{"live", true}});
  const bool ready = service.ready();
  return say({{"ready", ready}}, ready ? 200 : 503);
}

}  // namespace

std::size_t Answer::bytes() const {
  std::size_t all = body.size();
  for (const std::string& piece : tail) all += piece.size();
  return all;
}

Answer answer_call(Service& service, const Call& call) {
  try {
    if (!call.path.starts_with("/v2/health/")) service.need_token(call.authorization);
    return route(service, call);
  } catch (const WrongMethod& e) {
    return {.status = 405, .body = print_error(e.what()), .allow = e.allowed()};
  } catch (const RequestError& e) {
    return {.status = e.status(), .body = print_error(e.what())};
  } catch (const std::exception& e) {
    return {.status = 500, .body = print_error(e.what())};
  }
}

}  // namespace holdall::serve
