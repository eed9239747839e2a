// What is wrong with a graph, where, and what to do about it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <variant>

#include "engine/vmm/error.hpp"

namespace holdall::graph {

struct Line {
  std::uint64_t number = 0;  // from 1
};
struct Byte {
  std::uint64_t offset = 0;  // from the start of the file
};
using Place = std::variant<std::monostate, Line, Byte>;  // monostate: the file as a whole

// "roads.txt, line 7: 'abc' is no vertex id; expected two ids, such as '0 1'".
class GraphError : public Error {
 public:
  using Error::Error;
  // `problem` says what was found and what was expected; `remedy`, where there is one, what to do.
  GraphError(const std::filesystem::path& file, Place place, std::string_view problem,
             std::string_view remedy = {});

  Place place() const { return place_; }

 private:
  Place place_;
};

// Throws GraphError if the file has more vertices than this build's ids can tell apart.
void check_vertex_count(const std::filesystem::path& file, Place place, std::uint64_t vertices);

}  // namespace holdall::graph
