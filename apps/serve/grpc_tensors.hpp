// Requests and answers as gRPC has them, and as the service has them.
#pragma once

#include "apps/serve/inference.hpp"
#include "apps/serve/inference.pb.h"

namespace holdall::serve {

// Elements are raw, or in the lists of their datatypes; a view into `request` either way. Throws
// RequestError 400.
InferRequest read_infer(const inference::ModelInferRequest& request);

// Elements are as the request had them: raw, or in lists.
void write_infer(InferAnswer answer, bool raw, inference::ModelInferResponse& to);

}  // namespace holdall::serve
