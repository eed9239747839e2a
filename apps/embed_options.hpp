// Options that sub-commands of `holdall embed` share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/embedding/spec.hpp"

namespace holdall::apps {

// The types of rows, by the names that users give them.
const std::map<std::string, embedding::RowType>& row_types();

// Adds an option that takes one of the names of `choices`.
template <typename To, typename Choice>
CLI::Option* add_choice(CLI::App& command, const std::string& name, To& to,
                        const std::map<std::string, Choice>& choices, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [choice, value] : choices) names.push_back(choice);
  return command
      .add_option_function<std::string>(
          name, [&to, choices](const std::string& choice) { to = choices.at(choice); }, help)
      ->check(CLI::IsMember(names));
}

// Adds --cold-type, --nan and --duplicates.
void add_row_options(CLI::App& command, embedding::TableSpec& spec);

}  // namespace holdall::apps
