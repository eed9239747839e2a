#include "apps/serve/http_server.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "apps/serve/connection.hpp"
#include "apps/serve/crew.hpp"
#include "apps/serve/plain_request.hpp"
#include "apps/serve/protocol.hpp"
#include "apps/serve/rest.hpp"

namespace holdall::serve {

namespace {

using std::chrono::milliseconds;
using Clock = Connection::Clock;

std::optional<std::string_view> header(const httplib::Request& request, const char* name) {
  const auto at = request.headers.find(name);
  if (at == request.headers.end()) return std::nullopt;
  return at->second;
}

// An answer as bytes, but for its body.
std::string head_of(const Answer& answer, bool last) {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", answer.status,
                  answer.status < 400 ? "OK" : "Refused", answer.content_type, answer.bytes());
  put_headers(answer, [&](const char* name, const std::string& value) {
    head.append(name).append(": ").append(value).append("\r\n");
  });
  if (last) head += "Connection: close\r\n";
  return head += "\r\n";
}

void put(httplib::Response& response, Answer answer) {
  response.status = answer.status;
  put_headers(answer, [&](const char* name, const std::string& value) {
    response.set_header(name, value);
  });
  response.set_header("Content-Type", answer.content_type);
  response.body = std::move(answer.body);
  for (const std::string& piece : answer.tail) response.body += piece;
}

}  // namespace

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

