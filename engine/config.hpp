// How an engine is set up. All of it has a default that works.
#pragma once

#include <filesystem>
#include <string>

#include "engine/vmm/bytes.hpp"

namespace holdall {

struct Config {
  Bytes memory = 0;                     // budget of each device; 0: nine tenths of what is free
  Bytes host_memory = 0;                // budget of pinned host memory; 0: half of the machine's
  std::string policy = "lru";           // see list_policies()
  std::string prefetch = "none";        // what else comes in with a chunk: see list_prefetchers()
  std::string shadow = {};              // policies by commas: also report what they would have done
  std::string driver = {};              // "cuda", "host"; empty: the GPU if there is one, else the host driver
  int devices = 1;                      // how many of them; 0: all
  Bytes chunk = Bytes{8} << 20;         // of ranges that name none
  std::filesystem::path trace = {};     // record every access of a chunk here (engine/trace.hpp)
  std::filesystem::path timeline = {};  // write paging events here at the end, in the Chrome trace format
  bool coalesce = true;                 // one driver call over chunks that adjoin
};

}  // namespace holdall
