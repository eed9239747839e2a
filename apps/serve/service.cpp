#include "apps/serve/service.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdall::serve {

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
bool Service::may(std::optional<std::string_view> authorization) const {
  if (token_.empty()) return true;
  constexpr std::string_view scheme = "Bearer ";
  if (!authorization || !authorization->starts_with(scheme)) return false;
  const std::string_view given = authorization->substr(scheme.size());
  unsigned difference = given.size() != token_.size();
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i] ^ token_[i % token_.size()]);
  return difference == 0;
}

void Service::need_token(std::optional<std::string_view> authorization) const {
  if (!may(authorization))
    throw RequestError(401, "a token is needed: send the header Authorization: Bearer TOKEN");
}

Model& Service::model(std::string_view name, std::string_view version) {
  const auto found = models_.find(name);
  if (found == models_.end()) {
    std::string known;
    for (const auto& [other, model] : models_) known += (known.empty() ? "" : ", ") + other;
    throw RequestError(
        404, fmt::format("there is no table '{}'; there are {}", name.substr(0, 128), known));
  }
  Model& model = *found->second;
  const std::string served = std::to_string(model.version());
  if (!version.empty() && version != served)
    throw RequestError(404, fmt::format("version {} of '{}' is served, not {}", served,
                                        model.name(), version.substr(0, 32)));
  return model;
}

void Service::infer(Model& model, const std::function<InferRequest()>& read,
                    const std::function<void(InferAnswer)>& print) {
  const auto began = std::chrono::steady_clock::now();
  int status = 500;
  struct Count {  // whatever comes of it
    ModelMetrics& metrics;
    const std::chrono::steady_clock::time_point began;
    const int& status;
    ~Count() { metrics.count(status, std::chrono::steady_clock::now() - began); }
  } count{model.metrics(), began, status};
  try {
    // 1. the question
    const InferRequest request = read();
    const Question question = question_of(request, limits_.keys);
    // 2. its answer
    Reply reply = model.ask(question);
    // 3. in the form that was asked for
    InferAnswer said{model.name(), std::to_string(model.version()), request.id, {}};
    const std::uint64_t n = question.answers();
    if (question.rows_wanted)
      said.outputs.push_back({question.pooled ? "pooled" : "rows",
                              "FP32",
                              {n, model.dim()},
                              std::move(reply.rows),
                              question.rows_binary});
    if (question.found_wanted)
      said.outputs.push_back({"found", "BOOL", {n}, std::move(reply.found), question.found_binary});
    print(std::move(said));
    status = 200;
  } catch (const RequestError& e) {
    status = e.status();
    throw;
  }
}

std::string Service::metrics_page() const {
  std::vector<ModelState> states;
  for (const auto& [name, model] : models_)
    if (model->ready()) states.push_back(model->state());
  return metrics_.print(states, connections);
}

}  // namespace holdall::serve
