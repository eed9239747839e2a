// A server in this process, a table of rows that say which key and version they are of, and
// clients.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "apps/serve/http_server.hpp"
#include "tests/serve/tensors.hpp"

namespace holdall::serve {

constexpr std::uint32_t dim = 4;

inline float element(std::uint64_t key, std::uint64_t version, std::uint64_t k) {
  return static_cast<float>(version * 1000 + key * 10 + k);
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "holdall-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  // A table of 64 rows, put in place at once as a writer should.
  void write_table(std::uint64_t version, const std::string& name = "items.npy") const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 4), }";
    header.resize(117, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    bytes += header;
    std::vector<float> rows;
    for (std::uint64_t key = 0; key < 64; ++key)
      for (std::uint64_t k = 0; k < dim; ++k) rows.push_back(element(key, version, k));
    write(name, bytes + bytes_of(rows));
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / "new", std::ios::binary) << bytes;
    std::filesystem::rename(path_ / "new", path_ / name);
  }

 private:
  std::filesystem::path path_;
};

// A socket that says what it likes.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  bool send(std::string_view bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // All that comes until the server closes.
  std::string rest() const {
    std::string all;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(socket_, buffer, sizeof buffer, 0)) > 0;)
      all.append(buffer, static_cast<std::size_t>(got));
    return all;
  }
  // One whole answer that has a Content-Length.
  std::string answer() {
    while (true) {
      const std::size_t head = pending_.find("\r\n\r\n");
      if (head != std::string::npos) {
        const std::size_t at = pending_.find("Content-Length: ");
        const std::size_t size = head + 4 + std::stoul(pending_.substr(at + 16));
        if (pending_.size() >= size) {
          const std::string whole = pending_.substr(0, size);
          pending_.erase(0, size);
          return whole;
        }
      }
      char buffer[4096];
      const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) return {};
      pending_.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  int socket_;
  bool connected_ = false;
  std::string pending_;
};

inline std::string post(const std::string& path, const std::string& body,
                        const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: here\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
inline const std::string infer_path = "/v2/models/items/infer";

class Serving : public testing::Test {
 protected:
  // `path`: of the table; otherwise one of version 0 is made.
  void start(HttpOptions http = {}, const ServiceLimits& limits = {},
             const std::string& token = {}) {
    folder_.write_table(0);
    Config config;
    config.driver = "host";
    config.memory = Bytes{64} << 20;
    config.devices = devices_;
    engine_ = std::make_unique<Engine>(config);
    service_ = std::make_unique<Service>(*engine_, token, limits);
    service_->add("items", folder_ / "items.npy", {}, {});
    http.port = 0;
    server_ = std::make_unique<HttpServer>(*service_, http);
    server_->bind();
    running_ = std::thread([this] { server_->run(); });
    service_->open();
  }
  void stop() {
    if (running_.joinable()) {
      server_->stop();
      running_.join();
    }
  }
  void TearDown() override { stop(); }

  int port() const { return server_->port(); }
  httplib::Client client() const {
    httplib::Client client("127.0.0.1", port());
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);
    return client;
  }

  Folder folder_;
  int devices_ = 1;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpServer> server_;
  std::thread running_;
};

}  // namespace holdall::serve
