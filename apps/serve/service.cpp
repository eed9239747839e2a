#include "apps/serve/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace holdall::serve {

using nlohmann::json;

namespace {

constexpr std::string_view version = "0.1.0";

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

void need_method(const Call& call, std::string_view method) {
  if (call.method != method)
    throw RequestError(405,
                       fmt::format("{} is asked with {}, not {}", call.path, method, call.method));
}

[[noreturn]] void no_path(const Call& call) {
  throw RequestError(404, fmt::format("there is nothing at {}", call.path.substr(0, 200)));
}

json metadata(const Model& model) {
  const auto tensor = [](const char* name, const char* datatype, const json& shape) {
    return json{{"name", name}, {"datatype", datatype}, {"shape", shape}};
  };
  const std::uint32_t dim = model.dim();
  return {{"name", model.name()},
          {"versions", {std::to_string(model.version())}},
          {"platform", "holdall_embedding"},
          {"inputs",
           {tensor("keys", "INT64", {-1}), tensor("indices", "INT64", {-1}),
            tensor("offsets", "INT64", {-1}), tensor("per_sample_weights", "FP32", {-1})}},
          {"outputs",
           {tensor("rows", "FP32", {-1, dim}), tensor("found", "BOOL", {-1}),
            tensor("pooled", "FP32", {-1, dim})}}};
}

}  // namespace

Service::Service(Engine& engine, std::string token, const ServiceLimits& limits)
    : engine_(engine), token_(std::move(token)), limits_(limits) {}

void Service::add(const std::string& name, const std::filesystem::path& path,
                  const embedding::TableSpec& spec, const embedding::OpenOptions& options) {
  const bool word = !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  });
  if (!word)
    throw embedding::EmbeddingError(
        fmt::format("'{}' is no name for a table: use up to 128 of A-Z a-z 0-9 _ - .", name));
  auto model = std::make_unique<Model>(engine_, metrics_, name, path, spec, options, limits_.batch);
  if (!models_.emplace(name, std::move(model)).second)
    throw embedding::EmbeddingError(fmt::format("there are two tables '{}'", name));
}

void Service::open() {
  for (const auto& [name, model] : models_) model->open();
}

void Service::reload(const std::function<void(const std::string&, const std::string&)>& failed) {
  for (const auto& [name, model] : models_) {
    try {
      model->reload();
    } catch (const std::exception& e) {
      failed(name, e.what());
    }
  }
}

bool Service::ready() const {
  return !retired_ &&
         std::ranges::all_of(models_, [](const auto& named) { return named.second->ready(); });
}

// Takes as long whatever the difference.
bool Service::may(const Call& call) const {
  if (token_.empty() || call.path.starts_with("/v2/health/")) return true;
  constexpr std::string_view scheme = "Bearer ";
  if (!call.authorization || !call.authorization->starts_with(scheme)) return false;
  const std::string_view given = call.authorization->substr(scheme.size());
  unsigned difference = given.size() != token_.size();
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i] ^ token_[i % token_.size()]);
  return difference == 0;
}

Answer Service::answer(const Call& call) {
  try {
    if (!may(call))
      throw RequestError(401, "a token is needed: send the header Authorization: Bearer TOKEN");
    return route(call);
  } catch (const RequestError& e) {
    return {.status = e.status(), .body = print_error(e.what())};
  } catch (const std::exception& e) {
    return {.status = 500, .body = print_error(e.what())};
  }
}

