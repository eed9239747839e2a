// What accesses ask for, in chunks.
#pragma once

#include <vector>

#include "engine/access.hpp"

namespace holdall {

// Chunks of one range that are needed in one way.
struct Need {
  RangeState* range = nullptr;
  ChunkRun run;
  Access::Kind kind = Access::read;
};

// The chunks of `access`, checked. Of an overwrite, those that it covers in part are written: they keep the rest of their
// contents. Throws InvalidAccess, RangeDropped.
void append_needs(const Access& access, std::vector<Need>& needs);
// Puts them in order of range and position, each chunk in one need only.
void merge(std::vector<Need>& needs);

}  // namespace holdall
