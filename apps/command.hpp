// What the sub-commands of `holdall` share: options, exit statuses, messages, progress.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/config.hpp"
#include "engine/stats.hpp"

namespace holdall::apps {

constexpr int failed = 1;  // the exit status; CLI11's errors are 2
constexpr int usage = 2;

// Adds --memory, --host-memory, --policy, --chunk, --driver, --devices, --trace and --timeline, read into `config`.
void add_engine_options(CLI::App& command, Config& config);

// Accepts "8MiB" and the like for `bytes`.
CLI::Option* add_bytes(CLI::App& command, const std::string& name, Bytes& bytes,
                       const std::string& help);

// The counters under the names that every --json has.
nlohmann::json to_json(const Traffic& traffic);

// A line on a terminal's standard error that is rewritten, once something takes longer than two seconds.
class Progress {
 public:
  Progress();
  ~Progress();
  // `done` of `whole`; 0: unknown.
  void show(const std::string& text, std::uint64_t done = 0, std::uint64_t whole = 0);

 private:
  const bool terminal_;
  const std::chrono::steady_clock::time_point began_;
  bool shown_ = false;
};

void add_graph(CLI::App& app, int& status);
void add_doctor(CLI::App& app, int& status);

}  // namespace holdall::apps
