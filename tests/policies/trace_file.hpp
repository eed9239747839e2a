// Recorded traces and reference miss counts, for tests that compare with them where they are at
// hand: in the folder that HOLDALL_DATA names, or in shared/data beside the source tree.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "policies/policy.hpp"

namespace holdall {

std::optional<std::filesystem::path> trace_folder();  // none if there is no such folder

// The chunks of an oracleGeneral trace packed with zstd: 24-byte little-endian records of time
// (u32), id (u64), size (u32), next access (i64). Numbered from 0 in order of first appearance.
// Throws std::runtime_error if it cannot be read.
std::vector<Key> read_trace(const std::filesystem::path& file);

// One line of a table with the columns trace, algo, params, cache_size_objects, n_req, n_miss.
struct ReferenceCount {
  std::string trace, algorithm, parameters;
  std::size_t capacity, requests, misses;
};
std::vector<ReferenceCount> read_reference(const std::filesystem::path& file);

// Traces of more requests are left out where a sanitizer makes each of them dear.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::size_t longest_trace = 20'000;
#else
inline constexpr std::size_t longest_trace = ~std::size_t{0};
#endif

}  // namespace holdall
