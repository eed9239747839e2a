// Options that sub-commands of `holdall embed` share.
#pragma once

#include <map>
#include <string>

#include "apps/command.hpp"
#include "apps/embedding/spec.hpp"

namespace holdall::apps {

// The types of rows, by the names that users give them.
const std::map<std::string, embedding::RowType>& row_types();

// Adds --cold-type, --nan and --duplicates.
void add_row_options(CLI::App& command, embedding::TableSpec& spec);

}  // namespace holdall::apps
