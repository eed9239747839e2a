// A service on a socket: HTTP/1.1 with connections that are kept, one thread each.
//
//   HttpServer server(service, {.host = "127.0.0.1", .port = 8000});
//   server.bind();                        // throws ServeError
//   server.run();                         // until stop()
//
// `stop`, from any thread, loses no request that has arrived: the service says that it is not
// ready, requests that come are answered and told to be the last of their connection, connections
// end as they fall silent, and only then `run` returns.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "apps/serve/service.hpp"

namespace holdall::serve {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8000;  // 0: any that is free
  std::uint64_t connections = 256;
  Bytes body = Bytes{16} << 20;               // at most, of a request
  std::chrono::milliseconds request{5000};    // from its first byte to its last; and of the answer
  std::chrono::milliseconds silence{60'000};  // of a connection that is kept
  std::chrono::milliseconds last_request{1000};  // after stop(), for one more on each connection
};

// Whether a host is reached from this machine alone.
bool is_loopback(const std::string& host);

class HttpServer {
 public:
  HttpServer(Service& service, const HttpOptions& options);
  ~HttpServer();

  void bind();  // Throws ServeError: the address is taken, or none of this machine's.
  int port() const;
  void run();
  void stop();

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace holdall::serve
