// Results as people and programs read them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/policy/cells.hpp"

namespace holdall::lab {

nlohmann::json to_json(const Result& result);
std::string csv_header();                                 // with its line end
std::string to_csv(const Result& result);                 // the same
std::string to_text(const std::vector<Result>& results);  // an aligned table

// The rows of a csv that to_csv wrote. Throws LabError for another one. A last line that was not
// finished is left out.
std::vector<Result> read_results(const std::string& path);

}  // namespace holdall::lab
