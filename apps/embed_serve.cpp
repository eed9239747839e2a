// holdall embed serve: tables over the KServe v2 protocol (HTTP, gRPC if asked), until SIGTERM or
// SIGINT; SIGHUP loads them anew.
#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "apps/embed_options.hpp"
#include "apps/embed_serve.hpp"
#include "apps/ending.hpp"
#include "apps/serve/grpc_server.hpp"
#include "apps/serve/http_server.hpp"

namespace holdall::apps {

namespace {

struct Options {
  std::vector<std::string> tables;
  std::string token_file;
  embedding::OpenOptions open;
  embedding::TableSpec spec;
  bool hashed = false;
  serve::HttpOptions http;
  std::optional<int> grpc_port;
  serve::ServiceLimits limits;
  std::uint64_t patience = 2000, request = 5000, silence = 60'000;
  Config config;
};

std::string read_token(const Options& o) {
  if (o.token_file.empty()) {
    const char* const token = std::getenv("HOLDALL_TOKEN");
    return token != nullptr ? token : "";
  }
  std::ifstream in(o.token_file);
  std::string token;
  if (!std::getline(in, token) || token.empty())
    throw serve::ServeError(
        fmt::format("no token can be read from the first line of {}", o.token_file));
  return token;
}

void add_tables(serve::Service& service, const Options& o) {
  for (const std::string& table : o.tables) {
    const std::size_t equals = table.find('=');
    if (equals == std::string::npos)
      throw serve::ServeError(fmt::format("--table {} is not NAME=PATH", table));
    embedding::TableSpec spec = o.spec;
    if (o.hashed) spec.keys = embedding::Keys::hashed;
    service.add(table.substr(0, equals), table.substr(equals + 1), spec, o.open);
  }
}

// What both protocols have is set once.
serve::GrpcOptions grpc_options(const Options& o, const serve::HttpOptions& http) {
  return {.host = http.host,
          .port = *o.grpc_port,
          .calls = http.connections,
          .message = http.body,
          .silence = http.silence,
          .last_request = http.last_request};
}

void serve_tables(const Options& o) {
  // 1. signals come to this thread alone
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Ending::leave_to_caller();

  // 2. what is served, and where
  const std::string token = read_token(o);
  serve::HttpOptions http = o.http;
  http.request = std::chrono::milliseconds(o.request);
  http.silence = std::chrono::milliseconds(o.silence);
  if (token.empty() && !serve::is_loopback(http.host))
    throw serve::ServeError(
        fmt::format("{} is reached from other machines, so a token is needed: put one into the "
                    "environment as HOLDALL_TOKEN or name a --token-file",
                    http.host));
  Engine engine(o.config);
  note_memory(engine, o.config);
  serve::ServiceLimits limits = o.limits;
  limits.batch.patience = std::chrono::milliseconds(o.patience);
  serve::Service service(engine, token, limits);
  add_tables(service, o);
  serve::HttpServer server(service, http);
  server.bind();
  std::unique_ptr<serve::GrpcServer> grpc;
  if (o.grpc_port) grpc = std::make_unique<serve::GrpcServer>(service, grpc_options(o, http));

  // 3. health is answered while the tables are read
  std::jthread running([&] { server.run(); });
  const auto stop = [&] {  // both at once: each waits for its clients
    const std::jthread other([&] { grpc.reset(); });
    server.stop();
  };
  try {
    service.open();
  } catch (...) {
    stop();
    throw;
  }
  fmt::print("http://{}:{}\n", http.host, server.port());
  if (grpc) fmt::print("grpc://{}:{}\n", http.host, grpc->port());
  std::fflush(stdout);

  // 4. until the end
  for (int signal = SIGHUP; signal == SIGHUP;) {
    if (sigwait(&signals, &signal) != 0) break;
    if (signal == SIGHUP)
      service.reload([](const std::string& table, const std::string& why) {
        note(fmt::format("'{}' stays as it was: {}", table, why));
      });
  }
  stop();
}

}  // namespace

void add_embed_serve(CLI::App& group, int& status) {
  auto o = std::make_shared<Options>();
  CLI::App* const command =
      group.add_subcommand("serve", "answer requests over the KServe v2 protocol (HTTP, and gRPC)");
  command->add_option("--table", o->tables, "NAME=PATH; several")->required();
  command->add_option("--dim", o->open.dim, "elements of a row, where a source does not say");
  command->add_flag("--hashed", o->hashed, "keys are any 64-bit numbers, not row numbers");
  add_bytes(*command, "--table-memory", o->spec.memory,
            "of each device for the rows of each table");
  add_row_options(*command, o->spec);
  command->add_flag("--learn", o->spec.learning.on, "which rows are asked for, and move those up");
  command->add_option("--host", o->http.host, "to listen at; beyond this machine with a token only")
      ->capture_default_str();
  command->add_option("--port", o->http.port, "0: any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_option("--grpc-port", o->grpc_port, "for gRPC too; 0: any that is free")
      ->check(CLI::Range(0, 65535));
  command->add_option("--token-file", o->token_file,
                      "its first line is the bearer token; otherwise HOLDALL_TOKEN, if set");
  add_count(*command, "--connections", o->http.connections,
            "open at once, and calls over gRPC; more are refused");
  add_count(*command, "--queue", o->limits.batch.queue,
            "requests that wait for a table; more get 503");
  add_count(*command, "--batch-keys", o->limits.batch.keys, "looked up at once");
  add_count(*command, "--max-keys", o->limits.keys, "of one request");
  add_bytes(*command, "--max-body", o->http.body, "of one request");
  add_count(*command, "--patience", o->patience, "milliseconds that a request waits for a table");
  add_count(*command, "--request-time", o->request, "milliseconds for a request to arrive whole");
  add_count(*command, "--silence", o->silence, "milliseconds that an idle connection is kept");
  add_engine_options(*command, o->config);
  command->callback([o, &status] {
    serve_tables(*o);
    status = 0;
  });
}

}  // namespace holdall::apps
