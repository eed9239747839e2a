// How many look-ups does a server on one core answer, and how late? Over loopback, with connections
// that are kept and binary tensors. The server is a child pinned to one core, the load comes from
// this process on another; requests are due at a fixed rate whether or not earlier ones are
// answered, and an answer's time counts from when its request was due.
//
//   bench-serve --rate 20000 --keys 100 --connections 8 --seconds 5
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "apps/serve/http_server.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  double rate = 20'000;
  std::uint64_t keys = 100;
  int connections = 8;
  double seconds = 5;
  std::uint64_t rows = 1 << 17;
};
constexpr std::uint32_t dim = 32;

void pin(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  ::sched_setaffinity(0, sizeof cores, &cores);
}

void write_table(const std::filesystem::path& path, std::uint64_t rows) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, dim);
  header.resize(117, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size()) << '\0' << header;
  std::vector<float> row(dim);
  for (std::uint64_t key = 0; key < rows; ++key) {
    std::fill(row.begin(), row.end(), static_cast<float>(key));
    out.write(reinterpret_cast<const char*>(row.data()), dim * 4);
  }
}

// The child: serves until SIGTERM; tells its port.
[[noreturn]] void serve(const std::filesystem::path& table, int tell) {
  using namespace holdall;
  pin(0);
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, nullptr);
  {
    Engine engine({.memory = 256_MiB, .driver = "host"});
    serve::Service service(engine);
    service.add("t", table, {}, {});
    serve::HttpServer server(service, {.port = 0});
    server.bind();
    std::jthread running([&] { server.run(); });
    service.open();
    const int port = server.port();
    (void)!::write(tell, &port, sizeof port);
    int signal = 0;
    sigwait(&end, &signal);
    server.stop();
  }
  std::_Exit(0);
}

struct Client {
  int socket = -1;
  Clock::time_point due;
  bool busy = false;
  std::string got;
};

int connect_to(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(socket, F_SETFL, O_NONBLOCK);
  return socket;
}

std::string request(std::mt19937_64& random, const Options& o) {
  std::string keys(o.keys * 8, '\0');
  for (std::uint64_t i = 0; i < o.keys; ++i) {
    const std::uint64_t key = random() % o.rows;
    std::memcpy(keys.data() + i * 8, &key, 8);
  }
  const std::string json = fmt::format(
      R"({{"inputs":[{{"name":"keys","datatype":"INT64","shape":[{}],"parameters":{{"binary_data_size":{}}}}}],"parameters":{{"binary_data_output":true}}}})",
      o.keys, keys.size());
  return fmt::format(
             "POST /v2/models/t/infer HTTP/1.1\r\nHost: h\r\nContent-Type: "
             "application/octet-stream\r\nInference-Header-Content-Length: {}\r\nContent-Length: "
             "{}\r\n\r\n{}",
             json.size(), json.size() + keys.size(), json) +
         keys;
}

// Whether a whole answer has come.
bool complete(const std::string& got) {
  const std::size_t head = got.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  const std::size_t at =
      got.find("Content-Length: ");  // of the header that stands alone in its line
  std::size_t line = at;
  while (line != std::string::npos && line > 0 && got[line - 1] != '\n')
    line = got.find("Content-Length: ", line + 1);
  return line != std::string::npos &&
         got.size() >= head + 4 + std::stoul(got.substr(line + 16, 12));
}