class HttpServer::Listener final : public httplib::Server {
 public:
  Listener(Service& service, const HttpOptions& options) : service_(service), options_(options) {
    new_task_queue = [this] { return new Crew(options_.connections); };
    set_socket_options([](socket_t socket) {
      const int on = 1;  // restarted at once, but not beside another
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    set_payload_max_length(options.body);
    set_keep_alive_max_count(1'000'000'000);  // as the answers' header tells
    set_keep_alive_timeout(std::chrono::ceil<std::chrono::seconds>(options.silence).count());
    const auto bare = [this](const auto& request, auto& response) {
      put(response, call(request, {}));
    };
    const auto with_body = [this](const auto& request, auto& response, const auto& content) {
      take(request, response, content);
    };
    Get(".*", bare);
    Options(".*", bare);
    Post(".*", with_body);
    Put(".*", with_body);
    Patch(".*", with_body);
    Delete(".*", with_body);
    // What the library refuses by itself is no whole request: what follows cannot be trusted.
    set_error_handler(httplib::Server::Handler([](const auto&, auto& response) {
      if (!response.body.empty()) return;
      put(response, {.status = response.status,
                     .body = print_error("the request is no HTTP/1.1 that is served here")});
      response.set_header("Connection", "close");
      last_ = true;
    }));
  }

  void bind() {
    if (options_.port != 0 ? bind_to_port(options_.host, options_.port)
                           : (port_ = bind_to_any_port(options_.host)) > 0) {
      if (options_.port != 0) port_ = options_.port;
      // The library lets five wait to be accepted.
      ::listen(svr_sock_, 512);
      return;
    }
    throw ServeError(fmt::format("cannot listen at {}:{}: {}; choose another address or port",
                                 options_.host, options_.port, std::strerror(errno)));
  }

  int port() const { return port_; }
  void run() {
    started_ = true;
    if (!retired_) listen_after_bind();
    ended_ = true;
  }

  void retire() {
    if (retired_.exchange(true)) return;
    service_.retire();
    // Those that are at work send one more each; the others are silent.
    const auto end = Clock::now() + options_.last_request;
    while (service_.connections > 0 && Clock::now() < end)
      std::this_thread::sleep_for(milliseconds(2));
    while (started_ && !ended_ && !is_running()) std::this_thread::sleep_for(milliseconds(1));
    stop();
  }

 private:
  Answer call(const httplib::Request& request, std::string_view body) {
    return answer_call(service_, {.method = request.method,
                                  .path = request.path,
                                  .body = body,
                                  .json_length = header(request, "Inference-Header-Content-Length"),
                                  .authorization = header(request, "Authorization")});
  }

  // The body is read only where its length is known and allowed; without one there is no body. What
  // is not read would be taken for the next request, so the connection ends.
  void take(const httplib::Request& request, httplib::Response& response,
            const httplib::ContentReader& content) {
    const auto refuse = [&](int status, const std::string& reason) {
      put(response, {.status = status, .body = print_error(reason)});
      response.set_header("Connection", "close");
      last_ = true;
    };
    const auto length = header(request, "Content-Length");
    std::uint64_t bytes = 0;
    if (request.has_header("Transfer-Encoding"))
      return refuse(411, "the length of the body is needed: send Content-Length, not chunks");
    if (!length) return put(response, call(request, {}));
    const auto [rest, error] =
        std::from_chars(length->data(), length->data() + length->size(), bytes);
    if (error != std::errc() || rest != length->data() + length->size())
      return refuse(400, "the header Content-Length is no whole number");
    if (bytes > options_.body)
      return refuse(
          413, fmt::format("the body has {} bytes, {} are read at most", bytes, options_.body));
    if (const auto encoding = header(request, "Content-Encoding");
        encoding && *encoding != "identity")
      return refuse(415, "compressed bodies are not read");
    if (const auto type = header(request, "Content-Type"); type && type->starts_with("multipart/"))
      return refuse(415, "multipart bodies are not read");
    std::string body;
    body.reserve(bytes);
    const bool whole = bytes == 0 || content([&](const char* data, std::size_t size) {
                         body.append(data, size);
                         return true;
                       });
    if (!whole || body.size() != bytes)
      return refuse(408,
                    fmt::format("{} of {} bytes of the body arrived in time", body.size(), bytes));
    put(response, call(request, body));
  }

  bool process_and_close_socket(socket_t socket) override {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection connection(socket);
    if (Crew::refusing()) {
      turn_away(connection);
    } else {
      ++service_.connections;
      serve(connection);
      --service_.connections;
    }
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return true;
  }

  // 1. a request begins; 2. it is read and answered; 3. the answer is on its way
  void serve(Connection& connection) {
    while (begins(connection)) {
      connection.end_by(Clock::now() + options_.request);
      const bool last = retired_;
      last_ = last;
      bool closed = false;
      const bool served =
          answer_plain(connection, last) || process_request(connection, last, closed, nullptr);
      connection.end_by(Clock::now() + options_.request);
      if (!connection.flush() || !served || closed || last_) {
        linger(connection);
        return;
      }
    }
  }

  bool answer_plain(Connection& connection, bool last) {
    auto request = plain_request(connection.arrived());
    if (request && request->bytes > connection.arrived().size()) {  // the body comes by itself
      if (!connection.gather(request->bytes)) return false;
      request = plain_request(connection.arrived());
    }
    if (!request || request->body.size() > options_.body) return false;
    const Answer answer = answer_call(service_, {.method = "POST",
                                                 .path = request->path,
                                                 .body = request->body,
                                                 .json_length = request->json_length,
                                                 .authorization = request->authorization});
    connection.take(request->bytes);
    const std::string head = head_of(answer, last);
    connection.write(head.data(), head.size());
    connection.write(answer.body.data(), answer.body.size());
    for (const std::string& piece : answer.tail) connection.write(piece.data(), piece.size());
    return true;
  }

  // Whether a request's first bytes come before the silence has been too long or the server
  // retires.
  bool begins(Connection& connection) const {
    const auto silent = Clock::now() + options_.silence;
    while (!connection.begins()) {
      if (Clock::now() >= silent) return false;
      if (retired_ && svr_sock_ == INVALID_SOCKET) return false;
    }
    return true;
  }

  // A socket that is closed with bytes unread takes the answer with it: the client is given a
  // moment to hear that nothing follows.
  static void linger(Connection& connection) {
    ::shutdown(connection.socket(), SHUT_WR);
    char rest[4096];
    const auto end = Clock::now() + milliseconds(200);
    while (Clock::now() < end && connection.wait(milliseconds(20)))
      if (::recv(connection.socket(), rest, sizeof rest, MSG_DONTWAIT) <= 0) return;
  }

  void turn_away(Connection& connection) {
    service_.metrics().refused_connections().Increment();
    const Answer refusal{
        .status = 503,
        .body = print_error(
            fmt::format("{} connections are open already: try again later", options_.connections))};
    const std::string answer = head_of(refusal, true) + refusal.body;
    connection.end_by(Clock::now() + milliseconds(10));
    connection.write(answer.data(), answer.size());
    connection.flush();
    ::shutdown(connection.socket(), SHUT_WR);
    char rest[4096];
    if (connection.wait(milliseconds(10)))
      (void)!::recv(connection.socket(), rest, sizeof rest, MSG_DONTWAIT);
  }

  Service& service_;
  const HttpOptions options_;
  int port_ = 0;
  std::atomic<bool> started_{false}, ended_{false};  // run
  std::atomic<bool> retired_{false};
  static thread_local bool last_;  // of this thread's connection: the request is the last
};

thread_local bool HttpServer::Listener::last_ = false;

HttpServer::HttpServer(Service& service, const HttpOptions& options)
    : listener_(std::make_unique<Listener>(service, options)) {}
HttpServer::~HttpServer() = default;
void HttpServer::bind() { listener_->bind(); }
int HttpServer::port() const { return listener_->port(); }
void HttpServer::run() { listener_->run(); }
void HttpServer::stop() { listener_->retire(); }

}  // namespace holdall::serve