Answer Service::route(const Call& call) {
  std::string_view rest = call.path;
  if (rest == "/metrics") {
    need_method(call, "GET");
    std::vector<ModelState> states;
    for (const auto& [name, model] : models_)
      if (model->ready()) states.push_back(model->state());
    return {.content_type = "text/plain; version=0.0.4",
            .body = metrics_.print(states, connections)};
  }
  if (!rest.starts_with("/v2")) no_path(call);
  rest.remove_prefix(3);
  if (rest.empty() || rest == "/") {
    need_method(call, "GET");
    return say({{"name", "holdall"},
                {"version", version},
                {"extensions", {"binary_tensor_data", "model_repository"}}});
  }
  if (!rest.starts_with("/")) no_path(call);
  rest.remove_prefix(1);
  const std::string_view part = next_part(rest);
  if (part == "models") return model_call(call, rest);
  if (part == "repository") return repository_call(call, rest);
  if (part != "health") no_path(call);
  need_method(call, "GET");
  if (rest == "live") return say({{"live", true}});
  if (rest == "ready") return say({{"ready", ready()}}, ready() ? 200 : 503);
  no_path(call);
}

Model& Service::model_of(std::string_view name) {
  const auto found = models_.find(name);
  if (found != models_.end()) return *found->second;
  std::string known;
  for (const auto& [other, model] : models_) known += (known.empty() ? "" : ", ") + other;
  throw RequestError(
      404, fmt::format("there is no table '{}'; there are {}", name.substr(0, 128), known));
}

Answer Service::model_call(const Call& call, std::string_view rest) {
  Model& model = model_of(next_part(rest));
  if (rest.starts_with("versions/")) {
    rest.remove_prefix(9);
    const std::string_view asked = next_part(rest);
    const std::string served = std::to_string(model.version());
    if (asked != served)
      throw RequestError(404, fmt::format("version {} of '{}' is served, not {}", served,
                                          model.name(), asked.substr(0, 32)));
  }
  if (rest == "infer") {
    need_method(call, "POST");
    return infer(model, call);
  }
  if (!rest.empty() && rest != "ready") no_path(call);
  need_method(call, "GET");
  if (rest == "ready")
    return say({{"name", model.name()}, {"ready", model.ready()}}, model.ready() ? 200 : 503);
  return say(metadata(model));
}

Answer Service::repository_call(const Call& call, std::string_view rest) {
  need_method(call, "POST");
  if (rest == "index") {
    json all = json::array();
    for (const auto& [name, model] : models_)
      all.push_back({{"name", name},
                     {"version", model->ready() ? std::to_string(model->version()) : ""},
                     {"state", model->ready() ? "READY" : "LOADING"},
                     {"reason", ""}});
    return say(all);
  }
  if (next_part(rest) != "models") no_path(call);
  Model& model = model_of(next_part(rest));
  if (rest == "unload")
    throw RequestError(400, "tables are not unloaded while serving: start a server without it");
  if (rest != "load") no_path(call);
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

Answer Service::infer(Model& model, const Call& call) {
  const auto began = std::chrono::steady_clock::now();
  int status = 500;
  try {
    // 1. the question
    const InferRequest request = parse_infer(call.body, call.json_length);
    const Question question = question_of(request, limits_.keys);
    // 2. its answer
    const Reply reply = model.ask(question);
    // 3. in the form that was asked for
    InferAnswer said{model.name(), std::to_string(model.version()), request.id, {}};
    const std::uint64_t n = question.answers();
    if (question.rows_wanted)
      said.outputs.push_back({question.pooled ? "pooled" : "rows",
                              "FP32",
                              {n, model.dim()},
                              reply.rows,
                              question.rows_binary});
    if (question.found_wanted)
      said.outputs.push_back({"found", "BOOL", {n}, reply.found, question.found_binary});
    PrintedAnswer printed = print_infer(said);
    model.metrics().count(200, std::chrono::steady_clock::now() - began);
    return {200, printed.json_length ? "application/octet-stream" : "application/json",
            std::move(printed.body), printed.json_length};
  } catch (const RequestError& e) {
    status = e.status();
    model.metrics().count(status, std::chrono::steady_clock::now() - began);
    throw;
  } catch (...) {
    model.metrics().count(status, std::chrono::steady_clock::now() - began);
    throw;
  }
}

}  // namespace holdall::serve