double cpu_seconds(pid_t child) {
  std::ifstream in(fmt::format("/proc/{}/stat", child));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.erase(0, text.rfind(')') + 2);
  std::istringstream words(text);
  std::string word;
  for (int i = 0; i < 11; ++i) words >> word;
  double user = 0, system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{"look-ups of a server on one core"};
  app.add_option("--rate", o.rate, "requests a second; 0: as fast as they are answered");
  app.add_option("--keys", o.keys, "of a request");
  app.add_option("--connections", o.connections, "kept");
  app.add_option("--seconds", o.seconds, "of load, after one of warming up");
  app.add_option("--rows", o.rows, "of the table");
  CLI11_PARSE(app, argc, argv);

  // 1. a table and its server
  const std::filesystem::path table =
      std::filesystem::temp_directory_path() / fmt::format("bench-serve-{}.npy", ::getpid());
  write_table(table, o.rows);
  int tell[2];
  if (::pipe(tell) != 0) return 1;
  const pid_t child = ::fork();
  if (child == 0) serve(table, tell[1]);
  int port = 0;
  if (::read(tell[0], &port, sizeof port) != sizeof port) return 1;
  std::filesystem::remove(table);
  pin(1);

  // 2. requests, made ahead
  std::mt19937_64 random(1);
  std::vector<std::string> requests;
  for (int i = 0; i < 64; ++i) requests.push_back(request(random, o));
  std::vector<Client> clients(static_cast<std::size_t>(o.connections));
  std::vector<pollfd> polls;
  for (Client& client : clients) {
    client.socket = connect_to(port);
    polls.push_back({client.socket, POLLIN, 0});
  }

  // 3. the load
  const auto began = Clock::now() + std::chrono::seconds(1);  // what is answered before warms up
  const auto first = Clock::now();
  const auto end =
      began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(o.seconds));
  std::vector<double> times;
  std::uint64_t sent = 0, failed = 0;
  double cpu = 0;
  bool warm = false;
  std::vector<char> buffer(1 << 18);
  const auto due = [&] {
    return o.rate > 0
               ? first + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(static_cast<double>(sent) / o.rate))
               : Clock::now();
  };
  while (true) {
    const auto now = Clock::now();
    if (now >= end) break;
    if (!warm && now >= began) {
      warm = true;
      cpu = cpu_seconds(child);
    }
    for (Client& client : clients) {
      if (client.busy) continue;
      const auto when = due();
      if (when > Clock::now()) break;
      client.due = when;
      client.busy = true;
      client.got.clear();
      const std::string& bytes = requests[sent++ % requests.size()];
      if (::send(client.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(bytes.size()))
        ++failed;
    }
    // Asleep until an answer comes or the next request is due, so as to leave the machine to
    // others.
    const bool free = std::ranges::any_of(clients, [](const Client& c) { return !c.busy; });
    const auto pause = std::max<Clock::duration>(std::min(free ? due() : end, end) - Clock::now(),
                                                 Clock::duration(0));
    const timespec wait{pause / std::chrono::seconds(1),
                        pause % std::chrono::seconds(1) / std::chrono::nanoseconds(1)};
    ::ppoll(polls.data(), polls.size(), &wait, nullptr);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if ((polls[i].revents & POLLIN) == 0) continue;
      Client& client = clients[i];
      const ssize_t got = ::recv(client.socket, buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        fmt::print(stderr, "the server hung up\n");
        return 1;
      }
      client.got.append(buffer.data(), static_cast<std::size_t>(got));
      if (!complete(client.got)) continue;
      client.busy = false;
      failed += !client.got.starts_with("HTTP/1.1 200");
      const auto answered = Clock::now();
      if (answered >= began)
        times.push_back(std::chrono::duration<double>(answered - client.due).count());
    }
  }
  cpu = cpu_seconds(child) - cpu;
  ::kill(child, SIGTERM);
  for (const Client& client : clients) ::close(client.socket);
  ::waitpid(child, nullptr, 0);

  // 4. what came of it
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return times.empty()
               ? 0
               : times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))] *
                     1e3;
  };
  const auto answers = static_cast<double>(times.size());
  fmt::print(
      "{:.0f} answers/s of {} rows over {} connections, {} failed; p50 {:.2f} ms, p95 {:.2f} ms, "
      "p99 {:.2f} ms; {:.1f} us of the server's core an answer\n",
      answers / o.seconds, o.keys, o.connections, failed, at(0.5), at(0.95), at(0.99),
      cpu / answers * 1e6);
  return failed == 0 ? 0 : 1;
}
