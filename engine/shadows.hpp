// Shadow mode: what other policies would have hit and missed of the requests of one device, from
// memories without contents for a sample of the chunks (policies/shadow.hpp). Chunks that leases
// pin are held in the shadows too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/stats.hpp"
#include "policies/policy.hpp"

namespace holdall::policies {
class Shadow;
}

namespace holdall {

class Shadows {
 public:
  // `policies` as on a command line: "lirs,s3fifo:small=0.2". Throws PolicyError.
  Shadows(const std::string& policies, std::uint64_t capacity);
  ~Shadows();

  void request(Key chunk, const Request& request, const MayEvict& may) {
    requests_ += !request.prefetch;
    if (is_sampled(chunk, request.bytes)) show(chunk, request, may);
  }
  void drop(Key chunk);
  void hinted(Key chunk, std::uint64_t next_use);
  void resize(std::uint64_t capacity);

  std::vector<ShadowStats> stats() const;

 private:
  struct Track {
    std::string policy;
    std::unique_ptr<policies::Shadow> shadow;
    std::uint64_t misses = 0;  // of sampled requests
  };

  bool is_sampled(Key chunk, std::uint64_t bytes);
  void show(Key chunk, const Request& request, const MayEvict& may);

  std::vector<Track> tracks_;
  std::uint64_t capacity_;
  std::uint64_t rate_ = 0;      // one chunk in so many, a power of two; 0: not known yet
  std::uint64_t requests_ = 0;  // all that were made
};

}  // namespace holdall
