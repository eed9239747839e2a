#include "apps/policy/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/policy/error.hpp"
#include "engine/new_file.hpp"

namespace holdall::lab {

double Cost::seconds(const Counts& counts) const {
  const auto bytes_in = static_cast<double>(counts.bytes_in),
             bytes_out = static_cast<double>(counts.bytes_out);
  const double link = std::max({bytes_in / in, bytes_out / out, (bytes_in + bytes_out) / both});
  const double driver = static_cast<double>(counts.chunks_in) * chunk_seconds;
  return std::max(link, driver) + (1 - overlap) * std::min(link, driver);
}

namespace {

// Of the costs that the doctor measured, those of the size nearest to `chunk`.
nlohmann::json nearest(const nlohmann::json& costs, std::uint64_t chunk) {
  nlohmann::json best;
  double least = 1e300;
  for (const auto& cost : costs) {
    if (!cost.is_object() || !cost.contains("chunk_seconds") || !cost["bytes"].is_number())
      continue;
    const double apart =
        std::abs(std::log2(cost["bytes"].get<double>() / static_cast<double>(chunk)));
    if (apart >= least) continue;
    least = apart;
    best = cost;
  }
  return best;
}

}  // namespace

Cost read_cost(const std::string& path, std::uint64_t chunk) {
  std::ifstream file(path);
  if (!file) throw LabError(fmt::format("{}: cannot be opened: {}", path, why(errno)));
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& e) {
    throw LabError(fmt::format("{}: no JSON: {}", path, e.what()));
  }
  if (!json.is_object())
    throw LabError(fmt::format("{}: no JSON object: `holdall doctor --json` makes one", path));
  if (const auto devices = json.find("devices"); devices != json.end() && devices->is_array())
    for (const auto& device : *devices)
      if (device.is_object() && device.contains("link_in")) {
        for (const char* const key : {"link_in", "link_out", "link_both"})
          if (device.contains(key)) json[key] = device[key];
        const auto cost = nearest(device.value("chunk_costs", nlohmann::json::array()), chunk);
        if (cost.is_object()) json["chunk_seconds"] = cost["chunk_seconds"];
        break;
      }
  Cost cost;
  bool any = false;
  const auto number = [&](const char* key, double& value, double least, double most) {
    if (!json.contains(key)) return;
    if (!json[key].is_number() ||
        !(json[key].get<double>() >= least && json[key].get<double>() <= most))
      throw LabError(fmt::format("{}: {} is {}; it is a number from {} to {}", path, key,
                                 json[key].dump(), least, most));
    value = json[key].get<double>();
    any = true;
  };
  number("link_in", cost.in, 1, 1e15);
  number("link_out", cost.out, 1, 1e15);
  number("link_both", cost.both, 1, 1e15);
  number("chunk_seconds", cost.chunk_seconds, 0, 1e3);
  number("overlap", cost.overlap, 0, 1);
  if (!any)
    throw LabError(fmt::format(
        "{}: none of link_in, link_out, link_both, chunk_seconds, overlap is in it", path));
  return cost;
}

}  // namespace holdall::lab
