// The binary formats that write_graph() writes.
#pragma once

#include <filesystem>

#include "apps/graph/csr.hpp"
#include "apps/graph/file.hpp"

namespace holdall::graph {

void write_hold(const Csr& csr, NewFile& file);
void write_serialized(const Csr& csr, NewFile& file, const std::filesystem::path& path,
                      bool weighted);
void write_subway(const Csr& csr, NewFile& file, const std::filesystem::path& path, bool weighted);
// NAME.col, NAME.dst and, where there are weights, NAME.val; one of an earlier graph goes if not.
void write_emogi(const Csr& csr, const std::filesystem::path& path);

}  // namespace holdall::graph
