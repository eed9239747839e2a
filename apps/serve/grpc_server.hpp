// A service on a socket: the open inference protocol, version 2 (KServe), over gRPC.
//
//   GrpcServer server(service, {.host = "127.0.0.1", .port = 8001});   // throws ServeError
//   ...                                                                // answers until stop()
//   server.stop();
//
// Health and metadata are answered at once; each request of rows has a thread while it waits for
// its table. `stop` loses no request that has arrived: the service says that it is not ready, calls
// are answered for a moment more, connections are told to go away, and what has begun ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "apps/serve/service.hpp"

namespace holdall::serve {

struct GrpcOptions {
  std::string host = "127.0.0.1";
  int port = 8001;                               // 0: any that is free
  std::uint64_t calls = 256;                     // that wait for a table at once; more are refused
  Bytes message = Bytes{16} << 20;               // at most, of a request
  std::chrono::milliseconds silence{60'000};     // of a connection that is kept
  std::chrono::milliseconds last_request{1000};  // after stop(), for clients to go elsewhere
  std::chrono::milliseconds last_answer{5000};   // then, for what has begun
};

class GrpcServer {
 public:
  // Answers from now on. Throws ServeError: the address is taken, or none of this machine's; or
  // this build has no gRPC.
  GrpcServer(Service& service, const GrpcOptions& options);
  ~GrpcServer();  // stops
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  int port() const;
  void stop();

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace holdall::serve
