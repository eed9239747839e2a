// What is wrong with an embedding table, a source or a call; names the thing, the bad value and the
// remedy.
#pragma once

#include "engine/vmm/error.hpp"

namespace holdall::embedding {

class EmbeddingError : public Error {
 public:
  using Error::Error;
};

}  // namespace holdall::embedding
